//! The conditional logit: choices among alternatives with features, whose probabilities are a softmax of weighted sums
//! of the features.

/// A choice: its alternatives, each with the numbers of its features, and how often each was taken.
#[derive(Clone, PartialEq, Debug)]
pub struct LogitChoice {
    /// The features of every alternative; a feature that is listed twice counts twice.
    pub alternatives: Vec<Vec<u32>>,
    /// The weight of every alternative in the likelihood: positive for what was taken, 0 for the rest.
    pub taken: Vec<f64>,
}

impl LogitChoice {
    /// The probabilities of the alternatives.
    pub fn probabilities(&self, weights: &[f64]) -> Vec<f64> {
        let score = |features: &Vec<u32>| features.iter().map(|&feature| weights[feature as usize]).sum();
        let mut scores: Vec<f64> = self.alternatives.iter().map(score).collect();
        softmax(&mut scores);
        scores
    }
}

/// Replaces scores by probabilities proportional to their exponentials.
pub fn softmax(scores: &mut [f64]) {
    let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    scores.iter_mut().for_each(|score| *score = (*score - most).exp());
    let sum: f64 = scores.iter().sum();
    scores.iter_mut().for_each(|score| *score /= sum);
}

/// The log-likelihood of the choices if this share of them is uniform; with zero weights, that of uniform choices.
pub fn log_likelihood(choices: &[LogitChoice], weights: &[f64], uniform: f64) -> f64 {
    let of = |choice: &LogitChoice| -> f64 {
        let each = 1.0 / choice.taken.len() as f64;
        let chosen =
            choice.taken.iter().zip(choice.probabilities(weights)).filter(|(taken, _)| **taken > 0.0);
        chosen.map(|(taken, p)| taken * (uniform * each + (1.0 - uniform) * p).ln()).sum()
    };
    choices.iter().map(of).sum()
}

/// The log-likelihood less ridge/2·‖w‖², and its gradient if there is room for one.
fn penalized(choices: &[LogitChoice], weights: &[f64], ridge: f64, gradient: &mut [f64]) -> f64 {
    let mut value = -0.5 * ridge * weights.iter().map(|weight| weight * weight).sum::<f64>();
    gradient.iter_mut().zip(weights).for_each(|(slope, weight)| *slope = -ridge * weight);
    for choice in choices {
        let probabilities = choice.probabilities(weights);
        let total: f64 = choice.taken.iter().sum();
        for ((features, taken), probability) in
            choice.alternatives.iter().zip(&choice.taken).zip(probabilities)
        {
            if *taken > 0.0 {
                value += taken * probability.ln();
            }
            if !gradient.is_empty() {
                let slope = taken - total * probability;
                features.iter().for_each(|&feature| gradient[feature as usize] += slope);
            }
        }
    }
    value
}

/// Steps and changes of gradient that the method remembers.
const MEMORY: usize = 12;

/// Maximum number of steps; with a ridge far fewer are needed.
const STEPS: usize = 2_000;

/// Norm of the gradient at which the fit ends.
const FLAT: f64 = 1e-9;

/// The weights of `count` features that maximize the log-likelihood less ridge/2·‖w‖², which is strictly concave for a
/// positive ridge: limited-memory BFGS from zero, with backtracking.
pub fn fit(choices: &[LogitChoice], count: usize, ridge: f64) -> Vec<f64> {
    let mut weights = vec![0.0; count];
    let mut gradient = vec![0.0; count];
    let mut value = penalized(choices, &weights, ridge, &mut gradient);
    let mut memory: Vec<(Vec<f64>, Vec<f64>)> = Vec::new();
    for _ in 0..STEPS {
        if dot(&gradient, &gradient).sqrt() <= FLAT {
            break;
        }
        let direction = ascent(&gradient, &memory);
        let slope = dot(&direction, &gradient);
        let mut length =
            if memory.is_empty() { 1.0 / dot(&gradient, &gradient).sqrt().max(1.0) } else { 1.0 };
        let step = loop {
            let next: Vec<f64> = weights.iter().zip(&direction).map(|(w, d)| w + length * d).collect();
            let mut next_gradient = vec![0.0; count];
            let next_value = penalized(choices, &next, ridge, &mut next_gradient);
            if next_value >= value + 1e-4 * length * slope {
                break Some((next, next_gradient, next_value));
            }
            length *= 0.5;
            // Rounding hides any further progress.
            if length < 1e-12 {
                break None;
            }
        };
        let Some((next, next_gradient, next_value)) = step else { break };
        let moved: Vec<f64> = next.iter().zip(&weights).map(|(new, old)| new - old).collect();
        let bent: Vec<f64> = gradient.iter().zip(&next_gradient).map(|(old, new)| old - new).collect();
        if dot(&moved, &bent) > 0.0 {
            if memory.len() == MEMORY {
                memory.remove(0);
            }
            memory.push((moved, bent));
        }
        (weights, gradient, value) = (next, next_gradient, next_value);
    }
    weights
}

/// The two-loop recursion: an approximate Newton direction.
fn ascent(gradient: &[f64], memory: &[(Vec<f64>, Vec<f64>)]) -> Vec<f64> {
    let mut direction = gradient.to_vec();
    let mut shares = Vec::new();
    for (moved, bent) in memory.iter().rev() {
        let share = dot(moved, &direction) / dot(moved, bent);
        direction.iter_mut().zip(bent).for_each(|(d, y)| *d -= share * y);
        shares.push(share);
    }
    if let Some((moved, bent)) = memory.last() {
        let scale = dot(moved, bent) / dot(bent, bent);
        direction.iter_mut().for_each(|d| *d *= scale);
    }
    for ((moved, bent), share) in memory.iter().zip(shares.into_iter().rev()) {
        let back = dot(bent, &direction) / dot(moved, bent);
        direction.iter_mut().zip(moved).for_each(|(d, s)| *d += (share - back) * s);
    }
    direction
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;
    use rand::RngExt;

    /// Choices among random alternatives, each alternative taken as often as these weights say.
    fn choices(weights: &[f64], number: usize) -> Vec<LogitChoice> {
        let mut rng = Stream::new(7).derive("choices", 0).rng();
        let mut one = || {
            let alternative = |_| (0..3).map(|_| rng.random_range(0..weights.len() as u32)).collect();
            let mut choice = LogitChoice { alternatives: (0..6).map(alternative).collect(), taken: vec![] };
            choice.taken = choice.probabilities(weights);
            choice
        };
        (0..number).map(|_| one()).collect()
    }

    #[test]
    fn the_gradient_is_that_of_finite_differences() {
        let choices = choices(&[0.5, -1.0, 2.0, 0.0], 9);
        let (at, ridge) = ([0.3, 0.1, -0.7, 1.1], 0.4);
        let mut gradient = [0.0; 4];
        penalized(&choices, &at, ridge, &mut gradient);
        for (i, slope) in gradient.into_iter().enumerate() {
            let value = |h: f64| {
                let mut near = at;
                near[i] += h;
                penalized(&choices, &near, ridge, &mut [])
            };
            let difference = (value(1e-5) - value(-1e-5)) / 2e-5;
            assert!((slope - difference).abs() < 1e-7 * slope.abs().max(1.0), "{i}: {slope} {difference}");
        }
    }

    #[test]
    fn a_fit_recovers_the_probabilities_and_is_the_same_every_time() {
        let truth = [0.5, -1.0, 2.0, 0.0, -0.3];
        let choices = choices(&truth, 60);
        let fitted = fit(&choices, truth.len(), 1e-9);
        for choice in &choices {
            for (fitted, taken) in choice.probabilities(&fitted).into_iter().zip(&choice.taken) {
                assert!((fitted - taken).abs() < 1e-6, "{fitted} {taken}");
            }
        }
        assert_eq!(fitted, fit(&choices, truth.len(), 1e-9));
        let uniform = log_likelihood(&choices, &[0.0; 5], 0.0);
        assert!((uniform + 60.0 * 6f64.ln()).abs() < 1e-9);
        let mixed = |share: f64| log_likelihood(&choices, &fitted, share);
        assert!(mixed(0.0) > mixed(0.5) && mixed(0.5) > uniform && (mixed(1.0) - uniform).abs() < 1e-9);
        assert!((mixed(0.0) - penalized(&choices, &fitted, 0.0, &mut [])).abs() < 1e-9);
        // A ridge shrinks the weights.
        let shrunk = fit(&choices, truth.len(), 100.0);
        assert!(dot(&shrunk, &shrunk) < dot(&fitted, &fitted));
    }
}

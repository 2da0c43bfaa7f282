//! Automatic step size: a pilot run of a few iterations with exact line search.

use super::failure::RunFailure;
use super::runner::Runner;
use crate::linalg;

/// Iterations of a pilot run: an even number, because the step sizes of exact line search alternate between two
/// values.
const PILOTS: usize = 16;

/// Initial iterations that are ignored if the asymptotic step sizes are wanted.
const SETTLING: usize = 8;

/// The pilot run stops when ‖A·v1‖² has fallen to this fraction of its initial value.
const HIDDEN: f64 = 1e-6;

/// Result of one line search: ⟨r, A·v1⟩ and ‖A·v1‖².
struct Search {
    gain: f64,
    cost: f64,
}

impl Runner<'_> {
    /// Determines a step size, sets it, and restarts the run: η = 0 if there is no descent direction.
    ///
    /// The pilot run minimizes ‖Ax − b‖ along every direction: ηₜ = ⟨r, A·v1⟩/‖A·v1‖². If directions are M·Aᵀr for a
    /// fixed M, these step sizes come to alternate between two values whose harmonic mean is 2/(λmin + λmax) of the
    /// spectrum of M·AᵀA, the optimal constant step size; that mean is used. If iterations have random draws, all
    /// line searches are made at the start, and η is the best common step size, Σ⟨r, A·v1⟩/Σ‖A·v1‖².
    pub fn find_step(&mut self) -> Result<f64, RunFailure> {
        let random = self.draws_in_iterations();
        self.restart_with(1.0, self.stream().derive("pilot", 0))?;
        let mut r = self.residual();
        let mut searches = Vec::with_capacity(PILOTS);
        for _ in 0..PILOTS {
            match self.aim() {
                // A failure after the first iteration may not occur with another step size.
                Err(_) if !searches.is_empty() => break,
                found => {
                    found?;
                }
            }
            let image = self.image();
            let search = Search { gain: linalg::dot(&r, &image), cost: linalg::dot(&image, &image) };
            let step = search.gain / search.cost;
            let first = searches.first().map_or(search.cost, |first: &Search| first.cost);
            // Once rounding hides the solution, further iterations show nothing.
            let hidden = search.cost <= HIDDEN * first;
            if hidden || !(step.is_finite() && (random || step > 0.0)) {
                break;
            }
            searches.push(search);
            if !random {
                self.set_step(step);
                self.land()?;
                r = linalg::sub(&r, &linalg::scale(step, &image));
            }
        }
        let step = if random { common(&searches) } else { mean(&searches) };
        self.restart(step)?;
        Ok(step)
    }
}

/// The step size that is best for all line searches together.
fn common(searches: &[Search]) -> f64 {
    let sum = |of: fn(&Search) -> f64| searches.iter().map(of).sum::<f64>();
    let step = sum(|search| search.gain) / sum(|search| search.cost);
    if step.is_finite() { step.max(0.0) } else { 0.0 }
}

/// The harmonic mean of the last step sizes, an even number of them if there are enough.
fn mean(searches: &[Search]) -> f64 {
    let last = &searches[SETTLING.min(searches.len() / 2)..];
    let last = &last[last.len() % 2 * usize::from(last.len() > 1)..];
    let inverse: f64 = last.iter().map(|search| search.cost / search.gain).sum();
    if inverse > 0.0 { last.len() as f64 / inverse } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use crate::execute::{Measuring, Plan, RunData, RunSettings, Runner};
    use crate::linalg::Matrix;
    use crate::problem::{Family, Linear, Task};
    use crate::program::Entry;
    use crate::rng::Stream;

    /// The step size found for a named program on a system with this condition number, and the singular values of A.
    fn found(name: &str, condition: f64, outside: f64) -> (f64, Vec<f64>) {
        let family = Family {
            rows: 2000,
            cols: 10,
            condition: Some(condition),
            outside,
            ..Family::named("mid-cond").unwrap()
        };
        let instance = family.draw(&Stream::new(3)).unwrap();
        let a = Matrix::from_row_major(2000, 10, instance.A.row_major().to_vec());
        let unsolved = Linear.pose_unsolved(a, instance.b.clone()).unwrap();
        let settings = RunSettings::for_size(2000, 10);
        let program = &Entry::named(name).unwrap().document.program;
        let plan = Plan::new(program, unsolved.shape(), &settings).unwrap();
        let (data, stream) = (RunData::True(&unsolved, None), Stream::new(4));
        let mut runner = Runner::begin(&plan, data, &settings, &stream, Measuring::Shown).unwrap();
        (runner.find_step().unwrap(), instance.spectrum().to_vec())
    }

    #[test]
    fn gradient_descent_gets_the_best_constant_step() {
        for condition in [2.0, 5.0] {
            let (step, spectrum) = found("ls-gd", condition, 0.1);
            let best = 2.0 / (spectrum[0].powi(2) + spectrum[9].powi(2));
            assert!((step / best - 1.0).abs() < 0.15, "{condition}: {step} {best}");
        }
        // For large κ it is at least stable.
        let (step, spectrum) = found("ls-gd", 1e4, 0.1);
        assert!(step > 0.9 / spectrum[0].powi(2) && step < 2.0 / spectrum[0].powi(2), "{step}");
    }

    #[test]
    fn a_perfect_preconditioner_gets_a_step_of_one() {
        // R⁻¹R⁻ᵀ is accurate to κ²·ε.
        let (step, _) = found("precond-gd", 1e4, 0.1);
        assert!((step - 1.0).abs() < 1e-6, "{step}");
        let (step, _) = found("sketched-precond-gd", 1e6, 0.1);
        assert!((0.5..1.0).contains(&step), "{step}");
    }

    #[test]
    fn samples_get_a_shorter_step_than_the_whole() {
        let (step, _) = found("precond-weighted-sgd", 1e3, 0.0);
        assert!((0.3..0.95).contains(&step), "{step}");
        let (noisy, _) = found("precond-weighted-sgd", 1e3, 0.5);
        assert!(noisy < step && noisy > 0.0, "{noisy} {step}");
    }
}

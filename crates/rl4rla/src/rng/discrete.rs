//! Discrete distributions given by weights, sampled with and without replacement.

use super::Stream;
use rand::RngExt;
use rand_distr::Exp1;
use std::fmt;

/// Why weights do not define a distribution.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum WeightError {
    /// There are no weights.
    Empty,
    /// The weight at `index` is negative, infinite or not a number.
    Invalid {
        /// The position of the weight.
        index: usize,
        /// The weight itself.
        weight: f64,
    },
    /// Every weight is zero.
    AllZero,
}

impl fmt::Display for WeightError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WeightError::Empty => write!(f, "no weights to sample from"),
            WeightError::Invalid { index, weight } => {
                write!(f, "weight {} is {weight:?}; weights must be finite and not negative", index + 1)
            }
            WeightError::AllZero => write!(f, "all weights are zero; at least one must be positive"),
        }
    }
}

impl std::error::Error for WeightError {}

/// A distribution on `0..len()`.
#[derive(Clone, PartialEq, Debug)]
pub struct Discrete {
    law: Law,
}

#[derive(Clone, PartialEq, Debug)]
enum Law {
    Uniform {
        n: usize,
    },
    /// `cumulative[i]` = Σ_{j ≤ i} weights[j] / largest: the division keeps huge weights from
    /// overflowing the sum.
    Weighted {
        weights: Vec<f64>,
        largest: f64,
        cumulative: Vec<f64>,
        total: f64,
    },
}

impl Discrete {
    /// The distribution with P(i) = wᵢ / Σ w, for weights w.
    pub fn new(weights: &[f64]) -> Result<Discrete, WeightError> {
        if weights.is_empty() {
            return Err(WeightError::Empty);
        }
        if let Some(index) = weights.iter().position(|w| !(w.is_finite() && *w >= 0.0)) {
            return Err(WeightError::Invalid { index, weight: weights[index] });
        }
        let largest = weights.iter().fold(0.0, |a: f64, &w| a.max(w));
        if largest == 0.0 {
            return Err(WeightError::AllZero);
        }
        let mut total = 0.0;
        let add = |w: &f64| {
            total += w / largest;
            total
        };
        let cumulative = weights.iter().map(add).collect();
        Ok(Discrete { law: Law::Weighted { weights: weights.to_vec(), largest, cumulative, total } })
    }

    /// The distribution with P(i) = 1/n.
    pub fn uniform(n: usize) -> Result<Discrete, WeightError> {
        if n == 0 { Err(WeightError::Empty) } else { Ok(Discrete { law: Law::Uniform { n } }) }
    }

    /// The number of outcomes, at least one.
    #[allow(clippy::len_without_is_empty)] // never empty
    pub fn len(&self) -> usize {
        match &self.law {
            Law::Uniform { n } => *n,
            Law::Weighted { weights, .. } => weights.len(),
        }
    }

    /// P(i); zero outside `0..len()`.
    pub fn probability(&self, i: usize) -> f64 {
        match &self.law {
            Law::Uniform { n } if i < *n => 1.0 / *n as f64,
            Law::Uniform { .. } => 0.0,
            Law::Weighted { weights, largest, total, .. } => {
                weights.get(i).map_or(0.0, |w| w / largest / total)
            }
        }
    }

    /// `k` independent draws (with replacement). An outcome of weight zero is never drawn.
    pub fn sample(&self, stream: &Stream, k: usize) -> Vec<usize> {
        let mut rng = stream.rng();
        match &self.law {
            Law::Uniform { n } => (0..k).map(|_| rng.random_range(0..*n)).collect(),
            // The outcome drawn is the first whose cumulative weight exceeds t; since t < total it
            // exists, and since it exceeds its predecessor its weight is positive.
            Law::Weighted { cumulative, total, .. } => (0..k)
                .map(|_| {
                    let t = rng.random::<f64>() * total;
                    cumulative.partition_point(|c| *c <= t)
                })
                .collect(),
        }
    }

    /// `k` distinct outcomes in the order drawn, each with probability proportional to its weight among
    /// those that remain (successive sampling); `None` if fewer than `k` weights are positive.
    pub fn sample_distinct(&self, stream: &Stream, k: usize) -> Option<Vec<usize>> {
        match &self.law {
            Law::Uniform { n } => (k <= *n).then(|| {
                let mut order = stream.permutation(*n);
                order.truncate(k);
                order
            }),
            Law::Weighted { weights, .. } => first_arrivals(weights, stream, k),
        }
    }
}

/// The first `k` of independent arrivals at times Tᵢ = Eᵢ/wᵢ, Eᵢ ~ Exp(1): the order of arrival has
/// the distribution of successive sampling because exponential times are memoryless.
fn first_arrivals(weights: &[f64], stream: &Stream, k: usize) -> Option<Vec<usize>> {
    let mut rng = stream.rng();
    // One draw per outcome whatever its weight, so that setting a weight to zero does not change the other
    // times. Times are compared by their logarithms, which neither overflow nor underflow.
    let time = |(i, w): (usize, &f64)| (rng.sample::<f64, _>(Exp1).ln() - w.ln(), i);
    let mut arrivals: Vec<(f64, usize)> = weights.iter().enumerate().map(time).collect();
    arrivals.retain(|&(_, i)| weights[i] > 0.0);
    if k > arrivals.len() {
        return None;
    }
    let earlier = |a: &(f64, usize), b: &(f64, usize)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
    if k < arrivals.len() {
        arrivals.select_nth_unstable_by(k, earlier);
        arrivals.truncate(k);
    }
    arrivals.sort_unstable_by(earlier);
    Some(arrivals.into_iter().map(|(_, i)| i).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::assertions::assert_counts;
    use proptest::prelude::*;

    #[test]
    fn frozen_vectors() {
        let root = Stream::new(42);
        assert_eq!(Discrete::uniform(100).unwrap().sample(&root, 4), [9, 34, 8, 28]);
        let law = Discrete::new(&[1.0, 2.0, 3.0, 4.0]).unwrap();
        assert_eq!(law.sample(&root, 8), [2, 1, 2, 2, 3, 0, 2, 1]);
        assert_eq!(law.sample_distinct(&root, 4).unwrap(), [2, 3, 1, 0]);
    }

    #[test]
    fn sampling_follows_the_weights() {
        let weights = [0.0, 1.0, 2.0, 0.0, 0.0, 4.0, 0.5, 0.0];
        for law in [Discrete::new(&weights).unwrap(), Discrete::uniform(7).unwrap()] {
            let p: Vec<f64> = (0..law.len()).map(|i| law.probability(i)).collect();
            assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-15);
            let mut counts = vec![0; law.len()];
            for i in law.sample(&Stream::new(9), 100_000) {
                counts[i] += 1;
            }
            assert_counts(&counts, &p);
            assert_eq!(law.probability(law.len()), 0.0);
        }
    }

    #[test]
    fn distinct_sampling_follows_the_successive_law() {
        let root = Stream::new(10);
        for weights in [[0.2, 0.5, 2.0], [1.0, 1.0, 1.0], [3.0, 0.0, 1.0]] {
            let mut laws = vec![Discrete::new(&weights).unwrap()];
            if weights[0] == weights[2] {
                laws.push(Discrete::uniform(3).unwrap());
            }
            for law in laws {
                let mut counts = [0; 9];
                for i in 0..30_000 {
                    let pair = law.sample_distinct(&root.derive("d", i), 2).unwrap();
                    counts[3 * pair[0] + pair[1]] += 1;
                }
                // P(i, j) = pᵢ·pⱼ/(1 − pᵢ), i ≠ j.
                let p = |i: usize| law.probability(i);
                let pair =
                    |c: usize| if c / 3 == c % 3 { 0.0 } else { p(c / 3) * p(c % 3) / (1.0 - p(c / 3)) };
                assert_counts(&counts, &(0..9).map(pair).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn distinct_sampling_refuses_too_many() {
        let s = Stream::new(11);
        let law = Discrete::new(&[1.0, 0.0, 2.0]).unwrap();
        assert_eq!(law.sample_distinct(&s, 3), None);
        assert_eq!(law.sample_distinct(&s, 0), Some(vec![]));
        assert_eq!(Discrete::uniform(2).unwrap().sample_distinct(&s, 3), None);
    }

    #[test]
    fn extreme_weights_are_harmless() {
        let s = Stream::new(12);
        let huge = Discrete::new(&[f64::MAX, 0.0, f64::MAX]).unwrap();
        assert_eq!(huge.probability(0), 0.5);
        assert!(huge.sample(&s, 100).iter().all(|i| *i != 1));
        let spread = Discrete::new(&[5e-324, f64::MAX, 0.0]).unwrap();
        assert_eq!(spread.sample_distinct(&s, 2), Some(vec![1, 0]));
        assert_eq!(Discrete::new(&[0.0, 5e-324]).unwrap().sample(&s, 3), [1, 1, 1]);
    }

    #[test]
    fn weights_are_checked() {
        assert_eq!(Discrete::new(&[]), Err(WeightError::Empty));
        assert_eq!(Discrete::uniform(0), Err(WeightError::Empty));
        assert_eq!(Discrete::new(&[0.0, 0.0]), Err(WeightError::AllZero));
        assert_eq!(Discrete::new(&[1.0, -2.0]), Err(WeightError::Invalid { index: 1, weight: -2.0 }));
        for bad in [f64::NAN, f64::INFINITY] {
            let message = Discrete::new(&[1.0, 1.0, bad]).unwrap_err().to_string();
            assert!(message.starts_with(&format!("weight 3 is {bad:?}")), "{message}");
        }
    }

    proptest! {
        #[test]
        fn samples_have_positive_weight(seed: u64, w in prop::collection::vec(0..3_u8, 1..20), k in 0..20_usize) {
            let w: Vec<f64> = w.into_iter().map(f64::from).collect();
            prop_assume!(w.iter().any(|x| *x > 0.0));
            let law = Discrete::new(&w).unwrap();
            let s = Stream::new(seed);
            prop_assert!(law.sample(&s, k).iter().all(|i| w[*i] > 0.0));
            let positive = w.iter().filter(|x| **x > 0.0).count();
            match law.sample_distinct(&s, k) {
                None => prop_assert!(k > positive),
                Some(mut drawn) => {
                    prop_assert_eq!(drawn.len(), k);
                    prop_assert!(drawn.iter().all(|i| w[*i] > 0.0));
                    drawn.sort_unstable();
                    drawn.dedup();
                    prop_assert_eq!(drawn.len(), k);
                }
            }
        }

        #[test]
        fn sampling_is_a_pure_function(seed: u64, n in 1..50_usize, k in 0..50_usize) {
            let s = Stream::new(seed);
            let law = Discrete::new(&s.uniforms(n).iter().map(|u| u + 0.1).collect::<Vec<_>>()).unwrap();
            prop_assert_eq!(law.sample(&s, k), law.sample(&s, k));
            // A longer draw begins with the shorter one.
            prop_assert_eq!(&law.sample(&s, k + 5)[..k], &law.sample(&s, k)[..]);
        }
    }
}

//! Evaluation of one program on many instances, in parallel; the result does not depend on the number of threads.

use super::score::{Protocol, Score, score};
use crate::problem::Instance;
use crate::program::Program;
use crate::rng::Stream;
use rayon::prelude::*;

/// The RNG stream of a program's run on instance `index`: the same for every candidate, so that candidates are
/// compared on common random numbers.
pub fn draws(seed: u64, index: u64, replicate: u64) -> Stream {
    Stream::new(seed).derive("draws", index).derive("replicate", replicate)
}

/// The scores of a program, one per instance.
#[derive(Clone, Debug)]
pub struct Evaluation {
    /// One score per instance, in order.
    pub scores: Vec<Score>,
}

/// Mean and spread of a quantity.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Summary {
    /// The mean.
    pub mean: f64,
    /// The standard error of the mean; 0 for a single value.
    pub error: f64,
    /// The smallest value.
    pub min: f64,
    /// The largest value.
    pub max: f64,
}

impl Summary {
    /// Summary of these values; NaN if there are none.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Summary {
        let values: Vec<f64> = values.into_iter().collect();
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
        let error = if values.len() > 1 { (squares / (count - 1.0) / count).sqrt() } else { 0.0 };
        let fold = |start: f64, pick: fn(f64, f64) -> f64| values.iter().copied().fold(start, pick);
        Summary { mean, error, min: fold(f64::INFINITY, f64::min), max: fold(f64::NEG_INFINITY, f64::max) }
    }
}

impl Evaluation {
    /// The reward, summarized over the instances.
    pub fn reward(&self) -> Summary {
        Summary::of(self.scores.iter().map(|s| s.reward))
    }

    /// Number of instances on which the program failed.
    pub fn failures(&self) -> usize {
        self.scores.iter().filter(|s| s.outcome.is_err()).count()
    }

    /// The last value of a history, summarized over the instances on which the program ran.
    pub fn last(&self, history: impl Fn(&crate::execute::Trace) -> &[f64]) -> Option<Summary> {
        let values: Vec<f64> = self
            .scores
            .iter()
            .filter_map(|s| s.outcome.as_ref().ok())
            .filter_map(|trace| history(trace).last().copied())
            .collect();
        (!values.is_empty()).then(|| Summary::of(values))
    }
}

/// Scores a program on every instance; `seed` determines its random draws.
pub fn evaluate(program: &Program, instances: &[Instance], protocol: &Protocol, seed: u64) -> Evaluation {
    let scores = instances
        .par_iter()
        .enumerate()
        .map(|(i, instance)| score(program, instance, protocol, &draws(seed, i as u64, 0)))
        .collect();
    Evaluation { scores }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summaries() {
        let s = Summary::of([1.0, 2.0, 3.0]);
        assert_eq!((s.mean, s.min, s.max), (2.0, 1.0, 3.0));
        assert!((s.error - (1.0f64 / 3.0).sqrt()).abs() < 1e-12);
        assert_eq!(Summary::of([4.0]).error, 0.0);
        assert!(Summary::of([]).mean.is_nan());
    }
}

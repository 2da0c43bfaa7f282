//! Evaluation of one program on many instances, in parallel; the result does not depend on the number of threads.

use super::score::{Protocol, Score, score};
use crate::problem::Instance;
use crate::program::Program;
use crate::rng::Stream;
use crate::statistics::Summary;
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

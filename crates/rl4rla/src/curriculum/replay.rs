//! The search graphs of a run, made again from its log of rewards.

use super::{Curriculum, StageStart};
use crate::discovery::{Approach, GraphLimits, Known, Policy, ReplayError, SearchGraph, StageSearch};
use std::sync::Arc;

/// A run of a curriculum whose searches are made again.
#[derive(Clone, Copy)]
pub struct Replay<'a> {
    /// The curriculum, as it was searched.
    pub curriculum: &'a Curriculum,
    /// Search method and options.
    pub approach: &'a Approach,
    /// Learned probabilities of edits, if the run had any.
    pub policy: Option<&'a Arc<Policy>>,
    /// The seed of the run.
    pub seed: u64,
    /// The rewards in its log.
    pub known: &'a Known,
}

impl Replay<'_> {
    /// The graph of one stage, which begins here; no other stage is searched.
    ///
    /// # Panics
    /// If the curriculum has no such stage.
    pub fn graph(
        &self,
        from: &StageStart,
        limits: GraphLimits,
        stop: &dyn Fn() -> bool,
    ) -> Result<SearchGraph, ReplayError> {
        let StageStart { number, program: start, spent } = from;
        let search = StageSearch {
            stage: &self.curriculum.stages[*number].0,
            start,
            approach: &self.approach.after(*spent),
            seed: self.seed,
            number: *number,
            policy: self.policy,
        };
        search.graph(self.known, limits, stop)
    }
}

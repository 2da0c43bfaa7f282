//! The search of a stage, in the moves of its method.

use super::appending::Appending;
use super::attempt::Approach;
use super::bench::Bench;
use super::constructions::construct;
use super::front::Front;
use super::insertions::Insertions;
use super::merge::Merge;
use super::patches::Patches;
use super::policy::Policy;
use super::proposer::{Asking, Proposer};
use super::space::Space;
use super::stage::Stage;
use crate::program::Program;
use crate::rng::Stream;
use crate::search::{Moves, Outcome, Watch};
use std::sync::{Arc, Mutex};

/// Everything that the search of a stage depends on besides the rewards.
#[derive(Clone, Copy)]
pub struct StageSearch<'a> {
    /// The stage.
    pub stage: &'a Stage,
    /// The program it starts from.
    pub start: &'a Program,
    /// Method and options, with what is left of the run's budget.
    pub approach: &'a Approach,
    /// The seed of the run.
    pub seed: u64,
    /// Index of the stage.
    pub number: usize,
    /// Learned probabilities of edits; ignored by methods that use none.
    pub policy: Option<&'a Arc<Policy>>,
}

impl StageSearch<'_> {
    /// Searches with the rewards of a bench; good programs are offered to the front.
    pub(super) fn run(
        &self,
        bench: &Bench,
        front: Option<&Mutex<Front>>,
        proposer: &mut Option<&mut dyn Proposer>,
        watch: &mut dyn Watch<Program>,
    ) -> Outcome<Program> {
        let StageSearch { stage, start, approach, seed, number, .. } = *self;
        let method = approach.method;
        let policy = self.policy.filter(|_| method.info().takes_policy());
        let merge = approach.merge.unwrap_or(stage.merge);
        let space = Space { stage, start, merge, bench, front };
        let (tuning, stream) = (approach.tuning(stage), Stream::new(seed).derive("search", number as u64));
        let moves = match method.info().moves {
            Moves::Appending | Moves::Either if stage.grammar.redirect => Moves::Insertions,
            Moves::Either if !start.is_empty() || merge != Merge::Fingerprint => Moves::Insertions,
            moves => moves,
        };
        let appending = match moves {
            Moves::Appending => Appending::new(space),
            Moves::Either => Appending::in_any_order(space),
            Moves::Insertions => {
                let insertions = Insertions::new(space).guided(policy);
                return method.search(&insertions, &tuning, &stream, watch);
            }
            Moves::Constructions => {
                return construct(space, seed, (tuning.budget(), tuning.keep), &stream, watch);
            }
            Moves::Patches => {
                let patches = Patches::new(space).guided(policy);
                return match proposer {
                    Some(proposer) => {
                        let mut asking = Asking { proposer: &mut **proposer, stage };
                        method.search_asking(&patches, &mut asking, &tuning, &stream, watch)
                    }
                    None => method.search(&patches, &tuning, &stream, watch),
                };
            }
        };
        appending.searched(watch, |domain, watch| method.search(domain, &tuning, &stream, watch))
    }
}

//! Proposers: external sources of programs for a search.

use super::patches::{Patch, Patches};
use super::stage::Stage;
use crate::program::Program;
use crate::search::{Parent, ProposalSource};

/// A request to a proposer: a program better than its parents.
pub struct Commission<'a> {
    /// The stage.
    pub stage: &'a Stage,
    /// The program it starts from; its instructions must be kept, in their order.
    pub start: &'a Program,
    /// Programs tried so far with their mean rewards, the best last.
    pub parents: &'a [(Program, f64)],
}

/// A source of programs.
pub trait Proposer {
    /// Programs to try; `None` if there will never be any more, which interrupts the run.
    fn write(&mut self, commission: &Commission) -> Option<Vec<Program>>;

    /// A proposed program is not valid for the stage.
    fn refused(&mut self, _program: &Program) {}
}

/// Adapts a proposer of programs to the search.
pub(super) struct Asking<'a> {
    pub proposer: &'a mut dyn Proposer,
    pub stage: &'a Stage,
}

impl ProposalSource<Patches<'_>> for Asking<'_> {
    fn propose(
        &mut self,
        domain: &Patches,
        parents: &[Parent<Patch>],
        _: &mut dyn FnMut(usize) -> usize,
    ) -> Option<Vec<Patch>> {
        let parents: Vec<(Program, f64)> =
            parents.iter().map(|parent| (domain.program(parent.state), parent.score)).collect();
        let commission = Commission { stage: self.stage, start: &domain.start(), parents: &parents };
        let mut patches = Vec::new();
        for program in self.proposer.write(&commission)? {
            match domain.adopt(&program) {
                Some(patch) => patches.push(patch),
                None => self.proposer.refused(&program),
            }
        }
        Some(patches)
    }

    /// A proposal is charged even if it repeats known programs, because asking is expensive.
    fn cost(&self) -> u64 {
        1
    }
}

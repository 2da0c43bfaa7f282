//! The space of programs that a stage can reach, as a search sees it.

use super::bench::Bench;
use super::merge::{Merge, mix};
use super::stage::Stage;
use crate::clock::wait;
use crate::problem::Family;
use crate::program::{Canonical, Program, Typed, check};
use crate::reward::bound;
use crate::search::{Domain, Solved};
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use std::sync::{Arc, Mutex};

/// What a stage starts from, and what everyone who searches it shares.
pub struct Space<'a> {
    /// The stage.
    pub stage: &'a Stage,
    /// The program it starts from.
    pub start: &'a Program,
    /// Which programs are one.
    pub merge: Merge,
    /// The instances that score candidates.
    pub bench: &'a Bench<'a>,
}

impl Space<'_> {
    /// The finished program, if it fits.
    pub(super) fn finished(&self, program: &Program) -> Option<Solved<Program>> {
        let grammar = &self.stage.grammar;
        let finished = grammar.finish(program);
        self.typed(&finished)?;
        let key = self.merge.finished(&finished, grammar.signature, grammar.live_out.kept());
        Some(Solved { key, solution: finished.program().clone() })
    }

    /// The types of a finished program, if it fits, leaves what is to be kept, and no instruction that the stage added is
    /// a longer way to write another one: the grammar offers none, but a later insertion before it can make it so.
    pub(super) fn typed<'p>(&self, finished: &'p Canonical) -> Option<Vec<Typed<'p>>> {
        let (grammar, program) = (&self.stage.grammar, finished.program());
        let typed = check(program, grammar.signature).ok()?;
        let written = |reg| program.setup.iter().any(|ins| ins.writes().contains(reg));
        let longwinded = |typed: &Typed| {
            let old = self.start.section(typed.section).contains(typed.instruction);
            !old && (typed.instruction.op.redundant)(&typed.args)
        };
        (grammar.live_out.kept().iter().all(written) && !typed.iter().any(longwinded)).then_some(typed)
    }

    /// The most that a program can earn here.
    pub(super) fn bound(&self, program: &Program) -> f64 {
        let families = &self.stage.families;
        // Families that differ in their spectra only have one bound.
        let size = |family: &Family| (family.kind, family.rows, family.cols);
        let first = |i: usize| families[..i].iter().all(|other| size(other) != size(&families[i]));
        let bounds = (0..families.len()).filter(|&i| first(i));
        bounds.map(|i| bound(program, &families[i], &self.stage.protocol)).fold(0.0, f64::max)
    }

    pub(super) fn values(&self, requests: &[(&Solved<Program>, usize)]) -> Vec<f64> {
        let value = |&(solved, index): &(&Solved<Program>, usize)| self.bench.reward(solved, index);
        match requests {
            [one] => vec![value(one)],
            many => wait(|| many.par_iter().map(value).collect()),
        }
    }
}

/// A program being written, with the edits that are left.
#[derive(Clone)]
pub struct Draft {
    program: Arc<Canonical>,
    left: usize,
    key: u128,
}

/// The paper's moves: insert one instruction anywhere.
pub struct Insertions<'a> {
    space: Space<'a>,
    children: Mutex<FxHashMap<u128, Arc<[Draft]>>>,
}

impl<'a> Insertions<'a> {
    /// Of this space.
    pub fn new(space: Space<'a>) -> Insertions<'a> {
        Insertions { space, children: Mutex::default() }
    }

    fn draft(&self, program: Canonical, left: usize) -> Draft {
        // Whatever the merge key: programs that leave the same registers have different middles, where the next
        // instruction may go. And equal programs with different numbers of edits left have different futures.
        let key = mix(&[program.id(), left as u128]);
        Draft { program: Arc::new(program), left, key }
    }
}

impl Domain for Insertions<'_> {
    type State = Draft;
    type Solution = Program;

    fn root(&self) -> Draft {
        self.draft(self.space.stage.grammar.state(self.space.start), self.space.stage.edits)
    }

    fn key(&self, draft: &Draft) -> u128 {
        draft.key
    }

    fn children(&self, draft: &Draft) -> Arc<[Draft]> {
        if draft.left == 0 {
            return Arc::new([]);
        }
        let memory = || self.children.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some(known) = memory().get(&draft.key) {
            return known.clone();
        }
        let (grammar, program) = (&self.space.stage.grammar, draft.program.program());
        let child = |insertion: &crate::program::Insertion| {
            self.draft(grammar.state(&insertion.apply(program)), draft.left - 1)
        };
        let children: Arc<[Draft]> = grammar.legal(program, draft.left).iter().map(child).collect();
        memory().insert(draft.key, children.clone());
        children
    }

    fn is_end(&self, draft: &Draft) -> bool {
        draft.left == 0
    }

    fn solution(&self, draft: &Draft) -> Option<Solved<Program>> {
        self.space.finished(draft.program.program())
    }

    fn replicates(&self) -> usize {
        self.space.bench.count()
    }

    fn bound(&self, program: &Program) -> f64 {
        self.space.bound(program)
    }

    fn values(&self, requests: &[(&Solved<Program>, usize)]) -> Vec<f64> {
        self.space.values(requests)
    }
}

//! Enumeration by appending: every program that insertions can reach, built from left to right.
//!
//! Whatever is inserted into a program of k instructions falls into one of its k + 1 gaps, so the result can also be
//! written from its beginning: copy the old program up to a gap, add an instruction, copy on. Two beginnings that
//! leave the registers alike, at the same gap, have the same future; of those one is enough, the one that took the
//! fewest edits. This meets far fewer states than insertion, where every order of the same edits is a path, and all
//! programs that insertions into the old program, as it stands, can make.

use super::merge::mix;
use super::space::Space;
use crate::program::{Canonical, Env, Program, Section};
use crate::search::{Domain, Solved};
use std::sync::Arc;

/// The beginning of a program.
#[derive(Clone)]
pub struct Beginning {
    written: Program,
    /// The types after it.
    env: Env,
    /// The section being written.
    section: Section,
    /// How many of that section's old instructions are copied.
    copied: usize,
    /// Edits made.
    spent: usize,
    key: u128,
}

/// The moves: copy up to a gap, and add an instruction there.
pub struct Appending<'a> {
    space: Space<'a>,
    /// In canonical order, as insertions see it.
    old: Canonical,
}

impl<'a> Appending<'a> {
    /// Of this space.
    pub fn new(space: Space<'a>) -> Appending<'a> {
        let old = space.stage.grammar.state(space.start);
        Appending { space, old }
    }

    /// Copies the next old instruction, going on to the next section where one ends; none at the end.
    fn copy_one(&self, mut beginning: Beginning) -> Option<Beginning> {
        match (self.old.program().section(beginning.section).get(beginning.copied), beginning.section) {
            (Some(instruction), section) => {
                // What does not fit poisons its target, and counts for nothing if that is dead.
                let _ = beginning.env.step(instruction, section);
                beginning.written.section_mut(section).push(instruction.clone());
                beginning.copied += 1;
            }
            (None, Section::Setup) => (beginning.section, beginning.copied) = (Section::Iteration, 0),
            (None, Section::Iteration) => return None,
        }
        Some(beginning)
    }

    fn keyed(&self, mut beginning: Beginning) -> Beginning {
        let grammar = &self.space.stage.grammar;
        let kept = grammar.live_out.kept();
        let canonical = grammar.state(&beginning.written);
        let program = self.space.merge.beginning(&canonical, grammar.signature, kept);
        beginning.key = mix(&[program, beginning.section as u128, beginning.copied as u128]);
        beginning
    }
}

impl Domain for Appending<'_> {
    type State = Beginning;
    type Solution = Program;

    fn root(&self) -> Beginning {
        self.keyed(Beginning {
            written: Program::default(),
            env: Env::start(self.space.stage.grammar.signature),
            section: Section::Setup,
            copied: 0,
            spent: 0,
            key: 0,
        })
    }

    fn key(&self, beginning: &Beginning) -> u128 {
        beginning.key
    }

    fn children(&self, beginning: &Beginning) -> Arc<[Beginning]> {
        let grammar = &self.space.stage.grammar;
        let mut children = Vec::new();
        let mut here = Some(beginning.clone()).filter(|_| !self.is_end(beginning));
        while let Some(gap) = here {
            if grammar.opens(gap.section, gap.copied, self.old.program().section(gap.section)) {
                for (instruction, _) in grammar.instructions(&gap.env, gap.section) {
                    if instruction.target.is_none() {
                        continue;
                    }
                    let mut child = gap.clone();
                    let fits = child.env.step(&instruction, gap.section);
                    debug_assert!(fits.is_ok(), "the grammar offers what fits");
                    child.written.section_mut(gap.section).push(instruction);
                    child.spent += 1;
                    children.push(self.keyed(child));
                }
            }
            here = self.copy_one(gap);
        }
        children.into()
    }

    fn is_end(&self, beginning: &Beginning) -> bool {
        beginning.spent == self.space.stage.edits
    }

    fn solution(&self, beginning: &Beginning) -> Option<Solved<Program>> {
        let mut whole = beginning.clone();
        while let Some(longer) = self.copy_one(whole.clone()) {
            whole = longer;
        }
        self.space.finished(&whole.written)
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

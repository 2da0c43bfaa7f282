//! Enumeration by appending: every program that insertions can reach, built from left to right.
//!
//! Every instruction inserted into a program of k instructions falls into one of its k + 1 gaps, so the result can
//! also be built from left to right: copy the old program up to a gap, add an instruction, continue copying. Two
//! prefixes with equal register contents at the same gap have the same continuations; only the one with the fewest
//! edits is kept. This visits far fewer states than insertion, where every order of the same edits is a path, and
//! still reaches all programs that insertions into the old program as it is can make.
//!
//! There can be millions of prefixes, so a prefix is stored as its edits and written out again when it is needed.

use super::behaviour::Lab;
use super::growing::Growing;
use super::merge::Merge;
use super::space::Space;
use crate::execute::mix;
use crate::program::{Instruction, Program, Reg, Section, Slot};
use crate::search::{Budget, Counters, Domain, Measure, Outcome, Ranked, Solved, Watch, exhaustive};
use rustc_hash::FxHashMap;
use std::sync::{Arc, Mutex, MutexGuard};

/// An instruction, by its number, in a gap of the old program. The gaps of setup come first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Edit {
    gap: u32,
    instruction: u32,
}

/// A program as the edits of the old one, from left to right.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Edits(Arc<[Edit]>);

/// A prefix of a program, up to its last edit.
#[derive(Clone)]
pub struct Beginning {
    edits: Edits,
    key: u128,
}

/// The moves: copy up to a gap and add an instruction there.
pub struct Appending<'a> {
    space: Space<'a>,
    /// In canonical form, as for insertions.
    old: Program,
    desk: Mutex<Desk>,
}

/// Working memory in which prefixes are written out.
struct Desk {
    /// Every instruction seen, indexed by its number.
    instructions: Vec<Instruction>,
    numbers: FxHashMap<Instruction, u32>,
    /// Where prefixes are run, if states are merged by behaviour.
    labs: Option<[Lab; 2]>,
    root: Growing,
    /// The latest prefix with all shorter prefixes of it, most of which are reused for the next one.
    path: Vec<(Edit, Growing)>,
}

impl Desk {
    fn number(&mut self, instruction: Instruction) -> u32 {
        let next = self.instructions.len() as u32;
        self.numbers.get(&instruction).copied().unwrap_or_else(|| {
            self.instructions.push(instruction.clone());
            self.numbers.insert(instruction, next);
            next
        })
    }
}

impl<'a> Appending<'a> {
    /// The moves of this space.
    pub fn new(space: Space<'a>) -> Appending<'a> {
        let grammar = &space.stage.grammar;
        let labs = (space.merge == Merge::Fingerprint).then(|| Lab::both(grammar.signature));
        let root = Growing::new(grammar.signature, labs.as_ref());
        let (instructions, numbers, path) = Default::default();
        let desk = Mutex::new(Desk { instructions, numbers, labs, root, path });
        Appending { old: grammar.state(space.start).program().clone(), space, desk }
    }

    /// Enumerates the whole space; the playouts of `budget` are states, `keep` is the number of solutions returned.
    pub fn enumerate(
        &self,
        measure: Measure,
        budget: impl Into<Budget>,
        keep: usize,
        watch: &mut dyn Watch<Program>,
    ) -> Outcome<Program> {
        self.searched(watch, |domain, watch| exhaustive(domain, measure, budget, keep, watch))
    }

    /// Runs a search and returns its solutions as programs.
    pub(super) fn searched(
        &self,
        watch: &mut dyn Watch<Program>,
        search: impl FnOnce(&Self, &mut dyn Watch<Edits>) -> Outcome<Edits>,
    ) -> Outcome<Program> {
        let Outcome { ranked, stop, counters, size } = search(self, &mut Reader { appending: self, watch });
        let read =
            |ranked: Ranked<Edits>| Ranked { solved: self.read(&ranked.solved), values: ranked.values };
        Outcome { ranked: ranked.into_iter().map(read).collect(), stop, counters, size }
    }

    fn desk(&self) -> MutexGuard<'_, Desk> {
        self.desk.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Section and position of a gap.
    fn place(&self, gap: u32) -> (Section, usize) {
        let setup = self.old.setup.len();
        match (gap as usize).checked_sub(setup + 1) {
            None => (Section::Setup, gap as usize),
            Some(position) => (Section::Iteration, position),
        }
    }

    fn last_gap(&self) -> u32 {
        self.old.len() as u32 + 1
    }

    /// Copies what is between a gap and the next one: an old instruction, or the end of setup.
    fn copy_one(&self, growing: &mut Growing, gap: u32, labs: Option<&mut [Lab; 2]>) {
        let (section, position) = self.place(gap);
        match self.old.section(section).get(position) {
            Some(instruction) => growing.push(instruction, labs),
            None => growing.turn(labs),
        }
    }

    /// Extends a prefix that ends at gap `from` up to gap `to`.
    fn copy(&self, growing: &mut Growing, from: u32, to: u32, labs: &mut Option<[Lab; 2]>) {
        (from..to).for_each(|gap| self.copy_one(growing, gap, labs.as_mut()));
    }

    /// Writes out a prefix.
    fn write<'d>(&self, desk: &'d mut Desk, edits: &[Edit]) -> &'d mut Growing {
        let Desk { instructions, labs, root, path, .. } = desk;
        let same = path.iter().zip(edits).take_while(|((known, _), edit)| known == *edit).count();
        path.truncate(same);
        for &edit in &edits[same..] {
            let (gap, mut growing) =
                path.last().map_or_else(|| (0, root.clone()), |(edit, known)| (edit.gap, known.clone()));
            self.copy(&mut growing, gap, edit.gap, labs);
            growing.push(&instructions[edit.instruction as usize], labs.as_mut());
            path.push((edit, growing));
        }
        path.last_mut().map_or(root, |(_, growing)| growing)
    }

    /// The program made by these edits.
    fn program(&self, edits: &Edits) -> Program {
        let desk = self.desk();
        let mut edits = edits.0.iter().peekable();
        let mut program = Program::default();
        for gap in 0..=self.last_gap() {
            let (section, position) = self.place(gap);
            while let Some(edit) = edits.next_if(|edit| edit.gap == gap) {
                program.section_mut(section).push(desk.instructions[edit.instruction as usize].clone());
            }
            program.section_mut(section).extend(self.old.section(section).get(position).cloned());
        }
        program
    }

    /// The finished program made by these edits.
    fn finish(&self, edits: &Edits) -> Program {
        self.space.stage.grammar.finish(&self.program(edits)).program().clone()
    }

    fn read(&self, solved: &Solved<Edits>) -> Solved<Program> {
        Solved { key: solved.key, solution: self.finish(&solved.solution) }
    }

    /// The key of a prefix that ends at a gap, with one more instruction if given.
    fn key(
        &self,
        growing: &mut Growing,
        gap: u32,
        instruction: Option<&Instruction>,
        labs: Option<&mut [Lab; 2]>,
    ) -> u128 {
        let grammar = &self.space.stage.grammar;
        let program = match labs {
            None => grammar.state(&growing.with(instruction)).id(),
            Some(labs) => growing.behaviour(instruction, grammar.live_out.kept(), labs),
        };
        let (section, position) = self.place(gap);
        mix([program, section as u128, position as u128])
    }

    /// Whether v1 has the required type if nothing is added to these edits: a quick test that rejects most prefixes
    /// that are not solutions.
    fn moves_x(&self, before: &Growing, gap: u32, instructions: &[Instruction], edit: Edit) -> bool {
        let mut env = before.env.clone();
        let added = &instructions[edit.instruction as usize];
        for gap in gap..self.last_gap() {
            if gap == edit.gap {
                let _ = env.step(added, self.place(gap).0);
            }
            let (section, position) = self.place(gap);
            if let Some(instruction) = self.old.section(section).get(position) {
                let _ = env.step(instruction, section);
            }
        }
        if edit.gap == self.last_gap() {
            let _ = env.step(added, Section::Iteration);
        }
        env.slot(Reg::V1) == Slot::Known(self.space.stage.grammar.signature.result())
    }
}

impl Domain for Appending<'_> {
    type State = Beginning;
    type Solution = Edits;

    fn root(&self) -> Beginning {
        let desk = &mut *self.desk();
        let key = self.key(&mut desk.root.clone(), 0, None, desk.labs.as_mut());
        Beginning { edits: Edits(Arc::new([])), key }
    }

    fn key(&self, beginning: &Beginning) -> u128 {
        beginning.key
    }

    fn children(&self, beginning: &Beginning) -> Arc<[Beginning]> {
        let mut children = Vec::new();
        if self.is_end(beginning) {
            return children.into();
        }
        let (grammar, edits) = (&self.space.stage.grammar, &beginning.edits.0);
        let desk = &mut *self.desk();
        let mut growing = self.write(desk, edits).clone();
        let first = edits.last().map_or(0, |edit| edit.gap);
        for gap in first..=self.last_gap() {
            let (section, position) = self.place(gap);
            if grammar.opens(section, position, self.old.section(section)) {
                for (instruction, _) in grammar.instructions(&growing.env, section) {
                    if instruction.target.is_none() {
                        continue;
                    }
                    let key = self.key(&mut growing, gap, Some(&instruction), desk.labs.as_mut());
                    let edit = Edit { gap, instruction: desk.number(instruction) };
                    let edits = Edits(edits.iter().copied().chain([edit]).collect());
                    children.push(Beginning { edits, key });
                }
            }
            if gap < self.last_gap() {
                self.copy_one(&mut growing, gap, desk.labs.as_mut());
            }
        }
        children.into()
    }

    fn is_end(&self, beginning: &Beginning) -> bool {
        beginning.edits.0.len() == self.space.stage.edits
    }

    fn solution(&self, beginning: &Beginning) -> Option<Solved<Edits>> {
        let grammar = &self.space.stage.grammar;
        let desk = &mut *self.desk();
        let whole = match beginning.edits.0.split_last() {
            Some((&edit, before)) => {
                let gap = before.last().map_or(0, |edit| edit.gap);
                self.write(desk, before);
                let Desk { instructions, labs, root, path, .. } = desk;
                let before = path.last().map_or(&*root, |(_, growing)| growing);
                if !self.moves_x(before, gap, instructions, edit) {
                    return None;
                }
                let mut whole = before.clone();
                self.copy(&mut whole, gap, edit.gap, labs);
                whole.push(&instructions[edit.instruction as usize], labs.as_mut());
                self.copy(&mut whole, edit.gap, self.last_gap(), labs);
                whole
            }
            None => {
                let mut whole = desk.root.clone();
                self.copy(&mut whole, 0, self.last_gap(), &mut desk.labs);
                whole
            }
        };
        let finished = grammar.finish(&whole.written);
        let typed = self.space.typed(&finished)?;
        let kept = grammar.live_out.kept();
        let known = desk.labs.as_mut().and_then(|labs| whole.finished(&finished, &typed, kept, labs));
        let key = known.unwrap_or_else(|| self.space.merge.finished(&finished, grammar.signature, kept));
        Some(Solved { key, solution: beginning.edits.clone() })
    }

    fn replicates(&self) -> usize {
        self.space.bench.count()
    }

    fn bound(&self, edits: &Edits) -> f64 {
        self.space.bound(&self.program(edits))
    }

    fn values(&self, requests: &[(&Solved<Edits>, usize)]) -> Vec<f64> {
        let read: Vec<(Solved<Program>, usize)> =
            requests.iter().map(|&(solved, replicate)| (self.read(solved), replicate)).collect();
        let requests: Vec<_> = read.iter().map(|(solved, replicate)| (solved, *replicate)).collect();
        self.space.values(&requests)
    }
}

/// Forwards the events of a search over edits to an observer of programs.
struct Reader<'a, 'b> {
    appending: &'a Appending<'b>,
    watch: &'a mut dyn Watch<Program>,
}

impl Watch<Edits> for Reader<'_, '_> {
    fn evaluated(&mut self, key: u128, replicate: usize, value: f64) {
        self.watch.evaluated(key, replicate, value);
    }

    fn continues(&mut self, counters: &Counters, best: Option<(&Edits, f64)>) -> bool {
        let best = best.map(|(edits, mean)| (self.appending.finish(edits), mean));
        self.watch.continues(counters, best.as_ref().map(|(program, mean)| (program, *mean)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discovery::{Bench, Instances, Known, Problems, Stage};
    use crate::problem::{Family, InstanceSet};
    use crate::program::{Entry, Geometry, Grammar};
    use crate::reward::{Profile, Protocol, StepRule};
    use crate::rng::Stream;
    use rand::RngExt;

    fn stage() -> Stage {
        Stage {
            name: "walks".into(),
            grammar: Grammar::full(Geometry::Tall),
            edits: 4,
            families: vec![Family { rows: 20, cols: 3, ..Family::named("mid-cond").unwrap() }],
            protocol: Protocol::new(Profile::sound(), StepRule::Fixed(1.0)),
            exploration: 0.5,
            budget_per_decision: false,
            budget: 1000,
            merge: Merge::Fingerprint,
            instances: Instances { search: 1, select: 1, report: 1, ..Instances::default() },
        }
    }

    /// The finished program, if it is valid, with its key as stored.
    fn finished(space: &Space, program: &Program) -> Option<Solved<Program>> {
        let grammar = &space.stage.grammar;
        let finished = grammar.finish(program);
        space.typed(&finished)?;
        let key = space.merge.finished(&finished, grammar.signature, grammar.live_out.kept());
        Some(Solved { key, solution: finished.program().clone() })
    }

    #[test]
    fn edits_give_back_the_program_they_were_made_of() {
        let (stage, known, problems) = (stage(), Known::default(), Problems::default());
        let bench = Bench::new(&stage, InstanceSet::Search, 0, 0, &known, &problems).unwrap();
        let start = &Entry::named("precond-gd").unwrap().document.program;
        for merge in Merge::ALL {
            let fresh = || Appending::new(Space { stage: &stage, start, merge, bench: &bench, front: None });
            let (one, mut dice) = (fresh(), Stream::new(5).derive("walk", 0).rng());
            for _ in 0..20 {
                let mut beginning = one.root();
                while !one.is_end(&beginning) {
                    let children = one.children(&beginning);
                    let next = children[dice.random_range(0..children.len())].clone();
                    let edit = *next.edits.0.last().unwrap();
                    let added = one.desk().instructions[edit.instruction as usize].clone();
                    let before = one.write(&mut one.desk(), &beginning.edits.0).written.clone();
                    let after = one.write(&mut one.desk(), &next.edits.0).written.clone();
                    let (section, position) = one.place(edit.gap);
                    assert_eq!(after.section(section).last(), Some(&added));
                    assert!(after.len() > before.len());
                    let old = |program: &Program| program.instructions().count();
                    let copied =
                        position + if section == Section::Iteration { one.old.setup.len() } else { 0 };
                    assert_eq!(old(&after), copied + next.edits.0.len());
                    // The whole program starts with the prefix.
                    let whole = one.program(&next.edits);
                    assert_eq!(whole.len(), one.old.len() + next.edits.0.len());
                    assert!(
                        whole.setup.starts_with(&after.setup)
                            && whole.iteration.starts_with(&after.iteration)
                    );
                    // Another working memory, without any history, gives the same key.
                    let (other, desk) = (fresh(), one.desk());
                    other.desk().instructions.clone_from(&desk.instructions);
                    drop(desk);
                    let desk = &mut *other.desk();
                    let mut growing = other.write(desk, &next.edits.0).clone();
                    assert_eq!(other.key(&mut growing, edit.gap, None, desk.labs.as_mut()), next.key);
                    beginning = next;
                }
                let solved = one.solution(&beginning);
                let expected = finished(&one.space, &one.program(&beginning.edits));
                assert_eq!(solved.as_ref().map(|s| s.key), expected.as_ref().map(|s| s.key));
                assert_eq!(solved.map(|s| one.finish(&s.solution)), expected.map(|s| s.solution));
            }
        }
    }
}

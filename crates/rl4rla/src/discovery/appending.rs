//! Enumeration by appending: every program that insertions can reach, built from left to right.
//!
//! Every instruction inserted into a program of k instructions falls into one of its k + 1 gaps, so the result can
//! also be built from left to right: copy the old program up to a gap, add an instruction, continue copying. Two
//! prefixes with equal register contents at the same gap have the same continuations; only the one with the fewest
//! edits is kept. This visits far fewer states than insertion, where every order of the same edits is a path, and
//! still reaches all programs that insertions into the old program as it is can make.
//!
//! There can be millions of prefixes, so a prefix is stored as its parent and its last edit, and written out again when
//! it is needed.

use super::behaviour::Lab;
use super::bounds::Bounds;
use super::finishing::Finishing;
use super::gaps::{Gap, Gaps};
use super::growing::{Growing, Tools};
use super::merge::Merge;
use super::prefix_reader::PrefixReader;
use super::prefixes::{Prefix, Prefixes};
use super::space::Space;
use crate::execute::mix;
use crate::program::{Continuation, Editor, InstructionNumber, Program, Section};
use crate::search::{Budget, Domain, Measure, Outcome, Ranked, Solved, Watch, exhaustive};
use std::sync::{Arc, Mutex, MutexGuard};

/// A prefix of a program up to its last edit, by its number; or the program made of it by adding nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Beginning(u32);

/// The moves: copy up to a gap and add an instruction there.
pub struct Appending<'a> {
    space: Space<'a>,
    /// The gaps of the old program in canonical form, as for insertions.
    gaps: Gaps,
    /// Whether prefixes are met in any order, not those with the fewest edits first.
    any_order: bool,
    desk: Mutex<Desk<'a>>,
}

/// Working memory in which prefixes are written out.
struct Desk<'a> {
    tools: Tools<'a>,
    finishing: Finishing,
    bounds: Bounds,
    prefixes: Prefixes,
    root: Growing,
    /// The latest prefix with all shorter prefixes of it, most of which are reused for the next one.
    path: Vec<(u32, Growing)>,
    numbers: Vec<u32>,
}

impl<'a> Appending<'a> {
    /// The moves of this space.
    pub fn new(space: Space<'a>) -> Appending<'a> {
        let grammar = &space.stage.grammar;
        let old = grammar.state(space.start).program().clone();
        let editor = Editor::new(grammar, space.start);
        let gaps = Gaps::new(grammar, &old, &editor);
        let labs = (space.merge == Merge::Fingerprint).then(|| Lab::both(grammar.signature));
        let finishing = Finishing::new(&editor, &space);
        let mut tools = Tools::new(editor, labs);
        let mut root = Growing::new(&tools);
        let prefixes = Prefixes::new(key(&space, gaps.get(0), 0, &mut root, &mut tools));
        let (bounds, path, numbers) = Default::default();
        let desk = Mutex::new(Desk { tools, finishing, bounds, prefixes, root, path, numbers });
        Appending { space, gaps, any_order: false, desk }
    }

    /// The same for a search that may meet a prefix first where it is longer than need be. Equal prefixes with
    /// different numbers of edits are told apart, because they have different continuations.
    pub fn in_any_order(space: Space<'a>) -> Appending<'a> {
        Appending { any_order: true, ..Appending::new(space) }
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
        search: impl FnOnce(&Self, &mut dyn Watch<Beginning>) -> Outcome<Beginning>,
    ) -> Outcome<Program> {
        let Outcome { ranked, stop, counters, size } =
            search(self, &mut PrefixReader { appending: self, watch });
        let read = |ranked: Ranked<Beginning>| Ranked {
            solved: self.read(&ranked.solved),
            values: ranked.values,
            first: ranked.first,
        };
        Outcome { ranked: ranked.into_iter().map(read).collect(), stop, counters, size }
    }

    fn desk(&self) -> MutexGuard<'_, Desk<'a>> {
        self.desk.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Extends a prefix that ends at gap `from` by an edit.
    fn extend(&self, growing: &mut Growing, from: u16, edit: Prefix, tools: &mut Tools) {
        self.gaps.copy(growing, from..edit.gap, tools);
        growing.push(edit.word, tools);
    }

    /// Writes out a prefix.
    fn write<'d>(&self, desk: &'d mut Desk<'a>, number: u32) -> &'d mut Growing {
        let Desk { tools, prefixes, root, path, numbers, .. } = desk;
        if tools.labs.iter().flatten().any(Lab::is_full) {
            tools.labs.iter_mut().flatten().for_each(Lab::forget);
            path.clear();
        }
        prefixes.path(number, numbers);
        let same = path.iter().zip(&*numbers).take_while(|((known, _), number)| known == *number).count();
        path.truncate(same);
        for &number in &numbers[same..] {
            let edit = prefixes.get(number);
            let mut growing = path.last().map_or(&*root, |(_, growing)| growing).clone();
            self.extend(&mut growing, prefixes.get(edit.parent).gap, edit, tools);
            path.push((number, growing));
        }
        path.last_mut().map_or(root, |(_, growing)| growing)
    }

    /// The program made of a prefix, unless v1 has not the required type: a quick test that rejects most prefixes that
    /// are not solutions.
    fn whole(&self, desk: &mut Desk<'a>, number: u32) -> Option<Growing> {
        if number == Prefix::ROOT {
            let mut whole = desk.root.clone();
            self.gaps.copy(&mut whole, 0..self.gaps.last(), &mut desk.tools);
            return Some(whole);
        }
        let edit = desk.prefixes.get(number);
        let (from, to) = (desk.prefixes.get(edit.parent).gap, edit.gap);
        let point = self.write(desk, edit.parent).tip().point;
        let Desk { tools, root, path, .. } = desk;
        let points = tools.editor.points();
        let before = self.gaps.copied(points, point, from..to);
        let after = points.step(before, edit.word, self.gaps.get(to).section);
        self.gaps.moves_x(points, after.point, to).then(|| {
            let mut whole = path.last().map_or(&*root, |(_, growing)| growing).clone();
            self.extend(&mut whole, from, edit, tools);
            self.gaps.copy(&mut whole, to..self.gaps.last(), tools);
            whole
        })
    }

    /// The words of the program made of a prefix.
    fn words(&self, desk: &mut Desk, number: u32) -> Vec<InstructionNumber> {
        let Desk { prefixes, numbers, .. } = desk;
        prefixes.path(number, numbers);
        let mut edits = numbers.iter().map(|&number| prefixes.get(number)).peekable();
        let mut words = vec![0];
        for number in 0..=self.gaps.last() {
            let gap = self.gaps.get(number);
            while let Some(edit) = edits.next_if(|edit| edit.gap == number) {
                words.push(edit.word);
            }
            words.extend(gap.next);
            if gap.section == Section::Setup {
                words[0] = words.len() as InstructionNumber - 1;
            }
        }
        words
    }

    /// Finishes the program made of a prefix.
    fn finish(&self, desk: &mut Desk, number: u32) {
        let words = self.words(desk, number);
        desk.finishing.finish(&mut desk.tools.editor, &words);
    }

    /// The finished program made of a prefix.
    pub(super) fn finished(&self, &Beginning(number): &Beginning) -> Program {
        let desk = &mut *self.desk();
        self.finish(desk, number);
        desk.tools.editor.program(&desk.finishing.words)
    }

    /// The program made of a prefix, as the edits leave it.
    pub(super) fn unfinished(&self, &Beginning(number): &Beginning) -> Program {
        let desk = &mut *self.desk();
        let words = self.words(desk, number);
        desk.tools.editor.program(&words)
    }

    fn read(&self, solved: &Solved<Beginning>) -> Solved<Program> {
        Solved { key: solved.key, solution: self.finished(&solved.solution) }
    }
}

/// The key of a prefix that ends at a gap; equal prefixes with different `edits` are told apart.
fn key(space: &Space, gap: &Gap, edits: u16, growing: &mut Growing, tools: &mut Tools) -> u128 {
    let program = match space.merge {
        Merge::Canonical => growing.state(tools),
        Merge::Fingerprint => growing.behaviour(space.stage.grammar.live_out.kept(), tools),
    };
    // Equal values have equal units, unless they are zero.
    let units = tools.editor.points().units(growing.tip().point);
    mix([program, gap.section as u128, gap.position as u128, edits.into(), units.into()])
}

impl Domain for Appending<'_> {
    type State = Beginning;
    type Solution = Beginning;

    fn root(&self) -> Beginning {
        Beginning(Prefix::ROOT)
    }

    fn key(&self, &Beginning(number): &Beginning) -> u128 {
        number.into()
    }

    fn children(&self, beginning: &Beginning) -> Arc<[Beginning]> {
        let mut children = Vec::new();
        if self.is_end(beginning) {
            return children.into();
        }
        let &Beginning(parent) = beginning;
        let desk = &mut *self.desk();
        let mut growing = self.write(desk, parent).clone();
        let Desk { tools, prefixes, .. } = desk;
        let Prefix { gap: first, edits, .. } = prefixes.get(parent);
        let edits = edits + 1;
        let (told_apart, last) =
            (if self.any_order { edits } else { 0 }, edits as usize == self.space.stage.edits);
        for number in first..=self.gaps.last() {
            let gap = self.gaps.get(number);
            let tip = growing.tip();
            let offers =
                if gap.open { tools.editor.points().continuations(tip.point, gap.section) } else { 0..0 };
            for offer in offers {
                let points = tools.editor.points();
                let Continuation { word, point } = points.continuation(offer);
                // As for insertions, the last edit must leave a program that fits.
                if last && !self.gaps.moves_x(points, point, number)
                    || tools.editor.instruction(word).target.is_none()
                {
                    continue;
                }
                growing.push(word, tools);
                let key = key(&self.space, gap, told_apart, &mut growing, tools);
                growing.pop(tip);
                children.push(Beginning(prefixes.number(key, Prefix { parent, gap: number, word, edits })));
            }
            if number < self.gaps.last() {
                self.gaps.copy(&mut growing, number..number + 1, tools);
            }
        }
        children.into()
    }

    fn is_end(&self, &Beginning(number): &Beginning) -> bool {
        self.desk().prefixes.get(number).edits as usize == self.space.stage.edits
    }

    fn solution(&self, beginning: &Beginning) -> Option<Solved<Beginning>> {
        let kept = self.space.stage.grammar.live_out.kept();
        let desk = &mut *self.desk();
        let whole = self.whole(desk, beginning.0)?;
        let Desk { tools: Tools { editor, labs, .. }, finishing, .. } = desk;
        finishing.finish(editor, &whole.words).then(|| {
            let key = finishing.key(editor, &self.space, |editor, finished| {
                whole.finished(finished, kept, editor, labs.as_mut())
            });
            Solved { key, solution: *beginning }
        })
    }

    fn draft(&self, beginning: &Beginning) -> Option<Beginning> {
        Some(*beginning)
    }

    fn replicates(&self) -> usize {
        self.space.bench.count()
    }

    fn bound(&self, beginning: &Beginning) -> f64 {
        let desk = &mut *self.desk();
        self.finish(desk, beginning.0);
        let Desk { tools, finishing, bounds, .. } = desk;
        bounds.bound(&mut tools.editor, &finishing.words, &self.space)
    }

    fn values(&self, requests: &[(&Solved<Beginning>, usize)]) -> Vec<f64> {
        let read: Vec<(Solved<Program>, usize)> =
            requests.iter().map(|&(solved, replicate)| (self.read(solved), replicate)).collect();
        let requests: Vec<_> = read.iter().map(|(solved, replicate)| (solved, *replicate)).collect();
        self.space.values(&requests)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discovery::{Bench, Instances, Known, Problems, Stage};
    use crate::problem::{Family, InstanceSet};
    use crate::program::{Entry, Geometry, Grammar, Typed, check};
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

    /// The finished program, if it is valid, with its key as stored: it type-checks, writes all registers to be kept,
    /// and no instruction added by the stage is redundant.
    fn finished(space: &Space, program: &Program) -> Option<Solved<Program>> {
        let grammar = &space.stage.grammar;
        let finished = grammar.finish(program);
        let redundant = |typed: &Typed| {
            let old = space.start.section(typed.section).contains(typed.instruction);
            !old && (typed.instruction.op.redundant)(&typed.args)
        };
        let typed = check(finished.program(), grammar.signature).ok()?;
        let valid = grammar.is_well_shaped(program) && !typed.iter().any(redundant);
        let key = space.merge.finished(&finished, grammar.signature, grammar.live_out.kept());
        valid.then(|| Solved { key, solution: finished.program().clone() })
    }

    fn written(appending: &Appending, beginning: Beginning) -> Program {
        let desk = &mut *appending.desk();
        let words = appending.write(desk, beginning.0).words.clone();
        desk.tools.editor.program(&words)
    }

    #[test]
    fn edits_give_back_the_program_they_were_made_of() {
        let (stage, known, problems) = (stage(), Known::default(), Problems::default());
        let bench = Bench::new(&stage, InstanceSet::Search, 0, 0, &known, &problems).unwrap();
        let start = &Entry::named("precond-gd").unwrap().document.program;
        for merge in Merge::ALL {
            let space = || Space { stage: &stage, start, merge, bench: &bench, front: None };
            let fresh = || Appending::in_any_order(space());
            let (one, mut dice) = (fresh(), Stream::new(5).derive("walk", 0).rng());
            for _ in 0..20 {
                let mut beginning = one.root();
                while !one.is_end(&beginning) {
                    let children = one.children(&beginning);
                    let next = children[dice.random_range(0..children.len())];
                    let edit = one.desk().prefixes.get(next.0);
                    let before = written(&one, beginning);
                    let after = written(&one, next);
                    let Gap { section, position, .. } = *one.gaps.get(edit.gap);
                    let added = one.desk().tools.editor.instruction(edit.word).clone();
                    assert_eq!(after.section(section).last(), Some(&added));
                    let copied = position + if section == Section::Iteration { start.setup.len() } else { 0 };
                    assert_eq!(after.len(), copied + edit.edits as usize);
                    // A child may be a known prefix with the same behaviour, whose parent is another one.
                    assert!(edit.parent != beginning.0 || after.len() > before.len());
                    // Another working memory, without any history, gives the same key.
                    let (other, desk) = (fresh(), &mut *one.desk());
                    let tools = &mut other.desk().tools;
                    let mut growing = Growing::new(tools);
                    desk.prefixes.path(next.0, &mut desk.numbers);
                    for &number in &desk.numbers {
                        let edit = desk.prefixes.get(number);
                        other.extend(&mut growing, desk.prefixes.get(edit.parent).gap, edit, tools);
                    }
                    let key = key(&other.space, other.gaps.get(edit.gap), edit.edits, &mut growing, tools);
                    assert_eq!(desk.prefixes.number(key, edit), next.0, "{after}");
                    beginning = next;
                }
                let whole = one.words(&mut one.desk(), beginning.0);
                let whole = one.desk().tools.editor.program(&whole);
                let expected = finished(&one.space, &whole);
                let solved = one.solution(&beginning);
                assert_eq!(solved.as_ref().map(|s| s.key), expected.as_ref().map(|s| s.key));
                assert_eq!(solved.map(|s| one.finished(&s.solution)), expected.map(|s| s.solution));
            }
        }
    }
}

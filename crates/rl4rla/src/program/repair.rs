//! The repair rule: which ill-shaped partial programs are worth keeping.
//!
//! Building a program by insertions passes through programs that do not fit. From preconditioned gradient
//! descent, `R1 = SKETCH(A)` leaves an s×n matrix where `MAT_INV` wants a square one, until `HHQR` is put
//! between them. Such a program is kept exactly if at most `remaining` well-typed instructions, put at
//! open places, make its live code fit.
//!
//! Deciding this needs types only. An instruction that does not fit poisons its target; poison that is overwritten
//! before it counts was dead code. What can still be repaired depends on the types at a point, on the program from
//! there on and on the insertions left. Programs that differ in one instruction have most of their ends in common,
//! and pass through few types: both are numbered, and what was found out about them is remembered.

use super::ast::{Instruction, Section};
use super::grammar::Grammar;
use super::liveness::Line;
use super::register::{Reg, RegSet};
use super::types::Type;
use super::typing::{Env, Slot};
use rustc_hash::FxHashMap;
use std::hash::Hash;
use std::rc::Rc;

/// Registers that can be written, with the types they then have.
type Writes = Rc<[(Reg, Type)]>;

/// The repair rule of one grammar, with all it has found out.
pub(super) struct Repair<'a> {
    grammar: &'a Grammar,
    lines: Numbered<&'a Instruction, Line<'a>>,
    ends: Numbered<(Step, bool, usize), End>,
    envs: Numbered<Env, Env>,
    /// What one instruction can write at a point with these types.
    writes: FxHashMap<(usize, Section), Writes>,
    /// The types that a line leaves.
    steps: FxHashMap<(usize, usize, Section), usize>,
    /// Whether an end entered with these types fits after at most so many insertions.
    verdicts: FxHashMap<(usize, usize, usize), bool>,
}

/// A program from some point on: something may be inserted if it is open, then comes a step, then the rest.
#[derive(Clone, Copy)]
struct End {
    section: Section,
    open: bool,
    /// The registers that count here.
    counts: RegSet,
    step: Step,
    /// The number of the rest; none for the last.
    rest: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Step {
    /// An instruction of setup or of the iteration.
    Run(Section, usize),
    /// From setup to the iteration; these registers are lost between iterations.
    Turn(RegSet),
    /// Out of the iteration; these registers are not handed on to the next.
    Leave(RegSet),
}

impl<'a> Repair<'a> {
    /// Nothing found out yet.
    pub fn new(grammar: &'a Grammar) -> Repair<'a> {
        Repair {
            grammar,
            lines: Numbered::default(),
            ends: Numbered::default(),
            envs: Numbered::default(),
            writes: FxHashMap::default(),
            steps: FxHashMap::default(),
            verdicts: FxHashMap::default(),
        }
    }

    /// An instruction as a line, with one number for all that are equal.
    pub fn line(&mut self, instruction: &'a Instruction) -> Line<'a> {
        let id = self.lines.number(instruction, |id, _| Line::new(id, instruction));
        self.lines.items[id]
    }

    /// Whether one insertion or more, but at most `remaining`, make the live code of a program fit.
    pub fn possible(&mut self, program: &[Vec<Line>; 2], remaining: usize) -> bool {
        // A carried register with a poisoned write does no harm if no iteration reads what the one before left
        // there: try every set of registers to be lost between iterations.
        let mut lost = vec![RegSet::EMPTY];
        for reg in Reg::carried().filter(|&r| program[1].iter().any(|line| line.writes.contains(r))) {
            lost.extend(lost.clone().into_iter().map(|set| set.with(reg)));
        }
        let wholes: Vec<usize> = lost.into_iter().map(|lost| self.whole(program, lost)).collect();
        let start = self.env(Env::start(self.grammar.signature));
        // Most programs can be told apart without trying the larger budgets.
        (1..=remaining).any(|budget| wholes.iter().any(|&whole| self.fits(whole, start, budget)))
    }

    /// The end of a program that is all of it.
    fn whole(&mut self, program: &[Vec<Line>; 2], lost: RegSet) -> usize {
        let mut rest = usize::MAX;
        let sections = [(Section::Iteration, Step::Leave(lost)), (Section::Setup, Step::Turn(lost))];
        for ((section, last), lines) in sections.into_iter().zip(program.iter().rev()) {
            let open = self.grammar.places(section, lines.iter().map(|line| line.instruction));
            rest = self.end(last, open.contains(&lines.len()), rest);
            for (position, line) in lines.iter().enumerate().rev() {
                rest = self.end(Step::Run(section, line.id), open.contains(&position), rest);
            }
        }
        rest
    }

    fn end(&mut self, step: Step, open: bool, rest: usize) -> usize {
        self.ends.number((step, open, rest), |_, ends| {
            let after = ends.get(rest).map_or(RegSet::EMPTY, |rest| rest.counts);
            let (section, counts) = match step {
                Step::Run(section, line) => {
                    (section, self.lines.items[line].counting(after).unwrap_or(after))
                }
                Step::Turn(lost) => (Section::Setup, after.minus(lost).union(self.grammar.live_out.kept())),
                Step::Leave(lost) => (Section::Iteration, handed_on(lost).with(Reg::V1)),
            };
            End { section, open, counts, step, rest }
        })
    }

    fn env(&mut self, env: Env) -> usize {
        self.envs.number(env.clone(), |_, _| env)
    }

    /// Whether an end entered with these types fits after at most `budget` insertions, one or more.
    fn fits(&mut self, end: usize, env: usize, budget: usize) -> bool {
        let key = (end, env, budget);
        if let Some(&known) = self.verdicts.get(&key) {
            return known;
        }
        let fits = self.fits_with_one_here(end, env, budget) || self.fits_further_on(end, env, budget);
        self.verdicts.insert(key, fits);
        fits
    }

    /// Whether an insertion at this point helps.
    fn fits_with_one_here(&mut self, end: usize, env: usize, budget: usize) -> bool {
        let End { section, open, counts, .. } = self.ends.items[end];
        if !open {
            return false;
        }
        // The last insertion must write what the rest of the program counts on, or it is wasted.
        let useful = |reg| counts.contains(reg) || reg == Reg::A && counts.contains(Reg::B);
        self.writes(env, section).iter().any(|&(reg, ty)| {
            if budget == 1 && !useful(reg) {
                return false;
            }
            let mut next = self.envs.items[env].clone();
            next.write(Some(reg), Some(ty));
            if budget == 1 {
                return self.fits_as_it_is(end, next);
            }
            let next = self.env(next);
            self.fits(end, next, budget - 1)
        })
    }

    /// Whether everything that counts fits.
    fn fits_as_it_is(&self, end: usize, mut env: Env) -> bool {
        let mut end = self.ends.items[end];
        loop {
            let fits = match end.step {
                Step::Run(section, line) => {
                    let line = self.lines.items[line];
                    let counts = line.writes.meets(self.ends.items[end.rest].counts);
                    !counts || env.quick_step(line.instruction, section)
                }
                Step::Turn(lost) => self.turns(&mut env, lost),
                Step::Leave(lost) => return leaves(&env, self.grammar.signature.result(), lost),
            };
            if !fits {
                return false;
            }
            end = self.ends.items[end.rest];
        }
    }

    /// Whether insertions later on help.
    fn fits_further_on(&mut self, end: usize, env: usize, budget: usize) -> bool {
        let End { step, rest, .. } = self.ends.items[end];
        match step {
            Step::Run(section, line) => {
                let next = self.step(env, line, section);
                self.fits(rest, next, budget)
            }
            Step::Turn(lost) => {
                let mut next = self.envs.items[env].clone();
                self.turns(&mut next, lost) && {
                    let next = self.env(next);
                    self.fits(rest, next, budget)
                }
            }
            Step::Leave(lost) => leaves(&self.envs.items[env], self.grammar.signature.result(), lost),
        }
    }

    /// The types that a line leaves.
    fn step(&mut self, env: usize, line: usize, section: Section) -> usize {
        if let Some(&known) = self.steps.get(&(env, line, section)) {
            return known;
        }
        let mut next = self.envs.items[env].clone();
        next.quick_step(self.lines.items[line].instruction, section);
        let next = self.env(next);
        self.steps.insert((env, line, section), next);
        next
    }

    /// Goes from setup to the iteration, if setup leaves what is to be kept.
    fn turns(&self, env: &mut Env, lost: RegSet) -> bool {
        let left = self.grammar.live_out.kept().iter().all(|reg| env.get(reg).is_some());
        lost.iter().for_each(|reg| env.poison(reg));
        left
    }

    /// What one instruction can write at a point with these types, but for what is there already: that repairs
    /// nothing.
    fn writes(&mut self, env: usize, section: Section) -> Writes {
        let found = || {
            let env = &self.envs.items[env];
            // A sample of `A` writes `b` as well.
            let new = |&(reg, ty): &(Reg, Type)| reg == Reg::A || env.get(reg) != Some(ty);
            self.grammar.results(env, section).into_iter().filter(new).collect()
        };
        self.writes.entry((env, section)).or_insert_with(found).clone()
    }
}

/// The carried registers that are not lost between iterations.
fn handed_on(lost: RegSet) -> RegSet {
    Reg::carried().filter(|&reg| !lost.contains(reg)).collect()
}

/// Whether an iteration can end with these types.
fn leaves(env: &Env, result: Type, lost: RegSet) -> bool {
    env.slot(Reg::V1) == Slot::Known(result) && handed_on(lost).iter().all(|reg| env.get(reg).is_some())
}

/// Items numbered in the order they were met, each known by its key.
struct Numbered<K, T> {
    items: Vec<T>,
    numbers: FxHashMap<K, usize>,
}

impl<K, T> Default for Numbered<K, T> {
    fn default() -> Numbered<K, T> {
        Numbered { items: Vec::new(), numbers: FxHashMap::default() }
    }
}

impl<K: Eq + Hash, T> Numbered<K, T> {
    /// The number of the item with this key; `new` makes it of its number and the items before it.
    fn number(&mut self, key: K, new: impl FnOnce(usize, &[T]) -> T) -> usize {
        let next = self.items.len();
        let number = *self.numbers.entry(key).or_insert(next);
        if number == next {
            let item = new(next, &self.items);
            self.items.push(item);
        }
        number
    }
}

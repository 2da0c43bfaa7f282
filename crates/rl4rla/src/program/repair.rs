//! The repair rule: which ill-shaped partial programs are worth keeping.
//!
//! Building a program by insertions passes through programs that do not fit. Starting from preconditioned gradient
//! descent, `R1 = SKETCH(A)` leaves an s×n matrix where `MAT_INV` needs a square one, until `HHQR` is inserted
//! between them. Such a program is kept if and only if at most `remaining` well-typed insertions at open positions
//! make its live code fit.
//!
//! Deciding this needs types only. An instruction that does not fit poisons its target; poison that is overwritten
//! before it is used was dead code. What can still be repaired depends on the types at a point, on the rest of the
//! program and on the insertions left. Programs that differ in one instruction share most of their suffixes and have
//! few different types: both are numbered, and results about them are memoized.

use super::ast::Section;
use super::lexicon::InstructionNumber;
use super::liveness::{SectionLines, left_by_setup};
use super::points::{TypePoint, TypePoints};
use super::register::{Reg, RegSet};
use rustc_hash::FxHashMap;

/// The repair rule of one grammar, with memoized results.
#[derive(Default)]
pub(super) struct Repair {
    ends: Vec<End>,
    numbers: FxHashMap<(Step, bool, u32), u32>,
    /// Whether a suffix fits after at most this many insertions, given the types before it.
    verdicts: FxHashMap<(u32, TypePoint, u32), bool>,
    /// The suffixes that are the whole current program.
    wholes: Vec<u32>,
}

/// Maximum number of suffixes memoized, about 100 bytes each with their results; beyond that all are dropped, which
/// costs only time.
const MOST: usize = 1 << 18;

/// A suffix of a program: an optional insertion if it is open, then a step, then the rest.
#[derive(Clone, Copy)]
struct End {
    section: Section,
    open: bool,
    /// The registers live here.
    counts: RegSet,
    step: Step,
    /// The index of the rest; `u32::MAX` for the last.
    rest: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Step {
    /// An instruction of setup or of the iteration.
    Run(Section, InstructionNumber),
    /// From setup to the iteration; these registers are not carried between iterations.
    Turn(RegSet),
    /// The end of the iteration; these registers are not carried over to the next.
    Leave(RegSet),
}

impl Repair {
    /// Clears the memoized results if there are too many.
    pub fn begin(&mut self) {
        if self.ends.len() > MOST {
            self.ends.clear();
            self.numbers.clear();
            self.verdicts.clear();
        }
    }

    /// Whether at least one and at most `remaining` insertions make the live code of a program fit.
    pub fn possible(&mut self, program: &SectionLines, remaining: usize, points: &mut TypePoints) -> bool {
        // Poison in a carried register is harmless if no iteration reads the value from the one before: try every set
        // of registers that are not carried over.
        let written = program[1].iter().fold(RegSet::EMPTY, |set, line| set.union(line.writes));
        let mut wholes = std::mem::take(&mut self.wholes);
        wholes.clear();
        for lost in written.and(RegSet::carried()).subsets() {
            wholes.push(self.whole(program, lost, points));
        }
        // Most programs are decided without trying the larger budgets.
        let possible = (1..=remaining as u32)
            .any(|budget| wholes.iter().any(|&whole| self.fits(whole, TypePoints::START, budget, points)));
        self.wholes = wholes;
        possible
    }

    /// The suffix that is the whole program.
    fn whole(&mut self, program: &SectionLines, lost: RegSet, points: &TypePoints) -> u32 {
        let mut rest = u32::MAX;
        let sections = [(Section::Iteration, Step::Leave(lost)), (Section::Setup, Step::Turn(lost))];
        for ((section, last), lines) in sections.into_iter().zip(program.iter().rev()) {
            let residual = points.lexicon.residual();
            let divided = || lines.iter().rposition(|line| Some(line.word) == residual);
            let open = points.grammar.places(section, lines.len(), divided);
            rest = self.end(last, open.contains(&lines.len()), rest, points);
            for (position, line) in lines.iter().enumerate().rev() {
                rest = self.end(Step::Run(section, line.word), open.contains(&position), rest, points);
            }
        }
        rest
    }

    fn end(&mut self, step: Step, open: bool, rest: u32, points: &TypePoints) -> u32 {
        let next = self.ends.len() as u32;
        let number = *self.numbers.entry((step, open, rest)).or_insert(next);
        if number == next {
            let after = self.ends.get(rest as usize).map_or(RegSet::EMPTY, |rest| rest.counts);
            let (section, counts) = match step {
                Step::Run(section, word) => {
                    (section, points.lexicon.line(word).counting(after).unwrap_or(after))
                }
                Step::Turn(lost) => {
                    (Section::Setup, left_by_setup(after.minus(lost), points.grammar.live_out))
                }
                Step::Leave(lost) => (Section::Iteration, handed_on(lost).with(Reg::V1)),
            };
            self.ends.push(End { section, open, counts, step, rest });
        }
        number
    }

    /// Whether a suffix fits after at most `budget` insertions, given the types before it.
    fn fits(&mut self, end: u32, point: TypePoint, budget: u32, points: &mut TypePoints) -> bool {
        let key = (end, point, budget);
        if let Some(&known) = self.verdicts.get(&key) {
            return known;
        }
        let fits = self.fits_with_one_here(end, point, budget, points)
            || self.fits_further_on(end, point, budget, points);
        self.verdicts.insert(key, fits);
        fits
    }

    /// Whether it fits with an insertion at this point.
    fn fits_with_one_here(
        &mut self,
        end: u32,
        point: TypePoint,
        budget: u32,
        points: &mut TypePoints,
    ) -> bool {
        let End { section, open, counts, .. } = self.ends[end as usize];
        if !open {
            return false;
        }
        // The last insertion must write a register that is live, or it is wasted.
        let useful = |reg| counts.contains(reg) || reg == Reg::A && counts.contains(Reg::B);
        points.writes(point, section).any(|number| {
            let write = points.written(number);
            match budget {
                1 => useful(write.reg) && self.fits_as_it_is(end, write.point, points),
                _ => self.fits(end, write.point, budget - 1, points),
            }
        })
    }

    /// Whether all live code fits without insertions.
    fn fits_as_it_is(&self, end: u32, mut point: TypePoint, points: &mut TypePoints) -> bool {
        let mut end = self.ends[end as usize];
        loop {
            let fits = match end.step {
                Step::Run(section, word) => {
                    let after = points.step(point, word, section);
                    point = after.point;
                    let counts = self.ends[end.rest as usize].counts;
                    after.fits || !points.lexicon.line(word).writes.meets(counts)
                }
                Step::Turn(lost) => {
                    let left = keeps(point, points);
                    point = points.losing(point, lost);
                    left
                }
                Step::Leave(lost) => return leaves(point, lost, points),
            };
            if !fits {
                return false;
            }
            end = self.ends[end.rest as usize];
        }
    }

    /// Whether it fits with insertions at later points.
    fn fits_further_on(&mut self, end: u32, point: TypePoint, budget: u32, points: &mut TypePoints) -> bool {
        let End { step, rest, .. } = self.ends[end as usize];
        match step {
            Step::Run(section, word) => {
                let next = points.step(point, word, section).point;
                self.fits(rest, next, budget, points)
            }
            Step::Turn(lost) => {
                keeps(point, points) && {
                    let next = points.losing(point, lost);
                    self.fits(rest, next, budget, points)
                }
            }
            Step::Leave(lost) => leaves(point, lost, points),
        }
    }
}

/// Whether setup writes all registers to be kept.
fn keeps(point: TypePoint, points: &TypePoints) -> bool {
    points.grammar.live_out.kept().iter().all(|reg| points.env(point).get(reg).is_some())
}

/// The carried registers, except those that are `lost` between iterations.
fn handed_on(lost: RegSet) -> RegSet {
    RegSet::carried().minus(lost)
}

/// Whether an iteration can end with these types.
fn leaves(point: TypePoint, lost: RegSet, points: &TypePoints) -> bool {
    points.moves(point) && handed_on(lost).iter().all(|reg| points.env(point).get(reg).is_some())
}

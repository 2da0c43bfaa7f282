//! A program about to be edited: what can be put into it, and which of that is legal.
//!
//! An edit is judged by the program it leaves. Most verdicts do not need that program in canonical form: an insertion
//! leaves the types before it alone, what it writes must count behind it, and neither dead code nor the order of
//! independent instructions decides whether live code fits.

use super::ast::{Program, Section};
use super::canon::tidy;
use super::grammar::{Grammar, Insertion};
use super::liveness::{Line, alive, counting};
use super::register::{Reg, RegSet};
use super::repair::Repair;
use super::typing::{Env, Slot};

/// Both sections of a program.
type Lines<'a> = [Vec<Line<'a>>; 2];

/// A program with the types at all its points.
pub(super) struct Draft<'a> {
    grammar: &'a Grammar,
    program: &'a Program,
    /// The types before each instruction of both sections and after the last.
    envs: [Vec<Env>; 2],
    /// Whether each instruction fits.
    fits: [Vec<bool>; 2],
}

impl<'a> Draft<'a> {
    /// Types the program.
    pub fn new(grammar: &'a Grammar, program: &'a Program) -> Draft<'a> {
        let mut draft = Draft { grammar, program, envs: Default::default(), fits: Default::default() };
        let mut env = Env::start(grammar.signature);
        for section in Section::BOTH {
            let (envs, fits) = (&mut draft.envs[section as usize], &mut draft.fits[section as usize]);
            for instruction in program.section(section) {
                envs.push(env.clone());
                // An instruction that does not fit leaves poison; the repair rule knows what to do.
                fits.push(env.quick_step(instruction, section));
            }
            envs.push(env.clone());
        }
        draft
    }

    /// Every insertion that fits where it is put, in order; one that does nothing once.
    pub fn insertions(&self) -> Vec<Insertion> {
        let mut found: Vec<Insertion> = Vec::new();
        let mut nothing = false;
        for section in Section::BOTH {
            for position in self.grammar.places(section, self.program.section(section).iter()) {
                let env = &self.envs[section as usize][position];
                for (instruction, _) in self.grammar.instructions(env, section) {
                    if instruction.target.is_some() || !std::mem::replace(&mut nothing, true) {
                        found.push(Insertion { section, position, instruction });
                    }
                }
            }
        }
        found
    }
}

/// Decides which insertions into a draft are legal if `left` edits are left after them.
pub(super) struct Judge<'a> {
    draft: Draft<'a>,
    left: usize,
    /// The program as it is.
    lines: Lines<'a>,
    /// The program as the search keeps it.
    here: Lines<'a>,
    /// The registers that count before each of its instructions and after the last, while it is being written.
    counts: [Vec<RegSet>; 2],
    repair: Repair<'a>,
}

impl<'a> Judge<'a> {
    pub fn new(draft: Draft<'a>, left: usize) -> Judge<'a> {
        let mut repair = Repair::new(draft.grammar);
        let mut section = |s| draft.program.section(s).iter().map(|ins| repair.line(ins)).collect::<Vec<_>>();
        let lines = Section::BOTH.map(&mut section);
        let here = tidy(lines.clone(), draft.grammar.live_out.partial());
        let in_iteration = counting(&lines[1], RegSet::all());
        let in_setup = counting(&lines[0], in_iteration[0].union(draft.grammar.live_out.kept()));
        Judge { draft, left, lines, here, counts: [in_setup, in_iteration], repair }
    }

    /// Whether the insertion is legal.
    pub fn admits(&mut self, insertion: &'a Insertion) -> bool {
        let (section, position) = (insertion.section as usize, insertion.position);
        let line = self.repair.line(&insertion.instruction);
        self.lines[section].insert(position, line);
        let admitted = self.judge(insertion, line);
        self.lines[section].remove(position);
        admitted
    }

    /// Judges the edit that is made in `lines`.
    fn judge(&mut self, insertion: &Insertion, line: Line<'a>) -> bool {
        let nothing = insertion.instruction.target.is_none();
        let dead = !line.writes.meets(self.counts[insertion.section as usize][insertion.position]);
        if dead && !nothing {
            return false;
        }
        let fits = self.fits_at_once(insertion);
        if fits && (nothing || self.changes_length()) {
            return true;
        }
        if !fits && self.left == 0 {
            return false;
        }
        // Judged as the search will keep it: tidying may remove what a repair would have used.
        let child = tidy(self.lines.clone(), self.draft.grammar.live_out.partial());
        (nothing || !same(&child, &self.here)) && (fits || self.repair.possible(&child, self.left))
    }

    /// Whether the edit that is made in `lines` leaves more or fewer lines alive than there were: a difference that
    /// is seen without tidying.
    fn changes_length(&self) -> bool {
        let alive =
            alive(self.lines.each_ref().map(|lines| &lines[..]), self.draft.grammar.live_out.partial());
        let count = |alive: &[bool]| alive.iter().filter(|alive| **alive).count();
        alive.iter().zip(&self.here).any(|(alive, here)| count(alive) != here.len())
    }

    /// Whether the edit that is made in `lines` leaves a well-shaped program.
    fn fits_at_once(&self, insertion: &Insertion) -> bool {
        let grammar = self.draft.grammar;
        let written = |reg| self.lines[0].iter().any(|line| line.writes.contains(reg));
        if !grammar.live_out.kept().iter().all(written) {
            return false;
        }
        let alive = alive(self.lines.each_ref().map(|lines| &lines[..]), grammar.live_out);
        let place = (insertion.section, insertion.position);
        let mut env = self.draft.envs[insertion.section as usize][insertion.position].clone();
        for section in Section::BOTH {
            let s = section as usize;
            for (position, line) in self.lines[s].iter().enumerate().filter(|(i, _)| alive[s][*i]) {
                let fits = if (section, position) < place {
                    self.draft.fits[s][position]
                } else {
                    env.quick_step(line.instruction, section)
                };
                if !fits {
                    return false;
                }
            }
        }
        env.slot(Reg::V1) == Slot::Known(self.draft.grammar.signature.result())
    }
}

/// Whether two programs have the same lines.
fn same(one: &Lines, other: &Lines) -> bool {
    let same =
        |one: &[Line], other: &[Line]| one.iter().map(|line| line.id).eq(other.iter().map(|line| line.id));
    one.iter().zip(other).all(|(one, other)| same(one, other))
}

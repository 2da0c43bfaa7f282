//! The repair rule: which ill-shaped partial programs are worth keeping.
//!
//! Building a program by insertions passes through programs that do not fit. From preconditioned gradient
//! descent, `R1 = SKETCH(A)` leaves an s×n matrix where `MAT_INV` wants a square one, until `HHQR` is put
//! between them. Such a program is kept exactly if at most `remaining` well-typed instructions, put at
//! open places, make its live code fit.
//!
//! Deciding this needs types only: going forward through the program, remember every way the registers can
//! be typed and the fewest insertions that lead there. Instructions that do not fit poison their target;
//! poison that is overwritten before it counts was dead code.

use super::ast::{Program, Section};
use super::grammar::Grammar;
use super::liveness::counting;
use super::register::{Reg, RegSet};
use super::types::Type;
use super::typing::{Env, Slot};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::rc::Rc;

/// The ways the registers can be typed at one point, each with the fewest insertions that lead there.
type Frontier = FxHashMap<Env, usize>;

/// A register written, and the type it then has.
type Write = (Option<Reg>, Option<Type>);

/// The repair rule of one grammar. It remembers what can be written where, since programs that differ in one
/// instruction pass through the same types nearly everywhere.
pub struct Repair<'a> {
    grammar: &'a Grammar,
    writes: FxHashMap<(Env, Section), Rc<BTreeSet<Write>>>,
}

impl<'a> Repair<'a> {
    /// Nothing remembered yet.
    pub fn new(grammar: &'a Grammar) -> Repair<'a> {
        Repair { grammar, writes: FxHashMap::default() }
    }

    /// Whether at most `remaining` insertions make the live code of `program` fit.
    pub fn possible(&mut self, program: &Program, remaining: usize) -> bool {
        if self.grammar.is_well_shaped(program) {
            return true;
        }
        // A carried register with a poisoned write does no harm if no iteration reads what the one before left
        // there: try every set of registers to be lost between iterations.
        let mut lost = vec![RegSet::EMPTY];
        for reg in Reg::carried().filter(|&r| program.iteration.iter().any(|ins| ins.target == Some(r))) {
            lost.extend(lost.clone().into_iter().map(|set| set.with(reg)));
        }
        // Most programs can be told apart without trying the larger budgets.
        (1..=remaining).any(|budget| lost.iter().any(|&lost| self.fits_within(program, budget, lost)))
    }

    fn fits_within(&mut self, program: &Program, budget: usize, lost: RegSet) -> bool {
        let kept = self.grammar.live_out.kept();
        let handed_on = Reg::carried().filter(|&r| !lost.contains(r)).collect::<RegSet>();
        let in_iteration = counting(&program.iteration, handed_on.with(Reg::V1));
        let in_setup =
            counting(&program.setup, lost.iter().fold(in_iteration[0], RegSet::without).union(kept));
        let mut frontier = Frontier::from_iter([(Env::start(self.grammar.signature), 0)]);
        for (section, counts) in [(Section::Setup, in_setup), (Section::Iteration, in_iteration)] {
            for (position, counts) in counts.into_iter().enumerate() {
                if self.grammar.opens(section, position, program.section(section)) {
                    self.insert(&mut frontier, section, budget, counts);
                }
                if let Some(instruction) = program.section(section).get(position) {
                    frontier = changed(frontier, |env| drop(env.step(instruction, section)));
                }
            }
            if section == Section::Setup {
                frontier.retain(|env, _| kept.iter().all(|reg| env.get(reg).is_some()));
                frontier = changed(frontier, |env| lost.iter().for_each(|reg| env.poison(reg)));
            }
        }
        frontier.keys().any(|env| {
            env.slot(Reg::V1) == Slot::Known(self.grammar.signature.result())
                && handed_on.iter().all(|reg| env.get(reg).is_some())
        })
    }

    /// Adds everything that insertions at this point can reach within the budget. The last insertion must write
    /// what the rest of the program counts on, or it is wasted.
    fn insert(&mut self, frontier: &mut Frontier, section: Section, budget: usize, counts: RegSet) {
        for cost in 0..budget {
            let here: Vec<Env> =
                frontier.iter().filter(|(_, c)| **c == cost).map(|(env, _)| env.clone()).collect();
            for env in here {
                for &(target, ty) in self.writes(&env, section).iter() {
                    let useful = target
                        .is_some_and(|reg| counts.contains(reg) || reg == Reg::A && counts.contains(Reg::B));
                    if useful || (target.is_some() && cost + 1 < budget) {
                        let mut next = env.clone();
                        next.write(target, ty);
                        offer(frontier, next, cost + 1);
                    }
                }
            }
        }
    }

    /// What one instruction can write at a point with these types.
    fn writes(&mut self, env: &Env, section: Section) -> Rc<BTreeSet<Write>> {
        let found = || {
            let instructions = self.grammar.instructions(env, section).into_iter();
            Rc::new(instructions.map(|(ins, ty)| (ins.target, ty)).collect())
        };
        self.writes.entry((env.clone(), section)).or_insert_with(found).clone()
    }
}

fn changed(frontier: Frontier, change: impl Fn(&mut Env)) -> Frontier {
    let mut next = Frontier::default();
    for (mut env, cost) in frontier {
        change(&mut env);
        offer(&mut next, env, cost);
    }
    next
}

fn offer(frontier: &mut Frontier, env: Env, cost: usize) {
    let best = frontier.entry(env).or_insert(cost);
    *best = cost.min(*best);
}

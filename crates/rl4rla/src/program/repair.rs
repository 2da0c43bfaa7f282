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
use super::liveness::LiveOut;
use super::register::Reg;
use super::types::{Dim, Type};
use super::typing::{Env, Slot};
use std::collections::{BTreeMap, BTreeSet};

/// The ways the registers can be typed at one point, each with the fewest insertions that lead there.
type Frontier = BTreeMap<Env, usize>;

/// Whether at most `remaining` insertions make the live code of `program` fit.
pub fn repairable(grammar: &Grammar, program: &Program, remaining: usize) -> bool {
    // Most programs fit as they are, or can be told apart without trying the larger budgets.
    (0..=remaining).any(|budget| fits_within(grammar, program, budget))
}

fn fits_within(grammar: &Grammar, program: &Program, budget: usize) -> bool {
    let mut frontier = Frontier::from([(Env::start(grammar.geometry), 0)]);
    for section in Section::BOTH {
        let open = grammar.open.contains(&section);
        for position in 0..=program.section(section).len() {
            if open {
                insert(grammar, &mut frontier, section, budget);
            }
            if let Some(instruction) = program.section(section).get(position) {
                let mut next = Frontier::new();
                for (mut env, cost) in frontier {
                    let _ = env.step(instruction, section);
                    offer(&mut next, env, cost);
                }
                frontier = next;
            }
        }
        if section == Section::Setup {
            frontier.retain(|env, _| keeps(grammar, env));
        }
    }
    frontier.keys().any(|env| env.slot(Reg::V1) == Slot::Known(Type::Vector(Dim::Cols)))
}

/// Adds everything that insertions at this point can reach within the budget.
fn insert(grammar: &Grammar, frontier: &mut Frontier, section: Section, budget: usize) {
    for cost in 0..budget {
        let here: Vec<Env> =
            frontier.iter().filter(|(_, c)| **c == cost).map(|(env, _)| env.clone()).collect();
        for env in here {
            let results = grammar.instructions(&env, section).into_iter().map(|(ins, ty)| (ins.target, ty));
            for (target, ty) in results.collect::<BTreeSet<_>>() {
                let mut next = env.clone();
                next.write(target, ty);
                offer(frontier, next, cost + 1);
            }
        }
    }
}

fn offer(frontier: &mut Frontier, env: Env, cost: usize) {
    let best = frontier.entry(env).or_insert(cost);
    *best = cost.min(*best);
}

/// Whether setup leaves a proper value in every register that a later stage counts on.
fn keeps(grammar: &Grammar, env: &Env) -> bool {
    match grammar.live_out {
        LiveOut::Keeping(registers) => registers.iter().all(|reg| env.get(reg).is_some()),
        _ => true,
    }
}

//! The oracle: coefficients that no program could know, chosen by exact minimization.
//!
//! A direction v is scored by the best that x ← x − αv + βd could do, where d is the last step and α and β minimize
//! the loss. So a direction shows its worth before any formula for its coefficients is known.

use super::evaluator::{Evaluator, Iterated, State, Tape};
use super::expression::{Expressions, Id};
use super::problem_set::{CandidateRun, ProblemSet, TrialProgress};
use crate::linalg;
use crate::program::Datum;

/// Which coefficients the oracle chooses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Freedom {
    /// The step length and the momentum: x ← x − αv + βd.
    Both,
    /// The step length: x ← x − αv.
    Length,
    /// Nothing: x ← x − v/2.
    None,
}

/// One iteration of a run with an oracle.
pub struct OracleStep {
    /// Where it started.
    pub state: State,
    /// The step length α.
    pub length: f64,
    /// β/α: the direction was v − (β/α)·d.
    pub momentum: f64,
}

/// Runs along a direction with the oracle's coefficients, calling `seen` with every iteration.
pub fn run(
    problems: &ProblemSet,
    evaluator: &Evaluator,
    expressions: &Expressions,
    (direction, freedom): (Id, Freedom),
    (instance, limit): (usize, usize),
    mut seen: impl FnMut(OracleStep),
) -> CandidateRun {
    let problem = problems.instances[instance].problem();
    let tape = Tape::new(expressions, &[direction]);
    let place = tape.place(direction).expect("a direction is computed");
    let mut state = State::zero(problem.cols());
    let mut progress = TrialProgress::new(problems.tolerance(instance), problem.measure_start().1);
    let mut previous: Option<Iterated> = None;
    while progress.goes_on(limit) {
        let values = evaluator.iterate(&tape, &state, previous.as_ref());
        let Some(Datum::Vector(v)) = &values[place] else {
            progress.fail();
            break;
        };
        let last = (freedom == Freedom::Both && previous.is_some()).then_some(&state.d[..]);
        let best = match freedom {
            Freedom::None => Some((0.5, 0.0)),
            _ => problem.task.best_step(&problem, &state.x, v, last),
        };
        let (length, momentum) = best.expect("a task with units has a best step");
        let mut step = linalg::scale(-length, v);
        if last.is_some() {
            step.iter_mut().zip(&state.d).for_each(|(s, d)| *s += length * momentum * d);
        }
        let next = state.moved(step);
        seen(OracleStep { state, length, momentum });
        state = next;
        previous = Some(values);
        progress.add(problem.measure(&state.x).1);
    }
    progress.trial()
}

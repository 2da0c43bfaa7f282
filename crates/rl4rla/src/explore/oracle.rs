//! The oracle: coefficients that no program could know, chosen by exact minimization.
//!
//! A direction v is scored by the best that x ← x − αv + βd could do, where d is the last step and α and β minimize
//! the distance to the solution. So a direction shows its worth before any formula for its coefficients is known.

use super::evaluator::{Evaluator, Iterated, State, Tape};
use super::expression::{Expressions, Id};
use super::problem_set::{CandidateRun, ProblemSet, TrialProgress};
use crate::linalg;
use crate::problem::Instance;
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
    let mut error = misfit(&problem, &state.x);
    let mut progress = TrialProgress::new(problems.tolerance(instance), relative(&problem, &error));
    let mut last_image: Option<Vec<f64>> = None;
    let mut previous: Option<Iterated> = None;
    while progress.goes_on(limit) {
        let values = evaluator.iterate(&tape, &state, previous.as_ref());
        let Some(Datum::Vector(v)) = &values[place] else {
            progress.fail();
            break;
        };
        let image = linalg::mat_vec(&problem.A, v);
        let last = last_image.as_deref().filter(|_| freedom == Freedom::Both);
        let (length, momentum) = match freedom {
            Freedom::None => (0.5, 0.0),
            _ => coefficients(&error, &image, last),
        };
        let mut step = linalg::scale(-length, v);
        if last.is_some() {
            step.iter_mut().zip(&state.d).for_each(|(s, d)| *s += length * momentum * d);
        }
        let next = state.moved(step);
        seen(OracleStep { state, length, momentum });
        state = next;
        let after = misfit(&problem, &state.x);
        last_image = Some(linalg::sub(&after, &error));
        error = after;
        previous = Some(values);
        progress.add(relative(&problem, &error));
    }
    progress.trial()
}

/// A(x − x*): the residual without the part that no x can remove.
fn misfit(problem: &Instance, x: &[f64]) -> Vec<f64> {
    linalg::mat_vec(&problem.A, &linalg::sub(x, &problem.x_star))
}

fn relative(problem: &Instance, error: &[f64]) -> f64 {
    linalg::norm(error) / problem.norm_b().max(f64::MIN_POSITIVE)
}

/// α and γ = β/α that minimize ‖e − αu + βw‖; γ = 0 without w, or if w is a multiple of u.
fn coefficients(e: &[f64], u: &[f64], w: Option<&[f64]>) -> (f64, f64) {
    let uu = linalg::dot(u, u);
    if uu == 0.0 || !uu.is_finite() {
        return (0.0, 0.0);
    }
    let alone = linalg::dot(e, u) / uu;
    let Some(w) = w else { return (alone, 0.0) };
    // w without its part along u.
    let along = linalg::dot(u, w) / uu;
    let beyond: Vec<f64> = w.iter().zip(u).map(|(w, u)| w - along * u).collect();
    let size = linalg::dot(&beyond, &beyond);
    if size <= 1e-20 * linalg::dot(w, w) {
        return (alone, 0.0);
    }
    let beta = -linalg::dot(e, &beyond) / size;
    let alpha = alone + beta * along;
    if alpha == 0.0 { (0.0, 0.0) } else { (alpha, beta / alpha) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;

    #[test]
    fn the_coefficients_are_the_best_there_are() {
        let [e, u, w] = [0, 1, 2].map(|i| Stream::new(3).derive("vector", i).normals(9));
        let left = |alpha: f64, beta: f64| {
            let rest: Vec<f64> = (0..9).map(|i| e[i] - alpha * u[i] + beta * w[i]).collect();
            linalg::norm(&rest)
        };
        let (alpha, gamma) = coefficients(&e, &u, Some(&w));
        let best = left(alpha, alpha * gamma);
        for (da, db) in [(1e-3, 0.0), (-1e-3, 0.0), (0.0, 1e-3), (0.0, -1e-3)] {
            assert!(left(alpha + da, alpha * gamma + db) > best);
        }
        let (alone, none) = coefficients(&e, &u, None);
        assert_eq!(none, 0.0);
        assert!(left(alone + 1e-3, 0.0) > left(alone, 0.0) && left(alone - 1e-3, 0.0) > left(alone, 0.0));
        // A last step along the same line adds nothing.
        assert_eq!(coefficients(&e, &u, Some(&linalg::scale(2.0, &u))), (alone, 0.0));
        assert_eq!(coefficients(&e, &[0.0; 9], None), (0.0, 0.0));
    }
}

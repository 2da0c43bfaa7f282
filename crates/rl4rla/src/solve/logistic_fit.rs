//! Logistic regression without a program's name: on a sample first where the data are tall, else by Newton's method.

use super::error::SolveError;
use super::options::SolveOptions;
use super::problem::Problem;
use super::sampled_newton::sampled_newton;
use super::solution::Solution;
use super::solver::solve;
use crate::problem::{Logistic, RidgeLogistic};
use crate::program::Entry;

/// A fit, and what made it.
#[derive(Clone, PartialEq, Debug)]
pub struct LogisticFit {
    /// The result.
    pub solution: Solution,
    /// The name of the method: `sampled-newton`, or that of a catalogue program.
    pub method: &'static str,
    /// Its title.
    pub title: &'static str,
}

/// Fits a logistic regression, with the penalty ½λ‖x‖² if the problem has one. Tall data are fitted on a sample of their
/// rows first; if that fails, and for other shapes, this is Newton's method.
///
/// ```
/// use rl4rla::{rng::Stream, solve::{Problem, SolveOptions, logistic_fit}};
/// let (m, n) = (5000, 4);
/// let draws = Stream::new(1).normals(m * n);
/// let labels: Vec<f64> = draws.chunks(n).map(|row| f64::from(row[0] + row[1] * row[2] > 0.0)).collect();
/// let fit = logistic_fit(Problem::from_rows(m, n, draws, labels).unwrap(), &SolveOptions::default()).unwrap();
/// assert_eq!(fit.method, "sampled-newton");
/// assert!(fit.solution.gradient < 1e-10 && fit.solution.into_x().unwrap()[0] > 1.0);
/// ```
pub fn logistic_fit(problem: Problem, options: &SolveOptions) -> Result<LogisticFit, SolveError> {
    let (task, program): (&'static dyn crate::problem::Task, _) = match problem.lambda > 0.0 {
        true => (&RidgeLogistic, "regularized-newton"),
        false => (&Logistic, "newton"),
    };
    let problem = problem.for_task(task);
    problem.admits(options)?;
    if let Some(solution) = sampled_newton(&problem, options) {
        let title = "Newton's Method on a Sample, then L-BFGS";
        return Ok(LogisticFit { solution, method: "sampled-newton", title });
    }
    let Entry { name, document, .. } = Entry::named(program).expect("a catalogue program");
    Ok(LogisticFit { solution: solve(document, problem, options)?, method: name, title: &document.title })
}

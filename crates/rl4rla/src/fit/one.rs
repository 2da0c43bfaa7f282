//! One right-hand side, by a program, a baseline or the automatic choice.
#![allow(non_snake_case)]

use super::choice::{FitChoice, choose};
use super::failure::FitError;
use super::weighted::WeightedSystem;
use crate::baseline::{Baseline, Request};
use crate::linalg::Matrix;
use crate::problem::{Linear, Response, Task};
use crate::program::Document;
use crate::rng::Stream;
use crate::solve::{
    Problem, RankDeficient, Regression, Solution, SolveError, SolveOptions, Speeds, Termination, certify,
    logistic_fit, minimum_norm, solve,
};
use std::time::Instant;

/// What solves a problem.
#[derive(Clone, Copy)]
pub enum FitMethod<'a> {
    /// A program.
    Program(&'a Document),
    /// A baseline solver for least squares.
    Baseline(Baseline),
    /// The fastest program that fits the data.
    Auto,
    /// The same for logistic regression.
    Logistic,
}

/// What is asked of a fit.
#[derive(Clone)]
pub struct FitRequest<'a> {
    /// What solves the problem.
    pub method: FitMethod<'a>,
    /// The task.
    pub task: &'static dyn Task,
    /// Options of the solver.
    pub options: SolveOptions,
    /// The speeds of this machine, for the choice.
    pub speeds: Speeds,
    /// λ, for tasks that have one; it does not apply to an intercept.
    pub lambda: f64,
    /// Whether statistics of a regression are computed, by the automatic choice.
    pub summary: bool,
    /// Whether the automatic choice runs all candidates for comparison.
    pub explain: bool,
}

impl<'a> FitRequest<'a> {
    /// Least squares by a method, with default options: dependent columns give the minimum-norm solution if nothing
    /// names a program, and are an error otherwise.
    pub fn new(method: FitMethod<'a>) -> FitRequest<'a> {
        let rank_deficient = match method {
            FitMethod::Auto => RankDeficient::MinNorm,
            _ => RankDeficient::Refuse,
        };
        FitRequest {
            method,
            task: &Linear,
            options: SolveOptions { rank_deficient, ..SolveOptions::default() },
            speeds: Speeds::USUAL,
            lambda: 0.0,
            summary: false,
            explain: false,
        }
    }
}

/// A solution in the units of the data.
#[must_use]
#[derive(Clone, PartialEq, Debug)]
pub struct Fit {
    /// The solution; its residuals are relative to the target as it was given.
    pub solution: Solution,
    /// A coefficient for every column of the data, then the intercept.
    pub coefficients: Vec<f64>,
    /// Why the program was chosen, if the data decided.
    pub choice: Option<FitChoice>,
    /// Name and title of what the data suggested where there was no choice of programs.
    pub method: Option<(&'static str, &'static str)>,
    /// What the target is.
    pub response: Response,
    /// Statistics of the regression, if asked for.
    pub regression: Option<Regression>,
    /// Seconds taken by the solver.
    pub seconds: f64,
}

impl Fit {
    /// Whether there is an answer: a result worse than x = 0 is none.
    pub fn is_answer(&self) -> bool {
        self.solution.ended != Termination::Divergence
    }
}

/// Fits the first right-hand side. A and b are taken out of the system; its columns stay. `doing` is told what is done.
pub fn fit(
    weighted: &mut WeightedSystem,
    request: &FitRequest,
    doing: &mut dyn FnMut(&str),
) -> Result<Fit, FitError> {
    let FitRequest { task, options, .. } = request;
    let (A, b) = weighted.take();
    let columns = &weighted.system.columns;
    let response = task.response(&b).map_err(SolveError::Data)?;
    let (rows, cols, noise) = (A.rows(), A.cols(), columns.noise());
    let free = columns.intercept && task.solving().scales_columns;
    let problem = |A, b, noise| {
        let problem = Problem::new(*task, A, b).with_lambda(request.lambda);
        let problem = if free { problem.with_free_columns(vec![cols - 1]) } else { problem };
        problem.with_noise(noise).map_err(SolveError::Data)
    };
    let begun = Instant::now();
    let (mut choice, mut regression, mut alone, mut method) = (None, None, None, None);
    let mut solution = match request.method {
        FitMethod::Program(document) => solve(document, problem(A, b, noise)?, options)?,
        FitMethod::Baseline(baseline) => {
            let (solution, seconds) = by_baseline(baseline, (A, b, noise), options)?;
            alone = Some(seconds);
            solution
        }
        FitMethod::Logistic => {
            let found = logistic_fit(problem(A, b, noise)?, options)?;
            method = Some((found.method, found.title));
            found.solution
        }
        FitMethod::Auto if rows < cols => {
            method = Some(("minimum-norm", "Minimum-norm solution"));
            minimum_norm(&problem(A, b, noise)?)?
        }
        FitMethod::Auto => {
            let problem = problem(A, b, noise)?;
            if request.summary {
                let mut found = Regression::of(&problem)?;
                // Rows without weight tell nothing.
                let zero = weighted.weights.iter().flatten().filter(|weight| **weight == 0.0).count();
                found.freedom = found.freedom.saturating_sub(zero);
                regression = Some(found);
            }
            let (solution, chosen) = choose(problem, options, request.speeds, request.explain, doing)?;
            alone = Some(chosen.seconds);
            choice = Some(chosen);
            solution
        }
    };
    let seconds = alone.unwrap_or_else(|| begun.elapsed().as_secs_f64());
    let shrunk = weighted.shrunk;
    solution.residuals.iter_mut().chain([&mut solution.residual]).for_each(|residual| *residual *= shrunk);
    let coefficients = columns.coefficients(solution.estimate());
    Ok(Fit { solution, coefficients, choice, method, response, regression, seconds })
}

impl WeightedSystem {
    /// A and b, taken out.
    pub(super) fn take(&mut self) -> (Matrix, Vec<f64>) {
        let system = &mut self.system;
        (std::mem::replace(&mut system.matrix, Matrix::zeros(0, 0)), std::mem::take(&mut system.b))
    }
}

/// Solves least squares by a baseline and certifies the result, with the seconds of the baseline alone.
fn by_baseline(
    baseline: Baseline,
    (A, b, noise): (Matrix, Vec<f64>, Vec<f64>),
    options: &SolveOptions,
) -> Result<(Solution, f64), FitError> {
    let begun = Instant::now();
    if A.is_in_file() {
        return Err(FitError::Baseline("it needs A in memory".into()));
    }
    let found = baseline
        .solve(&Request::new(&A, &b, Stream::new(options.seed)))
        .map_err(|error| FitError::Baseline(error.to_string()))?;
    let seconds = begun.elapsed().as_secs_f64();
    let problem = Problem::new(baseline.info().task, A, b).with_noise(noise).map_err(SolveError::Data)?;
    let mut solution = certify(problem, found.x, options)?;
    (solution.iterations, solution.passes) = (found.iterations, found.passes);
    if !found.converged && !solution.is_converged() {
        solution.ended = Termination::Iterations;
    }
    Ok((solution, seconds))
}

//! What solves the problem: a program, a baseline, or what the data suggest.

use super::task_of;
use crate::args::Solve;
use crate::failure::Failure;
use crate::source::NamedProgram;
use rl4rla::baseline::{Baseline, Request};
use rl4rla::linalg::Matrix;
use rl4rla::problem::{Linear, Logistic, RidgeLogistic, Stopping, Task};
use rl4rla::program::Entry;
use rl4rla::rng::Stream;
use rl4rla::solve::{Problem, Solution, SolveError, SolveOptions, Termination, certify};
use std::path::Path;
use std::time::Instant;

/// What solves the problem.
pub enum SolvingMethod {
    /// A program.
    Program(Box<NamedProgram>),
    /// A baseline solver for least squares.
    Baseline(Baseline),
    /// The fastest program that fits the data.
    Auto,
    /// The same for logistic regression, with this λ.
    Logistic(f64),
}

impl SolvingMethod {
    /// The method of this name; programs are looked up first, and without a name the data decide.
    pub fn find(args: &Solve, store: &Path) -> Result<SolvingMethod, Failure> {
        let Some(typed) = args.program.as_deref() else {
            return match args.task.as_str() {
                "logistic" => Ok(SolvingMethod::Logistic(args.lambda.unwrap_or(0.0))),
                _ => Ok(SolvingMethod::Auto),
            };
        };
        let name = typed.to_string_lossy();
        match Baseline::named(&name).filter(|_| Entry::named(&name).is_none()) {
            None => NamedProgram::find(typed, store).map(|source| SolvingMethod::Program(Box::new(source))),
            Some(baseline) if baseline.info().task.solving().stopping == Stopping::Certificate => {
                Ok(SolvingMethod::Baseline(baseline))
            }
            Some(baseline) => {
                let task = baseline.info().task.name();
                let message = format!(
                    "the baseline {name} is for the task `{task}`, where `solve` takes programs only"
                );
                Err(Failure::new(message).advise("`rl4rla compare` runs every baseline"))
            }
        }
    }

    /// As it is called in messages.
    pub fn name(&self) -> &str {
        match self {
            SolvingMethod::Program(source) => &source.name,
            SolvingMethod::Baseline(baseline) => baseline.info().name,
            SolvingMethod::Auto | SolvingMethod::Logistic(_) => "the automatic choice",
        }
    }

    /// The title of the result.
    pub fn title(&self) -> &str {
        match self {
            SolvingMethod::Program(source) => source.title(),
            _ => self.name(),
        }
    }

    /// The task that it solves.
    pub fn task(&self) -> Result<&'static dyn Task, Failure> {
        match self {
            SolvingMethod::Program(source) => task_of(source),
            SolvingMethod::Baseline(baseline) => Ok(baseline.info().task),
            SolvingMethod::Auto => Ok(&Linear),
            SolvingMethod::Logistic(lambda) if *lambda > 0.0 => Ok(&RidgeLogistic),
            SolvingMethod::Logistic(_) => Ok(&Logistic),
        }
    }

    /// The file it was read from, if any.
    pub fn file(&self) -> Option<&Path> {
        match self {
            SolvingMethod::Program(source) => source.file(),
            _ => None,
        }
    }
}

/// Solves least squares by a baseline and certifies the result, with the seconds of the baseline alone; an error of the
/// baseline in words.
#[allow(non_snake_case)]
pub fn by_baseline(
    baseline: Baseline,
    (A, b, noise): (Matrix, Vec<f64>, Vec<f64>),
    options: &SolveOptions,
) -> Result<(Result<Solution, SolveError>, f64), String> {
    let begun = Instant::now();
    if A.is_in_file() {
        return Err("it needs A in memory".into());
    }
    let found = baseline
        .solve(&Request::new(&A, &b, Stream::new(options.seed)))
        .map_err(|error| error.to_string())?;
    let seconds = begun.elapsed().as_secs_f64();
    let problem = Problem::new(baseline.info().task, A, b).with_noise(noise);
    let solution = problem.map_err(SolveError::Data).and_then(|problem| {
        let mut solution = certify(problem, found.x, options)?;
        (solution.iterations, solution.passes) = (found.iterations, found.passes);
        if !found.converged && !solution.is_converged() {
            solution.ended = Termination::Iterations;
        }
        Ok(solution)
    });
    Ok((solution, seconds))
}

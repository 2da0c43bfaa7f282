//! What solves the problem: a program, a baseline, or what the data suggest.

use super::task_of;
use crate::args::Solve;
use crate::failure::Failure;
use crate::source::NamedProgram;
use rl4rla::baseline::Baseline;
use rl4rla::fit::FitMethod;
use rl4rla::problem::{Linear, Logistic, RidgeLogistic, Stopping, Task};
use rl4rla::program::Entry;
use std::path::Path;

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

    /// The same for the library.
    pub fn fitting(&self) -> FitMethod<'_> {
        match self {
            SolvingMethod::Program(source) => FitMethod::Program(&source.document),
            SolvingMethod::Baseline(baseline) => FitMethod::Baseline(*baseline),
            SolvingMethod::Auto => FitMethod::Auto,
            SolvingMethod::Logistic(_) => FitMethod::Logistic,
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

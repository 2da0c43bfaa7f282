//! Errors of a solver in terms of the user's files, columns and options.

use super::least_squares;
use crate::failure::Failure;
use rl4rla::data::System;
use rl4rla::execute::{Fault, RunFailure};
use rl4rla::problem::InstanceError;
use rl4rla::solve::{SolveError, Unsupported};
use std::path::Path;

/// The context of error messages.
pub struct ErrorReporter<'a> {
    /// Name of the program or baseline.
    pub program: &'a str,
    /// Path of the matrix file.
    pub matrix: &'a Path,
    /// Whether the matrix is sparse.
    pub sparse: bool,
    /// The system read from it.
    pub system: &'a System,
}

impl ErrorReporter<'_> {
    /// The error for data that do not define a problem.
    pub fn data(&self, error: InstanceError) -> Failure {
        let told = error.with_names(&self.system.columns.labels());
        Failure::new(format!("{}: {told}", self.matrix.display()))
            .advise("`rl4rla help solve` describes what can be solved")
    }

    /// The error of a baseline.
    pub fn baseline(&self, error: &str) -> Failure {
        Failure::new(format!("{} failed: {error}", self.program))
            .advise("`rl4rla solve` without a name, which chooses a program that fits the data")
    }

    fn run(&self, failure: RunFailure) -> Failure {
        let advice = match failure.fault {
            Fault::NotInMemory if self.sparse => "another --sketch, another program, or --dense",
            Fault::NotInMemory => "a larger --max-memory, another --sketch, or another program",
            Fault::NotFinite => "a smaller --step, or --step auto",
            Fault::Shape(_) => "a program for data of this shape; `rl4rla list programs` shows all",
            Fault::TooFewRows { .. } => "a smaller --batch",
            Fault::TooLong { .. } => "fewer --iterations",
            _ => "another program, or fewer columns",
        };
        Failure::new(format!("{} failed: {failure}", self.program)).advise(advice)
    }

    /// The error for a problem that was not solved.
    pub fn error(&self, error: SolveError) -> Failure {
        let (path, columns) = (self.matrix.display(), &self.system.columns);
        match error {
            SolveError::Run(failure) => self.run(failure),
            SolveError::Data(error) => self.data(error),
            SolveError::Dependent { columns: found, rank } => {
                least_squares::refuse(&path.to_string(), &found, rank, &columns.labels(), columns.intercept)
            }
            SolveError::Unreadable(lost) => {
                Failure::new(format!("the copy of {path} on disk cannot be read: {lost}"))
                    .advise("check the disk, or TMPDIR")
            }
            SolveError::Overflow { column } => {
                let name = &columns.labels()[column];
                Failure::new(format!("the coefficient of `{name}` is beyond the range of double precision"))
                    .advise("other units for this column or for the target")
            }
            SolveError::Unsupported { what: Unsupported::File, .. } => {
                Failure::new(format!("{path} is too large for memory, and {} needs it there", self.program))
                    .advise("a larger --max-memory")
            }
            SolveError::Unsupported { what: Unsupported::Sparse, .. } => {
                Failure::new(format!("{path} is sparse, and {} needs all entries in memory", self.program))
                    .advise("--dense, which takes 8 bytes for every entry, zeros included")
            }
            SolveError::Unsupported { .. } => {
                Failure::new(error.to_string()).advise("`rl4rla solve --help` shows all options")
            }
        }
    }
}

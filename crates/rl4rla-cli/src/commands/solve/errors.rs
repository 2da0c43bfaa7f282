//! Errors of a fit in terms of the user's files.

use crate::failure::Failure;
use rl4rla::data::Columns;
use rl4rla::fit::{FitError, FitFailure};
use std::path::Path;

/// The context of error messages.
pub struct ErrorReporter<'a> {
    /// Name of the program or baseline.
    pub program: &'a str,
    /// Path of the matrix file.
    pub matrix: &'a Path,
    /// Whether the matrix is sparse.
    pub sparse: bool,
}

impl ErrorReporter<'_> {
    /// The error for a problem that was not solved.
    pub fn error(&self, error: FitError, columns: &Columns) -> Failure {
        let path = self.matrix.display().to_string();
        let FitFailure { message, advice } = FitFailure::of(error, self.program, &path, self.sparse, columns);
        Failure::new(message).advise(advice)
    }
}

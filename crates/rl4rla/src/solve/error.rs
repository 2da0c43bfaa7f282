//! Why there is no solution.

use super::factor::Dependence;
use crate::execute::{Failure, Fault, Step};
use crate::linalg::NumericError;
use std::fmt;

/// Why a system was not solved.
#[derive(Clone, PartialEq, Debug)]
pub enum SolveError {
    /// The program failed.
    Run(Failure),
    /// Columns depend on each other, so that the coefficients are not determined.
    Dependent {
        /// Which depend on which.
        columns: Vec<Dependence>,
        /// How many are independent.
        rank: usize,
    },
    /// The file of the matrix could not be read any more.
    Unreadable(String),
    /// A coefficient is beyond the range of double precision.
    Overflow {
        /// Its column.
        column: usize,
    },
}

impl From<Failure> for SolveError {
    fn from(failure: Failure) -> SolveError {
        SolveError::Run(failure)
    }
}

impl From<NumericError> for SolveError {
    fn from(error: NumericError) -> SolveError {
        let fault = Fault::Numeric(error);
        let operation = "the factorisation of A".to_string();
        SolveError::Run(Failure { step: Step::Check, operation, fault, shapes: vec![], residuals: vec![] })
    }
}

impl fmt::Display for SolveError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            SolveError::Run(failure) => failure.fmt(f),
            SolveError::Dependent { columns, rank } => {
                let numbers: Vec<String> = columns.iter().map(|one| (one.column + 1).to_string()).collect();
                write!(
                    f,
                    "columns are linearly dependent (rank {rank} of {}): column {} is a combination of the others",
                    rank + columns.len(),
                    numbers.join(", ")
                )
            }
            SolveError::Unreadable(why) => write!(f, "the matrix cannot be read any more: {why}"),
            SolveError::Overflow { column } => {
                write!(f, "the coefficient of column {} is beyond the range of double precision", column + 1)
            }
        }
    }
}

impl std::error::Error for SolveError {}

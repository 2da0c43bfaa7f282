//! Errors of `solve`.

use super::factor::Dependence;
use crate::execute::{FailurePoint, Fault, RunFailure};
use crate::linalg::NumericError;
use crate::problem::InstanceError;
use std::fmt;

/// Why a system was not solved.
#[derive(Clone, PartialEq, Debug)]
pub enum SolveError {
    /// The program failed.
    Run(RunFailure),
    /// The data do not pose a problem of the task.
    Data(InstanceError),
    /// The task does not support what was asked for.
    Unsupported {
        /// The task.
        task: &'static str,
        /// What it does not support.
        what: Unsupported,
    },
    /// Columns are linearly dependent, so that the coefficients are not determined.
    Dependent {
        /// The dependent columns, and which columns they depend on.
        columns: Vec<Dependence>,
        /// Number of independent columns.
        rank: usize,
    },
    /// The file that holds the matrix could not be read.
    Unreadable(String),
    /// A coefficient overflows double precision.
    Overflow {
        /// The column of the coefficient.
        column: usize,
    },
}

/// What a task may not support; see [`Task::solving`](crate::problem::Task::solving).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unsupported {
    /// Programs of the task give an answer and find no x.
    Answers,
    /// Data kept in a file.
    File,
    /// Sparse data.
    Sparse,
    /// The mean of the iterates.
    Average,
    /// Linearly dependent columns.
    RankDeficient,
    /// A number λ.
    Lambda,
    /// A λ that does not apply to some columns.
    FreeColumns,
}

impl Unsupported {
    /// Why it is rejected, and what to do.
    pub fn words(self) -> &'static str {
        match self {
            Unsupported::Answers => {
                "finds an answer, such as a number for every row, and no x: run its programs by `execute::run`"
            }
            Unsupported::File => "measures x with all of A in memory: bring the data as a matrix in memory",
            Unsupported::Sparse => "measures x with all of A in memory: make the matrix dense",
            Unsupported::Average => "may have no solution between two others: ask for no mean of iterates",
            Unsupported::FreeColumns => "applies λ to every column: exempt none from it",
            Unsupported::Lambda => "has no λ: leave it at 0",
            Unsupported::RankDeficient => {
                "has no rule for dependent columns: leave `rank_deficient` at `Refuse`, or those columns out"
            }
        }
    }
}

impl From<RunFailure> for SolveError {
    fn from(failure: RunFailure) -> SolveError {
        SolveError::Run(failure)
    }
}

impl From<NumericError> for SolveError {
    fn from(error: NumericError) -> SolveError {
        let fault = Fault::Numeric(error);
        let operation = "the factorisation of A".to_string();
        SolveError::Run(RunFailure {
            step: FailurePoint::Check,
            operation,
            fault,
            shapes: vec![],
            residuals: vec![],
        })
    }
}

impl fmt::Display for SolveError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            SolveError::Run(failure) => failure.fmt(f),
            SolveError::Data(error) => error.fmt(f),
            SolveError::Unsupported { task, what } => write!(f, "the task `{task}` {}", what.words()),
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

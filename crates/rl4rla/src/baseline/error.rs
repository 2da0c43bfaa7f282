//! Errors of baselines.

use crate::data::csv_number;
use crate::linalg::NumericError;
use crate::rng::WeightError;
use std::fmt;

/// The reason why a solver failed.
#[derive(Clone, Copy, PartialEq, Debug)]
#[allow(missing_docs)] // the fields say what they are
pub enum BaselineError {
    /// There are no rows or no columns.
    Empty { rows: usize, cols: usize },
    /// A and b have different numbers of rows.
    Length { rows: usize, length: usize },
    /// There are more unknowns than equations, which the method does not support.
    Wide { rows: usize, cols: usize },
    /// The method is for square systems.
    NotSquare { rows: usize, cols: usize },
    /// The method needs all entries of A in memory, and A is sparse or in a file.
    NotDense,
    /// An entry of A or b is infinite or not a number.
    NotFinite,
    /// AᵀA is not numerically positive definite: its Cholesky factorisation fails at this pivot.
    NotPositiveDefinite { pivot: usize },
    /// A diagonal entry of A is zero, and the method divides by it.
    ZeroDiagonal { index: usize },
    /// The columns of A are dependent to working precision.
    RankDeficient { condition: f64 },
    /// The iteration produced non-finite numbers or diverged.
    Diverged { iteration: usize },
    /// An entry of b is neither 0 nor 1.
    Label { row: usize, value: f64 },
    /// A factorisation or a triangular solve failed.
    Numeric(NumericError),
    /// Invalid row probabilities.
    Weights(WeightError),
}

impl fmt::Display for BaselineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty { rows, cols } => write!(f, "A is {rows} × {cols}: there is nothing to solve"),
            Self::Length { rows, length } => write!(f, "A has {rows} rows but b has {length} entries"),
            Self::Wide { rows, cols } => {
                write!(f, "A has more columns than rows ({rows} × {cols}), and this method needs a tall A")
            }
            Self::NotSquare { rows, cols } => {
                write!(f, "A is {rows} × {cols}, and this method is for square systems")
            }
            Self::NotDense => {
                write!(f, "this method needs all of A in memory, but A is in a file or sparse")
            }
            Self::NotFinite => write!(f, "A or b holds a value that is infinite or not a number"),
            Self::NotPositiveDefinite { pivot } => {
                write!(f, "AᵀA is not positive definite in double precision, at pivot {}", pivot + 1)
            }
            Self::ZeroDiagonal { index } => write!(f, "diagonal entry {} of A is zero", index + 1),
            Self::RankDeficient { condition } => {
                write!(f, "the columns of A are dependent to working precision (condition {condition:.1e})")
            }
            Self::Diverged { iteration } => write!(f, "diverged in iteration {iteration}"),
            Self::Label { row, value } => {
                write!(f, "row {} of b is {}; labels are 0 or 1", row + 1, csv_number(*value))
            }
            Self::Numeric(error) => error.fmt(f),
            Self::Weights(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for BaselineError {}

impl From<NumericError> for BaselineError {
    fn from(error: NumericError) -> Self {
        Self::Numeric(error)
    }
}

impl From<WeightError> for BaselineError {
    fn from(error: WeightError) -> Self {
        Self::Weights(error)
    }
}

//! Errors of numerical kernels.

use std::fmt;

/// Why a matrix could not be inverted, solved with or decomposed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumericError {
    /// A diagonal entry of a triangular matrix, or a pivot, cannot be divided by.
    Singular {
        /// Position on the diagonal, counted from zero.
        index: usize,
    },
    /// The input or the result contains a NaN or an infinity.
    NotFinite,
    /// The singular value decomposition did not converge.
    NoConvergence,
}

impl fmt::Display for NumericError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Singular { index } => {
                write!(f, "singular matrix: cannot divide by diagonal entry {}", index + 1)
            }
            Self::NotFinite => write!(f, "a value is NaN or infinite, or overflows on the way"),
            Self::NoConvergence => write!(f, "the singular value decomposition did not converge"),
        }
    }
}

impl std::error::Error for NumericError {}

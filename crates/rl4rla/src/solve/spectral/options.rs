//! What is asked for, and why there is no answer.

use crate::problem::InstanceError;
use std::fmt;

/// Which eigenvalues.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Which {
    /// Those of the largest absolute values.
    #[default]
    LargestMagnitude,
    /// The largest.
    Largest,
    /// The smallest.
    Smallest,
}

impl Which {
    /// All, with the names they have on the command line.
    pub const ALL: [(&'static str, Which); 3] = [
        ("largest-magnitude", Which::LargestMagnitude),
        ("largest", Which::Largest),
        ("smallest", Which::Smallest),
    ];

    /// The number by which eigenvalues are ordered, largest first.
    pub(super) fn key(self, value: f64) -> f64 {
        match self {
            Which::LargestMagnitude => value.abs(),
            Which::Largest => value,
            Which::Smallest => -value,
        }
    }

    /// The places of these values, the most wanted first.
    pub(super) fn order(self, values: &[f64]) -> Vec<usize> {
        let mut order: Vec<usize> = (0..values.len()).collect();
        order.sort_by(|&a, &b| self.key(values[b]).total_cmp(&self.key(values[a])));
        order
    }
}

/// Options of `eigenpairs` and `truncated_svd`.
#[derive(Clone, PartialEq, Debug)]
pub struct SpectralOptions {
    /// Which eigenvalues; singular values are always the largest.
    pub which: Which,
    /// The largest residual of a pair, relative to the largest value; 0 stands for 10⁻¹³, what rounding allows.
    pub tolerance: f64,
    /// Products of A with a block of vectors after which the iteration ends; a second start and the certificate come on
    /// top.
    pub passes: usize,
    /// Seed of the random start.
    pub seed: u64,
}

/// The tolerance that 0 stands for.
const ROUNDING: f64 = 1e-13;

impl Default for SpectralOptions {
    fn default() -> SpectralOptions {
        SpectralOptions { which: Which::LargestMagnitude, tolerance: 1e-10, passes: 1000, seed: 0 }
    }
}

impl SpectralOptions {
    pub(super) fn check(&self) -> Result<(), SpectralError> {
        match (0.0..1.0).contains(&self.tolerance) {
            true => Ok(()),
            false => Err(SpectralError::Tolerance(self.tolerance)),
        }
    }

    pub(super) fn tolerance(&self) -> f64 {
        if self.tolerance == 0.0 { ROUNDING } else { self.tolerance }
    }
}

/// Why nothing was computed.
#[derive(Clone, PartialEq, Debug)]
pub enum SpectralError {
    /// A has no such pairs.
    Data(InstanceError),
    /// A has fewer pairs than were asked for, or none were.
    Count {
        /// The k asked for.
        asked: usize,
        /// The largest possible k.
        most: usize,
    },
    /// The tolerance is not in [0, 1).
    Tolerance(f64),
    /// A is in a file, and would have to be read by columns.
    InFile,
    /// The file that holds A could not be read.
    Unreadable(String),
    /// The iteration for a small matrix failed.
    NoConvergence,
}

impl From<InstanceError> for SpectralError {
    fn from(error: InstanceError) -> SpectralError {
        SpectralError::Data(error)
    }
}

impl fmt::Display for SpectralError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SpectralError::Data(error) => error.fmt(f),
            SpectralError::Count { asked, most } => {
                write!(f, "{asked} pairs were asked for; A has {most}, and at least one must be asked for")
            }
            SpectralError::Tolerance(found) => {
                write!(f, "the tolerance must be at least 0 and less than 1, got {found}")
            }
            SpectralError::InFile => {
                write!(
                    f,
                    "A is too large for memory: only singular values of a tall A are computed from a file"
                )
            }
            SpectralError::Unreadable(why) => write!(f, "the matrix cannot be read any more: {why}"),
            SpectralError::NoConvergence => {
                write!(
                    f,
                    "the eigenvalues of a small matrix were not found; rescale the rows or columns of A"
                )
            }
        }
    }
}

impl std::error::Error for SpectralError {}

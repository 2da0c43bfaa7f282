//! Failures of a run: values that say where and why, never panics.

use crate::linalg::NumericError;
use crate::problem::Misfit;
use crate::program::ShapeError;
use crate::rng::WeightError;
use std::fmt;

/// Why a run stopped.
#[derive(Clone, PartialEq, Debug)]
pub enum Fault {
    /// The program is for another task; nothing was run.
    Task(Box<Misfit>),
    /// The program does not fit the shape of the problem; nothing was run.
    Shape(Box<ShapeError>),
    /// An operation would exceed the flop limit; nothing was run.
    TooCostly {
        /// The flops of the operation.
        flops: f64,
        /// The limit.
        cap: f64,
    },
    /// A result would exceed the limit on entries; nothing was run.
    TooLarge {
        /// The entries of the result.
        entries: f64,
        /// The limit.
        cap: f64,
    },
    /// The number of iterations exceeds the limit; nothing was run.
    TooLong {
        /// The number asked for.
        iterations: usize,
        /// The limit.
        cap: usize,
    },
    /// A factorisation failed.
    Numeric(NumericError),
    /// Weights that do not define probabilities.
    Weights(WeightError),
    /// A sample without replacement needs more rows than can be drawn.
    TooFewRows {
        /// The rows asked for.
        batch: usize,
    },
    /// The data are in a file or sparse, and the operation needs all entries at once; nothing was run.
    NotInMemory,
    /// A value is infinite or NaN.
    NotFinite,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Fault::Task(misfit) => misfit.fmt(f),
            Fault::Shape(error) => error.fmt(f),
            Fault::TooCostly { flops, cap } => {
                write!(f, "would cost {flops:.2e} flops, more than the cap of {cap:.2e} for one operation")
            }
            Fault::TooLarge { entries, cap } => {
                write!(
                    f,
                    "would produce {entries:.2e} entries, more than the cap of {cap:.2e} for one result"
                )
            }
            Fault::TooLong { iterations, cap } => {
                write!(f, "{iterations} iterations are more than the cap of {cap}")
            }
            Fault::Numeric(error) => error.fmt(f),
            Fault::Weights(error) => error.fmt(f),
            Fault::TooFewRows { batch } => {
                write!(f, "cannot draw {batch} different rows; lower the batch or sample with replacement")
            }
            Fault::NotInMemory => f.write_str("needs all of A in memory, but A is in a file or sparse"),
            Fault::NotFinite => f.write_str("gave a value that is infinite or not a number"),
        }
    }
}

/// The point at which a run stopped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FailurePoint {
    /// Before anything was run.
    Check,
    /// In setup.
    Setup,
    /// In this iteration, counted from 1.
    Iteration(usize),
}

impl fmt::Display for FailurePoint {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            FailurePoint::Check => f.write_str("before running"),
            FailurePoint::Setup => f.write_str("setup"),
            FailurePoint::Iteration(t) => write!(f, "iteration {t}"),
        }
    }
}

/// A run that failed.
#[derive(Clone, PartialEq, Debug)]
pub struct RunFailure {
    /// When it failed.
    pub step: FailurePoint,
    /// The failing operation, as text.
    pub operation: String,
    /// Why it failed.
    pub fault: Fault,
    /// Rows and columns of the operands.
    pub shapes: Vec<(usize, usize)>,
    /// The residuals measured before the failure.
    pub residuals: Vec<f64>,
}

impl From<Misfit> for RunFailure {
    fn from(misfit: Misfit) -> RunFailure {
        let (operation, fault) = (String::new(), Fault::Task(Box::new(misfit)));
        RunFailure { step: FailurePoint::Check, operation, fault, shapes: vec![], residuals: vec![] }
    }
}

impl fmt::Display for RunFailure {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}: ", self.step)?;
        if !self.operation.is_empty() {
            let shapes: Vec<String> = self.shapes.iter().map(|(r, c)| format!("{r}×{c}")).collect();
            write!(f, "`{}`", self.operation)?;
            if !shapes.is_empty() {
                write!(f, " on {}", shapes.join(", "))?;
            }
            f.write_str(" ")?;
        }
        self.fault.fmt(f)
    }
}

impl std::error::Error for RunFailure {}

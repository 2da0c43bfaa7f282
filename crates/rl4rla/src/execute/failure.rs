//! How a run can fail: a value that says where and why, never a panic.

use crate::linalg::NumericError;
use crate::problem::Misfit;
use crate::program::ShapeError;
use crate::rng::WeightError;
use std::fmt;

/// Why a run stopped.
#[derive(Clone, PartialEq, Debug)]
pub enum Fault {
    /// The program is made for another task; nothing ran.
    Task(Box<Misfit>),
    /// The program does not fit the problem's shape; nothing ran.
    Shape(Box<ShapeError>),
    /// An operation would cost more than the cap; nothing ran.
    TooCostly {
        /// What it would cost.
        flops: f64,
        /// What is allowed.
        cap: f64,
    },
    /// A result would hold more entries than the cap; nothing ran.
    TooLarge {
        /// How many entries it would hold.
        entries: f64,
        /// How many are allowed.
        cap: f64,
    },
    /// More iterations than the cap; nothing ran.
    TooLong {
        /// How many were asked for.
        iterations: usize,
        /// How many are allowed.
        cap: usize,
    },
    /// A factorisation failed.
    Numeric(NumericError),
    /// Probabilities that are none.
    Weights(WeightError),
    /// Fewer rows can be drawn than a sample without replacement needs.
    TooFewRows {
        /// How many were asked for.
        batch: usize,
    },
    /// The data are in a file and the operation needs all of them at once; nothing ran.
    NotInMemory,
    /// A value is infinite or not a number.
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
            Fault::NotInMemory => f.write_str("needs all of A in memory, but A is in a file"),
            Fault::NotFinite => f.write_str("gave a value that is infinite or not a number"),
        }
    }
}

/// When a run stopped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FailurePoint {
    /// Before anything ran.
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

/// A run that stopped before its end.
#[derive(Clone, PartialEq, Debug)]
pub struct RunFailure {
    /// When.
    pub step: FailurePoint,
    /// The operation at fault, as text.
    pub operation: String,
    /// Why.
    pub fault: Fault,
    /// Rows and columns of its operands.
    pub shapes: Vec<(usize, usize)>,
    /// The residuals up to there.
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

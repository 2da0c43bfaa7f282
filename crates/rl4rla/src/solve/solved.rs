//! What came of a run: a solution, or how far it got.

use super::certificate::Certificate;
use super::factor::Dependence;
use crate::execute::Failure;

/// Why a run ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ended {
    /// The tolerance was reached.
    Tolerance,
    /// In double precision nothing changes any more.
    Standstill,
    /// The excess no longer falls, short of the tolerance.
    Floor,
    /// All iterations were made.
    Iterations,
    /// It ended worse than it began, with every step that was tried.
    Divergence,
    /// It cannot go on: an operation fails, or there is nothing to come near to.
    Blocked,
}

impl Ended {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Ended::Tolerance => "the tolerance is reached",
            Ended::Standstill => "x no longer changes in double precision",
            Ended::Floor => "no further progress",
            Ended::Iterations => "the iteration limit is reached",
            Ended::Divergence => "it diverges: x = 0 is better",
            Ended::Blocked => "it cannot continue",
        }
    }
}

/// A solution.
#[derive(Clone, PartialEq, Debug)]
pub struct Solved {
    /// The solution.
    pub x: Vec<f64>,
    /// What is left: for least squares ‖Ax − b‖/‖b‖, else the task's loss.
    pub residual: f64,
    /// For least squares max |aⱼᵀr|/(‖aⱼ‖‖r‖), r = Ax − b: the largest cosine of a column and the residual;
    /// else the task's [`optimality`](crate::problem::Task::optimality).
    pub gradient: f64,
    /// Whether x is as good as was asked for.
    pub converged: bool,
    /// For least squares, by what one knows.
    pub certificate: Option<Certificate>,
    /// Columns that depend on others, where that was not refused.
    pub dependent: Vec<Dependence>,
    /// η.
    pub step: f64,
    /// Iterations made.
    pub iterations: usize,
    /// Passes over A of setup and all iterations, by the program's price.
    pub passes: f64,
    /// Operations that read all of A, those of a pilot and of measuring included; for least squares alone.
    pub reads: usize,
    /// Floating-point operations of setup and all iterations, by the program's price.
    pub flops: f64,
    /// The residual at the start and after every iteration; NaN where it was not measured.
    pub residuals: Vec<f64>,
    /// Why it ended.
    pub ended: Ended,
    /// What failed, where an iteration did after others had not.
    pub failure: Option<Failure>,
}

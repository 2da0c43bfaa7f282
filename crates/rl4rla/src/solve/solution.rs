//! What came of a run: a solution, or how far it got.

use super::certificate::Certificate;
use super::factor::Dependence;
use crate::execute::RunFailure;
use std::fmt;

/// Why a run ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Termination {
    /// The tolerance was reached.
    Tolerance,
    /// In double precision nothing changes any more.
    Standstill,
    /// The excess no longer falls, short of the tolerance.
    Floor,
    /// The iteration limit was reached.
    Iterations,
    /// It ended worse than it began, with every step that was tried.
    Divergence,
    /// It cannot go on: an operation fails, or there is nothing to come near to.
    Blocked,
}

impl Termination {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Termination::Tolerance => "the tolerance is reached",
            Termination::Standstill => "x no longer changes in double precision",
            Termination::Floor => "no further progress",
            Termination::Iterations => "the iteration limit is reached",
            Termination::Divergence => "it diverges: x = 0 is better",
            Termination::Blocked => "it cannot continue",
        }
    }
}

/// What a run came to. Its x is had by [`Solution::into_x`], which is an error where the run has not converged, or by
/// [`Solution::estimate`], which says so in its name.
#[must_use = "a run may not have converged: `into_x` tells"]
#[derive(Clone, PartialEq, Debug)]
pub struct Solution {
    pub(super) x: Vec<f64>,
    pub(super) converged: bool,
    /// What is left: for least squares ‖Ax − b‖/‖b‖, else the task's loss.
    pub residual: f64,
    /// For least squares max |aⱼᵀr|/(‖aⱼ‖‖r‖), r = Ax − b: the largest cosine of a column and the residual;
    /// else the task's [`optimality`](crate::problem::Task::optimality), NaN where there is nothing to come near to.
    pub gradient: f64,
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
    /// Operations that read all of A, those of a pilot and of measuring included; 0 where each step is searched.
    pub reads: usize,
    /// Floating-point operations of setup and all iterations, by the program's price.
    pub flops: f64,
    /// The residual at the start and after every iteration; NaN where it was not measured.
    pub residuals: Vec<f64>,
    /// Why it ended.
    pub ended: Termination,
    /// What failed, where an iteration did after others had not.
    pub failure: Option<RunFailure>,
    /// Why this is no solution, where more is known than that the tolerance was not reached.
    pub obstacle: Option<String>,
    /// What else the task tells of x: names and numbers.
    pub figures: Vec<(&'static str, f64)>,
}

impl Solution {
    /// Whether x is as good as was asked for.
    pub fn is_converged(&self) -> bool {
        self.converged
    }

    /// x, if it is as good as was asked for.
    pub fn into_x(self) -> Result<Vec<f64>, NotConverged> {
        if self.converged { Ok(self.x) } else { Err(NotConverged(Box::new(self))) }
    }

    /// The last x, or the mean that was asked for, converged or not.
    pub fn estimate(&self) -> &[f64] {
        &self.x
    }
}

/// A run that has not converged, with all that is known of it.
#[derive(Clone, PartialEq, Debug)]
pub struct NotConverged(pub Box<Solution>);

impl fmt::Display for NotConverged {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Solution { iterations, ended, obstacle, .. } = &*self.0;
        write!(f, "not converged after {iterations} iterations: {}", ended.words())?;
        obstacle.as_ref().map_or(Ok(()), |why| write!(f, "; {why}"))
    }
}

impl std::error::Error for NotConverged {}

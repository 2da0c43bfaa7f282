//! The result of `solve`: a solution, or how far the run got.

use super::certificate::Certificate;
use super::factor::Dependence;
use crate::execute::RunFailure;
use std::fmt;

/// Why a run ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Termination {
    /// The tolerance was reached.
    Tolerance,
    /// Nothing changes any more in double precision.
    Standstill,
    /// The excess no longer decreases, although the tolerance is not met.
    Floor,
    /// The iteration limit was reached.
    Iterations,
    /// The final residual is larger than the initial one, for every step size tried.
    Divergence,
    /// The run cannot continue: an operation fails, or the problem has no solution to converge to.
    Blocked,
}

impl Termination {
    /// A description in words.
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

/// The result of `solve`. [`Solution::into_x`] returns x, or an error if the run has not converged;
/// [`Solution::estimate`] returns the last x either way.
#[must_use = "a run may not have converged: `into_x` tells"]
#[derive(Clone, PartialEq, Debug)]
pub struct Solution {
    pub(super) x: Vec<f64>,
    pub(super) converged: bool,
    /// For least squares ‖Ax − b‖/‖b‖, else the task's loss.
    pub residual: f64,
    /// For least squares the relative gradient max |aⱼᵀr|/(‖aⱼ‖‖r‖), r = Ax − b; else the task's
    /// [`optimality`](crate::problem::Task::optimality), NaN if the problem has no solution to converge to.
    pub gradient: f64,
    /// The certificate, for least squares with a factor of A.
    pub certificate: Option<Certificate>,
    /// A bound on the backward error of least squares from the gradient alone, without a factor of A.
    pub gradient_bound: Option<f64>,
    /// The linearly dependent columns, if they were allowed.
    pub dependent: Vec<Dependence>,
    /// η, the step size.
    pub step: f64,
    /// Iterations made.
    pub iterations: usize,
    /// Passes over A of setup and all iterations, by the program's cost.
    pub passes: f64,
    /// Operations that read all of A, including those of pilot runs and measurements; 0 if every step size is found
    /// by line search.
    pub reads: usize,
    /// Floating-point operations of setup and all iterations, by the program's cost.
    pub flops: f64,
    /// The residual at the start and after every iteration; NaN where it was not measured.
    pub residuals: Vec<f64>,
    /// Why the run ended.
    pub ended: Termination,
    /// The failure of an iteration, if earlier iterations succeeded.
    pub failure: Option<RunFailure>,
    /// Why x is not a solution, if more is known than that the tolerance was not met.
    pub obstacle: Option<String>,
    /// Further figures of the task: names and values.
    pub figures: Vec<(&'static str, f64)>,
}

impl Solution {
    /// Whether the tolerance is met, or, for least squares, the certificate holds up to rounding error.
    pub fn is_converged(&self) -> bool {
        self.converged
    }

    /// The backward error of least squares, an estimate or a bound.
    pub fn backward_error(&self) -> Option<f64> {
        self.certificate.map(|known| known.backward_error).or(self.gradient_bound)
    }

    /// x, or an error if the run has not converged.
    pub fn into_x(self) -> Result<Vec<f64>, NotConverged> {
        if self.converged { Ok(self.x) } else { Err(NotConverged(Box::new(self))) }
    }

    /// The last x, or the mean if that was asked for, converged or not.
    pub fn estimate(&self) -> &[f64] {
        &self.x
    }
}

/// A run that has not converged, with its result.
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

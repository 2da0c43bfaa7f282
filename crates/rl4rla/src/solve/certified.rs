//! Least squares: one step size for the whole run, from a pilot run, and a certificate that decides convergence.

use super::certificate::Certificate;
use super::error::SolveError;
use super::factor::ColumnSplit;
use super::options::{SolveOptions, StepSize};
use super::prepared::{PASSES, PreparedProblem};
use super::progress::{Closest, SLOW, STILL};
use super::solution::{Solution, Termination};
use super::solver::{Job, SolveMethod};
use crate::execute::{RunFailure, Runner, Seen};
use crate::linalg;

/// How often a diverging run is restarted with half the step size.
const HALVINGS: usize = 12;

/// Residual, relative to the initial one, above which a run is taken to diverge.
const DIVERGED: f64 = 100.0;

/// A run in progress, with its measurements.
pub(super) struct Certified<'a> {
    job: &'a Job<'a>,
    runner: Runner<'a>,
    columns: &'a ColumnSplit,
    /// Iterations between two measurements.
    every: usize,
    step: f64,
    /// How often the step size may still be halved.
    tries: usize,
    /// The residual at the start.
    first: f64,
    /// The residual at the start and after every iteration.
    residuals: Vec<f64>,
    /// Consecutive iterations without any change.
    still: usize,
    closest: Closest,
}

impl<'a> Certified<'a> {
    /// Determines the step size of a run that has made its setup.
    pub fn begin(
        job: &'a Job<'a>,
        mut runner: Runner<'a>,
        columns: &'a ColumnSplit,
    ) -> Result<Certified<'a>, RunFailure> {
        let every = match (job.options.history || runner.shows(), job.plan.refreshes()) {
            // The next iteration uses the pass.
            (true, _) => 1,
            // A program that refreshes a value does so in order to read A less often.
            (false, true) => job.options.every,
            // A measurement costs a pass of 4mn flops; measuring may cost at most as much as running.
            (false, false) => {
                let flops = job.cost.rates(&job.sizes).mean_iteration().max(1.0);
                ((4.0 * job.sizes.rows * job.sizes.cols) / flops).ceil() as usize
            }
        };
        let (step, tries) = match job.options.step {
            StepSize::Auto => (runner.find_step()?, HALVINGS),
            StepSize::Fixed(step) => (step, 0),
        };
        let (first, residuals, still, closest) = Default::default();
        Ok(Certified { job, runner, columns, every, step, tries, first, residuals, still, closest })
    }

    /// The solution x = 0 for a matrix of zero columns; no program runs.
    pub fn nothing(prepared: &PreparedProblem, columns: &ColumnSplit) -> Solution {
        let distance = linalg::norm(&prepared.instance.b);
        let residual = if distance == 0.0 { 0.0 } else { 1.0 };
        let seen = Seen { residual, distance, gradient: vec![] };
        Solution {
            x: prepared.answer(&[]),
            converged: true,
            residual,
            gradient: 0.0,
            certificate: Some(prepared.judge(columns, &[], &seen, SolveOptions::default().goal())),
            gradient_bound: None,
            dependent: columns.dependent.clone(),
            step: 0.0,
            iterations: 0,
            passes: 0.0,
            reads: PASSES,
            flops: 0.0,
            residuals: vec![residual],
            ended: Termination::Tolerance,
            failure: None,
            obstacle: None,
            figures: vec![],
        }
    }

    fn judge(&self, y: &[f64], seen: &Seen) -> Certificate {
        self.job.prepared.judge(self.columns, y, seen, self.job.options.goal())
    }

    /// Measurements without much progress after which a run that is accurate up to rounding ends.
    fn patience(&self) -> usize {
        if self.job.options.backward_error.is_some() { 3 } else { SLOW }
    }

    /// Whether the run may end before the iteration limit; not with a tolerance of 0, nor if a mean is asked for.
    fn may_stop(&self) -> bool {
        self.job.options.tolerance > 0.0 && !self.job.options.average
    }
}

impl SolveMethod for Certified<'_> {
    fn iterations(&self) -> usize {
        self.residuals.len() - 1
    }

    fn x(&self) -> &[f64] {
        self.runner.result()
    }

    fn start(&mut self) -> Option<Termination> {
        let first = self.runner.measure();
        (self.first, self.residuals) = (first.residual, vec![first.residual]);
        (self.still, self.closest) = Default::default();
        let reached = self.may_stop() && self.judge(self.x(), &first).reached;
        reached.then_some(Termination::Tolerance)
    }

    fn advance(&mut self) -> Result<Option<Termination>, RunFailure> {
        let before = self.x().to_vec();
        self.runner.advance()?;
        let (may_stop, iterations) = (self.may_stop(), self.residuals.len());
        let looked = iterations.is_multiple_of(self.every).then(|| self.runner.measure());
        self.residuals.push(looked.as_ref().map_or(f64::NAN, |looked| looked.residual));
        let change = linalg::norm(&linalg::sub(self.x(), &before));
        self.still = if change <= f64::EPSILON * linalg::norm(&before) { self.still + 1 } else { 0 };
        let judged = looked.as_ref().map(|looked| self.judge(self.x(), looked));
        if let (Some(now), Some(looked)) = (&judged, &looked) {
            self.closest.look(now.excess * looked.distance);
        }
        // With random samples, an unchanged iterate may be coincidence.
        let may_stand = may_stop && !self.runner.draws_in_iterations();
        Ok(if looked.is_some_and(|now| now.residual > DIVERGED * self.first) {
            Some(Termination::Divergence)
        } else if may_stop && judged.is_some_and(|now| now.reached) {
            Some(Termination::Tolerance)
        } else if may_stop && judged.is_some_and(|now| now.converged) && self.closest.is_slow(self.patience())
        {
            Some(Termination::Floor)
        } else if may_stand && self.still >= STILL {
            Some(Termination::Standstill)
        } else if may_stand && self.closest.is_stale() {
            Some(Termination::Floor)
        } else {
            None
        })
    }

    fn finish(
        &mut self,
        mean: Option<Vec<f64>>,
        mut ended: Termination,
        failure: Option<RunFailure>,
    ) -> Result<Solution, SolveError> {
        let y = mean.unwrap_or_else(|| self.x().to_vec());
        let x = self.job.prepared.finite_answer(&y)?;
        let y = self.job.prepared.question(self.columns, &x);
        let last = self.runner.measure_at(&y);
        let certificate = self.judge(&y, &last);
        let iterations = self.iterations();
        let mut residuals = std::mem::take(&mut self.residuals);
        residuals[iterations] = last.residual;
        if last.residual.is_nan() || last.residual > self.first * (1.0 + 1e-9) {
            ended = Termination::Divergence;
        } else if ended == Termination::Tolerance && !certificate.converged {
            ended = Termination::Floor;
        }
        let instance = &self.job.prepared.instance;
        Ok(Solution {
            x,
            converged: certificate.converged && ended != Termination::Divergence,
            residual: last.residual,
            gradient: certificate.cosine,
            certificate: Some(certificate),
            gradient_bound: None,
            dependent: self.columns.dependent.clone(),
            step: self.step,
            iterations,
            passes: self.job.cost.passes(&self.job.sizes, iterations),
            reads: self.job.prepared.passes() + self.runner.passes(),
            flops: self.job.cost.flops(&self.job.sizes, iterations),
            residuals,
            ended,
            obstacle: failure.as_ref().map(RunFailure::to_string),
            failure,
            figures: instance.task.figures(instance, &y),
        })
    }

    fn retry(&mut self) -> Result<bool, RunFailure> {
        if self.tries == 0 {
            return Ok(false);
        }
        self.tries -= 1;
        self.step /= 2.0;
        self.runner.restart(self.step)?;
        Ok(true)
    }
}

#[cfg(test)]
mod tests;

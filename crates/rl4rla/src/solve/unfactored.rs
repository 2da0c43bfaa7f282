//! Least squares by a program that computes no factor of A, for sparse data of so many columns that a dense factor would
//! exceed them: what can be certified is a bound on the backward error.
//!
//! With columns of length 1, r = Ax − b and g = Aᵀr, x solves the problem exactly for A − r·gᵀ/‖r‖², which differs from
//! A by ‖g‖/‖r‖, and for A − r·xᵀ/‖x‖², which differs by ‖r‖/‖x‖.

use super::column_factor::quotient;
use super::error::SolveError;
use super::options::SolveOptions;
use super::prepared::PreparedProblem;
use super::problem::Problem;
use super::progress::{Closest, SLOW};
use super::solution::{Solution, Termination};
use super::solver::{Job, SolveMethod, pursue, with_job};
use crate::execute::{Measuring, RunFailure, Runner, Seen};
use crate::linalg;
use crate::program::Document;

/// Iterations between two measurements, which take a pass over A each.
const EVERY: usize = 4;

/// Largest bound that counts as converged if no more progress is made, in units of ε: the rounding error of r and g.
const ROUNDED: f64 = 32.0;

/// Solves least squares by a program without a factor, with columns scaled to about length 1 by powers of two. Dependent
/// columns go unnoticed: programs whose steps are combinations of rows of A then tend to the solution of minimum norm.
pub(super) fn unfactored(
    program: &Document,
    problem: Problem,
    options: &SolveOptions,
) -> Result<Solution, SolveError> {
    let prepared = PreparedProblem::scaled(problem);
    with_job(&program.program, &prepared, options, |job| {
        let runner = job.begin(Measuring::Shown)?;
        let lengths = linalg::column_norms(&prepared.instance.A);
        let (first, residuals, closest) = Default::default();
        pursue(&mut Unfactored { job, runner, lengths, first, residuals, closest }, options)
    })
}

/// A run in progress.
struct Unfactored<'a> {
    job: &'a Job<'a>,
    runner: Runner<'a>,
    /// ‖aⱼ‖.
    lengths: Vec<f64>,
    /// The residual at the start.
    first: f64,
    residuals: Vec<f64>,
    closest: Closest,
}

impl Unfactored<'_> {
    /// The bound on the backward error, and the largest |aⱼᵀr|/(‖aⱼ‖‖r‖), at y.
    fn judge(&self, y: &[f64], seen: &Seen) -> (f64, f64) {
        let gradient = seen.gradient.iter().zip(&self.lengths);
        let gradient: Vec<f64> = gradient.map(|(g, length)| quotient(*g, *length)).collect();
        let unit: Vec<f64> = y.iter().zip(&self.lengths).map(|(y, length)| y * length).collect();
        // ‖A‖_F.
        let size = (self.lengths.iter().filter(|length| **length > 0.0).count() as f64).sqrt();
        let bound = quotient(linalg::norm(&gradient), seen.distance)
            .min(quotient(seen.distance, linalg::norm(&unit)))
            / size;
        let cosine = gradient.iter().fold(0.0, |most: f64, g| most.max(quotient(g.abs(), seen.distance)));
        (bound, cosine)
    }

    fn goal(&self) -> f64 {
        self.job.options.backward_error.unwrap_or(self.job.options.tolerance)
    }
}

impl SolveMethod for Unfactored<'_> {
    fn iterations(&self) -> usize {
        self.residuals.len() - 1
    }

    fn x(&self) -> &[f64] {
        self.runner.result()
    }

    fn start(&mut self) -> Option<Termination> {
        let seen = self.runner.measure();
        (self.first, self.residuals) = (seen.residual, vec![seen.residual]);
        self.closest = Closest::default();
        let (bound, _) = self.judge(self.x(), &seen);
        (bound <= self.goal()).then_some(Termination::Tolerance)
    }

    fn advance(&mut self) -> Result<Option<Termination>, RunFailure> {
        self.runner.advance()?;
        if !self.residuals.len().is_multiple_of(EVERY) {
            self.residuals.push(f64::NAN);
            return Ok(None);
        }
        let seen = self.runner.measure();
        self.residuals.push(seen.residual);
        let (bound, _) = self.judge(self.x(), &seen);
        self.closest.look(bound);
        let rounded = bound <= ROUNDED * f64::EPSILON && self.closest.is_slow(SLOW);
        Ok(if bound <= self.goal() {
            Some(Termination::Tolerance)
        } else {
            (rounded || self.closest.is_stale()).then_some(Termination::Floor)
        })
    }

    fn finish(
        &mut self,
        _: Option<Vec<f64>>,
        mut ended: Termination,
        failure: Option<RunFailure>,
    ) -> Result<Solution, SolveError> {
        let y = self.x().to_vec();
        let x = self.job.prepared.finite_answer(&y)?;
        let seen = self.runner.measure_at(&y);
        let (bound, cosine) = self.judge(&y, &seen);
        let iterations = self.iterations();
        self.residuals[iterations] = seen.residual;
        if seen.residual.is_nan() || seen.residual > self.first * (1.0 + 1e-9) {
            ended = Termination::Divergence;
        }
        let good = bound <= self.goal().max(ROUNDED * f64::EPSILON);
        Ok(Solution {
            x,
            converged: good && ended != Termination::Divergence,
            residual: seen.residual,
            gradient: cosine,
            certificate: None,
            gradient_bound: Some(bound),
            dependent: vec![],
            step: 1.0,
            iterations,
            passes: self.job.cost.passes(&self.job.sizes, iterations),
            reads: self.runner.passes(),
            flops: self.job.cost.flops(&self.job.sizes, iterations),
            residuals: std::mem::take(&mut self.residuals),
            ended,
            obstacle: failure.as_ref().map(RunFailure::to_string),
            failure,
            figures: vec![],
        })
    }

    /// The program chooses the length of its steps.
    fn retry(&mut self) -> Result<bool, RunFailure> {
        Ok(false)
    }
}

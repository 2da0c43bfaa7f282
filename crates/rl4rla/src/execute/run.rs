//! Runs: a program on an instance, and the residual of every iteration.

use super::failure::RunFailure;
use super::machine::Measuring;
use super::plan::Plan;
use super::precision::Precision;
use super::prepared::PreparedInstance;
use super::run_draws::RunData;
use super::runner::Runner;
use super::sample::Sampling;
use super::sketch::SketchKind;
use crate::linalg::Matrix;
use crate::problem::Instance;
use crate::program::{Program, Sizes};
use crate::rng::Stream;
use std::sync::Arc;

/// Settings of a run.
#[derive(Clone, PartialEq, Debug)]
pub struct RunSettings {
    /// T, the number of iterations.
    pub iterations: usize,
    /// η, the step size.
    pub step: f64,
    /// μ, the number in register `mu`.
    pub mu: f64,
    /// Iterations from one `REFRESH` to the next, at least 1.
    pub every: usize,
    /// The kind of sketch.
    pub sketch: SketchKind,
    /// s, the rows of a sketch.
    pub sketch_rows: usize,
    /// k, the rows of a sample.
    pub batch: usize,
    /// How rows are drawn.
    pub sampling: Sampling,
    /// The precision of registers.
    pub precision: Precision,
    /// The cost limits.
    pub limits: Limits,
}

/// Cost limits of a run, checked before anything is run.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Limits {
    /// Flops of one operation.
    pub flops: f64,
    /// Entries of one result.
    pub entries: f64,
    /// Iterations.
    pub iterations: usize,
}

impl Limits {
    /// The released code's limit of 10⁹ flops, raised for large problems to twenty direct solves (2mn² each).
    pub fn for_size(rows: usize, cols: usize) -> Limits {
        let solve = 2.0 * rows as f64 * (cols as f64).powi(2);
        Limits { flops: (20.0 * solve).max(1e9), entries: (1u64 << 27) as f64, iterations: 1_000_000 }
    }
}

impl RunSettings {
    /// Iterations from one refresh to the next, unless said otherwise.
    pub const EVERY: usize = 10;

    /// The released code's settings for a problem of this size: T = 10, s = 8n and k = 100, but at most m.
    pub fn for_size(rows: usize, cols: usize) -> RunSettings {
        RunSettings {
            iterations: 10,
            step: 1.0,
            mu: 0.0,
            every: RunSettings::EVERY,
            sketch: SketchKind::Sjlt,
            sketch_rows: (8 * cols).min(rows),
            batch: rows.min(100),
            sampling: Sampling::Unbiased,
            precision: Precision::Double,
            limits: Limits::for_size(rows, cols),
        }
    }

    /// The values of the symbols of a cost polynomial.
    pub fn sizes(&self, rows: usize, cols: usize) -> Sizes {
        Sizes {
            rows: rows as f64,
            cols: cols as f64,
            sketch: self.sketch_rows as f64,
            batch: self.batch as f64,
            sketch_work: self.sketch.work(self.sketch_rows, rows),
            every: self.every as f64,
        }
    }
}

/// The convergence history and the final result of a run.
#[derive(Clone, Debug)]
pub struct Trace {
    /// The loss at the start and after every iteration; for linear systems ‖Ax − b‖/‖b‖.
    pub residuals: Vec<f64>,
    /// The excess at the start and after every iteration; for linear systems ‖A(x − x*)‖/‖b‖.
    pub excesses: Vec<f64>,
    /// The last iterate, or the answer.
    pub x: Vec<f64>,
    /// Number of operations that read all of A; on large data this includes the last residual.
    pub passes: usize,
    /// `R1` after setup, if it is n×n: the register of the preconditioner.
    pub preconditioner: Option<Arc<Matrix>>,
    /// Identifies it among the values shared by runs on the same data.
    pub(crate) preconditioner_name: Option<u64>,
}

/// Runs a program on an instance: a pure function of its arguments.
///
/// ```
/// use rl4rla::{execute::{RunSettings, run}, problem::Family, program::Entry, rng::Stream};
/// let mut family = Family::named("low-cond").unwrap();
/// (family.rows, family.cols) = (200, 5);
/// let instance = family.draw(&Stream::new(1)).unwrap();
/// let gradient_descent = &Entry::named("ls-gd").unwrap().document.program;
/// let trace = run(gradient_descent, &instance, &RunSettings::for_size(200, 5), &Stream::new(2)).unwrap();
/// assert_eq!(trace.residuals.len(), 11);
/// assert!(trace.residuals[10] < 0.1 * trace.residuals[0]);
/// ```
pub fn run(
    program: &Program,
    instance: &Instance,
    settings: &RunSettings,
    stream: &Stream,
) -> Result<Trace, RunFailure> {
    let plan = Plan::new(program, instance.shape(), settings)?;
    Runner::begin(&plan, RunData::True(instance, None), settings, stream, Measuring::ALL)?.finish()
}

/// Only the last iterate of the same run: nothing is measured between start and end.
pub fn run_unmeasured(
    program: &Program,
    instance: &Instance,
    settings: &RunSettings,
    stream: &Stream,
) -> Result<Vec<f64>, RunFailure> {
    let plan = Plan::new(program, instance.shape(), settings)?;
    let measuring = Measuring::Ends { losses: false };
    Ok(Runner::begin(&plan, RunData::True(instance, None), settings, stream, measuring)?.finish()?.x)
}

/// The result of the first iteration from each of these points, after one setup: an iteration as a function of x.
pub fn step_from(
    program: &Program,
    instance: &Instance,
    settings: &RunSettings,
    points: impl IntoIterator<Item = Vec<f64>>,
    stream: &Stream,
) -> Result<Vec<Vec<f64>>, RunFailure> {
    steps_from(program, instance, &RunSettings { iterations: 1, ..settings.clone() }, points, stream)
}

/// The result of the last iteration from each of these points, after one setup: the iterations, together, as a
/// function of x. Nothing between start and end is measured.
pub fn steps_from(
    program: &Program,
    instance: &Instance,
    settings: &RunSettings,
    points: impl IntoIterator<Item = Vec<f64>>,
    stream: &Stream,
) -> Result<Vec<Vec<f64>>, RunFailure> {
    let plan = Plan::new(program, instance.shape(), settings)?;
    let measuring = Measuring::Ends { losses: false };
    let begun = Runner::begin(&plan, RunData::True(instance, None), settings, stream, measuring)?;
    points.into_iter().map(|x| Ok(begun.moved_to(x).finish()?.x)).collect()
}

/// The same run in reduced coordinates if the program allows it, otherwise on the original matrices: the random draws
/// are those of [`run`], and the result differs only by rounding.
pub fn run_prepared(
    program: &Program,
    prepared: &PreparedInstance,
    settings: &RunSettings,
    stream: &Stream,
) -> Result<Trace, RunFailure> {
    let plan = Plan::new(program, prepared.shape(), settings)?;
    let coordinates = prepared.coordinates(&plan, settings);
    Runner::begin(&plan, coordinates.data(), settings, stream, Measuring::ALL)?.finish()
}

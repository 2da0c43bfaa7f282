//! Options of `solve`: step size, tolerance, treatment of dependent columns.

use super::certificate::AccuracyGoal;
use crate::execute::{RunSettings, Sampling, SketchKind};

/// The step size η.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum StepSize {
    /// Determined by a pilot run of a few iterations, and halved as long as the run diverges.
    Auto,
    /// A given step size.
    Fixed(f64),
}

/// Treatment of linearly dependent columns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RankDeficient {
    /// An error that names them.
    Refuse,
    /// They are left out: their coefficients are 0.
    Drop,
    /// The solution of minimum norm.
    MinNorm,
}

/// Options of `solve`.
#[derive(Clone, PartialEq, Debug)]
pub struct SolveOptions {
    /// The step size.
    pub step: StepSize,
    /// μ, the number in register `mu`.
    pub mu: f64,
    /// Iterations from one refresh to the next.
    pub every: usize,
    /// The iteration limit.
    pub iterations: usize,
    /// The run converges if ‖A(x − x*)‖ ≤ tolerance·‖Ax − b‖, or up to rounding error, as estimated by
    /// [`Certificate`](super::Certificate); with 0, it runs to the iteration limit.
    pub tolerance: f64,
    /// With a certificate, the run instead ends when the estimated backward error is at most this and the excess within
    /// the rounding error of a backward stable method, or when rounding hides further progress.
    pub backward_error: Option<f64>,
    /// Treatment of linearly dependent columns.
    pub rank_deficient: RankDeficient,
    /// Whether to return the mean of the iterates of the second half, which reduces the noise of row samples.
    pub average: bool,
    /// Whether to measure the residual of every iterate, at the cost of a pass over A each if the program does not
    /// show it.
    pub history: bool,
    /// The kind of sketch.
    pub sketch: SketchKind,
    /// Rows of a sketch per column of A.
    pub sketch_factor: f64,
    /// Rows of a sample.
    pub batch: usize,
    /// How rows are drawn.
    pub sampling: Sampling,
    /// Seed of the random draws.
    pub seed: u64,
}

impl Default for SolveOptions {
    fn default() -> SolveOptions {
        SolveOptions {
            step: StepSize::Auto,
            mu: 0.0,
            every: RunSettings::EVERY,
            iterations: 1000,
            tolerance: 1e-10,
            backward_error: None,
            rank_deficient: RankDeficient::Refuse,
            average: false,
            history: false,
            sketch: SketchKind::Sjlt,
            sketch_factor: 8.0,
            batch: 100,
            sampling: Sampling::Unbiased,
            seed: 0,
        }
    }
}

impl SolveOptions {
    /// What a run has to reach.
    pub(super) fn goal(&self) -> AccuracyGoal {
        AccuracyGoal { tolerance: self.tolerance, backward_error: self.backward_error }
    }

    /// The settings of a run on data of this size.
    pub fn settings(&self, rows: usize, cols: usize) -> RunSettings {
        let sketch_rows = (self.sketch_factor * cols as f64).ceil() as usize;
        RunSettings {
            iterations: self.iterations,
            step: if let StepSize::Fixed(step) = self.step { step } else { 1.0 },
            mu: self.mu,
            every: self.every,
            sketch: self.sketch,
            sketch_rows: sketch_rows.clamp(1, rows.max(1)),
            batch: self.batch.min(rows),
            sampling: self.sampling,
            ..RunSettings::for_size(rows, cols)
        }
    }
}

//! How to solve: the step, when it is good enough, what becomes of dependent columns.

use crate::execute::{RunSettings, Sampling, SketchKind};

/// The step size η.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum StepSize {
    /// Found by a pilot of a few iterations, and halved as long as the run diverges.
    Auto,
    /// This one.
    Fixed(f64),
}

/// What becomes of columns that depend on others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RankDeficient {
    /// Nothing is solved, and they are named.
    Refuse,
    /// They are left out: their coefficients are 0.
    Drop,
    /// Of all solutions the one of least ‖x‖ is taken.
    MinNorm,
}

/// How to solve.
#[derive(Clone, PartialEq, Debug)]
pub struct SolveOptions {
    /// The step size.
    pub step: StepSize,
    /// The most iterations.
    pub iterations: usize,
    /// Good enough is ‖A(x − x*)‖ ≤ tolerance·‖Ax − b‖, or what rounding allows, as [`Certificate`](super::Certificate) estimates it; with 0 all
    /// iterations are made.
    pub tolerance: f64,
    /// What becomes of dependent columns.
    pub rank_deficient: RankDeficient,
    /// Whether the answer is the mean of the iterates of the second half, in which the noise of samples cancels.
    pub average: bool,
    /// Whether the residual of every iterate is wanted, at the price of a pass over A each where the program does not
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
            iterations: 1000,
            tolerance: 1e-10,
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
    /// The settings of a run on data of this size.
    pub fn settings(&self, rows: usize, cols: usize) -> RunSettings {
        let sketch_rows = (self.sketch_factor * cols as f64).ceil() as usize;
        RunSettings {
            iterations: self.iterations,
            step: if let StepSize::Fixed(step) = self.step { step } else { 1.0 },
            sketch: self.sketch,
            sketch_rows: sketch_rows.clamp(1, rows.max(1)),
            batch: self.batch.min(rows),
            sampling: self.sampling,
            ..RunSettings::for_size(rows, cols)
        }
    }
}

//! Default arguments of exported functions.

use super::listing::Listing;
use super::subject::Export;
use crate::execute::{RunSettings, Sampling, SketchKind};
use crate::program::Reg;
use crate::solve::SolveOptions;
use serde::Serialize;

/// Settings that do not depend on the size of the problem.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Defaults {
    /// T, the iteration limit.
    pub iterations: usize,
    /// τ, the tolerance.
    pub tolerance: f64,
    /// η, the step size; `None` to search for one.
    pub step: Option<f64>,
    /// μ, the number in register `mu`.
    pub mu: f64,
    /// Iterations from one refresh to the next.
    pub every: usize,
    /// Kind of sketch.
    pub sketch: SketchKind,
    /// s/n, the rows of a sketch per column of the data; a sketch is never taller than the data.
    pub sketch_factor: f64,
    /// k, the rows of a sample; no more than the data have.
    pub batch: usize,
    /// How rows are sampled.
    pub sampling: Sampling,
}

impl Default for Defaults {
    /// The defaults of `solve`: no step size and no iteration count suits all data.
    fn default() -> Defaults {
        let SolveOptions { iterations, tolerance, .. } = SolveOptions::default();
        let (rows, cols) = (1_000_000, 100);
        let settings = RunSettings::for_size(rows, cols);
        Defaults {
            iterations,
            tolerance,
            step: None,
            mu: settings.mu,
            every: settings.every,
            sketch: settings.sketch,
            sketch_factor: settings.sketch_rows as f64 / cols as f64,
            batch: settings.batch,
            sampling: settings.sampling,
        }
    }
}

impl Defaults {
    /// The sampling rule, in words.
    pub fn sampling_words(&self) -> &'static str {
        match self.sampling {
            Sampling::Unbiased => "rows sampled with replacement, row i times 1/√(k·pᵢ)",
            Sampling::Released => "rows sampled without replacement and not scaled",
        }
    }

    /// These defaults for a problem of the given size.
    pub fn settings(&self, rows: usize, cols: usize) -> RunSettings {
        let sketch_rows = ((self.sketch_factor * cols as f64).ceil() as usize).clamp(1, rows.max(1));
        RunSettings {
            iterations: self.iterations,
            step: self.step.unwrap_or(1.0),
            mu: self.mu,
            every: self.every,
            sketch: self.sketch,
            sketch_rows,
            batch: self.batch.clamp(1, rows.max(1)),
            sampling: self.sampling,
            ..RunSettings::for_size(rows, cols)
        }
    }
}

/// λ where exported code is compared with a run of the program.
pub const TRIAL_LAMBDA: f64 = 0.25;

/// A numeric parameter of an exported function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Parameter {
    /// Step size η.
    Step,
    /// The number μ.
    Mu,
    /// The regularization parameter λ.
    Lambda,
    /// Iterations from one refresh to the next.
    Every,
    /// Tolerance τ.
    Tolerance,
    /// Iteration limit T.
    Iterations,
    /// Number of sketch rows s.
    SketchRows,
    /// Number of sampled rows k.
    Batch,
}

impl Parameter {
    /// All parameters.
    pub const ALL: [Parameter; 8] = [
        Parameter::Step,
        Parameter::Mu,
        Parameter::Lambda,
        Parameter::Every,
        Parameter::Tolerance,
        Parameter::Iterations,
        Parameter::SketchRows,
        Parameter::Batch,
    ];

    /// The parameters that the program uses.
    pub fn of(listing: &Listing) -> Vec<Parameter> {
        let matters = |parameter: &Parameter| match parameter {
            Parameter::Step => listing.reads_step(),
            Parameter::Mu => listing.finds(Reg::MU),
            Parameter::Lambda => listing.finds(Reg::LAMBDA),
            Parameter::Every => listing.refreshes(),
            Parameter::Tolerance | Parameter::Iterations => listing.loops(),
            Parameter::SketchRows => listing.has_sketch(),
            Parameter::Batch => listing.has_sample(),
        };
        Parameter::ALL.into_iter().filter(matters).collect()
    }

    /// Name in code.
    pub fn name(self) -> &'static str {
        match self {
            Parameter::Step => "step",
            Parameter::Mu => "mu",
            // `lambda` is a reserved word in Python.
            Parameter::Lambda => "lam",
            Parameter::Every => "every",
            Parameter::Tolerance => "tolerance",
            Parameter::Iterations => "iterations",
            Parameter::SketchRows => "sketch_rows",
            Parameter::Batch => "batch",
        }
    }

    /// Symbol in formulas.
    pub fn symbol(self) -> &'static str {
        match self {
            Parameter::Step => "η",
            Parameter::Mu => "μ",
            Parameter::Lambda => "λ",
            Parameter::Every => "k",
            Parameter::Tolerance => "τ",
            Parameter::Iterations => "T",
            Parameter::SketchRows => "s",
            Parameter::Batch => "k",
        }
    }

    /// Description.
    pub fn doc(self) -> &'static str {
        match self {
            Parameter::Step => "the step size",
            Parameter::Mu => "the number to be tuned beside it",
            Parameter::Lambda => "the regularization parameter",
            Parameter::Every => "the iterations from one refresh to the next",
            Parameter::Tolerance => "the tolerance",
            Parameter::Iterations => "the largest number of iterations",
            Parameter::SketchRows => "the rows of a sketch",
            Parameter::Batch => "the rows of a sample",
        }
    }

    /// The literal for these settings, valid in every language. The tolerance is 0, so that all iterations are run.
    pub fn value(self, settings: &RunSettings) -> String {
        match self {
            Parameter::Step => format!("{:?}", settings.step),
            Parameter::Mu => format!("{:?}", settings.mu),
            Parameter::Lambda => format!("{TRIAL_LAMBDA:?}"),
            Parameter::Every => settings.every.to_string(),
            Parameter::Tolerance => "0.0".into(),
            Parameter::Iterations => settings.iterations.to_string(),
            Parameter::SketchRows => settings.sketch_rows.to_string(),
            Parameter::Batch => settings.batch.to_string(),
        }
    }

    /// Default value, as a formula in m and n.
    pub fn default(self, export: &Export) -> String {
        let defaults = &export.defaults;
        match self {
            Parameter::Step => match export.step() {
                Some(step) => format!("{step}"),
                None => export.run_loop.step().into(),
            },
            Parameter::Mu => format!("{}", defaults.mu),
            Parameter::Lambda => "0".into(),
            Parameter::Every => format!("{}", defaults.every),
            Parameter::Tolerance => format!("{:e}", defaults.tolerance),
            Parameter::Iterations => format!("{}", defaults.iterations),
            Parameter::SketchRows => match defaults.sketch_factor {
                whole if whole.fract() == 0.0 => format!("min({whole}n, m)"),
                factor => format!("min(⌈{factor}n⌉, m)"),
            },
            Parameter::Batch => format!("min({}, m)", defaults.batch),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_the_executors_own() {
        for (rows, cols) in [(10_000, 50), (200, 5), (30, 20)] {
            let own = RunSettings { iterations: 1000, ..RunSettings::for_size(rows, cols) };
            assert_eq!(Defaults::default().settings(rows, cols), own);
        }
    }
}

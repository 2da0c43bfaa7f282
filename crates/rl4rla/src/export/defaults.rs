//! What an exported function is called with if nothing else is said.

use super::listing::Listing;
use crate::execute::{Sampling, Settings, SketchKind};
use serde::Serialize;

/// Settings that do not depend on the size of a problem.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Defaults {
    /// T, the number of iterations.
    pub iterations: usize,
    /// η, the step size.
    pub step: f64,
    /// The kind of sketch.
    pub sketch: SketchKind,
    /// s/n, the rows of a sketch per column of the data; a sketch is never taller than the data.
    pub sketch_factor: f64,
    /// k, the rows of a sample; no more than the data have.
    pub batch: usize,
    /// How rows are drawn.
    pub sampling: Sampling,
}

impl Default for Defaults {
    /// The executor's own for large problems.
    fn default() -> Defaults {
        let (rows, cols) = (1_000_000, 100);
        let settings = Settings::for_size(rows, cols);
        Defaults {
            iterations: settings.iterations,
            step: settings.step,
            sketch: settings.sketch,
            sketch_factor: settings.sketch_rows as f64 / cols as f64,
            batch: settings.batch,
            sampling: settings.sampling,
        }
    }
}

impl Defaults {
    /// How rows are drawn, in words.
    pub fn sampling_words(&self) -> &'static str {
        match self.sampling {
            Sampling::Unbiased => "rows sampled with replacement, row i times 1/√(k·pᵢ)",
            Sampling::Released => "rows sampled without replacement and not scaled",
        }
    }

    /// The settings that they are for a problem of this size.
    pub fn settings(&self, rows: usize, cols: usize) -> Settings {
        let sketch_rows = ((self.sketch_factor * cols as f64).ceil() as usize).clamp(1, rows.max(1));
        Settings {
            iterations: self.iterations,
            step: self.step,
            sketch: self.sketch,
            sketch_rows,
            batch: self.batch.clamp(1, rows.max(1)),
            sampling: self.sampling,
            ..Settings::for_size(rows, cols)
        }
    }
}

/// A number that an exported function takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Parameter {
    /// η.
    Step,
    /// T.
    Iterations,
    /// s.
    SketchRows,
    /// k.
    Batch,
}

impl Parameter {
    /// All of them.
    pub const ALL: [Parameter; 4] =
        [Parameter::Step, Parameter::Iterations, Parameter::SketchRows, Parameter::Batch];

    /// Those that matter to a program.
    pub fn of(listing: &Listing) -> Vec<Parameter> {
        let matters = |parameter: &Parameter| match parameter {
            Parameter::Step => listing.reads_step(),
            Parameter::Iterations => listing.loops(),
            Parameter::SketchRows => listing.has_sketch(),
            Parameter::Batch => listing.has_sample(),
        };
        Parameter::ALL.into_iter().filter(matters).collect()
    }

    /// Its name in code.
    pub fn name(self) -> &'static str {
        match self {
            Parameter::Step => "step",
            Parameter::Iterations => "iterations",
            Parameter::SketchRows => "sketch_rows",
            Parameter::Batch => "batch",
        }
    }

    /// Its symbol in formulas.
    pub fn symbol(self) -> &'static str {
        match self {
            Parameter::Step => "η",
            Parameter::Iterations => "T",
            Parameter::SketchRows => "s",
            Parameter::Batch => "k",
        }
    }

    /// What it is, in words.
    pub fn doc(self) -> &'static str {
        match self {
            Parameter::Step => "the step size",
            Parameter::Iterations => "the number of iterations",
            Parameter::SketchRows => "the rows of a sketch",
            Parameter::Batch => "the rows of a sample",
        }
    }

    /// Its number in these settings, as all languages write it.
    pub fn value(self, settings: &Settings) -> String {
        match self {
            Parameter::Step => format!("{:?}", settings.step),
            Parameter::Iterations => settings.iterations.to_string(),
            Parameter::SketchRows => settings.sketch_rows.to_string(),
            Parameter::Batch => settings.batch.to_string(),
        }
    }

    /// What it is if nothing is said, as a formula in m and n.
    pub fn default(self, defaults: &Defaults) -> String {
        match self {
            Parameter::Step => format!("{}", defaults.step),
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
            assert_eq!(Defaults::default().settings(rows, cols), Settings::for_size(rows, cols));
        }
    }
}

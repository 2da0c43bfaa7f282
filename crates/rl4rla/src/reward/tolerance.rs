//! Tolerance: the work a method needs to reach a given accuracy, at the size the user cares about.
//!
//! reward = w₀ / (w₀ + w),  w = work of setup and of t iterations,  t = the first with excess ≤ ε
//!
//! where w₀ is the work of the task's direct solver, QR for linear systems. The reward is 1/2 at equal work, 1 at no
//! work, and 0 if the tolerance was not reached. Averaged over instances of mixed condition numbers, it has no
//! weights to choose.

use crate::execute::RunSettings;
use crate::problem::Task;
use crate::program::{ProgramCost, Sizes};
use serde::{Deserialize, Serialize};

/// Unit of work.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// Floating-point operations.
    Flops,
    /// Passes over A, for when data movement dominates.
    Passes,
}

/// The unit of work, and the problem size it is evaluated at.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Charge {
    /// What is counted.
    pub unit: Unit,
    /// Rows of the problem that the cost is evaluated for; the runs may be smaller.
    pub rows: usize,
    /// Its columns.
    pub cols: usize,
}

impl Charge {
    /// The sizes at which the cost is evaluated: s/n and the batch size are those of the run.
    pub(crate) fn sizes(&self, settings: &RunSettings, run_cols: usize) -> Sizes {
        let ratio = settings.sketch_rows as f64 / run_cols as f64;
        let sketch_rows = ((ratio * self.cols as f64).round() as usize).min(self.rows);
        RunSettings { sketch_rows, ..settings.clone() }.sizes(self.rows, self.cols)
    }

    /// The work of setup and of `iterations` iterations.
    pub fn work(
        &self,
        cost: &ProgramCost,
        settings: &RunSettings,
        run_cols: usize,
        iterations: usize,
    ) -> f64 {
        let sizes = self.sizes(settings, run_cols);
        match self.unit {
            Unit::Flops => cost.flops(&sizes, iterations),
            Unit::Passes => cost.passes(&sizes, iterations),
        }
    }

    /// w₀ / (w₀ + w).
    pub fn reward(&self, task: &dyn Task, work: f64) -> f64 {
        let [flops, passes] = task.direct(self.rows as f64, self.cols as f64);
        let direct = match self.unit {
            Unit::Flops => flops,
            Unit::Passes => passes,
        };
        direct / (direct + work)
    }
}

/// The first iteration whose excess is at most ε.
pub fn reached(excesses: &[f64], epsilon: f64) -> Option<usize> {
    excesses.iter().position(|&excess| excess <= epsilon)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::{Canonical, Entry, Geometry, LiveOut, Model};

    #[test]
    fn first_hit() {
        assert_eq!(reached(&[1.0, 0.1, 1e-9, 1e-3], 1e-6), Some(2));
        assert_eq!(reached(&[1.0, f64::NAN], 1e-6), None);
    }

    #[test]
    fn charged_at_the_users_size() {
        let entry = Entry::named("ls-gd").unwrap();
        let live = Canonical::new(&entry.document.program, LiveOut::Finished);
        let cost = ProgramCost::of(&live, Geometry::Tall, Model::True).unwrap();
        let settings = RunSettings::for_size(2000, 50);
        let charge = Charge { unit: Unit::Flops, rows: 1_000_000, cols: 500 };
        assert_eq!(charge.work(&cost, &settings, 50, 3), 3.0 * (4.0 * 5e8 + 1e6 + 1000.0));
        let passes = Charge { unit: Unit::Passes, ..charge };
        assert_eq!(passes.work(&cost, &settings, 50, 3), 6.0);
        assert_eq!(passes.reward(&crate::problem::Linear, 1.0), 0.5);
    }
}

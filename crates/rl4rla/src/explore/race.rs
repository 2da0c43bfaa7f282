//! Racing: settings are compared on one instance after the other, and those that fall behind drop out.

use super::problem_set::ProblemSet;
use super::spec::ExploreSpec;
use crate::execute::SketchKind;
use crate::program::{Program, Reg};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// The tunable numbers of a program.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Tunables {
    /// η.
    pub step: f64,
    /// μ, 0 for a program that does not read it.
    pub mu: f64,
    /// The kind of sketch.
    pub sketch: SketchKind,
    /// Rows of a sketch, as a multiple of n.
    pub sketch_factor: f64,
}

/// Rows of a sketch that are tried, as multiples of n.
pub(super) const FACTORS: [f64; 9] = [2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0, 32.0];

/// The kinds of sketches that are tried. A Gaussian sketch is no better than the others and takes 2s flops per entry.
const KINDS: [SketchKind; 5] =
    [SketchKind::CountSketch, SketchKind::Sjlt2, SketchKind::Sjlt4, SketchKind::Sjlt, SketchKind::Srht];

/// The same for square problems, where only a sketch of a few rows is worth its work.
const SQUARE_FACTORS: [f64; 8] = [0.02, 0.05, 0.08, 0.1, 0.15, 0.2, 0.3, 0.5];

/// The share of settings that stay in the race after each instance.
const SURVIVORS: usize = 3;

/// Distances of the step sizes and of the values of μ that race.
const STEP_DISTANCE: f64 = 0.05;
const MU_DISTANCE: f64 = 0.1;

/// Step sizes that are tried for programs that have one to choose.
pub fn step_sizes() -> Vec<f64> {
    (5..=24).map(|i| f64::from(i) / 20.0).collect()
}

/// The settings with the highest mean reward for a program, and that reward. A program whose step size is part of its
/// formulas takes η = 1.
pub fn tuned(spec: &ExploreSpec, problems: &ProblemSet, program: &Program, steps: &[f64]) -> (Tunables, f64) {
    let sketches = program.instructions().any(|(_, _, instruction)| instruction.op.sketches());
    let kinds = match spec.fixed_sketch {
        Some(kind) => vec![kind],
        None if sketches => KINDS.to_vec(),
        None => vec![spec.sketch],
    };
    let factors = match spec.fixed_factor {
        Some(factor) => vec![factor],
        None if sketches && spec.is_square() => SQUARE_FACTORS.to_vec(),
        None if sketches => FACTORS.to_vec(),
        None => vec![spec.sketch_factor],
    };
    let reads_mu = program.instructions().any(|(_, _, instruction)| instruction.reads().contains(Reg::MU));
    let momenta: Vec<f64> = if reads_mu { (0..=7).map(|i| f64::from(i) / 10.0).collect() } else { vec![0.0] };
    let mut entrants: Vec<(Tunables, f64)> = Vec::new();
    for &sketch in &kinds {
        for &sketch_factor in &factors {
            for &step in steps {
                entrants
                    .extend(momenta.iter().map(|&mu| (Tunables { step, mu, sketch, sketch_factor }, 0.0)));
            }
        }
    }
    if program.iteration.iter().any(|instruction| instruction.op.sketches()) {
        // A new sketch in every iteration takes long: what would be worse after a single one does not race.
        let sketch = spec.fixed_sketch.unwrap_or(spec.sketch);
        let sketch_factor = spec.fixed_factor.unwrap_or(spec.sketch_factor);
        let usual = Tunables { step: 1.0, mu: 0.0, sketch, sketch_factor };
        let known = problems.tuned(&usual).score(program, 0..problems.len());
        entrants.retain(|(tunables, _)| problems.tuned(tunables).most(program) >= known);
    }
    // The hardest problem is the last of the set and says most.
    for (round, i) in (0..problems.len()).rev().enumerate() {
        entrants.par_iter_mut().for_each(|(tunables, sum)| {
            *sum += problems.tuned(tunables).score(program, std::iter::once(i));
        });
        entrants.sort_by(|a, b| b.1.total_cmp(&a.1));
        if round + 1 < problems.len() {
            let stay = (entrants.len() / SURVIVORS).max(12);
            entrants.truncate(stay);
        }
    }
    let (mut best, sum) = entrants[0];
    let mut reward = sum / problems.len() as f64;
    // Numbers between those of the grid, around the winner.
    for fraction in [0.5, 0.25] {
        let around = |value: f64, distance: f64, varies: bool| match varies {
            true => vec![value - fraction * distance, value, value + fraction * distance],
            false => vec![value],
        };
        let mut near = Vec::new();
        for step in around(best.step, STEP_DISTANCE, steps.len() > 1) {
            let momenta = around(best.mu, MU_DISTANCE, reads_mu).into_iter().filter(|mu| *mu >= 0.0);
            near.extend(momenta.map(|mu| Tunables { step, mu, ..best }));
        }
        let score = |tunables: &Tunables| problems.tuned(tunables).score(program, 0..problems.len());
        let rewards: Vec<f64> = near.par_iter().map(score).collect();
        for (tunables, new) in near.into_iter().zip(rewards) {
            if new > reward {
                (best, reward) = (tunables, new);
            }
        }
    }
    (best, reward)
}

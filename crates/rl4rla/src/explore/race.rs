//! Racing: settings are compared on one instance after the other, and those that fall behind drop out.

use super::problem_set::ProblemSet;
use super::spec::ExploreSpec;
use crate::execute::{RunSettings, SketchKind};
use crate::program::{Program, Reg};
use rayon::prelude::*;

/// The tunable numbers of a program.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Tunables {
    /// η.
    pub step: f64,
    /// μ, 0 for a program that does not read it.
    pub mu: f64,
    /// The kind of sketch.
    pub sketch: SketchKind,
    /// Rows of a sketch, as a multiple of n.
    pub sketch_factor: f64,
    /// Rows of a sample, as a multiple of n.
    pub batch: f64,
    /// Iterations from one refresh to the next.
    pub every: usize,
}

impl Tunables {
    /// Rows of a sample, as a multiple of n, where they are not tuned.
    pub(super) const USUAL_BATCH: f64 = 1.0;

    /// Those of a program before it is tuned.
    pub(super) fn usual(spec: &ExploreSpec) -> Tunables {
        let sketch = spec.fixed_sketch.unwrap_or(spec.sketch);
        let sketch_factor = spec.fixed_factor.unwrap_or(spec.sketch_factor);
        let (batch, every) = (Tunables::USUAL_BATCH, RunSettings::EVERY);
        Tunables { step: 1.0, mu: 0.0, sketch, sketch_factor, batch, every }
    }
}

/// Rows of a sketch that are tried, as multiples of n.
pub(super) const FACTORS: [f64; 9] = [2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0, 32.0];

/// The kinds of sketches that are tried. A Gaussian sketch is no better than the others and takes 2s flops per entry.
const KINDS: [SketchKind; 5] =
    [SketchKind::CountSketch, SketchKind::Sjlt2, SketchKind::Sjlt4, SketchKind::Sjlt, SketchKind::Srht];

/// The same for square problems, where only a sketch of a few rows is worth its work.
const SQUARE_FACTORS: [f64; 8] = [0.02, 0.05, 0.08, 0.1, 0.15, 0.2, 0.3, 0.5];

/// Rows of a sample that are tried, as multiples of n: block methods take fewer than n, gradients more.
pub(super) const BATCHES: [f64; 5] = [0.25, 0.5, 1.0, 2.0, 4.0];

/// The share of settings that stay in the race after each instance.
const SURVIVORS: usize = 3;

/// The distance of the step sizes that race.
const STEP_DISTANCE: f64 = 0.05;

/// Values of μ that are tried: in theory the best is n/s (Epperly 2024), and s may be as large as 32n.
const MOMENTA: [f64; 10] = [0.0, 0.015, 0.03, 0.06, 0.12, 0.18, 0.25, 0.35, 0.5, 0.7];

/// Iterations from one refresh to the next that are tried.
const EVERY: [usize; 6] = [2, 4, 8, 16, 32, 64];

/// Step sizes that are tried for programs that have one to choose.
pub fn step_sizes() -> Vec<f64> {
    (5..=24).map(|i| f64::from(i) / 20.0).collect()
}

/// Whether a program samples rows in every iteration.
pub fn samples_always(program: &Program) -> bool {
    program.iteration.iter().any(|instruction| instruction.op.samples())
}

/// Whether a program that samples in every iteration can reach the tolerance on the first instance, with any of these
/// batches and step sizes. With a constant step it stalls where b has a part outside the range of A.
pub fn converges(spec: &ExploreSpec, problems: &ProblemSet, program: &Program) -> bool {
    let all = BATCHES.iter().flat_map(|&batch| [1.0, 0.5, 0.25].map(|step| (batch, step)));
    let reached: Vec<bool> = all
        .collect::<Vec<_>>()
        .into_par_iter()
        .map(|(batch, step)| {
            let tunables = Tunables { step, batch, ..Tunables::usual(spec) };
            problems.tuned(&tunables).run(program, 0).reached.is_some()
        })
        .collect();
    reached.contains(&true)
}

/// The settings with the highest mean reward for a program, and that reward. A program whose step size is part of its
/// formulas takes η = 1.
pub fn tuned(spec: &ExploreSpec, problems: &ProblemSet, program: &Program, steps: &[f64]) -> (Tunables, f64) {
    let sketches = program.instructions().any(|(_, _, instruction)| instruction.op.sketches());
    let samples = program.instructions().any(|(_, _, instruction)| instruction.op.samples());
    let batches = if samples { BATCHES.to_vec() } else { vec![Tunables::USUAL_BATCH] };
    // The noise of its samples, and not the preconditioner, limits a program that samples in every iteration.
    let sketches = sketches && !samples_always(program);
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
    let momenta = if reads_mu { MOMENTA.to_vec() } else { vec![0.0] };
    let every = RunSettings::EVERY;
    let mut entrants: Vec<(Tunables, f64)> = Vec::new();
    for &sketch in &kinds {
        for &sketch_factor in &factors {
            for (&step, &batch) in
                steps.iter().flat_map(|step| batches.iter().map(move |batch| (step, batch)))
            {
                let tunables = |&mu: &f64| Tunables { step, mu, sketch, sketch_factor, batch, every };
                entrants.extend(momenta.iter().map(|mu| (tunables(mu), 0.0)));
            }
        }
    }
    if program.iteration.iter().any(|instruction| instruction.op.sketches()) {
        // A new sketch in every iteration takes long: what would be worse after a single one does not race.
        let known = problems.tuned(&Tunables::usual(spec)).score(program, 0..problems.len());
        entrants.retain(|(tunables, _)| problems.tuned(tunables).most(program) >= known);
    }
    // The hardest problem is the last of the set and says most.
    for (round, i) in (0..problems.len()).rev().enumerate() {
        entrants.par_iter_mut().for_each(|(tunables, sum)| {
            *sum += problems.tuned(tunables).score(program, i..i + 1);
        });
        entrants.sort_by(|a, b| b.1.total_cmp(&a.1));
        if round + 1 < problems.len() {
            let stay = (entrants.len() / SURVIVORS).max(12);
            entrants.truncate(stay);
        }
    }
    let (mut best, sum) = entrants[0];
    let mut reward = sum / problems.len() as f64;
    let mut improve = |near: Vec<Tunables>| {
        let score = |tunables: &Tunables| problems.tuned(tunables).score(program, 0..problems.len());
        let rewards: Vec<f64> = near.par_iter().map(score).collect();
        for (tunables, new) in near.into_iter().zip(rewards) {
            if new > reward {
                (best, reward) = (tunables, new);
            }
        }
        best
    };
    // How often a value is refreshed hardly depends on the rest.
    let refreshes = program.instructions().any(|(_, _, instruction)| instruction.op.refreshes());
    let spans = EVERY.iter().filter(|_| refreshes);
    let mut around_best = improve(spans.map(|&every| Tunables { every, ..entrants[0].0 }).collect());
    // Numbers between those of the grid, around the winner.
    for fraction in [0.5, 0.25] {
        let around = |value: f64, distance: f64, varies: bool| match varies {
            true => vec![value - fraction * distance, value, value + fraction * distance],
            false => vec![value],
        };
        let mut near = Vec::new();
        for step in around(around_best.step, STEP_DISTANCE, steps.len() > 1) {
            let momenta = around(around_best.mu, 0.5 * around_best.mu, reads_mu);
            near.extend(momenta.into_iter().map(|mu| Tunables { step, mu, ..around_best }));
        }
        around_best = improve(near);
    }
    (best, reward)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::Family;
    use crate::program::Entry;
    use crate::rng::Stream;

    fn spec(outside: f64) -> ExploreSpec {
        let spec = ExploreSpec::least_squares();
        ExploreSpec { family: Family { outside, ..spec.family }, conditions: vec![100.0], ..spec }
    }

    fn named(name: &str) -> &'static Program {
        &Entry::named(name).unwrap().document.program
    }

    /// With a constant step the noise of samples is that of the residual: zero at the solution of a consistent system.
    #[test]
    fn samples_converge_where_there_is_nothing_outside_the_range() {
        for name in ["pwsgd", "sketched-precond-sgd"] {
            let converges = |outside: f64| {
                let spec = spec(outside);
                converges(&spec, &ProblemSet::draw(&spec, 20, 1, &Stream::new(3)).unwrap(), named(name))
            };
            assert!(converges(0.0) && !converges(0.7), "{name}");
        }
    }

    #[test]
    fn a_batch_is_tuned_and_charged_in_proportion_to_the_columns() {
        let (spec, program) = (spec(0.0), named("sketched-precond-sgd"));
        let problems = ProblemSet::draw(&spec, 20, 1, &Stream::new(3)).unwrap();
        let (best, reward) = tuned(&spec, &problems, program, &step_sizes());
        assert!(BATCHES.contains(&best.batch), "{best:?}");
        let other = |batch: f64| problems.tuned(&Tunables { batch, ..best }).score(program, 0..1);
        assert!(BATCHES.iter().all(|batch| other(*batch) <= reward), "{best:?}");
        assert!(BATCHES.iter().any(|batch| other(*batch) < reward), "a batch makes a difference");
        let flops =
            |batch: f64| problems.tuned(&Tunables { batch, ..best }).flops(program).unwrap().iteration;
        // With 2n rows at n = 500, and not with the 40 rows of the runs: two products of 2·1000·500 flops, one with R1 of
        // 2·500², and what a sample of 1000 rows takes.
        let rest = flops(2.0) - 2.0 * 1e6 - 2.0 * 500.0 * 500.0;
        assert!((0.0..=1e6).contains(&rest), "{}", flops(2.0));
        assert!(flops(4.0) - flops(2.0) >= 2.0 * 1e6, "{}", flops(4.0));
        let (plain, _) = tuned(&spec, &problems, named("cgls"), &[1.0]);
        assert_eq!(plain.batch, Tunables::USUAL_BATCH);
    }
}

//! The execution test for programs that draw different random objects: compares distributions instead of iterates.

use super::budget;
use super::numeric::{ITERATIONS, KAPPA, MU, Numeric, STEP, Start, draw, iterates, named};
use crate::execute::RunSettings;
use crate::linalg::norm;
use crate::problem::{Family, Leverage};
use crate::program::{Geometry, Program, Signature};
use crate::rng::Stream;

/// Replicates of a comparison in distribution: few at first, many if few do not distinguish the distributions.
const REPLICATES: [u64; 2] = [1000, 16_000];
/// The probability, over all its functionals, that a comparison calls equal distributions different.
pub const LEVEL: f64 = 1e-6;

/// A number measured on an iterate.
type Functional = fn(&[f64]) -> f64;

/// Compares two programs that draw different random objects: the distributions of a few functionals of the last iterate, by
/// the two-sample Kolmogorov-Smirnov test, on instances with highly and with moderately nonuniform leverage.
pub fn compare_in_law(p: &Program, q: &Program, signature: impl Into<Signature>, from: Start) -> Numeric {
    let signature = signature.into();
    let Signature { geometry: shape, update, .. } = signature;
    let functionals: [(&str, Functional); 3] =
        [("the norm of x", norm), ("the first entry of x", |x| x[0]), ("the sum of x", |x| x.iter().sum())];
    let (sizes, outside) = match shape {
        Geometry::Tall => (&[(60, 4), (30, 4), (16, 4)][..], 0.3),
        Geometry::Square | Geometry::Symmetric => (&[(6, 6)][..], 0.0),
    };
    let name = if shape == Geometry::Symmetric { "psd" } else { "mid-cond" };
    let leverages =
        if shape == Geometry::Tall { &[Leverage::High, Leverage::Low][..] } else { &[Leverage::Low] };
    let settings = |(rows, cols): (usize, usize)| RunSettings {
        iterations: 2 * ITERATIONS,
        step: STEP,
        mu: MU,
        sketch_rows: 8.min(rows),
        batch: 5,
        ..RunSettings::for_size(rows, cols)
    };
    // The work of one replicate.
    let work = |&(rows, cols): &(usize, usize)| {
        let one = |program| budget::work(program, signature, &settings((rows, cols)), rows, cols);
        leverages.len() as f64 * (one(p) + one(q))
    };
    let affordable = |size: &(usize, usize)| (budget::MOST / work(size)) as u64;
    let Some(&size) = sizes.iter().find(|size| affordable(size) >= REPLICATES[0]) else {
        return Numeric::Unclear(
            "comparing the distributions of their results would take too much work".into(),
        );
    };
    let ((rows, cols), settings) = (size, settings(size));
    let share = LEVEL / ((functionals.len() + 1) * leverages.len() * REPLICATES.len()) as f64;
    let family = |leverage| Family { rows, cols, outside, leverage, condition: Some(KAPPA), ..named(name) };
    let mut comparable = false;
    let replicates = REPLICATES.map(|replicates| replicates.min(affordable(&size)));
    for replicates in replicates {
        for &leverage in leverages {
            let instance = draw(&family(leverage), "law", 0);
            // The last iterates, and the number of runs that did not fail.
            let sample = |program: &Program, label: &str| -> (Vec<Vec<f64>>, usize) {
                let stream = Stream::new(2).derive(label, replicates);
                let run = |i| {
                    let stream = stream.derive("replicate", i);
                    iterates(program, &instance, update, &settings, from, &stream)
                };
                let runs: Vec<Vec<Vec<f64>>> = (0..replicates).map(run).collect();
                let complete = runs.iter().filter(|iterates| iterates.len() == settings.iterations).count();
                (runs.into_iter().filter_map(|mut iterates| iterates.pop()).collect(), complete)
            };
            let ((xs, x_ends), (ys, y_ends)) = (sample(p, "p"), sample(q, "q"));
            let all = replicates as usize;
            if x_ends.abs_diff(y_ends) as f64 / all as f64 > critical(all, all, share) {
                return Numeric::DifferInLaw { functional: "the failure rate" };
            }
            if xs.len().min(ys.len()) < replicates as usize / 2 {
                continue;
            }
            comparable = true;
            for (name, functional) in functionals {
                let values = |sample: &[Vec<f64>]| sample.iter().map(|x| functional(x)).collect::<Vec<f64>>();
                if kolmogorov_smirnov(values(&xs), values(&ys)) > critical(xs.len(), ys.len(), share) {
                    return Numeric::DifferInLaw { functional: name };
                }
            }
        }
        if !comparable {
            return Numeric::Unclear("the programs fail on most draws".into());
        }
    }
    let [_, most] = replicates;
    let cut = if most < REPLICATES[1] { ", fewer than usual to bound the work" } else { "" };
    Numeric::Unclear(format!(
        "the programs draw different random objects, but the distributions of their results agree in {most} replicates{cut}"
    ))
}

/// The Kolmogorov-Smirnov statistic: the largest distance between two empirical distribution functions.
fn kolmogorov_smirnov(mut xs: Vec<f64>, mut ys: Vec<f64>) -> f64 {
    xs.sort_by(f64::total_cmp);
    ys.sort_by(f64::total_cmp);
    let share = |sorted: &[f64], t: f64| sorted.partition_point(|v| *v <= t) as f64 / sorted.len() as f64;
    xs.iter().chain(&ys).map(|&t| (share(&xs, t) - share(&ys, t)).abs()).fold(0.0, f64::max)
}

/// The critical value that the statistic exceeds with probability at most `level` if the distributions are equal.
fn critical(m: usize, n: usize, level: f64) -> f64 {
    let (m, n) = (m as f64, n as f64);
    ((2.0 / level).ln() / 2.0 * (m + n) / (m * n)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::Entry;

    #[test]
    fn laws_are_told_apart_at_the_stated_level() {
        let program = |name| &Entry::named(name).unwrap().document.program;
        let [sampled, weighted, sgd] = ["sketched-precond-sgd", "precond-weighted-sgd", "sgd"].map(program);
        for from in [Start::Anywhere, Start::True] {
            let law = compare_in_law(sampled, weighted, Geometry::Tall, from);
            assert!(matches!(law, Numeric::DifferInLaw { .. }), "{law:?}");
        }
        let same = compare_in_law(sgd, sgd, Geometry::Tall, Start::Anywhere);
        assert!(matches!(same, Numeric::Unclear(_)), "{same:?}");
        let gap = kolmogorov_smirnov(vec![1.0, 2.0, 3.0], vec![2.5, 2.6, 9.0]);
        assert!((gap - 2.0 / 3.0).abs() < 1e-12);
    }
}

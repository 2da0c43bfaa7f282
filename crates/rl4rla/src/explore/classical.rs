//! Classical solvers on the final instances: how much more work they take than a program.

use super::problem_set::{CandidateRun, ProblemSet};
use super::spec::ExploreSpec;
use crate::baseline::{Baseline, MethodGroup, Request};
use crate::execute::SketchKind;
use crate::program::ProgramFlops;
use crate::rng::Stream;
use crate::statistics::Summary;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// What a solver costs on an m×n matrix. Products with A or Aᵀ and sketches of A are passes, as for programs.
struct SolverCost {
    /// The name of the baseline.
    name: &'static str,
    /// Passes before the first iteration, and in every iteration.
    passes: [f64; 2],
    /// Flops of both, given m and n.
    flops: fn(f64, f64) -> [f64; 2],
}

/// The solvers: direct, iterative, sketched.
static SOLVERS: [SolverCost; 6] = [
    SolverCost { name: "qr", passes: [1.0, 0.0], flops: |m, n| [qr(m, n), 0.0] },
    SolverCost {
        name: "normal-equations",
        passes: [2.0, 0.0],
        flops: |m, n| [m * n * n + 2.0 * m * n + n.powi(3) / 3.0, 0.0],
    },
    // The vectors of an iteration take 3m + 5n multiplications (Paige and Saunders 1982).
    SolverCost {
        name: "lsqr",
        passes: [1.0, 2.0],
        flops: |m, n| [2.0 * m * n, 4.0 * m * n + 6.0 * m + 10.0 * n],
    },
    SolverCost {
        name: "cgls",
        passes: [1.0, 2.0],
        flops: |m, n| [2.0 * m * n, 4.0 * m * n + 4.0 * m + 6.0 * n],
    },
    // A sketch of [A b], its QR, the residual and the gradient at the start.
    SolverCost {
        name: "blendenpik",
        passes: [3.0, 2.0],
        flops: |m, n| [sketched(m, n, 4.0) + 4.0 * m * n, 4.0 * m * n + 2.0 * n * n + 6.0 * m + 10.0 * n],
    },
    // The same, for both refinements.
    SolverCost {
        name: "fossils",
        passes: [5.0, 2.0],
        flops: |m, n| [sketched(m, n, 12.0) + 8.0 * m * n, 4.0 * m * n + 2.0 * n * n + 6.0 * n],
    },
];

fn qr(m: f64, n: f64) -> f64 {
    2.0 * m * n * n - 2.0 / 3.0 * n.powi(3)
}

/// Flops of a sparse sketch of [A b] of this many rows per column, and of its QR.
fn sketched(m: f64, n: f64, factor: f64) -> f64 {
    let rows = (factor * n).min(m);
    SketchKind::Sjlt.work(rows as usize, m as usize) * m * (n + 1.0) + qr(rows, n)
}

/// What a solver did on the final instances.
pub struct SolvedInstances {
    solver: &'static SolverCost,
    /// Flops of setup and of an iteration, at the size that work is charged for.
    flops: [f64; 2],
    /// Iterations to the tolerance on every instance; `None` where it was not reached.
    iterations: Vec<Option<usize>>,
}

/// A classical solver beside a program, on the same instances.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct SolverComparison {
    /// The name of the baseline.
    pub solver: String,
    /// Number of runs that reached the tolerance.
    pub reached: usize,
    /// Number of runs.
    pub runs: usize,
    /// The mean number of passes over A of the runs that reached it.
    pub passes: Option<f64>,
    /// The mean flops of these, at the size that work is charged for.
    pub flops: Option<f64>,
    /// Its flops divided by those of the program, over the instances on which both reached the tolerance: above 1 the
    /// program wins, below 1 the solver.
    pub ratio: Option<f64>,
}

/// Runs the classical solvers of a task on every instance of a set.
pub fn solved(spec: &ExploreSpec, problems: &ProblemSet, stream: &Stream) -> Vec<SolvedInstances> {
    let info = spec.family.kind.info();
    let fits = |solver: &SolverCost| {
        let baseline = Baseline::named(solver.name)?;
        // A sketch of a square matrix has as many rows as the matrix.
        let makes_sense = !(info.square && baseline.info().randomized);
        (baseline.info().task.name() == info.task.name() && makes_sense).then_some(baseline)
    };
    let (m, n) = (spec.charge.rows as f64, spec.charge.cols as f64);
    let on_all = |solver: &'static SolverCost| {
        let baseline = fits(solver)?;
        let on = |i: usize| {
            let iterations = || iterations(baseline, problems, (i, spec.limit), stream);
            problems.recalled((solver.name, i, stream), iterations)
        };
        let iterations = (0..problems.len()).into_par_iter().map(on).collect();
        Some(SolvedInstances { solver, flops: (solver.flops)(m, n), iterations })
    };
    SOLVERS.iter().filter_map(on_all).collect()
}

/// The smallest number of iterations with which a solver reaches the tolerance, as if it knew when to stop.
fn iterations(
    baseline: Baseline,
    problems: &ProblemSet,
    (i, limit): (usize, usize),
    stream: &Stream,
) -> Option<usize> {
    let prepared = &problems.instances[i];
    // Iterations on A and b make the same iterates in reduced coordinates, in a fraction of the time.
    let is_reducible = baseline.info().group == MethodGroup::Iterative;
    let problem = if is_reducible { prepared.problem() } else { prepared.instance() };
    let stream = stream.derive("instance", i as u64);
    // The iterations made, if they reach the tolerance.
    let reached = |most: usize| {
        let request = Request { iterations: Some(most), ..Request::new(&problem.A, &problem.b, stream) };
        let solution = baseline.solve(&request).ok()?;
        (problem.measure(&solution.x).1 <= problems.tolerance(i)).then_some(solution.iterations)
    };
    let mut enough = reached(limit)?;
    let mut too_few = 0;
    while enough > too_few + 1 {
        let middle = usize::midpoint(too_few, enough);
        match reached(middle) {
            Some(_) => enough = middle,
            None => too_few = middle,
        }
    }
    Some(enough)
}

/// The solvers beside a program with these flops and these runs.
pub fn compared(
    solvers: &[SolvedInstances],
    flops: Option<ProgramFlops>,
    runs: &[CandidateRun],
) -> Vec<SolverComparison> {
    let total = |[setup, iteration]: [f64; 2], count: usize| setup + iteration * count as f64;
    let mean = |numbers: Vec<f64>| (!numbers.is_empty()).then(|| Summary::of(numbers).mean);
    let compare = |solved: &SolvedInstances| {
        let reached: Vec<usize> = solved.iterations.iter().flatten().copied().collect();
        let pairs = solved.iterations.iter().zip(runs);
        let both: Vec<(usize, usize)> =
            pairs.filter_map(|(theirs, ours)| (*theirs).zip(ours.reached)).collect();
        let theirs = mean(both.iter().map(|(count, _)| total(solved.flops, *count)).collect());
        let ours =
            flops.and_then(|flops| mean(both.iter().map(|(_, count)| flops.after(*count as f64)).collect()));
        SolverComparison {
            solver: solved.solver.name.into(),
            reached: reached.len(),
            runs: solved.iterations.len(),
            passes: mean(reached.iter().map(|count| total(solved.solver.passes, *count)).collect()),
            flops: mean(reached.iter().map(|count| total(solved.flops, *count)).collect()),
            ratio: theirs.zip(ours).map(|(theirs, ours)| theirs / ours),
        }
    };
    solvers.iter().map(compare).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by_name<'a>(all: &'a [SolvedInstances], name: &str) -> &'a SolvedInstances {
        all.iter().find(|solved| solved.solver.name == name).expect("it solves linear systems")
    }

    #[test]
    fn every_solver_is_a_baseline_that_is_counted_to_the_tolerance() {
        let spec = ExploreSpec { conditions: vec![10.0, 1e6], ..ExploreSpec::least_squares() };
        let problems = ProblemSet::draw(&spec, 20, 1, &Stream::new(3)).unwrap();
        let all = solved(&spec, &problems, &Stream::new(4));
        assert_eq!(all.len(), SOLVERS.len());
        assert_eq!(by_name(&all, "qr").iterations, [Some(0), Some(0)]);
        // In exact arithmetic both make the same iterates.
        let [lsqr, cgls] = ["lsqr", "cgls"].map(|name| by_name(&all, name).iterations[0].unwrap());
        assert!(lsqr.abs_diff(cgls) <= 1 && (15..=30).contains(&lsqr), "{lsqr} {cgls}");
        let sketched = &by_name(&all, "blendenpik").iterations;
        assert!(sketched[0].unwrap().abs_diff(sketched[1].unwrap()) <= 5, "{sketched:?}");
        // One iteration less is not enough.
        let problem = problems.instances[0].problem();
        let request = Request::new(&problem.A, &problem.b, Stream::new(0));
        let less = Request { iterations: Some(lsqr - 1), ..request };
        let x = Baseline::named("lsqr").unwrap().solve(&less).unwrap().x;
        assert!(problem.measure(&x).1 > problems.tolerance(0));
    }

    #[test]
    fn a_ratio_is_over_the_instances_that_both_have_solved() {
        let solver = SolvedInstances {
            solver: &SOLVERS[2],
            flops: [10.0, 2.0],
            iterations: vec![Some(5), None, Some(20)],
        };
        let reached = |iterations| CandidateRun { reached: iterations, ..CandidateRun::default() };
        let runs = [reached(Some(10)), reached(Some(10)), reached(None)];
        let found = &compared(&[solver], Some(ProgramFlops::steady(0.0, 4.0)), &runs)[0];
        // (10 + 5·2) / (10·4), and the means of 11 and 41 passes, of 20 and 50 flops.
        assert_eq!((found.ratio, found.passes, found.flops), (Some(0.5), Some(26.0), Some(35.0)));
        assert_eq!((found.reached, found.runs), (2, 3));
    }
}

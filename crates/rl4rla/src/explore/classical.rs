//! Classical solvers on the final instances: how much more work they take than a program.

use super::problem_set::{CandidateRun, ProblemSet};
use super::solver_cost::{SOLVERS, SolverCost};
use super::spec::ExploreSpec;
use crate::baseline::{Baseline, MethodGroup, Request};
use crate::program::ProgramFlops;
use crate::rng::Stream;
use crate::statistics::Summary;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

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
        let fits = baseline.info().task.name() == info.task.name() && !(info.square && solver.needs_tall);
        fits.then_some(baseline)
    };
    let (m, n) = (spec.charge.rows as f64, spec.charge.cols as f64);
    let on_all = |solver: &'static SolverCost| {
        let baseline = fits(solver)?;
        let on = |i: usize| {
            let iterations = || iterations((solver, baseline), problems, (i, spec.limit), stream);
            problems.recalled((solver.name, i, stream), iterations)
        };
        let iterations = (0..problems.len()).into_par_iter().map(on).collect();
        Some(SolvedInstances { solver, flops: (solver.flops)(m, n), iterations })
    };
    SOLVERS.iter().filter_map(on_all).collect()
}

/// The smallest number of iterations with which a solver reaches the tolerance on an instance.
fn iterations(
    (solver, baseline): (&SolverCost, Baseline),
    problems: &ProblemSet,
    (i, limit): (usize, usize),
    stream: &Stream,
) -> Option<usize> {
    let prepared = &problems.instances[i];
    // Iterations on A and b make the same iterates in reduced coordinates, in a fraction of the time.
    let is_reducible = baseline.info().group == MethodGroup::Iterative;
    let problem = if is_reducible { prepared.problem() } else { prepared.instance() };
    let new = Request::new(&problem.A, &problem.b, stream.derive("instance", i as u64));
    // What it compares with a tolerance of its own is not the excess: it could end too early.
    let tolerance = (!solver.refines).then_some(0.0);
    let request = Request { lambda: problem.lambda, tolerance, ..new };
    fewest(baseline, &request, limit, |x| problem.measure(x).1 <= problems.tolerance(i))
}

/// The smallest number of iterations, at most `limit`, with which a solver gives a solution that is good enough, as if it
/// knew when to stop.
pub fn fewest(
    baseline: Baseline,
    request: &Request,
    limit: usize,
    is_enough: impl Fn(&[f64]) -> bool,
) -> Option<usize> {
    let reached = |most: usize| {
        let solution = baseline.solve(&Request { iterations: Some(most), ..*request });
        solution.is_ok_and(|solution| is_enough(&solution.x))
    };
    // A direct solver makes no iterations.
    let limit = if baseline.info().group == MethodGroup::Direct { 0 } else { limit };
    // Few are needed as a rule, and far beyond the solution the quotients of conjugate gradients are 0/0: the number is
    // doubled first.
    let (mut too_few, mut enough) = (0, 0);
    while !reached(enough) {
        if enough >= limit {
            return None;
        }
        (too_few, enough) = (enough, limit.min((2 * enough).max(1)));
    }
    while enough > too_few + 1 {
        let middle = usize::midpoint(too_few, enough);
        if reached(middle) { enough = middle } else { too_few = middle }
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
    use crate::problem::Family;
    use crate::program::Entry;
    use std::cell::Cell;

    fn by_name<'a>(all: &'a [SolvedInstances], name: &str) -> &'a SolvedInstances {
        all.iter().find(|solved| solved.solver.name == name).expect("it solves problems of this task")
    }

    #[test]
    fn every_solver_is_a_baseline_that_is_counted_to_the_tolerance() {
        let spec = ExploreSpec { conditions: vec![10.0, 1e6], ..ExploreSpec::least_squares() };
        let problems = ProblemSet::draw(&spec, 20, 1, &Stream::new(3)).unwrap();
        let all = solved(&spec, &problems, &Stream::new(4));
        assert_eq!(all.len(), 6);
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

    /// The solvers on a problem for each condition number of a task with a shift. Each is checked to reach the tolerance
    /// with its iterations and not with one less, to make as many passes as the table says, and, if it is the direct
    /// method of the task, to have its flops.
    fn shifted(family: Family, conditions: [f64; 2]) -> (ProblemSet<'static>, Vec<SolvedInstances>) {
        let spec = ExploreSpec { conditions: conditions.to_vec(), ..ExploreSpec::new(family) };
        let problems = ProblemSet::draw(&spec, family.cols, 1, &Stream::new(3)).unwrap();
        let all = solved(&spec, &problems, &Stream::new(4));
        assert_eq!(all.len(), 3);
        for (solved, i) in all.iter().flat_map(|solved| [(solved, 0), (solved, 1)]) {
            let (solver, Some(count)) = (solved.solver, solved.iterations[i]) else { continue };
            let baseline = Baseline::named(solver.name).unwrap();
            let problem = match baseline.info().group {
                MethodGroup::Iterative => problems.instances[i].problem(),
                _ => problems.instances[i].instance(),
            };
            let new = Request::new(&problem.A, &problem.b, Stream::new(4).derive("instance", i as u64));
            let after = |iterations: usize| {
                let request = Request { lambda: problem.lambda, iterations: Some(iterations), ..new };
                let solution = baseline.solve(&request).unwrap();
                (problem.measure(&solution.x).1 / problems.tolerance(i), solution)
            };
            let (excess, solution) = after(count);
            assert!(excess <= 1.0 && solution.iterations == count, "{} {i}: {excess:e}", solver.name);
            assert_eq!(
                solution.passes,
                solver.passes[0] + solver.passes[1] * count as f64,
                "{}",
                solver.name
            );
            match count.checked_sub(1) {
                Some(less) => assert!(after(less).0 > 1.0, "{} {i}", solver.name),
                None => assert_eq!(solved.flops, [problems.direct(), 0.0], "{}", solver.name),
            }
        }
        (problems, all)
    }

    /// Iterations of a solver, and of the program of the catalogue that should have its iterates.
    fn beside(name: &str, program: &str, (problems, all): &(ProblemSet, Vec<SolvedInstances>)) -> [usize; 2] {
        let program = &Entry::named(program).unwrap().document.program;
        let ours = problems.stepping(1.0).run(program, 0).reached;
        [by_name(all, name).iterations[0], ours].map(|count| count.expect("the tolerance is reached"))
    }

    #[test]
    fn solvers_of_ridge_regression_are_given_its_shift() {
        let family = Family { cols: 20, ..Family::named("ridge").unwrap() };
        let found = shifted(family, [10.0, 1e6]);
        assert_eq!(by_name(&found.1, "ridge-qr").iterations, [Some(0), Some(0)]);
        let [solver, program] = beside("ridge-cgls", "ridge-cg", &found);
        assert!(solver.abs_diff(program) <= 1 && (15..=40).contains(&solver), "{solver} {program}");
        // A sketch takes the condition number away.
        let [plain, sketched] = ["ridge-cgls", "ridge-pcgls"]
            .map(|name| by_name(&found.1, name).iterations.clone())
            .map(|counts| counts[1].unwrap() as f64 / counts[0].unwrap() as f64);
        assert!(plain > 1.2 && sketched < 1.1, "{plain} {sketched}");
        // ‖p‖² and λx take 4n flops more than in CGLS.
        let [ridge, cgls] = ["ridge-cgls", "cgls"].map(|name| {
            let solver = SOLVERS.iter().find(|solver| solver.name == name).unwrap();
            (solver.flops)(1000.0, 50.0)[1]
        });
        assert_eq!(ridge - cgls, 200.0);
    }

    #[test]
    fn solvers_of_definite_systems_are_given_their_shift() {
        let [even, decaying] =
            ["spd", "spd-decay"].map(|name| Family { rows: 120, cols: 120, ..Family::named(name).unwrap() });
        let found = shifted(decaying, [1e4, 1e6]);
        let [cg, nystrom] = ["cg", "nystrom-pcg"].map(|name| by_name(&found.1, name).iterations[1].unwrap());
        assert!(3 * nystrom < cg, "{nystrom} {cg}");
        // A larger shift, so that rounding errors do not delay either.
        let found = shifted(decaying.with_number("lambda", 0.01).unwrap(), [1e4, 1e6]);
        assert_eq!(by_name(&found.1, "cholesky").iterations, [Some(0), Some(0)]);
        let [solver, program] = beside("cg", "shifted-cg", &found);
        assert!(solver.abs_diff(program) <= 1, "{solver} {program}");
        // Without a shift. The error falls by 2((√κ − 1)/(√κ + 1))ᵏ at least: κ = 30 takes at most 65 iterations.
        let found = shifted(even, [30.0, 10.0]);
        let [solver, program] = beside("cg", "spd-cg", &found);
        assert!(solver.abs_diff(program) <= 1 && (40..=65).contains(&solver), "{solver} {program}");
    }

    #[test]
    fn the_limit_is_the_most_iterations_that_are_tried() {
        let family = Family { rows: 30, cols: 30, ..Family::named("spd").unwrap() };
        let instance = family.draw(&Stream::new(1)).unwrap();
        let new = Request::new(&instance.A, &instance.b, Stream::new(2));
        let request = Request { tolerance: Some(0.0), ..new };
        let [cg, cholesky] = ["cg", "cholesky"].map(|name| Baseline::named(name).unwrap());
        let within = |limit: usize| fewest(cg, &request, limit, |x| instance.measure(x).1 <= 1e-6);
        let least = within(100).unwrap();
        assert_eq!([least - 1, least, least + 1].map(within), [None, Some(least), Some(least)]);
        // After so many iterations it breaks down, but they are not needed.
        let limit = 100_000;
        assert!(cg.solve(&Request { iterations: Some(limit), ..request }).is_err());
        assert_eq!(within(limit), Some(least));
        // A direct solver that fails is not asked again.
        let asked = Cell::new(0);
        let never = |_: &[f64]| {
            asked.set(asked.get() + 1);
            false
        };
        assert_eq!((fewest(cholesky, &request, limit, never), asked.get()), (None, 1));
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

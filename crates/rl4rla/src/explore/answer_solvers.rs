//! Classical solvers on the final instances of a task whose programs give an answer: how much more work they take than a
//! program.

use super::answer_set::AnswerSet;
use super::classical::{SolverComparison, fewest};
use crate::baseline::{Baseline, OVERSAMPLING, Request};
use crate::problem::Task;
use crate::rng::Stream;
use crate::statistics::Summary;
use rayon::prelude::*;

/// What a solver costs.
struct AnswerSolver {
    /// The name of the baseline.
    name: &'static str,
    /// Flops and passes of q iterations on an m×n matrix for an answer of k rows, given m, n, k and q.
    work: fn(&dyn Task, [f64; 4]) -> [f64; 2],
}

/// The solvers. An orthonormal basis of r rows of length n takes 4nr² flops (Golub and Van Loan, section 5.2.2).
static SOLVERS: [AnswerSolver; 4] = [
    AnswerSolver { name: "truncated-svd", work: |task, [m, n, ..]| task.direct(m, n) },
    AnswerSolver { name: "randomized-svd", work: |task, [m, n, k, q]| powers(task, [m, n, k + EXTRA, q]) },
    AnswerSolver {
        name: "block-krylov",
        work: |task, [m, n, k, q]| {
            let (p, rows) = (k + EXTRA, ((q + 1.0) * (k + EXTRA)).min(n));
            let [flops, passes] = task.completion(m, n, rows);
            [blocks([m, n, p, q]) + 4.0 * n * rows * rows + flops, 1.0 + 2.0 * q + passes]
        },
    },
    AnswerSolver { name: "subspace-iteration", work: powers },
];

const EXTRA: f64 = OVERSAMPLING as f64;

/// The most iterations that a solver is given.
const MOST: usize = 64;

/// Flops of a block of p rows and q products with AᵀA, orthonormal after each.
fn blocks([m, n, p, q]: [f64; 4]) -> f64 {
    (2.0 + 4.0 * q) * m * n * p + (q + 1.0) * 4.0 * n * p * p
}

/// The last of these blocks, and the decomposition of A restricted to it.
fn powers(task: &dyn Task, [m, n, p, q]: [f64; 4]) -> [f64; 2] {
    let [flops, passes] = task.completion(m, n, p);
    [blocks([m, n, p, q]) + flops, 1.0 + 2.0 * q + passes]
}

/// What a solver did on the final instances.
pub struct SolvedAnswers {
    name: &'static str,
    /// Flops and passes to the tolerance on every instance, at the size that work is charged for; `None` where it was not
    /// reached.
    work: Vec<Option<[f64; 2]>>,
}

/// Runs the classical solvers of a task on every instance of a set.
pub fn solved(set: &AnswerSet, stream: &Stream) -> Vec<SolvedAnswers> {
    let task = set.instance(0).task;
    let on_all = |solver: &'static AnswerSolver| {
        let baseline = Baseline::named(solver.name)?;
        let iterations =
            |i: usize| set.recalled((solver.name, i, stream), || iterations(baseline, set, i, stream));
        let work = |i: usize| iterations(i).map(|q| (solver.work)(task, set.charged(q)));
        let fits = baseline.info().task.name() == task.name();
        fits.then(|| SolvedAnswers {
            name: solver.name,
            work: (0..set.len()).into_par_iter().map(work).collect(),
        })
    };
    SOLVERS.iter().filter_map(on_all).collect()
}

/// The smallest number of iterations with which a solver reaches the tolerance.
fn iterations(baseline: Baseline, set: &AnswerSet, i: usize, stream: &Stream) -> Option<usize> {
    let instance = set.instance(i);
    let new = Request::new(&instance.A, &instance.b, stream.derive("instance", i as u64));
    // It ends after its iterations, not by its own rule.
    let request = Request { rank: Some(set.rank()), tolerance: Some(0.0), ..new };
    fewest(baseline, &request, MOST, |x| instance.measure(x).1 <= set.tolerance())
}

/// The solvers beside a program with this work on every instance; `None` where it did not reach the tolerance. A ratio
/// is one of work, passes included.
pub fn compared(
    set: &AnswerSet,
    solvers: &[SolvedAnswers],
    program: &[Option<f64>],
) -> Vec<SolverComparison> {
    let mean = |numbers: Vec<f64>| (!numbers.is_empty()).then(|| Summary::of(numbers).mean);
    let compare = |solver: &SolvedAnswers| {
        let reached: Vec<[f64; 2]> = solver.work.iter().flatten().copied().collect();
        let pairs = solver.work.iter().zip(program);
        let both: Vec<(f64, f64)> =
            pairs.filter_map(|(theirs, ours)| Some((set.priced((*theirs)?), (*ours)?))).collect();
        let [theirs, ours] =
            [mean(both.iter().map(|pair| pair.0).collect()), mean(both.iter().map(|pair| pair.1).collect())];
        SolverComparison {
            solver: solver.name.into(),
            reached: reached.len(),
            runs: solver.work.len(),
            passes: mean(reached.iter().map(|work| work[1]).collect()),
            flops: mean(reached.iter().map(|work| work[0]).collect()),
            ratio: theirs.zip(ours).map(|(theirs, ours)| theirs / ours),
        }
    };
    solvers.iter().map(compare).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explore::{ExploreSpec, NoLog};
    use crate::problem::Family;

    #[test]
    fn every_solver_is_a_baseline_that_is_counted_to_the_tolerance() {
        let family = Family { rows: 100_000, cols: 100, ..Family::named("low-rank").unwrap() };
        let family = family.with_number("rank", 5.0).unwrap();
        let spec = ExploreSpec { tolerance: 0.05, ..ExploreSpec::new(family) };
        let set = AnswerSet::draw(&spec, 40, 2, &Stream::new(3), &NoLog).unwrap();
        let all = solved(&set, &Stream::new(4));
        assert_eq!(all.len(), SOLVERS.len());
        let by_name = |name: &str| all.iter().find(|solved| solved.name == name).unwrap().work[0].unwrap();
        // 6mn² + 20n³ at 100,000 × 100.
        assert_eq!(by_name("truncated-svd"), [6.0 * 1e9 + 20.0 * 1e6, 1.0]);
        let [krylov, power] = ["block-krylov", "randomized-svd"].map(by_name);
        assert!(
            krylov[1] <= power[1] && power[1] <= by_name("subspace-iteration")[1],
            "{krylov:?} {power:?}"
        );
        // One iteration less is not enough.
        let (baseline, stream) = (Baseline::named("randomized-svd").unwrap(), Stream::new(4));
        let least = iterations(baseline, &set, 0, &stream).unwrap();
        assert_eq!(power[1], 2.0 * least as f64 + 2.0);
        let excess = |iterations: usize| {
            let instance = set.instance(0);
            let new = Request::new(&instance.A, &instance.b, stream.derive("instance", 0));
            let request = Request { rank: Some(5), iterations: Some(iterations), ..new };
            instance.measure(&baseline.solve(&request).unwrap().x).1
        };
        assert!(least >= 1 && excess(least) <= 0.05 && excess(least - 1) > 0.05, "{least}");
        // A program of half the work of the truncated decomposition, and one that fails.
        let half = set.priced(by_name("truncated-svd")) / 2.0;
        let beside = &compared(&set, &all, &[Some(half), None])[0];
        assert_eq!((beside.ratio, beside.reached, beside.runs), (Some(2.0), 2, 2));
        assert_eq!(compared(&set, &all, &[None, None])[0].ratio, None);
    }
}

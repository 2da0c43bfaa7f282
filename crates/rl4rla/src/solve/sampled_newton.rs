//! Logistic regression on tall data: Newton's method on a sample of the rows, then L-BFGS on all of them, from the fit of
//! the sample and with its Hessian as the initial one.
//!
//! An iteration on all rows is one pass over A, where Newton's method also takes mn² work for a Hessian. The fit of s rows
//! is off by as much as s rows leave uncertain, and its Hessian differs from the true one by a factor of about
//! 1 ± √(n/s), so that a few iterations remain.
//!
//! Whatever is unusual (separable labels, dependent columns, rows so unequal that a sample misses them) ends without a
//! solution, and is left to Newton's method.
#![allow(non_snake_case)]

use super::options::{SolveOptions, StepSize};
use super::problem::Problem;
use super::solution::{Solution, Termination};
use crate::linalg::{self, LogisticSlope, Matrix, SecantPairs, ShiftedFactor};
use crate::problem::cross_entropy::{loss, slopes};
use crate::problem::{NewtonStep, Response};
use crate::rng::Stream;

/// Rows of the sample per column of A, at least.
const PER_COLUMN: usize = 20;

/// Largest m/s: a sample of at least this share of the rows.
const SHARE: usize = 16;

/// Smallest m/s at which a sample is worth its while.
const TALL: usize = 3;

/// Newton steps on the sample.
const STEPS: usize = 25;

/// Halvings of a step.
const HALVINGS: i32 = 30;

/// Iterations on all rows; more are a sign that the sample does not represent them.
const ITERATIONS: usize = 40;

/// Squared error of the fit of the sample that may remain, relative to what the sample leaves uncertain.
const LEFT: f64 = 0.01;

/// Losses with a smaller relative difference do not tell which of two points is better.
const ROUNDING: f64 = 1e-13;

/// Column norms for which no product overflows or underflows.
const PLAIN: std::ops::Range<f64> = 1e-100..1e100;

/// A number of arithmetic operations per entry of A and pass.
const FLOPS: f64 = 4.0;

/// The problem, and what is known of all its points.
struct Fit<'a> {
    A: &'a Matrix,
    /// 1 for the larger label, 0 for the other.
    b: Vec<f64>,
    /// λ for every column, 0 for those without a penalty.
    penalties: Vec<f64>,
    column_norms: Vec<f64>,
}

/// A point, from one pass over the rows.
struct Point {
    x: Vec<f64>,
    slope: LogisticSlope,
    /// The gradient of the loss.
    g: Vec<f64>,
    /// The loss, a sum over all rows plus the penalty.
    loss: f64,
}

/// The fit by a sample of the rows; `None` if the data are not of the kind that it is made for, or it does not converge.
pub(super) fn sampled_newton(problem: &Problem, options: &SolveOptions) -> Option<Solution> {
    let Problem { matrix: A, lambda, free, .. } = problem;
    let (m, n) = (A.rows(), A.cols());
    let sample_rows = (m / SHARE).max(PER_COLUMN * n);
    let plain = options.step == StepSize::Auto && options.tolerance > 0.0 && !options.average;
    if !plain || !A.is_dense() || !A.is_by_rows() || m != problem.b.len() || m < TALL * sample_rows || n == 0
    {
        return None;
    }
    let Ok(Response::Classes([_, large])) = problem.task.response(&problem.b) else { return None };
    let column_norms = linalg::column_norms(A);
    if !column_norms.iter().all(|norm| PLAIN.contains(norm)) {
        return None;
    }
    let b = problem.b.iter().map(|label| f64::from(*label == large)).collect();
    let penalties = (0..n).map(|j| if free.contains(&j) { 0.0 } else { *lambda }).collect();
    let fit = Fit { A, b, penalties, column_norms };
    fit.solve(&Sample::draw(&fit, sample_rows, &Stream::new(options.seed)), options)
}

impl Fit<'_> {
    fn solve(&self, sample: &Sample, options: &SolveOptions) -> Option<Solution> {
        let m = self.b.len() as f64;
        let x = sample.fit(&self.penalties)?;
        let initial = sample.hessian(&linalg::mat_vec(&sample.A, &x), sample.weight, &self.penalties)?;
        let mut pairs = SecantPairs::default();
        let mut at = self.at(x);
        // At x = 0 every row has the loss ln 2.
        let mut losses = vec![2f64.ln(), at.loss / m];
        while self.optimality(&at) > options.tolerance {
            if losses.len() > ITERATIONS.min(options.iterations) {
                return None;
            }
            let p = pairs.times(&at.g, |q| initial.solve(q)).ok()?;
            let next = self.step(&at, &p)?;
            pairs.learn(linalg::sub(&next.x, &at.x), linalg::sub(&next.g, &at.g));
            losses.push(next.loss / m);
            at = next;
        }
        if !self.is_minimum(&at, sample) {
            return None;
        }
        let (iterations, reads) = (losses.len() - 1, losses.len());
        Some(Solution {
            gradient: self.optimality(&at),
            x: at.x,
            converged: true,
            residual: at.loss / m,
            certificate: None,
            gradient_bound: None,
            dependent: vec![],
            step: 1.0,
            iterations,
            passes: reads as f64,
            reads,
            flops: FLOPS * m * self.A.cols() as f64 * reads as f64,
            residuals: losses,
            ended: Termination::Tolerance,
            failure: None,
            obstacle: None,
            figures: vec![],
        })
    }

    /// The point at x.
    fn at(&self, x: Vec<f64>) -> Point {
        Point::of(self.A, &self.b, 1.0, &self.penalties, x)
    }

    /// The point at x − p, or at the first of x − p/2, x − p/4, … with a smaller loss; `None` if there is none. The loss
    /// along a line is known from the images of two of its points.
    fn step(&self, at: &Point, p: &[f64]) -> Option<Point> {
        let moved = |t: f64| at.x.iter().zip(p).map(|(x, p)| x - t * p).collect::<Vec<f64>>();
        let full = self.at(moved(1.0));
        // Losses that are equal up to rounding do not tell; gradients do.
        let level = (full.loss - at.loss).abs() <= ROUNDING * at.loss;
        if if level { self.optimality(&full) < self.optimality(at) } else { full.loss < at.loss } {
            return Some(full);
        }
        let [from, to] = [&at.slope.image, &full.slope.image];
        let less = |t: f64| {
            let image: Vec<f64> = from.iter().zip(to).map(|(from, to)| from + t * (to - from)).collect();
            loss(&image, &self.b) + penalty(&self.penalties, &moved(t)) < at.loss
        };
        let t = (1..HALVINGS).map(|k| 0.5f64.powi(k)).find(|t| less(*t))?;
        Some(self.at(moved(t)))
    }

    /// The largest |aⱼᵀr + λⱼxⱼ|/(‖aⱼ‖‖r‖), the relative gradient; infinite instead of NaN.
    fn optimality(&self, at: &Point) -> f64 {
        let misfit = linalg::norm(&at.slope.residual);
        let relative = at.g.iter().zip(&self.column_norms).map(|(g, norm)| g.abs() / (norm * misfit));
        relative.fold(0.0, |most, g| {
            if g <= most {
                most
            } else if g.is_nan() {
                f64::INFINITY
            } else {
                g
            }
        })
    }

    /// Whether a point with a small gradient is a minimum. The Hessian is at least that of the sampled rows alone, so that
    /// the loss can decrease by no more than that promises, and without a penalty it shows that there is a minimum.
    fn is_minimum(&self, at: &Point, sample: &Sample) -> bool {
        let z = linalg::mat_vec(&sample.A, &at.x);
        let Some(hessian) = sample.hessian(&z, 1.0, &self.penalties) else { return false };
        let misfit = linalg::norm(&at.slope.residual);
        let penalised = self.penalties.iter().any(|penalty| *penalty > 0.0);
        NewtonStep::new(hessian, &at.g, misfit, at.loss)
            .is_some_and(|newton| !newton.promises_more() && (penalised || newton.proves_a_minimum(self.A)))
    }
}

impl Point {
    /// The point at x for the rows of A, each counted `weight` times.
    fn of(A: &Matrix, b: &[f64], weight: f64, penalties: &[f64], x: Vec<f64>) -> Point {
        let slope = LogisticSlope::at(A, &x, b);
        let held = penalties.iter().zip(&x).map(|(penalty, x)| penalty * x);
        let g = slope.gradient.iter().zip(held).map(|(g, held)| weight * g + held).collect();
        let loss = weight * loss(&slope.image, b) + penalty(penalties, &x);
        Point { x, slope, g, loss }
    }
}

/// Σⱼ ½λⱼxⱼ².
fn penalty(penalties: &[f64], x: &[f64]) -> f64 {
    penalties.iter().zip(x).map(|(penalty, x)| 0.5 * penalty * x * x).sum()
}

/// Some of the rows.
struct Sample {
    A: Matrix,
    b: Vec<f64>,
    /// m/s.
    weight: f64,
}

impl Sample {
    /// One row of each of s parts of about the same length, at random.
    fn draw(fit: &Fit, s: usize, stream: &Stream) -> Sample {
        let (m, n) = (fit.A.rows(), fit.A.cols());
        let mut entries = Vec::with_capacity(s * n);
        let mut b = Vec::with_capacity(s);
        for (k, uniform) in stream.derive("sampled rows", 0).uniforms(s).into_iter().enumerate() {
            let (first, end) = (k * m / s, (k + 1) * m / s);
            let row = (first + (uniform * (end - first) as f64) as usize).min(end - 1);
            entries.extend_from_slice(&fit.A.row_major()[row * n..(row + 1) * n]);
            b.push(fit.b[row]);
        }
        Sample { A: Matrix::from_row_major(s, n, entries), b, weight: m as f64 / s as f64 }
    }

    /// The factor of the Hessian of these rows at A·x = z, each counted `weight` times; `None` unless it is positive
    /// definite.
    fn hessian(&self, z: &[f64], weight: f64, penalties: &[f64]) -> Option<ShiftedFactor> {
        let roots: Vec<f64> = slopes(z).into_iter().map(|slope| weight.sqrt() * slope).collect();
        ShiftedFactor::of(&linalg::gram_of_scaled(&roots, &self.A), |j| penalties[j]).ok()
    }

    /// The x of minimum loss on these rows, by Newton's method, to a small part of what they leave uncertain.
    fn fit(&self, penalties: &[f64]) -> Option<Vec<f64>> {
        let n = self.A.cols();
        let at = |x: Vec<f64>| Point::of(&self.A, &self.b, self.weight, penalties, x);
        let mut point = at(vec![0.0; n]);
        for _ in 0..STEPS {
            let p = self.hessian(&point.slope.image, self.weight, penalties)?.solve(&point.g).ok()?;
            let promised = linalg::dot(&point.g, &p);
            let moved = |t: f64| point.x.iter().zip(&p).map(|(x, p)| x - t * p).collect::<Vec<f64>>();
            // With s rows, the expected ‖x − x*‖²_H is n·m/s.
            if promised <= LEFT * n as f64 * self.weight {
                return Some(moved(1.0));
            }
            point = (0..HALVINGS).map(|k| at(moved(0.5f64.powi(k)))).find(|next| next.loss < point.loss)?;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::super::{LogisticFit, logistic_fit, solve};
    use super::*;
    use crate::problem::{Logistic, RidgeLogistic, Task};
    use crate::program::Entry;
    use proptest::prelude::*;

    /// Labels drawn from a model, with columns of these units, and an intercept last.
    fn problem(seed: u64, m: usize, units: &[f64]) -> Problem {
        let (n, stream) = (units.len() + 1, Stream::new(seed));
        let draws = stream.derive("A", 0).normals(m * n);
        let entry = |i: usize, j: usize| if j + 1 == n { 1.0 } else { units[j] * (0.3 + draws[i * n + j]) };
        let entries: Vec<f64> = (0..m * n).map(|at| entry(at / n, at % n)).collect();
        let chance = stream.derive("b", 0).uniforms(m);
        let margin = |i: usize| (0..n - 1).map(|j| entries[i * n + j] / units[j]).sum::<f64>() - 0.5;
        let labels: Vec<f64> =
            (0..m).map(|i| f64::from(chance[i] < 1.0 / (1.0 + (-margin(i)).exp()))).collect();
        Problem::from_rows(m, n, entries, labels).unwrap()
    }

    /// The same by Newton's method.
    fn newton(problem: Problem) -> Solution {
        let (name, task): (_, &'static dyn Task) =
            if problem.lambda > 0.0 { ("regularized-newton", &RidgeLogistic) } else { ("newton", &Logistic) };
        let program = &Entry::named(name).unwrap().document;
        solve(program, problem.for_task(task), &SolveOptions::default()).unwrap()
    }

    fn fit(problem: Problem) -> LogisticFit {
        logistic_fit(problem, &SolveOptions::default()).unwrap()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20))]
        #[test]
        fn it_finds_what_newtons_method_finds(seed: u64, lambda in prop::sample::select(vec![0.0, 1e-3, 1.0, 1e3])) {
            let problem = problem(seed, 4000, &[1.0, 20.0, 1e-3]).with_lambda(lambda).with_free_columns(vec![3]);
            let (found, expected) = (fit(problem.clone()), newton(problem));
            prop_assert_eq!(found.method, "sampled-newton");
            let [found, expected] = [found.solution, expected];
            prop_assert!(found.is_converged() && found.gradient <= 1e-10);
            prop_assert!((found.residual - expected.residual).abs() <= 1e-12 * expected.residual);
            for (j, (x, y)) in found.estimate().iter().zip(expected.estimate()).enumerate() {
                prop_assert!((x - y).abs() <= 1e-7 * y.abs(), "{j}: {x} {y}");
            }
        }
    }

    /// Rows that no sample can be expected to hold decide a coefficient.
    #[test]
    fn rare_rows_count() {
        let (m, n) = (6000, 2);
        let draws = Stream::new(7).normals(m);
        let rare = |i: usize| i % 1500 == 3;
        let entries = (0..m).flat_map(|i| [draws[i], if rare(i) { 50.0 } else { 0.0 }]).collect::<Vec<f64>>();
        let labels =
            (0..m).map(|i| f64::from(if rare(i) { i == 3 } else { draws[i] + (i % 7) as f64 > 3.0 }));
        let problem = Problem::from_rows(m, n, entries, labels.collect::<Vec<f64>>()).unwrap();
        for lambda in [0.0, 0.5] {
            let problem = problem.clone().with_lambda(lambda);
            let (found, expected) = (fit(problem.clone()).solution, newton(problem));
            assert!(found.is_converged() && expected.is_converged());
            for (x, y) in found.estimate().iter().zip(expected.estimate()) {
                assert!((x - y).abs() <= 1e-7 * y.abs(), "{x} {y}");
            }
        }
    }

    /// What has no solution is refused in the same words as by Newton's method.
    #[test]
    fn problems_without_a_minimum_are_not_solved() {
        let separable = |problem: &Problem| {
            let labels = problem.matrix.row_major().chunks(3).map(|row| f64::from(row[0] > 0.3));
            Problem { b: labels.collect(), ..problem.clone() }
        };
        let given = problem(5, 3000, &[1.0, 2.0]);
        let found = fit(separable(&given));
        assert!(found.method == "newton" && !found.solution.is_converged());
        assert!(found.solution.obstacle.unwrap().contains("separable"));
        // With a penalty there is a minimum.
        let held = separable(&given).with_lambda(0.1);
        let (found, expected) = (fit(held.clone()).solution, newton(held));
        assert!(found.is_converged() && (found.estimate()[0] / expected.estimate()[0] - 1.0).abs() < 1e-7);
        // Dependent columns.
        let mut entries = given.matrix.row_major().to_vec();
        entries.chunks_mut(3).for_each(|row| row[1] = 2.0 * row[0]);
        let twice = Problem::from_rows(3000, 3, entries, given.b.clone()).unwrap();
        let error = logistic_fit(twice, &SolveOptions::default()).unwrap_err();
        assert!(error.to_string().contains("linear combination"), "{error}");
    }

    #[test]
    fn threads_do_not_show() {
        let problem = problem(2, 20_000, &[1.0; 20]);
        let one = fit(problem.clone());
        for threads in [1, 2, 5] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            assert!(pool.install(|| fit(problem.clone())) == one, "{threads} threads");
        }
    }
}

// Newton's Method
// The gradient of the cross-entropy under the inverse of its exact Hessian; mn² work each iteration.
// Reference: Newton (1669); Nelder and Wedderburn, iteratively reweighted least squares (1972)
//
//     xₜ₊₁ = xₜ − η (Aᵀ D A)⁻¹ Aᵀ (σ(A xₜ) − b)
//     where D = diag(σ′(A xₜ))
//
// Flops: mn² + 5mn + 8m + (2/3)n³ + 2n² + 2n in every iteration.
// Symbols: A is m×n, η the step size, τ the tolerance, T the largest number of iterations.
// Settings: family logistic, η found by a line search in every iteration, τ = 1e-10, T = 1000.
// It ends where |aⱼᵀr| ≤ τ‖aⱼ‖‖r‖ for every column aⱼ of A, where r = σ(Ax) − b.
// Origin: test exported.rs; exported by rl4rla .
//
// Cargo.toml: faer = { version = "0.24", default-features = false, features = ["std", "linalg"] }

#![allow(non_snake_case)]

use faer::prelude::*;

/// How it runs.
#[derive(Clone, Debug)]
pub struct Options {
    /// η, the step size; if there is none, found by a line search in every iteration.
    pub step: Option<f64>,
    /// τ, the tolerance.
    pub tolerance: f64,
    /// T, the largest number of iterations.
    pub iterations: usize,
}

impl Options {
    /// The settings it was exported with, for an m×n matrix.
    pub fn for_size(_m: usize, _n: usize) -> Options {
        Options {
            step: None,
            tolerance: 1e-10,
            iterations: 1000,
        }
    }
}

/// What came of a run.
#[derive(Clone, Debug)]
#[must_use = "`converged` says whether x is a solution"]
pub struct Solution {
    /// The last iterate.
    pub x: Col<f64>,
    /// Whether it meets the tolerance.
    pub converged: bool,
    /// Iterations made.
    pub iterations: usize,
    /// The last η.
    pub step: f64,
    /// The largest |aⱼᵀr|/(‖aⱼ‖‖r‖) of all columns aⱼ of A, r = σ(Ax) − b.
    pub gradient: f64,
}

/// Minimises the cross-entropy of the labels b and the probabilities σ(Ax); `observe` sees every iterate.
///
/// `A`: an m×n matrix with m ≥ n.
/// `b`: a vector of m labels, 0 or 1.
/// `x0`: where to start.
pub fn newton(
    A: MatRef<'_, f64>,
    b: ColRef<'_, f64>,
    x0: ColRef<'_, f64>,
    options: &Options,
    observe: impl FnMut(ColRef<'_, f64>),
) -> Solution {
    let Options { step, tolerance, iterations } = options.clone();

    let direction = |x: ColRef<'_, f64>| {
        let v1 = &A * &x; // vector m
        let v1 = Col::from_fn(v1.nrows(), |i| 1.0 / (1.0 + (-v1[i]).exp())); // vector m
        let v2 = Col::from_fn(v1.nrows(), |i| v1[i] * (1.0 - v1[i])); // vector m
        let R1 = Mat::from_fn(A.nrows(), A.ncols(), |i, j| v2[i].sqrt() * A[(i, j)]); // matrix m×n
        let R1 = R1.transpose() * &R1; // symmetric n×n
        let v1 = &v1 - &b; // vector m
        let r = v1.clone();
        let v1 = A.transpose() * &v1; // vector n
        let g = v1.clone();
        let v1 = R1.partial_piv_lu().solve(&v1); // vector n
        [v1.to_owned(), r, g]
    };

    descend(direction, A, b, x0, step, tolerance, iterations, observe)
}

/// Repeats x ← x − η·direction(x), with a line search for every η that is not given.
fn descend(
    mut direction: impl FnMut(ColRef<'_, f64>) -> [Col<f64>; 3],
    A: MatRef<'_, f64>,
    b: ColRef<'_, f64>,
    x0: ColRef<'_, f64>,
    step: Option<f64>,
    tolerance: f64,
    iterations: usize,
    mut observe: impl FnMut(ColRef<'_, f64>),
) -> Solution {
    let lengths: Vec<f64> = (0..A.ncols()).map(|j| A.col(j).norm_l2()).collect();
    let residual = |x: &Col<f64>| {
        let z = A * x;
        Col::from_fn(z.nrows(), |i| 1.0 / (1.0 + (-z[i]).exp()) - b[i])
    };
    // What is no number is never small.
    let gradient = |r: &Col<f64>, g: &Col<f64>| {
        let cosine = |(length, g): (&f64, &f64)| if *g == 0.0 { 0.0 } else { g.abs() / length };
        let cosines = lengths.iter().zip(g.iter()).map(cosine);
        let largest = cosines.fold(0.0, |most: f64, next| if next > most || next.is_nan() { next } else { most });
        largest / if r.norm_l2() > 0.0 { r.norm_l2() } else { 1.0 }
    };
    let good = |left: f64| tolerance > 0.0 && left <= tolerance && lengths.iter().all(|length| measurable(*length));
    let (mut x, mut t, found, mut step) = (x0.to_owned(), 0, step.is_none(), step.unwrap_or(1.0));
    while t < iterations && x.is_all_finite() {
        let [v, r, g] = direction(x.as_ref());
        if good(gradient(&r, &g)) {
            break;
        }
        if found {
            step = line_search(&(A * &x), &(A * &v), b);
        }
        x -= Scale(step) * &v;
        t += 1;
        observe(x.as_ref());
    }
    let r = residual(&x);
    let gradient = gradient(&r, &(A.transpose() * &r));
    Solution { x, converged: good(gradient), iterations: t, step, gradient }
}

/// Whether squares neither overflow nor vanish where a vector is so long.
fn measurable(length: f64) -> bool {
    length == 0.0 || (1e-140..1e140).contains(&length)
}

/// A step that makes the loss at z − η·Av least: where its slope is a tenth of the first one.
fn line_search(z: &Col<f64>, Av: &Col<f64>, b: ColRef<'_, f64>) -> f64 {
    let sigmoid = |z: f64| 1.0 / (1.0 + (-z).exp());
    let slope = |step: f64| (0..z.nrows()).map(|i| (sigmoid(z[i] - step * Av[i]) - b[i]) * Av[i]).sum::<f64>();
    let (mut low, mut high, first) = (0.0, 1.0, slope(0.0));
    if !(first > 0.0 && first.is_finite()) {
        return 0.0;
    }
    while slope(high) > 0.1 * first && high < 1e100 {
        (low, high) = (high, 2.0 * high);
    }
    for _ in 0..60 {
        let step = if slope(high) >= -0.1 * first { high } else { (low + high) / 2.0 };
        if slope(step).abs() <= 0.1 * first {
            return step;
        }
        (low, high) = if slope(step) > 0.0 { (step, high) } else { (low, step) };
    }
    low
}

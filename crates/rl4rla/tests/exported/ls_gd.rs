// Least Square Gradient Descent
// Gradient descent on the least-squares loss; its speed depends on the condition number squared.
// Reference: Cauchy (1847)
//
//     xₜ₊₁ = xₜ − η Aᵀ (A xₜ − b)
//
// Flops: 4mn + m + 2n in every iteration.
// Symbols: A is m×n, η the step size, τ the tolerance, T the largest number of iterations.
// Settings: family low-cond, η found by line searches along the first directions, halved while it
//   diverges, τ = 1e-10, T = 1000.
// It ends where |aⱼᵀr| ≤ τ‖aⱼ‖‖r‖ for every column aⱼ of A, or ‖r‖ ≤ τ‖b‖, where r = Ax − b.
// Origin: test exported.rs; exported by rl4rla .
//
// Cargo.toml: faer = { version = "0.24", default-features = false, features = ["std", "linalg"] }

#![allow(non_snake_case)]

use faer::prelude::*;

/// How it runs.
#[derive(Clone, Debug)]
pub struct Options {
    /// η, the step size; if there is none, found by line searches along the first directions, halved while it diverges.
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
    /// η.
    pub step: f64,
    /// ‖Ax − b‖.
    pub residual: f64,
    /// The largest |aⱼᵀr|/(‖aⱼ‖‖r‖) of all columns aⱼ of A, r = Ax − b.
    pub gradient: f64,
}

/// Minimises ‖Ax − b‖; `observe` sees every iterate, those of attempts that diverged included.
///
/// `A`: an m×n matrix with m ≥ n.
/// `b`: a vector of m numbers.
/// `x0`: where to start.
pub fn ls_gd(
    A: MatRef<'_, f64>,
    b: ColRef<'_, f64>,
    x0: ColRef<'_, f64>,
    options: &Options,
    observe: impl FnMut(ColRef<'_, f64>),
) -> Solution {
    let Options { step, tolerance, iterations } = options.clone();

    let direction = |x: ColRef<'_, f64>| {
        let v1 = &A * &x; // vector m
        let v1 = &v1 - &b; // vector m
        let r = v1.clone();
        let v1 = A.transpose() * &v1; // vector n
        let g = v1.clone();
        [v1.to_owned(), r, g]
    };

    descend(direction, A, b, x0, step, tolerance, iterations, observe)
}

/// Repeats x ← x − η·direction(x) from x0; an η that is not given is found, and halved while the run diverges.
#[allow(clippy::too_many_arguments)]
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
    let residual = |x: &Col<f64>| A * x - b;
    let (size, first) = (b.norm_l2(), (A * x0 - b).norm_l2());
    let worse = |r: &Col<f64>, times: f64| r.norm_l2().is_nan() || r.norm_l2() > times * first;
    let small = |x: &Col<f64>, r: &Col<f64>, g: &Col<f64>| {
        // Where Ax is nearly b, rounding leaves more of the gradient than the tolerance.
        let reach: f64 = lengths.iter().zip(x.iter()).map(|(length, x)| length * x.abs()).sum();
        let rounding = 4.0 * f64::EPSILON * (size + reach.min(1e6 * size));
        let allowed = (1e-4 * r.norm_l2()).min(rounding).max(tolerance * r.norm_l2());
        let small = |(length, g): (&f64, &f64)| length.is_finite() && g.abs() <= allowed * length;
        let met = r.norm_l2() <= tolerance * size || lengths.iter().zip(g.iter()).all(small);
        met && tolerance > 0.0 && size.is_finite()
    };
    // At large condition numbers a small gradient says little.
    let solves = |r: &Col<f64>| {
        r.norm_l2() <= tolerance * size || reducible(A, r, &lengths) <= tolerance.sqrt() * r.norm_l2()
    };
    let found = step.is_none();
    let mut step = step.unwrap_or_else(|| find_step(&mut direction, A, b, x0));
    let (mut x, mut t, mut tries, mut wait) = (x0.to_owned(), 0, 0, 0);
    loop {
        while t < iterations && x.is_all_finite() {
            let [v, r, g] = direction(x.as_ref());
            if t >= wait && small(&x, &r, &g) {
                if solves(&r) {
                    break;
                }
                wait = 2 * t + 1;
            }
            if found && worse(&r, 100.0) {
                break;
            }
            x -= Scale(step) * &v;
            t += 1;
            observe(x.as_ref());
        }
        let diverged = found && worse(&residual(&x), 1.0 + 1e-9);
        if !diverged {
            break;
        }
        x = x0.to_owned();
        if tries == 12 {
            break;
        }
        (t, wait, tries, step) = (0, 0, tries + 1, step / 2.0);
    }
    let r = residual(&x);
    let g = A.transpose() * &r;
    let cosines = lengths.iter().zip(g.iter()).map(|(length, g)| if *g == 0.0 { 0.0 } else { g.abs() / length });
    let gradient = cosines.fold(0.0, f64::max) / if r.norm_l2() > 0.0 { r.norm_l2() } else { 1.0 };
    let (converged, residual) = (small(&x, &r, &g) && solves(&r), r.norm_l2());
    Solution { x, converged, iterations: t, step, residual, gradient }
}

/// How much of r a few steps of conjugate gradients remove, with columns of length 1: a lower bound of ‖A(x − x*)‖.
fn reducible(A: MatRef<'_, f64>, r: &Col<f64>, lengths: &[f64]) -> f64 {
    let scaled = |v: &Col<f64>| Col::from_fn(v.nrows(), |j| if lengths[j] > 0.0 { v[j] / lengths[j] } else { v[j] });
    let (mut r, mut removed) = (r.clone(), 0.0);
    let mut p = scaled(&(A.transpose() * &r));
    let mut gamma = p.squared_norm_l2();
    for _ in 0..8 {
        if gamma == 0.0 {
            break;
        }
        let q = A * scaled(&p);
        let alpha = gamma / q.squared_norm_l2();
        r -= Scale(alpha) * &q;
        removed += alpha * gamma;
        let s = scaled(&(A.transpose() * &r));
        let next = s.squared_norm_l2();
        p = s + Scale(next / gamma) * &p;
        gamma = next;
    }
    removed.sqrt()
}

/// The harmonic mean of exact line searches along the first directions: it tends to the best constant step.
fn find_step(
    direction: &mut impl FnMut(ColRef<'_, f64>) -> [Col<f64>; 3],
    A: MatRef<'_, f64>,
    b: ColRef<'_, f64>,
    x0: ColRef<'_, f64>,
) -> f64 {
    let (mut x, mut r) = (x0.to_owned(), A * x0 - b);
    let (mut steps, mut first) = (Vec::new(), 0_f64);
    for _ in 0..16 {
        let [v, _, _] = direction(x.as_ref());
        let Av = A * &v;
        let (gain, cost) = (r.transpose() * &Av, Av.squared_norm_l2());
        first = first.max(cost);
        if !(gain > 0.0 && cost > 1e-6 * first && cost.is_finite()) {
            break;
        }
        let step = gain / cost;
        steps.push(step);
        x -= Scale(step) * &v;
        r -= Scale(step) * &Av;
    }
    // Steps come to alternate between two values, so an even number of the last ones is taken.
    let last = &steps[(steps.len() / 2).min(8)..];
    let last = &last[if last.len() > 1 { last.len() % 2 } else { 0 }..];
    if last.is_empty() { 0.0 } else { last.len() as f64 / last.iter().map(|step| 1.0 / step).sum::<f64>() }
}

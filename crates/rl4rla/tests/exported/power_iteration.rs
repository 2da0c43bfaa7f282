// Power Iteration
// Multiplies by A and normalises, until the leading eigenvector has outgrown all others.
// Reference: von Mises and Pollaczek-Geiringer (1929)
//
//     xₜ₊₁ = A xₜ / ‖A xₜ‖
//
// Flops: 2n² + 3n in every iteration.
// Symbols: A is n×n, τ the tolerance, T the largest number of iterations.
// Settings: family eigenvalue, τ = 1e-10, T = 1000.
// It ends where ‖Ax − λx‖ ≤ τ|λ|‖x‖, where λ = xᵀAx/xᵀx.
// Origin: test exported.rs; exported by rl4rla .
//
// Cargo.toml: faer = { version = "0.24", default-features = false, features = ["std", "linalg"] }

#![allow(non_snake_case)]

use faer::prelude::*;

/// How it runs.
#[derive(Clone, Debug)]
pub struct Options {
    /// τ, the tolerance.
    pub tolerance: f64,
    /// T, the largest number of iterations.
    pub iterations: usize,
}

impl Options {
    /// The settings it was exported with, for an m×n matrix.
    pub fn for_size(_m: usize, _n: usize) -> Options {
        Options {
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
    /// λ = xᵀAx/xᵀx.
    pub eigenvalue: f64,
    /// ‖Ax − λx‖/(|λ|‖x‖).
    pub residual: f64,
}

/// Looks for the leading eigenvector of A; `observe` sees every iterate.
///
/// `A`: a symmetric n×n matrix.
/// `x0`: where to start.
pub fn power_iteration(
    A: MatRef<'_, f64>,
    x0: ColRef<'_, f64>,
    options: &Options,
    observe: impl FnMut(ColRef<'_, f64>),
) -> Solution {
    let Options { tolerance, iterations } = options.clone();

    let advance = |x: ColRef<'_, f64>| {
        let v1 = &A * &x; // vector n
        let Ax = v1.clone();
        let v1 = Scale(1.0 / v1.norm_l2()) * &v1; // vector n
        [v1.to_owned(), Ax]
    };

    iterate_until(advance, A, x0, tolerance, iterations, observe)
}

/// Repeats x ← advance(x) until Ax = λx to the tolerance.
fn iterate_until(
    mut advance: impl FnMut(ColRef<'_, f64>) -> [Col<f64>; 2],
    A: MatRef<'_, f64>,
    x0: ColRef<'_, f64>,
    tolerance: f64,
    iterations: usize,
    mut observe: impl FnMut(ColRef<'_, f64>),
) -> Solution {
    let judged = |x: &Col<f64>, Ax: &Col<f64>| {
        let value = (x.transpose() * Ax) / x.squared_norm_l2();
        (value, (Ax - Scale(value) * x).norm_l2() / (value.abs() * x.norm_l2()))
    };
    let good = |residual: f64| tolerance > 0.0 && residual <= tolerance;
    let (mut x, mut t) = (x0.to_owned(), 0);
    while t < iterations && x.is_all_finite() {
        let [y, Ax] = advance(x.as_ref());
        if good(judged(&x, &Ax).1) {
            break;
        }
        (x, t) = (y, t + 1);
        observe(x.as_ref());
    }
    let (eigenvalue, residual) = judged(&x, &(A * &x));
    Solution { x, converged: good(residual), iterations: t, eigenvalue, residual }
}

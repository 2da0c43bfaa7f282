//! Test fixtures for baselines.
#![allow(non_snake_case)]

use super::{BaselineError, BaselineSolution, Request};
use crate::linalg::testing::{conditioned, normal};
use crate::linalg::{self, Matrix};
use crate::rng::Stream;

/// A baseline's function.
pub type BaselineFunction = fn(&Request) -> Result<BaselineSolution, BaselineError>;

/// The problem of these data with the solver's defaults.
pub fn request<'a>(A: &'a Matrix, b: &'a [f64]) -> Request<'a> {
    Request::new(A, b, Stream::new(1))
}

/// ‖A‖ = 1, condition number κ, b = A·x + o with ‖x‖ = 1 and o orthogonal to the range of A, of length `noise`.
pub fn problem(m: usize, n: usize, kappa: f64, noise: f64, seed: u64) -> (Matrix, Vec<f64>) {
    let A = conditioned(m, n, kappa, seed);
    let unit = |v: Matrix| linalg::scale(1.0 / linalg::norm(v.column(0)), v.column(0));
    let (x, o, Q) = (unit(normal(n, 1, seed + 100)), normal(m, 1, seed + 200), linalg::thin_q(&A));
    let inside = linalg::mat_vec(&Q, &linalg::vec_mat(o.column(0), &Q));
    let o = linalg::sub(o.column(0), &inside);
    // For square A there is no component outside the range.
    let o = if m > n { linalg::scale(1.0 / linalg::norm(&o), &o) } else { vec![0.0; m] };
    let b = linalg::add(&linalg::mat_vec(&A, &x), &linalg::scale(noise, &o));
    (A, b)
}

/// ‖A(x − x*)‖/‖b‖ with the x* of `linalg`'s QR.
pub fn distance(A: &Matrix, b: &[f64], x: &[f64]) -> f64 {
    let gap = linalg::sub(x, &linalg::least_squares(A, b));
    linalg::norm(&linalg::mat_vec(A, &gap)) / linalg::norm(b)
}

/// ‖Aᵀr‖/(‖A‖_F‖r‖), zero at a solution.
pub fn slope(A: &Matrix, b: &[f64], x: &[f64]) -> f64 {
    let (r, g) = linalg::residual_and_gradient(A, x, b);
    let size = linalg::norm(A.row_major()) * linalg::norm(&r);
    if size == 0.0 { 0.0 } else { linalg::norm(&g) / size }
}

/// The backward error of x in units of ‖A‖_F by the Karlson–Waldén estimate, accurate to a factor of about √2:
///
/// ‖(AᵀA + μ²I)^(−1/2)Aᵀr‖/‖x‖ = ‖Qᵀ[r; 0]‖/‖x‖,  [A; μI] = QR,  μ = ‖r‖/‖x‖
pub fn backward_error(A: &Matrix, b: &[f64], x: &[f64]) -> f64 {
    let (m, n) = (A.rows(), A.cols());
    let r = linalg::sub(b, &linalg::mat_vec(A, x));
    let mu = linalg::norm(&r) / linalg::norm(x);
    let entry = |i: usize, j: usize| if i < m { A.get(i, j) } else { mu * f64::from(i - m == j) };
    let Q = linalg::thin_q(&Matrix::from_fn(m + n, n, entry));
    let padded = [r, vec![0.0; n]].concat();
    linalg::norm(&linalg::vec_mat(&padded, &Q)) / linalg::norm(x) / linalg::norm(A.row_major())
}

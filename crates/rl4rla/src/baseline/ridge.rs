//! Ridge regression, min ‖Ax − b‖² + λ‖x‖²: least squares with A on top of √λ·I.
#![allow(non_snake_case)]

use super::error::BaselineError;
use super::lsqr::TOLERANCE;
use super::request::{BaselineSolution, Request};
use crate::linalg::{self, Matrix};

/// x = R⁻¹c by Householder QR of A on top of √λ·I, with b on top of zeros.
pub fn ridge_qr(request: &Request) -> Result<BaselineSolution, BaselineError> {
    let (m, n) = request.any_shape()?;
    let root = request.lambda.sqrt();
    let entry = |i: usize, j: usize| match i {
        _ if i < m => request.A.get(i, j),
        _ if i - m == j => root,
        _ => 0.0,
    };
    let mut right = request.b.to_vec();
    right.resize(m + n, 0.0);
    let (R, c) = linalg::qr_r_with(&Matrix::from_fn(m + n, n, entry), &right);
    BaselineSolution::direct(linalg::solve_upper(&R, &c)?, 1.0)
}

/// CGLS with a shift: x ← x + αp,  r ← r − αAp,  α = ‖s‖²/(‖Ap‖² + λ‖p‖²),  s = Aᵀr − λx,  p ← s + (‖s‖²/‖s₋‖²)p.
///
/// Ends when ‖s‖ ≤ τ‖Aᵀb‖, τ = 10⁻¹⁴, or after max(4n, 100) iterations of two passes each.
pub fn ridge_cgls(request: &Request) -> Result<BaselineSolution, BaselineError> {
    let (_, n) = request.any_shape()?;
    let (A, lambda, root) = (request.A, request.lambda, request.lambda.sqrt());
    let most = request.iterations.unwrap_or((4 * n).max(100));
    let (mut x, mut r) = (vec![0.0; n], request.b.to_vec());
    let mut s = linalg::vec_mat(&r, A);
    let (mut p, mut length) = (s.clone(), linalg::norm(&s));
    let goal = request.tolerance.unwrap_or(TOLERANCE) * length;
    for iteration in 0..most {
        if length <= goal {
            return BaselineSolution::new(x, iteration, 1.0 + 2.0 * iteration as f64, true);
        }
        let q = linalg::mat_vec(A, &p);
        let step = (length / linalg::norm(&q).hypot(root * linalg::norm(&p))).powi(2);
        if !step.is_finite() {
            return Err(BaselineError::Diverged { iteration });
        }
        x.iter_mut().zip(&p).for_each(|(x, p)| *x += step * p);
        r.iter_mut().zip(&q).for_each(|(r, q)| *r -= step * q);
        s = linalg::vec_mat(&r, A);
        s.iter_mut().zip(&x).for_each(|(s, x)| *s -= lambda * x);
        let next = linalg::norm(&s);
        let share = (next / length).powi(2);
        p = s.iter().zip(&p).map(|(s, p)| s + share * p).collect();
        length = next;
    }
    BaselineSolution::new(x, most, 1.0 + 2.0 * most as f64, length <= goal)
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;

    #[test]
    fn both_solve_the_regularized_normal_equations() {
        let (A, b) = problem(60, 6, 100.0, 0.5, 3);
        let asked = Request { lambda: 0.01, ..request(&A, &b) };
        for solver in [ridge_qr, ridge_cgls] {
            let x = solver(&asked).unwrap().x;
            let (_, gradient) = linalg::residual_and_gradient(&A, &x, &b);
            let left = linalg::add(&gradient, &linalg::scale(0.01, &x));
            assert!(linalg::norm(&left) < 1e-13, "{:e}", linalg::norm(&left));
        }
    }

    #[test]
    fn without_lambda_it_is_least_squares() {
        let (A, b) = problem(40, 5, 10.0, 0.3, 4);
        assert!(distance(&A, &b, &ridge_qr(&request(&A, &b)).unwrap().x) < 1e-13);
    }
}

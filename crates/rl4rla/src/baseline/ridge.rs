//! Ridge regression, min ‖Ax − b‖² + λ‖x‖²: least squares with A on top of √λ·I.
#![allow(non_snake_case)]

use super::error::BaselineError;
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

#[cfg(test)]
mod tests {
    use super::super::cgls::cgls;
    use super::super::testing::*;
    use super::*;

    #[test]
    fn both_solve_the_regularized_normal_equations() {
        let (A, b) = problem(60, 6, 100.0, 0.5, 3);
        let asked = Request { lambda: 0.01, ..request(&A, &b) };
        for solver in [ridge_qr, cgls] {
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

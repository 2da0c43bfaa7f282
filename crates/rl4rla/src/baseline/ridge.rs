//! Ridge regression, min ‖Ax − b‖² + λ‖x‖²: least squares with A on top of √λ·I.
#![allow(non_snake_case)]

use super::cgls::conjugate;
use super::error::BaselineError;
use super::request::{BaselineSolution, Request};
use crate::execute::{Sketch, SketchKind};
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

/// Rows of the sketch per column of A.
const FACTOR: usize = 4;

/// x ← x + αp,  r ← r − αAp,  α = ‖t‖²/(‖Ap‖² + λ‖p‖²),  t = R⁻ᵀ(Aᵀr − λx),  p ← R⁻¹t + (‖t‖²/‖t₋‖²)p,
///
/// where R is the factor of SA on top of √λ·I for a sparse sketch S of 4n rows: CGLS in the variables Rx. Ends when
/// ‖t‖ ≤ τ‖t₀‖, τ = 10⁻¹⁴, or after max(4n, 100) iterations of two passes each.
pub fn ridge_pcgls(request: &Request) -> Result<BaselineSolution, BaselineError> {
    let (m, n) = request.tall()?;
    let S = Sketch::draw(SketchKind::Sjlt, FACTOR * n, m, &request.stream.derive("sketch", 0));
    let R = linalg::qr_r_shifted(&S.apply(request.A), request.lambda);
    let precondition = |s: Vec<f64>| {
        let t = linalg::solve_upper_transposed(&R, &s)?;
        Ok((linalg::solve_upper(&R, &t)?, linalg::norm(&t)))
    };
    conjugate(request, precondition, 2.0)
}

#[cfg(test)]
mod tests {
    use super::super::cgls::cgls;
    use super::super::testing::*;
    use super::*;

    #[test]
    fn all_solve_the_regularized_normal_equations() {
        let (A, b) = problem(60, 6, 100.0, 0.5, 3);
        let asked = Request { lambda: 0.01, ..request(&A, &b) };
        for solver in [ridge_qr, cgls, ridge_pcgls] {
            let x = solver(&asked).unwrap().x;
            let (_, gradient) = linalg::residual_and_gradient(&A, &x, &b);
            let left = linalg::add(&gradient, &linalg::scale(0.01, &x));
            assert!(linalg::norm(&left) < 1e-13, "{:e}", linalg::norm(&left));
        }
    }

    #[test]
    fn a_sketch_makes_the_condition_number_irrelevant() {
        for (kappa, lambda) in [(1e3, 1e-4), (1e8, 1e-12), (1e12, 1e-12)] {
            let (A, b) = problem(800, 10, kappa, 0.5, 5);
            let found = ridge_pcgls(&Request { lambda, tolerance: Some(1e-10), ..request(&A, &b) }).unwrap();
            assert!(found.converged && found.iterations < 50, "κ {kappa:e}: {}", found.iterations);
        }
    }

    #[test]
    fn without_lambda_it_is_least_squares() {
        let (A, b) = problem(40, 5, 10.0, 0.3, 4);
        assert!(distance(&A, &b, &ridge_qr(&request(&A, &b)).unwrap().x) < 1e-13);
    }
}

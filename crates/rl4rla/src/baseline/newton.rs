//! Newton's method for logistic regression as a reference solver: full steps, exact Hessian.
#![allow(non_snake_case)]

use super::error::BaselineError;
use super::request::{BaselineSolution, Request};
use crate::linalg::{self, NumericError};
use crate::problem::cross_entropy::gradient;

/// Ridge added to the Hessian of the mean loss, so m times as much is added to that of the sum.
const RIDGE: f64 = 1e-8;
/// Iteration limit.
const ITERATIONS: usize = 50;
/// ‖∇L(x)‖/‖∇L(0)‖ at which it stops.
pub(super) const TOLERANCE: f64 = 1e-10;

/// x ← x − (Aᵀdiag(p(1 − p))A + 10⁻⁸m·I)⁻¹Aᵀ(p − b),  p = σ(Ax), from x = 0, by Cholesky.
///
/// The reference solver of AlgoTune's logistic task, transcribed from the paper's text. The Hessian is that of the
/// sum L(x) = Σ ln(1 + exp zᵢ) − bᵢzᵢ, z = Ax. Ends when ‖∇L(x)‖ ≤ τ‖∇L(0)‖, τ = 10⁻¹⁰, or after 50 iterations; if
/// the labels are separable there is no minimizer.
pub fn newton_direct(request: &Request) -> Result<BaselineSolution, BaselineError> {
    let (_, n) = request.labelled()?;
    let (A, b) = (request.A, request.b);
    let (tolerance, most) =
        (request.tolerance.unwrap_or(TOLERANCE), request.iterations.unwrap_or(ITERATIONS));
    let mut x = vec![0.0; n];
    let mut z = vec![0.0; A.rows()];
    let mut g = gradient(A, &z, b);
    let goal = tolerance * linalg::norm(&g);
    for iteration in 0..most {
        // Two passes for the Hessian and z, one for the gradient.
        let passes = 1.0 + 3.0 * iteration as f64;
        if linalg::norm(&g) <= goal {
            return BaselineSolution::new(x, iteration, passes, true);
        }
        let slopes: Vec<f64> = linalg::sigmoids(&z).iter().map(|p| (p * (1.0 - p)).sqrt()).collect();
        let hessian = linalg::gram_of_scaled(&slopes, A);
        let ridge = RIDGE * A.rows() as f64;
        let ridged =
            linalg::Matrix::from_fn(n, n, |i, j| hessian.get(i, j) + if i == j { ridge } else { 0.0 });
        let R = linalg::cholesky_r(&ridged).map_err(|error| match error {
            NumericError::Singular { index } => BaselineError::NotPositiveDefinite { pivot: index },
            other => other.into(),
        })?;
        let step = linalg::solve_upper(&R, &linalg::solve_upper_transposed(&R, &g)?)?;
        x = linalg::sub(&x, &step);
        z = linalg::mat_vec(A, &x);
        g = gradient(A, &z, b);
        if !linalg::norm(&g).is_finite() || !linalg::is_finite(&x) {
            return Err(BaselineError::Diverged { iteration: iteration + 1 });
        }
    }
    let converged = linalg::norm(&g) <= goal;
    BaselineSolution::new(x, most, 1.0 + 3.0 * most as f64, converged)
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use crate::linalg::Matrix;

    #[test]
    fn three_labels_of_four() {
        // One column of ones: σ(x) = 3/4, up to the ridge.
        let A = Matrix::from_fn(4, 1, |_, _| 1.0);
        let found = newton_direct(&request(&A, &[1.0, 1.0, 0.0, 1.0])).unwrap();
        assert!((found.x[0] - 3f64.ln()).abs() < 1e-9 && found.converged && found.iterations < 8);
        // The first step from p = 1/2 is (3 − 2)/(4/4 + 10⁻⁸).
        let one = Request { iterations: Some(1), ..request(&A, &[1.0, 1.0, 0.0, 1.0]) };
        assert!((newton_direct(&one).unwrap().x[0] - 1.0).abs() < 1e-7);
    }

    #[test]
    fn labels_that_are_none_are_refused() {
        let A = Matrix::from_fn(2, 1, |_, _| 1.0);
        let refused = newton_direct(&request(&A, &[1.0, -1.0]));
        assert_eq!(refused, Err(BaselineError::Label { row: 1, value: -1.0 }));
    }
}

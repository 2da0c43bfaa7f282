//! CGLS: conjugate gradients on (AᵀA + λI)x = Aᵀb, without forming AᵀA; λ = 0 for least squares.
#![allow(non_snake_case)]

use super::error::BaselineError;
use super::lsqr::TOLERANCE;
use super::request::{BaselineSolution, Request};
use crate::linalg::{self, NumericError};

/// x ← x + αp,  r ← r − αAp,  α = ‖s‖²/(‖Ap‖² + λ‖p‖²),  s = Aᵀr − λx,  p ← s + (‖s‖²/‖s₋‖²)p.
///
/// Ends when ‖s‖ ≤ τ‖Aᵀb‖, τ = 10⁻¹⁴, or after max(4n, 100) iterations of two passes each.
pub fn cgls(request: &Request) -> Result<BaselineSolution, BaselineError> {
    request.any_shape()?;
    let keep = |s: Vec<f64>| {
        let length = linalg::norm(&s);
        Ok((s, length))
    };
    conjugate(request, keep, 1.0)
}

/// CGLS in the variables Rx, where `precondition` makes z = R⁻¹t and ‖t‖ of s = Aᵀr − λx, with t = R⁻ᵀs: z takes the
/// place of s in p, and ‖t‖ that of ‖s‖.
pub(super) fn conjugate(
    request: &Request,
    precondition: impl Fn(Vec<f64>) -> Result<(Vec<f64>, f64), NumericError>,
    setup_passes: f64,
) -> Result<BaselineSolution, BaselineError> {
    let (A, lambda, root) = (request.A, request.lambda, request.lambda.sqrt());
    let tolerance = request.tolerance.unwrap_or(TOLERANCE);
    let most = request.iterations.unwrap_or((4 * A.cols()).max(100));
    let (mut x, mut r) = (vec![0.0; A.cols()], request.b.to_vec());
    let (mut p, mut length) = precondition(linalg::vec_mat(&r, A))?;
    let goal = tolerance * length;
    for iteration in 0..most {
        if length <= goal {
            return BaselineSolution::new(x, iteration, setup_passes + 2.0 * iteration as f64, true);
        }
        let q = linalg::mat_vec(A, &p);
        // Ratios of norms, because their squares may overflow.
        let step = (length / linalg::norm(&q).hypot(root * linalg::norm(&p))).powi(2);
        if !step.is_finite() {
            return Err(BaselineError::Diverged { iteration });
        }
        x.iter_mut().zip(&p).for_each(|(x, p)| *x += step * p);
        r.iter_mut().zip(&q).for_each(|(r, q)| *r -= step * q);
        let mut s = linalg::vec_mat(&r, A);
        s.iter_mut().zip(&x).for_each(|(s, x)| *s -= lambda * x);
        let (z, next) = precondition(s)?;
        let share = (next / length).powi(2);
        p = z.iter().zip(&p).map(|(z, p)| z + share * p).collect();
        length = next;
    }
    BaselineSolution::new(x, most, setup_passes + 2.0 * most as f64, length <= goal)
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use crate::linalg::testing::{conditioned, normal};

    #[test]
    fn it_makes_the_iterates_of_lsqr() {
        // Both minimise ‖Ax − b‖ over the same Krylov space.
        let (A, b) = (conditioned(80, 10, 50.0, 1), normal(80, 1, 2).column(0).to_vec());
        // Compared as long as rounding permits: later the iterates differ.
        for iterations in 1..6 {
            let asked = Request { iterations: Some(iterations), ..request(&A, &b) };
            let (one, other) = (cgls(&asked).unwrap().x, super::super::lsqr::lsqr(&asked).unwrap().x);
            let gap = linalg::norm(&linalg::sub(&one, &other)) / linalg::norm(&one);
            assert!(gap < 1e-10, "{iterations}: {gap:e}");
        }
    }

    #[test]
    fn a_zero_gradient_needs_no_iteration() {
        let A = linalg::Matrix::from_rows(&[&[1.0], &[0.0]]);
        let found = cgls(&request(&A, &[0.0, 2.0])).unwrap();
        assert_eq!((found.x, found.iterations, found.converged), (vec![0.0], 0, true));
    }
}

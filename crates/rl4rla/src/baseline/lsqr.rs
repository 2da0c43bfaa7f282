//! LSQR: least squares by Golub-Kahan bidiagonalisation.
//!
//! β₁u₁ = b,  α₁v₁ = Bᵀu₁,  βₖ₊₁uₖ₊₁ = Bvₖ − αₖuₖ,  αₖ₊₁vₖ₊₁ = Bᵀuₖ₊₁ − βₖ₊₁vₖ
//!
//! and a QR factorisation of the bidiagonal matrix, updated by one rotation in each iteration. One pass over A gives both
//! products of an iteration.
#![allow(non_snake_case)]

use super::error::BaselineError;
use super::request::{BaselineSolution, Request};
use crate::linalg::{self, Matrix};

/// The tolerance of both stopping rules.
pub(super) const TOLERANCE: f64 = 1e-14;

/// A matrix B given by its products.
pub(super) trait Products {
    /// r = By − w and Bᵀr.
    fn residual_and_gradient(&self, y: &[f64], w: &[f64]) -> Result<(Vec<f64>, Vec<f64>), BaselineError>;
}

impl Products for Matrix {
    fn residual_and_gradient(&self, y: &[f64], w: &[f64]) -> Result<(Vec<f64>, Vec<f64>), BaselineError> {
        Ok(linalg::residual_and_gradient(self, y, w))
    }
}

/// LSQR on A itself, from x = 0.
///
/// Ends when ‖r‖ ≤ τ(‖b‖ + ‖A‖‖x‖) or ‖Aᵀr‖ ≤ τ‖A‖‖r‖ by its own estimates, τ = 10⁻¹⁴, or after max(4n, 100)
/// iterations. The number of iterations needed grows with κ.
pub fn lsqr(request: &Request) -> Result<BaselineSolution, BaselineError> {
    let (_, n) = request.any_shape()?;
    let start = linalg::residual_and_gradient(request.A, &vec![0.0; n], request.b);
    let limits = LsqrLimits::of(request, linalg::norm(request.b), (4 * n).max(100));
    let found = minimise(request.A, start, &limits)?;
    BaselineSolution::new(found.y, found.iterations, 1.0 + found.iterations as f64, found.converged)
}

/// Stopping criteria.
pub(super) struct LsqrLimits {
    /// τ.
    pub tolerance: f64,
    /// ‖b‖ of the whole problem, to which residuals are compared.
    pub size: f64,
    /// Iteration limit.
    pub iterations: usize,
}

impl LsqrLimits {
    /// The limits requested, or else these defaults.
    pub(super) fn of(request: &Request, size: f64, iterations: usize) -> LsqrLimits {
        let tolerance = request.tolerance.unwrap_or(TOLERANCE);
        LsqrLimits { tolerance, size, iterations: request.iterations.unwrap_or(iterations) }
    }
}

/// The result of LSQR.
pub(super) struct Minimiser {
    pub y: Vec<f64>,
    pub iterations: usize,
    pub converged: bool,
}

/// min ‖By + r‖ from y = 0, given r and g = Bᵀr at the point to which y is a correction.
pub(super) fn minimise(
    B: &impl Products,
    (r, g): (Vec<f64>, Vec<f64>),
    limits: &LsqrLimits,
) -> Result<Minimiser, BaselineError> {
    let mut y = vec![0.0; g.len()];
    let beta = linalg::norm(&r);
    let alpha_beta = linalg::norm(&g);
    if !alpha_beta.is_finite() || !beta.is_finite() {
        return Err(BaselineError::Diverged { iteration: 0 });
    }
    // The residual is zero, or B cannot reduce it.
    if beta == 0.0 || alpha_beta == 0.0 {
        return Ok(Minimiser { y, iterations: 0, converged: true });
    }
    let mut u = linalg::scale(-1.0 / beta, &r);
    let mut v = linalg::scale(-1.0 / alpha_beta, &g);
    let mut alpha = alpha_beta / beta;
    let mut w = v.clone();
    let (mut phi_bar, mut rho_bar, mut squares) = (beta, alpha, 0.0_f64);
    for iteration in 1..=limits.iterations {
        let (p, q) = B.residual_and_gradient(&v, &linalg::scale(alpha, &u))?;
        let beta = linalg::norm(&p);
        squares += alpha * alpha + beta * beta;
        let mut next = 0.0;
        if beta > 0.0 {
            u = linalg::scale(1.0 / beta, &p);
            let t: Vec<f64> = q.iter().zip(&v).map(|(q, v)| q / beta - beta * v).collect();
            next = linalg::norm(&t);
            v = if next > 0.0 { linalg::scale(1.0 / next, &t) } else { t };
        }
        alpha = next;
        let rho = rho_bar.hypot(beta);
        let (cosine, sine) = (rho_bar / rho, beta / rho);
        let (phi, theta) = (cosine * phi_bar, sine * alpha);
        phi_bar *= sine;
        rho_bar = -cosine * alpha;
        y.iter_mut().zip(&w).for_each(|(y, w)| *y += phi / rho * w);
        w = v.iter().zip(&w).map(|(v, w)| v - theta / rho * w).collect();
        let norm_y = linalg::norm(&y);
        if !norm_y.is_finite() {
            return Err(BaselineError::Diverged { iteration });
        }
        let (norm, gradient) = (squares.sqrt(), phi_bar * alpha * cosine.abs());
        let consistent = phi_bar <= limits.tolerance * (limits.size + norm * norm_y);
        if consistent || gradient <= limits.tolerance * norm * phi_bar {
            return Ok(Minimiser { y, iterations: iteration, converged: true });
        }
    }
    Ok(Minimiser { y, iterations: limits.iterations, converged: false })
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use crate::linalg::testing::{normal, with_singular_values};

    #[test]
    fn as_many_iterations_as_there_are_distinct_singular_values() {
        for distinct in 1..=4 {
            let A = with_singular_values(60, 12, 1, |i| 1.0 + (i % distinct) as f64);
            let b = normal(60, 1, 2).column(0).to_vec();
            let found = lsqr(&Request { tolerance: Some(1e-12), ..request(&A, &b) }).unwrap();
            assert_eq!((found.iterations, found.converged), (distinct, true));
            assert!(distance(&A, &b, &found.x) < 1e-12);
            // One iteration fewer is not enough.
            let early = Request { iterations: Some(distinct - 1), ..request(&A, &b) };
            assert!(distance(&A, &b, &lsqr(&early).unwrap().x) > 1e-4);
        }
    }

    #[test]
    fn a_wide_system_gets_its_shortest_solution() {
        let (A, b) = (normal(6, 15, 3), normal(6, 1, 4).column(0).to_vec());
        let expected = linalg::mat_vec(&linalg::pseudo_inverse(&A).unwrap(), &b);
        let x = lsqr(&request(&A, &b)).unwrap().x;
        assert!(linalg::norm(&linalg::sub(&x, &expected)) < 1e-12 * linalg::norm(&expected));
    }

    #[test]
    fn nothing_to_gain_is_seen_at_once() {
        let A = Matrix::from_rows(&[&[1.0], &[0.0]]);
        for b in [[0.0, 0.0], [0.0, 3.0]] {
            let found = lsqr(&request(&A, &b)).unwrap();
            assert_eq!((found.x, found.iterations, found.converged), (vec![0.0], 0, true));
        }
    }
}

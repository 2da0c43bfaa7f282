//! LSRN: LSQR on AN with N from a Gaussian sketch, for matrices of any rank.
#![allow(non_snake_case)]

use super::error::BaselineError;
use super::lsqr::{LsqrLimits, Products, minimise};
use super::request::{BaselineSolution, Request};
use crate::execute::{Sketch, SketchKind};
use crate::linalg::{self, Matrix};

/// Rows of the sketch per column of A: κ(AN) is then about 5.8, whatever A is.
const FACTOR: f64 = 2.0;
/// Iteration limit.
const ITERATIONS: usize = 200;

/// x = Ny,  y = argmin ‖ANy − b‖ by LSQR,  N = VΣ⁻¹ of SA = UΣVᵀ for a Gaussian S with ⌈2n⌉ rows.
///
/// Singular values up to s·ε·σ₁ are truncated, and x is the minimum-norm solution. Stops as LSQR does, τ = 10⁻¹⁴, or
/// after 200 iterations.
pub fn lsrn(request: &Request) -> Result<BaselineSolution, BaselineError> {
    let (m, n) = request.tall()?;
    let size = (FACTOR * n as f64).ceil() as usize;
    let S = Sketch::draw(SketchKind::Gaussian, size, m, &request.stream.derive("sketch", 0));
    let svd = linalg::svd_of_square(&linalg::qr_r(&S.apply(request.A)))?;
    let cutoff = size as f64 * f64::EPSILON * svd.sigma[0];
    let rank = svd.sigma.iter().filter(|s| **s > cutoff).count();
    let N = Matrix::from_fn(n, rank, |i, j| svd.V.get(i, j) / svd.sigma[j]);
    let product = Product { A: request.A, N: &N };
    let start = product.residual_and_gradient(&vec![0.0; rank], request.b)?;
    let found = minimise(&product, start, &LsqrLimits::of(request, linalg::norm(request.b), ITERATIONS))?;
    let x = linalg::mat_vec(&N, &found.y);
    BaselineSolution::new(x, found.iterations, 2.0 + found.iterations as f64, found.converged)
}

/// A·N.
struct Product<'a> {
    A: &'a Matrix,
    N: &'a Matrix,
}

impl Products for Product<'_> {
    fn residual_and_gradient(&self, y: &[f64], w: &[f64]) -> Result<(Vec<f64>, Vec<f64>), BaselineError> {
        let (r, g) = linalg::residual_and_gradient(self.A, &linalg::mat_vec(self.N, y), w);
        Ok((r, linalg::vec_mat(&g, self.N)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use crate::linalg::testing::{deficient, normal};

    #[test]
    fn dependent_columns_get_the_shortest_solution() {
        let (A, b) = (deficient(300, 8, 5, 1), normal(300, 1, 2).column(0).to_vec());
        let expected = linalg::mat_vec(&linalg::pseudo_inverse(&A).unwrap(), &b);
        let found = lsrn(&request(&A, &b)).unwrap();
        assert!(linalg::norm(&linalg::sub(&found.x, &expected)) < 1e-11 * linalg::norm(&expected));
        assert_eq!(lsrn(&request(&Matrix::zeros(5, 2), &[1.0; 5])).unwrap().x, [0.0; 2]);
    }

    #[test]
    fn the_condition_number_does_not_show() {
        for kappa in [10.0, 1e6, 1e10] {
            let (A, b) = problem(800, 10, kappa, 1e-3, 3);
            let found = lsrn(&request(&A, &b)).unwrap();
            assert!(found.converged && found.iterations < 130, "κ {kappa:e}: {}", found.iterations);
        }
    }
}

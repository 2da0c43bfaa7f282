//! Direct least squares: the normal equations, Householder QR, and the singular value decomposition.
#![allow(non_snake_case)]

use super::error::BaselineError;
use super::minimum_norm::{MinimumNorm, through_svd};
use super::request::{BaselineSolution, Request};
use crate::linalg::{self, NumericError};

/// x = R⁻¹R⁻ᵀAᵀb,  AᵀA = RᵀR by Cholesky.
///
/// The fastest method, and AlgoTune's solver for three of its tasks, transcribed from the paper's table; its error
/// grows with κ², and it fails where κ² reaches 1/ε.
pub fn normal_equations(request: &Request) -> Result<BaselineSolution, BaselineError> {
    request.tall()?;
    let R = linalg::gram_cholesky_r(request.A).map_err(|error| match error {
        NumericError::Singular { index } => BaselineError::NotPositiveDefinite { pivot: index },
        other => other.into(),
    })?;
    let c = linalg::vec_mat(request.b, request.A);
    let x = linalg::solve_upper(&R, &linalg::solve_upper_transposed(&R, &c)?)?;
    BaselineSolution::direct(x, 2.0)
}

/// x = R⁻¹c,  [A b] = Q·[R c; 0 ρ] by Householder reflections.
///
/// Q is never formed. As in LAPACK's `gels`, only a diagonal entry of R that cannot be divided by is an error.
pub fn qr(request: &Request) -> Result<BaselineSolution, BaselineError> {
    request.tall()?;
    let (R, c) = linalg::qr_r_with(request.A, request.b);
    BaselineSolution::direct(linalg::solve_upper(&R, &c)?, 1.0)
}

/// x = VΣ⁺Uᵀc with the R and c of QR,  R = UΣVᵀ; singular values up to max(m, n)·ε·σ₁ count as zero.
///
/// As in LAPACK's `gelsd`: the minimum-norm solution, whatever the shape and rank of A.
pub fn svd(request: &Request) -> Result<BaselineSolution, BaselineError> {
    let (m, n) = request.any_shape()?;
    let x = if m < n {
        if !request.A.is_dense() {
            return Err(BaselineError::NotDense);
        }
        MinimumNorm::of(request.A)?.solve(request.b)
    } else {
        let (R, c) = linalg::qr_r_with(request.A, request.b);
        through_svd(&linalg::svd_of_square(&R)?, &c, m)
    };
    BaselineSolution::direct(x, 1.0)
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use crate::linalg::Matrix;
    use crate::linalg::testing::{conditioned, deficient, normal};

    #[test]
    fn a_problem_solved_by_hand() {
        // min (x₁ − 1)² + (2x₂ − 4)² + 3²
        let A = Matrix::from_rows(&[&[1.0, 0.0], &[0.0, 2.0], &[0.0, 0.0]]);
        for solver in [normal_equations, qr, svd] {
            let x = solver(&request(&A, &[1.0, 4.0, 3.0])).unwrap().x;
            assert!((x[0] - 1.0).abs() < 1e-15 && (x[1] - 2.0).abs() < 1e-15, "{x:?}");
        }
    }

    #[test]
    fn the_normal_equations_feel_the_square_of_the_condition() {
        let error = |solver: BaselineFunction, kappa: f64| {
            let A = conditioned(300, 10, kappa, 1);
            let truth = vec![1.0; 10];
            let b = linalg::mat_vec(&A, &truth);
            let x = solver(&request(&A, &b)).unwrap().x;
            linalg::norm(&linalg::sub(&x, &truth)) / linalg::norm(&truth)
        };
        // ε·κ² = 2e-6 against ε·κ = 2e-11.
        assert!(error(normal_equations, 1e5) > 1e-9 && error(normal_equations, 1e5) < 1e-4);
        assert!(error(qr, 1e5) < 1e-9 && error(svd, 1e5) < 1e-9);
        let A = conditioned(300, 10, 1e10, 1);
        let failed = normal_equations(&request(&A, &vec![1.0; 300]));
        assert!(matches!(failed, Err(BaselineError::NotPositiveDefinite { .. })), "{failed:?}");
    }

    #[test]
    fn dependent_columns_get_the_shortest_solution_from_the_svd() {
        for (m, n) in [(40, 8), (8, 40), (12, 12)] {
            let (A, b) = (deficient(m, n, 5, 2), normal(m, 1, 3).column(0).to_vec());
            let x = svd(&request(&A, &b)).unwrap().x;
            let expected = linalg::mat_vec(&linalg::pseudo_inverse(&A).unwrap(), &b);
            assert!(linalg::norm(&linalg::sub(&x, &expected)) < 1e-11 * linalg::norm(&expected));
        }
        // For the zero matrix every x is a minimizer, and zero has minimum norm.
        let zero = Matrix::zeros(4, 2);
        assert_eq!(svd(&request(&zero, &[1.0; 4])).unwrap().x, [0.0; 2]);
        assert!(qr(&request(&zero, &[1.0; 4])).is_err());
    }
}

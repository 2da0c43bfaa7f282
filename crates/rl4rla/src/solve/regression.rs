//! Statistics of a least-squares fit: standard errors, R².
#![allow(non_snake_case)]

use super::error::SolveError;
use super::problem::Problem;
use crate::linalg::{self, Matrix};
use crate::problem::InstanceError;

/// Largest error of RᵀR, nεκ², at which R may come from AᵀA.
const ACCURATE: f64 = 1e-8;

/// What the statistics of a fit need of A and b: a triangular factor and sums of squares.
#[derive(Clone, PartialEq, Debug)]
pub struct Regression {
    R: Matrix,
    /// m − n.
    pub freedom: usize,
    /// Σ(b − b̄)², or Σb² without an intercept.
    pub total: f64,
}

impl Regression {
    /// Factors A, whose columns must be independent; an error otherwise, or if there are no more rows than columns.
    /// With weights, A and b are those of the weighted problem, and b is centred.
    ///
    /// ```
    /// use rl4rla::solve::{Problem, Regression};
    /// // b = 1, 3 fitted by a constant: σ² = 2 with one degree of freedom, and σ/√2 is the standard error of the mean.
    /// let problem = Problem::from_rows(2, 1, [1.0, 1.0], [1.0, 3.0]).unwrap();
    /// let fit = Regression::of(&problem).unwrap();
    /// assert!((fit.standard_error(2f64.sqrt(), &[1.0]) - 1.0).abs() < 1e-15);
    /// ```
    pub fn of(problem: &Problem) -> Result<Regression, SolveError> {
        let (A, b) = (&problem.matrix, &problem.b);
        InstanceError::check(A, b).map_err(SolveError::Data)?;
        let (m, n) = (A.rows(), A.cols());
        let squared = linalg::gram_cholesky_r(A).ok().filter(|R| {
            let kappa = linalg::condition_number(R);
            n as f64 * f64::EPSILON * kappa * kappa <= ACCURATE
        });
        let R = squared.unwrap_or_else(|| linalg::qr_r(A));
        let dependent = linalg::triangular_inverse(&R).is_err()
            || linalg::condition_number(&R) * f64::EPSILON * m as f64 > 1.0;
        if dependent || m <= n {
            return Err(SolveError::Data(InstanceError::NoSolution));
        }
        Ok(Regression { R, freedom: m - n, total: linalg::dot(b, b) })
    }

    /// σ, the estimated standard deviation of the noise, for ‖Ax − b‖.
    pub fn sigma(&self, residual: f64) -> f64 {
        residual / (self.freedom as f64).sqrt()
    }

    /// The standard error σ·‖R⁻ᵀc‖ of the combination cᵀx of coefficients.
    pub fn standard_error(&self, sigma: f64, c: &[f64]) -> f64 {
        linalg::solve_upper_transposed(&self.R, c).map_or(f64::INFINITY, |v| sigma * linalg::norm(&v))
    }

    /// R² and adjusted R², for ‖Ax − b‖; the number of coefficients includes the intercept, if there is one.
    pub fn r_squared(&self, residual: f64, intercept: bool) -> [f64; 2] {
        let rss = residual * residual;
        let plain = 1.0 - rss / self.total;
        let all = (self.freedom + self.R.cols() - usize::from(intercept)) as f64;
        [plain, 1.0 - (rss / self.freedom as f64) / (self.total / all)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::testing::{conditioned, normal};

    #[test]
    fn standard_errors_are_those_of_the_inverse_gram_matrix() {
        for kappa in [2.0, 1e7] {
            let (A, b) = (conditioned(60, 4, kappa, 1), normal(60, 1, 2).column(0).to_vec());
            let problem = Problem::from_rows(60, 4, A.row_major().to_vec(), b).unwrap();
            let fit = Regression::of(&problem).unwrap();
            let inverse = linalg::triangular_inverse(&linalg::qr_r(&A)).unwrap();
            for j in 0..4 {
                let unit: Vec<f64> = (0..4).map(|i| if i == j { 1.0 } else { 0.0 }).collect();
                let expected = 3.0 * linalg::norm(inverse.row(j));
                let found = fit.standard_error(3.0, &unit);
                assert!((found - expected).abs() < 1e-8 * expected, "{kappa}: {found} {expected}");
            }
            assert_eq!(fit.freedom, 56);
        }
    }

    #[test]
    fn r_squared_compares_with_the_mean() {
        let problem = Problem::from_rows(3, 1, [1.0, 1.0, 1.0], [1.0, 2.0, 2.0]).unwrap();
        let fit = Regression::of(&problem).unwrap();
        assert_eq!(fit.r_squared(3.0, true), [0.0, 0.0 - (9.0 / 2.0) / (9.0 / 2.0) + 1.0]);
        assert_eq!(fit.r_squared(0.0, true), [1.0, 1.0]);
    }

    #[test]
    fn a_fit_without_freedom_has_no_statistics() {
        let square = Problem::from_rows(2, 2, [1.0, 0.0, 0.0, 1.0], [1.0, 2.0]).unwrap();
        assert!(Regression::of(&square).is_err());
        let dependent = Problem::from_rows(3, 2, [1.0, 1.0, 2.0, 2.0, 3.0, 3.0], [1.0, 2.0, 4.0]).unwrap();
        assert!(Regression::of(&dependent).is_err());
    }
}

//! Shared by the sketching solvers: the R of a sketch as a preconditioner, and the solution of the sketched problem.
//!
//! SA = QR,  x₀ = R⁻¹QᵀSb = argmin ‖S(Ax − b)‖
//!
//! The singular values of AR⁻¹ lie within 1/(1 ± √(n/s)), for every A.
#![allow(non_snake_case)]

use super::error::BaselineError;
use super::lsqr::Products;
use super::request::Request;
use crate::execute::{Sketch, SketchKind};
use crate::linalg::{self, Matrix};

/// Minimum number of rows if the parameters of an iteration are computed from n/s: with few columns the singular
/// values of AR⁻¹ can leave their interval, and more rows prevent that.
pub(super) const LEAST_ROWS: usize = 240;

/// The fraction of ε·κ‖r‖ that rounding leaves in an update, as measured: with less, some problems never converge.
pub(super) const ROUNDING: f64 = 0.1;

/// Condition number of R above which its columns count as dependent.
const DEPENDENT: f64 = 0.1 / f64::EPSILON;

/// A sketch of [A b], factored.
pub(super) struct Sketched<'a> {
    /// The matrix.
    A: &'a Matrix,
    /// The triangular factor.
    R: Matrix,
    /// x₀, the solution of the sketched problem.
    pub start: Vec<f64>,
    /// Column norms of R, about those of A.
    lengths: Vec<f64>,
    /// ‖R‖ with columns scaled to length 1.
    norm: f64,
    /// κ of R with columns scaled to length 1.
    pub condition: f64,
}

impl<'a> Sketched<'a> {
    /// Draws a sparse S with this many rows and eight entries ±1/√8 per column, and factors S·[A b].
    pub(super) fn draw(request: &Request<'a>, size: usize) -> Result<Self, BaselineError> {
        let (m, n) = (request.A.rows(), request.A.cols());
        let S = Sketch::draw(SketchKind::Sjlt, size, m, &request.stream.derive("sketch", 0));
        let (SA, Sb) = (S.apply(request.A), S.apply_vec(request.b));
        let both = Matrix::from_fn(size, n + 1, |i, j| if j < n { SA.get(i, j) } else { Sb[i] });
        let factored = linalg::qr_r(&both);
        let R = Matrix::from_fn(n, n, |i, j| factored.get(i, j));
        let lengths: Vec<f64> = (0..n).map(|j| linalg::norm(&R.column(j)[..=j])).collect();
        if lengths.contains(&0.0) {
            return Err(BaselineError::RankDeficient { condition: f64::INFINITY });
        }
        let even = Matrix::from_fn(n, n, |i, j| R.get(i, j) / lengths[j]);
        let sigma = linalg::singular_values(&even).ok_or(linalg::NumericError::NotFinite)?;
        let (norm, condition) = (sigma[0], sigma[0] / sigma[n - 1]);
        if condition >= DEPENDENT {
            return Err(BaselineError::RankDeficient { condition });
        }
        let start = linalg::solve_upper(&R, &factored.column(n)[..n])?;
        Ok(Sketched { A: request.A, R, start, lengths, norm, condition })
    }

    /// ‖AD⁻¹‖‖Dx‖ with D the column norms of A: an upper bound on ‖Ax‖, up to the distortion.
    pub(super) fn reach(&self, x: &[f64]) -> f64 {
        let scaled: Vec<f64> = x.iter().zip(&self.lengths).map(|(x, length)| x * length).collect();
        self.norm * linalg::norm(&scaled)
    }

    /// R⁻¹v.
    pub(super) fn solve(&self, v: &[f64]) -> Result<Vec<f64>, BaselineError> {
        Ok(linalg::solve_upper(&self.R, v)?)
    }

    /// R⁻ᵀv.
    pub(super) fn solve_transposed(&self, v: &[f64]) -> Result<Vec<f64>, BaselineError> {
        Ok(linalg::solve_upper_transposed(&self.R, v)?)
    }
}

impl Products for Sketched<'_> {
    /// r = AR⁻¹y − w and R⁻ᵀAᵀr.
    fn residual_and_gradient(&self, y: &[f64], w: &[f64]) -> Result<(Vec<f64>, Vec<f64>), BaselineError> {
        let (r, g) = linalg::residual_and_gradient(self.A, &self.solve(y)?, w);
        Ok((r, self.solve_transposed(&g)?))
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use crate::linalg::testing::{conditioned, deficient, normal};

    #[test]
    fn a_sketch_takes_the_condition_away() {
        let (A, b) = (conditioned(2000, 20, 1e8, 1), normal(2000, 1, 2).column(0).to_vec());
        let sketched = Sketched::draw(&request(&A, &b), 240).unwrap();
        let AR = linalg::matmul(&A, &linalg::triangular_inverse(&sketched.R).unwrap());
        let sigma = linalg::singular_values(&AR).unwrap();
        let width = (20.0_f64 / 240.0).sqrt();
        // A quarter wider than the asymptotic interval.
        assert!(sigma[0] < 1.25 / (1.0 - width) && sigma[19] > 0.8 / (1.0 + width), "{sigma:?}");
        assert!((1e7..1e9).contains(&sketched.condition), "{:e}", sketched.condition);
        // ‖Ax‖ ≤ ‖AD⁻¹‖‖Dx‖ ≤ √n‖A‖‖D‖‖x‖ up to the distortion.
        assert!((0.5..10.0).contains(&(sketched.reach(&[1.0; 20]) / 20.0_f64.sqrt())));
        // The solution of the sketched problem is as good as the distortion permits.
        assert!(
            linalg::norm(&linalg::sub(&linalg::mat_vec(&A, &sketched.start), &b)) < 1.1 * linalg::norm(&b)
        );
    }

    #[test]
    fn dependent_columns_are_noticed() {
        for A in [deficient(200, 6, 5, 3), Matrix::zeros(200, 6)] {
            let failed = Sketched::draw(&request(&A, &vec![1.0; 200]), 72).err();
            assert!(matches!(failed, Some(BaselineError::RankDeficient { .. })), "{failed:?}");
        }
    }
}

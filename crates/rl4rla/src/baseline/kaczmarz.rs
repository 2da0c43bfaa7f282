//! Randomized Kaczmarz: one row at a time, sampled by squared row norm.
#![allow(non_snake_case)]

use super::error::BaselineError;
use super::request::{BaselineSolution, Request};
use crate::linalg::{self, Matrix};
use crate::rng::Discrete;

/// Maximum number of projections, in multiples of m.
const EPOCHS: usize = 20;
/// ‖Ax − b‖/‖b‖ below which it stops, checked after every m projections.
const TOLERANCE: f64 = 1e-14;

/// x ← x + (bᵢ − aᵢᵀx)/‖aᵢ‖²·aᵢ,  i drawn with probability ‖aᵢ‖²/‖A‖²_F, from x = 0.
///
/// For consistent systems E‖xₖ − x*‖² ≤ (1 − 1/κ_F²)ᵏ‖x*‖² with κ_F = ‖A‖_F‖A⁺‖ (Strohmer and Vershynin); for others
/// it converges to a neighbourhood of x*. Checks ‖Ax − b‖ ≤ τ‖b‖, τ = 10⁻¹⁴, after every m projections; ends after
/// 20m.
pub fn kaczmarz(request: &Request) -> Result<BaselineSolution, BaselineError> {
    let (m, n) = request.any_shape()?;
    let (A, b) = (request.A, request.b);
    let (tolerance, most) =
        (request.tolerance.unwrap_or(TOLERANCE), request.iterations.unwrap_or(EPOCHS * m));
    let squares = squared_norms(A);
    let law = Discrete::new(&squares)?;
    let (mut x, mut made, mut passes) = (vec![0.0; n], 0, 1.0);
    while made < most {
        let count = m.min(most - made);
        for i in law.sample(&request.stream.derive("rows", (made / m) as u64), count) {
            let row = A.row(i);
            let step = (b[i] - linalg::dot(row, &x)) / squares[i];
            x.iter_mut().zip(row).for_each(|(x, a)| *x += step * a);
        }
        made += count;
        passes += count as f64 / m as f64;
        let length = linalg::norm(&x);
        if !length.is_finite() {
            return Err(BaselineError::Diverged { iteration: made });
        }
        if made < most {
            passes += 1.0;
            let residual = linalg::norm(&linalg::sub(&linalg::mat_vec(A, &x), b));
            if residual <= tolerance * linalg::norm(b) {
                return BaselineSolution::new(x, made, passes, true);
            }
        }
    }
    BaselineSolution::new(x, made, passes, false)
}

/// ‖aᵢ‖² of every row.
pub(super) fn squared_norms(A: &Matrix) -> Vec<f64> {
    A.row_major().chunks_exact(A.cols()).map(|row| linalg::dot(row, row)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use crate::linalg::testing::{conditioned, normal};
    use crate::rng::Stream;

    /// ‖xₖ − x*‖²/‖x*‖² for many seeds: the mean and its standard error.
    fn errors(A: &Matrix, iterations: usize, seeds: u64) -> (f64, f64) {
        let truth = normal(A.cols(), 1, 7).column(0).to_vec();
        let b = linalg::mat_vec(A, &truth);
        let error = |seed| {
            let asked = Request { iterations: Some(iterations), ..Request::new(A, &b, Stream::new(seed)) };
            let x = kaczmarz(&asked).unwrap().x;
            (linalg::norm(&linalg::sub(&x, &truth)) / linalg::norm(&truth)).powi(2)
        };
        let all: Vec<f64> = (0..seeds).map(error).collect();
        let mean = all.iter().sum::<f64>() / seeds as f64;
        let spread = all.iter().map(|e| (e - mean).powi(2)).sum::<f64>() / (seeds - 1) as f64;
        (mean, (spread / seeds as f64).sqrt())
    }

    #[test]
    fn the_rate_is_exact_for_orthonormal_columns() {
        // All singular values equal: E‖xₖ − x*‖² = (1 − 1/n)ᵏ‖x*‖² exactly.
        let A = conditioned(60, 6, 1.0, 1);
        for k in [5, 15, 30] {
            let ((mean, error), expected) = (errors(&A, k, 400), (1.0 - 1.0 / 6.0_f64).powi(k as i32));
            assert!((mean - expected).abs() < 4.0 * error, "{k}: {mean} ± {error} against {expected}");
        }
    }

    #[test]
    fn the_rate_is_within_its_bound() {
        let A = conditioned(80, 5, 4.0, 2);
        let sigma = linalg::singular_values(&A).unwrap();
        let frobenius: f64 = sigma.iter().map(|s| s * s).sum();
        let rate = 1.0 - sigma[4] * sigma[4] / frobenius;
        let (mean, error) = errors(&A, 100, 200);
        assert!(mean < rate.powi(100) + 4.0 * error, "{mean} ± {error} against {}", rate.powi(100));
    }

    #[test]
    fn one_row_is_solved_by_one_projection() {
        let A = Matrix::from_rows(&[&[3.0, 4.0]]);
        let x = kaczmarz(&Request { iterations: Some(1), ..request(&A, &[50.0]) }).unwrap().x;
        assert_eq!(x, [6.0, 8.0]);
        let failed = kaczmarz(&request(&Matrix::zeros(2, 2), &[1.0, 1.0]));
        assert!(matches!(failed, Err(BaselineError::Weights(_))), "{failed:?}");
    }
}

//! The minimum-norm least-squares solution, for many right-hand sides.
#![allow(non_snake_case)]

use super::error::BaselineError;
use crate::linalg::{self, Matrix, Svd};

/// A matrix factored once: M = QUΣVᵀ, or the transpose of that if M is wide.
pub(super) struct MinimumNorm {
    Q: Matrix,
    svd: Svd,
    size: usize,
    wide: bool,
}

impl MinimumNorm {
    /// Factors a matrix of any shape.
    pub(super) fn of(M: &Matrix) -> Result<MinimumNorm, BaselineError> {
        let wide = M.rows() < M.cols();
        let factored = if wide { linalg::thin_qr(&M.transpose()) } else { linalg::thin_qr(M) };
        let (Q, R) = factored.ok_or(BaselineError::NotFinite)?;
        Ok(MinimumNorm { Q, svd: linalg::svd_of_square(&R)?, size: M.rows().max(M.cols()), wide })
    }

    /// M⁺v, where singular values up to max(m, n)·ε·σ₁ count as zero.
    pub(super) fn solve(&self, v: &[f64]) -> Vec<f64> {
        if self.wide {
            // M = (QUΣVᵀ)ᵀ = VΣUᵀQᵀ, so M⁺ = QUΣ⁺Vᵀ.
            let Svd { U, sigma, V } = &self.svd;
            let turned = linalg::vec_mat(v, V);
            return linalg::mat_vec(&self.Q, &linalg::mat_vec(U, &divided(&turned, sigma, self.size)));
        }
        through_svd(&self.svd, &linalg::vec_mat(v, &self.Q), self.size)
    }
}

/// VΣ⁺Uᵀc, where singular values up to size·ε·σ₁ count as zero.
pub(super) fn through_svd(svd: &Svd, c: &[f64], size: usize) -> Vec<f64> {
    let turned = linalg::vec_mat(c, &svd.U);
    linalg::mat_vec(&svd.V, &divided(&turned, &svd.sigma, size))
}

/// Σ⁺v.
fn divided(v: &[f64], sigma: &[f64], size: usize) -> Vec<f64> {
    let cutoff = size as f64 * f64::EPSILON * sigma.first().copied().unwrap_or(0.0);
    v.iter().zip(sigma).map(|(v, s)| if *s > cutoff { v / s } else { 0.0 }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::testing::{deficient, normal};

    #[test]
    fn it_is_the_pseudo_inverse() {
        for (m, n, rank) in [(1, 1, 1), (9, 4, 4), (9, 4, 2), (4, 9, 4), (4, 9, 3), (7, 7, 6)] {
            let (M, v) = (deficient(m, n, rank, 1), normal(m, 1, 2).column(0).to_vec());
            let expected = linalg::mat_vec(&linalg::pseudo_inverse(&M).unwrap(), &v);
            let found = MinimumNorm::of(&M).unwrap().solve(&v);
            let gap = linalg::norm(&linalg::sub(&found, &expected));
            assert!(gap < 1e-11 * linalg::norm(&expected), "{m}×{n} of rank {rank}: {gap:e}");
        }
    }
}

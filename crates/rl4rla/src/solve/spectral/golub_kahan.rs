//! Singular triplets by block Golub-Kahan bidiagonalisation with full orthogonalisation and thick restarts.
//!
//! A·V = U·B and Aᵀ·U = V·Bᵀ + Q·C with orthonormal U and [V Q]. Both sides are made orthonormal, and AᵀA is never
//! formed, so that small singular values keep the digits they have relative to the largest (Baglama and Reichel 2005).
#![allow(non_snake_case)]

use super::basis::Basis;
use super::operator::{LinearOperator, columns};
use super::probe::SecondStart;
use super::{BasisLimits, Triplets};
use crate::linalg::{Matrix, Svd, norm, svd_of_square};
use crate::rng::Stream;
use faer::Mat;

/// Where the iteration ended.
pub struct GolubKahanEnd {
    /// The triplets of A/c, largest first.
    pub triplets: Triplets,
    /// What a fresh block saw of the rest; `None` if the iteration stopped before.
    pub probe: Option<SecondStart>,
}

struct GolubKahan<'a> {
    operator: &'a LinearOperator<'a>,
    right: Basis,
    left: Basis,
    B: Mat<f64>,
    /// The columns of C that are not zero, for the last columns of U.
    C: Mat<f64>,
}

impl GolubKahan<'_> {
    /// Columns of U, and of V.
    fn done(&self) -> usize {
        self.left.len()
    }

    /// Multiplies the last block by A and by Aᵀ.
    fn expand(&mut self) {
        let first = self.done();
        let Q = self.right.last(first);
        let (h, R) = self.left.extend(self.operator.times(&Q));
        for j in 0..Q.cols() {
            (0..first).for_each(|i| self.B[(i, first + j)] = h[(i, j)]);
            (0..Q.cols()).for_each(|i| self.B[(first + i, first + j)] = R[(i, j)]);
        }
        let U = self.left.last(first);
        (_, self.C) = self.right.extend(self.operator.transposed_times(&U));
    }

    /// The singular value decomposition of B, and estimates of ‖Aᵀu − σv‖.
    fn ritz(&self) -> Option<(Svd, Vec<f64>)> {
        let (d, p) = (self.done(), self.C.ncols());
        let svd = svd_of_square(&Matrix::from_fn(d, d, |i, j| self.B[(i, j)])).ok()?;
        let residual = |j: usize| {
            let last = &svd.U.column(j)[d - p..];
            let image: Vec<f64> = (0..self.C.nrows())
                .map(|i| last.iter().enumerate().map(|(k, y)| self.C[(i, k)] * y).sum())
                .collect();
            norm(&image)
        };
        let residuals = (0..d).map(residual).collect();
        Some((svd, residuals))
    }

    /// Keeps the first `count` triplets and the next block.
    fn restart(&mut self, svd: &Svd, count: usize) {
        let done = self.done();
        self.right.restart(columns(&svd.V, count), done);
        self.left.restart(columns(&svd.U, count), done);
        self.B = Mat::zeros(self.B.nrows(), self.B.ncols());
        (0..count).for_each(|i| self.B[(i, i)] = svd.sigma[i]);
    }
}

/// The k leading singular triplets of A/c, for A at least as tall as wide; `None` if an iteration for a small matrix
/// fails.
pub fn triplets(
    operator: &LinearOperator,
    k: usize,
    limits: &BasisLimits,
    draws: Stream,
) -> Option<GolubKahanEnd> {
    let (m, n, p) = (operator.rows(), operator.cols(), limits.block);
    let room = limits.room(k, n);
    let mut state = GolubKahan {
        operator,
        right: Basis::new(n, room + 2 * p, draws.derive("right", 0)),
        left: Basis::new(m, room + p, draws.derive("left", 0)),
        B: Mat::zeros(room + p, room + p),
        C: Mat::zeros(0, 0),
    };
    state.right.extend_randomly(p);
    let mut steps = 0;
    loop {
        state.expand();
        steps += 1;
        let full = state.done() + p > room;
        let out = operator.passes() >= limits.passes;
        if !(full || out || state.done() > k && limits.looks_at(steps)) {
            continue;
        }
        let (svd, residuals) = state.ritz()?;
        let target = limits.target * svd.sigma[0];
        let converged = state.done() > k && residuals[..k].iter().all(|residual| *residual <= target);
        if converged || out {
            let count = k.min(state.done());
            state.restart(&svd, count);
            state.right.truncate(count);
            let triplets = Triplets {
                values: svd.sigma[..count].to_vec(),
                left: state.left.last(0),
                right: state.right.last(0),
            };
            if out {
                return Some(GolubKahanEnd { triplets, probe: None });
            }
            let probe = probe(&mut state, limits, steps, &triplets.values)?;
            if probe.is_clear(target) {
                return Some(GolubKahanEnd { triplets, probe: Some(probe) });
            }
            continue;
        }
        if full {
            let kept = limits.kept(k, state.done());
            state.restart(&svd, kept);
        }
    }
}

/// As for eigenvalues: iterates from a fresh random block that is orthogonal to the triplets found.
fn probe(state: &mut GolubKahan, limits: &BasisLimits, steps: usize, found: &[f64]) -> Option<SecondStart> {
    let (k, n) = (found.len(), state.operator.cols());
    state.right.extend_randomly(limits.block);
    let steps = limits.probing(steps, k, n);
    (0..steps).for_each(|_| state.expand());
    let (svd, _) = state.ritz()?;
    let rise = svd.sigma[k - 1] - found[k - 1];
    Some(SecondStart::of_singular_values(rise, &svd.sigma[k..], steps, limits.block, n))
}

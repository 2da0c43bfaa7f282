//! Factorisations, for matrices that are small or have few columns.
#![allow(non_snake_case)]

use super::basis::Basis;
use super::operator::{LinearOperator, columns};
use super::{Triplets, Which};
use crate::linalg::{Matrix, gram, product, qr_r, svd_of_square, symmetric_eigen};
use crate::rng::Stream;

/// Range of the largest entry in which squares neither overflow nor lose digits.
const SQUARES: std::ops::Range<f64> = 1e-100..1e100;

/// The k leading eigenpairs of A, from all of them; `None` if the iteration fails.
pub fn eigenpairs(A: &Matrix, k: usize, which: Which) -> Option<(Vec<f64>, Matrix)> {
    let (all, vectors) = symmetric_eigen(A)?;
    let order = which.order(&all);
    let values = order[..k].iter().map(|&j| all[j]).collect();
    Some((values, Matrix::from_fn(A.cols(), k, |i, j| vectors.get(i, order[j]))))
}

/// Which factorisation gives the right singular vectors.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SpectralFactor {
    /// AᵀA: fast, with an error of ε·σ₁²/σ.
    Gram,
    /// The R of QR, with an error of ε·σ₁.
    Qr,
}

/// The k leading singular triplets of A/c, for A at least as tall as wide; `None` if an iteration fails, or if AᵀA is
/// not accurate enough for the tolerance.
pub fn triplets(
    operator: &LinearOperator,
    factor: SpectralFactor,
    k: usize,
    tolerance: f64,
    draws: Stream,
) -> Option<Triplets> {
    let transposed = operator.transposed.then(|| operator.A.transpose().by_rows());
    let A = transposed.as_ref().unwrap_or(operator.A);
    operator.count(1);
    let V = match factor {
        SpectralFactor::Gram if !SQUARES.contains(&operator.factor) => return None,
        SpectralFactor::Gram => {
            let (squares, V) = symmetric_eigen(&gram(A))?;
            if f64::EPSILON * (squares[0] / squares[k - 1].max(0.0)).sqrt() > 0.1 * tolerance {
                return None;
            }
            V
        }
        SpectralFactor::Qr => svd_of_square(&qr_r(A)).ok()?.V,
    };
    let V = Matrix::from_faer(columns(&V, k).to_owned());
    // A·V = U·R with orthonormal U, and the decomposition of R makes both sides orthogonal.
    let mut left = Basis::new(operator.rows(), k, draws);
    let (_, R) = left.extend(operator.times(&V));
    let svd = svd_of_square(&Matrix::from_faer(R)).ok()?;
    Some(Triplets {
        values: svd.sigma,
        left: Matrix::from_faer(product(left.all(), svd.U.as_faer())),
        right: Matrix::from_faer(product(V.as_faer(), svd.V.as_faer())),
    })
}

//! Draws matrices and linear systems: pure functions of a family and a stream.
#![allow(non_snake_case)]

use super::outline::{Frame, Outline};
use super::spectrum::{self, SpectrumLaw};
use super::{Family, FamilyError, Instance, Right, Scale, factors};
use crate::linalg::{self, Matrix};
use crate::rng::Stream;
use faer::Mat;

/// A = Q·Λ·Qᵀ with these eigenvalues, symmetric to the last bit, and Q.
pub(super) fn symmetric(lambda: &[f64], stream: &Stream) -> (Matrix, Matrix) {
    let n = lambda.len();
    let Q = factors::haar(n, n, &stream.derive("vectors", 0));
    let P = linalg::matmul_t(&scale_columns(&Q, lambda), &Q);
    // Rounding leaves P not exactly symmetric.
    let A = Mat::from_fn(n, n, |i, j| 0.5 * (P.get(i, j) + P.get(j, i)));
    (Matrix::from_faer(A), Q)
}

/// A symmetric system with x ~ N(0, I) and b = A·x. Unless normalised, λmax is that of the Gram matrix GᵀG/n of a
/// Gaussian G.
pub(super) fn symmetric_system(family: &Family, stream: &Stream) -> Result<Instance, FamilyError> {
    let n = family.cols;
    let largest = match family.scale {
        Scale::Unit => 1.0,
        Scale::Raw => {
            let G = factors::gaussian(n, n, None, &stream.derive("gram", 0));
            singular_values(family, &G)?[0].powi(2) / n as f64
        }
    };
    let mut lambda = spectrum::draw(SpectrumLaw::Even, n, family.condition, &stream.derive("spectrum", 0));
    lambda.iter_mut().for_each(|l| *l *= largest);
    let (A, _) = symmetric(&lambda, stream);
    let x = stream.derive("solution", 0).normals(n);
    let mut instance = Instance::consistent(A, x, lambda);
    instance.symmetric = true;
    Ok(instance)
}

/// A = U·coreᵀ with orthonormal U, before U is drawn.
pub(super) struct Tall {
    pub core: Matrix,
    /// The singular values of A.
    pub sigma: Vec<f64>,
}

/// A = U·Σ·Vᵀ with the family's options, scaled to the given norm if the family is normalized.
pub(super) fn tall(
    family: &Family,
    law: SpectrumLaw,
    norm: f64,
    stream: &Stream,
) -> Result<Tall, FamilyError> {
    let cols = family.cols;
    let drawn = spectrum::draw(law, cols, family.condition, &stream.derive("spectrum", 0));
    let V = factors::right(cols, family.right, &stream.derive("right", 0));
    let core = scale_columns(&V, &drawn);
    // U is orthonormal, so A has the singular values of its small core.
    let mut sigma = match family.right {
        Right::Gauss | Right::StudentT => drawn,
        Right::ScaledRows => singular_values(family, &core)?,
    };
    let unit = match family.scale {
        Scale::Unit => norm / sigma[0],
        Scale::Raw => 1.0,
    };
    sigma.iter_mut().for_each(|s| *s *= unit);
    Ok(Tall { core: scale_columns(&core, &vec![unit; cols]), sigma })
}

impl Tall {
    /// A, with the U of this stream.
    pub fn matrix(&self, family: &Family, stream: &Stream) -> Matrix {
        let Frame { drawn, turn } =
            factors::left(family.rows, family.cols, family.leverage, None, &stream.derive("left", 0));
        linalg::matmul(&drawn, &linalg::matmul_t(&turn, &self.core))
    }
}

/// A tall system with b = (1 − s)·r + s·o, r ∈ range(A), o ⟂ range(A), ‖r‖ = ‖o‖ = mean(σ).
pub(super) fn tall_system(
    family: &Family,
    law: SpectrumLaw,
    stream: &Stream,
) -> Result<Outline, FamilyError> {
    let Tall { core, sigma } = tall(family, law, 1.0, stream)?;
    let level = sigma.iter().sum::<f64>() / family.cols as f64;
    let mut x = stream.derive("solution", 0).normals(family.cols);
    let length = linalg::norm(&linalg::vec_mat(&x, &core));
    x.iter_mut().for_each(|x| *x *= (1.0 - family.outside) * level / length);
    Ok(Outline::new(family, &core, sigma, x, family.outside * level, stream))
}

fn singular_values(family: &Family, matrix: &Matrix) -> Result<Vec<f64>, FamilyError> {
    linalg::singular_values(matrix).ok_or(FamilyError::NoSpectrum { kind: family.kind })
}

/// M·diag(s).
fn scale_columns(M: &Matrix, s: &[f64]) -> Matrix {
    Matrix::from_faer(Mat::from_fn(M.rows(), M.cols(), |i, j| M.get(i, j) * s[j]))
}

#[cfg(test)]
mod tests;

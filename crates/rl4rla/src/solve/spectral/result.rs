//! Pairs, and how good they are.
#![allow(non_snake_case)]

use super::direct::SpectralFactor;
use super::probe::SecondStart;
use crate::linalg::Matrix;
use std::fmt;

/// How pairs were computed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SpectralMethod {
    /// Block Krylov iteration with restarts.
    BlockKrylov,
    /// All eigenpairs of A.
    Eigendecomposition,
    /// The eigenvectors of AᵀA.
    Gram,
    /// The R of QR and its singular value decomposition.
    Qr,
    /// A is zero.
    Zero,
}

impl From<SpectralFactor> for SpectralMethod {
    fn from(factor: SpectralFactor) -> SpectralMethod {
        match factor {
            SpectralFactor::Gram => SpectralMethod::Gram,
            SpectralFactor::Qr => SpectralMethod::Qr,
        }
    }
}

impl SpectralMethod {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            SpectralMethod::BlockKrylov => "block Krylov iteration",
            SpectralMethod::Eigendecomposition => "eigendecomposition of A",
            SpectralMethod::Gram => "eigendecomposition of AᵀA",
            SpectralMethod::Qr => "QR factorisation and the SVD of R",
            SpectralMethod::Zero => "A is zero",
        }
    }

    /// The program of the catalogue that it continues.
    pub fn program(self) -> Option<&'static str> {
        (self == SpectralMethod::BlockKrylov).then_some("block-krylov")
    }
}

/// Values and vectors.
#[derive(Clone, PartialEq, Debug)]
pub struct Pairs {
    /// Eigenvalues, the most wanted first, or singular values, largest first.
    pub values: Vec<f64>,
    /// Eigenvectors or right singular vectors, as columns; the entry of largest size is positive.
    pub right: Matrix,
    /// Left singular vectors, as columns.
    pub left: Option<Matrix>,
}

/// The result of `eigenpairs` or `truncated_svd`. [`Spectral::into_pairs`] returns the pairs, or an error if they do not
/// meet the tolerance; [`Spectral::estimate`] returns them either way.
#[must_use = "pairs may not have converged: `into_pairs` tells"]
#[derive(Clone, PartialEq, Debug)]
pub struct Spectral {
    pub(super) pairs: Pairs,
    /// Why the pairs do not meet the tolerance, if they do not.
    pub obstacle: Option<String>,
    /// ‖Av − λv‖ relative to the largest |λ| seen, or the larger of ‖Av − σu‖ and ‖Aᵀu − σv‖ relative to σ₁, measured by
    /// products with A.
    pub residuals: Vec<f64>,
    /// Largest entry of |VᵀV − I|, and of |UᵀU − I|.
    pub orthogonality: f64,
    /// What a second start has seen of the other values; `None` for a factorisation, which computes them all.
    pub probe: Option<SecondStart>,
    /// Reads of A: a product with any number of vectors is one.
    pub passes: usize,
    /// How the pairs were computed.
    pub method: SpectralMethod,
}

impl Spectral {
    /// Any orthonormal vectors, for A = 0.
    pub(super) fn zero(rows: usize, cols: usize, k: usize, sides: bool) -> Spectral {
        let unit = |n: usize| Matrix::from_fn(n, k, |i, j| f64::from(u8::from(i == j)));
        Spectral {
            pairs: Pairs { values: vec![0.0; k], right: unit(cols), left: sides.then(|| unit(rows)) },
            obstacle: None,
            residuals: vec![0.0; k],
            orthogonality: 0.0,
            probe: None,
            passes: 1,
            method: SpectralMethod::Zero,
        }
    }

    /// Whether all pairs meet the tolerance.
    pub fn is_converged(&self) -> bool {
        self.obstacle.is_none()
    }

    /// The pairs, or an error if they do not meet the tolerance.
    pub fn into_pairs(self) -> Result<Pairs, Unconverged> {
        if self.is_converged() { Ok(self.pairs) } else { Err(Unconverged(Box::new(self))) }
    }

    /// The pairs, converged or not; fewer than asked for if the iteration stopped early.
    pub fn estimate(&self) -> &Pairs {
        &self.pairs
    }
}

/// Pairs that do not meet the tolerance.
#[derive(Clone, PartialEq, Debug)]
pub struct Unconverged(pub Box<Spectral>);

impl fmt::Display for Unconverged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not converged: {}", self.0.obstacle.as_deref().unwrap_or_default())
    }
}

impl std::error::Error for Unconverged {}

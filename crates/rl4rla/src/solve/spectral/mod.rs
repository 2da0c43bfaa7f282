//! A few eigenpairs of a symmetric matrix, or singular triplets of any, with a certificate.
//!
//! Large matrices take a block Krylov iteration, which starts with the space of the catalogue's `block-krylov` and goes on
//! from there until the residuals meet the tolerance; small ones, and those with few columns, a factorisation. The result
//! is measured by products with A itself, and the k leading pairs are told from k others by a second start: see
//! [`Probe`].
#![allow(non_snake_case)]

mod basis;
mod certificate;
mod direct;
mod golub_kahan;
mod lanczos;
mod limits;
mod operator;
mod options;
mod probe;
mod result;

pub use options::{SpectralError, SpectralOptions, Which};
pub use probe::{RISK, SecondStart};
pub use result::{Pairs, Spectral, SpectralMethod, Unconverged};

use crate::linalg::{Matrix, asymmetry, largest_entry};
use crate::problem::InstanceError;
use crate::rng::Stream;
use certificate::MeasuredPairs;
use direct::SpectralFactor;
use limits::BasisLimits;
use operator::LinearOperator;

/// Singular values, largest first, with left and right singular vectors as columns.
struct Triplets {
    values: Vec<f64>,
    left: Matrix,
    right: Matrix,
}

/// Order of a matrix up to which all eigenpairs are computed.
const SMALL: usize = 300;
/// Order up to which they are computed if the iteration fails.
const AFFORDABLE: usize = 2000;
/// An iteration needs a basis that is a small part of the space.
const SPACE: usize = 8;
/// Largest size of an entry, so that sums of products do not overflow.
const LARGEST: f64 = 1e150;

/// The k leading eigenpairs of a symmetric matrix in memory.
///
/// ```
/// use rl4rla::linalg::Matrix;
/// use rl4rla::solve::{SpectralOptions, eigenpairs};
/// let a = Matrix::from_row_major(3, 3, vec![2.0, 1.0, 0.0, 1.0, 2.0, 0.0, 0.0, 0.0, -5.0]);
/// let pairs = eigenpairs(&a, 2, &SpectralOptions::default())?.into_pairs()?;
/// assert!((pairs.values[0] + 5.0).abs() < 1e-14 && (pairs.values[1] - 3.0).abs() < 1e-14);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn eigenpairs(A: &Matrix, k: usize, options: &SpectralOptions) -> Result<Spectral, SpectralError> {
    if A.is_sparse() {
        return eigenpairs(&A.clone().to_dense(), k, options);
    }
    let (rows, cols) = (A.rows(), A.cols());
    let largest = check(A, k, options)?;
    if rows != cols {
        return Err(InstanceError::NotSquare { rows, cols }.into());
    }
    if A.is_in_file() {
        return Err(SpectralError::InFile);
    }
    if let Some((row, col)) = asymmetry(A) {
        let (value, mirrored) = (A.get(row, col), A.get(col, row));
        return Err(InstanceError::NotSymmetric { row, col, value, mirrored }.into());
    }
    if largest == 0.0 {
        return Ok(Spectral::zero(cols, cols, k, false));
    }
    let operator = LinearOperator::new(A, largest, false);
    let all = || {
        let (values, vectors) =
            direct::eigenpairs(A, k, options.which).ok_or(SpectralError::NoConvergence)?;
        let values = values.iter().map(|value| value / operator.factor).collect();
        operator.count(1);
        let measured = MeasuredPairs::of_eigenpairs(&operator, values, vectors, None);
        Ok(measured.judged(&operator, k, options, SpectralMethod::Eigendecomposition))
    };
    let limits = BasisLimits::new(k, options.passes, options.tolerance());
    if cols <= SMALL || cols < SPACE * (k + limits.block) {
        return all();
    }
    let draws = Stream::new(options.seed).derive("spectral", 0);
    let ended = lanczos::eigenpairs(&operator, k, options.which, &limits, draws)
        .ok_or(SpectralError::NoConvergence)?;
    let measured = MeasuredPairs::of_eigenpairs(&operator, ended.values, ended.vectors, Some(ended.size));
    let found = measured.with_probe(ended.probe).judged(&operator, k, options, SpectralMethod::BlockKrylov);
    if found.is_converged() || cols > AFFORDABLE { Ok(found) } else { all() }
}

/// The k leading singular triplets of a matrix of any shape.
///
/// ```
/// use rl4rla::linalg::Matrix;
/// use rl4rla::solve::{SpectralOptions, truncated_svd};
/// let a = Matrix::from_row_major(3, 2, vec![3.0, 0.0, 0.0, 0.5, 4.0, 0.0]);
/// let pairs = truncated_svd(&a, 1, &SpectralOptions::default())?.into_pairs()?;
/// assert!((pairs.values[0] - 5.0).abs() < 1e-14);
/// assert!((pairs.left.unwrap().get(2, 0).abs() - 0.8).abs() < 1e-14);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn truncated_svd(A: &Matrix, k: usize, options: &SpectralOptions) -> Result<Spectral, SpectralError> {
    if A.is_sparse() {
        return truncated_svd(&A.clone().to_dense(), k, options);
    }
    let (rows, cols) = (A.rows(), A.cols());
    let (largest, wide) = (check(A, k, options)?, rows < cols);
    if largest == 0.0 {
        return Ok(Spectral::zero(rows, cols, k, true));
    }
    if A.is_in_file() && wide {
        return Err(SpectralError::InFile);
    }
    let operator = LinearOperator::new(A, largest, wide);
    let draws = Stream::new(options.seed).derive("spectral", 1);
    let tolerance = options.tolerance();
    let measured = |triplets: Triplets, probe, method| {
        let measured = MeasuredPairs::of_triplets(&operator, triplets).with_probe(probe);
        measured.judged(&operator, k, options, method)
    };
    let factored = |factor: SpectralFactor| {
        let triplets = direct::triplets(&operator, factor, k, tolerance, draws);
        triplets.map(|triplets| measured(triplets, None, factor.into()))
    };
    let direct = || {
        let found = factored(SpectralFactor::Gram).filter(Spectral::is_converged);
        found.or_else(|| factored(SpectralFactor::Qr)).ok_or(SpectralError::NoConvergence)
    };
    let limits = BasisLimits::new(k, options.passes, tolerance);
    let least = rows.min(cols);
    if is_direct_cheaper(rows.max(cols), least, k) || least < SPACE * (k + limits.block) {
        return direct();
    }
    let ended = golub_kahan::triplets(&operator, k, &limits, draws).ok_or(SpectralError::NoConvergence)?;
    let found = measured(ended.triplets, ended.probe, SpectralMethod::BlockKrylov);
    if found.is_converged() || least > AFFORDABLE { Ok(found) } else { direct() }
}

/// Compares the operations of AᵀA and its eigenvectors, per entry of A, with those of an iteration that needs a space of
/// about 2k + 50 dimensions.
fn is_direct_cheaper(m: usize, n: usize, k: usize) -> bool {
    let (m, n, k) = (m as f64, n as f64, k as f64);
    n <= SMALL as f64 || n + 15.0 * n * n / m <= 6.0 * (2.0 * k + 50.0)
}

/// The largest size of an entry, or why there is nothing to compute.
fn check(A: &Matrix, k: usize, options: &SpectralOptions) -> Result<f64, SpectralError> {
    let (rows, cols) = (A.rows(), A.cols());
    if rows == 0 || cols == 0 {
        return Err(InstanceError::Empty { rows, cols }.into());
    }
    let most = rows.min(cols);
    if k == 0 || k > most {
        return Err(SpectralError::Count { asked: k, most });
    }
    options.check()?;
    let largest = largest_entry(A);
    if let Some(why) = A.read_failure() {
        return Err(SpectralError::Unreadable(why.into()));
    }
    let entry = |(row, col, value)| InstanceError::MatrixEntry { row, col, value }.into();
    match largest {
        Ok(largest) if largest <= LARGEST => Ok(largest),
        Ok(_) => Err(entry(A.find(|value| value.abs() > LARGEST).expect("the largest is"))),
        Err(place) => Err(entry(place)),
    }
}

#[cfg(test)]
mod tests;

//! Singular values and the pseudo-inverse.

use faer::Par;
use faer::diag::Diag;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::svd::{self, ComputeSvdVectors};
use faer::{Mat, MatMut};

use super::{Matrix, NumericError, matmul_t, qr_r, semidefinite_pseudo_inverse, symmetric_eigen, thin_q};

/// The min(rows, cols) singular values, largest first; `None` if M is not finite or the iteration fails.
#[allow(non_snake_case)]
pub fn singular_values(M: &Matrix) -> Option<Vec<f64>> {
    if M.rows() < M.cols() {
        return singular_values(&M.transpose());
    }
    let (B, factor) = M.normalized()?;
    let mut sigma = Diag::zeros(M.cols());
    square_svd(&square(Matrix::from_faer(B)), &mut sigma, None).ok()?;
    let values: Vec<f64> = sigma.column_vector().iter().map(|s| s * factor).collect();
    values.iter().all(|s| s.is_finite()).then_some(values)
}

/// σmax/σmin, infinite for a singular matrix.
#[allow(non_snake_case)]
pub fn condition_number(M: &Matrix) -> f64 {
    match singular_values(M).as_deref() {
        Some([first, .., last]) if *last > 0.0 => first / last,
        Some([first]) if *first > 0.0 => 1.0,
        _ => f64::INFINITY,
    }
}

/// The Moore-Penrose inverse of a matrix of any shape: singular values up to max(rows, cols)·ε·σ₁ are treated as
/// zero.
#[allow(non_snake_case)]
pub fn pseudo_inverse(M: &Matrix) -> Result<Matrix, NumericError> {
    if M.rows() < M.cols() {
        return Ok(pseudo_inverse(&M.transpose())?.transpose());
    }
    if let Some(inverse) = semidefinite_pseudo_inverse(M) {
        return Ok(inverse);
    }
    let symmetric = if M.is_symmetric() { by_eigenvalues(M) } else { None };
    let inverse = symmetric.map_or_else(|| by_singular_values(M), Ok)?;
    if inverse.is_finite() { Ok(inverse) } else { Err(NumericError::NotFinite) }
}

/// M⁺ of a matrix that has as many rows as columns or more; infinite where it overflows.
#[allow(non_snake_case)]
fn by_singular_values(M: &Matrix) -> Result<Matrix, NumericError> {
    let n = M.cols();
    let (B, factor) = M.normalized().ok_or(NumericError::NotFinite)?;
    let (mut sigma, mut U, mut V) = (Diag::zeros(n), Mat::zeros(n, n), Mat::zeros(n, n));
    square_svd(&square(Matrix::from_faer(B)), &mut sigma, Some((U.as_mut(), V.as_mut())))?;
    let sigma: Vec<f64> = sigma.column_vector().iter().copied().collect();
    let cutoff = M.rows() as f64 * f64::EPSILON * sigma.first().copied().unwrap_or(0.0);
    for (j, s) in sigma.iter().enumerate() {
        let inverse = if *s > cutoff { s.recip() } else { 0.0 };
        V.col_as_slice_mut(j).iter_mut().for_each(|v| *v *= inverse);
    }
    // M = Q·U·Σ·Vᵀ, hence M⁺ = V·Σ⁺·Uᵀ·Qᵀ.
    let mut inverse = matmul_t(&Matrix::from_faer(V), &Matrix::from_faer(U));
    if M.rows() > n {
        inverse = matmul_t(&inverse, &thin_q(M));
    }
    Ok(inverse.map(|x| x * factor.recip()))
}

/// The same for a symmetric M = V·Λ·Vᵀ, whose singular values are |λ|: an eigendecomposition takes half the time.
/// `None` if there is none.
#[allow(non_snake_case)]
fn by_eigenvalues(M: &Matrix) -> Option<Matrix> {
    let (values, V) = symmetric_eigen(M)?;
    let largest = values.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
    let cutoff = M.rows() as f64 * f64::EPSILON * largest;
    let inverse = |value: f64| if value.abs() > cutoff { value.recip() } else { 0.0 };
    let scaled = Matrix::from_fn(V.rows(), V.cols(), |i, j| V.get(i, j) * inverse(values[j]));
    Some(matmul_t(&scaled, &V))
}

/// M = U·diag(σ)·Vᵀ of a square M, σ largest first.
#[derive(Clone, Debug, PartialEq)]
#[allow(non_snake_case)]
pub struct Svd {
    /// The left singular vectors, as columns.
    pub U: Matrix,
    /// The singular values.
    pub sigma: Vec<f64>,
    /// The right singular vectors, as columns.
    pub V: Matrix,
}

/// Singular values and vectors of a square matrix.
#[allow(non_snake_case)]
pub fn svd_of_square(M: &Matrix) -> Result<Svd, NumericError> {
    assert_eq!(M.rows(), M.cols(), "the singular vectors of a square matrix");
    let n = M.cols();
    let (B, factor) = M.normalized().ok_or(NumericError::NotFinite)?;
    let (mut sigma, mut U, mut V) = (Diag::zeros(n), Mat::zeros(n, n), Mat::zeros(n, n));
    square_svd(&Matrix::from_faer(B), &mut sigma, Some((U.as_mut(), V.as_mut())))?;
    let sigma: Vec<f64> = sigma.column_vector().iter().map(|s| s * factor).collect();
    Ok(Svd { U: Matrix::from_faer(U), sigma, V: Matrix::from_faer(V) })
}

/// A square matrix with the singular values and right singular vectors of B, which has rows ≥ cols.
///
/// faer would also begin with a QR of a tall matrix, but one that drops small columns.
#[allow(non_snake_case)]
fn square(B: Matrix) -> Matrix {
    if B.rows() == B.cols() { B } else { qr_r(&B) }
}

/// B = U·diag(σ)·Vᵀ.
#[allow(non_snake_case)]
fn square_svd(
    B: &Matrix,
    sigma: &mut Diag<f64>,
    vectors: Option<(MatMut<'_, f64>, MatMut<'_, f64>)>,
) -> Result<(), NumericError> {
    let n = B.cols();
    let wanted = if vectors.is_some() { ComputeSvdVectors::Thin } else { ComputeSvdVectors::No };
    let (U, V) = vectors.unzip();
    let scratch = svd::svd_scratch::<f64>(n, n, wanted, wanted, Par::Seq, Default::default());
    let stack = &mut MemBuffer::new(scratch);
    svd::svd(B.as_faer(), sigma.as_mut(), U, V, Par::Seq, MemStack::new(stack), Default::default())
        .map_err(|_| NumericError::NoConvergence)
}

#[cfg(test)]
mod tests {
    use super::super::matmul;
    use super::super::testing::*;
    use super::*;

    #[test]
    fn singular_values_are_the_ones_put_in() {
        for (m, n) in SHAPES {
            for kappa in [1.0_f64, 1e3, 1e12] {
                for scale in [1.0, 1e200, 1e-200] {
                    let k = m.min(n);
                    let last = k.saturating_sub(1).max(1) as f64;
                    let expected: Vec<f64> = (0..k).map(|i| scale * kappa.powf(-(i as f64) / last)).collect();
                    let found = singular_values(&conditioned(m, n, kappa, 1).map(|x| x * scale)).unwrap();
                    assert_eq!(found.len(), k);
                    assert!(found.is_sorted_by(|a, b| a >= b));
                    for (found, expected) in found.iter().zip(&expected) {
                        assert_small((found - expected).abs(), scale * m.max(n) as f64);
                    }
                }
            }
        }
    }

    #[test]
    fn a_tall_matrix_keeps_its_small_singular_values() {
        let found = singular_values(&conditioned(5000, 8, 1e13, 2)).unwrap();
        assert!((found[7] * 1e13 - 1.0).abs() < 0.1, "{:e}", found[7]);
    }

    #[test]
    fn condition_numbers() {
        assert!((condition_number(&conditioned(30, 7, 1e5, 2)) / 1e5 - 1.0).abs() < 1e-9);
        assert_eq!(condition_number(&normal(9, 1, 3)), 1.0);
        for singular in [Matrix::zeros(1, 1), Matrix::zeros(4, 3), Matrix::from_rows(&[&[f64::NAN]])] {
            assert_eq!(condition_number(&singular), f64::INFINITY);
        }
    }

    #[test]
    fn factors_of_a_square_matrix_give_it_back() {
        for n in SIZES {
            for m in [normal(n, n, 4), conditioned(n, n, 1e10, 5).map(|x| 1e100 * x), Matrix::zeros(n, n)] {
                let Svd { U, sigma, V } = svd_of_square(&m).unwrap();
                let back = matmul_t(&Matrix::from_fn(n, n, |i, j| U.get(i, j) * sigma[j]), &V);
                assert_small(frobenius(&difference(&back, &m)), frobenius(&m) * n as f64);
                assert_eq!(Some(sigma.len()), singular_values(&m).map(|s| s.len()));
            }
        }
        let bad = Matrix::from_rows(&[&[f64::NAN]]);
        assert_eq!(svd_of_square(&bad), Err(NumericError::NotFinite));
    }

    #[test]
    fn singular_values_at_the_edges_of_the_range() {
        let huge = Matrix::from_fn(6, 4, |i, j| 1e307 * ((i * 7 + j * 3) % 5) as f64);
        assert!(singular_values(&huge).unwrap()[0] > 1e307);
        let tiny = singular_values(&normal(6, 4, 3).map(|x| x * 1e-320)).unwrap();
        assert!(tiny[0] > 1e-320 && tiny[0] < 1e-318);
        assert_eq!(singular_values(&Matrix::zeros(5, 3)).unwrap(), [0.0; 3]);
        for bad in [f64::NAN, f64::INFINITY] {
            assert_eq!(singular_values(&Matrix::from_fn(4, 3, |i, _| if i == 2 { bad } else { 1.0 })), None);
            let a = Matrix::from_fn(3, 4, |i, _| if i == 2 { bad } else { 1.0 });
            assert_eq!(pseudo_inverse(&a), Err(NumericError::NotFinite));
        }
    }

    /// The four conditions that define X = M⁺, each to κ·ε.
    #[track_caller]
    fn check_penrose(m: &Matrix) {
        let x = pseudo_inverse(m).unwrap();
        assert_eq!((x.rows(), x.cols()), (m.cols(), m.rows()));
        let (mx, xm) = (matmul(m, &x), matmul(&x, m));
        let dimension = m.rows().max(m.cols()) as f64;
        let (size, inverse_size) = (frobenius(m), frobenius(&x));
        let kappa = size * inverse_size;
        assert_small(frobenius(&difference(&matmul(&mx, m), m)), size * kappa * dimension);
        assert_small(frobenius(&difference(&matmul(&xm, &x), &x)), inverse_size * kappa * dimension);
        assert_small(frobenius(&difference(&mx, &mx.transpose())), kappa * dimension);
        assert_small(frobenius(&difference(&xm, &xm.transpose())), kappa * dimension);
    }

    #[test]
    fn penrose_conditions() {
        for (m, n) in SHAPES {
            for kappa in [1.0, 1e4, 1e8, 1e12] {
                check_penrose(&conditioned(m, n, kappa, 4));
            }
            for scale in [1e100, 1e-100] {
                check_penrose(&normal(m, n, 5).map(|x| x * scale));
            }
            check_penrose(&Matrix::zeros(m, n));
        }
        for (m, n, rank) in [(3, 3, 1), (20, 20, 5), (50, 20, 19), (20, 50, 7), (400, 50, 30)] {
            check_penrose(&deficient(m, n, rank, 6));
        }
    }

    #[test]
    fn deficient_directions_are_left_out() {
        let x = pseudo_inverse(&deficient(40, 20, 5, 7)).unwrap();
        let sigma = singular_values(&x).unwrap();
        assert!(sigma[4] > 1e-3 && sigma[5] < 1e-14, "{sigma:?}");
        assert_eq!(pseudo_inverse(&Matrix::zeros(3, 5)), Ok(Matrix::zeros(5, 3)));
        assert_eq!(pseudo_inverse(&Matrix::from_rows(&[&[1e-320]])), Err(NumericError::NotFinite));
    }

    #[test]
    fn a_symmetric_matrix_has_one_pseudo_inverse() {
        let mut examples = vec![Matrix::zeros(4, 4), Matrix::identity(5)];
        for (rows, n) in [(1, 2), (5, 10), (25, 50), (60, 50), (49, 50)] {
            examples.push(super::super::gram(&normal(rows, n, 3)));
            // Indefinite, with eigenvalues over six decades.
            let (a, signs) = (normal(rows, n, 4), normal(rows, 1, 5));
            let weight = |k: usize| signs.get(k, 0).signum() * 10f64.powf(-6.0 * k as f64 / rows as f64);
            let entry = |i: usize, j: usize| (0..rows).map(|k| weight(k) * (a.get(k, i) * a.get(k, j))).sum();
            examples.push(Matrix::from_fn(n, n, entry));
        }
        for scale in [1e-150, 1.0, 1e150] {
            for m in examples.iter().map(|m| m.map(|x| x * scale)) {
                assert!(m.is_symmetric());
                let (one, other) = (by_eigenvalues(&m).unwrap(), by_singular_values(&m).unwrap());
                let kappa = (frobenius(&m) * frobenius(&other)).max(1.0);
                let size = kappa * frobenius(&other).max(f64::MIN_POSITIVE) * m.cols() as f64;
                assert_small(max_difference(&one, &other), size);
                let back = matmul(&matmul(&m, &one), &m);
                assert_small(max_difference(&back, &m), kappa * frobenius(&m).max(1e-300) * m.cols() as f64);
            }
        }
    }

    #[test]
    fn equal_values_give_equal_bits() {
        let both = |a: &Matrix| {
            let sigma = singular_values(a).unwrap();
            vec![Matrix::from_rows(&[&sigma]), pseudo_inverse(a).unwrap()]
        };
        assert_reproducible(&normal(60, 40, 8), both);
        assert_reproducible(&normal(40, 40, 9), both);
    }
}

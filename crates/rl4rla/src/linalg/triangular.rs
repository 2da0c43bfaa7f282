//! Products and solutions with an upper triangular matrix, and its inverse. Entries below the diagonal are never read.

use faer::linalg::triangular_inverse::invert_upper_triangular;
use faer::{Mat, Par};

use super::vector::magnitude;
use super::{Matrix, NumericError, dot, wide};

/// R⁻¹ of a square upper triangular R.
#[allow(non_snake_case)]
pub fn triangular_inverse(R: &Matrix) -> Result<Matrix, NumericError> {
    check_diagonal(R)?;
    let n = R.cols();
    let mut inverse = Mat::zeros(n, n);
    invert_upper_triangular(inverse.as_mut(), R.as_faer(), Par::Seq);
    let inverse = Matrix::from_faer(inverse);
    if inverse.is_finite() { Ok(inverse) } else { Err(NumericError::NotFinite) }
}

/// R⁻¹·v for a square upper triangular R.
#[allow(non_snake_case)]
pub fn solve_upper(R: &Matrix, v: &[f64]) -> Result<Vec<f64>, NumericError> {
    assert_eq!(R.cols(), v.len(), "R⁻¹·v of unequal lengths");
    check_diagonal(R)?;
    let mut z = v.to_vec();
    wide(
        #[inline(always)]
        || {
            for j in (0..z.len()).rev() {
                let column = R.column(j);
                z[j] /= column[j];
                let zj = z[j];
                z[..j].iter_mut().zip(column).for_each(|(z, r)| *z -= zj * r);
            }
        },
    );
    finite(z)
}

/// R⁻ᵀ·v for a square upper triangular R.
#[allow(non_snake_case)]
pub fn solve_upper_transposed(R: &Matrix, v: &[f64]) -> Result<Vec<f64>, NumericError> {
    assert_eq!(R.cols(), v.len(), "R⁻ᵀ·v of unequal lengths");
    check_diagonal(R)?;
    let mut z = v.to_vec();
    for j in 0..z.len() {
        let column = R.column(j);
        z[j] = (z[j] - dot(&column[..j], &z[..j])) / column[j];
    }
    finite(z)
}

/// R·v for a square upper triangular R.
#[allow(non_snake_case)]
pub fn upper_mat_vec(R: &Matrix, v: &[f64]) -> Vec<f64> {
    assert_eq!((R.rows(), R.cols()), (v.len(), v.len()), "R·v of unequal lengths");
    let mut y = vec![0.0; v.len()];
    wide(
        #[inline(always)]
        || {
            for (j, v) in v.iter().enumerate() {
                y[..=j].iter_mut().zip(R.column(j)).for_each(|(y, r)| *y += v * r);
            }
        },
    );
    y
}

/// Rᵀ·v for a square upper triangular R.
#[allow(non_snake_case)]
pub fn upper_vec_mat(v: &[f64], R: &Matrix) -> Vec<f64> {
    assert_eq!((R.rows(), R.cols()), (v.len(), v.len()), "Rᵀ·v of unequal lengths");
    (0..v.len()).map(|j| dot(&v[..=j], &R.column(j)[..=j])).collect()
}

/// An error unless every diagonal entry can be divided by.
#[allow(non_snake_case)]
pub(super) fn check_diagonal(R: &Matrix) -> Result<(), NumericError> {
    assert_eq!(R.rows(), R.cols(), "a triangular matrix is square");
    match (0..R.cols()).find(|i| !R.get(*i, *i).is_normal()) {
        Some(index) => Err(NumericError::Singular { index }),
        None => Ok(()),
    }
}

fn finite(z: Vec<f64>) -> Result<Vec<f64>, NumericError> {
    if magnitude(&z).is_some() { Ok(z) } else { Err(NumericError::NotFinite) }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::super::{mat_vec, matmul, norm, qr_r, sub, vec_mat};
    use super::*;

    fn examples() -> Vec<Matrix> {
        let mut all = Vec::new();
        for n in SIZES {
            all.push(kahan(n));
            for kappa in [1.0, 1e6, 1e12] {
                all.push(qr_r(&conditioned(n + 3, n, kappa, 1)));
            }
        }
        for scale in [1e200, 1e-200] {
            all.push(qr_r(&normal(30, 20, 2)).map(|x| x * scale));
        }
        all
    }

    #[test]
    fn solutions_have_small_residuals() {
        for r in examples() {
            let n = r.cols();
            let v = normal(n, 1, 3);
            let v = v.column(0);
            let z = solve_upper(&r, v).unwrap();
            assert_small(norm(&sub(&mat_vec(&r, &z), v)), frobenius(&r) * norm(&z) * n as f64);
            let z = solve_upper_transposed(&r, v).unwrap();
            assert_small(norm(&sub(&vec_mat(&z, &r), v)), frobenius(&r) * norm(&z) * n as f64);
        }
    }

    #[test]
    fn products_are_those_of_the_upper_triangle() {
        for r in examples() {
            let n = r.cols();
            let v = normal(n, 1, 4);
            let v = v.column(0);
            let marked = Matrix::from_fn(n, n, |i, j| if i > j { f64::NAN } else { r.get(i, j) });
            let size = frobenius(&r) * norm(v);
            assert_small(norm(&sub(&upper_mat_vec(&marked, v), &mat_vec(&r, v))), size);
            assert_small(norm(&sub(&upper_vec_mat(v, &marked), &vec_mat(v, &r))), size);
        }
    }

    #[test]
    fn inverse_is_upper_triangular_and_inverts() {
        for r in examples() {
            let n = r.cols();
            let inverse = triangular_inverse(&r).unwrap();
            assert!((0..n).all(|j| inverse.column(j)[j + 1..].iter().all(|x| *x == 0.0)));
            let kappa = frobenius(&r) * frobenius(&inverse);
            let residual = difference(&matmul(&r, &inverse), &Matrix::identity(n));
            assert_small(frobenius(&residual), kappa * n as f64);
        }
    }

    #[test]
    fn what_is_below_the_diagonal_is_ignored() {
        let r = qr_r(&normal(20, 20, 4));
        let noisy = Matrix::from_fn(20, 20, |i, j| if i > j { f64::NAN } else { r.get(i, j) });
        assert_eq!(triangular_inverse(&noisy), triangular_inverse(&r));
        assert_eq!(solve_upper(&noisy, &[1.0; 20]), solve_upper(&r, &[1.0; 20]));
        assert_eq!(solve_upper_transposed(&noisy, &[1.0; 20]), solve_upper_transposed(&r, &[1.0; 20]));
    }

    #[test]
    fn a_useless_diagonal_entry_is_named() {
        for bad in [0.0, -0.0, 1e-310, f64::NAN, f64::INFINITY] {
            for index in [0, 3, 19] {
                let r = qr_r(&normal(20, 20, 5));
                let r =
                    Matrix::from_fn(20, 20, |i, j| if i == index && j == index { bad } else { r.get(i, j) });
                let expected = NumericError::Singular { index };
                assert_eq!(triangular_inverse(&r), Err(expected));
                assert_eq!(solve_upper(&r, &[1.0; 20]), Err(expected));
                assert_eq!(solve_upper_transposed(&r, &[1.0; 20]), Err(expected));
                assert!(expected.to_string().contains(&(index + 1).to_string()));
            }
        }
    }

    #[test]
    fn overflow_and_bad_values_are_errors() {
        let steep = Matrix::from_rows(&[&[1e-200, 1e200], &[0.0, 1e-200]]);
        assert_eq!(triangular_inverse(&steep), Err(NumericError::NotFinite));
        assert_eq!(solve_upper(&steep, &[1.0, 1.0]), Err(NumericError::NotFinite));
        assert_eq!(solve_upper_transposed(&steep, &[1.0, 1.0]), Err(NumericError::NotFinite));
        let r = Matrix::from_rows(&[&[1.0, f64::NAN], &[0.0, 1.0]]);
        assert_eq!(triangular_inverse(&r), Err(NumericError::NotFinite));
        assert_eq!(solve_upper(&Matrix::identity(2), &[f64::NAN, 1.0]), Err(NumericError::NotFinite));
    }

    #[test]
    fn equal_values_give_equal_bits() {
        assert_reproducible(&qr_r(&normal(40, 37, 6)), |r| vec![triangular_inverse(r).unwrap()]);
    }
}

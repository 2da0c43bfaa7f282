//! Eigenvalues.

use super::Matrix;
use faer::Side;

/// The eigenvalues of a symmetric matrix, largest first, with orthonormal eigenvectors as columns; the lower triangle
/// is read. `None` if M is not finite or the iteration fails.
#[allow(non_snake_case)]
pub fn symmetric_eigen(M: &Matrix) -> Option<(Vec<f64>, Matrix)> {
    let (scaled, factor) = M.normalized()?;
    let n = M.cols();
    let eigen = scaled.self_adjoint_eigen(Side::Lower).ok()?;
    // faer sorts in ascending order.
    let values: Vec<f64> = eigen.S().column_vector().iter().rev().map(|s| s * factor).collect();
    let vectors = Matrix::from_fn(n, n, |i, j| eigen.U()[(i, n - 1 - j)]);
    (values.iter().all(|v| v.is_finite()) && vectors.is_finite()).then_some((values, vectors))
}

/// The eigenvalues of a square matrix, as real and imaginary parts. `None` if M is not finite or the iteration fails.
#[allow(non_snake_case)]
pub fn eigenvalues(M: &Matrix) -> Option<Vec<[f64; 2]>> {
    let (scaled, factor) = M.normalized()?;
    let values: Vec<[f64; 2]> =
        scaled.eigenvalues().ok()?.iter().map(|value| [value.re * factor, value.im * factor]).collect();
    values.iter().flatten().all(|part| part.is_finite()).then_some(values)
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::super::{gram, matmul, matmul_t, norm, sub};
    use super::*;
    use crate::rng::Stream;

    #[test]
    fn rotations_have_complex_eigenvalues_and_triangles_their_diagonal() {
        let rotation = eigenvalues(&Matrix::from_rows(&[&[0.0, -2.0], &[2.0, 0.0]])).unwrap();
        let mut imaginary: Vec<f64> = rotation.iter().map(|[_, im]| *im).collect();
        imaginary.sort_by(f64::total_cmp);
        assert!(
            norm(&sub(&imaginary, &[-2.0, 2.0])) < 1e-14 && rotation.iter().all(|[re, _]| re.abs() < 1e-14)
        );
        let triangle =
            Matrix::from_fn(
                5,
                5,
                |i, j| if i <= j { 1e200 * (1.0 + i as f64 + 7.0 * (j - i) as f64) } else { 0.0 },
            );
        let mut real: Vec<f64> = eigenvalues(&triangle).unwrap().iter().map(|[re, _]| re / 1e200).collect();
        real.sort_by(f64::total_cmp);
        assert!(norm(&sub(&real, &[1.0, 2.0, 3.0, 4.0, 5.0])) < 1e-10, "{real:?}");
        assert_eq!(eigenvalues(&Matrix::zeros(0, 0)), Some(vec![]));
        assert!(eigenvalues(&Matrix::from_rows(&[&[f64::NAN]])).is_none());
    }

    #[test]
    fn reconstructs_and_is_orthonormal() {
        for n in [0, 1, 2, 7, 40] {
            let entries = Stream::new(n as u64).normals(n * n);
            let M = Matrix::from_fn(n, n, |i, j| entries[i * n + j] + entries[j * n + i]);
            let (values, V) = symmetric_eigen(&M).unwrap();
            assert!(values.is_sorted_by(|a, b| a >= b));
            let D = Matrix::from_fn(n, n, |i, j| if i == j { values[i] } else { 0.0 });
            let back = matmul_t(&matmul(&V, &D), &V);
            let size = norm(M.row_major()).max(1.0);
            assert!(
                norm(&sub(back.row_major(), M.row_major())) < 30.0 * n.max(1) as f64 * f64::EPSILON * size
            );
            let identity = Matrix::identity(n);
            assert!(norm(&sub(gram(&V).row_major(), identity.row_major())) < 1e-13 * n.max(1) as f64);
        }
        assert!(symmetric_eigen(&Matrix::from_rows(&[&[f64::INFINITY]])).is_none());
    }
}

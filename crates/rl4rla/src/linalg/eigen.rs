//! Eigenvalues of symmetric matrices.

use super::Matrix;
use faer::Side;

/// The eigenvalues of a symmetric matrix, largest first, with orthonormal eigenvectors as columns; the lower triangle
/// is read. `None` if M is not finite or the iteration fails.
#[allow(non_snake_case)]
pub fn symmetric_eigen(M: &Matrix) -> Option<(Vec<f64>, Matrix)> {
    let (scaled, factor) = M.normalized()?;
    let n = M.cols();
    let eigen = scaled.self_adjoint_eigen(Side::Lower).ok()?;
    // faer sorts upwards.
    let values: Vec<f64> = eigen.S().column_vector().iter().rev().map(|s| s * factor).collect();
    let vectors = Matrix::from_fn(n, n, |i, j| eigen.U()[(i, n - 1 - j)]);
    (values.iter().all(|v| v.is_finite()) && vectors.is_finite()).then_some((values, vectors))
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::super::{gram, matmul, matmul_t, norm, sub};
    use super::*;
    use crate::rng::Stream;

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

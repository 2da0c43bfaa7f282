//! Orthonormal bases of row spaces, and what they show of a symmetric matrix.

use super::{Matrix, NumericError, dot, matmul, matmul_t, norm, scale, symmetric_eigen};

/// The rounding error that a row of length one may come with.
const ROUNDED: f64 = 1e-13;

/// The rows of M made orthonormal from the first to the last, by Gram-Schmidt twice. A row that depends on those above
/// it, but for rounding, becomes zero, so that QᵀQ is the projector onto the row space whatever its dimension.
#[allow(non_snake_case)]
pub fn orthonormal_rows(M: &Matrix) -> Matrix {
    let cols = M.cols();
    let mut above: Vec<OrthonormalRow> = Vec::new();
    let mut entries: Vec<f64> = Vec::with_capacity(M.rows() * cols);
    for i in 0..M.rows() {
        let row = OrthonormalRow::new(M.row(i), &above);
        entries.extend(row.as_ref().map_or(vec![0.0; cols], |row| row.q.clone()));
        above.extend(row);
    }
    Matrix::from_row_major(M.rows(), cols, entries).by_columns()
}

struct OrthonormalRow {
    q: Vec<f64>,
    /// An estimate of the error of q that comes from rounding errors of M.
    error: f64,
}

impl OrthonormalRow {
    /// The part of a row that is orthogonal to those above it, of length one; `None` if it is no more than rounding error.
    ///
    /// If the row is Σ cᵢqᵢ + ρq, with errors εᵢ of qᵢ that are independent of each other, the error of ρq is about
    /// √(ε₀² + Σ cᵢ²εᵢ²). A fixed bound on ρ would take the errors of nearly dependent rows for directions of their own.
    fn new(row: &[f64], above: &[OrthonormalRow]) -> Option<OrthonormalRow> {
        let mut row = unit(row, 0.0)?.0;
        let mut error_squared = ROUNDED * ROUNDED;
        for other in above {
            let share = subtract_projection(&mut row, &other.q);
            error_squared += (share * other.error).powi(2);
        }
        let error = error_squared.sqrt();
        let (mut row, rest) = unit(&row, error)?;
        // Once leaves an error that is large relative to a small rest, twice does not.
        for other in above {
            subtract_projection(&mut row, &other.q);
        }
        let (q, _) = unit(&row, 0.5)?;
        Some(OrthonormalRow { q, error: error / rest })
    }
}

/// Leaves the part of a row that is orthogonal to q, and returns ⟨row, q⟩.
fn subtract_projection(row: &mut [f64], q: &[f64]) -> f64 {
    let share = dot(q, row);
    row.iter_mut().zip(q).for_each(|(a, b)| *a -= share * b);
    share
}

/// v/‖v‖ and ‖v‖, unless ‖v‖ is at most `least`; not finite if v is not.
fn unit(v: &[f64], least: f64) -> Option<(Vec<f64>, f64)> {
    // Entries near the ends of the range would over- or underflow when squared.
    let largest = v.iter().fold(0.0_f64, |largest, a| if a.is_nan() { *a } else { largest.max(a.abs()) });
    if largest == 0.0 {
        return None;
    }
    let v: Vec<f64> = v.iter().map(|a| a / largest).collect();
    let scaled = norm(&v);
    let length = scaled * largest;
    (length.is_nan() || length > least).then(|| (scale(scaled.recip(), &v), length))
}

/// The leading Ritz vector of a symmetric A in the row space of M, of length one: the v in that space with the largest
/// vᵀAv. It forms no obtuse angle with the first row of M. An error if M = 0.
#[allow(non_snake_case)]
pub fn leading_ritz_vector(M: &Matrix, A: &Matrix) -> Result<Vec<f64>, NumericError> {
    let Q = orthonormal_rows(M);
    let kept: Vec<usize> = (0..Q.rows()).filter(|&i| Q.row(i).iter().any(|q| *q != 0.0)).collect();
    if kept.is_empty() {
        return Err(NumericError::Singular { index: 0 });
    }
    let Q = Matrix::from_fn(kept.len(), Q.cols(), |i, j| Q.get(kept[i], j));
    let H = matmul_t(&matmul(&Q, A), &Q);
    // Only the symmetric part counts; rounding leaves H not exactly symmetric.
    let H = Matrix::from_fn(kept.len(), kept.len(), |i, j| 0.5 * (H.get(i, j) + H.get(j, i)));
    let (_, vectors) = symmetric_eigen(&H).ok_or(NumericError::NotFinite)?;
    let y = vectors.column(0);
    let y = if y[0] < 0.0 { scale(-1.0, y) } else { y.to_vec() };
    unit(&super::vec_mat(&y, &Q), 0.0).map(|(v, _)| v).ok_or(NumericError::NotFinite)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{deficient, frobenius, normal};
    use super::super::{gram, mat_vec, sub, t_matmul};
    use super::*;
    use proptest::prelude::*;

    /// ‖M − MQᵀQ‖/‖M‖: zero if the rows of Q span those of M.
    fn outside(m: &Matrix, q: &Matrix) -> f64 {
        let inside = matmul(&matmul_t(m, q), q);
        norm(&sub(m.row_major(), inside.row_major())) / frobenius(m).max(f64::MIN_POSITIVE)
    }

    fn rank(q: &Matrix) -> usize {
        (0..q.rows()).filter(|&i| norm(q.row(i)) > 0.5).count()
    }

    /// Deviation of the rows from orthonormal or zero ones.
    fn skew(q: &Matrix) -> f64 {
        let product = matmul_t(q, q);
        let wanted = |i: usize, j: usize| if i == j { product.get(i, i).round() } else { 0.0 };
        let worst = |i: usize| (0..q.rows()).map(move |j| (i, j));
        (0..q.rows())
            .flat_map(worst)
            .map(|(i, j)| (product.get(i, j) - wanted(i, j)).abs())
            .fold(0.0, f64::max)
    }

    proptest! {
        #[test]
        fn rows_become_orthonormal_and_span_what_they_spanned(
            (rows, cols, seed) in (1usize..9, 1usize..12, 0u64..1000), rank_of in 0usize..9,
            exponent in prop::sample::select(vec![-300, -150, -8, 0, 8, 150, 300])
        ) {
            let rank_of = rank_of.min(rows).min(cols);
            let m = deficient(rows, cols, rank_of, seed).map(|x| x * 10f64.powi(exponent) * 1e-3);
            let q = orthonormal_rows(&m);
            prop_assert_eq!((q.rows(), q.cols()), (rows, cols));
            prop_assert!(skew(&q) < 1e-14, "{}", skew(&q));
            prop_assert_eq!(rank(&q), rank_of);
            if exponent.abs() < 100 {
                prop_assert!(outside(&m, &q) < 1e-11, "{}", outside(&m, &q));
            }
        }
    }

    /// Six rows of which some nearly depend on others leave errors that are no seventh direction.
    #[test]
    fn errors_of_nearly_dependent_rows_are_no_directions() {
        let m = deficient(8, 8, 6, 157).map(|x| x * 1e-300 * 1e-3);
        assert_eq!(rank(&orthonormal_rows(&m)), 6);
    }

    #[test]
    fn nearly_dependent_rows_stay_orthonormal_and_zeros_stay_zero() {
        let (base, noise) = (normal(1, 30, 1), normal(5, 30, 2));
        for share in [1e-6, 1e-10, 1e-12] {
            let m = Matrix::from_fn(5, 30, |i, j| base.get(0, j) + share * noise.get(i, j));
            let q = orthonormal_rows(&m);
            assert!(skew(&q) < 1e-14 && rank(&q) == 5, "{share}: {}", skew(&q));
        }
        assert_eq!(orthonormal_rows(&Matrix::zeros(3, 4)), Matrix::zeros(3, 4));
        let repeated = Matrix::from_rows(&[&[3.0, 4.0], &[-6.0, -8.0], &[1.0, 0.0], &[5.0, 7.0]]);
        let q = orthonormal_rows(&repeated);
        assert_eq!((q.row(1), q.row(3)), (&[0.0; 2][..], &[0.0; 2][..]));
        assert!(!orthonormal_rows(&Matrix::from_rows(&[&[f64::NAN, 1.0]])).is_finite());
    }

    #[test]
    fn a_ritz_vector_maximizes_the_rayleigh_quotient_in_its_space() {
        let (a, m) = (gram(&normal(40, 12, 3)), normal(4, 12, 4));
        let v = leading_ritz_vector(&m, &a).unwrap();
        let rayleigh = |v: &[f64]| dot(v, &mat_vec(&a, v)) / dot(v, v);
        assert!((norm(&v) - 1.0).abs() < 1e-14 && dot(&v, m.row(0)) >= 0.0);
        let q = orthonormal_rows(&m);
        assert!(norm(&sub(&v, mat_vec(&t_matmul(&q, &q), &v).as_slice())) < 1e-13);
        for i in 0..50 {
            let other = super::super::vec_mat(normal(1, 4, 100 + i).row(0), &m);
            assert!(rayleigh(&other) <= rayleigh(&v) * (1.0 + 1e-12));
        }
        // With all of the space it is the leading eigenvector, and rows of zeros change nothing.
        let (values, vectors) = symmetric_eigen(&a).unwrap();
        let full = Matrix::from_fn(13, 12, |i, j| f64::from(u8::from(i == j + 1)));
        let v = leading_ritz_vector(&full, &a).unwrap();
        assert!((rayleigh(&v) / values[0] - 1.0).abs() < 1e-13);
        assert!((dot(&v, vectors.column(0)).abs() - 1.0).abs() < 1e-13);
        assert!(leading_ritz_vector(&Matrix::zeros(2, 12), &a).is_err());
    }
}

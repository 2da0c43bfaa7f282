//! Cholesky factors, and orthonormal columns from the Gram matrix: one matrix product instead of a sequence of
//! reflections.

use super::blas::{gram, gram_tiles, mirrored, symmetric_product};
use super::by_rows::ByRows;
use super::scaled_gram::add_product;
use super::tiles::{self, Tiles};
use super::{Matrix, NumericError, triangular_inverse};
use faer::linalg::cholesky::llt::factor::LltError;
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::{Accum, Mat, MatMut, Par, Side};
use rayon::prelude::*;

/// Largest ‖R⁻¹‖²/n, for M·D = Q·R with D scaling the columns of M to length 1, at which one pass is enough. The
/// columns of M·T are orthonormal up to about this many rounding errors.
const WELL: f64 = 10.0;

/// Above this, the Gram matrix has too few correct digits for a second pass to correct the first.
const MENDABLE: f64 = 1e10;

/// Orthonormal columns as a product M·T.
#[derive(Clone, Debug)]
#[allow(non_snake_case)]
pub struct Orthonormal {
    /// m × n.
    pub M: Matrix,
    /// n × n, upper triangular with a positive diagonal.
    pub T: Matrix,
}

/// Q = M·T with the Q of [`thin_q`](super::thin_q), for tall M of full rank: M as given if one pass is enough, M
/// already nearly orthonormal if two are needed. Returns M as the error if it needs Householder reflections.
#[allow(non_snake_case)]
pub fn orthonormalised(M: Matrix) -> Result<Orthonormal, Box<Matrix>> {
    match through_gram(&M) {
        Some((T, far)) if far <= WELL => Ok(Orthonormal { M, T }),
        Some((T, far)) if far <= MENDABLE => {
            let nearly = super::matmul(&M, &T);
            match through_gram(&nearly) {
                Some((T, far)) if far <= WELL => Ok(Orthonormal { M: nearly, T }),
                _ => Err(Box::new(M)),
            }
        }
        _ => Err(Box::new(M)),
    }
}

/// The R of [`qr_r`](super::qr_r), through the Gram matrix if M is well conditioned, as sketches of orthonormal columns
/// are, and otherwise by Householder reflections.
#[allow(non_snake_case)]
pub fn qr_r_of_embedding(M: &Matrix) -> Matrix {
    let through_gram = || {
        let R = cholesky_r(&symmetric_product(M.as_faer().transpose())).ok()?;
        let inverse = triangular_inverse(&R).ok()?;
        (squares(&R) * squares(&inverse) <= WELL * (M.cols() * M.cols()) as f64).then_some(R)
    };
    through_gram().unwrap_or_else(|| super::qr_r(M))
}

/// ‖M‖², the sum of the squares of all entries.
#[allow(non_snake_case)]
fn squares(M: &Matrix) -> f64 {
    (0..M.cols()).map(|j| super::dot(M.column(j), M.column(j))).sum()
}

/// The R of G = RᵀR, upper triangular with a positive diagonal, for a symmetric G of which the lower triangle is
/// read. If G is not positive definite, the error gives the index of the failing pivot.
#[allow(non_snake_case)]
pub fn cholesky_r(G: &Matrix) -> Result<Matrix, NumericError> {
    if G.cols() > tiles::MANY {
        return Tiles::of(G.as_faer()).cholesky();
    }
    if !G.is_finite() {
        return Err(NumericError::NotFinite);
    }
    let LltError::NonPositivePivot { index } = match G.as_faer().llt(Side::Lower) {
        Ok(L) => return Ok(Matrix::from_faer(L.L().transpose().to_owned())),
        Err(error) => error,
    };
    Err(NumericError::Singular { index })
}

/// The same for G = MᵀM, without the whole of G where it is made by tiles.
#[allow(non_snake_case)]
pub fn gram_cholesky_r(M: &Matrix) -> Result<Matrix, NumericError> {
    match gram_tiles(M) {
        Some(tiles) => tiles.cholesky(),
        None => cholesky_r(&gram(M)),
    }
}

/// Rows of M·P⁻¹ made at a time.
const STRIP: usize = 1024;

/// Most parts whose Gram matrices are summed separately.
const PARTS: usize = 16;

/// The R of M = Q·R with a positive diagonal, as C·P for the Cholesky factor C of (M·P⁻¹)ᵀM·P⁻¹ and a triangular P. The
/// error of R depends on κ(M·P⁻¹), not on κ(M).
///
/// M·P⁻¹ is made and used strip by strip; a matrix made from rows is read by all threads.
#[allow(non_snake_case)]
pub fn preconditioned_cholesky_r(M: &Matrix, P: &Matrix) -> Result<Matrix, NumericError> {
    let n = M.cols();
    super::triangular::check_diagonal(P)?;
    // Partial sums may take an eighth of the memory of M.
    let parts = (M.rows() / (8 * n.max(1))).clamp(1, PARTS);
    let height = M.rows().div_ceil(parts).next_multiple_of(STRIP);
    let mut sum = Mat::zeros(n, n);
    let partial = |rows: ByRows| {
        let (mut sum, mut scratch) = (Mat::zeros(n, n), Vec::new());
        for strip in rows.entries().chunks((STRIP * n).max(1)) {
            // Pᵀ·W = Mᵀ, in place of a copy of the rows of M.
            scratch.clear();
            scratch.extend_from_slice(strip);
            let mut W = MatMut::from_column_major_slice_mut(&mut scratch, n, strip.len() / n);
            solve_lower_triangular_in_place(P.as_faer().transpose(), W.as_mut(), Par::Seq);
            add_product(&mut sum, W.as_ref());
        }
        sum
    };
    M.each_part(height, |_, rows| {
        let parts: Vec<Mat<f64>> = rows.parts(height).map(partial).collect();
        parts.iter().for_each(|part| sum += part);
    });
    let C = cholesky_r(&mirrored(sum))?;
    // C·P, which is triangular again.
    let mut R = Mat::zeros(n, n);
    let upper = BlockStructure::TriangularUpper;
    triangular::matmul(
        R.as_mut(),
        upper,
        Accum::Replace,
        C.as_faer(),
        upper,
        P.as_faer(),
        upper,
        1.0,
        Par::Seq,
    );
    Ok(Matrix::from_faer(R))
}

/// T = D·R⁻¹ and ‖R⁻¹‖²/n, where D·MᵀM·D = RᵀR has a unit diagonal; `None` where it is not positive definite.
#[allow(non_snake_case)]
fn through_gram(M: &Matrix) -> Option<(Matrix, f64)> {
    // In one piece whatever the layout: on one thread, because this is part of drawing an instance.
    let (G, n) = (symmetric_product(M.as_faer().transpose()), M.cols());
    let d: Vec<f64> = (0..n).map(|j| G.get(j, j).sqrt().recip()).collect();
    if !d.iter().all(|d| d.is_normal()) {
        return None;
    }
    let scaled = Matrix::from_fn(n, n, |i, j| d[i] * G.get(i, j) * d[j]);
    let inverse = triangular_inverse(&cholesky_r(&scaled).ok()?).ok()?;
    let far = squares(&inverse) / n as f64;
    Some((Matrix::from_fn(n, n, |i, j| d[i] * inverse.get(i, j)), far))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{assert_small, conditioned, deficient, frobenius, max_difference, normal};
    use super::super::{gram, matmul, thin_q};
    use super::*;

    #[allow(non_snake_case)]
    fn check(a: Matrix, given: bool) {
        let q = thin_q(&a);
        let Orthonormal { M, T } = orthonormalised(a.clone()).unwrap();
        assert_eq!(M == a, given, "one pass is enough");
        let size = 100.0 * (a.rows() * a.cols()) as f64;
        assert_small(max_difference(&gram(&matmul(&M, &T)), &Matrix::identity(a.cols())), size);
        let kappa = super::super::condition_number(&a);
        assert_small(max_difference(&matmul(&M, &T), &q), size * kappa);
    }

    #[test]
    fn it_is_the_q_of_reflections() {
        for (m, n) in [(1, 1), (2, 1), (300, 20), (2000, 50)] {
            check(normal(m, n, 1), true);
            // The lengths of the columns do not matter.
            let a = normal(m, n, 2);
            check(Matrix::from_fn(m, n, |i, j| a.get(i, j) * 8f64.powi(j as i32)), true);
        }
        check(conditioned(300, 20, 1e4, 3), false);
    }

    #[test]
    fn what_the_gram_matrix_cannot_tell_is_left() {
        assert!(orthonormalised(conditioned(300, 20, 1e9, 3)).is_err());
        assert!(orthonormalised(deficient(50, 20, 19, 3)).is_err());
        assert!(orthonormalised(Matrix::zeros(5, 2)).is_err());
        for bad in [f64::NAN, f64::INFINITY, 1e200] {
            assert!(orthonormalised(Matrix::from_fn(5, 2, |i, j| if i == j { bad } else { 1.0 })).is_err());
        }
    }

    #[test]
    fn a_preconditioned_factor_is_that_of_qr_at_any_condition_number() {
        for (m, n, kappa) in [(1, 1, 1.0), (300, 7, 1e3), (5000, 20, 1e12)] {
            let a = conditioned(m, n, kappa, 8);
            let r = super::super::qr_r(&a);
            // A factor of something near A: A·P⁻¹ is well conditioned.
            let near = Matrix::from_fn(n, n, |i, j| match i.cmp(&j) {
                std::cmp::Ordering::Less => 0.1 * ((3 * i + j) as f64).sin(),
                std::cmp::Ordering::Equal => 1.5,
                std::cmp::Ordering::Greater => 0.0,
            });
            let p = matmul(&near, &r);
            let rows = Matrix::from_row_major(m, n, a.row_major().to_vec());
            for matrix in [&a, &rows] {
                let found = preconditioned_cholesky_r(matrix, &p).unwrap();
                let close = super::super::triangular_inverse(&r).unwrap();
                let gap = max_difference(&matmul(&found, &close), &Matrix::identity(n));
                assert!(gap < 1e-14 * kappa, "{m} {n} {kappa}: {gap}");
            }
        }
        let singular = Matrix::zeros(2, 2);
        assert!(preconditioned_cholesky_r(&normal(5, 2, 1), &singular).is_err());
    }

    #[test]
    fn cholesky_factors_are_those_of_qr() {
        for (m, n) in [(0, 0), (1, 1), (9, 4), (60, 50)] {
            let a = normal(m, n, 7);
            let (r, g) = (cholesky_r(&gram(&a)).unwrap(), gram(&a));
            assert_small(max_difference(&gram(&r), &g), frobenius(&g).max(1.0));
            assert_small(max_difference(&r, &super::super::qr_r(&a)), 1e3 * frobenius(&a).max(1.0));
        }
        let indefinite = Matrix::from_rows(&[&[4.0, 2.0], &[2.0, 1.0 - 1e-3]]);
        assert_eq!(cholesky_r(&indefinite), Err(NumericError::Singular { index: 1 }));
        let bad = Matrix::from_rows(&[&[f64::NAN]]);
        assert_eq!(cholesky_r(&bad), Err(NumericError::NotFinite));
    }
}

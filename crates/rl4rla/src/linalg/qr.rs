//! QR factorisation by Householder reflections.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::householder;
use faer::linalg::qr::no_pivoting::factor;
use faer::{Conj, Mat, Par};
use rayon::prelude::*;

use super::by_rows::ByRows;
use super::vector::dot;
use super::{Matrix, Sparse};

/// Rows per part, in multiples of the number of columns: the R factors of the parts have an eighth of the entries of
/// the whole.
const STRIP: usize = 8;

/// The same for a sparse matrix, whose parts have more entries than it stores.
const SPARSE_STRIP: usize = 4;

/// Parts of a sparse matrix whose R factors are stacked on the R of those before them.
const STACKED: usize = 8;

/// The R of M = Q·R: cols × cols, upper triangular, with a nonnegative diagonal, so that it is unique if M has full
/// rank. If M has fewer rows than columns, zero rows are appended: RᵀR = MᵀM for every shape.
///
/// All NaN if M is not finite.
#[allow(non_snake_case)]
pub fn qr_r(M: &Matrix) -> Matrix {
    let n = M.cols();
    let height = STRIP * n;
    if let Some(sparse) = M.sparse() {
        return of_sparse(sparse, n, |_, part| part);
    }
    if M.is_in_file() && M.rows() <= 2 * height {
        return qr_r(&M.rows_at(&(0..M.rows()).collect::<Vec<_>>()));
    }
    if M.is_by_rows() && n > 0 && M.rows() > 2 * height {
        return in_parts(M, n, |_, part| part.to_matrix());
    }
    plain_r(M)
}

/// The same in one piece.
#[allow(non_snake_case)]
fn plain_r(M: &Matrix) -> Matrix {
    let n = M.cols();
    Packed::factor(M).map_or_else(|| not_a_number(n, n), |qr| qr.r())
}

/// R and c of [M b] = Q·[R c; 0 ρ], with the R of [`qr_r`], so that ‖Mx − b‖² = ‖Rx − c‖² + ρ². A matrix made from
/// rows is not copied.
#[allow(non_snake_case)]
pub fn qr_r_with(M: &Matrix, b: &[f64]) -> (Matrix, Vec<f64>) {
    assert_eq!(M.rows(), b.len(), "QR of a system of unequal lengths");
    let n = M.cols();
    let both = |A: &Matrix, b: &[f64]| {
        Matrix::from_fn(A.rows(), n + 1, |i, j| if j < n { A.get(i, j) } else { b[i] })
    };
    let R = if let Some(sparse) = M.sparse() {
        of_sparse(sparse, n + 1, |first, part| both(&part, &b[first..]))
    } else if M.is_by_rows() && M.rows() > 2 * STRIP * (n + 1) {
        in_parts(M, n + 1, |first, part| both(&part.to_matrix(), &b[first..]))
    } else if M.is_in_file() {
        qr_r(&both(&M.rows_at(&(0..M.rows()).collect::<Vec<_>>()), b))
    } else {
        qr_r(&both(M, b))
    };
    (Matrix::from_fn(n, n, |i, j| R.get(i, j)), R.column(n)[..n].to_vec())
}

/// The R of [`qr_r`] for M on top of √α·I, so that RᵀR = MᵀM + αI without the square of any condition number.
///
/// All NaN if M is not finite, or α is not a number ≥ 0.
#[allow(non_snake_case)]
pub fn qr_r_shifted(M: &Matrix, shift: f64) -> Matrix {
    let (m, n, root) = (M.rows(), M.cols(), shift.sqrt());
    if M.is_by_rows() || m > 2 * STRIP * n {
        // The R of a long M has its Gram matrix.
        return qr_r_shifted(&qr_r(M), shift);
    }
    let entry = |i: usize, j: usize| match i {
        _ if i < m => M.get(i, j),
        _ if i - m == j => root,
        _ => 0.0,
    };
    qr_r(&Matrix::from_fn(m + n, n, entry))
}

/// The R of a matrix with n columns whose rows `part` computes from consecutive rows of M and the index of the first.
/// The R of the stacked R factors of the parts is the R of the whole, so the whole is never copied.
#[allow(non_snake_case)]
fn in_parts(M: &Matrix, n: usize, part: impl Fn(usize, ByRows) -> Matrix + Sync) -> Matrix {
    let height = STRIP * n;
    let mut stacked = Vec::with_capacity(M.rows().div_ceil(height) * n * n);
    M.each_part(height, |first, rows| {
        let known = stacked.len();
        stacked.resize(known + rows.rows().div_ceil(height) * n * n, 0.0);
        let places = stacked[known..].par_chunks_mut(n * n).enumerate();
        places.zip(rows.parts(height)).for_each(|((number, place), rows)| {
            place.copy_from_slice(qr_r(&part(first + number * height, rows)).row_major());
        });
    });
    qr_r(&Matrix::from_row_major(stacked.len() / n, n, stacked))
}

/// The same for consecutive rows of a sparse M, which have all their zeros; R factors are stacked as soon as there are
/// several, so that no more than a few parts are in memory, however many rows M has.
#[allow(non_snake_case)]
fn of_sparse(M: &Sparse, n: usize, part: impl Fn(usize, Matrix) -> Matrix + Sync) -> Matrix {
    let height = (SPARSE_STRIP * n).max(1);
    let dense = |first: usize| {
        let rows = first..M.rows().min(first + height);
        let entries = M.dense(rows.clone());
        part(first, Matrix::from_row_major(rows.len(), M.cols(), entries))
    };
    let firsts: Vec<usize> = (0..M.rows()).step_by(height).collect();
    if firsts.len() < 2 {
        return plain_r(&dense(0));
    }
    let mut R = Matrix::zeros(0, n);
    for firsts in firsts.chunks(STACKED) {
        let factors: Vec<Matrix> = firsts.par_iter().map(|first| plain_r(&dense(*first))).collect();
        let stacked: Vec<&[f64]> = std::iter::once(&R).chain(&factors).map(Matrix::row_major).collect();
        R = plain_r(&Matrix::from_row_major(R.rows() + factors.len() * n, n, stacked.concat()));
    }
    R
}

/// The Q of M = Q·R with the R of [`qr_r`]: rows × min(rows, cols), with orthonormal columns.
///
/// All NaN if M is not finite.
#[allow(non_snake_case)]
pub fn thin_q(M: &Matrix) -> Matrix {
    let (m, size) = (M.rows(), M.rows().min(M.cols()));
    Packed::factor(M).map_or_else(|| not_a_number(m, size), |qr| qr.q())
}

/// The Q of [`thin_q`] and the R of [`qr_r`] from a single factorization; `None` if M is not finite.
#[allow(non_snake_case)]
pub fn thin_qr(M: &Matrix) -> Option<(Matrix, Matrix)> {
    Packed::factor(M).map(|qr| (qr.q(), qr.r()))
}

/// A column is dependent if its component orthogonal to the preceding columns is at most this fraction of its norm.
const DEPENDENT: f64 = 1e-12;

/// The first column that is a linear combination of those before it, up to rounding; column scaling does not matter.
#[allow(non_snake_case)]
pub fn dependent_column(M: &Matrix) -> Option<usize> {
    if M.rows() > 2 * SAMPLE * M.cols() && some_rows_are_independent(M) {
        return None;
    }
    let R = qr_r(M);
    let own = |j: usize| R.get(j, j).abs();
    // R has the column norms of M. A column that is zero or contains NaN counts as dependent.
    let stands_apart = |j: usize| own(j) > DEPENDENT * super::norm(R.column(j));
    (0..R.cols()).find(|&j| !stands_apart(j))
}

/// Rows, in multiples of the number of columns, that usually show that the columns are independent.
const SAMPLE: usize = 4;

/// Whether some rows, evenly spaced, are enough to show that no column depends on others. Leaving out rows only shortens
/// the component of a column orthogonal to the preceding ones, so that it is a lower bound.
#[allow(non_snake_case)]
fn some_rows_are_independent(M: &Matrix) -> bool {
    let (n, every) = (M.cols(), M.rows() / (SAMPLE * M.cols()).max(1));
    let rows: Vec<usize> = (0..SAMPLE * n).map(|i| i * every).collect();
    let R = qr_r(&M.rows_at(&rows));
    // A bound far above the threshold, so that rounding cannot matter.
    let apart = |(j, norm): (usize, f64)| R.get(j, j).abs() > 1e3 * DEPENDENT * norm;
    super::column_norms(M).into_iter().enumerate().all(apart)
}

fn not_a_number(rows: usize, cols: usize) -> Matrix {
    Matrix::from_fn(rows, cols, |_, _| f64::NAN)
}

/// A factorization in place: R on and above the diagonal, the reflectors below it with an implicit leading 1.
struct Packed {
    packed: Mat<f64>,
    /// Block reflector coefficients, as faer keeps them; their number of rows is the block size.
    coefficients: Mat<f64>,
    /// Scale factor still to be applied to R.
    factor: f64,
}

impl Packed {
    /// `None` if M is not finite.
    #[allow(non_snake_case)]
    fn factor(M: &Matrix) -> Option<Self> {
        let (packed, factor) = M.normalized()?;
        // faer skips a column whose remainder is below 16·m·ε, which gives a backward error that grows with the
        // number of rows and a zero on the diagonal. Such matrices are rare here and take the unblocked path.
        let (packed, coefficients) = blocked(packed).unwrap_or_else(|| {
            let (packed, _) = M.normalized().expect("finite, as it was above");
            unblocked(packed)
        });
        Some(Self { packed, coefficients, factor })
    }

    fn r(&self) -> Matrix {
        let (m, n) = self.packed.shape();
        Matrix::from_fn(n, n, |i, j| {
            let in_r = i <= j && i < m;
            if in_r { self.sign(i) * self.packed[(i, j)] * self.factor } else { 0.0 }
        })
    }

    #[allow(non_snake_case)]
    fn q(&self) -> Matrix {
        let (m, n) = self.packed.shape();
        let size = m.min(n);
        let mut Q = Mat::from_fn(m, size, |i, j| if i == j { self.sign(j) } else { 0.0 });
        let scratch = householder::apply_block_householder_sequence_on_the_left_in_place_scratch::<f64>(
            m,
            self.coefficients.nrows(),
            size,
        );
        householder::apply_block_householder_sequence_on_the_left_in_place_with_conj(
            self.packed.as_ref(),
            self.coefficients.as_ref(),
            Conj::No,
            Q.as_mut(),
            Par::Seq,
            MemStack::new(&mut MemBuffer::new(scratch)),
        );
        Matrix::from_faer(Q)
    }

    /// The sign that makes the diagonal entry of row i of R nonnegative.
    fn sign(&self, i: usize) -> f64 {
        1.0_f64.copysign(self.packed[(i, i)])
    }
}

/// faer's blocked factorisation, or `None` if it skipped a column.
fn blocked(mut packed: Mat<f64>) -> Option<(Mat<f64>, Mat<f64>)> {
    let (m, n) = packed.shape();
    let size = m.min(n);
    let block_size = factor::recommended_block_size::<f64>(m, n);
    let mut coefficients = Mat::zeros(block_size, size);
    let scratch = factor::qr_in_place_scratch::<f64>(m, n, block_size, Par::Seq, Default::default());
    let info = factor::qr_in_place(
        packed.as_mut(),
        coefficients.as_mut(),
        Par::Seq,
        MemStack::new(&mut MemBuffer::new(scratch)),
        Default::default(),
    );
    (info.rank == size).then_some((packed, coefficients))
}

/// One reflector at a time, for every column, however small its remainder.
fn unblocked(mut packed: Mat<f64>) -> (Mat<f64>, Mat<f64>) {
    let (m, n) = packed.shape();
    let size = m.min(n);
    let mut coefficients = Mat::zeros(1, size);
    for k in 0..size {
        let (mut above, below) = packed.as_mut().subcols_mut(k, 1).split_at_row_mut(k + 1);
        let info = householder::make_householder_in_place(&mut above[(k, 0)], below.col_mut(0));
        // H = I − v·vᵀ/τ, and τ = ∞ if there is nothing to reflect.
        coefficients[(0, k)] = info.tau;
        if info.tau.is_infinite() {
            continue;
        }
        let mut v = packed.col_as_slice(k)[k..].to_vec();
        v[0] = 1.0;
        for j in k + 1..n {
            let column = &mut packed.col_as_slice_mut(j)[k..];
            let c = dot(&v, column) / info.tau;
            column.iter_mut().zip(&v).for_each(|(x, v)| *x -= c * v);
        }
    }
    (packed, coefficients)
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::super::{gram, matmul};
    use super::*;

    /// The properties that define the factorisation, whatever the matrix.
    #[track_caller]
    fn check(a: &Matrix) {
        let (m, n) = (a.rows(), a.cols());
        let (r, q) = (qr_r(a), thin_q(a));
        assert_eq!(thin_qr(a), Some((q.clone(), r.clone())));
        assert_eq!((r.rows(), r.cols()), (n, n));
        assert_eq!((q.rows(), q.cols()), (m, m.min(n)));
        for i in 0..n {
            assert!(r.get(i, i) >= 0.0);
            assert!((0..i).all(|j| r.get(i, j) == 0.0));
            assert!(i < m || r.row(i).iter().all(|x| *x == 0.0));
        }
        // In the scale of A, as the squares of the largest entries may overflow.
        let factor = a.normalized().unwrap().1;
        let unit = |x: &Matrix| x.map(|x| x / factor);
        let dimension = m.max(n).max(1) as f64;
        let size = frobenius(&unit(a));
        assert_small(frobenius(&difference(&gram(&unit(&r)), &gram(&unit(a)))), size * size * n as f64);
        assert_small(frobenius(&difference(&gram(&q), &Matrix::identity(m.min(n)))), dimension);
        let trapezoid = Matrix::from_fn(m.min(n), n, |i, j| r.get(i, j) / factor);
        assert_small(frobenius(&difference(&matmul(&q, &trapezoid), &unit(a))), size * n as f64);
    }

    #[test]
    fn random_matrices_of_every_shape_and_scale() {
        for (m, n) in SHAPES {
            for scale in [1.0, 1e200, 1e-200, 1e300, 1e-290] {
                check(&normal(m, n, 1).map(|x| x * scale));
            }
            check(&Matrix::zeros(m, n));
        }
    }

    #[test]
    fn ill_conditioned_matrices() {
        for (m, n) in SHAPES {
            for kappa in [1e4, 1e8, 1e12, 1e16] {
                check(&conditioned(m, n, kappa, 2));
            }
        }
        for n in SIZES {
            check(&kahan(n));
        }
    }

    #[test]
    fn dependent_columns_lose_no_accuracy() {
        for (m, n, rank) in [(3, 3, 1), (20, 20, 5), (50, 20, 19), (400, 50, 49), (400, 50, 1), (20, 50, 7)] {
            check(&deficient(m, n, rank, 3));
        }
        // Dependent to just below faer's threshold of 16·m·ε, which must not affect a tall matrix.
        let a = normal(2000, 10, 4);
        for gap in [1e-10, 1e-12, 1e-14, 0.0] {
            let near = |i, j| if j == 9 { a.get(i, 8) + gap * a.get(i, 9) } else { a.get(i, j) };
            check(&Matrix::from_fn(2000, 10, near));
        }
        // A zero column first, in the middle, last.
        for zero in [0, 10, 19] {
            let a = normal(50, 20, 5);
            check(&Matrix::from_fn(50, 20, |i, j| if j == zero { 0.0 } else { a.get(i, j) }));
        }
    }

    #[test]
    fn the_first_dependent_column_is_named_in_all_units() {
        let a = normal(50, 5, 11);
        assert_eq!(dependent_column(&a), None);
        let units = [1e-120, 1.0, 1e9, 1e-30, 1e120];
        for made in 0..5 {
            let combined = |i: usize| (0..made).map(|j| a.get(i, j)).sum::<f64>();
            let entry = |i, j| if j == made { combined(i) } else { a.get(i, j) } * units[j];
            let m = Matrix::from_fn(50, 5, entry);
            assert_eq!(dependent_column(&m), Some(made), "{made}");
        }
        assert_eq!(dependent_column(&Matrix::from_fn(50, 5, |i, j| a.get(i, j) * units[j])), None);
        let wide = normal(3, 4, 12);
        assert_eq!(dependent_column(&wide), Some(3));
    }

    #[test]
    fn r_is_unique() {
        let a = normal(60, 12, 6);
        let rotated = matmul(&thin_q(&normal(60, 60, 7)), &a);
        assert_small(max_difference(&qr_r(&rotated), &qr_r(&a)), frobenius(&a) * 12.0);
        let upper = qr_r(&a);
        assert_small(max_difference(&qr_r(&upper), &upper), frobenius(&a) * 12.0);
        assert_eq!(qr_r(&Matrix::from_rows(&[&[-3.0]])).get(0, 0), 3.0);
    }

    #[test]
    fn the_blocked_and_the_plain_way_agree() {
        let a = normal(400, 50, 8);
        let (fast, slow) =
            (blocked(a.normalized().unwrap().0).unwrap().0, unblocked(a.normalized().unwrap().0).0);
        let entry = |packed: &Mat<f64>, i: usize, j: usize| if i <= j { packed[(i, j)].abs() } else { 0.0 };
        let (fast, slow) = (
            Matrix::from_fn(50, 50, |i, j| entry(&fast, i, j)),
            Matrix::from_fn(50, 50, |i, j| entry(&slow, i, j)),
        );
        assert_small(max_difference(&fast, &slow), frobenius(&fast) * 50.0);
    }

    #[test]
    fn non_finite_input_gives_non_finite_output() {
        for bad in [f64::NAN, f64::INFINITY] {
            for (m, n) in [(1, 1), (7, 3), (3, 7), (60, 50)] {
                let a = normal(m, n, 9);
                let a = Matrix::from_fn(m, n, |i, j| if (i, j) == (0, n - 1) { bad } else { a.get(i, j) });
                assert!(!qr_r(&a).is_finite());
                assert!(!thin_q(&a).is_finite());
                assert_eq!(thin_qr(&a), None);
            }
        }
    }

    #[test]
    fn equal_values_give_equal_bits() {
        assert_reproducible(&normal(403, 37, 10), |a| vec![qr_r(a), thin_q(a)]);
        assert_reproducible(&deficient(403, 37, 20, 10), |a| vec![qr_r(a), thin_q(a)]);
    }
}

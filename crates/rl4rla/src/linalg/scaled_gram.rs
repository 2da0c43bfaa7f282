//! Mᵀ·diag(d)²·M, the Gram matrix of diag(d)·M, which is not stored: its rows are made block by block, and each block
//! is used while it is in cache.

use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::{Accum, Mat, MatRef, Par};
use rayon::prelude::*;

use super::blas::mirrored;
use super::by_rows::ByRows;
use super::{Matrix, gram, scale_rows, wide};

/// Rows of a matrix stored by columns that are scaled at a time.
const BLOCK_ROWS: usize = 256;

/// Entries of a matrix stored by rows that are scaled at a time: a quarter of a megabyte.
const BLOCK_ENTRIES: usize = 1 << 15;

/// Number of parts of a matrix stored by rows that are summed separately, each by one thread.
const PARTS: usize = 16;

/// Mᵀ·diag(d)²·M, exactly symmetric. All threads read a matrix that is stored by rows, in parts that depend only on its
/// shape.
#[allow(non_snake_case)]
pub fn gram_of_scaled(d: &[f64], M: &Matrix) -> Matrix {
    assert_eq!(M.rows(), d.len(), "diag(d)·M of unequal lengths");
    if M.is_sparse() {
        return gram(&scale_rows(d, M));
    }
    let n = M.cols();
    let mut sum = Mat::zeros(n, n);
    if !M.is_by_rows() {
        add_columns(d, M, &mut sum);
        return mirrored(sum);
    }
    // No fewer rows than columns, so that the sums of all parts are not larger than M.
    let height = d.len().div_ceil(PARTS).max(n).max(1);
    M.each_part(height, |first, part| {
        let scales = d[first..first + part.rows()].par_chunks(height);
        let sums: Vec<Mat<f64>> =
            part.parts(height).zip(scales).map(|(part, d)| part_of(d, part, n)).collect();
        for part in sums {
            sum += part;
        }
    });
    mirrored(sum)
}

/// The lower triangle for a matrix stored by columns.
#[allow(non_snake_case)]
fn add_columns(d: &[f64], M: &Matrix, sum: &mut Mat<f64>) {
    let mut scratch = Mat::<f64>::zeros(BLOCK_ROWS.min(d.len()), M.cols());
    for start in (0..d.len()).step_by(BLOCK_ROWS) {
        let rows = start..d.len().min(start + BLOCK_ROWS);
        for j in 0..M.cols() {
            let column = M.column(j)[rows.clone()].iter().zip(&d[rows.clone()]);
            scratch.col_as_slice_mut(j).iter_mut().zip(column).for_each(|(s, (m, d))| *s = m * d);
        }
        add_product(sum, scratch.as_ref().subrows(0, rows.len()).transpose());
    }
}

/// The lower triangle for rows that follow each other.
fn part_of(d: &[f64], part: ByRows, n: usize) -> Mat<f64> {
    let mut sum = Mat::zeros(n, n);
    let height = (BLOCK_ENTRIES / n.max(1)).max(1);
    let mut scratch = vec![0.0; height.min(d.len()) * n];
    for (rows, d) in part.entries().chunks((height * n).max(1)).zip(d.chunks(height)) {
        let scratch = &mut scratch[..rows.len()];
        wide(
            #[inline(always)]
            || {
                for ((scaled, row), d) in scratch.chunks_exact_mut(n).zip(rows.chunks_exact(n)).zip(d) {
                    scaled.iter_mut().zip(row).for_each(|(scaled, entry)| *scaled = entry * d);
                }
            },
        );
        add_product(&mut sum, MatRef::from_column_major_slice(scratch, n, d.len()));
    }
    sum
}

/// The lower triangle of S ← S + L·Lᵀ.
pub(super) fn add_product(sum: &mut Mat<f64>, left: MatRef<'_, f64>) {
    triangular::matmul(
        sum,
        BlockStructure::TriangularLower,
        Accum::Add,
        left,
        BlockStructure::Rectangular,
        left.transpose(),
        BlockStructure::Rectangular,
        1.0,
        Par::Seq,
    );
}

#[cfg(test)]
mod tests {
    use super::super::testing::{assert_small, max_difference, normal};
    use super::super::{gram, scale_rows};
    use super::*;
    use proptest::prelude::*;

    fn by_rows(a: &Matrix) -> Matrix {
        Matrix::from_row_major(a.rows(), a.cols(), a.row_major().to_vec())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]
        #[test]
        fn both_layouts_give_the_gram_matrix_of_the_scaled_rows(m in 0..700usize, n in 0..30usize, seed: u64) {
            let (a, d) = (normal(m, n, seed), normal(m, 1, seed ^ 1));
            let d = d.column(0);
            let expected = gram(&scale_rows(d, &a));
            for layout in [a.clone(), by_rows(&a)] {
                let found = gram_of_scaled(d, &layout);
                assert_small(max_difference(&found, &expected), 30.0 * (m + 1) as f64);
                assert_eq!(found, found.transpose());
            }
        }
    }

    #[test]
    fn threads_do_not_show() {
        let (a, d) = (by_rows(&normal(5000, 40, 3)), normal(5000, 1, 4));
        let all = || gram_of_scaled(d.column(0), &a);
        let one = all();
        for threads in [1, 2, 7] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            assert!(pool.install(all) == one, "{threads} threads");
        }
    }
}

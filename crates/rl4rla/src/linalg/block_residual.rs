//! Residuals and gradients of several right-hand sides, in one pass over A.
#![allow(non_snake_case)]

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, Par};
use rayon::prelude::*;

use super::by_rows::{ByRows, gram_height};
use super::{Matrix, block_mat, dot, mat_block, norm};

/// What a pass over A shows of several solutions.
#[derive(Clone, PartialEq, Debug)]
pub struct BlockResidual {
    /// ‖Ax − b‖ of each.
    pub distances: Vec<f64>,
    /// Aᵀ(Ax − b), a column for each.
    pub gradients: Matrix,
}

/// Residuals and gradients for the columns of X, with these columns of B as right-hand sides. No residual of a dense A
/// stored by rows is kept: it is used while it is in cache. Results do not depend on the number of threads.
///
/// ```
/// use rl4rla::linalg::{Matrix, block_residual};
/// let a = Matrix::from_row_major(3, 1, vec![1.0, 2.0, 2.0]);
/// let b = Matrix::from_rows(&[&[4.0, 0.0], &[2.0, 0.0], &[2.0, 1.0]]);
/// let found = block_residual(&a, &Matrix::from_rows(&[&[1.0]]), &b, &[0]);
/// assert_eq!(found.distances, [3.0]);
/// assert_eq!(found.gradients, Matrix::from_rows(&[&[-3.0]]));
/// ```
pub fn block_residual(A: &Matrix, X: &Matrix, B: &Matrix, columns: &[usize]) -> BlockResidual {
    assert_eq!((A.rows(), columns.len()), (B.rows(), X.cols()), "AX − B of unequal sizes");
    if !A.is_by_rows() || A.is_sparse() || A.cols() == 0 {
        let image = mat_block(A, X);
        let R = Matrix::from_fn(A.rows(), X.cols(), |i, j| image.get(i, j) - B.get(i, columns[j]));
        let distances = (0..X.cols()).map(|j| norm(R.column(j))).collect();
        return BlockResidual { distances, gradients: block_mat(A, &R) };
    }
    let (n, k) = (A.cols(), X.cols());
    let starts = (0..k).all(|j| X.column(j).iter().all(|x| *x == 0.0));
    let (mut squares, mut gradients) = (vec![0.0; k], Mat::<f64>::zeros(n, k));
    // The sums of a part of rows: of squares of residuals, and of gradients.
    let sums = |first: usize, rows: ByRows| {
        let (mut squares, mut G) = (vec![0.0; k], Mat::<f64>::zeros(n, k));
        let mut first = first;
        for strip in rows.strips() {
            let M = strip.as_faer();
            let mut R = Mat::<f64>::zeros(strip.rows(), k);
            if !starts {
                matmul(&mut R, Accum::Replace, M, X.as_faer(), 1.0, Par::Seq);
            }
            for (j, square) in squares.iter_mut().enumerate() {
                let (r, b) = (R.col_as_slice_mut(j), &B.column(columns[j])[first..]);
                r.iter_mut().zip(b).for_each(|(r, b)| *r -= b);
                *square += dot(r, r);
            }
            matmul(&mut G, Accum::Add, M.transpose(), &R, 1.0, Par::Seq);
            first += strip.rows();
        }
        (squares, G)
    };
    let height = gram_height(A.rows(), n);
    A.each_part(height, |first, rows| {
        let parts = rows.parts(height).enumerate().map(|(part, rows)| sums(first + part * height, rows));
        for (part, G) in parts.collect::<Vec<_>>() {
            squares.iter_mut().zip(part).for_each(|(sum, square)| *sum += square);
            gradients += G;
        }
    });
    let distances = squares.into_iter().map(f64::sqrt).collect();
    BlockResidual { distances, gradients: Matrix::from_faer(gradients) }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{assert_small, frobenius, max_difference, normal};
    use super::super::{matmul as product, sub, t_matmul};
    use super::*;

    #[test]
    fn every_layout_gives_the_residuals_of_the_definition() {
        for (m, n, k) in [(1, 1, 1), (40, 3, 2), (1300, 7, 12), (3000, 20, 3)] {
            let (A, B) = (normal(m, n, 1), normal(m, k + 1, 2));
            let columns: Vec<usize> = (1..=k).rev().collect();
            for X in [normal(n, k, 3), Matrix::zeros(n, k)] {
                let image = product(&A, &X);
                let R = Matrix::from_fn(m, k, |i, j| image.get(i, j) - B.get(i, columns[j]));
                let gradients = t_matmul(&A, &R);
                let distances: Vec<f64> = (0..k).map(|j| norm(R.column(j))).collect();
                for layout in [A.clone(), Matrix::from_row_major(m, n, A.row_major().to_vec())] {
                    let found = block_residual(&layout, &X, &B, &columns);
                    let size = frobenius(&A) * norm(&distances);
                    assert_small(max_difference(&found.gradients, &gradients), size);
                    assert_small(norm(&sub(&found.distances, &distances)), norm(&distances));
                }
            }
        }
    }

    #[test]
    fn threads_do_not_show() {
        let A = Matrix::from_row_major(5000, 40, normal(5000, 40, 4).row_major().to_vec());
        let (X, B) = (normal(40, 3, 5), normal(5000, 3, 6));
        let all = || block_residual(&A, &X, &B, &[0, 1, 2]);
        let one = all();
        for threads in [1, 3] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            assert!(pool.install(all) == one, "{threads} threads");
        }
    }
}

//! Products.

use faer::linalg::matmul;
use faer::{Accum, Mat, MatRef, Par};
use rayon::prelude::*;
use std::ops::Range;

use super::by_rows::{ByRows, gram_height};
use super::scaled_gram::{add_product, gram_of_scaled};
use super::tiles::{self, Tiles};
use super::vector::{LANES, add_products, inner, inners, total};
use super::{Matrix, sub, wide};

/// Rows of A·x computed at a time, so that they stay in the L1 cache while the columns of A stream through.
const ROW_BLOCK: usize = 1024;

/// Columns combined in one pass over such a block.
const COLUMN_GROUP: usize = 4;

/// Entries of P from which on PPᵀ is computed in parts, and how many parts.
const OUTER: usize = 1 << 18;
const OUTER_PARTS: usize = 16;

/// A·x.
#[allow(non_snake_case)]
pub fn mat_vec(A: &Matrix, x: &[f64]) -> Vec<f64> {
    if let Some((d, M)) = A.scaled_rows() {
        let mut y = mat_vec(M, x);
        y.iter_mut().zip(d).for_each(|(y, d)| *y *= d);
        return y;
    }
    if A.is_by_rows() {
        assert_eq!(A.cols(), x.len(), "A·x of unequal lengths");
        if let Some(sparse) = A.sparse() {
            return sparse.mat_vec(x);
        }
        let mut y = Vec::new();
        A.each_part(1, |_, part| match y.is_empty() {
            true => y = part.mat_vec(x),
            false => y.append(&mut part.mat_vec(x)),
        });
        return y;
    }
    let [y] = mat_vecs(A, [x]);
    y
}

/// A·x for several vectors, in one pass over A.
#[allow(non_snake_case)]
pub fn mat_vecs<const N: usize>(A: &Matrix, x: [&[f64]; N]) -> [Vec<f64>; N] {
    for x in x {
        assert_eq!(A.cols(), x.len(), "A·x of unequal lengths");
    }
    if A.is_by_rows() || A.scaled_rows().is_some() {
        return x.map(|x| mat_vec(A, x));
    }
    let mut products = x.map(|_| vec![0.0; A.rows()]);
    wide(
        #[inline(always)]
        || {
            for start in (0..A.rows()).step_by(ROW_BLOCK) {
                let rows = start..A.rows().min(start + ROW_BLOCK);
                let whole = A.cols() - A.cols() % COLUMN_GROUP;
                for group in (0..whole).step_by(COLUMN_GROUP) {
                    for (y, x) in products.iter_mut().zip(x) {
                        add_group::<COLUMN_GROUP>(A, x, group, rows.clone(), &mut y[rows.clone()]);
                    }
                }
                for j in whole..A.cols() {
                    for (y, x) in products.iter_mut().zip(x) {
                        add_group::<1>(A, x, j, rows.clone(), &mut y[rows.clone()]);
                    }
                }
            }
        },
    );
    products
}

/// y ← y + the contribution of K columns, starting at `first`, to these rows of A·x.
#[inline(always)]
#[allow(non_snake_case)]
fn add_group<const K: usize>(A: &Matrix, x: &[f64], first: usize, rows: Range<usize>, y: &mut [f64]) {
    let columns: [&[f64]; K] = std::array::from_fn(|k| &A.column(first + k)[rows.clone()]);
    accumulate(y, std::array::from_fn(|k| x[first + k]), columns);
}

/// y ← y + Σₖ xₖ·cₖ.
#[inline(always)]
fn accumulate<const K: usize>(y: &mut [f64], x: [f64; K], columns: [&[f64]; K]) {
    // Slices of equal length let the compiler drop bounds checks and vectorize the loop.
    let columns = columns.map(|column| &column[..y.len()]);
    for (i, y) in y.iter_mut().enumerate() {
        let mut sum = *y;
        for k in 0..K {
            sum += x[k] * columns[k][i];
        }
        *y = sum;
    }
}

/// Mᵀ·v.
#[allow(non_snake_case)]
pub fn vec_mat(v: &[f64], M: &Matrix) -> Vec<f64> {
    assert_eq!(M.rows(), v.len(), "Mᵀ·v of unequal lengths");
    if let Some((d, M)) = M.scaled_rows() {
        let scaled: Vec<f64> = v.iter().zip(d).map(|(v, d)| v * d).collect();
        return vec_mat(&scaled, M);
    }
    if let Some(sparse) = M.sparse() {
        return sparse.vec_mat(v);
    }
    if M.is_by_rows() {
        let mut sum = None;
        M.each_part(ByRows::height_of(M.cols()), |first, part| {
            part.vec_mat(&v[first..first + part.rows()], &mut sum)
        });
        return sum.unwrap_or_else(|| vec![0.0; M.cols()]);
    }
    let (n, whole) = (M.cols(), M.cols() - M.cols() % COLUMN_GROUP);
    let mut products = vec![0.0; n];
    wide(
        #[inline(always)]
        || match M.rows() <= ROW_BLOCK {
            true => {
                for first in (0..whole).step_by(COLUMN_GROUP) {
                    let columns: [_; COLUMN_GROUP] = std::array::from_fn(|k| M.column(first + k));
                    products[first..first + COLUMN_GROUP].copy_from_slice(&inners(columns, v));
                }
                for (j, product) in products.iter_mut().enumerate().skip(whole) {
                    *product = inner(M.column(j), v);
                }
            }
            false => tall_vec_mat(M, v, &mut products),
        },
    );
    products
}

/// Mᵀ·v with the same bits, by blocks of rows, so that those of v stay in the L1 cache.
#[inline(always)]
#[allow(non_snake_case)]
fn tall_vec_mat(M: &Matrix, v: &[f64], products: &mut [f64]) {
    let mut sums = vec![[0.0; LANES]; M.cols()];
    for start in (0..M.rows()).step_by(ROW_BLOCK) {
        let rows = start..M.rows().min(start + ROW_BLOCK);
        let block = |j: usize| &M.column(j)[rows.clone()];
        let (groups, rest) = sums.as_chunks_mut::<COLUMN_GROUP>();
        // Only the last block has rows left over: the others are whole groups of lanes.
        for (group, sums) in groups.iter_mut().enumerate() {
            let first = group * COLUMN_GROUP;
            let left = add_products(sums, std::array::from_fn(|k| block(first + k)), &v[rows.clone()]);
            products[first..first + COLUMN_GROUP].copy_from_slice(&left);
        }
        let whole = COLUMN_GROUP * groups.len();
        for (k, sum) in rest.iter_mut().enumerate() {
            let mut one = [*sum];
            [products[whole + k]] = add_products(&mut one, [block(whole + k)], &v[rows.clone()]);
            [*sum] = one;
        }
    }
    for (product, sum) in products.iter_mut().zip(sums) {
        *product = total(sum, *product);
    }
}

/// r = A·x − b and Aᵀ·r, reading A once if it is stored by rows or sparse, or if x = 0, where half of the products are
/// known.
#[allow(non_snake_case)]
pub fn residual_and_gradient(A: &Matrix, x: &[f64], b: &[f64]) -> (Vec<f64>, Vec<f64>) {
    assert_eq!((A.rows(), A.cols()), (b.len(), x.len()), "A·x − b of unequal lengths");
    if x.iter().all(|x| *x == 0.0) {
        let residual: Vec<f64> = b.iter().map(|b| 0.0 - b).collect();
        let gradient = vec_mat(&residual, A);
        return (residual, gradient);
    }
    if let Some(sparse) = A.sparse() {
        let mut r = b.to_vec();
        let gradient = sparse.residual_and_gradient(x, &mut r);
        return (r, gradient);
    }
    if A.is_by_rows() {
        let (mut r, mut sum) = (b.to_vec(), None);
        A.each_part(ByRows::height_of(A.cols()), |first, part| {
            part.residual_and_gradient(x, &mut r[first..first + part.rows()], &mut sum)
        });
        return (r, sum.unwrap_or_else(|| vec![0.0; A.cols()]));
    }
    let residual = sub(&mat_vec(A, x), b);
    let gradient = vec_mat(&residual, A);
    (residual, gradient)
}

/// ‖aᵢ‖² for every row.
#[allow(non_snake_case)]
pub fn squared_row_norms(A: &Matrix) -> Vec<f64> {
    if let Some(sparse) = A.sparse() {
        return sparse.squared_row_norms();
    }
    let mut norms = Vec::with_capacity(A.rows());
    if A.is_by_rows() {
        A.each_part(1, |_, part| norms.append(&mut part.squared_row_norms()));
        return norms;
    }
    norms.resize(A.rows(), 0.0);
    for j in 0..A.cols() {
        for (norm, a) in norms.iter_mut().zip(A.column(j)) {
            *norm += a * a;
        }
    }
    norms
}

/// diag(d)·M.
#[allow(non_snake_case)]
pub fn scale_rows(d: &[f64], M: &Matrix) -> Matrix {
    assert_eq!(M.rows(), d.len(), "diag(d)·M of unequal lengths");
    if let Some(sparse) = M.sparse() {
        return Matrix::from_sparse(sparse.clone().scale_rows(d));
    }
    let mut columns = M.as_faer().to_owned();
    for j in 0..M.cols() {
        columns.col_as_slice_mut(j).iter_mut().zip(d).for_each(|(m, d)| *m *= d);
    }
    Matrix::from_faer(columns)
}

/// P·Q.
#[allow(non_snake_case)]
pub fn matmul(P: &Matrix, Q: &Matrix) -> Matrix {
    product(P.as_faer(), Q.as_faer())
}

/// P·Qᵀ.
#[allow(non_snake_case)]
pub fn matmul_t(P: &Matrix, Q: &Matrix) -> Matrix {
    product(P.as_faer(), Q.as_faer().transpose())
}

/// Pᵀ·Q.
#[allow(non_snake_case)]
pub fn t_matmul(P: &Matrix, Q: &Matrix) -> Matrix {
    product(P.as_faer().transpose(), Q.as_faer())
}

/// PᵀP, exactly symmetric.
#[allow(non_snake_case)]
pub fn gram(P: &Matrix) -> Matrix {
    if let Some((d, M)) = P.scaled_rows() {
        return gram_of_scaled(d, M);
    }
    if !P.is_by_rows() {
        return symmetric_product(P.as_faer().transpose());
    }
    if let Some(sparse) = P.sparse().filter(|sparse| sparse.scatters()) {
        return sparse.gram();
    }
    if let Some(tiles) = gram_tiles(P) {
        return tiles.symmetric();
    }
    let (n, height) = (P.cols(), gram_height(P.rows(), P.cols()));
    let mut sum = Mat::zeros(n, n);
    P.each_part(height, |_, rows| rows.grams(height).iter().for_each(|part| sum += part));
    mirrored(sum)
}

/// The tiles of PᵀP, for a P with many columns that is stored by rows and not very sparse.
#[allow(non_snake_case)]
pub(super) fn gram_tiles(P: &Matrix) -> Option<Tiles> {
    let scatters = P.sparse().is_some_and(|sparse| sparse.scatters());
    if P.scaled_rows().is_some() || !P.is_by_rows() || scatters || P.cols() <= tiles::MANY {
        return None;
    }
    let mut sum = Tiles::zeros(P.cols());
    P.each_part(gram_height(P.rows(), P.cols()), |_, rows| sum.add_gram(rows));
    Some(sum)
}

/// PPᵀ, exactly symmetric. The columns of a wide P stored by rows are shared among all threads.
#[allow(non_snake_case)]
pub fn outer_gram(P: &Matrix) -> Matrix {
    let (rows, cols) = (P.rows(), P.cols());
    if !P.is_by_rows() || rows * cols < OUTER {
        return symmetric_product(P.as_faer());
    }
    let width = cols.div_ceil(OUTER_PARTS);
    let part = |start: usize| {
        let mut sum = Mat::zeros(rows, rows);
        add_product(&mut sum, P.as_faer().subcols(start, width.min(cols - start)));
        sum
    };
    let starts: Vec<usize> = (0..cols).step_by(width).collect();
    let parts: Vec<Mat<f64>> = starts.into_par_iter().map(part).collect();
    mirrored(parts.into_iter().reduce(|sum, part| sum + part).unwrap_or_else(|| Mat::zeros(rows, rows)))
}

fn product(left: MatRef<'_, f64>, right: MatRef<'_, f64>) -> Matrix {
    let mut result = Mat::zeros(left.nrows(), right.ncols());
    matmul::matmul(&mut result, Accum::Replace, left, right, 1.0, Par::Seq);
    Matrix::from_faer(result)
}

/// L·Lᵀ: computes the lower triangle and mirrors it.
pub(super) fn symmetric_product(left: MatRef<'_, f64>) -> Matrix {
    let mut result = Mat::zeros(left.nrows(), left.nrows());
    add_product(&mut result, left);
    mirrored(result)
}

/// The symmetric matrix with this lower triangle.
pub(super) fn mirrored(mut lower: Mat<f64>) -> Matrix {
    for j in 1..lower.ncols() {
        for i in 0..j {
            lower[(i, j)] = lower[(j, i)];
        }
    }
    Matrix::from_faer(lower)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::testing::{SHAPES, assert_reproducible, assert_small, max_difference, normal};
    use super::super::{dot, norm};
    use super::*;

    fn naive(p: &Matrix, q: &Matrix) -> Matrix {
        Matrix::from_fn(p.rows(), q.cols(), |i, j| (0..p.cols()).map(|k| p.get(i, k) * q.get(k, j)).sum())
    }

    fn column(v: &[f64]) -> Matrix {
        Matrix::from_fn(v.len(), 1, |i, _| v[i])
    }

    /// max|X − Y| / (max|P|·max|Q|·k·ε) < 30.
    fn assert_product(p: &Matrix, q: &Matrix, result: &Matrix) {
        let size = p.magnitude().unwrap() * q.magnitude().unwrap() * p.cols().max(1) as f64;
        assert_small(max_difference(result, &naive(p, q)), size);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn products_agree_with_plain_loops(m in 0..40usize, k in 0..40usize, n in 0..40usize, seed: u64) {
            let (p, q) = (normal(m, k, seed), normal(k, n, seed ^ 1));
            assert_product(&p, &q, &matmul(&p, &q));
            assert_product(&p, &q, &matmul_t(&p, &q.transpose()));
            assert_product(&p, &q, &t_matmul(&p.transpose(), &q));
            assert_product(&p, &p.transpose(), &outer_gram(&p));
            assert_product(&p.transpose(), &p, &gram(&p));
            let x = normal(k, 1, seed ^ 2);
            assert_product(&p, &x, &column(&mat_vec(&p, x.column(0))));
            assert_product(&p, &x, &column(&vec_mat(x.column(0), &p.transpose())));
        }
    }

    #[test]
    fn products_cross_their_block_boundaries() {
        for m in [ROW_BLOCK - 1, ROW_BLOCK, ROW_BLOCK + 1, 2 * ROW_BLOCK + 3] {
            for n in [1, 3, 4, 5, 9] {
                let (a, x) = (normal(m, n, 3), normal(n, 1, 4));
                assert_product(&a, &x, &column(&mat_vec(&a, x.column(0))));
                // Columns that share a pass have the bits that they have alone.
                let v = normal(m, 1, 5);
                let alone: Vec<f64> = (0..n).map(|j| dot(a.column(j), v.column(0))).collect();
                assert_eq!(vec_mat(v.column(0), &a), alone);
            }
        }
    }

    #[test]
    fn gram_matrices_are_exactly_symmetric() {
        for (m, n) in SHAPES {
            let a = normal(m, n, 5);
            let g = gram(&a);
            assert_eq!(g, g.transpose());
            assert_eq!((g.rows(), g.cols()), (n, n));
        }
        let tall = normal(50, 20, 5);
        assert_eq!(outer_gram(&tall), outer_gram(&tall).transpose());
    }

    #[test]
    fn the_two_products_are_adjoint() {
        let (a, x, y) = (normal(400, 50, 8), normal(50, 1, 9), normal(400, 1, 10));
        let (x, y) = (x.column(0), y.column(0));
        let (ax, aty) = (mat_vec(&a, x), vec_mat(y, &a));
        assert_small((dot(&ax, y) - dot(x, &aty)).abs(), norm(&ax) * norm(y));
    }

    #[test]
    fn not_a_number_spreads_and_does_not_panic() {
        let mut entries = normal(9, 5, 11);
        entries = Matrix::from_fn(9, 5, |i, j| if (i, j) == (4, 2) { f64::NAN } else { entries.get(i, j) });
        assert!(mat_vec(&entries, &[1.0; 5])[4].is_nan());
        assert!(vec_mat(&[1.0; 9], &entries)[2].is_nan());
        assert!(gram(&entries).get(2, 2).is_nan());
        assert!(matmul(&entries, &Matrix::identity(5)).get(4, 2).is_nan());
    }

    #[test]
    fn equal_values_give_equal_bits() {
        let v = normal(403, 1, 12);
        assert_reproducible(&normal(403, 37, 13), |a| {
            // The same vector at another alignment.
            let shifted: Vec<f64> = std::iter::once(0.0).chain(v.column(0).iter().copied()).collect();
            assert_eq!(vec_mat(v.column(0), a), vec_mat(&shifted[1..], a));
            let g = gram(a);
            let vectors = [mat_vec(a, a.row(0)), vec_mat(v.column(0), a)];
            let vectors = vectors.iter().map(|v| column(v));
            vectors.chain([matmul(a, &g), t_matmul(a, a), matmul_t(&g, a), outer_gram(&g), g]).collect()
        });
    }
}

//! Kernels for matrices stored by rows: large data, read once per product, in parallel.
//!
//! The work is split into blocks whose boundaries depend only on the shape, and partial sums are added in block
//! order, so that results are bitwise independent of the number of threads. Sums use a fixed number of lanes without
//! fused multiply-adds, so they do not depend on the SIMD width either.

use faer::{Mat, MatRef};
use rayon::prelude::*;

use super::scaled_gram::add_product;
use super::vector::inner;
use super::{Matrix, add, narrow, wide};

/// Entries per block, about a megabyte: enough to be worth a task, small enough to keep all threads busy.
const BLOCK: usize = 1 << 17;

/// Entries of the rows whose residuals are computed before they are used: few, so that further rows arrive from memory
/// meanwhile.
const GROUP: usize = 400;

/// Rows of which a function is evaluated at once.
const MAPPED: usize = 16;

/// Rows added to a sum at once, so that the sum is loaded and stored less often.
const TOGETHER: usize = 4;

/// Adjacent sums updated at once.
const CHUNK: usize = 4;

/// Rows of a product that are added to a Gram matrix at a time.
const STRIP: usize = 512;

/// Number of parts whose Gram matrices are computed separately.
const GRAM_PARTS: usize = 16;

/// Maximum number of entries of such a part: data read from a file are held one part at a time.
const GRAM_ENTRIES: usize = 1 << 22;

/// The entries of a matrix that is stored by rows.
#[derive(Clone, Copy)]
pub struct ByRows<'a> {
    entries: &'a [f64],
    rows: usize,
    cols: usize,
}

impl<'a> ByRows<'a> {
    pub(super) fn new(entries: &'a [f64], rows: usize, cols: usize) -> ByRows<'a> {
        assert_eq!(entries.len(), rows * cols, "entries of a {rows}×{cols} matrix");
        ByRows { entries, rows, cols }
    }

    /// Number of rows.
    pub fn rows(self) -> usize {
        self.rows
    }

    /// All entries.
    pub fn entries(self) -> &'a [f64] {
        self.entries
    }

    /// Rows per block of a matrix with `cols` columns.
    pub fn height_of(cols: usize) -> usize {
        (BLOCK / cols.max(1)).next_multiple_of(TOGETHER).max(TOGETHER)
    }

    fn height(self) -> usize {
        ByRows::height_of(self.cols)
    }

    fn blocks(self) -> rayon::slice::Chunks<'a, f64> {
        self.entries.par_chunks((self.height() * self.cols).max(1))
    }

    /// A·x.
    pub fn mat_vec(self, x: &[f64]) -> Vec<f64> {
        let mut y = vec![0.0; self.rows];
        let blocks = self.blocks().zip(y.par_chunks_mut(self.height()));
        blocks.for_each(|(block, y)| {
            wide(
                #[inline(always)]
                || {
                    if !narrow::subtract_from_products(block, x, y) {
                        subtract_from_products(block, x, y);
                    }
                },
            )
        });
        y
    }

    /// Adds Aᵀ·v to `sum`, the total over the preceding rows, if any.
    pub fn vec_mat(self, v: &[f64], sum: &mut Option<Vec<f64>>) {
        let blocks = self.blocks().zip(v.par_chunks(self.height()));
        let parts = blocks.map(|(block, v)| {
            let mut sum = vec![0.0; self.cols];
            wide(
                #[inline(always)]
                || add_multiples(block, v, &mut sum),
            );
            sum
        });
        total(parts, sum);
    }

    /// Replaces b in `r` by r = A·x − b and adds Aᵀ·r to `sum`, the total over the preceding rows, if any. Reads A
    /// once.
    pub fn residual_and_gradient(self, x: &[f64], r: &mut [f64], sum: &mut Option<Vec<f64>>) {
        if self.cols == 0 {
            r.iter_mut().for_each(|r| *r = 0.0 - *r);
            return;
        }
        let group = (GROUP / self.cols).next_multiple_of(TOGETHER).max(TOGETHER);
        let blocks = self.blocks().zip(r.par_chunks_mut(self.height()));
        let parts = blocks.map(|(block, r)| {
            let mut sum = vec![0.0; self.cols];
            wide(
                #[inline(always)]
                || {
                    if narrow::residual_and_gradient(block, x, r, &mut sum) {
                        return;
                    }
                    for (rows, r) in block.chunks(group * self.cols).zip(r.chunks_mut(group)) {
                        subtract_from_products(rows, x, r);
                        add_multiples(rows, r, &mut sum);
                    }
                },
            );
            sum
        });
        total(parts, sum);
    }

    /// Sets z = A·x, replaces b in `r` by r = f(z, b), and adds Aᵀ·r to `sum`, the total over the preceding rows, if any.
    /// Reads A once.
    pub fn image_and_gradient(
        self,
        x: &[f64],
        z: &mut [f64],
        r: &mut [f64],
        f: impl Fn(f64, f64) -> f64 + Sync,
        sum: &mut Option<Vec<f64>>,
    ) {
        // Enough rows for f to be evaluated in vectors.
        let group = (GROUP / self.cols.max(1)).next_multiple_of(MAPPED).max(MAPPED);
        let vectors = z.par_chunks_mut(self.height()).zip(r.par_chunks_mut(self.height()));
        let parts = self.blocks().zip(vectors).map(|(block, (z, r))| {
            let mut sum = vec![0.0; self.cols];
            wide(
                #[inline(always)]
                || {
                    let rows = block.chunks(group * self.cols);
                    for ((rows, z), r) in rows.zip(z.chunks_mut(group)).zip(r.chunks_mut(group)) {
                        z.fill(0.0);
                        subtract_from_products(rows, x, z);
                        r.iter_mut().zip(z).for_each(|(r, z)| *r = f(*z, *r));
                        add_multiples(rows, r, &mut sum);
                    }
                },
            );
            sum
        });
        total(parts, sum);
    }

    /// ‖aᵢ‖² for every row.
    pub fn squared_row_norms(self) -> Vec<f64> {
        let mut norms = vec![0.0; self.rows];
        let blocks = self.blocks().zip(norms.par_chunks_mut(self.height()));
        blocks.for_each(|(block, norms)| {
            wide(
                #[inline(always)]
                || {
                    for (row, norm) in block.chunks_exact(self.cols).zip(norms) {
                        *norm = inner(row, row);
                    }
                },
            );
        });
        norms
    }

    /// The lower triangles of the Gram matrices of consecutive parts of `height` rows.
    pub fn grams(self, height: usize) -> Vec<Mat<f64>> {
        let gram = |part: ByRows| {
            let mut sum = Mat::zeros(self.cols, self.cols);
            part.strips().for_each(|strip| add_product(&mut sum, strip.as_faer().transpose()));
            sum
        };
        self.parts(height).map(gram).collect()
    }

    /// Consecutive rows, few enough that a product of some of their columns stays in the L2 cache.
    pub fn strips(self) -> impl Iterator<Item = ByRows<'a>> {
        let strip = move |entries: &'a [f64]| ByRows::new(entries, entries.len() / self.cols, self.cols);
        self.entries.chunks((STRIP * self.cols).max(1)).map(strip)
    }

    /// Consecutive rows, `height` at a time.
    pub fn parts(self, height: usize) -> impl IndexedParallelIterator<Item = ByRows<'a>> {
        let cols = self.cols;
        let part = move |entries: &'a [f64]| ByRows::new(entries, entries.len() / cols, cols);
        self.entries.par_chunks((height * cols).max(1)).map(part)
    }

    /// A copy as a matrix, also stored by rows.
    pub fn to_matrix(self) -> Matrix {
        Matrix::from_row_major(self.rows, self.cols, self.entries.to_vec())
    }

    /// View for faer's routines.
    pub fn as_faer(self) -> MatRef<'a, f64> {
        MatRef::from_row_major_slice(self.entries, self.rows, self.cols)
    }
}

/// Adds vectors to a sum, in order.
fn total(parts: impl IndexedParallelIterator<Item = Vec<f64>>, sum: &mut Option<Vec<f64>>) {
    let parts: Vec<Vec<f64>> = parts.collect();
    *sum = sum.take().into_iter().chain(parts).reduce(|sum, part| add(&sum, &part));
}

/// Rows per part for separate Gram matrices: `GRAM_PARTS` parts, fewer if a part would be smaller than its Gram matrix,
/// or more if it would exceed `GRAM_ENTRIES`.
pub fn gram_height(rows: usize, cols: usize) -> usize {
    rows.div_ceil(GRAM_PARTS).max(cols).min(GRAM_ENTRIES / cols.max(1)).max(1)
}

/// y ← A·x − y, row by row: memory is fastest when read in order.
#[inline(always)]
fn subtract_from_products(rows: &[f64], x: &[f64], y: &mut [f64]) {
    for (row, y) in rows.chunks_exact(x.len()).zip(y) {
        *y = inner(row, x) - *y;
    }
}

/// sum ← sum + Aᵀ·v.
#[inline(always)]
fn add_multiples(rows: &[f64], v: &[f64], sum: &mut [f64]) {
    let n = sum.len();
    let (fours, rest) = v.as_chunks::<TOGETHER>();
    let (first, last) = rows.split_at(fours.len() * TOGETHER * n);
    for (rows, v) in first.chunks_exact(TOGETHER * n).zip(fours) {
        add_together(std::array::from_fn(|k| &rows[k * n..(k + 1) * n]), *v, sum);
    }
    for (row, v) in last.chunks_exact(n).zip(rest) {
        add_together([row], [*v], sum);
    }
}

/// sum ← sum + Σₖ vₖ·rowₖ.
#[inline(always)]
fn add_together<const K: usize>(rows: [&[f64]; K], v: [f64; K], sum: &mut [f64]) {
    // Short chunks because rows are short: with longer ones, the scalar remainder would take as long again.
    let (sums, sum_rest) = sum.as_chunks_mut::<CHUNK>();
    let rows = rows.map(|row| row.as_chunks::<CHUNK>());
    // Slices of equal length let the compiler drop bounds checks.
    let chunks = rows.map(|(chunks, _)| &chunks[..sums.len()]);
    for (j, sum) in sums.iter_mut().enumerate() {
        for k in 0..K {
            for lane in 0..CHUNK {
                sum[lane] += v[k] * chunks[k][j][lane];
            }
        }
    }
    for k in 0..K {
        sum_rest.iter_mut().zip(rows[k].1).for_each(|(sum, a)| *sum += v[k] * a);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{assert_small, frobenius, max_difference, normal};
    use super::super::{gram, mat_vec, norm, qr_r, residual_and_gradient, squared_row_norms, sub, vec_mat};
    use super::*;

    fn by_rows(a: &Matrix) -> Matrix {
        Matrix::from_row_major(a.rows(), a.cols(), a.row_major().to_vec())
    }

    /// Shapes at the edges of groups and blocks.
    fn shapes() -> Vec<(usize, usize)> {
        let mut all = vec![(0, 0), (0, 3), (3, 0), (1, 1), (7, 5), (8, 8), (9, 17), (200, 3)];
        for n in [1000, 4096] {
            let height = (BLOCK / n).next_multiple_of(TOGETHER);
            all.extend([(height - 1, n), (height, n), (height + 1, n), (2 * height + 5, n)]);
        }
        all
    }

    #[test]
    fn both_layouts_give_the_same_products() {
        for (m, n) in shapes() {
            let (a, x, v) = (normal(m, n, 1), normal(n, 1, 2), normal(m, 1, 3));
            let (x, v, rows) = (x.column(0), v.column(0), by_rows(&a));
            let size = frobenius(&a).max(1.0);
            assert_small(norm(&sub(&mat_vec(&rows, x), &mat_vec(&a, x))), size * norm(x).max(1.0));
            assert_small(norm(&sub(&vec_mat(v, &rows), &vec_mat(v, &a))), size * norm(v).max(1.0));
            let (r, g) = residual_and_gradient(&rows, x, v);
            let (expected, gradient) = residual_and_gradient(&a, x, v);
            assert_small(norm(&sub(&r, &expected)), size * norm(x).max(1.0) + norm(v));
            assert_small(norm(&sub(&g, &gradient)), size * (size * norm(x).max(1.0) + norm(v)));
            assert_eq!((r.len(), g.len()), (m, n));
            let naive: Vec<f64> = (0..m).map(|i| a.row(i).iter().map(|a| a * a).sum()).collect();
            let norms = squared_row_norms(&rows);
            assert_small(norm(&sub(&norms, &naive)), norm(&naive));
        }
    }

    #[test]
    fn both_layouts_give_the_same_factors() {
        for (m, n) in [(0, 0), (3, 0), (1, 1), (5, 9), (40, 3), (500, 7), (3000, 5)] {
            let a = normal(m, n, 4);
            let (rows, size) = (by_rows(&a), frobenius(&a).max(1.0));
            assert_small(max_difference(&gram(&rows), &gram(&a)), size * size);
            assert_eq!(gram(&rows), gram(&rows).transpose());
            assert_small(max_difference(&qr_r(&rows), &qr_r(&a)), size * size);
        }
    }

    #[test]
    fn threads_do_not_show() {
        let (m, n) = (3000, 150);
        let (a, x, b) = (by_rows(&normal(m, n, 5)), normal(n, 1, 6), normal(m, 1, 7));
        let all = || {
            let (r, g) = residual_and_gradient(&a, x.column(0), b.column(0));
            let norms = squared_row_norms(&a);
            let products = [r, g, mat_vec(&a, x.column(0)), vec_mat(b.column(0), &a), norms];
            (products, gram(&a), qr_r(&a))
        };
        let one = all();
        for threads in [1, 2, 8] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            assert!(pool.install(all) == one, "{threads} threads");
        }
    }

    #[test]
    fn not_a_number_spreads_and_does_not_panic() {
        let bad = |i, j| if (i, j) == (40, 2) { f64::NAN } else { 1.0 };
        let a = by_rows(&Matrix::from_fn(90, 5, bad));
        assert!(!a.is_finite());
        let (r, g) = residual_and_gradient(&a, &[1.0; 5], &[1.0; 90]);
        assert!(r[40].is_nan() && r[41] == 4.0 && g.iter().all(|g| g.is_nan()));
        assert!(mat_vec(&a, &[1.0; 5])[40].is_nan());
        assert!(vec_mat(&[1.0; 90], &a)[2].is_nan());
        assert!(gram(&a).get(2, 2).is_nan() && qr_r(&a).get(0, 0).is_nan());
    }
}

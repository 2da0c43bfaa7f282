//! Kernels for sparse matrices: one pass over the stored entries, in parallel.
//!
//! As for data stored by rows, the work is split into blocks of consecutive rows that depend only on the matrix, and
//! partial sums are added in block order, so that results are bitwise independent of the number of threads.

use super::{Matrix, Sparse};
use rayon::prelude::*;
use std::ops::Range;

/// Work per block, entries and rows counted alike: enough to be worth a task.
const BLOCK: usize = 1 << 15;

/// Least work per entry of a partial sum, so that partial sums take a small part of the memory of the matrix.
const PER_SUM: usize = 8;

/// Entries of a row from which on its products are added in lanes; the additions of a shorter one are soon done.
const LONG: usize = 16;

/// Partial sums of a dot product with a long row.
const LANES: usize = 4;

/// Entries of all partial Gram matrices together, 32 MiB, unless a single one has more.
const GRAM_ENTRIES: usize = 1 << 22;

/// Largest number of partial Gram matrices.
const GRAM_PARTS: usize = 16;

/// A product that is added to a scattered entry of a Gram matrix takes as long as this many of a dense one.
const SCATTERED: f64 = 24.0;

impl Sparse {
    /// Consecutive rows, with at least so much work in all blocks but the last.
    pub(super) fn blocks(&self, least: usize) -> Vec<Range<usize>> {
        let (m, work) = (self.rows(), |i: usize| self.before(i) + i);
        let count = (work(m) / least).max(1);
        // The first row with so much work before it.
        let reached = |wanted: usize| {
            let (mut low, mut high) = (0, m);
            while low < high {
                let middle = low.midpoint(high);
                if work(middle) < wanted { low = middle + 1 } else { high = middle }
            }
            low
        };
        let share = |k: usize| (work(m) as u128 * k as u128 / count as u128) as usize;
        let mut ends: Vec<usize> = (1..count).map(|k| reached(share(k))).chain([m]).collect();
        ends.dedup();
        let starts = std::iter::once(0).chain(ends.iter().copied());
        starts.zip(&ends).map(|(start, end)| start..*end).collect()
    }

    /// The blocks for kernels with partial sums of one entry per column.
    fn summed_blocks(&self) -> Vec<Range<usize>> {
        self.blocks(BLOCK.max(PER_SUM * self.cols()))
    }

    /// A·x.
    pub(super) fn mat_vec(&self, x: &[f64]) -> Vec<f64> {
        self.row_values(|columns, values| inner(columns, values, x))
    }

    /// ‖aᵢ‖² for every row.
    pub(super) fn squared_row_norms(&self) -> Vec<f64> {
        self.row_values(|_, values| values.iter().map(|a| a * a).sum())
    }

    /// A function of every row.
    fn row_values(&self, of: impl Fn(&[u32], &[f64]) -> f64 + Sync) -> Vec<f64> {
        let mut y = vec![0.0; self.rows()];
        each(split(self.blocks(BLOCK), &mut y), |(rows, y)| {
            for ((columns, values), y) in self.rows_in(rows).zip(y) {
                *y = of(columns, values);
            }
        });
        y
    }

    /// Aᵀ·v.
    pub(super) fn vec_mat(&self, v: &[f64]) -> Vec<f64> {
        total(each(self.summed_blocks(), |rows| {
            let mut sum = vec![0.0; self.cols()];
            for ((columns, values), v) in self.rows_in(rows.clone()).zip(&v[rows]) {
                add_multiple(columns, values, *v, &mut sum);
            }
            sum
        }))
    }

    /// Replaces b in `r` by r = A·x − b and returns Aᵀ·r. Reads A once.
    pub(super) fn residual_and_gradient(&self, x: &[f64], r: &mut [f64]) -> Vec<f64> {
        total(each(split(self.summed_blocks(), r), |(rows, r)| {
            let mut sum = vec![0.0; self.cols()];
            for ((columns, values), r) in self.rows_in(rows).zip(r) {
                *r = inner(columns, values, x) - *r;
                add_multiple(columns, values, *r, &mut sum);
            }
            sum
        }))
    }

    /// Folds the stored entries of every column, from 0: `term` of the result so far, the entry and uⱼ.
    pub(super) fn fold_columns(
        &self,
        u: &[f64],
        term: impl Fn(f64, f64, f64) -> f64 + Sync,
        join: impl Fn(f64, f64) -> f64,
    ) -> Vec<f64> {
        let parts = each(self.summed_blocks(), |rows| {
            let mut sums = vec![0.0; self.cols()];
            for i in rows {
                self.row(i).for_each(|(j, value)| sums[j] = term(sums[j], value, u[j]));
            }
            sums
        });
        joined(parts, join)
    }

    /// Whether the Gram matrix takes less time by scattered products than from blocks of rows with all their zeros.
    pub(super) fn scatters(&self) -> bool {
        let products: f64 = (0..self.rows()).map(|i| self.entries(i).0.len() as f64).map(|k| k * k).sum();
        products * SCATTERED <= self.rows() as f64 * (self.cols() as f64).powi(2)
    }

    /// AᵀA, exactly symmetric, as the sum of the outer products of the rows.
    pub(super) fn gram(&self) -> Matrix {
        let n = self.cols();
        let parts = (GRAM_ENTRIES / (n * n).max(1)).clamp(1, GRAM_PARTS);
        let work = self.nonzeros() + self.rows();
        let blocks = self.blocks(BLOCK.max(n * n).max(work.div_ceil(parts)));
        // Where there are fewer parts than threads, threads share a part by rows of the result. Each entry is summed in
        // the order of the rows of A, so the number of threads does not show.
        let bands = rayon::current_num_threads().div_ceil(blocks.len());
        let mut sums = vec![vec![0.0; n * n]; blocks.len()];
        let mut tasks = Vec::new();
        for (rows, mut rest) in blocks.into_iter().zip(sums.iter_mut().map(Vec::as_mut_slice)) {
            for band in triangle_bands(n, bands) {
                let piece;
                (piece, rest) = rest.split_at_mut(band.len() * n);
                tasks.push((rows.clone(), band, piece));
            }
        }
        each(tasks, |(rows, band, sum)| {
            self.rows_in(rows).for_each(|(columns, values)| add_outer(columns, values, n, &band, sum));
        });
        let sum = total(sums);
        Matrix::from_fn(n, n, |i, j| sum[i.min(j) * n + i.max(j)])
    }
}

/// The results for all pieces of work, in order; a single piece is done without waiting for other threads.
fn each<P: Send, T: Send>(pieces: Vec<P>, f: impl Fn(P) -> T + Sync) -> Vec<T> {
    match pieces.len() {
        0 | 1 => pieces.into_iter().map(f).collect(),
        _ => pieces.into_par_iter().map(&f).collect(),
    }
}

/// The sum of the vectors, in order; there is at least one, because a matrix has at least one block.
fn total(parts: Vec<Vec<f64>>) -> Vec<f64> {
    joined(parts, |sum, part| sum + part)
}

fn joined(parts: Vec<Vec<f64>>, join: impl Fn(f64, f64) -> f64) -> Vec<f64> {
    let mut parts = parts.into_iter();
    let mut all = parts.next().unwrap_or_default();
    parts.for_each(|part| all.iter_mut().zip(part).for_each(|(all, part)| *all = join(*all, part)));
    all
}

/// The blocks with their parts of a vector.
fn split(blocks: Vec<Range<usize>>, mut rest: &mut [f64]) -> Vec<(Range<usize>, &mut [f64])> {
    let cut = |rows: Range<usize>| {
        let (piece, after) = std::mem::take(&mut rest).split_at_mut(rows.len());
        rest = after;
        (rows, piece)
    };
    blocks.into_iter().map(cut).collect()
}

/// Consecutive rows of an n×n upper triangle with about equal numbers of entries.
fn triangle_bands(n: usize, count: usize) -> Vec<Range<usize>> {
    let end = |k: usize| match k == count {
        true => n,
        false => ((1.0 - (1.0 - k as f64 / count as f64).sqrt()) * n as f64) as usize,
    };
    (0..count).map(|k| end(k)..end(k + 1)).collect()
}

/// Σₖ valueₖ·x[columnₖ].
#[inline(always)]
fn inner(columns: &[u32], values: &[f64], x: &[f64]) -> f64 {
    let plain = |columns: &[u32], values: &[f64]| {
        columns.iter().zip(values).fold(0.0, |sum, (j, a)| sum + a * x[*j as usize])
    };
    if columns.len() < LONG {
        return plain(columns, values);
    }
    let ((places, last), (factors, rest)) = (columns.as_chunks::<LANES>(), values.as_chunks::<LANES>());
    let mut sums = [0.0; LANES];
    for (places, factors) in places.iter().zip(factors) {
        for lane in 0..LANES {
            sums[lane] += factors[lane] * x[places[lane] as usize];
        }
    }
    (sums[0] + sums[2]) + (sums[1] + sums[3]) + plain(last, rest)
}

/// sum[columnₖ] ← sum[columnₖ] + factor·valueₖ.
#[inline(always)]
fn add_multiple(columns: &[u32], values: &[f64], factor: f64, sum: &mut [f64]) {
    columns.iter().zip(values).for_each(|(j, a)| sum[*j as usize] += factor * a);
}

/// Adds the upper triangle of a·aᵀ, for a row a, to these rows of the result.
#[inline(always)]
fn add_outer(columns: &[u32], values: &[f64], n: usize, band: &Range<usize>, sum: &mut [f64]) {
    for (p, (row, a)) in columns.iter().zip(values).enumerate() {
        let row = *row as usize;
        if band.contains(&row) {
            let first = (row - band.start) * n;
            add_multiple(&columns[p..], &values[p..], *a, &mut sum[first..first + n]);
        }
    }
}

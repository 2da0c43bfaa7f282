//! Large symmetric matrices by tiles: Gram matrices and Cholesky factors on all threads.
//!
//! Only the lower triangle is computed. Tile boundaries depend only on the size, and every tile is computed by one
//! thread, so that results are bitwise independent of the number of threads.
#![allow(non_snake_case)]

use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::linalg::{matmul, triangular_solve};
use faer::{Accum, Mat, MatMut, MatRef, Par, Side};
use rayon::prelude::*;
use std::ops::Range;

use super::by_rows::ByRows;
use super::{Matrix, NumericError};

/// Rows and columns of a tile.
const SIDE: usize = 256;

/// The size from which on tiles are worth it.
pub const MANY: usize = 2 * SIDE;

/// The lower triangle of a symmetric matrix: tiles (i, j) with i ≥ j, row by row.
pub struct Tiles {
    n: usize,
    tiles: Vec<Mat<f64>>,
}

/// The rows, or columns, of the tiles with this index.
fn span(n: usize, index: usize) -> Range<usize> {
    index * SIDE..n.min((index + 1) * SIDE)
}

/// Position of tile (i, j).
fn place(i: usize, j: usize) -> usize {
    i * (i + 1) / 2 + j
}

impl Tiles {
    /// The zero matrix.
    pub fn zeros(n: usize) -> Tiles {
        let count = n.div_ceil(SIDE);
        let all = (0..count).flat_map(|i| (0..=i).map(move |j| (i, j)));
        let tiles = all.map(|(i, j)| Mat::zeros(span(n, i).len(), span(n, j).len())).collect();
        Tiles { n, tiles }
    }

    /// The lower triangle of a symmetric matrix.
    pub fn of(matrix: MatRef<'_, f64>) -> Tiles {
        let mut tiles = Tiles::zeros(matrix.nrows());
        let n = tiles.n;
        tiles.each(0, |i, j, tile| {
            let (rows, cols) = (span(n, i), span(n, j));
            tile.copy_from(matrix.submatrix(rows.start, cols.start, rows.len(), cols.len()));
        });
        tiles
    }

    fn count(&self) -> usize {
        self.n.div_ceil(SIDE)
    }

    /// Calls `f` with the indices of every tile to the right of and below tile (first, first), and with the tile.
    fn each(&mut self, first: usize, f: impl Fn(usize, usize, &mut Mat<f64>) + Sync) {
        let count = self.count();
        let indices = (0..count).flat_map(|i| (0..=i).map(move |j| (i, j)));
        let open = self.tiles.iter_mut().zip(indices).filter(|(_, (_, j))| *j >= first);
        let mut open: Vec<_> = open.collect();
        open.par_iter_mut().with_max_len(1).for_each(|(tile, (i, j))| f(*i, *j, tile));
    }

    /// S ← S + AᵀA.
    pub fn add_gram(&mut self, rows: ByRows) {
        let n = self.n;
        // All tiles use a strip while it is in cache.
        for strip in rows.strips() {
            let slab = |index: usize| strip.as_faer().subcols(span(n, index).start, span(n, index).len());
            self.each(0, |i, j, tile| add_product(tile, 1.0, slab(i).transpose(), slab(j), i == j));
        }
    }

    /// The symmetric matrix.
    pub fn symmetric(self) -> Matrix {
        self.spread(|whole, [rows, cols], tile| {
            let mut corner = part(whole, rows.clone(), cols.clone());
            match rows == cols {
                true => (1..tile.nrows()).for_each(|r| (0..r).for_each(|c| corner[(r, c)] = tile[(r, c)])),
                false => corner.copy_from(tile),
            }
        })
    }

    /// The transpose of the lower triangle, and what `more` makes of every tile with its rows and columns, zero elsewhere.
    /// Tiles are freed on the way, so that not all of them are held beside the result.
    fn spread(self, more: impl Fn(&mut Mat<f64>, [Range<usize>; 2], &Mat<f64>)) -> Matrix {
        let n = self.n;
        let mut whole = Mat::zeros(n, n);
        let indices = (0..self.count()).flat_map(|i| (0..=i).map(move |j| (i, j)));
        for ((i, j), tile) in indices.zip(self.tiles) {
            let mut corner = part(&mut whole, span(n, j), span(n, i));
            match i == j {
                true => corner.copy_from_triangular_upper(tile.transpose()),
                false => corner.copy_from(tile.transpose()),
            }
            more(&mut whole, [span(n, i), span(n, j)], &tile);
        }
        Matrix::from_faer(whole)
    }

    /// The upper triangular R of S = RᵀR with a positive diagonal; an error if S is not positive definite.
    pub fn cholesky(mut self) -> Result<Matrix, NumericError> {
        if !self.tiles.iter().all(|tile| tile.is_all_finite()) {
            return Err(NumericError::NotFinite);
        }
        for k in 0..self.count() {
            let corner = self.tiles[place(k, k)].llt(Side::Lower).map_err(|error| {
                let faer::linalg::cholesky::llt::factor::LltError::NonPositivePivot { index } = error;
                NumericError::Singular { index: k * SIDE + index }
            })?;
            self.tiles[place(k, k)] = corner.L().to_owned();
            let below = (k + 1..self.count()).collect::<Vec<usize>>();
            // Lᵢₖ = Sᵢₖ·Lₖₖ⁻ᵀ.
            let mut column: Vec<Mat<f64>> =
                below.iter().map(|i| std::mem::replace(&mut self.tiles[place(*i, k)], Mat::new())).collect();
            column.par_iter_mut().with_max_len(1).for_each(|tile| {
                let right = tile.as_mut().transpose_mut();
                triangular_solve::solve_lower_triangular_in_place(corner.L(), right, Par::Seq);
            });
            let of = |i: usize| column[i - k - 1].as_ref();
            // Sᵢⱼ ← Sᵢⱼ − Lᵢₖ·Lⱼₖᵀ.
            self.each(k + 1, |i, j, tile| add_product(tile, -1.0, of(i), of(j).transpose(), i == j));
            for (i, tile) in below.into_iter().zip(column) {
                self.tiles[place(i, k)] = tile;
            }
        }
        Ok(self.spread(|_, _, _| {}))
    }
}

/// A part of a matrix.
fn part(whole: &mut Mat<f64>, rows: Range<usize>, cols: Range<usize>) -> MatMut<'_, f64> {
    whole.as_mut().submatrix_mut(rows.start, cols.start, rows.len(), cols.len())
}

/// S ← S + α·P·Q; only the lower triangle if it is all that is needed.
fn add_product(sum: &mut Mat<f64>, factor: f64, P: MatRef<'_, f64>, Q: MatRef<'_, f64>, lower: bool) {
    if !lower {
        matmul::matmul(sum, Accum::Add, P, Q, factor, Par::Seq);
        return;
    }
    let whole = BlockStructure::Rectangular;
    let part = BlockStructure::TriangularLower;
    triangular::matmul(sum, part, Accum::Add, P, whole, Q, whole, factor, Par::Seq);
}

#[cfg(test)]
mod tests {
    use super::super::testing::{assert_small, frobenius, max_difference, normal};
    use super::super::{cholesky_r, gram, gram_cholesky_r, t_matmul};
    use super::*;

    const SIZES: [usize; 3] = [MANY + 1, 2 * MANY, 2 * MANY + 77];

    #[test]
    fn tiles_make_the_same_matrix() {
        for n in SIZES {
            let a = normal(40, n, 1);
            let rows = Matrix::from_row_major(40, n, a.row_major().to_vec());
            let g = gram(&rows);
            assert_small(max_difference(&g, &t_matmul(&a, &a)), frobenius(&a).powi(2));
            assert_eq!(g, g.transpose());
        }
    }

    #[test]
    fn factors_give_the_matrix_back() {
        for n in SIZES {
            let g = gram(&normal(n + 50, n, 2));
            let r = cholesky_r(&g).unwrap();
            assert!(cholesky_r(&g.map(|x| if x == g.get(n - 1, 0) { f64::NAN } else { x })).is_err());
            assert!((0..n).all(|j| r.get(j, j) > 0.0 && r.column(j)[j + 1..].iter().all(|x| *x == 0.0)));
            assert_small(max_difference(&t_matmul(&r, &r), &g), frobenius(&g));
            for index in [3, n - 2] {
                let bad = |i: usize, j: usize| if (i, j) == (index, index) { -1.0 } else { g.get(i, j) };
                let error = cholesky_r(&Matrix::from_fn(n, n, bad)).unwrap_err();
                assert_eq!(error, NumericError::Singular { index });
            }
        }
    }

    #[test]
    fn threads_do_not_show() {
        let a = Matrix::from_row_major(700, 600, normal(700, 600, 3).row_major().to_vec());
        let both = || (gram(&a), gram_cholesky_r(&a).unwrap());
        assert!(gram_cholesky_r(&a) == cholesky_r(&gram(&a)));
        let one = both();
        for threads in [1, 3] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            assert!(pool.install(both) == one, "{threads} threads");
        }
    }
}

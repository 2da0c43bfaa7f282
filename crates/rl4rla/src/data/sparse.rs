//! Sparse matrices from files: which of them stay sparse, and their rows one by one.

use super::held::HeldMatrix;
use super::reading::Reading;
use super::rows::Body;
use super::{DataError, FilePosition};
use crate::linalg::Sparse;
use std::path::Path;

/// One entry in so many has to be stored at least for a dense copy to be as fast: a stored entry takes 12 bytes and an
/// indirect access. At 200 columns the Gram matrix takes equal time when about a quarter of the entries are stored,
/// products with vectors when about two fifths are.
const DENSE_SHARE: u64 = 5;

/// Matrices with at most this many entries, 8 MB, are made dense: products take no time either way, and every program
/// runs on them.
const SMALL: u64 = 1 << 20;

/// Whether a matrix with so many stored entries is kept sparse.
pub(super) fn stays_sparse(rows: usize, cols: usize, stored: u64, reading: &Reading) -> bool {
    let all = (rows as u64).saturating_mul(cols as u64);
    !reading.dense && all > SMALL && stored <= all / DENSE_SHARE
}

/// A sparse matrix, and how many of its rows have been returned.
pub(super) struct HeldSparse {
    pub sparse: Sparse,
    told: usize,
}

impl HeldSparse {
    pub fn new(sparse: Sparse) -> HeldSparse {
        HeldSparse { sparse, told: 0 }
    }

    /// Appends up to `most` rows with their zeros and returns their number; 0 at the end.
    pub fn next(&mut self, most: usize, into: &mut Vec<f64>) -> usize {
        let rows = most.min(self.sparse.rows() - self.told);
        self.sparse.write_dense(self.told..self.told + rows, into);
        self.told += rows;
        rows
    }
}

impl Body {
    /// What a file with this sparse matrix holds: an error if a number is not finite, or if the matrix does not stay
    /// sparse and is too large to be dense.
    pub(super) fn of_sparse(path: &Path, sparse: Sparse, reading: &Reading) -> Result<Body, DataError> {
        let (rows, cols) = (sparse.rows(), sparse.cols());
        let infinite = |i: usize| sparse.row(i).find(|(_, value)| !value.is_finite()).map(|(j, _)| (i, j));
        if let Some((i, j)) = (0..rows).find_map(infinite) {
            let place = FilePosition::Entry { row: i + 1, column: j + 1 };
            return Err(DataError::at(
                path,
                place,
                "the value is not finite",
                "give every entry once, as a finite number",
            ));
        }
        if stays_sparse(rows, cols, sparse.nonzeros() as u64, reading) {
            return Ok(Body::Sparse(HeldSparse::new(sparse)));
        }
        let mut entries = Vec::new();
        super::reading::reserve(path, &mut entries, reading.afford(path, rows, cols)?)?;
        sparse.write_dense(0..rows, &mut entries);
        Ok(Body::Held(HeldMatrix::new(rows, cols, entries)))
    }
}

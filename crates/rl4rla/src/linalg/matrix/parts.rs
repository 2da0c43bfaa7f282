//! Matrices that are not dense in memory, in a file or sparse: how they are made, and read part by part.

use super::super::Sparse;
use super::super::by_rows::ByRows;
use super::super::spool::{RowSource, Spool, held_rows};
use super::{Layout, Matrix};
use faer::Mat;
use std::fs::File;
use std::io;
use std::sync::Arc;

impl Matrix {
    /// The matrix whose entries a file stores row by row, as little-endian f64 and nothing else. The file must not
    /// change.
    pub fn in_file(file: File, rows: usize, cols: usize) -> io::Result<Self> {
        Ok(Layout::File(Arc::new(Spool::new(file, rows, cols)?)).into())
    }

    /// The matrix whose rows a source gives, some at a time: it is treated like one in a file.
    ///
    /// ```
    /// use rl4rla::linalg::{Matrix, RowSource, mat_vec};
    /// struct Counting;
    /// impl RowSource for Counting {
    ///     fn read(&self, first: usize, rows: usize, into: &mut Vec<f64>) -> std::io::Result<()> {
    ///         Ok(into.extend((2 * first..2 * (first + rows)).map(|entry| entry as f64)))
    ///     }
    /// }
    /// let a = Matrix::from_row_source(3, 2, std::sync::Arc::new(Counting));
    /// assert_eq!(mat_vec(&a, &[1.0, 1.0]), [1.0, 5.0, 9.0]);
    /// assert_eq!(mat_vec(&a.with_ones(), &[1.0, 1.0, 1.0]), [2.0, 6.0, 10.0]);
    /// ```
    pub fn from_row_source(rows: usize, cols: usize, source: Arc<dyn RowSource>) -> Self {
        Layout::File(Arc::new(Spool::of(source, rows, cols))).into()
    }

    /// A sparse matrix, which stays sparse: products, sketches, Gram matrices and factors take its stored entries.
    ///
    /// ```
    /// use rl4rla::linalg::{Matrix, Sparse, gram, mat_vec};
    /// let a = Sparse::from_entries(3, 2, vec![(0, 0, 1.0), (2, 1, 2.0)]).unwrap();
    /// let a = Matrix::from_sparse(a);
    /// assert_eq!((mat_vec(&a, &[1.0, 1.0]), a.nonzeros()), (vec![1.0, 0.0, 2.0], 2));
    /// assert_eq!(gram(&a), Matrix::from_rows(&[&[1.0, 0.0], &[0.0, 4.0]]));
    /// ```
    pub fn from_sparse(sparse: Sparse) -> Self {
        Layout::Sparse(sparse).into()
    }

    /// The same matrix with all zeros of a sparse one stored, by rows.
    pub fn to_dense(self) -> Self {
        let (rows, cols) = (self.rows(), self.cols());
        match self.sparse() {
            Some(sparse) => Self::from_row_major(rows, cols, sparse.dense(0..rows)),
            None => self,
        }
    }

    /// The same matrix with a column of ones after the others, by rows unless it is sparse or read part by part.
    pub fn with_ones(self) -> Self {
        let (rows, cols) = (self.rows(), self.cols());
        match self.into_layout() {
            Layout::Sparse(sparse) => Self::from_sparse(sparse.with_columns_moved(None, true).0),
            Layout::File(spool) => Layout::File(Arc::new(spool.with_ones())).into(),
            layout => {
                let dense = Self::from(layout);
                let mut entries = Vec::with_capacity(rows * (cols + 1));
                for i in 0..rows {
                    entries.extend_from_slice(dense.row(i));
                    entries.push(1.0);
                }
                Self::from_row_major(rows, cols + 1, entries)
            }
        }
    }

    /// Whether the matrix is read part by part, from a file or another source, rather than in memory.
    pub fn is_in_file(&self) -> bool {
        matches!(self.layout.get(), Some(Layout::File(_)))
    }

    /// Whether only some entries are stored, and the others are zero.
    pub fn is_sparse(&self) -> bool {
        self.sparse().is_some()
    }

    /// Whether all entries are in memory, so that they can be asked for at once.
    pub fn is_dense(&self) -> bool {
        !self.is_in_file() && !self.is_sparse()
    }

    /// Number of stored entries: for a matrix that is not sparse, of all.
    pub fn nonzeros(&self) -> usize {
        self.sparse().map_or_else(|| self.rows() * self.cols(), Sparse::nonzeros)
    }

    /// The stored entries of a sparse matrix.
    #[inline]
    pub(crate) fn sparse(&self) -> Option<&Sparse> {
        match self.layout.get() {
            Some(Layout::Sparse(sparse)) => Some(sparse),
            _ => None,
        }
    }

    /// The first error in reading its file, if any; entries that could not be read were taken to be NaN.
    pub fn read_failure(&self) -> Option<&str> {
        match self.layout() {
            Layout::File(spool) => spool.failure(),
            _ => None,
        }
    }

    /// Calls `f` with consecutive rows of a matrix made from rows, and the index of the first: all at once from
    /// memory, in parts from a file or with the zeros of a sparse one. Part boundaries are multiples of `unit` rows.
    pub(crate) fn each_part(&self, unit: usize, mut f: impl FnMut(usize, ByRows)) {
        match self.layout() {
            Layout::Columns { .. } => f(0, ByRows::new(self.row_major(), self.rows(), self.cols())),
            Layout::Rows { entries, shape, .. } => f(0, ByRows::new(entries, shape.0, shape.1)),
            Layout::File(spool) => spool.each_part(unit, f),
            Layout::Sparse(sparse) => {
                let (m, n) = (sparse.rows(), sparse.cols());
                let height = held_rows(unit, n);
                for first in (0..m).step_by(height) {
                    let rows = first..m.min(first + height);
                    f(first, ByRows::new(&sparse.dense(rows.clone()), rows.len(), n));
                }
            }
        }
    }

    /// The first entry, in row order, for which `holds` is true: its row, column and value.
    pub(crate) fn find(&self, holds: impl Fn(f64) -> bool) -> Option<(usize, usize, f64)> {
        let (m, n) = (self.rows(), self.cols());
        if !self.is_by_rows() {
            let place = (0..m * n).map(|at| (at / n, at % n)).find(|&(i, j)| holds(self.get(i, j)));
            return place.map(|(i, j)| (i, j, self.get(i, j)));
        }
        let stored = self.sparse().filter(|_| !holds(0.0));
        if let Some(sparse) = stored {
            let found =
                |i: usize| sparse.row(i).find(|(_, value)| holds(*value)).map(|(j, value)| (i, j, value));
            return (0..m).find_map(found);
        }
        let mut found = None;
        self.each_part(1, |first, part| {
            let place = || part.entries().iter().position(|entry| holds(*entry));
            found = found.or_else(|| place().map(|at| (first + at / n, at % n, part.entries()[at])));
        });
        found
    }

    /// The matrix of the rows with these indices.
    pub(crate) fn rows_at(&self, rows: &[usize]) -> Matrix {
        match self.layout() {
            Layout::File(spool) => {
                let (entries, n) = (spool.rows_at(rows), spool.cols);
                Matrix::from_fn(rows.len(), n, |i, j| entries[i * n + j])
            }
            Layout::Sparse(sparse) => {
                let mut chosen = Mat::zeros(rows.len(), sparse.cols());
                for (at, i) in rows.iter().enumerate() {
                    sparse.row(*i).for_each(|(j, value)| chosen[(at, j)] = value);
                }
                Self::from_faer(chosen)
            }
            _ => Matrix::from_fn(rows.len(), self.cols(), |i, j| self.row(rows[i])[j]),
        }
    }
}

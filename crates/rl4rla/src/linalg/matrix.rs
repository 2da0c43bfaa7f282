//! The matrix type used by all other modules.

mod parts;
mod row_entries;

use std::sync::{Arc, OnceLock};

use faer::{Mat, MatRef};

use super::Sparse;
use super::columns::ColumnMap;
use super::scaled::ScaledRows;
use super::spool::Spool;
use super::vector::{magnitude, magnitude_in_parallel, power_of_two_below};
pub use row_entries::LentEntries;
use row_entries::RowEntries;

/// An f64 matrix: dense, stored by columns or by rows with a copy in the other order made on first use; kept in a file;
/// or sparse.
///
/// Factorizations and products use columns; gathering and sketching rows use rows, and so do data too large to be
/// copied. The rounding of a result depends on how the matrix was made, but not on which copies exist. A matrix in a
/// file is never copied: it is read part by part, and asking for all of it at once panics; so it is with the zeros of a
/// sparse one. A matrix made by scaling the rows of another is not stored at all as long as only products with it are
/// needed.
pub struct Matrix {
    /// Made on first use if the matrix is given by its factors.
    layout: OnceLock<Layout>,
    scaled: Option<Box<ScaledRows>>,
    /// See [`Matrix::magnitude`].
    magnitude: OnceLock<Option<f64>>,
}

enum Layout {
    Columns { entries: Mat<f64>, by_rows: OnceLock<Vec<f64>> },
    Rows { entries: RowEntries, shape: (usize, usize), by_columns: OnceLock<Mat<f64>> },
    File(Arc<Spool>),
    Sparse(Sparse),
}

impl Matrix {
    /// Takes ownership of a faer matrix.
    pub fn from_faer(columns: Mat<f64>) -> Self {
        // faer aligns every column of a new matrix to a cache line. A resized matrix may not be aligned, and kernels
        // may then sum in another order: copying restores the layout that reproducibility relies on.
        let canonical = columns.nrows().next_multiple_of(CACHE_LINE) as isize;
        let is_canonical = columns.ncols() < 2 || columns.col_stride() == canonical;
        let entries = if is_canonical { columns } else { columns.as_ref().to_owned() };
        Layout::Columns { entries, by_rows: OnceLock::new() }.into()
    }

    /// Takes ownership of entries stored row by row, and keeps that order: products read them in place, in parallel.
    ///
    /// ```
    /// use rl4rla::linalg::{Matrix, residual_and_gradient};
    /// let a = Matrix::from_row_major(3, 2, vec![1.0, 0.0, 0.0, 2.0, 1.0, 1.0]);
    /// let (residual, gradient) = residual_and_gradient(&a, &[1.0, 1.0], &[0.0, 0.0, 1.0]);
    /// assert_eq!((residual, gradient), (vec![1.0, 2.0, 1.0], vec![2.0, 5.0]));
    /// ```
    pub fn from_row_major(rows: usize, cols: usize, entries: Vec<f64>) -> Self {
        Self::from_row_entries(rows, cols, RowEntries::Owned(entries))
    }

    fn from_row_entries(rows: usize, cols: usize, entries: RowEntries) -> Self {
        assert_eq!(entries.len(), rows * cols, "entries of a {rows}×{cols} matrix");
        Layout::Rows { entries, shape: (rows, cols), by_columns: OnceLock::new() }.into()
    }

    /// diag(d)·M. Products with it are made from those with M, and its own entries only if something asks for them.
    pub fn with_scaled_rows(d: Vec<f64>, of: Arc<Matrix>) -> Self {
        assert_eq!(of.rows(), d.len(), "diag(d)·M of unequal lengths");
        let (layout, magnitude) = Default::default();
        Self { layout, scaled: Some(Box::new(ScaledRows::new(d, of))), magnitude }
    }

    /// The d and M of a matrix made as diag(d)·M.
    #[inline]
    pub(crate) fn scaled_rows(&self) -> Option<(&[f64], &Matrix)> {
        self.scaled.as_ref().map(|scaled| (&scaled.d[..], &*scaled.of))
    }

    #[inline]
    fn layout(&self) -> &Layout {
        self.layout.get_or_init(|| {
            let (d, of) = self.scaled_rows().expect("other matrices are stored when they are made");
            super::scale_rows(d, of).into_layout()
        })
    }

    fn into_layout(self) -> Layout {
        self.layout();
        self.layout.into_inner().expect("made above")
    }

    /// The matrix with entry `f(i, j)` in row i and column j.
    pub fn from_fn(rows: usize, cols: usize, f: impl FnMut(usize, usize) -> f64) -> Self {
        Self::from_faer(Mat::from_fn(rows, cols, f))
    }

    /// The rows × cols matrix of zeros.
    pub fn zeros(rows: usize, cols: usize) -> Self {
        Self::from_faer(Mat::zeros(rows, cols))
    }

    /// The n × n identity.
    pub fn identity(n: usize) -> Self {
        Self::from_faer(Mat::identity(n, n))
    }

    /// The matrix with the given rows, which must have equal lengths.
    pub fn from_rows(rows: &[&[f64]]) -> Self {
        let cols = rows.first().map_or(0, |row| row.len());
        assert!(rows.iter().all(|row| row.len() == cols), "rows of unequal length");
        Self::from_fn(rows.len(), cols, |i, j| rows[i][j])
    }

    /// Number of rows.
    #[inline]
    pub fn rows(&self) -> usize {
        if let Some((d, _)) = self.scaled_rows() {
            return d.len();
        }
        match self.layout() {
            Layout::Columns { entries, .. } => entries.nrows(),
            Layout::Rows { shape, .. } => shape.0,
            Layout::File(spool) => spool.rows,
            Layout::Sparse(sparse) => sparse.rows(),
        }
    }

    /// Number of columns.
    #[inline]
    pub fn cols(&self) -> usize {
        if let Some((_, of)) = self.scaled_rows() {
            return of.cols();
        }
        match self.layout() {
            Layout::Columns { entries, .. } => entries.ncols(),
            Layout::Rows { shape, .. } => shape.1,
            Layout::File(spool) => spool.cols,
            Layout::Sparse(sparse) => sparse.cols(),
        }
    }

    /// Memory used in bytes, including both copies.
    pub fn bytes(&self) -> usize {
        let copies = match self.layout.get() {
            Some(Layout::Columns { by_rows, .. }) => 1 + usize::from(by_rows.get().is_some()),
            Some(Layout::Rows { entries, by_columns, .. }) => {
                entries.copies() + usize::from(by_columns.get().is_some())
            }
            Some(Layout::Sparse(sparse)) => return sparse.bytes(),
            Some(Layout::File(_)) | None => 0,
        };
        let scaled = self.scaled.as_ref().map_or(0, |scaled| scaled.stored());
        8 * (copies * self.rows() * self.cols() + scaled)
    }

    /// Entry in row i, column j.
    #[inline]
    pub fn get(&self, i: usize, j: usize) -> f64 {
        match self.layout() {
            Layout::Columns { entries, .. } => entries[(i, j)],
            Layout::Rows { entries, shape, .. } => {
                assert!(j < shape.1, "column {j} of {}", shape.1);
                entries[i * shape.1 + j]
            }
            Layout::File(spool) => spool.rows_at(&[i])[j],
            Layout::Sparse(sparse) => sparse.get(i, j),
        }
    }

    /// View for faer's routines.
    pub fn as_faer(&self) -> MatRef<'_, f64> {
        match self.layout() {
            Layout::Columns { entries, .. } => entries.as_ref(),
            Layout::Rows { entries, shape, .. } => MatRef::from_row_major_slice(entries, shape.0, shape.1),
            Layout::File(_) | Layout::Sparse(_) => not_in_memory(),
        }
    }

    /// diag(d)·M for a matrix in memory, in place if it was made from rows or is sparse.
    pub fn with_rows_multiplied(self, d: &[f64]) -> Self {
        assert_eq!(self.rows(), d.len(), "diag(d)·M of unequal lengths");
        match self.into_layout() {
            Layout::Rows { entries, shape, .. } => {
                let mut entries = entries.into_vec();
                let rows = entries.chunks_exact_mut(shape.1.max(1)).zip(d);
                rows.for_each(|(row, d)| row.iter_mut().for_each(|entry| *entry *= d));
                Self::from_row_major(shape.0, shape.1, entries)
            }
            layout => super::scale_rows(d, &Self::from(layout)),
        }
    }

    /// The same matrix for faer's routines, by columns.
    pub(crate) fn into_faer(self) -> Mat<f64> {
        match self.into_layout() {
            Layout::Columns { entries, .. } => entries,
            layout => Self::from(layout).to_columns(|x| x),
        }
    }

    /// Whether it was made from rows, in memory, in a file or sparse.
    #[inline]
    pub(crate) fn is_by_rows(&self) -> bool {
        !matches!(self.layout.get(), Some(Layout::Columns { .. }) | None)
    }

    /// The same matrix, stored by columns unless it is sparse: matrices shared by many small computations must not wait for threads.
    pub fn by_columns(self) -> Self {
        match self.is_by_rows() && !self.is_sparse() {
            true => Self::from_faer(self.to_columns(|x| x)),
            false => self,
        }
    }

    /// The same matrix, stored by rows or sparse, so that large data are read by all threads.
    pub fn by_rows(self) -> Self {
        let (rows, cols) = (self.rows(), self.cols());
        if self.is_sparse() {
            return self;
        }
        if let Some(scaled) = self.scaled {
            return Self::from_row_major(rows, cols, scaled.into_row_major());
        }
        self.row_major();
        match self.into_layout() {
            Layout::Columns { by_rows, .. } => {
                Self::from_row_major(rows, cols, by_rows.into_inner().expect("made above"))
            }
            layout => layout.into(),
        }
    }

    /// Column j; for a matrix made from rows, taken from a copy by columns that is made once.
    #[inline]
    pub fn column(&self, j: usize) -> &[f64] {
        match self.layout() {
            Layout::Columns { entries, .. } => entries.col_as_slice(j),
            Layout::Rows { by_columns, .. } => {
                by_columns.get_or_init(|| self.to_columns(|x| x)).col_as_slice(j)
            }
            Layout::File(_) | Layout::Sparse(_) => not_in_memory(),
        }
    }

    /// All entries, row by row; for a matrix made from columns, a copy that is made once.
    pub fn row_major(&self) -> &[f64] {
        if let Some(scaled) = &self.scaled {
            return scaled.row_major();
        }
        let (columns, by_rows) = match self.layout() {
            Layout::Columns { entries, by_rows } => (entries, by_rows),
            Layout::Rows { entries, .. } => return entries,
            Layout::File(_) | Layout::Sparse(_) => not_in_memory(),
        };
        by_rows.get_or_init(|| {
            let (m, n) = columns.shape();
            let mut entries = vec![0.0; m * n];
            // A band of rows at a time, so that the cache lines being written stay in cache.
            for (band, block) in entries.chunks_mut((BAND * n).max(1)).enumerate() {
                let start = band * BAND;
                for j in 0..n {
                    let column = &columns.col_as_slice(j)[start..];
                    for (row, value) in block.chunks_exact_mut(n).zip(column) {
                        row[j] = *value;
                    }
                }
            }
            entries
        })
    }

    /// A copy by columns, with `f` applied to every entry.
    fn to_columns(&self, mut f: impl FnMut(f64) -> f64) -> Mat<f64> {
        match self.layout() {
            Layout::Columns { entries, .. } => {
                let mut columns = entries.clone();
                for j in 0..self.cols() {
                    columns.col_as_slice_mut(j).iter_mut().for_each(|x| *x = f(*x));
                }
                columns
            }
            Layout::Rows { entries, shape: (m, n), .. } => {
                let mut columns = Mat::zeros(*m, *n);
                // As above, for the cache lines being read.
                for (band, block) in entries.chunks((BAND * n).max(1)).enumerate() {
                    for j in 0..*n {
                        let column = &mut columns.col_as_slice_mut(j)[band * BAND..];
                        for (row, value) in block.chunks_exact(*n).zip(column) {
                            *value = f(row[j]);
                        }
                    }
                }
                columns
            }
            Layout::File(_) | Layout::Sparse(_) => not_in_memory(),
        }
    }

    /// Row i; for a matrix made from columns, taken from the copy by rows.
    pub fn row(&self, i: usize) -> &[f64] {
        let n = self.cols();
        &self.row_major()[i * n..(i + 1) * n]
    }

    /// Whether it equals its transpose, bit for bit.
    pub fn is_symmetric(&self) -> bool {
        if let Some(sparse) = self.sparse() {
            return sparse.is_symmetric();
        }
        let n = self.rows();
        n == self.cols() && (0..n).all(|i| (0..i).all(|j| self.get(i, j) == self.get(j, i)))
    }

    /// Whether no entry is NaN or infinite.
    pub fn is_finite(&self) -> bool {
        if let Some(known) = self.scaled.as_ref().and_then(|scaled| scaled.is_finite()) {
            return known;
        }
        match self.layout() {
            Layout::Columns { entries, .. } => {
                (0..entries.ncols()).all(|j| super::is_finite(entries.col_as_slice(j)))
            }
            Layout::Rows { entries, .. } => super::is_finite(entries),
            Layout::File(spool) => {
                let mut finite = true;
                spool.each_part(1, |_, part| finite &= super::is_finite(part.entries()));
                finite
            }
            Layout::Sparse(sparse) => super::is_finite(sparse.values()),
        }
    }

    /// Applies a column map: in place if the matrix is in memory, on reading if it is in a file. The columns of a sparse
    /// matrix cannot be shifted.
    pub fn map_columns(self, map: ColumnMap) -> Self {
        let (rows, cols) = (self.rows(), map.kept.len());
        match self.into_layout() {
            Layout::Columns { entries, .. } => {
                Self::from_fn(rows, cols, |i, j| (entries[(i, map.kept[j])] - map.shift[j]) / map.scale[j])
            }
            Layout::Rows { entries, shape, .. } => {
                let mut entries = entries.into_vec();
                map.apply(shape.1, &mut entries);
                Self::from_row_major(rows, cols, entries)
            }
            Layout::File(spool) => Layout::File(Arc::new(spool.mapped(map))).into(),
            Layout::Sparse(sparse) => Self::from_sparse(sparse.map_columns(&map)),
        }
    }

    /// The transposed matrix.
    pub fn transpose(&self) -> Self {
        Self::from_faer(self.as_faer().transpose().to_owned())
    }

    /// The matrix with `f` applied to every entry, in the same layout; f(0) must be 0 for a sparse one.
    pub fn map(&self, f: impl FnMut(f64) -> f64) -> Self {
        match self.layout() {
            Layout::Columns { .. } => Self::from_faer(self.to_columns(f)),
            Layout::Rows { entries, shape, .. } => {
                Self::from_row_major(shape.0, shape.1, entries.iter().copied().map(f).collect())
            }
            Layout::Sparse(sparse) => Self::from_sparse(sparse.map(f)),
            Layout::File(_) => not_in_memory(),
        }
    }

    /// Largest absolute value of an entry (0 if there is none), or `None` if some entry is not finite; computed on
    /// first use.
    pub(crate) fn magnitude(&self) -> Option<f64> {
        *self.magnitude.get_or_init(|| match self.layout() {
            Layout::Columns { entries, .. } => (0..entries.ncols())
                .try_fold(0.0_f64, |largest, j| Some(largest.max(magnitude(entries.col_as_slice(j))?))),
            Layout::Rows { entries, .. } => magnitude_in_parallel(entries),
            Layout::Sparse(sparse) => magnitude(sparse.values()),
            Layout::File(_) => not_in_memory(),
        })
    }

    /// `(B, c)` with M = c·B, c a power of two and the entries of B below 2 in size; `None` if not finite.
    ///
    /// Scaling by a power of two is exact, so factoring B instead of M changes no bit in the ordinary range
    /// and extends that range to every finite matrix.
    pub(super) fn normalized(&self) -> Option<(Mat<f64>, f64)> {
        let factor = power_of_two_below(self.magnitude()?);
        Some((self.to_columns(|x| x * factor.recip()), factor))
    }
}

/// Programs that need the whole matrix are rejected before they run.
fn not_in_memory() -> ! {
    panic!("a matrix in a file or a sparse one is read part by part")
}

/// f64 values in a cache line.
const CACHE_LINE: usize = 8;

/// Rows transposed together.
const BAND: usize = 64;

impl From<Layout> for Matrix {
    fn from(layout: Layout) -> Self {
        Self { layout: layout.into(), scaled: None, magnitude: OnceLock::new() }
    }
}

impl Clone for Matrix {
    fn clone(&self) -> Self {
        if let Some(scaled) = &self.scaled {
            return Self::with_scaled_rows(scaled.d.clone(), scaled.of.clone());
        }
        match self.layout() {
            Layout::Columns { entries, .. } => Self::from_faer(entries.clone()),
            Layout::Rows { entries, shape, .. } => Self::from_row_entries(shape.0, shape.1, entries.clone()),
            Layout::File(spool) => Layout::File(spool.clone()).into(),
            Layout::Sparse(sparse) => Self::from_sparse(sparse.clone()),
        }
    }
}

impl PartialEq for Matrix {
    fn eq(&self, other: &Self) -> bool {
        if self.is_dense() && other.is_dense() {
            return self.as_faer() == other.as_faer();
        }
        let row = |a: &Self, i: usize| a.rows_at(&[i]);
        (self.rows(), self.cols()) == (other.rows(), other.cols())
            && (0..self.rows()).all(|i| row(self, i) == row(other, i))
    }
}

impl std::fmt::Debug for Matrix {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}×{} ", self.rows(), self.cols())?;
        if self.is_in_file() {
            return f.write_str("in a file");
        }
        if let Some(sparse) = self.sparse() {
            return write!(f, "sparse, {} entries", sparse.nonzeros());
        }
        f.debug_list().entries((0..self.rows()).map(|i| self.row(i))).finish()
    }
}

#[cfg(test)]
mod tests;

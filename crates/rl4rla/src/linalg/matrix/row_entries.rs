//! The entries of a matrix by rows: owned, or lent by another owner of memory.

use super::Matrix;
use std::ops::Deref;
use std::sync::Arc;

/// Memory of another owner, such as an array of NumPy, that stays alive and unchanged as long as this does.
pub type LentEntries = Arc<dyn AsRef<[f64]> + Send + Sync>;

/// Entries row by row. Those that are lent are read in place, and copied only by what would change them.
#[derive(Clone)]
pub(super) enum RowEntries {
    Owned(Vec<f64>),
    Lent(LentEntries),
}

impl RowEntries {
    /// The entries, to be changed: a copy if they are lent.
    pub fn into_vec(self) -> Vec<f64> {
        match self {
            RowEntries::Owned(entries) => entries,
            RowEntries::Lent(entries) => (*entries).as_ref().to_vec(),
        }
    }

    /// Copies of the entries that belong to the matrix.
    pub fn copies(&self) -> usize {
        usize::from(matches!(self, RowEntries::Owned(_)))
    }
}

impl Deref for RowEntries {
    type Target = [f64];

    #[inline]
    fn deref(&self) -> &[f64] {
        match self {
            RowEntries::Owned(entries) => entries,
            RowEntries::Lent(entries) => (**entries).as_ref(),
        }
    }
}

impl Matrix {
    /// The matrix of entries that belong to someone else, who keeps them alive and
    /// unchanged, stored row by row. They are read in place; what scales or shifts columns or rows works on a copy.
    ///
    /// ```
    /// use rl4rla::linalg::{Matrix, mat_vec};
    /// let lent = std::sync::Arc::new([1.0, 2.0, 3.0, 4.0]);
    /// let a = Matrix::from_lent_rows(2, 2, lent.clone());
    /// assert_eq!((mat_vec(&a, &[1.0, 1.0]), a.bytes()), (vec![3.0, 7.0], 0));
    /// ```
    pub fn from_lent_rows(rows: usize, cols: usize, entries: LentEntries) -> Self {
        Self::from_row_entries(rows, cols, RowEntries::Lent(entries))
    }
}

//! The entries of a table as they are read: into A, in memory or in a file, and b.

use super::super::reading::reserve;
use super::super::scratch::{Scratch, ScratchStorage};
use super::super::{DataError, FileProbe, Reading, Rows};
use super::{BATCH, Columns};
use crate::linalg::{Matrix, Sparse};
use std::path::Path;

/// What the rows of a table hold: A, and b if it is one of the columns.
pub(super) struct Gathered {
    pub(super) matrix: Matrix,
    pub(super) b: Vec<f64>,
    pub(super) dropped: usize,
    pub(super) scratch: Option<Scratch>,
}

impl Gathered {
    /// A sparse matrix stays sparse, with a stored column of ones.
    pub(super) fn sparse(sparse: Sparse, target: Option<usize>, intercept: bool) -> Gathered {
        let (sparse, b) = sparse.with_columns_moved(target, intercept);
        let matrix = Matrix::from_sparse(sparse);
        Gathered { matrix, b: b.unwrap_or_default(), dropped: 0, scratch: None }
    }

    pub(super) fn dense(
        path: &Path,
        mut rows: Rows,
        found: &FileProbe,
        columns: &Columns,
        reading: &Reading,
    ) -> Result<Gathered, DataError> {
        let (width, target) = (columns.width(), columns.target.as_ref().map(|(place, _)| *place));
        let bytes = found.bytes.map(|bytes| bytes / found.cols as u64 * width as u64);
        let within = |bytes: u64| bytes <= reading.limit / 2;
        let mut place = match bytes {
            Some(bytes) if !within(bytes) => ScratchStorage::file(path)?,
            bytes => ScratchStorage::memory(bytes.unwrap_or(0) as usize / 8),
        };
        let (mut b, mut read, mut made) = (Vec::new(), Vec::new(), Vec::new());
        if target.is_some() {
            reserve(path, &mut b, found.rows.unwrap_or(0))?;
        }
        let (as_is, batch) = (target.is_none() && !columns.intercept, (BATCH / width).max(1));
        // Rows of the table that are still to come, if their number is known.
        let mut left = found.rows.unwrap_or(usize::MAX);
        loop {
            let most = batch.min(left);
            // Nothing to leave out or to add: read to where the entries stay.
            let count = match place.direct(most * width, within).filter(|_| as_is) {
                Some(all) => rows.next(most.max(1), all)?,
                None => rows.next(most.max(1), &mut read)?,
            };
            if count == 0 {
                break;
            }
            left = left.saturating_sub(count);
            for row in read.chunks_exact(found.cols) {
                columns.add_row(row, &mut made);
                b.extend(target.map(|target| row[target]));
            }
            place.take(&mut made, within, path)?;
            read.clear();
        }
        let (matrix, scratch) = place.matrix(width, path)?;
        Ok(Gathered { matrix, b, dropped: rows.dropped(), scratch })
    }
}

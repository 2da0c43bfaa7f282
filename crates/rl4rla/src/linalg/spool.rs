//! Matrices that are read part by part, from a file or another source, for data that do not fit into memory.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::by_rows::ByRows;
use super::columns::ColumnMap;

/// Bytes of an entry in a file: a little-endian f64.
const ENTRY: usize = 8;

/// Entries held in memory at once, 32 MiB.
const HELD: usize = 1 << 22;

/// Rows held at once, a multiple of `unit`.
pub fn held_rows(unit: usize, cols: usize) -> usize {
    let unit = unit.max(1);
    (HELD / (unit * cols).max(1)).max(1) * unit
}

/// Where the rows of a matrix come from, some at a time. They must not change while they are in use.
pub trait RowSource: Send + Sync {
    /// Appends the entries of these rows to `into`, row by row.
    fn read(&self, first: usize, rows: usize, into: &mut Vec<f64>) -> io::Result<()>;
}

/// A matrix that is read from a source part by part.
///
/// Kernels cannot return I/O errors: entries that cannot be read become NaN, so that the run stops there, and the
/// reason is kept in `failure`.
pub struct Spool {
    source: Arc<dyn RowSource>,
    pub rows: usize,
    pub cols: usize,
    /// Columns of the source.
    stored: usize,
    /// Column maps applied on reading, in order.
    maps: Vec<ColumnMap>,
    failure: Arc<OnceLock<String>>,
}

/// Row-major entries in a file, with a buffer for its bytes.
struct FileRows {
    file: Mutex<(File, Vec<u8>)>,
    cols: usize,
}

impl RowSource for FileRows {
    fn read(&self, first: usize, rows: usize, into: &mut Vec<f64>) -> io::Result<()> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let (file, bytes) = &mut *file;
        bytes.resize(rows * self.cols * ENTRY, 0);
        file.seek(SeekFrom::Start((first * self.cols * ENTRY) as u64))?;
        file.read_exact(bytes)?;
        into.extend(bytes.as_chunks::<ENTRY>().0.iter().map(|entry| f64::from_le_bytes(*entry)));
        Ok(())
    }
}

/// The rows of another matrix, each followed by 1.
struct WithOnes(Arc<Spool>);

impl RowSource for WithOnes {
    fn read(&self, first: usize, rows: usize, into: &mut Vec<f64>) -> io::Result<()> {
        let mut entries = Vec::new();
        self.0.read(first, rows, &mut entries);
        for row in entries.chunks_exact(self.0.cols) {
            into.extend_from_slice(row);
            into.push(1.0);
        }
        Ok(())
    }
}

impl Spool {
    /// The matrix in this file, which must hold its entries and nothing else.
    pub fn new(file: File, rows: usize, cols: usize) -> io::Result<Spool> {
        let (wanted, found) = (rows as u128 * cols as u128 * ENTRY as u128, file.metadata()?.len());
        if u128::from(found) != wanted {
            let message = format!("{found} bytes where a {rows}×{cols} matrix has {wanted}");
            return Err(io::Error::new(io::ErrorKind::InvalidData, message));
        }
        Ok(Spool::of(Arc::new(FileRows { file: Mutex::new((file, vec![])), cols }), rows, cols))
    }

    /// The matrix of a source.
    pub fn of(source: Arc<dyn RowSource>, rows: usize, cols: usize) -> Spool {
        Spool { source, rows, cols, stored: cols, maps: vec![], failure: Arc::default() }
    }

    /// The same matrix with a column of ones after the others.
    pub fn with_ones(self: Arc<Spool>) -> Spool {
        let (rows, cols, failure) = (self.rows, self.cols + 1, self.failure.clone());
        Spool { failure, ..Spool::of(Arc::new(WithOnes(self)), rows, cols) }
    }

    /// The same matrix with a further column map.
    pub fn mapped(&self, map: ColumnMap) -> Spool {
        Spool {
            source: self.source.clone(),
            rows: self.rows,
            cols: map.kept.len(),
            stored: self.stored,
            maps: self.maps.iter().cloned().chain([map]).collect(),
            failure: self.failure.clone(),
        }
    }

    /// The first read error, if any.
    pub fn failure(&self) -> Option<&str> {
        self.failure.get().map(String::as_str)
    }

    /// Calls `f` with consecutive rows and the index of the first: as many rows as may be held at once, in multiples
    /// of `unit`.
    pub fn each_part(&self, unit: usize, mut f: impl FnMut(usize, ByRows)) {
        let height = held_rows(unit, self.stored);
        let mut entries = Vec::new();
        for first in (0..self.rows).step_by(height) {
            let rows = height.min(self.rows - first);
            self.read(first, rows, &mut entries);
            f(first, ByRows::new(&entries, rows, self.cols));
        }
    }

    /// The entries of these rows, row by row.
    pub fn rows_at(&self, rows: &[usize]) -> Vec<f64> {
        let (mut row, mut all) = (Vec::new(), Vec::new());
        for &i in rows {
            self.read(i, 1, &mut row);
            all.extend_from_slice(&row);
        }
        all
    }

    fn read(&self, first: usize, rows: usize, entries: &mut Vec<f64>) {
        entries.clear();
        match self.source.read(first, rows, entries) {
            Ok(()) => {
                assert_eq!(entries.len(), rows * self.stored, "a source of {} columns", self.stored);
                let mut cols = self.stored;
                for map in &self.maps {
                    map.apply(cols, entries);
                    cols = map.kept.len();
                }
            }
            Err(error) => {
                self.failure.get_or_init(|| format!("rows {first} to {}: {error}", first + rows - 1));
                entries.clear();
                entries.resize(rows * self.cols, f64::NAN);
            }
        }
    }
}

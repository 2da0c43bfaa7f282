//! A matrix in a file, for data that do not fit into memory.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::by_rows::ByRows;
use super::columns::ColumnMap;

/// Bytes of an entry in the file: a little-endian f64.
const ENTRY: usize = 8;

/// Entries held in memory at once, 32 MiB.
const HELD: usize = 1 << 22;

/// Rows held at once, a multiple of `unit`.
pub fn held_rows(unit: usize, cols: usize) -> usize {
    let unit = unit.max(1);
    (HELD / (unit * cols).max(1)).max(1) * unit
}

/// Row-major entries in a file that must not change while it is in use.
///
/// Kernels cannot return I/O errors: entries that cannot be read become NaN, so that the run stops there, and the
/// reason is kept in `failure`.
pub struct Spool {
    file: Arc<Mutex<File>>,
    pub rows: usize,
    pub cols: usize,
    /// Columns in the file.
    stored: usize,
    /// Column maps applied on reading, in order.
    maps: Vec<ColumnMap>,
    failure: Arc<OnceLock<String>>,
}

impl Spool {
    /// The matrix in this file, which must hold its entries and nothing else.
    pub fn new(file: File, rows: usize, cols: usize) -> io::Result<Spool> {
        let (wanted, found) = (rows as u128 * cols as u128 * ENTRY as u128, file.metadata()?.len());
        if u128::from(found) != wanted {
            let message = format!("{found} bytes where a {rows}×{cols} matrix has {wanted}");
            return Err(io::Error::new(io::ErrorKind::InvalidData, message));
        }
        let file = Arc::new(Mutex::new(file));
        Ok(Spool { file, rows, cols, stored: cols, maps: vec![], failure: Arc::default() })
    }

    /// The same file with a further column map.
    pub fn mapped(&self, map: ColumnMap) -> Spool {
        Spool {
            file: self.file.clone(),
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
        let (mut bytes, mut entries) = (Vec::new(), Vec::new());
        for first in (0..self.rows).step_by(height) {
            let rows = height.min(self.rows - first);
            self.read(first, rows, &mut bytes, &mut entries);
            f(first, ByRows::new(&entries, rows, self.cols));
        }
    }

    /// The entries of these rows, row by row.
    pub fn rows_at(&self, rows: &[usize]) -> Vec<f64> {
        let (mut bytes, mut row, mut all) = (Vec::new(), Vec::new(), Vec::new());
        for &i in rows {
            self.read(i, 1, &mut bytes, &mut row);
            all.extend_from_slice(&row);
        }
        all
    }

    fn read(&self, first: usize, rows: usize, bytes: &mut Vec<u8>, entries: &mut Vec<f64>) {
        bytes.resize(rows * self.stored * ENTRY, 0);
        let start = (first * self.stored * ENTRY) as u64;
        let mut read = || -> io::Result<()> {
            let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
            file.seek(SeekFrom::Start(start))?;
            file.read_exact(bytes)
        };
        entries.clear();
        match read() {
            Ok(()) => {
                entries.extend(bytes.as_chunks::<ENTRY>().0.iter().map(|entry| f64::from_le_bytes(*entry)));
                let mut cols = self.stored;
                for map in &self.maps {
                    map.apply(cols, entries);
                    cols = map.kept.len();
                }
            }
            Err(error) => {
                self.failure.get_or_init(|| format!("rows {first} to {}: {error}", first + rows - 1));
                entries.resize(rows * self.cols, f64::NAN);
            }
        }
    }
}

//! Options for reading files, and the memory limit.

use super::error::{DataError, grouped, shown, size};
use crate::linalg::Sparse;
use std::path::Path;

/// What to do with a missing value in a table.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Missing {
    /// The file is rejected with an error at the first such place.
    #[default]
    Refuse,
    /// The row is dropped and counted.
    DropRow,
}

/// Options for reading a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reading {
    /// Maximum size in bytes of a matrix held in memory, or of a line of text. Buffers, about 1 MB, are not included.
    pub limit: u64,
    /// Whether sparse matrices are made dense.
    pub dense: bool,
    /// Treatment of missing values in tables.
    pub missing: Missing,
    /// The name of an array in an NPZ file; by default the only one that can be a matrix, or one with a usual name.
    pub member: Option<String>,
    /// Whether the first line of a CSV file has names; by default, whether it has a cell that is not a number.
    pub header: Option<bool>,
    /// The delimiter of a CSV file, a space for any run of spaces; detected by default.
    pub delimiter: Option<u8>,
    /// The decimal separator of a CSV file, `.` or `,`; detected by default.
    pub decimal: Option<u8>,
}

impl Default for Reading {
    fn default() -> Reading {
        Reading {
            limit: 4 << 30,
            dense: false,
            missing: Missing::default(),
            member: None,
            header: None,
            delimiter: None,
            decimal: None,
        }
    }
}

impl Reading {
    /// An error if the options contradict each other.
    pub(super) fn check(&self, path: &Path) -> Result<(), DataError> {
        let refused = |what: &str, sign: u8, advice: &str| {
            Err(DataError::file(path, format!("{what} cannot be {}", shown(&[sign])), advice))
        };
        match (self.delimiter, self.decimal) {
            (Some(sign), _) if sign.is_ascii_alphanumeric() || b"\"\r\n+-.".contains(&sign) || sign > 127 => {
                refused("the delimiter", sign, "a comma, a semicolon, a tab, a bar or a space")
            }
            (_, Some(sign)) if !b".,".contains(&sign) => {
                refused("the decimal separator", sign, "a point or a comma")
            }
            _ => Ok(()),
        }
    }

    /// The number of entries of a matrix, or an error if it exceeds the memory limit.
    pub(super) fn afford(&self, path: &Path, rows: usize, cols: usize) -> Result<usize, DataError> {
        let entries = rows.checked_mul(cols);
        let bytes = entries.and_then(|entries| entries.checked_mul(size_of::<f64>()));
        match (entries, bytes) {
            (Some(entries), Some(bytes)) if bytes as u64 <= self.limit => Ok(entries),
            _ => Err(self.too_much(path, rows, cols)),
        }
    }

    /// An error if a sparse matrix with so many entries exceeds the memory limit, or what its indices can count.
    pub(super) fn afford_sparse(
        &self,
        path: &Path,
        (rows, cols): (usize, usize),
        stored: u64,
    ) -> Result<usize, DataError> {
        let shape = format!("{}×{}", grouped(rows as u64), grouped(cols as u64));
        if rows.max(cols) > u32::MAX as usize {
            let message = format!("a sparse matrix of {shape} has more rows or columns than 32 bits count");
            return Err(DataError::file(path, message, "check the sizes"));
        }
        let bytes = Sparse::bytes_of(rows, stored);
        match usize::try_from(stored) {
            Ok(stored) if bytes <= self.limit => Ok(stored),
            _ => {
                let message = format!(
                    "a sparse matrix of {shape} with {} entries takes {} of memory, but only {} are allowed",
                    grouped(stored),
                    size(bytes),
                    size(self.limit)
                );
                Err(DataError::file(path, message, "fewer rows, or a larger `--max-memory`"))
            }
        }
    }

    /// The error for a matrix that exceeds the memory limit.
    fn too_much(&self, path: &Path, rows: usize, cols: usize) -> DataError {
        let bytes = 8 * rows as u128 * cols as u128;
        DataError::file(
            path,
            format!(
                "a matrix of {}×{} numbers takes {} of memory, but only {} are allowed",
                grouped(rows as u64),
                grouped(cols as u64),
                size(u64::try_from(bytes).unwrap_or(u64::MAX)),
                size(self.limit)
            ),
            "raise `--max-memory`, or use fewer rows",
        )
    }
}

/// Reserves room for `more` numbers, with an error instead of an abort if there is not enough memory.
pub(super) fn reserve<T>(path: &Path, entries: &mut Vec<T>, more: usize) -> Result<(), DataError> {
    entries.try_reserve_exact(more).map_err(|_| {
        let bytes = (entries.len().saturating_add(more) as u64).saturating_mul(size_of::<T>() as u64);
        let message = format!("there is no memory for {} of numbers", size(bytes));
        DataError::file(path, message, "close other programs, or use fewer rows")
    })
}

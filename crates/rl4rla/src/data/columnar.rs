//! Tables stored by columns, in Parquet and Arrow files, read in batches of rows.
//!
//! The decoders are those of the Arrow project. Sizes that a file claims are checked before a decoder acts on them, and a
//! panic of a decoder is an error like any other.

mod arrow_file;
mod column;
mod contain;
mod input;
mod pages;
mod parquet_file;
mod thrift;

use super::error::{DataError, FILL_IN, FilePosition, grouped, visible};
use super::names::{NAME, distinct};
use super::reading::reserve;
use super::{ByteSource, Format, Missing, Reading};
use arrow_array::ArrayRef;
use arrow_schema::Schema;
use contain::contained;
use std::borrow::Cow;
use std::fmt::Display;
use std::path::{Path, PathBuf};

/// Entries decoded at a time where the file leaves it to the reader: one megabyte.
const BATCH: usize = 1 << 17;

/// Maximum size in bytes of the description of a file or a batch, which is read as a whole.
const DESCRIPTION: u64 = 64 << 20;

/// Maximum number of characters of a decoder's message that are shown.
const SAID: usize = 200;

/// The batches of a table, in order.
trait Batches: Send {
    /// The columns of the next batch, all of one length; `None` at the end.
    fn next(&mut self) -> Result<Option<Vec<ArrayRef>>, DataError>;
}

/// A table before its first batch is read.
struct Opened {
    columns: Kept,
    rows: u64,
    batches: Box<dyn Batches>,
}

/// The columns that are read: their places in the file, and their names.
struct Kept {
    places: Vec<usize>,
    names: Vec<String>,
}

/// A table read some rows at a time.
pub(super) struct Columnar {
    path: PathBuf,
    missing: Missing,
    names: Vec<String>,
    /// Number of rows, including those with missing values.
    total: usize,
    batches: Box<dyn Batches>,
    /// The columns of the current batch, without dictionaries.
    batch: Vec<ArrayRef>,
    /// The next row of the batch, and the number of its rows.
    at: usize,
    length: usize,
    /// Rows of the table before this batch.
    before: usize,
    rows: usize,
    dropped: usize,
    /// The error that ended reading: the decoder may be in any state after it.
    failed: Option<DataError>,
}

impl Columnar {
    /// Reads the description of a table: its columns and the number of its rows.
    pub fn open(source: ByteSource, format: Format, reading: &Reading) -> Result<Columnar, DataError> {
        let path = source.path().to_path_buf();
        let opened = guarded(&path, || match format {
            Format::Parquet => parquet_file::open(source, reading),
            _ => arrow_file::open(source, reading),
        })?;
        let total = usize::try_from(opened.rows).unwrap_or(usize::MAX);
        if total == 0 {
            return Err(DataError::file(&path, "the table has no rows", "a file with at least one row"));
        }
        Ok(Columnar {
            path,
            missing: reading.missing,
            names: opened.columns.names,
            total,
            batches: opened.batches,
            batch: Vec::new(),
            at: 0,
            length: 0,
            before: 0,
            rows: 0,
            dropped: 0,
            failed: None,
        })
    }

    /// Number of columns.
    pub fn cols(&self) -> usize {
        self.names.len()
    }

    /// The names of the columns.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Number of rows, if none will be dropped.
    pub fn rows(&self) -> Option<usize> {
        (self.missing == Missing::Refuse).then_some(self.total)
    }

    /// Number of rows, including those that will be dropped.
    pub fn most_rows(&self) -> usize {
        self.total
    }

    /// Number of rows dropped so far.
    pub fn dropped(&self) -> usize {
        self.dropped
    }

    /// Appends up to `most` rows and returns their number; 0 at the end.
    pub fn next(&mut self, most: usize, into: &mut Vec<f64>) -> Result<usize, DataError> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        let start = into.len();
        self.append(most, into).inspect_err(|error| {
            into.truncate(start);
            self.failed = Some(error.clone());
        })
    }

    fn append(&mut self, most: usize, into: &mut Vec<f64>) -> Result<usize, DataError> {
        let mut rows = 0;
        while rows < most && (self.at < self.length || self.load()?) {
            let count = (most - rows).min(self.length - self.at);
            rows += self.take(count, into)?;
        }
        self.rows += rows;
        if self.rows == 0 && most > 0 {
            let message = format!("all rows have missing values, {} in number", grouped(self.dropped as u64));
            return Err(DataError::file(&self.path, message, "a file with at least one row"));
        }
        Ok(rows)
    }

    /// Decodes the next batch that has rows; returns whether there is one.
    fn load(&mut self) -> Result<bool, DataError> {
        self.before += self.length;
        (self.at, self.length) = (0, 0);
        // Freed before the next one is decoded.
        self.batch.clear();
        let batches = &mut self.batches;
        let columns = guarded(&self.path, || {
            loop {
                match batches.next()? {
                    Some(columns) if columns.first().is_some_and(|column| column.is_empty()) => {}
                    columns => {
                        break Ok(columns.map(|all| all.into_iter().map(column::direct).collect::<Vec<_>>()));
                    }
                }
            }
        })?;
        let found =
            self.before + columns.as_ref().and_then(|all| all.first()).map_or(0, |column| column.len());
        if found > self.total || (columns.is_none() && found < self.total) {
            let reason = format!("it claims {} rows, but has others", grouped(self.total as u64));
            return Err(damaged(&self.path, reason));
        }
        let Some(columns) = columns else { return Ok(false) };
        self.length = found - self.before;
        if columns.len() != self.names.len() || columns.iter().any(|column| column.len() != self.length) {
            return Err(damaged(&self.path, "its columns differ in length"));
        }
        self.batch = columns;
        Ok(true)
    }

    /// Appends the next rows of the batch that have no missing values, and returns their number.
    fn take(&mut self, count: usize, into: &mut Vec<f64>) -> Result<usize, DataError> {
        let (cols, start, from) = (self.cols(), into.len(), self.at);
        reserve(&self.path, into, count * cols)?;
        into.resize(start + count * cols, 0.0);
        let block = &mut into[start..];
        for (place, column) in self.batch.iter().enumerate() {
            column::spread(column, from..from + count, &mut block[place..], cols);
        }
        self.at += count;
        // Without an early exit, which vector instructions cannot take.
        if block.iter().fold(true, |all, value| all & value.is_finite()) {
            return Ok(count);
        }
        let mut kept = 0;
        for row in 0..count {
            let entries = &block[row * cols..(row + 1) * cols];
            let refused =
                |value: &f64| !(value.is_finite() || (value.is_nan() && self.missing == Missing::DropRow));
            if let Some(place) = entries.iter().position(refused) {
                return Err(self.refused(from + row, place, entries[place]));
            }
            if entries.iter().all(|value| value.is_finite()) {
                block.copy_within(row * cols..(row + 1) * cols, kept * cols);
                kept += 1;
            }
        }
        self.dropped += count - kept;
        into.truncate(start + kept * cols);
        Ok(kept)
    }

    /// The error for an entry of the batch that is missing or infinite.
    fn refused(&self, row: usize, place: usize, value: f64) -> DataError {
        let (message, advice) = match (self.batch[place].is_null(row), value.is_nan()) {
            (true, _) => ("the value is missing".into(), FILL_IN),
            (_, true) => ("the value is missing: `NaN`".into(), FILL_IN),
            _ => (
                format!("expected a finite number, found {value}"),
                "replace such entries or remove their rows before saving",
            ),
        };
        let name = self.names[place].clone();
        let place = FilePosition::Field { row: self.before + row + 1, column: place + 1, name };
        DataError::at(&self.path, place, message, advice)
    }
}

impl Kept {
    /// The columns of a table, all of numbers, except what pandas keeps in columns of its own to name the rows.
    fn of(path: &Path, schema: &Schema, reading: &Reading) -> Result<Kept, DataError> {
        let fields = schema.fields();
        let places: Vec<usize> = (0..fields.len()).filter(|place| !is_index(fields[*place].name())).collect();
        afford_names(path, places.len() as u64, reading)?;
        if places.is_empty() {
            return Err(DataError::file(path, "the table has no columns", "a file with at least one column"));
        }
        let names = distinct(places.iter().map(|place| Cow::Borrowed(fields[*place].name().as_bytes())));
        let names =
            names.map_err(|problem| DataError::file(path, problem, "give every column a unique name"))?;
        for (column, (place, name)) in places.iter().zip(&names).enumerate() {
            let kind = fields[*place].data_type();
            if let Some((found, advice)) = column::objection(kind) {
                let place = FilePosition::Column { column: column + 1, name: name.clone() };
                return Err(DataError::at(path, place, format!("expected numbers, found {found}"), advice));
            }
        }
        Ok(Kept { places, names })
    }
}

/// Whether pandas gives this name to a column that numbers or names the rows.
fn is_index(name: &str) -> bool {
    let level = name.strip_prefix("__index_level_").and_then(|rest| rest.strip_suffix("__"));
    level.is_some_and(|level| !level.is_empty() && level.bytes().all(|byte| byte.is_ascii_digit()))
}

/// An error if the names of so many columns exceed the memory limit.
fn afford_names(path: &Path, cols: u64, reading: &Reading) -> Result<(), DataError> {
    match cols.saturating_mul(NAME) > reading.limit {
        true => {
            let message = format!("{} columns exceed the memory limit", grouped(cols));
            Err(DataError::file(path, message, "raise `--max-memory`"))
        }
        false => Ok(()),
    }
}

/// Calls a decoder; its panic is the error of a damaged file.
fn guarded<T>(path: &Path, work: impl FnOnce() -> Result<T, DataError>) -> Result<T, DataError> {
    contained(work).unwrap_or_else(|said| Err(damaged(path, said)))
}

/// The error for a file that contradicts its format.
fn damaged(path: &Path, reason: impl Display) -> DataError {
    let reason = visible(&reason.to_string().replace('\n', " "));
    let mut said: String = reason.chars().take(SAID).collect();
    if said.len() < reason.len() {
        said.push('…');
    }
    let advice = "copy or download the file again, or save it again";
    DataError::file(path, format!("the file is damaged: {said}"), advice)
}

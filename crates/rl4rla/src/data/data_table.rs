//! Reading a whole file.

use super::reading::reserve;
use super::rows::Body;
use super::source::{ByteSource, Input};
use super::{DataError, Format, Missing, Reading, Rows};
use std::path::Path;

/// Entries read between two checks of the memory limit.
const BLOCK: usize = 1 << 16;

/// A matrix read from a file: entries row by row, with the column names if the file has them.
#[derive(Clone, PartialEq, Debug)]
pub struct DataTable {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub cols: usize,
    /// Entries, row by row; all are finite.
    pub entries: Vec<f64>,
    /// The names of the columns, all distinct.
    pub names: Option<Vec<String>>,
    /// Number of rows dropped because of missing values.
    pub dropped: usize,
    /// The format of the file.
    pub format: Format,
}

/// Reads a whole file.
pub fn read(path: &Path, reading: &Reading) -> Result<DataTable, DataError> {
    DataTable::read(ByteSource::open(path)?, reading)
}

/// Reads from a source of bytes other than a file; `name` is used in messages.
///
/// ```
/// use rl4rla::data::{Reading, read_from};
/// use std::{io::Cursor, path::Path};
///
/// let text = "height;age\n1,75;30\n1,62;41\n";
/// let table = read_from(Path::new("people.csv"), Cursor::new(text), &Reading::default()).unwrap();
/// assert_eq!(table.names.unwrap(), ["height", "age"]);
/// assert_eq!(table.entries, [1.75, 30.0, 1.62, 41.0]);
///
/// let error = read_from(Path::new("people.csv"), Cursor::new("height,age\n1.75,\n"), &Reading::default());
/// assert_eq!(error.unwrap_err().to_string(), "people.csv, line 2, column 2 (`age`): the value is missing");
/// ```
pub fn read_from(
    name: &Path,
    input: impl Input + 'static,
    reading: &Reading,
) -> Result<DataTable, DataError> {
    DataTable::read(ByteSource::new(name, Box::new(input))?, reading)
}

impl DataTable {
    fn read(source: ByteSource, reading: &Reading) -> Result<DataTable, DataError> {
        let (path, most) = (source.path().to_path_buf(), source.most());
        let mut from = Rows::start(source, reading, true)?;
        let (cols, format) = (from.cols(), from.format());
        if let Body::Held(held) = from.body {
            let rows = held.rows();
            return Ok(DataTable { rows, cols, entries: held.entries(), names: None, dropped: 0, format });
        }
        let mut entries = Vec::new();
        match (&from.body, from.rows()) {
            (_, Some(rows)) => reserve(&path, &mut entries, reading.afford(&path, rows, cols)?)?,
            (Body::Csv(csv), None) => {
                // Some of the rows counted may be dropped, and a cell takes at least two bytes of the file.
                let counted = csv.most_rows().unwrap_or(0).saturating_mul(cols) as u64;
                let room = counted.min(most / 2 + 1).min(reading.limit / 8);
                reserve(&path, &mut entries, room as usize)?;
            }
            (Body::Columnar(table), None) => {
                let counted = table.most_rows().saturating_mul(cols) as u64;
                reserve(&path, &mut entries, counted.min(reading.limit / 8) as usize)?;
            }
            _ => {}
        }
        let (mut rows, block) = (0, (BLOCK / cols).max(1));
        loop {
            let more = block * cols;
            if entries.capacity() - entries.len() < more && from.rows().is_none() {
                // Grow by an eighth instead of doubling: the reserved memory may be all there is.
                let room = more.max(entries.len() / 8);
                reserve(&path, &mut entries, room)?;
            }
            match from.next(block, &mut entries)? {
                0 => break,
                read => rows += read,
            }
            reading.afford(&path, rows, cols)?;
        }
        if reading.missing == Missing::DropRow || entries.capacity() > entries.len() + entries.len() / 8 {
            entries.shrink_to_fit();
        }
        let names = from.names().map(<[String]>::to_vec);
        Ok(DataTable { rows, cols, entries, names, dropped: from.dropped(), format })
    }
}

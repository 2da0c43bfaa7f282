//! CSV: numbers as text, one row per line, in any common dialect.

mod cell;
mod commas;
mod decimal;
mod dialect;
mod fields;
mod records;

pub(super) use decimal::number;

use super::error::{CATEGORIES, DataError, FILL_IN, FilePosition, grouped, shown};
use super::names::{NAME, distinct};
use super::{ByteSource, Missing, Reading};
use cell::CsvCell;
use commas::{Commas, grouped as thousands};
use dialect::Dialect;
use records::Records;
use std::io::BufRead;

/// Bytes from which the dialect is detected; a larger sample is used if these contain fewer than three lines.
const SAMPLE: usize = 1 << 16;
const LARGE_SAMPLE: usize = 1 << 20;

const UTF8_MARK: &[u8] = b"\xef\xbb\xbf";

/// A text file read row by row.
pub(super) struct Csv {
    records: Records,
    decimal: u8,
    commas: Commas,
    missing: Missing,
    names: Option<Vec<String>>,
    cols: usize,
    /// Number of rows, including those with missing values, if they were counted.
    counted: Option<usize>,
    /// Whether the current record has not been returned as a row yet.
    pending: bool,
    rows: usize,
    dropped: usize,
}

impl Csv {
    /// Detects the dialect and reads the column names; counts the rows first if asked to and if the file is not
    /// compressed.
    pub fn open(mut source: ByteSource, reading: &Reading, count: bool) -> Result<Csv, DataError> {
        let start = source.peek(UTF8_MARK.len())?.starts_with(UTF8_MARK) as usize * UTF8_MARK.len();
        source.consume(start);
        let path = source.path().to_path_buf();
        let mut sample = source.peek(SAMPLE)?;
        if sample.len() >= SAMPLE && sample.iter().filter(|byte| **byte == b'\n').count() < 3 {
            sample = source.peek(LARGE_SAMPLE)?;
        }
        if let Some(place) = sample.iter().position(|byte| *byte == 0) {
            let message = format!("this is not text: byte {} is 0", grouped((start + place) as u64 + 1));
            return Err(DataError::file(&path, message, "an NPY or Matrix Market file, or CSV in UTF-8"));
        }
        let Dialect { delimiter, decimal } = Dialect::of(sample, reading);
        let count = count && !source.packed();
        let mut records = Records::new(source, start as u64, delimiter, reading);
        let counted = if count { Some(records.count()?) } else { None };
        if !records.next()? {
            return Err(DataError::file(
                &path,
                "the file contains only blank lines",
                "a file with at least one row",
            ));
        }
        let cols = records.fields().count();
        if (cols as u64).saturating_mul(NAME) > reading.limit {
            let message = format!("{} columns exceed the memory limit", grouped(cols as u64));
            let advice = "raise `--max-memory`, or check the delimiter";
            return Err(DataError::at(&path, FilePosition::Line(records.line()), message, advice));
        }
        let named = reading
            .header
            .unwrap_or_else(|| records.fields().any(|field| CsvCell::read(&field, decimal).is_text()));
        let names = match named {
            true => Some(distinct(records.fields()).map_err(|problem| {
                let advice =
                    "give every column a unique name; `--header no` if the first line is not a header";
                DataError::at(&path, FilePosition::Line(records.line()), problem, advice)
            })?),
            false => None,
        };
        let commas = match (reading.decimal, decimal) {
            (None, b',') => Commas::Doubtful(None),
            _ => Commas::Decimal,
        };
        Ok(Csv {
            names,
            counted: counted.map(|count: usize| count.saturating_sub(usize::from(named))),
            pending: !named,
            records,
            decimal,
            commas,
            missing: reading.missing,
            cols,
            rows: 0,
            dropped: 0,
        })
    }

    /// Number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// The names of the columns.
    pub fn names(&self) -> Option<&[String]> {
        self.names.as_deref()
    }

    /// Number of rows, if they were counted and none will be dropped.
    pub fn rows(&self) -> Option<usize> {
        self.counted.filter(|_| self.missing == Missing::Refuse)
    }

    /// Maximum number of rows, if they were counted.
    pub fn most_rows(&self) -> Option<usize> {
        self.counted
    }

    /// Number of rows dropped so far.
    pub fn dropped(&self) -> usize {
        self.dropped
    }

    /// Appends up to `most` rows and returns their number; 0 at the end.
    pub fn next(&mut self, most: usize, into: &mut Vec<f64>) -> Result<usize, DataError> {
        let mut rows = 0;
        while rows < most {
            if !std::mem::take(&mut self.pending) && !self.records.next()? {
                self.commas.settle(self.records.source().path())?;
                break;
            }
            self.weigh();
            let start = into.len();
            match self.row(into) {
                Ok(true) => rows += 1,
                Ok(false) => {
                    into.truncate(start);
                    self.dropped += 1;
                }
                Err(error) => {
                    into.truncate(start);
                    return Err(error);
                }
            }
        }
        self.rows += rows;
        if self.rows == 0 && most > 0 {
            let message = match self.dropped {
                0 => "there is a header but no rows".into(),
                dropped => format!("all rows have missing values, {} in number", grouped(dropped as u64)),
            };
            return Err(DataError::file(
                self.records.source().path(),
                message,
                "a file with at least one row",
            ));
        }
        Ok(rows)
    }

    /// Examines the commas of the current record while their meaning is undecided.
    fn weigh(&mut self) {
        if let Commas::Doubtful(_) = self.commas {
            for (column, field) in self.records.fields().enumerate() {
                let place = || place_of(&self.records, self.names.as_deref(), column);
                self.commas.see(&field, place);
            }
        }
    }

    /// Appends the current record; returns whether it has no missing value.
    fn row(&self, into: &mut Vec<f64>) -> Result<bool, DataError> {
        let (mut count, mut complete) = (0, true);
        let mut fields = self.records.fields();
        loop {
            if let Some(number) = fields.number(self.decimal) {
                into.push(number);
            } else if let Some(field) = fields.next() {
                match CsvCell::read(&field, self.decimal) {
                    CsvCell::Number(number) => into.push(number),
                    CsvCell::Missing if self.missing == Missing::DropRow => complete = false,
                    cell => return Err(self.refused(count, &field, cell)),
                }
            } else {
                break;
            }
            count += 1;
            if count > self.cols {
                return Err(self.ragged(self.records.fields().count()));
            }
        }
        match count == self.cols {
            true => Ok(complete),
            false => Err(self.ragged(count)),
        }
    }

    /// The error for a row with more or fewer cells than the first.
    fn ragged(&self, found: usize) -> DataError {
        let like = if self.names.is_some() { "one per column name" } else { "as in the first row" };
        let message =
            format!("expected {} fields, {like}, found {}", grouped(self.cols as u64), grouped(found as u64));
        let advice = "complete or remove the line; quote fields that contain the delimiter";
        DataError::at(self.records.source().path(), FilePosition::Line(self.records.line()), message, advice)
    }

    /// The error for a cell that is not a number; a row of the wrong length is reported as such instead.
    fn refused(&self, place: usize, field: &[u8], cell: CsvCell) -> DataError {
        let found = self.records.fields().count();
        if found != self.cols {
            return self.ragged(found);
        }
        let (message, advice) = match cell {
            CsvCell::Missing if field.is_empty() => ("the value is missing".into(), FILL_IN),
            CsvCell::Missing => (format!("the value is missing: {}", shown(field)), FILL_IN),
            CsvCell::Infinite => (
                format!("expected a finite number, found {}", shown(field)),
                "numbers up to 1.7e308 can be read",
            ),
            _ if thousands(field) => (
                format!("expected a number, found {}", shown(field)),
                "write numbers without thousands separators",
            ),
            _ => (format!("expected a number, found {}", shown(field)), CATEGORIES),
        };
        let place = place_of(&self.records, self.names.as_deref(), place);
        DataError::at(self.records.source().path(), place, message, advice)
    }
}

/// The place of a cell of the current record.
fn place_of(records: &Records, names: Option<&[String]>, column: usize) -> FilePosition {
    let name = names.and_then(|names| names.get(column)).cloned();
    FilePosition::Cell { line: records.line(), column: column + 1, name }
}

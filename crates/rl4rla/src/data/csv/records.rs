//! The records of a text file: lines, or several lines if quotes contain line ends.

use super::super::error::{DataError, FilePosition};
use super::super::lines::Lines;
use super::super::{ByteSource, Reading};
use super::fields::{Delimiter, Fields};

/// A file read record by record, without blank lines.
pub struct Records {
    lines: Lines,
    delimiter: Delimiter,
    /// Offset of the first record, after a byte order mark.
    start: u64,
    /// The line number at which the current record begins.
    line: usize,
}

impl Records {
    /// The records from here on, `start` bytes into the file.
    pub fn new(source: ByteSource, start: u64, delimiter: Delimiter, reading: &Reading) -> Records {
        Records { lines: Lines::new(source, reading), delimiter, start, line: 0 }
    }

    /// The underlying source.
    pub fn source(&self) -> &ByteSource {
        self.lines.source()
    }

    /// The line number at which the current record begins.
    pub fn line(&self) -> usize {
        self.line
    }

    /// The fields of the current record.
    pub fn fields(&self) -> Fields<'_> {
        self.delimiter.fields(self.lines.text())
    }

    /// Moves to the next record; returns false at the end of the file.
    pub fn next(&mut self) -> Result<bool, DataError> {
        while self.lines.next()? {
            self.line = self.lines.number();
            let text = self.lines.text();
            let mut inside = text.contains(&b'"') && self.delimiter.ends_inside(text, false);
            while inside {
                let before = self.lines.text().len();
                if !self.lines.append()? {
                    let message = "a quote is opened on this line and never closed";
                    let advice = "close it, or double a quote that is part of the text";
                    return Err(DataError::at(
                        self.source().path(),
                        FilePosition::Line(self.line),
                        message,
                        advice,
                    ));
                }
                inside = self.delimiter.ends_inside(&self.lines.text()[before..], true);
            }
            if !self.delimiter.blank(self.lines.text()) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Counts the records of an uncompressed file by reading it once, and returns to its beginning.
    pub fn count(&mut self) -> Result<usize, DataError> {
        let mut count = 0;
        while self.next()? {
            count += 1;
        }
        self.lines.restart(self.start)?;
        Ok(count)
    }
}

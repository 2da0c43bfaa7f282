//! The records of a text file: lines, or several of them where quotes hold line ends.

use super::super::error::{DataError, FilePosition};
use super::super::lines::Lines;
use super::super::{ByteSource, Reading};
use super::fields::{Delimiter, Fields};

/// A file, record by record, without its blank lines.
pub struct Records {
    lines: Lines,
    delimiter: Delimiter,
    /// Where the first record begins: behind a mark of the byte order.
    start: u64,
    /// The line at which the record at hand begins.
    line: usize,
}

impl Records {
    /// The records from here on, `start` bytes into the file.
    pub fn new(source: ByteSource, start: u64, delimiter: Delimiter, reading: &Reading) -> Records {
        Records { lines: Lines::new(source, reading), delimiter, start, line: 0 }
    }

    /// The bytes behind the records.
    pub fn source(&self) -> &ByteSource {
        self.lines.source()
    }

    /// The line at which the record at hand begins.
    pub fn line(&self) -> usize {
        self.line
    }

    /// The fields of the record at hand.
    pub fn fields(&self) -> Fields<'_> {
        self.delimiter.fields(self.lines.text())
    }

    /// Goes to the next record; says no at the end of the file.
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

    /// How many records there are, by going through a plain file once; then it is at its beginning again.
    pub fn count(&mut self) -> Result<usize, DataError> {
        let mut count = 0;
        while self.next()? {
            count += 1;
        }
        self.lines.restart(self.start)?;
        Ok(count)
    }
}

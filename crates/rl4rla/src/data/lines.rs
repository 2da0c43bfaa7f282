//! A file read line by line, in constant memory.

use super::error::{DataError, FilePosition, size};
use super::{ByteSource, Reading};
use std::io::{BufRead, Read};

/// Maximum length of a line in bytes.
const LONGEST: u64 = 64 << 20;

/// The lines of a file, one or several at a time.
pub(super) struct Lines {
    source: ByteSource,
    /// The number of the last line read, from 1.
    number: usize,
    text: Vec<u8>,
    longest: u64,
}

impl Lines {
    /// The lines from here on.
    pub fn new(source: ByteSource, reading: &Reading) -> Lines {
        Lines { source, number: 0, text: Vec::new(), longest: LONGEST.min(reading.limit) }
    }

    /// The underlying source.
    pub fn source(&self) -> &ByteSource {
        &self.source
    }

    /// The number of the last line read, from 1.
    pub fn number(&self) -> usize {
        self.number
    }

    /// The current text, including line ends.
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// Moves to the next line; returns false at the end of the file.
    pub fn next(&mut self) -> Result<bool, DataError> {
        self.text.clear();
        self.append()
    }

    /// Appends the next line to the text; returns false at the end of the file.
    pub fn append(&mut self) -> Result<bool, DataError> {
        let before = self.text.len() as u64;
        let mut bounded = self.source.by_ref().take(self.longest.saturating_sub(before) + 1);
        let read = bounded.read_until(b'\n', &mut self.text);
        let count = read.map_err(|error| self.source.broken(&error))?;
        self.number += usize::from(count > 0);
        if self.text.len() as u64 > self.longest {
            let message = format!("a line of more than {}", size(self.longest));
            let advice = "check that this is a file of numbers, and that every quote in it is closed";
            return Err(DataError::at(self.source.path(), FilePosition::Line(self.number), message, advice));
        }
        Ok(count > 0)
    }

    /// Returns to an offset of an uncompressed file at which its first line begins.
    pub fn restart(&mut self, place: u64) -> Result<(), DataError> {
        (self.number, self.text) = (0, Vec::new());
        self.source.seek(place)
    }
}

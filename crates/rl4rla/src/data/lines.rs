//! A file, line by line, in memory that does not grow with it.

use super::error::{DataError, FilePosition, size};
use super::{ByteSource, Reading};
use std::io::{BufRead, Read};

/// A line longer than this belongs to no matrix.
const LONGEST: u64 = 64 << 20;

/// The lines of a file, one or some at a time.
pub(super) struct Lines {
    source: ByteSource,
    /// The number of the last line read, from 1 on.
    number: usize,
    text: Vec<u8>,
    longest: u64,
}

impl Lines {
    /// The lines from here on.
    pub fn new(source: ByteSource, reading: &Reading) -> Lines {
        Lines { source, number: 0, text: Vec::new(), longest: LONGEST.min(reading.limit) }
    }

    /// The bytes behind the lines.
    pub fn source(&self) -> &ByteSource {
        &self.source
    }

    /// The number of the last line read, from 1 on.
    pub fn number(&self) -> usize {
        self.number
    }

    /// What was read, with its line ends.
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// Goes to the next line; says no at the end of the file.
    pub fn next(&mut self) -> Result<bool, DataError> {
        self.text.clear();
        self.append()
    }

    /// Adds the next line to the text; says no at the end of the file.
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

    /// Goes back to a place of a plain file where its first line begins.
    pub fn restart(&mut self, place: u64) -> Result<(), DataError> {
        (self.number, self.text) = (0, Vec::new());
        self.source.seek(place)
    }
}

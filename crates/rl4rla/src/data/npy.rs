//! NPY, NumPy's format for one array, in row-major or column-major order.

mod element;
mod header;

use super::error::{DataError, FilePosition, grouped, size};
use super::reading::reserve;
use super::{ByteSource, Reading};
use header::Header;
use std::path::Path;

/// Bytes decoded at a time.
const BLOCK: usize = 1 << 16;

/// An array read row by row.
pub(super) struct Npy {
    source: ByteSource,
    header: Header,
    /// Rows read so far.
    row: usize,
    bytes: Vec<u8>,
}

impl Npy {
    /// Reads the header; an error if the file does not have the size that the header claims, or, gzipped, cannot have
    /// it.
    pub fn open(mut source: ByteSource) -> Result<Npy, DataError> {
        let header = Header::read(&mut source)?;
        let npy = Npy { source, header, row: 0, bytes: Vec::new() };
        let (claimed, most) = (npy.header.bytes(), npy.source.most());
        let room = most.saturating_sub(npy.header.offset);
        match npy.source.packed() {
            false if claimed != room => Err(npy.lies(format!("{} bytes follow", grouped(room)))),
            true if claimed > room => {
                let packed = grouped(npy.source.length());
                Err(npy.lies(format!("{packed} compressed bytes cannot hold that")))
            }
            _ => Ok(npy),
        }
    }

    /// The name of the file in messages.
    pub fn path(&self) -> &Path {
        self.source.path()
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.header.rows
    }

    /// Number of columns; one for a one-dimensional array.
    pub fn cols(&self) -> usize {
        self.header.cols
    }

    /// Whether rows are only available after reading the whole file.
    pub fn whole_only(&self) -> bool {
        self.header.fortran && self.source.packed()
    }

    /// Appends up to `most` rows and returns their number; 0 at the end.
    pub fn next(&mut self, most: usize, into: &mut Vec<f64>) -> Result<usize, DataError> {
        let rows = most.min(self.rows() - self.row);
        if rows == 0 {
            return Ok(0);
        }
        let (start, count) = (into.len(), rows * self.cols());
        reserve(self.source.path(), into, count)?;
        into.resize(start + count, 0.0);
        let read = match self.header.fortran {
            false => self.by_rows(&mut into[start..]),
            true => self.by_columns(rows, &mut into[start..]),
        };
        if let Err(error) = read.and_then(|()| self.finish(rows)) {
            into.truncate(start);
            return Err(error);
        }
        Ok(rows)
    }

    /// The whole array, if the memory limit allows it.
    pub fn whole(&mut self, reading: &Reading) -> Result<Vec<f64>, DataError> {
        let afforded = reading.afford(self.source.path(), self.rows(), self.cols());
        afforded.map_err(|error| {
            error.advise("decompress the file, save it in C order, or raise `--max-memory`")
        })?;
        let mut entries = Vec::new();
        self.next(self.rows(), &mut entries)?;
        Ok(entries)
    }

    fn by_rows(&mut self, into: &mut [f64]) -> Result<(), DataError> {
        let (row, cols) = (self.row, self.cols());
        let mut done = 0;
        for block in into.chunks_mut(BLOCK / self.header.element.size()) {
            self.decode(block, |place| (row + (done + place) / cols, (done + place) % cols))?;
            done += block.len();
        }
        Ok(())
    }

    fn by_columns(&mut self, rows: usize, into: &mut [f64]) -> Result<(), DataError> {
        let (row, cols, size) = (self.row, self.cols(), self.header.element.size());
        let mut block = vec![0.0; rows.min(BLOCK / size)];
        for col in 0..cols {
            // Whole columns are read in sequence, as a compressed file requires.
            if rows < self.rows() {
                let place = (col * self.rows() + row) as u64 * size as u64;
                self.source.seek(self.header.offset + place)?;
            }
            let mut done = 0;
            while done < rows {
                let count = block.len().min(rows - done);
                self.decode(&mut block[..count], |place| (row + done + place, col))?;
                for (place, value) in block[..count].iter().enumerate() {
                    into[(done + place) * cols + col] = *value;
                }
                done += count;
            }
        }
        Ok(())
    }

    /// Reads a block of consecutive entries; `at` gives the row and column of an entry from its position in the
    /// block.
    fn decode(&mut self, into: &mut [f64], at: impl Fn(usize) -> (usize, usize)) -> Result<(), DataError> {
        let (size, count) = (self.header.element.size(), into.len());
        let direct = self.header.element.is_native();
        let bytes = match direct {
            true => bytemuck::cast_slice_mut(into),
            false => {
                self.bytes.resize(BLOCK, 0);
                &mut self.bytes[..count * size]
            }
        };
        let (expected, filled) = (bytes.len(), self.source.fill(bytes)?);
        let place_of = |place: usize| {
            let (row, column) = at(place);
            FilePosition::Entry { row: row + 1, column: column + 1 }
        };
        if filled < expected {
            let error = self.lies("the file ends earlier".into());
            return Err(DataError { place: place_of(filled / size), ..error });
        }
        if !direct {
            self.header.element.decode(&self.bytes[..expected], into);
        }
        // Without an early exit, which vector instructions cannot take.
        if into.iter().fold(true, |all, value| all & value.is_finite()) {
            return Ok(());
        }
        match into.iter().position(|value| !value.is_finite()) {
            None => Ok(()),
            Some(place) => Err(DataError::at(
                self.source.path(),
                place_of(place),
                format!("expected a finite number, found {}", into[place]),
                "replace such entries or remove their rows before saving",
            )),
        }
    }

    /// Counts rows as read; after the last one the file must end.
    fn finish(&mut self, rows: usize) -> Result<(), DataError> {
        self.row += rows;
        if self.row == self.rows() && self.source.packed() && !self.source.peek(1)?.is_empty() {
            return Err(self.lies("more follow".into()));
        }
        Ok(())
    }

    /// The error for a header that does not match the file.
    fn lies(&self, found: String) -> DataError {
        let Header { element, rows, cols, .. } = &self.header;
        let bytes = self.header.bytes();
        let said = if bytes < 1000 { String::new() } else { format!(" ({})", size(bytes)) };
        let message = format!(
            "the header claims {}×{} numbers `{element}` = {} bytes{said}, but {found}",
            grouped(*rows as u64),
            grouped(*cols as u64),
            grouped(bytes),
        );
        DataError::file(
            self.source.path(),
            message,
            "copy the file again, or save it again with `numpy.save`",
        )
    }
}

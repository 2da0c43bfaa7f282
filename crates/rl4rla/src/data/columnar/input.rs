//! The bytes of a file that is read in parts.

use super::super::ByteSource;
use super::super::error::DataError;
use super::super::source::{Part, SharedInput};
use bytes::Bytes;
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, Length};
use std::io::{self, BufReader, ErrorKind, Read};

/// Bytes read at a time where the decoder reads byte by byte: the header of a page takes fewer.
const HEADER: usize = 256;

/// A file of which any bytes can be read.
#[derive(Clone)]
pub(super) struct AnyPlace {
    input: SharedInput,
    length: u64,
}

impl AnyPlace {
    /// The input itself, `what` in messages; not if it is compressed.
    pub fn new(source: ByteSource, what: &str) -> Result<AnyPlace, DataError> {
        let (input, length) = source.shared(what)?;
        Ok(AnyPlace { input, length })
    }

    /// The length of the file.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Exactly these bytes, or an error without taking memory for more than the file has.
    pub fn bytes(&self, start: u64, count: u64) -> io::Result<Vec<u8>> {
        let end = start.checked_add(count).filter(|end| *end <= self.length);
        let (Some(_), Ok(room)) = (end, usize::try_from(count)) else {
            return Err(io::Error::new(ErrorKind::UnexpectedEof, "it ends earlier than it claims"));
        };
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(room).map_err(|_| ErrorKind::OutOfMemory)?;
        Part::new(self.input.clone(), start, count).read_to_end(&mut bytes)?;
        match bytes.len() == room {
            true => Ok(bytes),
            false => Err(ErrorKind::UnexpectedEof.into()),
        }
    }

    /// The bytes at `start`, fewer at the end of the file.
    pub fn at_most(&self, start: u64, count: u64) -> io::Result<Vec<u8>> {
        self.bytes(start, count.min(self.length.saturating_sub(start)))
    }
}

impl Length for AnyPlace {
    fn len(&self) -> u64 {
        self.length
    }
}

impl ChunkReader for AnyPlace {
    type T = BufReader<Part>;

    fn get_read(&self, start: u64) -> Result<Self::T, ParquetError> {
        let left = self.length.saturating_sub(start);
        Ok(BufReader::with_capacity(HEADER, Part::new(self.input.clone(), start, left)))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes, ParquetError> {
        Ok(self.bytes(start, length as u64)?.into())
    }
}

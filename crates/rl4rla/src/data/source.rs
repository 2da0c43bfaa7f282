//! The bytes of a file or of a part of one, plain or compressed.

use super::DataError;
use super::error::grouped;
use flate2::read::MultiGzDecoder;
use std::fs::File;
use std::io::{self, BufRead, ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// A source of bytes: a file or memory.
pub trait Input: Read + Seek + Send {}

impl<T: Read + Seek + Send> Input for T {}

/// The first bytes of gzipped files.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Maximum expansion of deflate: a copy of 258 bytes takes at least two bits.
const EXPANSION: u64 = 1032;

/// Bytes read at a time.
const BLOCK: usize = 1 << 16;

/// The content of a file from its beginning, decompressed if it is gzipped.
pub(super) struct ByteSource {
    path: PathBuf,
    stream: Stream,
    /// Size of the file on disk in bytes.
    length: u64,
    /// Bytes of content read from the stream.
    given: u64,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
}

enum Stream {
    Plain(Box<dyn Input>),
    Gzip(Box<MultiGzDecoder<Box<dyn Input>>>),
    /// A deflated member of an archive, decompressed.
    Deflated(Box<dyn Read + Send>),
}

/// An input of which several parts are read in turn.
#[derive(Clone)]
pub(super) struct SharedInput(Arc<Mutex<Box<dyn Input>>>);

/// A part of an input, with offsets of its own.
pub(super) struct Part {
    input: SharedInput,
    start: u64,
    length: u64,
    at: u64,
}

impl Part {
    /// The bytes from `start` on.
    pub fn new(input: SharedInput, start: u64, length: u64) -> Part {
        Part { input, start, length, at: 0 }
    }
}

impl Read for Part {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let most = usize::try_from(self.length - self.at).unwrap_or(usize::MAX).min(into.len());
        let mut input = self.input.0.lock().unwrap_or_else(PoisonError::into_inner);
        let place = self.start.checked_add(self.at).ok_or(ErrorKind::InvalidInput)?;
        input.seek(SeekFrom::Start(place))?;
        let count = input.read(&mut into[..most])?;
        self.at += count as u64;
        Ok(count)
    }
}

impl Seek for Part {
    fn seek(&mut self, place: SeekFrom) -> io::Result<u64> {
        let place = match place {
            SeekFrom::Start(place) => Some(place),
            SeekFrom::End(by) => self.length.checked_add_signed(by),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
        };
        self.at = place.filter(|place| *place <= self.length).ok_or(ErrorKind::InvalidInput)?;
        Ok(self.at)
    }
}

impl ByteSource {
    /// Opens a file.
    pub fn open(path: &Path) -> Result<ByteSource, DataError> {
        let unreadable = |error: io::Error| match error.kind() {
            ErrorKind::NotFound => DataError::file(path, "there is no such file", "check the path"),
            ErrorKind::PermissionDenied => {
                let advice = "check the permissions of the file and of its folder";
                DataError::file(path, "reading this file is not permitted", advice)
            }
            _ => DataError::file(path, format!("cannot be read: {error}"), "check the path and the disk"),
        };
        // Checked before opening, because opening a pipe waits for a writer.
        let metadata = path.metadata().map_err(unreadable)?;
        if !metadata.is_file() {
            let what = if metadata.is_dir() { "this is a folder" } else { "this is not a plain file" };
            return Err(DataError::file(path, what, "a path to a file of data, such as NPY, CSV or Parquet"));
        }
        ByteSource::new(path, Box::new(File::open(path).map_err(unreadable)?))
    }

    /// Reads from any input; `path` is its name in messages.
    pub fn new(path: &Path, mut input: Box<dyn Input>) -> Result<ByteSource, DataError> {
        let mut head = Vec::new();
        let found = input
            .seek(SeekFrom::End(0))
            .and_then(|length| input.rewind().map(|()| length))
            .and_then(|length| input.by_ref().take(GZIP.len() as u64).read_to_end(&mut head).map(|_| length))
            .and_then(|length| input.rewind().map(|()| length));
        let length = found.map_err(|error| {
            DataError::file(path, format!("cannot be read: {error}"), "check the path and the disk")
        })?;
        if length == 0 {
            return Err(DataError::file(path, "the file is empty", "a file with at least one row"));
        }
        let stream = match head == GZIP {
            true => Stream::Gzip(Box::new(MultiGzDecoder::new(input))),
            false => Stream::Plain(input),
        };
        Ok(ByteSource::with(path, stream, length))
    }

    /// The content of a file inside another, which can be read in any order.
    pub fn plain(path: &Path, input: Box<dyn Input>, length: u64) -> ByteSource {
        ByteSource::with(path, Stream::Plain(input), length)
    }

    /// The decompressed content of a deflated file inside another, where it takes `length` bytes.
    pub fn deflated(path: &Path, content: Box<dyn Read + Send>, length: u64) -> ByteSource {
        ByteSource::with(path, Stream::Deflated(content), length)
    }

    fn with(path: &Path, stream: Stream, length: u64) -> ByteSource {
        ByteSource { path: path.into(), stream, length, given: 0, buffer: Vec::new(), start: 0, end: 0 }
    }

    /// The input itself and its length, for formats that are read in parts, `what` in messages; not if it is compressed.
    pub fn shared(self, what: &str) -> Result<(SharedInput, u64), DataError> {
        match self.stream {
            Stream::Plain(input) => Ok((SharedInput(Arc::new(Mutex::new(input))), self.length)),
            Stream::Gzip(_) | Stream::Deflated(_) => {
                let message = format!("this is {what}, gzipped, which cannot be read in parts");
                Err(DataError::file(&self.path, message, "decompress it first"))
            }
        }
    }

    /// The name of the file in messages.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Size of the file on disk in bytes.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Whether the content is compressed, so that it can only be read once and its length is unknown.
    pub fn packed(&self) -> bool {
        !matches!(self.stream, Stream::Plain(_))
    }

    /// Maximum length of the content in bytes; exact for an uncompressed file.
    pub fn most(&self) -> u64 {
        if self.packed() { self.length.saturating_mul(EXPANSION) } else { self.length }
    }

    /// The next bytes without consuming them: at least `count`, or all that are left.
    pub fn peek(&mut self, count: usize) -> Result<&[u8], DataError> {
        while self.end - self.start < count {
            match self.more(count) {
                Ok(0) => break,
                Ok(_) => {}
                Err(error) => return Err(self.broken(&error)),
            }
        }
        Ok(&self.buffer[self.start..self.end])
    }

    /// Fills `into` as far as there is content, and returns the number of bytes.
    pub fn fill(&mut self, into: &mut [u8]) -> Result<usize, DataError> {
        let mut filled = 0;
        while filled < into.len() {
            match self.read(&mut into[filled..]) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(self.broken(&error)),
            }
        }
        Ok(filled)
    }

    /// Moves to an offset of the content; only for uncompressed files.
    pub fn seek(&mut self, place: u64) -> Result<(), DataError> {
        (self.start, self.end) = (0, 0);
        let done = match &mut self.stream {
            Stream::Plain(input) => input.seek(SeekFrom::Start(place)).map(drop),
            Stream::Gzip(_) | Stream::Deflated(_) => Err(io::Error::from(ErrorKind::Unsupported)),
        };
        done.map_err(|error| self.broken(&error))
    }

    /// The error for a failed read.
    pub fn broken(&self, error: &io::Error) -> DataError {
        let so_far = grouped(self.given);
        let (what, advice) = match self.stream {
            Stream::Gzip(_) => ("the gzip file", "copy or download the file again; `gzip -t` tests it"),
            _ => ("the member of the archive", "copy or download the file again; `unzip -t` tests it"),
        };
        let (message, advice) = match (self.packed(), error.kind()) {
            (true, ErrorKind::UnexpectedEof) => {
                (format!("{what} is truncated: it ends after {so_far} bytes of content"), advice)
            }
            (true, ErrorKind::InvalidInput) | (_, ErrorKind::InvalidData) => {
                (format!("{what} is damaged after {so_far} bytes of content: {error}"), advice)
            }
            _ => (format!("cannot be read: {error}"), "check the file and the disk"),
        };
        DataError::file(&self.path, message, advice)
    }

    /// Reads into the buffer after its content, with room for at least `count` bytes in total.
    fn more(&mut self, count: usize) -> io::Result<usize> {
        self.buffer.copy_within(self.start..self.end, 0);
        (self.start, self.end) = (0, self.end - self.start);
        // A small file needs no large buffer.
        let room = BLOCK.max(count).min(usize::try_from(self.most()).unwrap_or(usize::MAX));
        if self.buffer.len() < room {
            self.buffer.resize(room, 0);
        }
        let read = loop {
            match self.stream.read(&mut self.buffer[self.end..]) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                read => break read?,
            }
        };
        self.end += read;
        self.given += read as u64;
        Ok(read)
    }
}

impl Read for Stream {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Plain(input) => input.read(into),
            Stream::Gzip(input) => input.read(into),
            Stream::Deflated(input) => input.read(into),
        }
    }
}

impl Read for ByteSource {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.start == self.end {
            let read = self.stream.read(into)?;
            self.given += read as u64;
            return Ok(read);
        }
        let count = into.len().min(self.end - self.start);
        into[..count].copy_from_slice(&self.buffer[self.start..self.start + count]);
        self.start += count;
        Ok(count)
    }
}

impl BufRead for ByteSource {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.start == self.end {
            self.more(1)?;
        }
        Ok(&self.buffer[self.start..self.end])
    }

    fn consume(&mut self, count: usize) {
        self.start += count;
    }
}

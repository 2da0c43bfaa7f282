//! ZIP archives: their directory, and members that are stored or deflated.
//!
//! Read here and not by a crate, because the directory of a file that is not trusted must be checked before memory is
//! reserved for it; decompression is `flate2`'s.

use super::error::{DataError, grouped};
use super::source::{ByteSource, Part, SharedInput};
use flate2::Crc;
use flate2::read::DeflateDecoder;
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// Maximum size of a directory in bytes.
const DIRECTORY: u64 = 1 << 20;

/// The end of an archive without its comment, the longest comment, and the record before it in large archives.
const END: usize = 22;
const COMMENT: usize = 65_535;
const LOCATOR: usize = 20;

const ADVICE: &str = "copy the file again, or save it again with `numpy.savez`";

/// How a member is compressed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Method {
    Stored,
    Deflated,
    Other(u16),
}

/// A file in the archive.
pub(super) struct Member {
    /// Its path in the archive, or what of it is text.
    pub name: String,
    method: Method,
    encrypted: bool,
    checksum: u32,
    /// Its size in the archive in bytes.
    length: u64,
    /// Its size when decompressed.
    unpacked: u64,
    /// Offset of its local header.
    place: u64,
}

/// An archive whose directory has been read.
pub(super) struct Archive {
    path: PathBuf,
    input: SharedInput,
    /// Offset at which members end and the directory begins.
    end: u64,
    pub members: Vec<Member>,
}

impl Archive {
    /// Reads the directory.
    pub fn open(source: ByteSource) -> Result<Archive, DataError> {
        let path = source.path().to_path_buf();
        let (input, length) = source.shared("a ZIP archive")?;
        let mut archive = Archive { path, input, end: 0, members: Vec::new() };
        let (place, size) = archive.directory(length)?;
        archive.end = place;
        let bytes = archive.bytes(place, size as usize)?;
        let mut rest = &bytes[..];
        while !rest.is_empty() {
            let member = member(&mut rest).ok_or_else(|| {
                archive.damaged(format!("entry {} of its directory", archive.members.len() + 1))
            })?;
            archive.members.push(member);
        }
        Ok(archive)
    }

    /// Offset and size of the directory, from the end of the file.
    fn directory(&mut self, length: u64) -> Result<(u64, u64), DataError> {
        let tail = length.min((END + COMMENT + LOCATOR) as u64);
        let bytes = self.bytes(length - tail, tail as usize)?;
        // The comment fills the rest of the file, so that a signature inside it is not mistaken for the end.
        let end = (0..=bytes.len().saturating_sub(END)).rev().find(|at| {
            bytes[*at..].starts_with(b"PK\x05\x06")
                && u16_at(&bytes, at + 20)
                    .is_some_and(|comment| at + END + usize::from(comment) == bytes.len())
        });
        let end = end.ok_or_else(|| self.damaged("its end is missing".into()))?;
        let (mut size, mut place) = (u32_at(&bytes, end + 12), u32_at(&bytes, end + 16));
        let locator = end.checked_sub(LOCATOR).filter(|at| bytes[*at..].starts_with(b"PK\x06\x07"));
        if let Some(record) = locator.and_then(|at| u64_at(&bytes, at + 8)) {
            let bytes = self.bytes(record, 56)?;
            if !bytes.starts_with(b"PK\x06\x06") {
                return Err(self.damaged("its end".into()));
            }
            (size, place) = (u64_at(&bytes, 40), u64_at(&bytes, 48));
        }
        match (place, size) {
            (_, Some(size)) if size > DIRECTORY => {
                let message = format!(
                    "the directory of the ZIP archive takes {} bytes, more than {}",
                    grouped(size),
                    grouped(DIRECTORY)
                );
                Err(DataError::file(&self.path, message, "save the arrays you need in a file of their own"))
            }
            (Some(place), Some(size)) if place.checked_add(size).is_some_and(|end| end <= length) => {
                Ok((place, size))
            }
            _ => Err(self.damaged("its directory is outside the file".into())),
        }
    }

    /// The content of a member from its beginning; messages name `name` in brackets after the file.
    pub fn member(&self, member: &Member, name: &str) -> Result<ByteSource, DataError> {
        let path = PathBuf::from(format!("{}[{name}]", self.path.display()));
        let refuse = |message: String| Err(DataError::file(&path, message, ADVICE));
        let header = self.bytes(member.place, 30)?;
        let lengths = u16_at(&header, 26).zip(u16_at(&header, 28));
        let start = lengths.map(|(name, extra)| member.place + 30 + u64::from(name) + u64::from(extra));
        let Some(start) = start.filter(|_| header.starts_with(b"PK\x03\x04")) else {
            return refuse("its header in the ZIP archive is damaged".into());
        };
        if start.checked_add(member.length).is_none_or(|end| end > self.end) {
            return refuse(format!("its {} bytes are outside the ZIP archive", grouped(member.length)));
        }
        let part = Part::new(self.input.clone(), start, member.length);
        match member.method {
            _ if member.encrypted => refuse("it is encrypted".into()),
            Method::Stored if member.unpacked != member.length => {
                refuse("the sizes in the ZIP directory contradict each other".into())
            }
            Method::Stored => {
                let checked = Checked::new(part, member.checksum, Some(member.length));
                Ok(ByteSource::plain(&path, Box::new(checked), member.length))
            }
            Method::Deflated => {
                let checked = Checked::new(DeflateDecoder::new(part), member.checksum, None);
                Ok(ByteSource::deflated(&path, Box::new(checked), member.length))
            }
            Method::Other(method) => refuse(format!("it is compressed with method {method} of ZIP")),
        }
    }

    /// The bytes at an offset, all of them.
    fn bytes(&self, place: u64, count: usize) -> Result<Vec<u8>, DataError> {
        let mut bytes = vec![0; count];
        let read = Part::new(self.input.clone(), place, count as u64).read_exact(&mut bytes);
        read.map(|()| bytes).map_err(|error| match error.kind() {
            ErrorKind::UnexpectedEof | ErrorKind::InvalidInput => self.damaged("it ends too early".into()),
            _ => {
                DataError::file(&self.path, format!("cannot be read: {error}"), "check the file and the disk")
            }
        })
    }

    /// The name of the file in messages.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn damaged(&self, what: String) -> DataError {
        DataError::file(&self.path, format!("the ZIP archive is damaged: {what}"), ADVICE)
    }
}

/// The first entry of a directory, which is removed from `rest`.
fn member(rest: &mut &[u8]) -> Option<Member> {
    let head = rest.split_at_checked(46)?.0;
    let lengths = [u16_at(head, 28)?, u16_at(head, 30)?, u16_at(head, 32)?].map(usize::from);
    let (name, after) = rest[46..].split_at_checked(lengths[0])?;
    let (mut extra, after) = after.split_at_checked(lengths[1])?;
    *rest = after.get(lengths[2]..)?;
    let (mut unpacked, mut length, mut place) = (u32_at(head, 24)?, u32_at(head, 20)?, u32_at(head, 42)?);
    while let (Some(id), Some(size)) = (u16_at(extra, 0), u16_at(extra, 2)) {
        let (field, after) = extra[4..].split_at_checked(usize::from(size))?;
        // Sizes that do not fit into 32 bits are here, in this order.
        let mut wide = field.chunks_exact(8).filter_map(|bytes| u64_at(bytes, 0)).take(3);
        for number in [&mut unpacked, &mut length, &mut place] {
            if id == 1 && *number == u64::from(u32::MAX) {
                *number = wide.next()?;
            }
        }
        extra = after;
    }
    head.starts_with(b"PK\x01\x02").then_some(Member {
        name: String::from_utf8_lossy(name).into_owned(),
        method: match u16_at(head, 10)? {
            0 => Method::Stored,
            8 => Method::Deflated,
            other => Method::Other(other),
        },
        encrypted: u16_at(head, 8)? & 1 == 1,
        checksum: u32_at(head, 16)? as u32,
        length,
        unpacked,
        place,
    })
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?)))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

/// Content whose checksum is compared at its end, if it was read from beginning to end.
struct Checked<R> {
    inner: R,
    expected: u32,
    /// The checksum so far; none after a jump.
    sum: Option<Crc>,
    /// Bytes still to come, if their number is known.
    left: Option<u64>,
    length: Option<u64>,
}

impl<R> Checked<R> {
    fn new(inner: R, expected: u32, length: Option<u64>) -> Checked<R> {
        Checked { inner, expected, sum: Some(Crc::new()), left: length, length }
    }
}

impl<R: Read> Read for Checked<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(into)?;
        let Some(sum) = &mut self.sum else { return Ok(count) };
        sum.update(&into[..count]);
        self.left = self.left.map(|left| left - count as u64);
        let ended = if self.length.is_some() { self.left == Some(0) } else { count == 0 && !into.is_empty() };
        match ended && sum.sum() != self.expected {
            true => Err(io::Error::new(ErrorKind::InvalidData, "the checksum is wrong")),
            false => Ok(count),
        }
    }
}

impl<R: Seek> Seek for Checked<R> {
    fn seek(&mut self, place: SeekFrom) -> io::Result<u64> {
        let place = self.inner.seek(place)?;
        // From the beginning it can be checked again.
        (self.sum, self.left) = ((place == 0).then(Crc::new), self.length);
        Ok(place)
    }
}

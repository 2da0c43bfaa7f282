//! Detects the format of a file from its first bytes, never from its name.

use super::{ByteSource, DataError};
use std::fmt;

/// The formats that can be read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// NumPy's format for one array.
    Npy,
    /// NumPy's format for several arrays, and SciPy's for a sparse matrix.
    Npz,
    /// Numbers as text, a row on each line.
    Csv,
    /// The text format of the Matrix Market.
    MatrixMarket,
    /// Apache Parquet, a table stored by columns.
    Parquet,
    /// Apache Arrow's format of files (also called Feather) and streams, a table stored by columns.
    Arrow,
}

const NPY: &[u8] = b"\x93NUMPY";
/// A ZIP archive, with members or without.
const ZIP: [&[u8]; 2] = [b"PK\x03\x04", b"PK\x05\x06"];
const MATRIX_MARKET: &[u8] = b"%%MatrixMarket";
const PARQUET: &[u8] = b"PAR1";
/// A file, and the mark before every message of a stream.
const ARROW: [&[u8]; 2] = [b"ARROW1", b"\xff\xff\xff\xff"];

/// Number of bytes that determine the format.
const HEAD: usize = 16;

/// Other common file types: their first bytes, what they are, and what to do with them.
const OTHERS: [(&[u8], &str, &str); 11] = [
    (b"PARE", "an encrypted Parquet file", "save it without encryption"),
    (b"FEA1", "a Feather file of version 1", "save it as Feather version 2, Parquet, NPY or CSV"),
    (b"\x89HDF", "an HDF5 file", "save the matrix as NPY or CSV"),
    (b"MATLAB 5", "a MATLAB file", "save the matrix as NPY, CSV or Matrix Market"),
    (b"\xd0\xcf\x11\xe0", "an old Excel file", "save the sheet as CSV"),
    (b"\x28\xb5\x2f\xfd", "compressed with zstd", "decompress it first; gzip is read directly"),
    (b"\xfd7zXZ", "compressed with xz", "decompress it first; gzip is read directly"),
    (b"BZh", "compressed with bzip2", "decompress it first; gzip is read directly"),
    (b"\xff\xfe", "text in UTF-16", "save it in UTF-8"),
    (b"\xfe\xff", "text in UTF-16", "save it in UTF-8"),
    (b"\x1f\x8b", "gzipped twice", "decompress it once"),
];

impl Format {
    /// The format of a file from its first bytes. Anything not recognized is parsed as CSV.
    pub(super) fn of(source: &mut ByteSource) -> Result<Format, DataError> {
        let head = source.peek(HEAD)?.to_vec();
        if head.starts_with(NPY) {
            return Ok(Format::Npy);
        }
        if ZIP.iter().any(|magic| head.starts_with(magic)) {
            return Ok(Format::Npz);
        }
        if head.starts_with(PARQUET) {
            return Ok(Format::Parquet);
        }
        if ARROW.iter().any(|magic| head.starts_with(magic)) {
            return Ok(Format::Arrow);
        }
        if head.len() >= MATRIX_MARKET.len()
            && head[..MATRIX_MARKET.len()].eq_ignore_ascii_case(MATRIX_MARKET)
        {
            return Ok(Format::MatrixMarket);
        }
        match OTHERS.iter().find(|(magic, ..)| head.starts_with(magic)) {
            Some((_, what, advice)) => {
                Err(DataError::file(source.path(), format!("this is {what}"), *advice))
            }
            None => Ok(Format::Csv),
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Format::Npy => "NPY",
            Format::Npz => "NPZ",
            Format::Csv => "CSV",
            Format::MatrixMarket => "Matrix Market",
            Format::Parquet => "Parquet",
            Format::Arrow => "Arrow",
        })
    }
}

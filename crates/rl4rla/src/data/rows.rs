//! Reading a file in blocks of rows.

use super::csv::Csv;
use super::error::shown;
use super::held::HeldMatrix;
use super::market::Market;
use super::npy::Npy;
use super::npz::Npz;
use super::source::{ByteSource, Input};
use super::sparse::HeldSparse;
use super::{Columnar, DataError, Format, Reading};
use crate::linalg::Sparse;
use std::path::Path;

/// A file read in blocks of rows, in constant memory.
///
/// Matrix Market files, and gzipped NPY files in Fortran order, do not store their rows contiguously: they are held
/// in memory, if the limit allows it; those that are mostly zeros without them.
pub struct Rows {
    pub(super) body: Body,
    format: Format,
}

pub(super) enum Body {
    Npy(Npy),
    Csv(Csv),
    Columnar(Box<Columnar>),
    Held(HeldMatrix),
    Sparse(HeldSparse),
}

impl Body {
    fn array(mut npy: Npy, reading: &Reading) -> Result<Body, DataError> {
        Ok(match npy.whole_only() {
            true => Body::Held(HeldMatrix::new(npy.rows(), npy.cols(), npy.whole(reading)?)),
            false => Body::Npy(npy),
        })
    }
}

/// What is known of a file before it is read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FileProbe {
    /// Its format.
    pub format: Format,
    /// Number of rows including those with missing values; unknown for gzipped CSV.
    pub rows: Option<usize>,
    /// Number of columns.
    pub cols: usize,
    /// The names of the columns, if the file has them.
    pub names: Option<Vec<String>>,
    /// Memory of the matrix in bytes, if the number of rows is known; of one that stays sparse, without its zeros.
    pub bytes: Option<u64>,
}

/// Opens a file to read it in blocks of rows.
pub fn open(path: &Path, reading: &Reading) -> Result<Rows, DataError> {
    Rows::start(ByteSource::open(path)?, reading, false)
}

/// Opens a source of bytes other than a file; `name` is used in messages.
pub fn open_from(name: &Path, input: impl Input + 'static, reading: &Reading) -> Result<Rows, DataError> {
    Rows::start(ByteSource::new(name, Box::new(input))?, reading, false)
}

/// The size of the matrix in a file. Only the lines of an uncompressed CSV file are counted; no other file is read
/// through.
pub fn probe(path: &Path, reading: &Reading) -> Result<FileProbe, DataError> {
    let mut source = ByteSource::open(path)?;
    let format = recognized(&mut source, reading)?;
    let mut stored = None;
    let (rows, cols, names) = match format {
        Format::Npz => {
            let npz = Npz::open(source, reading)?;
            stored = npz.stored(reading);
            (Some(npz.rows()), npz.cols(), None)
        }
        Format::Npy => {
            let npy = Npy::open(source)?;
            (Some(npy.rows()), npy.cols(), None)
        }
        Format::MatrixMarket => {
            let market = Market::open(source, reading)?;
            stored = market.stays_sparse(reading).then(|| market.stored());
            (Some(market.rows()), market.cols(), None)
        }
        Format::Csv => {
            let csv = Csv::open(source, reading, true)?;
            (csv.most_rows(), csv.cols(), csv.names().map(<[String]>::to_vec))
        }
        Format::Parquet | Format::Arrow => {
            let table = Columnar::open(source, format, reading)?;
            (Some(table.most_rows()), table.cols(), Some(table.names().to_vec()))
        }
    };
    let bytes = rows.map(|rows| match stored {
        Some(stored) => Sparse::bytes_of(rows, stored),
        None => (rows as u64).saturating_mul(cols as u64).saturating_mul(8),
    });
    Ok(FileProbe { format, rows, cols, names, bytes })
}

/// The format of a file, if the options apply to it.
fn recognized(source: &mut ByteSource, reading: &Reading) -> Result<Format, DataError> {
    reading.check(source.path())?;
    let format = Format::of(source)?;
    match &reading.member {
        Some(name) if format != Format::Npz => {
            let message =
                format!("this is a file in {format} format, which has no array {}", shown(name.as_bytes()));
            Err(DataError::file(
                source.path(),
                message,
                "omit --member, which chooses an array of an NPZ file",
            ))
        }
        _ => Ok(format),
    }
}

impl Rows {
    /// Reads up to the first row; counts the rows of an uncompressed CSV file first if asked to.
    pub(super) fn start(mut source: ByteSource, reading: &Reading, count: bool) -> Result<Rows, DataError> {
        let format = recognized(&mut source, reading)?;
        let body = match format {
            Format::Npz => match Npz::open(source, reading)? {
                Npz::Array(npy) => Body::array(npy, reading)?,
                Npz::Sparse(parts) => parts.body(reading)?,
            },
            Format::Csv => Body::Csv(Csv::open(source, reading, count)?),
            Format::Parquet | Format::Arrow => {
                Body::Columnar(Box::new(Columnar::open(source, format, reading)?))
            }
            Format::MatrixMarket => Market::open(source, reading)?.body(reading)?,
            Format::Npy => Body::array(Npy::open(source)?, reading)?,
        };
        Ok(Rows { body, format })
    }

    /// The format of the file.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Number of columns.
    pub fn cols(&self) -> usize {
        match &self.body {
            Body::Npy(npy) => npy.cols(),
            Body::Csv(csv) => csv.cols(),
            Body::Columnar(table) => table.cols(),
            Body::Held(held) => held.cols(),
            Body::Sparse(held) => held.sparse.cols(),
        }
    }

    /// The names of the columns, if the file has them.
    pub fn names(&self) -> Option<&[String]> {
        match &self.body {
            Body::Csv(csv) => csv.names(),
            Body::Columnar(table) => Some(table.names()),
            Body::Npy(_) | Body::Held(_) | Body::Sparse(_) => None,
        }
    }

    /// Number of rows, if it is known before the file is read.
    pub fn rows(&self) -> Option<usize> {
        match &self.body {
            Body::Npy(npy) => Some(npy.rows()),
            Body::Csv(csv) => csv.rows(),
            Body::Columnar(table) => table.rows(),
            Body::Held(held) => Some(held.rows()),
            Body::Sparse(held) => Some(held.sparse.rows()),
        }
    }

    /// Appends up to `most` rows and returns their number; 0 at the end.
    pub fn next(&mut self, most: usize, into: &mut Vec<f64>) -> Result<usize, DataError> {
        match &mut self.body {
            Body::Npy(npy) => npy.next(most, into),
            Body::Csv(csv) => csv.next(most, into),
            Body::Columnar(table) => table.next(most, into),
            Body::Held(held) => Ok(held.next(most, into)),
            Body::Sparse(held) => Ok(held.next(most, into)),
        }
    }

    /// Number of rows dropped so far because of missing values.
    pub fn dropped(&self) -> usize {
        match &self.body {
            Body::Csv(csv) => csv.dropped(),
            Body::Columnar(table) => table.dropped(),
            Body::Npy(_) | Body::Held(_) | Body::Sparse(_) => 0,
        }
    }
}

//! Reading a file in blocks of rows.

use super::csv::Csv;
use super::held::HeldMatrix;
use super::market::Market;
use super::npy::Npy;
use super::source::{ByteSource, Input};
use super::{DataError, Format, Reading};
use std::path::Path;

/// A file read in blocks of rows, in constant memory.
///
/// Matrix Market files, and gzipped NPY files in Fortran order, do not store their rows contiguously: they are held
/// in memory, if the limit allows it.
pub struct Rows {
    pub(super) body: Body,
    format: Format,
}

pub(super) enum Body {
    Npy(Npy),
    Csv(Csv),
    Held(HeldMatrix),
}

/// What is known of a file before it is read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FileProbe {
    /// Its format.
    pub format: Format,
    /// Number of rows; for CSV including those with missing values, and unknown if the file is gzipped.
    pub rows: Option<usize>,
    /// Number of columns.
    pub cols: usize,
    /// The names of the columns, if the file has them.
    pub names: Option<Vec<String>>,
    /// Memory of the matrix in bytes, if the number of rows is known.
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
    reading.check(path)?;
    let mut source = ByteSource::open(path)?;
    let format = Format::of(&mut source)?;
    let (rows, cols, names) = match format {
        Format::Npy => {
            let npy = Npy::open(source)?;
            (Some(npy.rows()), npy.cols(), None)
        }
        Format::MatrixMarket => {
            let market = Market::open(source, reading)?;
            (Some(market.rows()), market.cols(), None)
        }
        Format::Csv => {
            let csv = Csv::open(source, reading, true)?;
            (csv.most_rows(), csv.cols(), csv.names().map(<[String]>::to_vec))
        }
    };
    let bytes = rows.map(|rows| (rows as u64).saturating_mul(cols as u64).saturating_mul(8));
    Ok(FileProbe { format, rows, cols, names, bytes })
}

impl Rows {
    /// Reads up to the first row; counts the rows of an uncompressed CSV file first if asked to.
    pub(super) fn start(mut source: ByteSource, reading: &Reading, count: bool) -> Result<Rows, DataError> {
        reading.check(source.path())?;
        let format = Format::of(&mut source)?;
        let body = match format {
            Format::Csv => Body::Csv(Csv::open(source, reading, count)?),
            Format::MatrixMarket => Body::Held(Market::open(source, reading)?.whole(reading)?),
            Format::Npy => match Npy::open(source)? {
                mut npy if npy.whole_only() => {
                    Body::Held(HeldMatrix::new(npy.rows(), npy.cols(), npy.whole(reading)?))
                }
                npy => Body::Npy(npy),
            },
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
            Body::Held(held) => held.cols(),
        }
    }

    /// The names of the columns, if the file has them.
    pub fn names(&self) -> Option<&[String]> {
        match &self.body {
            Body::Csv(csv) => csv.names(),
            Body::Npy(_) | Body::Held(_) => None,
        }
    }

    /// Number of rows, if it is known before the file is read.
    pub fn rows(&self) -> Option<usize> {
        match &self.body {
            Body::Npy(npy) => Some(npy.rows()),
            Body::Csv(csv) => csv.rows(),
            Body::Held(held) => Some(held.rows()),
        }
    }

    /// Appends up to `most` rows and returns their number; 0 at the end.
    pub fn next(&mut self, most: usize, into: &mut Vec<f64>) -> Result<usize, DataError> {
        match &mut self.body {
            Body::Npy(npy) => npy.next(most, into),
            Body::Csv(csv) => csv.next(most, into),
            Body::Held(held) => Ok(held.next(most, into)),
        }
    }

    /// Number of rows dropped so far because of missing values.
    pub fn dropped(&self) -> usize {
        match &self.body {
            Body::Csv(csv) => csv.dropped(),
            Body::Npy(_) | Body::Held(_) => 0,
        }
    }
}

//! A file read some rows at a time.

use super::csv::Csv;
use super::held::HeldMatrix;
use super::market::Market;
use super::npy::Npy;
use super::source::{ByteSource, Input};
use super::{DataError, Format, Reading};
use std::path::Path;

/// A file read some rows at a time, in memory that does not grow with it.
///
/// Matrix Market files, and gzipped NPY files in Fortran order, do not have their rows one after the other: they are held
/// whole, if the limit allows.
pub struct Rows {
    pub(super) body: Body,
    format: Format,
}

pub(super) enum Body {
    Npy(Npy),
    Csv(Csv),
    Held(HeldMatrix),
}

/// What can be told of a file before it is read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FileProbe {
    /// Its format.
    pub format: Format,
    /// Rows of the matrix; of CSV, counted in a plain file and not known in a gzipped one, missing values or not.
    pub rows: Option<usize>,
    /// Columns of the matrix.
    pub cols: usize,
    /// The names of the columns, where the file has them.
    pub names: Option<Vec<String>>,
    /// Bytes that the matrix takes in memory, as far as rows are known.
    pub bytes: Option<u64>,
}

/// Opens a file to read it some rows at a time.
pub fn open(path: &Path, reading: &Reading) -> Result<Rows, DataError> {
    Rows::start(ByteSource::open(path)?, reading, false)
}

/// Opens bytes that need not be a file's; `name` is what messages call them.
pub fn open_from(name: &Path, input: impl Input + 'static, reading: &Reading) -> Result<Rows, DataError> {
    Rows::start(ByteSource::new(name, Box::new(input))?, reading, false)
}

/// Tells the size of the matrix in a file. Of a plain CSV file the lines are counted; nothing else is read through.
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
    /// Reads up to the first row; of a plain CSV file, counts the rows before if asked to.
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

    /// Columns of the matrix.
    pub fn cols(&self) -> usize {
        match &self.body {
            Body::Npy(npy) => npy.cols(),
            Body::Csv(csv) => csv.cols(),
            Body::Held(held) => held.cols(),
        }
    }

    /// The names of the columns, where the file has them.
    pub fn names(&self) -> Option<&[String]> {
        match &self.body {
            Body::Csv(csv) => csv.names(),
            Body::Npy(_) | Body::Held(_) => None,
        }
    }

    /// Rows of the matrix, if the file tells before it is read.
    pub fn rows(&self) -> Option<usize> {
        match &self.body {
            Body::Npy(npy) => Some(npy.rows()),
            Body::Csv(csv) => csv.rows(),
            Body::Held(held) => Some(held.rows()),
        }
    }

    /// Appends up to `most` rows; 0 at the end.
    pub fn next(&mut self, most: usize, into: &mut Vec<f64>) -> Result<usize, DataError> {
        match &mut self.body {
            Body::Npy(npy) => npy.next(most, into),
            Body::Csv(csv) => csv.next(most, into),
            Body::Held(held) => Ok(held.next(most, into)),
        }
    }

    /// Rows left out so far for missing values.
    pub fn dropped(&self) -> usize {
        match &self.body {
            Body::Csv(csv) => csv.dropped(),
            Body::Npy(_) | Body::Held(_) => 0,
        }
    }
}

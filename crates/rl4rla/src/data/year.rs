//! YearPredictionMSD, the paper's real data: the year of a song from 90 timbre features.
//!
//! The file of the UCI repository has 515,345 lines `year,f₁,…,f₉₀`. In its authors' split the first 463,715 are for
//! training and the rest for testing, so that no artist is in both.

use super::{DataError, FilePosition};
use crate::linalg::Matrix;
use crate::rng::Stream;
use rand::RngExt;
use rayon::prelude::*;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

/// The fraction of the variance of the years that the features of the stand-in explain, approximately, by
/// construction: chosen after the paper's residual, 1 − 0.869² = 0.245.
pub const STAND_IN_EXPLAINS: f64 = 0.25;

/// Number of features per line.
pub const FEATURES: usize = 90;
/// Rows of the official training part.
pub const TRAIN_ROWS: usize = 463_715;
/// Rows of the official test part.
pub const TEST_ROWS: usize = 51_630;

/// Maximum length of a line in bytes. A line has about 900; a much longer one belongs to another file and is not read
/// to its end.
const LONGEST: usize = 8192;
/// The earliest and the latest year of the data.
const YEARS: [f64; 2] = [1922.0, 2011.0];

const SOURCE: &str = "YearPredictionMSD.txt from the UCI Machine Learning Repository, dataset 203, unpacked";

/// One part of the data.
#[derive(Clone, PartialEq, Debug)]
pub struct Split {
    /// The features, one row per song.
    pub features: Matrix,
    /// The years of the songs.
    pub years: Vec<f64>,
}

/// The data with their split.
#[derive(Clone, PartialEq, Debug)]
pub struct Year {
    /// The training part.
    pub train: Split,
    /// The test part.
    pub test: Split,
    /// Whether the data were generated, not read.
    pub stand_in: bool,
}

impl Year {
    /// Reads the file with its official split; an error unless it has the shape of the data: 515,345 rows, 90
    /// features, years from 1922 to 2011.
    pub fn read(path: &Path) -> Result<Year, DataError> {
        let data = Year::read_split(path, TRAIN_ROWS, TEST_ROWS)?;
        let mut years = Range::default();
        data.train.years.iter().chain(&data.test.years).for_each(|year| years.add(*year));
        years.check(path)?;
        Ok(data)
    }

    /// Checks that a file has that shape by reading it to its end, so that hours of work are not lost to a bad file.
    pub fn check(path: &Path) -> Result<(), DataError> {
        Year::check_rows(path, TRAIN_ROWS + TEST_ROWS)
    }

    fn check_rows(path: &Path, rows: usize) -> Result<(), DataError> {
        let (mut lines, mut entries, mut years) = (Lines::open(path)?, Vec::new(), Range::default());
        for found in 0..rows {
            entries.clear();
            years.add(lines.song(&mut entries)?.ok_or_else(|| lines.short(rows, found))?);
        }
        lines.end(rows)?;
        years.check(path)
    }

    /// Reads a file of the same form with another split.
    pub fn read_split(path: &Path, train: usize, test: usize) -> Result<Year, DataError> {
        let (mut lines, all) = (Lines::open(path)?, train + test);
        let train = lines.split(train, 0, all)?;
        let test = lines.split(test, train.years.len(), all)?;
        lines.end(all)?;
        Ok(Year { train, test, stand_in: false })
    }

    /// Synthetic data of the same form for use without the file: 12 averages and 78 covariances with heavy tails,
    /// very different scales and uneven leverage, and years of which the features explain about a quarter of the
    /// variance, by construction.
    pub fn stand_in(train: usize, test: usize, stream: &Stream) -> Year {
        let scales: Vec<f64> =
            stream.derive("scales", 0).normals(FEATURES).iter().map(|z| 30.0 * (1.2 * z).exp()).collect();
        let weights = stream.derive("weights", 0).normals(FEATURES);
        let length = weights.iter().map(|w| w * w).sum::<f64>().sqrt();
        let part = |label: &str, rows: usize| {
            let mut entries = vec![0.0; rows * FEATURES];
            let songs = stream.derive(label, 0);
            let years: Vec<f64> = entries
                .par_chunks_mut(FEATURES)
                .enumerate()
                .map(|(i, row)| song(&songs.derive("song", i as u64), row, &weights, length, &scales))
                .collect();
            Split { features: Matrix::from_row_major(rows, FEATURES, entries), years }
        };
        Year { train: part("train", train), test: part("test", test), stand_in: true }
    }

    /// Features and years minus their means over the training part, the features divided by their standard deviations
    /// there; a constant feature becomes 0.
    #[must_use]
    pub fn standardised(self) -> Year {
        let (means, deviations) = moments(&self.train.features);
        let middle = self.train.years.iter().sum::<f64>() / self.train.years.len().max(1) as f64;
        let apply = |split: Split| {
            let (rows, cols) = (split.features.rows(), split.features.cols());
            let mut entries = split.features.row_major().to_vec();
            entries.par_chunks_mut(cols.max(1)).for_each(|row| {
                for (value, (mean, deviation)) in row.iter_mut().zip(means.iter().zip(&deviations)) {
                    *value = if *deviation > 0.0 { (*value - mean) / deviation } else { 0.0 };
                }
            });
            let years = split.years.iter().map(|year| year - middle).collect();
            Split { features: Matrix::from_row_major(rows, cols, entries), years }
        };
        Year { train: apply(self.train), test: apply(self.test), stand_in: self.stand_in }
    }
}

/// Writes the features of a song to `row` and returns its year.
fn song(stream: &Stream, row: &mut [f64], weights: &[f64], length: f64, scales: &[f64]) -> f64 {
    let mut rng = stream.rng();
    let z = stream.derive("normals", 0).normals(FEATURES + 2);
    // Loud songs are loud in all features, which makes leverage uneven.
    let loudness = (0.5 * z[FEATURES]).exp();
    let mut signal = 0.0;
    let mut before = 0.0;
    for j in 0..FEATURES {
        // Adjacent features are correlated.
        before = 0.6 * before + 0.8 * z[j];
        signal += weights[j] * before / length;
        // The averages have nonzero means; the covariances have mean 0.
        let middle = if j < 12 { scales[j] * weights[j] } else { 0.0 };
        row[j] = middle + scales[j] * loudness * before;
    }
    // Most songs are recent, a few much older.
    let late = -rng.random::<f64>().max(1e-300).ln();
    let year = 2008.0 + 6.3 * signal - 8.0 * late + 2.0 * z[FEATURES + 1];
    year.round().clamp(1922.0, 2011.0)
}

/// Mean and standard deviation of every column.
fn moments(matrix: &Matrix) -> (Vec<f64>, Vec<f64>) {
    let (rows, cols) = (matrix.rows(), matrix.cols());
    let count = rows.max(1) as f64;
    let mut means = vec![0.0; cols];
    for row in matrix.row_major().chunks(cols.max(1)) {
        means.iter_mut().zip(row).for_each(|(sum, value)| *sum += value / count);
    }
    let mut squares = vec![0.0; cols];
    for row in matrix.row_major().chunks(cols.max(1)) {
        let deviations = row.iter().zip(&means).map(|(value, mean)| (value - mean).powi(2) / count);
        squares.iter_mut().zip(deviations).for_each(|(sum, square)| *sum += square);
    }
    (means, squares.into_iter().map(f64::sqrt).collect())
}

/// The earliest and the latest year.
#[derive(Default)]
struct Range(Option<[f64; 2]>);

impl Range {
    fn add(&mut self, year: f64) {
        let [least, most] = self.0.unwrap_or([year, year]);
        self.0 = Some([least.min(year), most.max(year)]);
    }

    /// An error unless these are the years of the data.
    fn check(&self, path: &Path) -> Result<(), DataError> {
        let (Some([least, most]), [first, last]) = (self.0, YEARS) else { return Ok(()) };
        if [least, most] == YEARS {
            return Ok(());
        }
        let message = format!("expected years from {first} to {last}, found {least} to {most}");
        Err(DataError::file(path, message, SOURCE))
    }
}

/// A file read line by line.
struct Lines<'a> {
    path: &'a Path,
    reader: BufReader<File>,
    /// The number of the current line, from 1.
    number: usize,
    text: Vec<u8>,
}

impl<'a> Lines<'a> {
    fn open(path: &'a Path) -> Result<Lines<'a>, DataError> {
        let file = File::open(path).map_err(|error| DataError::file(path, error.to_string(), SOURCE))?;
        Ok(Lines { path, reader: BufReader::with_capacity(1 << 20, file), number: 0, text: Vec::new() })
    }

    /// Moves to the next nonempty line; returns false at the end.
    fn next(&mut self) -> Result<bool, DataError> {
        loop {
            self.text.clear();
            let mut bounded = self.reader.by_ref().take(LONGEST as u64);
            let read = bounded.read_until(b'\n', &mut self.text);
            let count = read.map_err(|error| DataError::file(self.path, error.to_string(), SOURCE))?;
            if count == 0 {
                return Ok(false);
            }
            self.number += 1;
            if count == LONGEST && self.text.last() != Some(&b'\n') {
                return Err(self.wrong(None, format!("more than {LONGEST} bytes in one line")));
            }
            while self.text.last().is_some_and(u8::is_ascii_whitespace) {
                self.text.pop();
            }
            if !self.text.is_empty() {
                return Ok(true);
            }
        }
    }

    /// The next `rows` lines, after `before` others, of a file that should have `all`.
    fn split(&mut self, rows: usize, before: usize, all: usize) -> Result<Split, DataError> {
        let (mut entries, mut years) = (Vec::new(), Vec::new());
        for found in 0..rows {
            years.push(self.song(&mut entries)?.ok_or_else(|| self.short(all, before + found))?);
        }
        Ok(Split { features: Matrix::from_row_major(rows, FEATURES, entries), years })
    }

    /// The year of the next line, with its features appended to `entries`; `None` at the end.
    fn song(&mut self, entries: &mut Vec<f64>) -> Result<Option<f64>, DataError> {
        if !self.next()? {
            return Ok(None);
        }
        let (mut fields, mut song) = (0, None);
        for field in self.text.split(|&byte| byte == b',') {
            let number = std::str::from_utf8(field).ok().and_then(|text| text.trim().parse::<f64>().ok());
            let shown = || String::from_utf8_lossy(&field[..field.len().min(40)]).into_owned();
            fields += 1;
            match number.filter(|number| number.is_finite()) {
                None => {
                    return Err(self.wrong(Some(fields), format!("expected a number, found `{}`", shown())));
                }
                Some(year) if fields == 1 => {
                    let [least, most] = YEARS;
                    if !(least..=most).contains(&year) || year.fract() != 0.0 {
                        let message = format!("expected a year from {least} to {most}, found `{}`", shown());
                        return Err(self.wrong(Some(1), message));
                    }
                    song = Some(year);
                }
                Some(value) => entries.push(value),
            }
        }
        if fields != FEATURES + 1 {
            let message = format!("expected a year and {FEATURES} numbers, found {fields} fields");
            return Err(self.wrong(None, message));
        }
        Ok(song)
    }

    /// The error for a file that ends too early.
    fn short(&self, expected: usize, found: usize) -> DataError {
        self.wrong(None, format!("expected {expected} rows, found {found}: the file ends here"))
    }

    /// An error if anything follows the last of the expected rows.
    fn end(&mut self, expected: usize) -> Result<(), DataError> {
        if !self.next()? {
            return Ok(());
        }
        let (line, mut found) = (self.number, expected + 1);
        while self.next()? {
            found += 1;
        }
        let message = format!("expected {expected} rows, found {found}: here is the first one too many");
        Err(DataError::at(self.path, FilePosition::Line(line), message, SOURCE))
    }

    fn wrong(&self, column: Option<usize>, message: String) -> DataError {
        let line = self.number;
        let place =
            column.map_or(FilePosition::Line(line), |column| FilePosition::Cell { line, column, name: None });
        DataError::at(self.path, place, message, SOURCE)
    }
}

#[cfg(test)]
mod tests;

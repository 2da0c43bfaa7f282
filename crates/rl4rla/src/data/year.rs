//! YearPredictionMSD, the paper's real data: the year of a song from 90 numbers about its timbre.
//!
//! The file of the UCI repository has 515,345 lines `year,f₁,…,f₉₀`. By its authors' split the first 463,715 are for
//! training and the rest for testing, so that no artist is in both.

use super::{DataError, Place};
use crate::linalg::Matrix;
use crate::rng::Stream;
use rand::RngExt;
use rayon::prelude::*;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

/// Numbers in a line besides the year.
pub const FEATURES: usize = 90;
/// Lines of the official training part.
pub const TRAIN_ROWS: usize = 463_715;
/// Lines of the official test part.
pub const TEST_ROWS: usize = 51_630;

/// A line is about 900 bytes; one much longer belongs to another file, and is not read to its end.
const LONGEST: usize = 8192;
/// Years that a song can have.
const YEARS: std::ops::RangeInclusive<f64> = 1000.0..=3000.0;

const SOURCE: &str = "YearPredictionMSD.txt from the UCI Machine Learning Repository, dataset 203, unpacked";

/// One part of the data.
#[derive(Clone, PartialEq, Debug)]
pub struct Split {
    /// A row for every song.
    pub features: Matrix,
    /// Its year.
    pub years: Vec<f64>,
}

/// The data in both parts.
#[derive(Clone, PartialEq, Debug)]
pub struct Year {
    /// For fitting.
    pub train: Split,
    /// For looking at what was fitted.
    pub test: Split,
    /// Whether it was generated: no song behind it.
    pub stand_in: bool,
}

impl Year {
    /// Reads the file with its official split.
    pub fn read(path: &Path) -> Result<Year, DataError> {
        Year::read_split(path, TRAIN_ROWS, TEST_ROWS)
    }

    /// Whether a file begins as it should: its first line alone, so that hours of work need not end with a bad file.
    pub fn probe(path: &Path) -> Result<(), DataError> {
        Lines::open(path)?.split(1).map(drop)
    }

    /// Reads a file of the same form with another split.
    pub fn read_split(path: &Path, train: usize, test: usize) -> Result<Year, DataError> {
        let mut lines = Lines::open(path)?;
        let train = lines.split(train)?;
        let test = lines.split(test)?;
        match lines.next()? {
            false => Ok(Year { train, test, stand_in: false }),
            true => {
                let rows = train.years.len() + test.years.len();
                Err(DataError::at(
                    path,
                    Place::Line(lines.number),
                    format!("there are more than {rows} lines"),
                    SOURCE,
                ))
            }
        }
    }

    /// Something of the same form where the file is not at hand: 12 averages and 78 covariances with heavy tails, very
    /// different scales and uneven leverage, and years of which the features explain about a quarter, as in the data.
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

    /// Features and years less their means over the training part, the features divided by their standard deviations
    /// there; a feature that does not vary becomes 0.
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

/// Fills in the features of a song and tells its year.
fn song(stream: &Stream, row: &mut [f64], weights: &[f64], length: f64, scales: &[f64]) -> f64 {
    let mut rng = stream.rng();
    let z = stream.derive("normals", 0).normals(FEATURES + 2);
    // Loud songs are loud in all features: this is what makes leverage uneven.
    let loudness = (0.5 * z[FEATURES]).exp();
    let mut signal = 0.0;
    let mut before = 0.0;
    for j in 0..FEATURES {
        // Neighbouring features go together.
        before = 0.6 * before + 0.8 * z[j];
        signal += weights[j] * before / length;
        // The averages have a middle of their own; covariances vary about 0.
        let middle = if j < 12 { scales[j] * weights[j] } else { 0.0 };
        row[j] = middle + scales[j] * loudness * before;
    }
    // Most songs are of the last years, a few much older.
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

/// A file, line by line.
struct Lines<'a> {
    path: &'a Path,
    reader: BufReader<File>,
    /// Of the line at hand, from 1 on.
    number: usize,
    text: Vec<u8>,
}

impl<'a> Lines<'a> {
    fn open(path: &'a Path) -> Result<Lines<'a>, DataError> {
        let file = File::open(path).map_err(|error| DataError::file(path, error.to_string(), SOURCE))?;
        Ok(Lines { path, reader: BufReader::with_capacity(1 << 20, file), number: 0, text: Vec::new() })
    }

    /// Goes to the next line that is not empty; says no at the end.
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

    /// The next `rows` lines.
    fn split(&mut self, rows: usize) -> Result<Split, DataError> {
        let (mut entries, mut years) = (Vec::new(), Vec::new());
        for _ in 0..rows {
            if !self.next()? {
                let message = format!("the file ends here, {} of {rows} lines into this part", years.len());
                return Err(self.wrong(None, message));
            }
            let mut fields = 0;
            for field in self.text.split(|&byte| byte == b',') {
                let number = std::str::from_utf8(field).ok().and_then(|text| text.trim().parse::<f64>().ok());
                let number = number.filter(|number| number.is_finite());
                let shown = || String::from_utf8_lossy(&field[..field.len().min(40)]).into_owned();
                fields += 1;
                match number {
                    None => {
                        return Err(
                            self.wrong(Some(fields), format!("expected a number, found `{}`", shown()))
                        );
                    }
                    Some(year) if fields == 1 && !YEARS.contains(&year) => {
                        return Err(self.wrong(Some(1), format!("expected a year, found `{}`", shown())));
                    }
                    Some(year) if fields == 1 => years.push(year),
                    Some(value) => entries.push(value),
                }
            }
            if fields != FEATURES + 1 {
                let message = format!("expected a year and {FEATURES} numbers, found {fields} fields");
                return Err(self.wrong(None, message));
            }
        }
        Ok(Split { features: Matrix::from_row_major(rows, FEATURES, entries), years })
    }

    fn wrong(&self, column: Option<usize>, message: String) -> DataError {
        let line = self.number;
        let place = column.map_or(Place::Line(line), |column| Place::Cell { line, column, name: None });
        DataError::at(self.path, place, message, SOURCE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg;
    use std::fs;
    use std::path::PathBuf;

    /// A file that is gone when the test is.
    struct Text(PathBuf);

    impl Text {
        fn new(name: &str, text: &str) -> Text {
            let path = std::env::temp_dir().join(format!("rl4rla-year-{}-{name}", std::process::id()));
            fs::write(&path, text).unwrap();
            Text(path)
        }
    }

    impl Drop for Text {
        fn drop(&mut self) {
            let _ = fs::remove_file(&self.0);
        }
    }

    fn line(year: &str, value: f64) -> String {
        let fields: Vec<String> = (0..FEATURES).map(|j| format!("{:.5}", value + j as f64)).collect();
        format!("{year},{}", fields.join(","))
    }

    fn message(name: &str, text: &str) -> String {
        let file = Text::new(name, text);
        let error = Year::read_split(&file.0, 2, 1).unwrap_err();
        assert!(error.advice.contains("UCI"));
        error.to_string().strip_prefix(file.0.to_str().unwrap()).unwrap().to_string()
    }

    #[test]
    fn lines_become_rows_and_parts() {
        let lines = [line("2001", 1.0), line("1999", -2.5), line("1922", 0.0)];
        for text in [lines.join("\n"), lines.join("\r\n") + "\r\n\n"] {
            let file = Text::new("good", &text);
            let data = Year::read_split(&file.0, 2, 1).unwrap();
            assert_eq!((data.train.years, data.test.years), (vec![2001.0, 1999.0], vec![1922.0]));
            assert_eq!((data.train.features.rows(), data.train.features.cols()), (2, FEATURES));
            assert_eq!((data.train.features.get(1, 0), data.train.features.get(1, 89)), (-2.5, 86.5));
            assert!(!data.stand_in);
        }
    }

    #[test]
    fn bad_files_are_told_by_line_and_field() {
        let good = line("2001", 1.0);
        let with = |line: &str| format!("{good}\n{line}\n{good}\n");
        assert_eq!(
            message("word", &with(&good.replacen("1.00000", "one", 1))),
            ", line 2, column 2: expected a number, found `one`"
        );
        assert_eq!(
            message("nan", &with(&good.replacen("1.00000", "NaN", 1))),
            ", line 2, column 2: expected a number, found `NaN`"
        );
        assert_eq!(
            message("year", &with(&good.replacen("2001", "42", 1))),
            ", line 2, column 1: expected a year, found `42`"
        );
        assert_eq!(
            message("short", &with("2001,1,2")),
            ", line 2: expected a year and 90 numbers, found 3 fields"
        );
        assert_eq!(message("cut", &good), ", line 1: the file ends here, 1 of 2 lines into this part");
        assert_eq!(
            message("more", &format!("{}\n{good}", with(&good))),
            ", line 5: there are more than 3 lines"
        );
        assert_eq!(message("long", &"7".repeat(3 * LONGEST)), ", line 1: more than 8192 bytes in one line");
        assert_eq!(message("empty", ""), ", line 0: the file ends here, 0 of 2 lines into this part");
        let missing = Year::read(Path::new("no-such-file")).unwrap_err();
        assert!(missing.to_string().starts_with("no-such-file: ") && missing.advice.contains("dataset 203"));
    }

    #[test]
    fn standardised_features_have_mean_0_and_deviation_1() {
        let data = Year::stand_in(2000, 100, &Stream::new(1)).standardised();
        let (means, deviations) = moments(&data.train.features);
        assert!(means.iter().all(|mean| mean.abs() < 1e-12));
        assert!(deviations.iter().all(|deviation| (deviation - 1.0).abs() < 1e-12));
        assert!(data.train.years.iter().sum::<f64>().abs() < 1e-6);
        let constant = Split { features: Matrix::from_fn(3, 1, |_, _| 5.0), years: vec![1.0, 2.0, 3.0] };
        let data = Year { train: constant.clone(), test: constant, stand_in: false }.standardised();
        assert_eq!(data.test.features.row_major(), [0.0; 3]);
    }

    #[test]
    fn the_stand_in_is_as_hard_to_explain_as_the_data() {
        let data = Year::stand_in(20_000, 10, &Stream::new(0)).standardised();
        let x = linalg::least_squares(&data.train.features, &data.train.years);
        let fitted = linalg::mat_vec(&data.train.features, &x);
        let residual =
            linalg::norm(&linalg::sub(&fitted, &data.train.years)) / linalg::norm(&data.train.years);
        // 0.87 in the paper.
        assert!((0.8..0.92).contains(&residual), "{residual}");
        let again = Year::stand_in(20_000, 10, &Stream::new(0)).standardised();
        assert_eq!(data, again);
    }
}

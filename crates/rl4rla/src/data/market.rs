//! Matrix Market: `array` files, column by column, and `coordinate` files, entry by entry.
//!
//! Both become dense matrices, but coordinate files that are mostly zeros stay sparse. Duplicate entries of a coordinate file are added up, as the format specifies.

use super::csv::number;
use super::error::{DataError, FilePosition, grouped, shown, size};
use super::held::HeldMatrix;
use super::lines::Lines;
use super::reading::reserve;
use super::rows::Body;
use super::sparse::stays_sparse;
use super::{ByteSource, Reading};
use crate::linalg::Sparse;

/// How the entries are listed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Layout {
    Array,
    Coordinate,
}

/// The type of the entries.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Field {
    Real,
    Integer,
    /// No values: an entry that is listed is 1.
    Pattern,
}

/// The symmetry of the matrix: which entries are implied by others.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Symmetry {
    General,
    Symmetric,
    Skew,
}

const LAYOUTS: [(&str, Layout); 2] = [("array", Layout::Array), ("coordinate", Layout::Coordinate)];
const FIELDS: [(&str, Field); 3] =
    [("real", Field::Real), ("integer", Field::Integer), ("pattern", Field::Pattern)];
const SYMMETRIES: [(&str, Symmetry); 3] =
    [("general", Symmetry::General), ("symmetric", Symmetry::Symmetric), ("skew-symmetric", Symmetry::Skew)];

const EXAMPLE: &str = "a first line such as `%%MatrixMarket matrix coordinate real general`";

/// A file whose header has been read.
pub(super) struct Market {
    lines: Lines,
    layout: Layout,
    field: Field,
    symmetry: Symmetry,
    rows: usize,
    cols: usize,
    /// Number of entries that the file lists.
    listed: u64,
}

impl Market {
    /// Reads up to the line with the sizes; an error if the file is too small for them.
    pub fn open(source: ByteSource, reading: &Reading) -> Result<Market, DataError> {
        let mut lines = Lines::new(source, reading);
        lines.next()?;
        let banner = String::from_utf8_lossy(lines.text()).to_ascii_lowercase();
        let words: Vec<&str> = banner.split_ascii_whitespace().collect();
        let [_, "matrix", layout, field, symmetry] = words[..] else {
            let message = format!(
                "expected five words, the second `matrix`, found {}",
                shown(lines.text().trim_ascii())
            );
            return Err(wrong(&lines, message, EXAMPLE));
        };
        let layout = one_of(&lines, layout, &LAYOUTS, EXAMPLE)?;
        let field = one_of(
            &lines,
            field,
            &FIELDS,
            "numbers must be real: store real and imaginary parts separately",
        )?;
        let symmetry = one_of(&lines, symmetry, &SYMMETRIES, "write the matrix as `general`")?;
        if field == Field::Pattern && (layout == Layout::Array || symmetry == Symmetry::Skew) {
            let message = "a `pattern` has no numbers, so it cannot be `array` or `skew-symmetric`";
            return Err(wrong(&lines, message.into(), EXAMPLE));
        }
        if !next(&mut lines)? {
            return Err(wrong(
                &lines,
                "the file ends before its sizes".into(),
                "a line with rows and columns",
            ));
        }
        let mut market = Market { lines, layout, field, symmetry, rows: 0, cols: 0, listed: 0 };
        market.sizes()?;
        Ok(market)
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Parses the current line, which holds the sizes.
    fn sizes(&mut self) -> Result<(), DataError> {
        let text = self.lines.text().trim_ascii();
        let sizes: Option<Vec<u64>> =
            words(text).map(|word| std::str::from_utf8(word).ok()?.parse().ok()).collect();
        let (rows, cols, listed) = match (self.layout, sizes.as_deref()) {
            (Layout::Array, Some(&[rows, cols])) => (rows, cols, None),
            (Layout::Coordinate, Some(&[rows, cols, listed])) => (rows, cols, Some(listed)),
            (Layout::Array, _) => {
                return Err(self.expected("rows and columns, whole numbers", text));
            }
            (Layout::Coordinate, _) => {
                return Err(self.expected("rows, columns and the number of entries, whole numbers", text));
            }
        };
        let claim = format!("{}×{}", grouped(rows), grouped(cols));
        if rows == 0 || cols == 0 {
            let message = format!("the matrix of {claim} has no entries");
            return Err(wrong(&self.lines, message, "a matrix with at least one row and one column"));
        }
        if self.symmetry != Symmetry::General && rows != cols {
            let message = format!("a matrix of {claim} is not square, so it has no symmetry");
            return Err(wrong(&self.lines, message, "write the matrix as `general`"));
        }
        let below = |n: u64| n.checked_mul(n - 1).map(|twice| twice / 2);
        let all = match self.symmetry {
            Symmetry::General => rows.checked_mul(cols),
            Symmetry::Symmetric => below(rows).and_then(|below| below.checked_add(rows)),
            Symmetry::Skew => below(rows),
        };
        // At least one digit for every number, and a character after it.
        let numbers = match (self.layout, self.field) {
            (Layout::Array, _) => 1,
            (Layout::Coordinate, Field::Pattern) => 2,
            (Layout::Coordinate, _) => 3,
        };
        let bytes = listed.or(all).and_then(|entries| entries.checked_mul(2 * numbers));
        let (rows, cols) = (usize::try_from(rows), usize::try_from(cols));
        let (Ok(rows), Ok(cols), Some(bytes), Some(all)) = (rows, cols, bytes, all) else {
            let message = format!("the sizes claim {claim} entries, more than any memory");
            return Err(wrong(&self.lines, message, "check the sizes"));
        };
        let source = self.lines.source();
        if bytes > source.most().saturating_add(1) {
            let entries = grouped(listed.unwrap_or(all));
            let length = grouped(source.length());
            let packed = if source.packed() { " gzipped" } else { "" };
            let message = format!(
                "the sizes claim a matrix of {claim} with {entries} entries listed, at least {}; the file has {length}{packed} bytes",
                size(bytes)
            );
            return Err(wrong(&self.lines, message, "check the sizes, or copy the file again"));
        }
        (self.rows, self.cols, self.listed) = (rows, cols, listed.unwrap_or(all));
        Ok(())
    }

    /// Number of entries to be stored: those listed and, if the matrix is symmetric, those that follow from them.
    pub fn stored(&self) -> u64 {
        match self.symmetry {
            Symmetry::General => self.listed,
            Symmetry::Symmetric | Symmetry::Skew => self.listed.saturating_mul(2),
        }
    }

    /// Whether the matrix is kept sparse.
    pub fn stays_sparse(&self, reading: &Reading) -> bool {
        self.layout == Layout::Coordinate && stays_sparse(self.rows, self.cols, self.stored(), reading)
    }

    /// Reads all entries, if the memory limit allows it.
    pub fn body(self, reading: &Reading) -> Result<Body, DataError> {
        match self.stays_sparse(reading) {
            true => self.sparse(reading),
            false => self.whole(reading).map(Body::Held),
        }
    }

    /// Reads all entries into a sparse matrix.
    fn sparse(mut self, reading: &Reading) -> Result<Body, DataError> {
        let path = self.lines.source().path().to_path_buf();
        let shape = (self.rows, self.cols);
        let count = reading.afford_sparse(&path, shape, self.stored())?;
        let (mut rows, mut columns, mut values) = (Vec::new(), Vec::new(), Vec::new());
        reserve(&path, &mut rows, count)?;
        reserve(&path, &mut columns, count)?;
        reserve(&path, &mut values, count)?;
        let mut push = |row: usize, col: usize, value: f64| {
            rows.push(row as u32);
            columns.push(col as u32);
            values.push(value);
        };
        self.each(|market, (row, col), value| {
            push(row, col, value);
            match market.symmetry {
                Symmetry::Symmetric if row != col => push(col, row, value),
                Symmetry::Skew => push(col, row, -value),
                _ => {}
            }
            Ok(())
        })?;
        Body::of_sparse(&path, Sparse::from_triples(shape, rows, columns, values), reading)
    }

    /// Reads all entries into a dense matrix, if the memory limit allows it.
    fn whole(mut self, reading: &Reading) -> Result<HeldMatrix, DataError> {
        let path = self.lines.source().path().to_path_buf();
        let count = reading.afford(&path, self.rows, self.cols).map_err(|error| {
            error.advise("save it as NPY or CSV, which are read in blocks of rows, or raise `--max-memory`")
        })?;
        let mut entries = Vec::new();
        reserve(&path, &mut entries, count)?;
        entries.resize(count, 0.0);
        let mut held = HeldMatrix::new(self.rows, self.cols, entries);
        self.each(|market, place, value| market.put(&mut held, place, value))?;
        Ok(held)
    }

    /// Calls `put` with every entry listed; an error if there are fewer or more than claimed.
    fn each(
        &mut self,
        mut put: impl FnMut(&Market, (usize, usize), f64) -> Result<(), DataError>,
    ) -> Result<(), DataError> {
        let mut place = self.first();
        for done in 0..self.listed {
            if !next(&mut self.lines)? {
                let message = format!(
                    "the file ends here, after {} of {} entries",
                    grouped(done),
                    grouped(self.listed)
                );
                return Err(wrong(&self.lines, message, "check the sizes, or copy the file again"));
            }
            match self.layout {
                Layout::Array => {
                    let value = self.value(self.lines.text().trim_ascii())?;
                    put(self, place, value)?;
                    place = self.after(place);
                }
                Layout::Coordinate => {
                    let (place, value) = self.entry()?;
                    put(self, place, value)?;
                }
            }
        }
        match next(&mut self.lines)? {
            false => Ok(()),
            true => {
                let message = format!("there are more than the {} entries claimed", grouped(self.listed));
                Err(wrong(&self.lines, message, "check the sizes"))
            }
        }
    }

    /// The first row and column that an array file lists.
    fn first(&self) -> (usize, usize) {
        (usize::from(self.symmetry == Symmetry::Skew), 0)
    }

    /// The position that an array file lists after this one: down the column, then from the top or the diagonal of
    /// the next.
    fn after(&self, (row, col): (usize, usize)) -> (usize, usize) {
        match (row + 1 < self.rows, self.symmetry) {
            (true, _) => (row + 1, col),
            (false, Symmetry::General) => (0, col + 1),
            (false, Symmetry::Symmetric) => (col + 1, col + 1),
            (false, Symmetry::Skew) => (col + 2, col + 1),
        }
    }

    /// The entry on the current line of a coordinate file.
    fn entry(&self) -> Result<((usize, usize), f64), DataError> {
        let text = self.lines.text().trim_ascii();
        let mut words = words(text);
        let (row, col, value) = (words.next(), words.next(), words.next());
        let complete = value.is_some() == (self.field != Field::Pattern) && words.next().is_none();
        let (Some(row), Some(col), true) = (row, col, complete) else {
            return Err(match self.field {
                Field::Pattern => self.expected("row and column", text),
                _ => self.expected("row, column and value", text),
            });
        };
        let (row, col) = (self.index("row", row, self.rows)?, self.index("column", col, self.cols)?);
        match self.symmetry {
            Symmetry::Symmetric if row < col => Err(self.above("above the diagonal")),
            Symmetry::Skew if row <= col => Err(self.above("on or above the diagonal")),
            _ => Ok(((row, col), value.map_or(Ok(1.0), |value| self.value(value))?)),
        }
    }

    /// A row or column index between 1 and `most`, converted to count from 0.
    fn index(&self, what: &str, word: &[u8], most: usize) -> Result<usize, DataError> {
        let index = std::str::from_utf8(word).ok().and_then(|word| word.parse::<usize>().ok());
        match index {
            Some(index) if (1..=most).contains(&index) => Ok(index - 1),
            _ => Err(self.expected(&format!("a {what} from 1 to {}", grouped(most as u64)), word)),
        }
    }

    fn value(&self, word: &[u8]) -> Result<f64, DataError> {
        match number(word, b'.') {
            Some(value) if value.is_finite() && (self.field != Field::Integer || value.fract() == 0.0) => {
                Ok(value)
            }
            Some(_) if self.field == Field::Integer => Err(self.expected("a whole number", word)),
            Some(_) => Err(self.expected("a finite number", word)),
            None => Err(self.expected("a number", word)),
        }
    }

    /// Adds a value to an entry and to its symmetric counterpart.
    fn put(&self, held: &mut HeldMatrix, (row, col): (usize, usize), value: f64) -> Result<(), DataError> {
        let mut sum = held.add(row, col, value);
        match self.symmetry {
            Symmetry::Symmetric if row != col => sum = held.add(col, row, value),
            Symmetry::Skew => sum = held.add(col, row, -value),
            _ => {}
        }
        match sum.is_finite() {
            true => Ok(()),
            false => {
                let message =
                    format!("the values given for row {}, column {} sum up to infinity", row + 1, col + 1);
                Err(wrong(&self.lines, message, "give every entry once"))
            }
        }
    }

    fn above(&self, place: &str) -> DataError {
        let message = format!("this entry is {place}, where entries follow from those below");
        wrong(&self.lines, message, "list entries below the diagonal only, or write the matrix as `general`")
    }

    fn expected(&self, what: &str, found: &[u8]) -> DataError {
        wrong(&self.lines, format!("expected {what}, found {}", shown(found)), "correct or remove the line")
    }
}

/// Moves to the next line that is neither blank nor a comment; returns false at the end.
fn next(lines: &mut Lines) -> Result<bool, DataError> {
    while lines.next()? {
        let text = lines.text().trim_ascii();
        if !text.is_empty() && text[0] != b'%' {
            return Ok(true);
        }
    }
    Ok(false)
}

fn words(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty())
}

/// The meaning of a word of the first line.
fn one_of<T: Copy>(lines: &Lines, word: &str, table: &[(&str, T)], advice: &str) -> Result<T, DataError> {
    table.iter().find(|(name, _)| *name == word).map(|(_, meaning)| *meaning).ok_or_else(|| {
        let names: Vec<&str> = table.iter().map(|(name, _)| *name).collect();
        let message = format!("expected one of {}, found {}", names.join(", "), shown(word.as_bytes()));
        wrong(lines, message, advice)
    })
}

fn wrong(lines: &Lines, message: String, advice: &str) -> DataError {
    DataError::at(lines.source().path(), FilePosition::Line(lines.number()), message, advice)
}

//! Sparse matrices as SciPy saves them: `format`, `shape`, `data`, and where the entries are.

use super::super::error::{DataError, grouped, shown};
use super::super::npy::Npy;
use super::super::reading::reserve;
use super::super::rows::Body;
use super::super::sparse::stays_sparse;
use super::super::{ByteSource, Reading};
use super::Arrays;
use crate::linalg::Sparse;
use std::io::Read;
use std::path::PathBuf;

/// Entries read at a time.
const BLOCK: usize = 1 << 14;

const ADVICE: &str = "save the matrix again with `scipy.sparse.save_npz(file, A.tocsr())`";

/// How the places of entries are stored.
enum Places {
    /// Rows one after the other: where each begins, and the columns of its entries.
    Rows { starts: Npy, columns: Npy },
    /// The same for columns.
    Columns { starts: Npy, rows: Npy },
    /// Row and column of every entry.
    Both { rows: Npy, columns: Npy },
}

/// A sparse matrix whose size is known.
pub struct SparseParts {
    path: PathBuf,
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub cols: usize,
    places: Places,
    values: Npy,
}

impl SparseParts {
    /// The parts of a sparse matrix, if these arrays are one.
    pub(super) fn open(arrays: &Arrays) -> Option<Result<SparseParts, DataError>> {
        let has = |name| arrays.find(name).is_some();
        (has("format") && has("shape") && has("data")).then(|| SparseParts::of(arrays))
    }

    fn of(arrays: &Arrays) -> Result<SparseParts, DataError> {
        let path = arrays.0.path().to_path_buf();
        let wrong = |message: String| DataError::file(&path, message, ADVICE);
        let part = |name: &str| match arrays.find(name) {
            Some(array) => arrays.read(array),
            None => Err(wrong(format!("the sparse matrix has no array `{name}`"))),
        };
        let format = arrays.find("format").map(|array| arrays.content(array)).transpose()?;
        let format = format.map(word).transpose()?.unwrap_or_default();
        let shape = integers(part("shape")?, 3, u32::MAX as usize)?;
        let [rows, cols] = shape[..] else {
            return Err(wrong(format!("the sparse array has {} dimensions instead of 2", shape.len())));
        };
        if rows == 0 || cols == 0 {
            return Err(wrong(format!("the sparse matrix of {rows}×{cols} has no entries")));
        }
        let places = match &format[..] {
            b"csr" => Places::Rows { starts: part("indptr")?, columns: part("indices")? },
            b"csc" => Places::Columns { starts: part("indptr")?, rows: part("indices")? },
            b"coo" => Places::Both { rows: part("row")?, columns: part("col")? },
            other => {
                let message = format!("the sparse format {} is not read; csr, csc and coo are", shown(other));
                return Err(wrong(message));
            }
        };
        let parts =
            SparseParts { rows: rows as usize, cols: cols as usize, places, values: part("data")?, path };
        parts.check()?;
        Ok(parts)
    }

    /// An error if the lengths of the parts contradict each other.
    fn check(&self) -> Result<(), DataError> {
        let (first, second, expected) = match &self.places {
            Places::Rows { starts, columns } => (starts, columns, self.rows + 1),
            Places::Columns { starts, rows } => (starts, rows, self.cols + 1),
            Places::Both { rows, columns } => (rows, columns, self.values.rows()),
        };
        let lengths = [first.rows(), second.rows(), self.values.rows()];
        let flat = [first, second, &self.values].iter().all(|npy| npy.cols() == 1);
        match flat && lengths == [expected, lengths[2], lengths[2]] {
            true => Ok(()),
            false => Err(self.wrong(format!(
                "the parts of the sparse matrix of {}×{} have {} numbers",
                grouped(self.rows as u64),
                grouped(self.cols as u64),
                lengths.map(|length| grouped(length as u64)).join(", ")
            ))),
        }
    }

    /// Number of stored entries, those at the same place counted separately.
    pub fn stored(&self) -> u64 {
        self.values.rows() as u64
    }

    /// Whether the matrix is kept sparse.
    pub fn stays_sparse(&self, reading: &Reading) -> bool {
        stays_sparse(self.rows, self.cols, self.stored(), reading)
    }

    /// Reads all entries, if the memory limit allows it; those at the same place are added up.
    pub fn body(self, reading: &Reading) -> Result<Body, DataError> {
        let (path, shape) = (self.path.clone(), (self.rows, self.cols));
        if !self.stays_sparse(reading) {
            reading.afford(&path, shape.0, shape.1)?;
        }
        let count = reading.afford_sparse(&path, shape, self.stored())?;
        let places = |npy, end: usize| integers(npy, count, end - 1);
        // The place of every entry along the side by which they are stored.
        let along = |npy: Npy| {
            reading.afford(&path, npy.rows(), 1)?;
            let starts = integers(npy, usize::MAX, count)?;
            let fits = starts[0] == 0 && starts.is_sorted() && starts.last() == Some(&(count as u32));
            if !fits {
                let message = "`indptr` does not ascend from 0 to the number of entries";
                return Err(DataError::file(&path, message, ADVICE));
            }
            let mut places = Vec::new();
            reserve(&path, &mut places, count)?;
            for (i, ends) in (0..).zip(starts.windows(2)) {
                places.resize(ends[1] as usize, i);
            }
            Ok(places)
        };
        let (rows, columns) = match self.places {
            Places::Rows { starts, columns } => (along(starts)?, places(columns, shape.1)?),
            Places::Columns { starts, rows } => (places(rows, shape.0)?, along(starts)?),
            Places::Both { rows, columns } => (places(rows, shape.0)?, places(columns, shape.1)?),
        };
        let values = numbers(self.values)?;
        Body::of_sparse(&path, Sparse::from_triples(shape, rows, columns, values), reading)
    }

    fn wrong(&self, message: String) -> DataError {
        DataError::file(&self.path, message, ADVICE)
    }
}

/// The text of three letters at the end of an array.
fn word(source: ByteSource) -> Result<Vec<u8>, DataError> {
    let mut text = Vec::new();
    let mut source = source;
    let read = source.by_ref().take(1 << 16).read_to_end(&mut text);
    read.map_err(|error| source.broken(&error))?;
    Ok(text.last_chunk::<3>().map_or(Vec::new(), |word| word.to_vec()))
}

/// A column of numbers.
fn numbers(mut npy: Npy) -> Result<Vec<f64>, DataError> {
    let mut all = Vec::new();
    npy.next(npy.rows(), &mut all)?;
    Ok(all)
}

/// A column of whole numbers from 0 to `largest`, `most` of them at most.
fn integers(mut npy: Npy, most: usize, largest: usize) -> Result<Vec<u32>, DataError> {
    let (mut all, mut block) = (Vec::new(), Vec::new());
    reserve(npy.path(), &mut all, npy.rows().min(most))?;
    let largest = largest.min(u32::MAX as usize);
    while all.len() < most && npy.next(BLOCK, &mut block)? > 0 {
        if let Some(wrong) = block.iter().find(|x| x.fract() != 0.0 || !(0.0..=largest as f64).contains(*x)) {
            let message =
                format!("expected whole numbers from 0 to {}, found {wrong}", grouped(largest as u64));
            return Err(DataError::file(npy.path(), message, ADVICE));
        }
        all.extend(block.drain(..).map(|x| x as u32));
    }
    Ok(all)
}

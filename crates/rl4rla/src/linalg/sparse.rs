//! Sparse matrices, stored by compressed rows.

use super::NumericError;
use super::columns::ColumnMap;
use std::ops::Range;

/// A sparse f64 matrix by rows (CSR): row i holds the entries `starts[i]..starts[i + 1]` of `columns` and `values`, with
/// strictly increasing columns.
#[derive(Clone, PartialEq, Debug)]
pub struct Sparse {
    rows: usize,
    cols: usize,
    starts: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<f64>,
}

impl Sparse {
    /// A matrix from (row, column, value) entries in any order; entries at the same place are added in the order given.
    ///
    /// ```
    /// use rl4rla::linalg::Sparse;
    /// let a = Sparse::from_entries(2, 3, vec![(1, 2, 1.0), (0, 1, 2.0), (1, 2, 3.0)]).unwrap();
    /// assert_eq!((a.nonzeros(), a.row(1).collect::<Vec<_>>()), (2, vec![(2, 4.0)]));
    /// ```
    pub fn from_entries(
        rows: usize,
        cols: usize,
        mut entries: Vec<(usize, usize, f64)>,
    ) -> Result<Sparse, NumericError> {
        assert!(cols <= u32::MAX as usize, "columns of a sparse matrix are counted in 32 bits");
        entries.sort_by_key(|(i, j, _)| (*i, *j));
        let (mut starts, mut columns, mut values) = (vec![0; rows + 1], Vec::new(), Vec::<f64>::new());
        let mut last = None;
        for (i, j, value) in entries {
            assert!(i < rows && j < cols, "entry ({i}, {j}) of a {rows}×{cols} matrix");
            match values.last_mut() {
                Some(sum) if last == Some((i, j)) => *sum += value,
                _ => {
                    columns.push(j as u32);
                    values.push(value);
                    starts[i + 1] += 1;
                }
            }
            last = Some((i, j));
        }
        (0..rows).for_each(|i| starts[i + 1] += starts[i]);
        match values.iter().all(|value| value.is_finite()) {
            true => Ok(Sparse { rows, cols, starts, columns, values }),
            false => Err(NumericError::NotFinite),
        }
    }

    /// A matrix from its parts, as the fields above describe them; `None` if they do not fit together.
    pub fn from_parts(
        rows: usize,
        cols: usize,
        starts: Vec<usize>,
        columns: Vec<u32>,
        values: Vec<f64>,
    ) -> Option<Sparse> {
        let ends =
            starts.len().checked_sub(1) == Some(rows) && starts[0] == 0 && starts[rows] == values.len();
        let grows =
            |row: &[u32]| row.is_sorted_by(|a, b| a < b) && row.last().is_none_or(|j| (*j as usize) < cols);
        let fits = ends
            && columns.len() == values.len()
            && starts.is_sorted()
            && starts.windows(2).all(|ends| grows(&columns[ends[0]..ends[1]]));
        fits.then_some(Sparse { rows, cols, starts, columns, values })
    }

    /// A matrix from entries in any order, given as rows, columns and values; entries at the same place are added, those
    /// of a row that come in order in that order. They are sorted in place: the peak of memory is 4 bytes per entry, and 8
    /// per row if they do not come row by row, above the size of the matrix.
    pub(crate) fn from_triples(
        (rows, cols): (usize, usize),
        mut at: Vec<u32>,
        mut columns: Vec<u32>,
        mut values: Vec<f64>,
    ) -> Sparse {
        let mut starts = vec![0_usize; rows + 1];
        at.iter().for_each(|i| starts[*i as usize + 1] += 1);
        (0..rows).for_each(|i| starts[i + 1] += starts[i]);
        if !at.is_sorted() {
            // Every swap brings one entry to its row.
            let mut next = starts[..rows].to_vec();
            for i in 0..rows {
                while next[i] < starts[i + 1] {
                    let (here, row) = (next[i], at[next[i]] as usize);
                    let there = next[row];
                    at.swap(here, there);
                    columns.swap(here, there);
                    values.swap(here, there);
                    next[row] += 1;
                }
            }
        }
        drop(at);
        let (mut kept, mut row) = (0, Vec::new());
        for i in 0..rows {
            let range = starts[i]..starts[i + 1];
            row.clear();
            row.extend(range.map(|k| (columns[k], values[k])));
            if !row.is_sorted_by_key(|(j, _)| *j) {
                row.sort_by_key(|(j, _)| *j);
            }
            starts[i] = kept;
            for &(j, value) in &row {
                // A row never moves to the right, so nothing is overwritten before it is read.
                if kept > starts[i] && columns[kept - 1] == j {
                    values[kept - 1] += value;
                } else {
                    (columns[kept], values[kept]) = (j, value);
                    kept += 1;
                }
            }
        }
        starts[rows] = kept;
        columns.truncate(kept);
        values.truncate(kept);
        Sparse { rows, cols, starts, columns, values }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Number of stored entries.
    pub fn nonzeros(&self) -> usize {
        self.values.len()
    }

    /// The entries of row i: columns, increasing, and values.
    pub fn row(&self, i: usize) -> impl Iterator<Item = (usize, f64)> {
        let range = self.starts[i]..self.starts[i + 1];
        self.columns[range.clone()].iter().map(|j| *j as usize).zip(self.values[range].iter().copied())
    }

    /// Memory used in bytes.
    pub fn bytes(&self) -> usize {
        Sparse::bytes_of(self.rows, self.nonzeros() as u64) as usize
    }

    /// Memory in bytes of a matrix with so many rows and stored entries.
    pub(crate) fn bytes_of(rows: usize, nonzeros: u64) -> u64 {
        nonzeros.saturating_mul(12).saturating_add((rows as u64).saturating_mul(8))
    }

    /// Columns and values of row i.
    #[inline(always)]
    pub(crate) fn entries(&self, i: usize) -> (&[u32], &[f64]) {
        let range = self.starts[i]..self.starts[i + 1];
        (&self.columns[range.clone()], &self.values[range])
    }

    /// Columns and values of consecutive rows.
    #[inline(always)]
    pub(crate) fn rows_in(&self, rows: Range<usize>) -> impl Iterator<Item = (&[u32], &[f64])> {
        let ends = &self.starts[rows.start..=rows.end];
        let (mut columns, mut values) = (&self.columns[ends[0]..], &self.values[ends[0]..]);
        ends.windows(2).map(move |ends| {
            let (row, factors);
            (row, columns) = columns.split_at(ends[1] - ends[0]);
            (factors, values) = values.split_at(ends[1] - ends[0]);
            (row, factors)
        })
    }

    /// Number of entries in the rows before row i.
    pub(super) fn before(&self, i: usize) -> usize {
        self.starts[i]
    }

    /// All stored values, row by row.
    pub(super) fn values(&self) -> &[f64] {
        &self.values
    }

    /// The entry in row i, column j.
    pub fn get(&self, i: usize, j: usize) -> f64 {
        assert!(j < self.cols, "column {j} of {}", self.cols);
        let (columns, values) = self.entries(i);
        columns.binary_search(&(j as u32)).map_or(0.0, |place| values[place])
    }

    /// Appends these rows to `into`, with all their zeros.
    pub(crate) fn write_dense(&self, rows: impl Iterator<Item = usize>, into: &mut Vec<f64>) {
        for i in rows {
            let first = into.len();
            into.resize(first + self.cols, 0.0);
            self.row(i).for_each(|(j, value)| into[first + j] = value);
        }
    }

    /// Consecutive rows, with all their zeros.
    pub(super) fn dense(&self, rows: Range<usize>) -> Vec<f64> {
        let mut entries = Vec::with_capacity(rows.len() * self.cols);
        self.write_dense(rows, &mut entries);
        entries
    }

    /// Whether it equals its transpose, bit for bit.
    pub(super) fn is_symmetric(&self) -> bool {
        let mirrored = |i: usize| self.row(i).all(|(j, value)| self.get(j, i) == value);
        self.rows == self.cols && (0..self.rows).all(mirrored)
    }

    /// `f` of every entry; f(0) must be 0.
    pub(super) fn map(&self, mut f: impl FnMut(f64) -> f64) -> Sparse {
        assert!(f(0.0) == 0.0, "a sparse matrix stays sparse");
        let values = self.values.iter().copied().map(f).collect();
        Sparse { starts: self.starts.clone(), columns: self.columns.clone(), values, ..*self }
    }

    /// diag(d)·A.
    pub(super) fn scale_rows(mut self, d: &[f64]) -> Sparse {
        for (ends, d) in self.starts.windows(2).zip(d) {
            self.values[ends[0]..ends[1]].iter_mut().for_each(|value| *value *= d);
        }
        self
    }

    /// Scales and drops columns in place. A shift would leave no zeros.
    pub(super) fn map_columns(mut self, map: &ColumnMap) -> Sparse {
        assert!(map.shift.iter().all(|shift| *shift == 0.0), "a sparse matrix stays sparse");
        let mut place = vec![None; self.cols];
        map.kept.iter().enumerate().for_each(|(j, from)| place[*from] = Some(j));
        let mut kept = 0;
        for i in 0..self.rows {
            let range = self.starts[i]..self.starts[i + 1];
            self.starts[i] = kept;
            for k in range {
                if let Some(j) = place[self.columns[k] as usize] {
                    self.columns[kept] = j as u32;
                    self.values[kept] = self.values[k] / map.scale[j];
                    kept += 1;
                }
            }
        }
        self.starts[self.rows] = kept;
        self.columns.truncate(kept);
        self.values.truncate(kept);
        Sparse { cols: map.kept.len(), ..self }
    }

    /// Takes a column out and returns it; then appends a column of ones if asked to.
    pub(crate) fn with_columns_moved(self, target: Option<usize>, ones: bool) -> (Sparse, Option<Vec<f64>>) {
        let taken = target.map(|target| (0..self.rows).map(|i| self.get(i, target)).collect());
        let kept: Vec<usize> = (0..self.cols).filter(|j| Some(*j) != target).collect();
        let mut a = if target.is_some() { self.map_columns(&ColumnMap::only(kept)) } else { self };
        if !ones {
            return (a, taken);
        }
        let size = a.nonzeros() + a.rows;
        a.columns.resize(size, 0);
        a.values.resize(size, 0.0);
        // From the last row to the first, because rows move to the right.
        for i in (0..a.rows).rev() {
            let (from, to) = (a.starts[i]..a.starts[i + 1], a.starts[i] + i);
            let end = to + from.len();
            a.columns.copy_within(from.clone(), to);
            a.values.copy_within(from, to);
            (a.columns[end], a.values[end]) = (a.cols as u32, 1.0);
            a.starts[i + 1] = end + 1;
        }
        (Sparse { cols: a.cols + 1, ..a }, taken)
    }
}

#[cfg(test)]
mod tests;

//! Sparse matrices, stored by compressed rows.

use super::NumericError;

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
        let ends = starts.len() == rows + 1 && starts[0] == 0 && starts[rows] == values.len();
        let grows =
            |row: &[u32]| row.is_sorted_by(|a, b| a < b) && row.last().is_none_or(|j| (*j as usize) < cols);
        let fits = ends
            && columns.len() == values.len()
            && starts.is_sorted()
            && starts.windows(2).all(|ends| grows(&columns[ends[0]..ends[1]]));
        fits.then_some(Sparse { rows, cols, starts, columns, values })
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
}

//! A matrix that had to be read whole, returned row by row.

/// A matrix in memory, and how many of its rows have been returned.
pub(super) struct HeldMatrix {
    rows: usize,
    cols: usize,
    entries: Vec<f64>,
    told: usize,
}

impl HeldMatrix {
    /// A matrix from its entries, row by row.
    pub fn new(rows: usize, cols: usize, entries: Vec<f64>) -> HeldMatrix {
        HeldMatrix { rows, cols, entries, told: 0 }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Adds to an entry and returns the sum.
    pub fn add(&mut self, row: usize, col: usize, value: f64) -> f64 {
        let entry = &mut self.entries[row * self.cols + col];
        *entry += value;
        *entry
    }

    /// Appends up to `most` rows and returns their number; 0 at the end.
    pub fn next(&mut self, most: usize, into: &mut Vec<f64>) -> usize {
        let rows = most.min(self.rows - self.told);
        let start = self.told * self.cols;
        into.extend_from_slice(&self.entries[start..start + rows * self.cols]);
        self.told += rows;
        rows
    }

    /// All entries, without a copy.
    pub fn entries(self) -> Vec<f64> {
        self.entries
    }
}

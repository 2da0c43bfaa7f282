//! A matrix that had to be read whole, told row after row.

/// A matrix in memory, and how much of it was told.
pub(super) struct HeldMatrix {
    rows: usize,
    cols: usize,
    entries: Vec<f64>,
    told: usize,
}

impl HeldMatrix {
    /// A matrix by its entries, row after row.
    pub fn new(rows: usize, cols: usize, entries: Vec<f64>) -> HeldMatrix {
        HeldMatrix { rows, cols, entries, told: 0 }
    }

    /// Rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Adds to an entry and tells the sum.
    pub fn add(&mut self, row: usize, col: usize, value: f64) -> f64 {
        let entry = &mut self.entries[row * self.cols + col];
        *entry += value;
        *entry
    }

    /// Appends up to `most` rows; 0 at the end.
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

//! diag(d)·M, kept as d and M: products with it are made from those with M, and its entries only on request.

use super::Matrix;
use super::vector::magnitude;
use std::sync::{Arc, OnceLock};

/// diag(d)·M.
pub(super) struct ScaledRows {
    pub d: Vec<f64>,
    pub of: Arc<Matrix>,
    by_rows: OnceLock<Vec<f64>>,
}

impl ScaledRows {
    pub fn new(d: Vec<f64>, of: Arc<Matrix>) -> ScaledRows {
        ScaledRows { d, of, by_rows: OnceLock::new() }
    }

    /// Number of values stored.
    pub fn stored(&self) -> usize {
        self.d.len() + self.by_rows.get().map_or(0, |entries| entries.len())
    }

    /// All entries, row by row, made once.
    pub fn row_major(&self) -> &[f64] {
        self.by_rows.get_or_init(|| {
            let mut entries = self.of.row_major().to_vec();
            for (row, d) in entries.chunks_exact_mut(self.of.cols().max(1)).zip(&self.d) {
                row.iter_mut().for_each(|entry| *entry *= d);
            }
            entries
        })
    }

    /// The same, to be kept.
    pub fn into_row_major(self) -> Vec<f64> {
        self.row_major();
        self.by_rows.into_inner().expect("made above")
    }

    /// Whether no entry is NaN or infinite, if its factors show that.
    pub fn is_finite(&self) -> Option<bool> {
        // A factor that is no number spoils its row; otherwise only an overflow can.
        let Some(factor) = magnitude(&self.d) else { return Some(self.of.cols() == 0) };
        self.of.magnitude().filter(|size| (factor * size).is_finite()).map(|_| true)
    }
}

//! Systems of arrays in memory.

use super::{Columns, System};
use crate::linalg::Matrix;

impl System {
    /// The system of a matrix in memory, with the same meaning as [`Design`](super::super::Design) gives to a table. The matrix is taken as it is
    /// unless there is an intercept, which makes a copy with a column of ones.
    ///
    /// # Panics
    /// If there is not an entry of b for every row, or not a name for every column.
    pub fn in_memory(
        matrix: Matrix,
        b: Vec<f64>,
        names: Option<&[String]>,
        intercept: bool,
        standardise: bool,
    ) -> System {
        assert_eq!(matrix.rows(), b.len(), "an entry of b for every row");
        assert!(names.is_none_or(|names| names.len() == matrix.cols()), "a name for every column");
        let columns = Columns::new(matrix.cols(), names, None, intercept);
        let matrix = if intercept { matrix.with_ones() } else { matrix };
        let system = System { matrix, b, columns, dropped: 0, _scratch: None };
        if standardise { system.in_units(true) } else { system }
    }
}

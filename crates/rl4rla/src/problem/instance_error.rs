//! Errors in data.
#![allow(non_snake_case)]

use crate::data::csv_number;
use crate::linalg::Matrix;
use std::fmt;

/// Largest magnitude of the entries of data, so that sums of squares do not overflow.
const LARGEST_ENTRY: f64 = 1e150;

/// Why data do not pose a solvable problem.
#[derive(Clone, Copy, PartialEq, Debug)]
#[allow(missing_docs)] // the fields say what they are
pub enum InstanceError {
    /// There are no rows or no columns.
    Empty { rows: usize, cols: usize },
    /// A and b have different numbers of rows.
    Length { rows: usize, length: usize },
    /// The number of values does not match the shape.
    Count { what: &'static str, expected: usize, found: usize },
    /// There are more unknowns than equations.
    Wide { rows: usize, cols: usize },
    /// An entry of A is not finite or too large.
    MatrixEntry { row: usize, col: usize, value: f64 },
    /// An entry of b is not finite or too large.
    VectorEntry { row: usize, value: f64 },
    /// The reference solver did not converge.
    NoSolution,
    /// All labels are the same.
    OneClass { value: f64 },
    /// A third label, besides the two known ones.
    ThirdClass { row: usize, value: f64, known: [f64; 2] },
    /// A column is a linear combination of those before it, so the solution is not unique.
    Dependent { column: usize },
    /// The labels are linearly separable, so the loss has no minimum.
    Separable,
    /// A is not square.
    NotSquare { rows: usize, cols: usize },
    /// A is not its own transpose.
    NotSymmetric { row: usize, col: usize, value: f64, mirrored: f64 },
    /// A has a negative eigenvalue.
    Negative { eigenvalue: f64 },
}

impl InstanceError {
    /// An error unless there are as many values as the shape requires.
    pub(crate) fn check_count(
        what: &'static str,
        expected: usize,
        found: usize,
    ) -> Result<(), InstanceError> {
        match expected == found {
            true => Ok(()),
            false => Err(InstanceError::Count { what, expected, found }),
        }
    }

    /// Checks the shape and the entries of data, whatever the task.
    pub fn check(A: &Matrix, b: &[f64]) -> Result<(), InstanceError> {
        InstanceError::check_up_to(A, b, LARGEST_ENTRY)
    }

    /// The same for data that are scaled before anything is squared: entries only have to be finite.
    pub fn check_finite(A: &Matrix, b: &[f64]) -> Result<(), InstanceError> {
        InstanceError::check_up_to(A, b, f64::MAX)
    }

    fn check_up_to(A: &Matrix, b: &[f64], limit: f64) -> Result<(), InstanceError> {
        let (rows, cols) = (A.rows(), A.cols());
        if rows == 0 || cols == 0 {
            return Err(InstanceError::Empty { rows, cols });
        }
        if b.len() != rows {
            return Err(InstanceError::Length { rows, length: b.len() });
        }
        if rows < cols {
            return Err(InstanceError::Wide { rows, cols });
        }
        InstanceError::check_magnitudes(A, b, limit)
    }

    /// The same for data of any shape.
    pub fn check_entries(A: &Matrix, b: &[f64]) -> Result<(), InstanceError> {
        let (rows, cols) = (A.rows(), A.cols());
        if rows == 0 || cols == 0 {
            return Err(InstanceError::Empty { rows, cols });
        }
        InstanceError::check_count("b", rows, b.len())?;
        InstanceError::check_magnitudes(A, b, LARGEST_ENTRY)
    }

    fn check_magnitudes(A: &Matrix, b: &[f64], limit: f64) -> Result<(), InstanceError> {
        let bad = |value: f64| value.is_nan() || value.abs() > limit;
        // The largest entry is found by all threads, and used again later.
        let harmless = !A.is_in_file() && A.magnitude().is_some_and(|largest| largest <= limit);
        if let Some((row, col, value)) = if harmless { None } else { A.find(bad) } {
            return Err(InstanceError::MatrixEntry { row, col, value });
        }
        match b.iter().position(|b| bad(*b)) {
            Some(row) => Err(InstanceError::VectorEntry { row, value: b[row] }),
            None => Ok(()),
        }
    }
}

/// An error with the names of the columns of A.
struct Named<'a>(&'a InstanceError, &'a [String]);

impl InstanceError {
    /// The message, with columns called by these names, in the order of A. Rows and columns count from 1.
    pub fn with_names(&self, names: &[String]) -> String {
        Named(self, names).to_string()
    }
}

impl fmt::Display for InstanceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Named(self, &[]).fmt(f)
    }
}

impl fmt::Display for Named<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use InstanceError::*;
        let Named(error, names) = self;
        let entry = |row: &usize, col: &usize| match names.get(*col) {
            Some(name) => format!("row {}, column `{name}` of A", row + 1),
            None => format!("row {}, column {} of A", row + 1, col + 1),
        };
        let number = |value: &f64| csv_number(*value);
        let limit = format!("; entries must be finite and at most {LARGEST_ENTRY:e} in size");
        match error {
            Empty { rows, cols } => write!(f, "A needs at least one row and one column, got {rows} × {cols}"),
            Length { rows, length } => {
                write!(f, "A has {rows} rows but b has {length} entries; they must be the same number")
            }
            Count { what, expected, found } => {
                write!(f, "{what} should be {expected} numbers for this shape, got {found}")
            }
            Wide { rows, cols } => {
                write!(
                    f,
                    "A has more columns than rows ({rows} × {cols}); only tall or square A are supported"
                )
            }
            MatrixEntry { row, col, value } => {
                write!(f, "{} is {}{limit}", entry(row, col), number(value))
            }
            VectorEntry { row, value } => write!(f, "row {} of b is {}{limit}", row + 1, number(value)),
            OneClass { value } => {
                write!(f, "all labels are {}; logistic regression needs two different values", number(value))
            }
            ThirdClass { row, value, known: [small, large] } => write!(
                f,
                "row {} of b is {}, in addition to {} and {}: labels must have two values, such as 0 and 1, −1 and +1",
                row + 1,
                number(value),
                number(small),
                number(large)
            ),
            Dependent { column } => {
                let name =
                    names.get(*column).map_or_else(|| (column + 1).to_string(), |name| format!("`{name}`"));
                write!(
                    f,
                    "column {name} of A is a linear combination of those before it, so the solution is not unique; remove it"
                )
            }
            Separable => write!(
                f,
                "the labels are linearly separable, so the loss has no minimum: it tends to 0 as x grows; add rows \
                 that contradict each other, or use fewer columns"
            ),
            NotSquare { rows, cols } => write!(f, "A must be square, got {rows} × {cols}"),
            NotSymmetric { row, col, value, mirrored } => write!(
                f,
                "{} is {} but {} is {}; A must be symmetric: take (A + Aᵀ)/2",
                entry(row, col),
                number(value),
                entry(col, row),
                number(mirrored)
            ),
            Negative { eigenvalue } => {
                write!(
                    f,
                    "A has the eigenvalue {}; it must be positive semidefinite: add a multiple of I",
                    number(eigenvalue)
                )
            }
            NoSolution => {
                write!(f, "no solution was found; rescale the rows or columns of A")
            }
        }
    }
}

impl std::error::Error for InstanceError {}

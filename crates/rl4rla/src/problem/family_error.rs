//! Errors of families.

use super::family::{FamilyKind, MAX_BYTES, Number};
use crate::data::csv_number;
use std::fmt;

/// Why no instance of a family can be drawn.
#[derive(Clone, Copy, PartialEq, Debug)]
#[allow(missing_docs)] // the fields are the family's own
pub enum FamilyError {
    /// There are no rows or no columns.
    Empty { rows: usize, cols: usize },
    /// A square family was given different numbers of rows and columns.
    NotSquare { kind: FamilyKind, rows: usize, cols: usize },
    /// There are more columns than rows.
    Wide { kind: FamilyKind, rows: usize, cols: usize },
    /// Drawing an instance would take more than [`MAX_BYTES`].
    TooLarge { rows: usize, cols: usize },
    /// The condition number is below one or not finite.
    Condition { condition: f64 },
    /// One column cannot have a condition number other than one.
    OneColumn { condition: f64 },
    /// The family has no such option.
    NotAnOption { kind: FamilyKind, option: &'static str },
    /// The weight of the component outside the range of A is not in [0, 1).
    Outside { outside: f64 },
    /// The range of A is the whole space, so nothing is outside it.
    NothingOutside { kind: FamilyKind, rows: usize, cols: usize, outside: f64 },
    /// A parameter of the family is out of range.
    Number { number: Number, value: f64 },
    /// The singular values of a drawn matrix could not be computed.
    NoSpectrum { kind: FamilyKind },
    /// The drawn problem has no solution.
    NoSolution { kind: FamilyKind, why: &'static str },
    /// A table has too few rows to draw such problems.
    FewRows { kind: FamilyKind, held: usize, rest: usize, rows: usize, cols: usize },
    /// A column depends on the others in every sample of a table's rows; it has this value in `count` of the `of`
    /// rows.
    Dependent { kind: FamilyKind, rows: usize, column: &'static str, value: f64, count: usize, of: usize },
}

impl fmt::Display for FamilyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use FamilyError::*;
        match self {
            Empty { rows, cols } => {
                write!(f, "a problem needs at least one row and one column, got {rows} × {cols}")
            }
            NotSquare { kind, rows, cols } => write!(
                f,
                "family `{kind}` needs rows = cols, got {rows} × {cols}; pass the same number twice"
            ),
            Wide { kind, rows, cols } => write!(
                f,
                "family `{kind}` needs rows ≥ cols, got {rows} × {cols}; swap them, or ask for fewer columns"
            ),
            TooLarge { rows, cols } => write!(
                f,
                "an instance of {rows} × {cols} takes more than {} GiB to draw; ask for a smaller one",
                MAX_BYTES >> 30
            ),
            Condition { condition } => {
                write!(f, "condition must be a finite number ≥ 1, got {}", csv_number(*condition))
            }
            OneColumn { condition } => {
                write!(
                    f,
                    "one column has condition 1, got {}; leave it out, or ask for two columns",
                    csv_number(*condition)
                )
            }
            NotAnOption { kind, option } => {
                write!(f, "family `{kind}` has no option `{option}`; leave it out, or take another family")
            }
            Outside { outside } => {
                write!(
                    f,
                    "outside must be at least 0 and below 1, got {}; 0 is a consistent system",
                    csv_number(*outside)
                )
            }
            NothingOutside { kind, rows, cols, outside } => write!(
                f,
                "outside = {outside} needs a direction outside the range of A, and family `{kind}` at \
                 {rows} × {cols} has none; take a tall family with rows > cols, or outside = 0"
            ),
            Number { number, value } => write!(
                f,
                "{} must be from {} to {}, got {}: {}",
                number.name,
                csv_number(number.least),
                csv_number(number.most),
                csv_number(*value),
                number.doc
            ),
            FewRows { kind, held, rest, rows, cols } => {
                let fewer = held.min(rest);
                write!(
                    f,
                    "`{kind}` has {rest} rows for the search and {held} held out, too few for problems of {rows}×{cols}: \
                     at most {} without `bootstrap`, and {} in each part at least",
                    fewer / 2,
                    2 * cols
                )
            }
            Dependent { kind, rows, column, value, count, of } => write!(
                f,
                "problems of {rows} rows of `{kind}` have no unique solution: in every sample drawn, a column is a \
                 linear combination of the others. Column `{column}` is {value} in {count} of the {of} rows they are \
                 drawn from: use more `rows`, or a table without it"
            ),
            NoSolution { kind, why } => write!(f, "an instance of `{kind}` has no solution: {why}"),
            NoSpectrum { kind } => {
                write!(f, "the singular values of an instance of `{kind}` did not converge; change the seed")
            }
        }
    }
}

impl std::error::Error for FamilyError {}

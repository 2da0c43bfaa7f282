//! Errors of a fit, and their words in terms of the user's data, columns and options.

use crate::data::Columns;
use crate::execute::{Fault, RunFailure};
use crate::problem::InstanceError;
use crate::solve::{Dependence, SolveError, Unsupported};
use std::fmt;

/// Why data were not fitted.
#[derive(Clone, PartialEq, Debug)]
pub enum FitError {
    /// The solver failed.
    Solve(SolveError),
    /// A baseline failed.
    Baseline(String),
    /// Weights for a matrix in a file, or for a sparse one with an intercept.
    WeightsNeedMemory,
    /// A penalty for a sparse matrix with an intercept.
    SparseIntercept,
}

impl From<SolveError> for FitError {
    fn from(error: SolveError) -> FitError {
        FitError::Solve(error)
    }
}

impl fmt::Display for FitError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            FitError::Solve(error) => error.fmt(f),
            FitError::Baseline(why) => f.write_str(why),
            FitError::WeightsNeedMemory => {
                f.write_str("weights need a matrix in memory, and a dense one with an intercept")
            }
            FitError::SparseIntercept => f.write_str(
                "an intercept that is not penalised needs centred columns, which a sparse matrix cannot have",
            ),
        }
    }
}

impl std::error::Error for FitError {}

/// An error in words, with a suggestion. Suggestions name options as the command has them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FitFailure {
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub advice: String,
}

impl FitFailure {
    fn new(message: impl Into<String>, advice: impl Into<String>) -> FitFailure {
        FitFailure { message: message.into(), advice: advice.into() }
    }

    /// The words for an error: `program` is the name of what failed, `data` that of the matrix.
    pub fn of(error: FitError, program: &str, data: &str, sparse: bool, columns: &Columns) -> FitFailure {
        match error {
            FitError::Solve(error) => Self::of_solver(error, program, data, sparse, columns),
            FitError::Baseline(why) => FitFailure::new(
                format!("{program} failed: {why}"),
                "`rl4rla solve` without a name, which chooses a program that fits the data",
            ),
            FitError::WeightsNeedMemory => {
                FitFailure::new(format!("{data}: {error}"), "a larger --max-memory, or --dense")
            }
            FitError::SparseIntercept => {
                FitFailure::new(error.to_string(), "--dense, or without --intercept")
            }
        }
    }

    fn of_solver(
        error: SolveError,
        program: &str,
        data: &str,
        sparse: bool,
        columns: &Columns,
    ) -> FitFailure {
        let labels = columns.labels();
        match error {
            SolveError::Run(failure) => Self::of_run(&failure, program, sparse),
            SolveError::Data(error) => Self::of_data(&error, data, &labels),
            SolveError::Dependent { columns: found, rank } => {
                Self::of_dependence(data, &found, rank, &labels, columns.intercept)
            }
            SolveError::Unreadable(lost) => FitFailure::new(
                format!("the copy of {data} on disk cannot be read: {lost}"),
                "check the disk, or TMPDIR",
            ),
            SolveError::Overflow { column } => FitFailure::new(
                format!("the coefficient of `{}` is beyond the range of double precision", labels[column]),
                "other units for this column or for the target",
            ),
            SolveError::Unsupported { what: Unsupported::File, .. } => FitFailure::new(
                format!("{data} is too large for memory, and {program} needs it there"),
                "a larger --max-memory",
            ),
            SolveError::Unsupported { what: Unsupported::Sparse, .. } => FitFailure::new(
                format!("{data} is sparse, and {program} needs all entries in memory"),
                "--dense, which takes 8 bytes for every entry, zeros included",
            ),
            SolveError::Unsupported { .. } => {
                FitFailure::new(error.to_string(), "`rl4rla solve --help` shows all options")
            }
        }
    }

    fn of_run(failure: &RunFailure, program: &str, sparse: bool) -> FitFailure {
        let advice = match failure.fault {
            Fault::NotInMemory if sparse => "another --sketch, another program, or --dense",
            Fault::NotInMemory => "a larger --max-memory, another --sketch, or another program",
            Fault::NotFinite => "a smaller --step, or --step auto",
            Fault::Shape(_) => "a program for data of this shape; `rl4rla list programs` shows all",
            Fault::TooFewRows { .. } => "a smaller --batch",
            Fault::TooLong { .. } => "fewer --iterations",
            _ => "another program, or fewer columns",
        };
        FitFailure::new(format!("{program} failed: {failure}"), advice)
    }

    /// The words for data that do not pose a problem.
    pub fn of_data(error: &InstanceError, data: &str, labels: &[String]) -> FitFailure {
        FitFailure::new(
            format!("{data}: {}", error.with_names(labels)),
            "`rl4rla help solve` describes what can be solved",
        )
    }

    /// The words for dependent columns, with their names.
    fn of_dependence(
        data: &str,
        columns: &[Dependence],
        rank: usize,
        labels: &[String],
        intercept: bool,
    ) -> FitFailure {
        let message = format!(
            "{data}: the columns are linearly dependent (rank {rank} of {}), so the solution is not unique: {}",
            rank + columns.len(),
            relations(columns, labels, intercept)
        );
        let gone = listed(columns.iter().map(|one| &labels[one.column]));
        let advice = format!(
            "--rank-deficient drop removes {gone}; --rank-deficient min-norm returns the minimum-norm solution; or change the file"
        );
        FitFailure::new(message, advice)
    }
}

/// Maximum number of dependent columns named, and of columns that one of them depends on.
const NAMED: usize = 5;

/// The dependences among columns, in words.
pub fn relations(columns: &[Dependence], labels: &[String], intercept: bool) -> String {
    let relation = |one: &Dependence| {
        let name = &labels[one.column];
        match (one.on.is_empty(), intercept) {
            (true, true) => format!("`{name}` is constant, like the intercept"),
            (true, false) => format!("`{name}` is zero"),
            (false, _) => format!("`{name}` depends on {}", listed(one.on.iter().map(|j| &labels[*j]))),
        }
    };
    let few: Vec<String> = columns.iter().take(NAMED).map(relation).collect();
    few.join("; ") + &more(columns.len())
}

fn listed<'a>(names: impl ExactSizeIterator<Item = &'a String>) -> String {
    let count = names.len();
    let few: Vec<String> = names.take(NAMED).map(|name| format!("`{name}`")).collect();
    few.join(", ") + &more(count)
}

fn more(count: usize) -> String {
    if count > NAMED { format!(" and {} more", count - NAMED) } else { String::new() }
}

//! Converts the options about the user's data into a system, or rejects them.

use crate::args::DataArguments;
use crate::failure::Failure;
use crate::memory;
use rl4rla::data::{DataError, Design, Missing, Reading, System, TargetColumn};
use std::path::Path;

/// How to read the files.
pub fn reading(args: &DataArguments) -> Reading {
    Reading {
        limit: args.max_memory.unwrap_or_else(memory::left),
        missing: if args.drop_missing { Missing::DropRow } else { Missing::Refuse },
        header: args.header,
        delimiter: args.delimiter,
        decimal: args.decimal,
    }
}

/// The system of these files.
pub fn system(args: &DataArguments, matrix: &Path, needs_target: bool) -> Result<System, Failure> {
    let target = match (&args.target, &args.rhs) {
        (Some(column), _) => TargetColumn::Column(column.clone()),
        (None, Some(file)) => TargetColumn::File(file.clone()),
        (None, None) if !needs_target => TargetColumn::None,
        (None, None) => {
            return Err(Failure::new("no right-hand side was given")
                .advise("--target COL for a column of the matrix file, or --rhs FILE for a separate file"));
        }
    };
    let design = Design { target, intercept: args.intercept, standardise: args.standardise };
    System::load(matrix, &design, &reading(args)).map_err(refused)
}

/// The error for a file that cannot be used.
pub fn refused(error: DataError) -> Failure {
    let advice = error.advice.clone();
    Failure::new(error.to_string()).advise(advice)
}

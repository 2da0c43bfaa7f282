//! The user's data: options as typed, made into a system, or refused.

use crate::args::Data;
use crate::failure::Failure;
use rl4rla::data::{DataError, Design, Missing, Reading, System, Target};
use std::fs;
use std::path::Path;

/// What is allowed where the system does not tell how much memory is free.
const CAUTIOUS: u64 = 4 << 30;

/// How files are to be read.
pub fn reading(args: &Data) -> Reading {
    Reading {
        limit: args.max_memory.or_else(free_memory).unwrap_or(CAUTIOUS),
        missing: if args.drop_missing { Missing::DropRow } else { Missing::Refuse },
        header: args.header,
        delimiter: args.delimiter,
        decimal: args.decimal,
    }
}

/// The system of these files.
pub fn system(args: &Data, matrix: &Path, needs_target: bool) -> Result<System, Failure> {
    let target = match (&args.target, &args.rhs) {
        (Some(column), _) => Target::Column(column.clone()),
        (None, Some(file)) => Target::File(file.clone()),
        (None, None) if !needs_target => Target::None,
        (None, None) => {
            return Err(Failure::new("there is no right-hand side").advise(
                "--target COL for a column of the matrix file, or --rhs FILE for a file of its own",
            ));
        }
    };
    let design = Design { target, intercept: args.intercept, standardise: args.standardise };
    System::load(matrix, &design, &reading(args)).map_err(refused)
}

/// A file that cannot be used.
pub fn refused(error: DataError) -> Failure {
    let advice = error.advice.clone();
    Failure::new(error.to_string()).advise(advice)
}

/// Memory that is free for use, where the system tells it.
fn free_memory() -> Option<u64> {
    let told = fs::read_to_string("/proc/meminfo").ok()?;
    let line = told.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib << 10)
}

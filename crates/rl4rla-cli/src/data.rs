//! Converts the options about the user's data into a system, or rejects them.

use crate::args::DataArguments;
use crate::failure::Failure;
use crate::memory;
use rl4rla::data::{DataError, Design, Missing, Reading, System, TargetColumn, probe, read};
use rl4rla::fit::check_weights;
use std::path::{Path, PathBuf};

/// How to read the files.
pub fn reading(args: &DataArguments) -> Reading {
    Reading {
        limit: args.max_memory.unwrap_or_else(memory::left),
        dense: args.dense,
        missing: if args.drop_missing { Missing::DropRow } else { Missing::Refuse },
        member: args.member.clone(),
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

/// The system of these files, and further right-hand sides if the file of the first holds more than one column.
pub fn system_of_several(args: &DataArguments, matrix: &Path) -> Result<(System, Vec<Vec<f64>>), Failure> {
    // An archive may hold A as well: there b is its vector.
    let archive = |rhs: &PathBuf| rhs.extension().is_some_and(|end| end.eq_ignore_ascii_case("npz"));
    let several =
        |rhs: &&PathBuf| !archive(rhs) && probe(rhs, &reading(args)).is_ok_and(|found| found.cols > 1);
    let Some(rhs) = args.rhs.as_ref().filter(several) else {
        return Ok((system(args, matrix, true)?, vec![]));
    };
    let table = read(rhs, &Reading { missing: Missing::Refuse, ..reading(args) }).map_err(refused)?;
    if table.rows == 1 {
        return Ok((system(args, matrix, true)?, vec![]));
    }
    let none = DataArguments { rhs: None, ..args.clone() };
    let mut system = system(&none, matrix, false)?;
    let rows = system.matrix.rows();
    if rows != table.rows {
        let message = format!("{}: {rows} rows, but {} has {}", matrix.display(), rhs.display(), table.rows);
        return Err(Failure::new(message).advise("files with equal numbers of rows"));
    }
    let mut columns: Vec<Vec<f64>> = (0..table.cols)
        .map(|j| table.entries.iter().skip(j).step_by(table.cols).copied().collect())
        .collect();
    system.b = columns.remove(0);
    Ok((system, columns))
}

/// The weights in a file with one column: one for every row of the matrix, none negative, not all zero.
pub fn weights(args: &DataArguments, path: &Path, rows: usize) -> Result<Vec<f64>, Failure> {
    let table = read(path, &Reading { missing: Missing::Refuse, ..reading(args) }).map_err(refused)?;
    let refuse = |what: String| {
        Err(Failure::new(format!("{}: {what}", path.display())).advise("one number ≥ 0 for every row"))
    };
    if (table.cols != 1 && table.rows != 1) || table.entries.len() != rows {
        return refuse(format!("{}×{} numbers, but weights are a column of {rows}", table.rows, table.cols));
    }
    check_weights(&table.entries, rows).map_or_else(|error| refuse(error.to_string()), |()| Ok(table.entries))
}

/// The error for a file that cannot be used.
pub fn refused(error: DataError) -> Failure {
    let advice = error.advice.clone();
    Failure::new(error.to_string()).advise(advice)
}

//! The options of `solve` and `compare` that select the input files and their format.

use crate::failure::Failure;
use clap::Args;
use std::path::PathBuf;

/// The user's own data.
#[derive(Args, Clone)]
pub struct DataArguments {
    /// Matrix file: NPY, NPZ, CSV, Matrix Market, Parquet or Arrow (Feather); NPY, CSV and Matrix Market optionally gzipped
    #[arg(long, value_name = "FILE", help_heading = "Data")]
    pub matrix: Option<PathBuf>,
    /// Name of the array in an NPZ file that is the matrix [default: the only one that can be]
    #[arg(long, value_name = "NAME", help_heading = "Data", requires = "matrix")]
    pub member: Option<String>,
    /// Right-hand side file: one column; for `solve` without a program also several
    #[arg(long, value_name = "FILE", help_heading = "Data", requires = "matrix", conflicts_with = "target")]
    pub rhs: Option<PathBuf>,
    /// Right-hand side column of the matrix file: its name, or its number counted from 1
    #[arg(long, value_name = "COL", help_heading = "Data", requires = "matrix")]
    pub target: Option<String>,
    /// Add an intercept (a column of ones)
    #[arg(long, help_heading = "Data", requires = "matrix")]
    pub intercept: bool,
    /// Scale columns to unit standard deviation and, with --intercept, to zero mean (sparse ones to unit root mean square only); coefficients are reported in the units of the file
    #[arg(long, alias = "standardize", help_heading = "Data", requires = "matrix")]
    pub standardise: bool,
    /// Make a sparse matrix of a Matrix Market or NPZ file dense, for programs that need all entries
    #[arg(long, help_heading = "Data", requires = "matrix")]
    pub dense: bool,
    /// Drop rows with missing values of a CSV, Parquet or Arrow file instead of rejecting the file
    #[arg(long, help_heading = "Data", requires = "matrix")]
    pub drop_missing: bool,
    /// Whether the first line of a CSV file is a header: yes or no [default: detected]
    #[arg(long, value_name = "YES|NO", value_parser = yes_or_no, help_heading = "Data", requires = "matrix")]
    pub header: Option<bool>,
    /// Delimiter of a CSV file: a character, `tab` or `space` [default: detected]
    #[arg(long, value_name = "CHAR", value_parser = sign, help_heading = "Data", requires = "matrix")]
    pub delimiter: Option<u8>,
    /// Decimal separator of a CSV file [default: detected]
    #[arg(long, value_name = "CHAR", value_parser = sign, help_heading = "Data", requires = "matrix")]
    pub decimal: Option<u8>,
    /// Memory limit for data, such as 800M or 4G; data larger than half of it are read from disk [default: free memory]
    #[arg(long, value_name = "SIZE", value_parser = bytes, help_heading = "Data", requires = "matrix")]
    pub max_memory: Option<u64>,
}

impl DataArguments {
    /// Refuses an option that is given although there is no file that it could apply to. `requires` does not where another
    /// argument excludes the file.
    pub fn only_with_matrix(&self) -> Result<(), Failure> {
        let given = [
            (self.member.is_some(), "--member"),
            (self.rhs.is_some(), "--rhs"),
            (self.target.is_some(), "--target"),
            (self.intercept, "--intercept"),
            (self.standardise, "--standardise"),
            (self.dense, "--dense"),
            (self.drop_missing, "--drop-missing"),
            (self.header.is_some(), "--header"),
            (self.delimiter.is_some(), "--delimiter"),
            (self.decimal.is_some(), "--decimal"),
            (self.max_memory.is_some(), "--max-memory"),
        ];
        match given.into_iter().find(|(given, _)| *given && self.matrix.is_none()) {
            None => Ok(()),
            Some((_, option)) => {
                Err(Failure::new(format!("{option} describes data, and no --matrix is given"))
                    .advise("--matrix FILE, or no such option"))
            }
        }
    }
}

fn yes_or_no(text: &str) -> Result<bool, String> {
    match text {
        "yes" => Ok(true),
        "no" => Ok(false),
        _ => Err("expected yes or no".into()),
    }
}

fn sign(text: &str) -> Result<u8, String> {
    match (text, text.as_bytes()) {
        ("tab" | "\\t", _) => Ok(b'\t'),
        ("space", _) => Ok(b' '),
        (_, [one]) => Ok(*one),
        _ => Err("expected a single character such as `;`, or tab or space".into()),
    }
}

/// A number of bytes, with K, M, G or T for powers of 1024.
fn bytes(text: &str) -> Result<u64, String> {
    let wrong = || "expected a size such as 800M or 4G".to_string();
    let upper = text.to_ascii_uppercase();
    let digits = upper.trim_end_matches('B').trim_end_matches('I');
    let (digits, power) = match digits.char_indices().last() {
        Some((at, unit)) if "KMGT".contains(unit) => {
            (&digits[..at], "KMGT".find(unit).unwrap_or(0) as u32 + 1)
        }
        _ => (digits, 0),
    };
    let value: f64 = digits.trim().parse().map_err(|_| wrong())?;
    let bytes = value * 1024_f64.powi(power as i32);
    match bytes >= 1.0 && bytes < u64::MAX as f64 {
        true => Ok(bytes as u64),
        false => Err(wrong()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        assert_eq!((bytes("800M"), bytes("4g"), bytes("1.5 KiB")), (Ok(800 << 20), Ok(4 << 30), Ok(1536)));
        assert!(["", "M", "-3G", "nan", "0", "4X", "1e30"].iter().all(|text| bytes(text).is_err()));
    }

    #[test]
    fn signs_have_words() {
        assert_eq!((sign(";"), sign("tab"), sign("space")), (Ok(b';'), Ok(b'\t'), Ok(b' ')));
        assert!(sign("").is_err() && sign(";;").is_err());
    }
}

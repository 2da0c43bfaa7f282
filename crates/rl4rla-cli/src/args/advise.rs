//! The options of `advise`.

use super::problem::size;
use super::{DataArguments, Threads, named};
use clap::Args;
use rl4rla::problem::Leverage;

/// Examples, and where the answer comes from.
pub const AFTER_HELP: &str = "\
Examples:
  rl4rla advise --rows 1e6 --cols 500
  rl4rla advise --rows 1e5 --cols 100 --kappa 1e8 --tolerance 1e-12 --leverage coherent
  rl4rla advise --rows 1e6 --cols 500 --price 0 --json
  rl4rla advise --matrix data.csv --target price --intercept

The answer comes from a map that is part of the command: iterations were measured for programs of the catalogue, and the work
at your size follows from their symbolic cost. With --matrix, what is not given is estimated from a sketch of the data. Seconds
are predictions. It is said when the problem lies outside the map. See also `rl4rla help advise`.";

#[derive(Args)]
pub struct Advise {
    /// Rows of A, if there is no --matrix
    #[arg(long, value_parser = size, conflicts_with = "matrix", help_heading = "Problem")]
    pub rows: Option<usize>,
    /// Columns of A, if there is no --matrix
    #[arg(long, value_parser = size, conflicts_with = "matrix", help_heading = "Problem")]
    pub cols: Option<usize>,
    /// Condition number of A [default: estimated from the data; 1e6 without data]
    #[arg(long, allow_hyphen_values = true, help_heading = "Problem")]
    pub kappa: Option<f64>,
    /// Weight in [0, 1) of the component of b outside the range of A [default: estimated from the data; 0.7 without data]
    #[arg(long, allow_hyphen_values = true, help_heading = "Problem")]
    pub outside: Option<f64>,
    /// Leverage of the rows: low, high or coherent [default: estimated from the data; low without data]
    #[arg(long, value_parser = named::<Leverage>, help_heading = "Problem")]
    pub leverage: Option<Leverage>,
    /// Excess ‖A(x − x*)‖/‖b‖ to reach; where rounding does not allow it, ten times that of Householder QR
    #[arg(long, default_value = "1e-8", allow_hyphen_values = true, help_heading = "Problem")]
    pub tolerance: f64,
    /// Price of a pass over A, in units of the flops of A·x: 0 counts flops only [default: from the rates of this machine]
    #[arg(long, allow_hyphen_values = true, help_heading = "Problem")]
    pub price: Option<f64>,
    #[command(flatten)]
    pub data: DataArguments,
    /// Predict seconds for 50 Gflop/s and 10 GB/s instead of measuring this machine
    #[arg(long)]
    pub default_rates: bool,
    /// Seed of the sketch from which traits of the data are estimated
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    #[command(flatten)]
    pub threads: Threads,
}

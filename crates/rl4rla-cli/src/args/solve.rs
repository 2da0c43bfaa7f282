//! The options of `solve`.

use super::problem::size;
use super::{Chance, DataArguments, Threads};
use clap::Args;
use rl4rla::solve::RankDeficient;
use std::ffi::OsString;
use std::path::PathBuf;

fn rank_deficient(text: &str) -> Result<RankDeficient, String> {
    match text {
        "refuse" => Ok(RankDeficient::Refuse),
        "drop" => Ok(RankDeficient::Drop),
        "min-norm" => Ok(RankDeficient::MinNorm),
        _ => Err("expected refuse, drop or min-norm".into()),
    }
}

#[derive(Args)]
pub struct Solve {
    /// Program: catalogue name, path to a .rla file, run:ID, run:ID/STAGE or run:ID#K
    pub program: OsString,
    #[command(flatten)]
    pub data: DataArguments,

    /// Iteration limit T
    #[arg(long, default_value = "1000", value_parser = size, help_heading = "Run")]
    pub iterations: usize,
    /// Stop when ‖A(x − x*)‖ ≤ tolerance·‖Ax − b‖, or at rounding level; 0 runs to the iteration limit. Other tasks have
    /// their own criteria: see `rl4rla help solve`
    #[arg(long, default_value = "1e-10", help_heading = "Run")]
    pub tolerance: f64,
    /// Linearly dependent columns: `refuse` reports them, `drop` removes them, `min-norm` returns the minimum-norm solution
    #[arg(long, value_name = "HOW", default_value = "refuse", value_parser = rank_deficient, help_heading = "Run")]
    pub rank_deficient: RankDeficient,
    /// Step size η, or `auto`: chosen by a pilot of 16 iterations or, for other tasks, by a line search in every iteration
    #[arg(long, default_value = "auto", allow_hyphen_values = true, help_heading = "Run")]
    pub step: String,
    /// λ of ridge regression, min ‖Ax − b‖² + λ‖x‖², and of shifted systems, (A + λI)x = b [default: 0]
    #[arg(long, allow_hyphen_values = true, help_heading = "Run")]
    pub lambda: Option<f64>,
    /// Return the mean of the second half of the iterates, which averages out sampling noise
    #[arg(long, help_heading = "Run")]
    pub average: bool,
    #[command(flatten)]
    pub chance: Chance,
    /// Seed of the random draws
    #[arg(long, default_value_t = 0, help_heading = "Run")]
    pub seed: u64,
    #[command(flatten)]
    pub threads: Threads,

    /// Write the solution to this file: NPY by extension, otherwise CSV with column names
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub out: Option<PathBuf>,
    /// Plot the convergence history of the residual as SVG, with a CSV file next to it
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub plot: Option<PathBuf>,
    /// Predict the target for the rows of another file with the same columns; for two labels, the probability of the larger one
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub predict: Option<PathBuf>,
    /// Write the predictions to this file: NPY by extension, otherwise CSV
    #[arg(long, value_name = "FILE", help_heading = "Output", requires = "predict")]
    pub predictions: Option<PathBuf>,
}

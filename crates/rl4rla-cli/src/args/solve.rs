//! The options of `solve`.

use super::problem::size;
use super::{Chance, Data, Threads};
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
    /// A catalogue name, a path to a .rla file, or run:ID, run:ID/STAGE or run:ID#K
    pub program: OsString,
    #[command(flatten)]
    pub data: Data,

    /// The most iterations T
    #[arg(long, default_value = "1000", value_parser = size, help_heading = "Run")]
    pub iterations: usize,
    /// Stop when ‖A(x − x*)‖ is at most this part of ‖Ax − b‖, or at rounding; 0 makes all iterations. Other tasks
    /// stop by measures of their own: docs/solve.md
    #[arg(long, default_value_t = 1e-10, help_heading = "Run")]
    pub tolerance: f64,
    /// What becomes of columns that depend on others: refuse names them, drop leaves them out, min-norm takes the shortest solution
    #[arg(long, value_name = "HOW", default_value = "refuse", value_parser = rank_deficient, help_heading = "Run")]
    pub rank_deficient: RankDeficient,
    /// The step size η, or `auto`: a pilot of 16 iterations looks for it, or, for other tasks, every iteration
    #[arg(long, default_value = "auto", allow_hyphen_values = true, help_heading = "Run")]
    pub step: String,
    /// Answer with the mean of the second half of all iterates, in which the noise of samples cancels
    #[arg(long, help_heading = "Run")]
    pub average: bool,
    #[command(flatten)]
    pub chance: Chance,
    /// Seed of random draws
    #[arg(long, default_value_t = 0, help_heading = "Run")]
    pub seed: u64,
    #[command(flatten)]
    pub threads: Threads,

    /// Write the solution here: NPY by that ending, else CSV with names
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub out: Option<PathBuf>,
    /// Write the course of the residual here, as an SVG picture with its CSV beside it
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub plot: Option<PathBuf>,
    /// Predict the target for the rows of another file with the same columns; of two labels, the probability of the larger
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub predict: Option<PathBuf>,
    /// Write the predictions here: NPY by that ending, else CSV
    #[arg(long, value_name = "FILE", help_heading = "Output", requires = "predict")]
    pub predictions: Option<PathBuf>,
}

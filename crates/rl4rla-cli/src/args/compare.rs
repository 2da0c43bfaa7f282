//! The options of `compare`.

use super::{DataArguments, ProblemArguments, Running};
use clap::Args;
use std::ffi::OsString;

#[derive(Args)]
pub struct Compare {
    /// Programs: catalogue names, paths to .rla files, run:ID, run:ID/STAGE or run:ID#K
    pub programs: Vec<OsString>,
    /// Comma-separated baselines, or `all` for those of the family's task; see `rl4rla list baselines`
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    pub baselines: Vec<String>,

    #[command(flatten)]
    pub data: DataArguments,
    #[command(flatten)]
    pub problem: ProblemArguments,
    /// Number of instances; residuals are medians over these
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=1000), help_heading = "Problem")]
    pub instances: u64,

    /// Iteration limit T of programs; baselines use their own stopping rules
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..=1_000_000), help_heading = "Run")]
    pub iterations: u64,
    /// Stop programs for tall systems when ‖Aᵀ(Ax − b)‖ has fallen to this fraction of its initial value
    #[arg(long, default_value = "1e-14", help_heading = "Run")]
    pub stop: f64,
    #[command(flatten)]
    pub running: Running,

    /// Timed runs per solver, after one warm-up run
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub repeats: u64,
    /// Number of threads; does not affect residuals
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=1024))]
    pub threads: u64,
    /// Seed of the instances and of random draws
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
}

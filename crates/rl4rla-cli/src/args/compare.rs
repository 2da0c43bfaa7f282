//! The options of `compare`.

use super::{Data, Problem, Running};
use clap::Args;
use std::ffi::OsString;

#[derive(Args)]
pub struct Compare {
    /// Catalogue names, paths to .rla files, or run:ID, run:ID/STAGE or run:ID#K
    pub programs: Vec<OsString>,
    /// Baselines, separated by commas, or `all` for those of the family's task; `rl4rla list baselines` shows them
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    pub baselines: Vec<String>,

    #[command(flatten)]
    pub data: Data,
    #[command(flatten)]
    pub problem: Problem,
    /// Number of instances; residuals are medians over them
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=1000), help_heading = "Problem")]
    pub instances: u64,

    /// The most iterations T of programs; baselines end by their own rules
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..=1_000_000), help_heading = "Run")]
    pub iterations: u64,
    /// Programs for tall systems end when ‖Aᵀ(Ax − b)‖ has fallen to this part of what it was
    #[arg(long, default_value_t = 1e-14, help_heading = "Run")]
    pub stop: f64,
    #[command(flatten)]
    pub running: Running,

    /// Timed runs of every solver, after one that is not
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub repeats: u64,
    /// Threads; residuals are the same with any number
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=1024))]
    pub threads: u64,
    /// Seed of instances and of random draws
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
}

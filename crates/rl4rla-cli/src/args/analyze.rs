//! The options of `analyze`.

use super::{ProblemArguments, Running, Threads};
use clap::Args;
use std::ffi::OsString;

#[derive(Args)]
pub struct Analyze {
    /// Program: catalogue name, path to a .rla file, run:ID, run:ID/STAGE or run:ID#K
    pub program: OsString,

    #[command(flatten)]
    pub problem: ProblemArguments,

    /// Iterations T for the robustness map, the worst case and the precision test
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..=100_000), help_heading = "Run")]
    pub iterations: u64,
    #[command(flatten)]
    pub running: Running,

    /// Target excess for iteration counts and cost
    #[arg(long, default_value = "1e-6", help_heading = "Analysis")]
    pub tolerance: f64,
    /// Replicates (instances with their own random draws) per confidence interval
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u64).range(2..=1000), help_heading = "Analysis")]
    pub replicates: u64,
    /// Faster, coarser analysis (seconds)
    #[arg(long, help_heading = "Analysis")]
    pub quick: bool,
    /// Also write an HTML page with figures and tables to this folder; existing files of the same names are replaced
    #[arg(long, value_name = "DIR", help_heading = "Analysis")]
    pub out: Option<std::path::PathBuf>,

    /// Seed of the instances and of the program's random draws
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    #[command(flatten)]
    pub threads: Threads,
}

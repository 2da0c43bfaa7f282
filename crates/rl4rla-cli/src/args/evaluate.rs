//! The options of `evaluate`.

use super::{ProblemArguments, Running, Threads};
use clap::{Args, ValueEnum};
use rl4rla::reward::{Auxiliary, TermIndex};
use std::ffi::OsString;
use std::num::ParseFloatError;
use std::str::FromStr;

/// The options that a stage answers itself.
const STAGE_DECIDES: [&str; 22] = [
    "family",
    "rows",
    "cols",
    "kappa",
    "leverage",
    "right",
    "outside",
    "scale",
    "numbers",
    "iterations",
    "step",
    "sketch",
    "sketch_factor",
    "batch",
    "sampling",
    "profile",
    "weights",
    "condition_only",
    "ungated",
    "tolerance",
    "charge",
    "unit",
];

#[derive(Args)]
pub struct Evaluate {
    /// Program: catalogue name, path to a .rla file, run:ID, run:ID/STAGE or run:ID#K
    pub program: OsString,

    /// Evaluate as a stage of this curriculum does: its problems, protocol and reward
    #[arg(long, requires = "stage", conflicts_with_all = STAGE_DECIDES, help_heading = "Curriculum")]
    pub curriculum: Option<OsString>,
    /// Name of the stage
    #[arg(long, requires = "curriculum", help_heading = "Curriculum")]
    pub stage: Option<String>,

    #[command(flatten)]
    pub problem: ProblemArguments,
    /// Number of instances
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=100_000), help_heading = "Problem")]
    pub instances: u64,

    /// Iterations T [default: 10; 100 for --profile tolerance]
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=1_000_000), help_heading = "Run")]
    pub iterations: Option<u64>,
    #[command(flatten)]
    pub running: Running,

    /// Reward profile
    #[arg(long, value_enum, default_value_t = ProfileName::Sound, help_heading = "Reward")]
    pub profile: ProfileName,
    #[arg(long, value_delimiter = ',', allow_hyphen_values = true, help = weights_help(), help_heading = "Reward")]
    pub weights: Option<Vec<Weight>>,
    /// Use the condition term alone, and keep R1 live for a later stage
    #[arg(long, help_heading = "Reward")]
    pub condition_only: bool,
    /// With --profile paper: do not gate the cost term on progress, as the released `iterative_sketch` stage does
    #[arg(long, help_heading = "Reward")]
    pub ungated: bool,
    /// With --profile tolerance: target excess [default: 1e-6]
    #[arg(long, help_heading = "Reward")]
    pub tolerance: Option<f64>,
    /// With --profile tolerance: problem size ROWSxCOLS to charge work for [default: the size that is run]
    #[arg(long, help_heading = "Reward")]
    pub charge: Option<String>,
    /// With --profile tolerance: unit of work [default: flops]
    #[arg(long, value_enum, help_heading = "Reward")]
    pub unit: Option<UnitName>,
    /// Also report the paper's auxiliary reward (appendix D): ht or non_ht
    #[arg(long, help_heading = "Reward")]
    pub auxiliary: Option<Auxiliary>,

    /// Seed of the instances and of the program's random draws
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    #[command(flatten)]
    pub threads: Threads,
}

/// A weight as it is typed: a number, or KEY=NUMBER.
#[derive(Clone, PartialEq, Debug)]
pub struct Weight {
    /// The key of its term; in the order of the terms where none is given.
    pub key: Option<String>,
    /// The weight.
    pub value: f64,
}

impl FromStr for Weight {
    type Err = ParseFloatError;
    fn from_str(text: &str) -> Result<Weight, ParseFloatError> {
        let (key, value) =
            text.split_once('=').map_or((None, text), |(key, value)| (Some(key.into()), value));
        Ok(Weight { key, value: value.parse()? })
    }
}

/// The keys of these terms, with commas between them.
pub fn keys(terms: impl IntoIterator<Item = TermIndex>) -> String {
    terms.into_iter().map(|term| term.row().key).collect::<Vec<_>>().join(",")
}

fn weights_help() -> String {
    let others = TermIndex::all().filter(|term| !TermIndex::BUILTIN.contains(term));
    let others: String = others.map(|term| format!(",{}=NUMBER", term.row().key)).collect();
    let first = keys(TermIndex::BUILTIN);
    format!("Weights of {first}{others} [default: the task's; 1,10,8,1 for linear systems]")
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ProfileName {
    /// Repaired formulas
    Sound,
    /// Formulas of the paper's released code
    Paper,
    /// Work to reach a tolerance
    Tolerance,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum UnitName {
    /// Floating-point operations
    Flops,
    /// Passes over A
    Passes,
}

//! The options of `evaluate`.

use super::{Threads, named};
use clap::{Args, ValueEnum};
use rl4rla::execute::{Sampling, SketchKind};
use rl4rla::problem::{Leverage, Right, Scale};
use rl4rla::reward::Auxiliary;

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
    /// A catalogue name, a path to a .rla file, or run:ID or run:ID/STAGE
    pub program: String,

    /// Score as a stage of this curriculum does: its problems, its run, its reward
    #[arg(long, requires = "stage", conflicts_with_all = STAGE_DECIDES, help_heading = "Curriculum")]
    pub curriculum: Option<String>,
    /// The stage
    #[arg(long, requires = "curriculum", help_heading = "Curriculum")]
    pub stage: Option<String>,

    /// The problem family [default: the program's own]
    #[arg(long, help_heading = "Problem")]
    pub family: Option<String>,
    /// Rows of A [default: the family's]
    #[arg(long, value_parser = size, help_heading = "Problem")]
    pub rows: Option<usize>,
    /// Columns of A [default: the family's]
    #[arg(long, value_parser = size, help_heading = "Problem")]
    pub cols: Option<usize>,
    /// Condition number; instances take turns with several [default: as drawn]
    #[arg(long, value_delimiter = ',', allow_hyphen_values = true, help_heading = "Problem")]
    pub kappa: Vec<f64>,
    /// How unevenly rows matter: low or high
    #[arg(long, default_value = "low", value_parser = named::<Leverage>, help_heading = "Problem")]
    pub leverage: Leverage,
    /// The law of the right factor V: gauss, student-t or scaled-rows
    #[arg(long, default_value = "gauss", value_parser = named::<Right>, help_heading = "Problem")]
    pub right: Right,
    /// Share of b outside the range of A, from 0 (consistent) to below 1
    #[arg(long, default_value_t = 0.0, help_heading = "Problem")]
    pub outside: f64,
    /// `unit` brings the data to a fixed norm, `raw` leaves them as drawn
    #[arg(long, default_value = "unit", value_parser = named::<Scale>, help_heading = "Problem")]
    pub scale: Scale,
    /// A number that only this family takes, such as noise=0.5; `rl4rla list families` shows them
    #[arg(long = "with", value_name = "NAME=VALUE", value_parser = number, help_heading = "Problem")]
    pub numbers: Vec<(String, f64)>,
    /// Number of instances
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=100_000), help_heading = "Problem")]
    pub instances: u64,

    /// Iterations T [default: 10; 100 for --profile tolerance]
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=1_000_000), help_heading = "Run")]
    pub iterations: Option<u64>,
    /// Step sizes η to choose the best from, or `best` for the profile's own grid
    #[arg(
        long,
        default_value = "best",
        value_delimiter = ',',
        allow_hyphen_values = true,
        help_heading = "Run"
    )]
    pub step: Vec<String>,
    /// The kind of sketch: sjlt, gaussian, countsketch or srht
    #[arg(long, default_value_t = SketchKind::Sjlt, help_heading = "Run")]
    pub sketch: SketchKind,
    /// Rows of a sketch per column of A; a sketch is never taller than A
    #[arg(long, default_value_t = 8.0, help_heading = "Run")]
    pub sketch_factor: f64,
    /// Rows k of a sample; a sample is never taller than A
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..=10_000_000), help_heading = "Run")]
    pub batch: u64,
    /// How rows are sampled: `unbiased`, or `released` as in the paper's code
    #[arg(long, default_value = "unbiased", value_parser = named::<Sampling>, help_heading = "Run")]
    pub sampling: Sampling,

    /// The reward: repaired formulas, released formulas, or work to a tolerance
    #[arg(long, value_enum, default_value_t = ProfileName::Sound, help_heading = "Reward")]
    pub profile: ProfileName,
    /// Weights of acc,decay,comp,cond [default: the task's; 1,10,8,1 for linear systems]
    #[arg(long, value_delimiter = ',', allow_hyphen_values = true, help_heading = "Reward")]
    pub weights: Option<Vec<f64>>,
    /// Reward the condition term alone, and keep R1 for a later stage
    #[arg(long, help_heading = "Reward")]
    pub condition_only: bool,
    /// With --profile paper: pay for cheapness without progress, as `iterative_sketch` does
    #[arg(long, help_heading = "Reward")]
    pub ungated: bool,
    /// With --profile tolerance: the excess to reach [default: 1e-6]
    #[arg(long, help_heading = "Reward")]
    pub tolerance: Option<f64>,
    /// With --profile tolerance: the size ROWSxCOLS to charge for [default: the size that runs]
    #[arg(long, help_heading = "Reward")]
    pub charge: Option<String>,
    /// With --profile tolerance: what to count [default: flops]
    #[arg(long, value_enum, help_heading = "Reward")]
    pub unit: Option<UnitName>,
    /// Also report the paper's auxiliary reward (appendix D): ht or non_ht
    #[arg(long, help_heading = "Reward")]
    pub auxiliary: Option<Auxiliary>,

    /// Seed of instances and of the program's random draws
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    #[command(flatten)]
    pub threads: Threads,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ProfileName {
    /// The repaired formulas
    Sound,
    /// The formulas of the paper's released code
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

/// A whole number, also as 1e4.
fn size(text: &str) -> Result<usize, String> {
    if let Ok(whole) = text.parse() {
        return Ok(whole);
    }
    match text.parse::<f64>() {
        Ok(value) if value >= 1e18 => Err("too large".into()),
        Ok(value) if value >= 0.0 && value.fract() == 0.0 => Ok(value as usize),
        _ => Err("expected a whole number such as 10000 or 1e4".into()),
    }
}

/// NAME=VALUE.
fn number(text: &str) -> Result<(String, f64), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE, such as noise=0.5")?;
    let value = value.parse().map_err(|_| format!("expected a number after `{name}=`, got `{value}`"))?;
    Ok((name.into(), value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_may_be_written_with_an_exponent() {
        assert_eq!((size("250"), size("1e4")), (Ok(250), Ok(10_000)));
        assert!(["1.5", "-3", "nan", "1e99", "x", ""].iter().all(|text| size(text).is_err()));
    }
}

//! The options common to `evaluate` and `compare`: the problems, and how programs run on them.

use super::named;
use clap::Args;
use rl4rla::execute::{Sampling, SketchKind};
use rl4rla::problem::{Leverage, Right, Scale};

/// Which problems are drawn.
#[derive(Args)]
pub struct ProblemArguments {
    /// Problem family; see `rl4rla list families` [default: the program's own]
    #[arg(long, help_heading = "Problem")]
    pub family: Option<String>,
    /// Rows of A [default: the family's]
    #[arg(long, value_parser = size, help_heading = "Problem")]
    pub rows: Option<usize>,
    /// Columns of A [default: the family's]
    #[arg(long, value_parser = size, help_heading = "Problem")]
    pub cols: Option<usize>,
    /// Condition numbers, comma-separated; instances alternate between them [default: as drawn]
    #[arg(long, value_delimiter = ',', allow_hyphen_values = true, help_heading = "Problem")]
    pub kappa: Vec<f64>,
    /// Leverage of the rows: low, high, or coherent (a single row of small norm carries one direction)
    #[arg(long, default_value = "low", value_parser = named::<Leverage>, help_heading = "Problem")]
    pub leverage: Leverage,
    /// Distribution of the right factor V: gauss, student-t or scaled-rows
    #[arg(long, default_value = "gauss", value_parser = named::<Right>, help_heading = "Problem")]
    pub right: Right,
    /// Weight s in [0, 1) of the component of b outside the range of A: b = (1−s)·r + s·o with ‖r‖ = ‖o‖; 0 is a consistent system. The smallest relative residual is s/√(s² + (1−s)²)
    #[arg(long, default_value_t = 0.0, help_heading = "Problem")]
    pub outside: f64,
    /// Scaling of the data: `unit` for a fixed norm, `raw` for as drawn
    #[arg(long, default_value = "unit", value_parser = named::<Scale>, help_heading = "Problem")]
    pub scale: Scale,
    /// Family-specific parameter, such as noise=0.5; see `rl4rla list families`
    #[arg(long = "with", value_name = "NAME=VALUE", value_parser = number, help_heading = "Problem")]
    pub numbers: Vec<(String, f64)>,
}

/// How programs run, the number of iterations apart.
#[derive(Args)]
pub struct Running {
    /// Step size η, or several to choose the best from; `best` is the profile's own grid
    #[arg(
        long,
        default_value = "best",
        value_delimiter = ',',
        allow_hyphen_values = true,
        help_heading = "Run"
    )]
    pub step: Vec<String>,
    #[command(flatten)]
    pub chance: Chance,
}

/// What programs draw, and the number that they may read.
#[derive(Args)]
pub struct Chance {
    /// The number μ in register `mu`
    #[arg(long, default_value_t = 0.0, allow_hyphen_values = true, help_heading = "Run")]
    pub mu: f64,
    /// Iterations k from one REFRESH to the next
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=1_000_000), help_heading = "Run")]
    pub every: u64,
    /// Sketch type: sjlt, sjlt2, sjlt4, countsketch, gaussian or srht
    #[arg(long, default_value_t = SketchKind::Sjlt, help_heading = "Run")]
    pub sketch: SketchKind,
    /// Sketch rows per column of A; a sketch never has more rows than A
    #[arg(long, default_value_t = 8.0, help_heading = "Run")]
    pub sketch_factor: f64,
    /// Rows k per sample; a sample never has more rows than A
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..=10_000_000), help_heading = "Run")]
    pub batch: u64,
    /// Row sampling: `unbiased`, or `released` as in the paper's code
    #[arg(long, default_value = "unbiased", value_parser = named::<Sampling>, help_heading = "Run")]
    pub sampling: Sampling,
}

/// A whole number, also as 1e4.
pub fn size(text: &str) -> Result<usize, String> {
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

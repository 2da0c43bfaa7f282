//! The options of `explore`.

use super::problem::size;
use super::{AsCampaign, DataArguments, Resources, Threads, named};
use clap::Args;
use rl4rla::execute::SketchKind;
use rl4rla::explore::{ExploreSpec, SearchPart};
use rl4rla::problem::{Leverage, Right};

#[derive(Args)]
pub struct Explore {
    #[command(flatten)]
    pub data: DataArguments,
    /// Problem family; see `rl4rla list families` [default: mid-cond, or the first of the task]
    #[arg(long, conflicts_with = "matrix", help_heading = "Problem")]
    pub family: Option<String>,
    /// Task [default: that of the family]
    #[arg(long, conflicts_with = "matrix", help_heading = "Problem")]
    pub task: Option<String>,
    /// Rows of your problems: work is charged for this size [default: 1e6; as many as columns for square families]
    #[arg(long, conflicts_with = "matrix", value_parser = size, help_heading = "Problem")]
    pub rows: Option<usize>,
    /// Columns of your problems [default: 500; 2000 for square families]
    #[arg(long, conflicts_with = "matrix", value_parser = size, help_heading = "Problem")]
    pub cols: Option<usize>,
    /// Condition numbers, comma-separated; the reward is the mean over them [default: that of the data; 10,1e4,1e8 without
    /// data, or 10,1e3,1e5 for logistic regression]
    #[arg(long, value_delimiter = ',', allow_hyphen_values = true, help_heading = "Problem")]
    pub kappa: Option<Vec<f64>>,
    /// Leverage of the rows: low, high or coherent [default: that of the data; low without data]
    #[arg(long, value_parser = named::<Leverage>, help_heading = "Problem")]
    pub leverage: Option<Leverage>,
    /// Distribution of the right factor V: gauss, student-t or scaled-rows
    #[arg(long, conflicts_with = "matrix", default_value = "gauss", value_parser = named::<Right>, help_heading = "Problem")]
    pub right: Right,
    /// Weight in [0, 1) of the component of b outside the range of A; with 0, a sketch alone solves the problem
    /// [default: that of the data; 0.7 without data, for families that have it]
    #[arg(long, help_heading = "Problem")]
    pub outside: Option<f64>,
    /// k, the rank of a low-rank approximation [default: 20]
    #[arg(long, conflicts_with = "matrix", value_parser = size, help_heading = "Problem")]
    pub rank: Option<usize>,
    /// How fast singular values or eigenvalues fall, as the family defines it; see `rl4rla list families`
    #[arg(long, conflicts_with = "matrix", allow_hyphen_values = true, help_heading = "Problem")]
    pub decay: Option<f64>,
    /// λ of ridge regression and shifted systems, relative to the largest eigenvalue of AᵀA or A
    #[arg(long, conflicts_with = "matrix", allow_hyphen_values = true, help_heading = "Problem")]
    pub lambda: Option<f64>,
    /// Excess to reach, as the task measures it; where rounding does not allow it, ten times that of a direct solver
    #[arg(long, default_value = "1e-10", help_heading = "Problem")]
    pub tolerance: f64,

    /// Operators, comma-separated [default: all that are deterministic, and SKETCH]
    #[arg(long, value_delimiter = ',', value_name = "NAMES", help_heading = "Search")]
    pub operators: Option<Vec<String>>,
    /// Leave out the operators that make matrices
    #[arg(long, conflicts_with = "operators", help_heading = "Search")]
    pub without_matrices: bool,
    /// Maximum number of instructions of a direction, its coefficients not counted [default: 7; logistic regression: 9]
    #[arg(long, value_name = "N", help_heading = "Search")]
    pub edits: Option<usize>,
    /// Sketch type [default: tuned for each program]
    #[arg(long, help_heading = "Search")]
    pub sketch: Option<SketchKind>,
    /// Sketch rows per column of A, or per row of an answer [default: tuned for each program; 2 for answers]
    #[arg(long, help_heading = "Search")]
    pub sketch_factor: Option<f64>,
    /// Parts of the search to switch off, to see what they contribute: types, oracle, peeling, start, evolution, recurrence
    #[arg(long, value_delimiter = ',', value_name = "PARTS", value_parser = named::<SearchPart>, help_heading = "Search")]
    pub without: Vec<SearchPart>,
    /// Runs of the evolution of the programs found; 0 for none
    #[arg(long, default_value_t = ExploreSpec::EVOLVE, value_name = "N", help_heading = "Search")]
    pub evolve: usize,
    /// Final instances of each condition number
    #[arg(long, default_value_t = 4, value_name = "N", help_heading = "Search")]
    pub held_out: usize,
    /// Programs in the hall of fame
    #[arg(long, default_value_t = 6, value_name = "N", help_heading = "Search")]
    pub hall: usize,

    /// Seed of the search
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    /// With --campaign: number of consecutive seeds, one exploration each [default: 1]
    #[arg(long, value_name = "N", conflicts_with = "matrix", value_parser = clap::value_parser!(u64).range(1..=100_000), help_heading = "Campaign")]
    pub seeds: Option<u64>,
    #[command(flatten)]
    pub as_campaign: AsCampaign,
    #[command(flatten)]
    pub threads: Threads,
    #[command(flatten)]
    pub resources: Resources,
}

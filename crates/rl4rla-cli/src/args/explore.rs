//! The options of `explore`.

use super::problem::size;
use super::{Resources, Threads, named};
use clap::Args;
use rl4rla::execute::SketchKind;
use rl4rla::explore::SearchPart;
use rl4rla::problem::{Leverage, Right};

#[derive(Args)]
pub struct Explore {
    /// Problem family; see `rl4rla list families`
    #[arg(long, default_value = "mid-cond", help_heading = "Problem")]
    pub family: String,
    /// Task [default: that of the family]
    #[arg(long, help_heading = "Problem")]
    pub task: Option<String>,
    /// Rows of your problems: work is charged for this size [default: 1e6; as many as columns for square families]
    #[arg(long, value_parser = size, help_heading = "Problem")]
    pub rows: Option<usize>,
    /// Columns of your problems
    #[arg(long, value_parser = size, default_value = "500", help_heading = "Problem")]
    pub cols: usize,
    /// Condition numbers, comma-separated; the reward is the mean over them
    #[arg(
        long,
        value_delimiter = ',',
        allow_hyphen_values = true,
        default_value = "10,1e4,1e8",
        help_heading = "Problem"
    )]
    pub kappa: Vec<f64>,
    /// Leverage of the rows: low, high or coherent
    #[arg(long, default_value = "low", value_parser = named::<Leverage>, help_heading = "Problem")]
    pub leverage: Leverage,
    /// Distribution of the right factor V: gauss, student-t or scaled-rows
    #[arg(long, default_value = "gauss", value_parser = named::<Right>, help_heading = "Problem")]
    pub right: Right,
    /// Weight in [0, 1) of the component of b outside the range of A; with 0, a sketch alone solves the problem
    #[arg(long, default_value_t = 0.7, help_heading = "Problem")]
    pub outside: f64,
    /// Excess ‖A(x − x*)‖/‖b‖ to reach; where rounding does not allow it, ten times that of Householder QR
    #[arg(long, default_value = "1e-10", help_heading = "Problem")]
    pub tolerance: f64,

    /// Operators, comma-separated [default: all that are deterministic, and SKETCH]
    #[arg(long, value_delimiter = ',', value_name = "NAMES", help_heading = "Search")]
    pub operators: Option<Vec<String>>,
    /// Leave out the operators that make matrices
    #[arg(long, conflicts_with = "operators", help_heading = "Search")]
    pub without_matrices: bool,
    /// Maximum number of instructions of a direction, its coefficients not counted
    #[arg(long, default_value_t = 7, value_name = "N", help_heading = "Search")]
    pub edits: usize,
    /// Sketch type [default: tuned for each program]
    #[arg(long, help_heading = "Search")]
    pub sketch: Option<SketchKind>,
    /// Sketch rows per column of A, or per row of an answer [default: tuned for each program; 2 for answers]
    #[arg(long, help_heading = "Search")]
    pub sketch_factor: Option<f64>,
    /// Parts of the search to switch off, to see what they contribute: types, oracle, peeling, start
    #[arg(long, value_delimiter = ',', value_name = "PARTS", value_parser = named::<SearchPart>, help_heading = "Search")]
    pub without: Vec<SearchPart>,
    /// Final instances of each condition number
    #[arg(long, default_value_t = 4, value_name = "N", help_heading = "Search")]
    pub held_out: usize,
    /// Programs in the hall of fame
    #[arg(long, default_value_t = 6, value_name = "N", help_heading = "Search")]
    pub hall: usize,

    /// Seed of the search
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    #[command(flatten)]
    pub threads: Threads,
    #[command(flatten)]
    pub resources: Resources,
}

//! How curricula are searched: by one run, by many, or by enumeration.

use super::{Resources, Threads, named};
use clap::Args;
use rl4rla::discovery::{Fresh, Merge};
use rl4rla::search::Backup;
use std::ffi::OsString;

/// How stages are searched.
#[derive(Args)]
pub struct Searching {
    /// The most playouts of a stage, or of each decision where the curriculum says so [default: the curriculum's]
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = clap::value_parser!(u64).range(1..), help_heading = "Search")]
    pub budget: Option<u64>,
    /// The most evaluations of a stage's search, the final measurement of the best aside; a question to a proposer is one
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = clap::value_parser!(u64).range(1..), help_heading = "Search")]
    pub evaluations: Option<u64>,
    /// The most evaluations of a whole run: a stage may spend what those before it left
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = clap::value_parser!(u64).range(1..), help_heading = "Search")]
    pub run_evaluations: Option<u64>,
    /// The most playouts of a whole run
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = clap::value_parser!(u64).range(1..), help_heading = "Search")]
    pub run_playouts: Option<u64>,
    /// Which programs are one: `canonical` form, or `fingerprint` of behaviour [default: the curriculum's]
    #[arg(long, value_name = "KEY", value_parser = named::<Merge>, help_heading = "Search")]
    pub merge: Option<Merge>,
    /// The exploration constant c [default: the curriculum's]
    #[arg(long, value_name = "C", help_heading = "Search")]
    pub exploration: Option<f64>,
    /// The constants and the back-up of the paper's released code
    #[arg(long, help_heading = "Search")]
    pub released: bool,
    /// Play on until LUCB or the budget ends a decision, as the released code does, even when nothing is left to learn
    #[arg(long, help_heading = "Search")]
    pub patient: bool,
    /// How values travel up in Monte Carlo searches: `idempotent` (ours), `latest` (released code) or `printed` (the paper's
    /// formula: the mean over each edge, updated along all paths) [default: idempotent; with --released, latest]
    #[arg(long, value_name = "RULE", value_parser = named::<Backup>, help_heading = "Search")]
    pub backup: Option<Backup>,
    /// Monte Carlo searches pass over subtrees that have been measured as often as can be
    #[arg(long, help_heading = "Search")]
    pub skip_closed: bool,
    /// Monte Carlo searches return to the root when the subtree they decided for is exhausted
    #[arg(long, help_heading = "Search")]
    pub return_to_root: bool,
    /// The budget is for each decision, after which the leader is taken, as in the released code
    #[arg(long, help_heading = "Search")]
    pub budget_per_decision: bool,
    /// What every evaluation of a search draws anew: `no`, `draws` of sketches and samples, or `instances` too [default: the
    /// curriculum's]
    #[arg(long, value_name = "WHAT", value_parser = named::<Fresh>, help_heading = "Search")]
    pub fresh: Option<Fresh>,
    /// Every stage starts from the target of the one before, found or not: success by transition
    #[arg(long, help_heading = "Search")]
    pub from_targets: bool,
    /// For `best`: the probability δ of being wrong about the leader
    #[arg(long, default_value_t = 0.05, help_heading = "Search")]
    pub delta: f64,
    /// Without the hints a stage gives: all operators of the task, both sections open
    #[arg(long, help_heading = "Search")]
    pub no_hints: bool,
}

/// Who proposes programs to `--method islands` instead of the grammar.
#[derive(Args)]
pub struct Proposing {
    /// With `--method islands`: ask the OpenAI-compatible endpoint at this URL, as in http://localhost:8080/v1/chat/completions
    #[arg(long, value_name = "URL", requires = "model", help_heading = "Proposer")]
    pub proposer: Option<String>,
    /// The model to ask for
    #[arg(long, value_name = "NAME", requires = "proposer", help_heading = "Proposer")]
    pub model: Option<String>,
    /// The environment variable that holds the endpoint's key, if it wants one
    #[arg(long, value_name = "NAME", default_value = "OPENAI_API_KEY", help_heading = "Proposer")]
    pub key_env: String,
    /// The temperature of its answers
    #[arg(long, value_name = "T", default_value_t = 1.0, help_heading = "Proposer")]
    pub temperature: f64,
    /// The most seconds for one answer
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=3600), help_heading = "Proposer")]
    pub timeout: u64,
    /// Where answers are kept, and taken from when asked for again [default: beside the store]
    #[arg(long, value_name = "FILE", help_heading = "Proposer")]
    pub transcript: Option<std::path::PathBuf>,
}

#[derive(Args)]
pub struct Discover {
    /// A built-in curriculum or a path to a .toml file
    pub curriculum: OsString,
    /// How to search; `rl4rla list methods` shows all
    #[arg(long, default_value = DEFAULT_METHOD)]
    pub method: String,
    #[command(flatten)]
    pub searching: Searching,
    #[command(flatten)]
    pub proposing: Proposing,
    /// Seed of instances, draws and search
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    /// Choose from the front: accuracy, speed or stability, or weights such as accuracy=2,speed=1
    #[arg(long, value_name = "WHAT")]
    pub prefer: Option<String>,
    #[command(flatten)]
    pub threads: Threads,
    #[command(flatten)]
    pub resources: Resources,
}

#[derive(Args)]
pub struct Resume {
    /// A run's id, the beginning of one, or LAST
    pub run: String,
    /// Choose from the front: accuracy, speed or stability, or weights such as accuracy=2,speed=1
    #[arg(long, value_name = "WHAT")]
    pub prefer: Option<String>,
    #[command(flatten)]
    pub threads: Threads,
    #[command(flatten)]
    pub resources: Resources,
}

#[derive(Args)]
pub struct Sweep {
    /// Built-in curricula or paths to .toml files
    #[arg(required = true)]
    pub curricula: Vec<OsString>,
    /// How to search, several separated by commas
    #[arg(long, default_value = DEFAULT_METHOD, value_delimiter = ',')]
    pub methods: Vec<String>,
    /// The first seed
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    /// Number of seeds, from the first on
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    pub seeds: u64,
    #[command(flatten)]
    pub searching: Searching,
    #[command(flatten)]
    pub threads: Threads,
    #[command(flatten)]
    pub resources: Resources,
}

#[derive(Args)]
pub struct Reproduce {
    /// Tables and figures by name, or `all`
    #[arg(required = true, value_name = "ITEM")]
    pub items: Vec<String>,
    /// Number of seeds, from the first on [default: 20, as in the paper; with --quick 2]
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    pub seeds: Option<u64>,
    /// The first seed
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    /// A first look: few seeds, small budgets, ten minutes on two cores
    #[arg(long)]
    pub quick: bool,
    /// Say which runs it takes, and how many of them the store has, and run nothing
    #[arg(long)]
    pub dry_run: bool,
    /// The UCI file YearPredictionMSD.txt; without it that item uses a generated stand-in, and says so
    #[arg(long, value_name = "FILE")]
    pub data: Option<std::path::PathBuf>,
    /// Where the page, the figures and the tables go
    #[arg(long, value_name = "DIR", default_value = "rl4rla-reproduction")]
    pub out: std::path::PathBuf,
    #[command(flatten)]
    pub threads: Threads,
    #[command(flatten)]
    pub resources: Resources,
}

#[derive(Args)]
pub struct Audit {
    /// A built-in curriculum or a path to a .toml file
    pub curriculum: OsString,
    /// Number of seeds, from the first on
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    pub seeds: u64,
    /// The first seed
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    /// The most states generated for a stage
    #[arg(long, default_value_t = 5_000_000, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub budget: u64,
    /// Without the hints a stage gives: all operators of the task, both sections open
    #[arg(long)]
    pub no_hints: bool,
    #[command(flatten)]
    pub threads: Threads,
    #[command(flatten)]
    pub resources: Resources,
}

/// The fewest evaluations where the space is small, and a confidence; docs/graph-search.md compares.
const DEFAULT_METHOD: &str = "best";

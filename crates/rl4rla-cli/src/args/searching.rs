//! The options of searches: a single run, a sweep, or an enumeration.

use super::{AsCampaign, Resources, Threads, named};
use clap::Args;
use rl4rla::discovery::{Fresh, Merge};
use rl4rla::search::Backup;
use std::ffi::OsString;

/// How stages are searched.
#[derive(Args)]
pub struct Searching {
    /// Maximum playouts per stage, or per decision if the curriculum says so [default: the curriculum's]
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = clap::value_parser!(u64).range(1..), help_heading = "Search")]
    pub budget: Option<u64>,
    /// Maximum evaluations per stage, excluding the final measurement of the best programs; a query to a proposer counts as one
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = clap::value_parser!(u64).range(1..), help_heading = "Search")]
    pub evaluations: Option<u64>,
    /// Maximum evaluations per run; a stage may spend what earlier stages left over
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = clap::value_parser!(u64).range(1..), help_heading = "Search")]
    pub run_evaluations: Option<u64>,
    /// Maximum playouts per run
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = clap::value_parser!(u64).range(1..), help_heading = "Search")]
    pub run_playouts: Option<u64>,
    /// Merge programs with equal `canonical` form, or equal `fingerprint` of behaviour [default: the curriculum's]
    #[arg(long, value_name = "KEY", value_parser = named::<Merge>, help_heading = "Search")]
    pub merge: Option<Merge>,
    /// Exploration constant c [default: the curriculum's]
    #[arg(long, value_name = "C", help_heading = "Search")]
    pub exploration: Option<f64>,
    /// Use the constants and the back-up rule of the paper's released code
    #[arg(long, help_heading = "Search")]
    pub released: bool,
    /// Continue until LUCB or the budget ends a decision, as in the released code, even if everything has been measured
    #[arg(long, help_heading = "Search")]
    pub patient: bool,
    /// Back-up rule of Monte Carlo searches: `idempotent`, `latest` (released code) or `printed` (the paper's formula: the
    /// mean over each edge, updated along all paths) [default: idempotent; with --released, latest]
    #[arg(long, value_name = "RULE", value_parser = named::<Backup>, help_heading = "Search")]
    pub backup: Option<Backup>,
    /// Monte Carlo searches skip subtrees that have been measured completely
    #[arg(long, help_heading = "Search")]
    pub skip_closed: bool,
    /// Monte Carlo searches return to the root when the chosen subtree is exhausted
    #[arg(long, help_heading = "Search")]
    pub return_to_root: bool,
    /// Apply the budget to each decision, after which the leader is taken, as in the released code
    #[arg(long, help_heading = "Search")]
    pub budget_per_decision: bool,
    /// What to redraw for every evaluation of a search: `no`, `draws` (sketches and samples) or `instances` as well
    /// [default: the curriculum's]
    #[arg(long, value_name = "WHAT", value_parser = named::<Fresh>, help_heading = "Search")]
    pub fresh: Option<Fresh>,
    /// Start every stage from the target of the previous one, found or not, to measure success by transition
    #[arg(long, help_heading = "Search")]
    pub from_targets: bool,
    /// For `best`: error probability δ of the leader
    #[arg(long, default_value_t = 0.05, help_heading = "Search")]
    pub delta: f64,
    /// Ignore the hints of each stage: allow all operators of the task and open both sections
    #[arg(long, help_heading = "Search")]
    pub no_hints: bool,
    /// Search only programs that make sense whatever the units of A and b; for linear systems
    #[arg(long, help_heading = "Search")]
    pub typed: bool,
    /// Learned policy: a file of `rl4rla learn`, `shipped` or `none`. The prior of mcgs-puct, the mutations of evolution and islands
    #[arg(long, value_name = "FILE", default_value = "none", help_heading = "Search")]
    pub policy: std::path::PathBuf,
}

/// Who proposes programs to `--method islands` instead of the grammar.
#[derive(Args)]
pub struct Proposing {
    /// With `--method islands`: URL of an OpenAI-compatible endpoint that proposes programs, e.g. http://localhost:8080/v1/chat/completions
    #[arg(long, value_name = "URL", requires = "model", help_heading = "Proposer")]
    pub proposer: Option<String>,
    /// Name of the model
    #[arg(long, value_name = "NAME", requires = "proposer", help_heading = "Proposer")]
    pub model: Option<String>,
    /// Environment variable with the API key of the endpoint, if it needs one
    #[arg(long, value_name = "NAME", default_value = "OPENAI_API_KEY", help_heading = "Proposer")]
    pub key_env: String,
    /// Sampling temperature
    #[arg(long, value_name = "T", default_value_t = 1.0, help_heading = "Proposer")]
    pub temperature: f64,
    /// Timeout per request, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=3600), help_heading = "Proposer")]
    pub timeout: u64,
    /// File that records answers and replays them in repeated runs [default: next to the store]
    #[arg(long, value_name = "FILE", help_heading = "Proposer")]
    pub transcript: Option<std::path::PathBuf>,
}

#[derive(Args)]
pub struct Discover {
    /// Built-in curriculum or path to a .toml file
    pub curriculum: OsString,
    /// Search method; see `rl4rla list methods`
    #[arg(long, default_value = DEFAULT_METHOD)]
    pub method: String,
    #[command(flatten)]
    pub searching: Searching,
    #[command(flatten)]
    pub proposing: Proposing,
    /// Seed of the instances, random draws and search
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    /// Choose from the Pareto front by accuracy, speed or stability, or by weights such as accuracy=2,speed=1
    #[arg(long, value_name = "WHAT")]
    pub prefer: Option<String>,
    /// Serve the live page while the run goes on; its address goes to standard error
    #[cfg(feature = "serve")]
    #[arg(long)]
    pub live: bool,
    #[command(flatten)]
    pub threads: Threads,
    #[command(flatten)]
    pub resources: Resources,
}

#[derive(Args)]
pub struct Learn {
    /// Leave out a curriculum, and every stage that found one of its targets; may be repeated
    #[arg(long, value_name = "CURRICULUM")]
    pub without: Vec<OsString>,
    /// The file to write [default: none, only the record of the training is shown]
    #[arg(long, value_name = "FILE")]
    pub out: Option<std::path::PathBuf>,
}

#[derive(Args)]
pub struct Resume {
    /// Run id, a prefix of one, or LAST
    pub run: String,
    /// Choose from the Pareto front by accuracy, speed or stability, or by weights such as accuracy=2,speed=1
    #[arg(long, value_name = "WHAT")]
    pub prefer: Option<String>,
    #[command(flatten)]
    pub threads: Threads,
    #[command(flatten)]
    pub resources: Resources,
}

#[derive(Args)]
pub struct SweepArguments {
    /// Built-in curricula or paths to .toml files
    #[arg(required = true)]
    pub curricula: Vec<OsString>,
    /// Search methods, comma-separated
    #[arg(long, default_value = DEFAULT_METHOD, value_delimiter = ',')]
    pub methods: Vec<String>,
    /// First seed
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    /// Number of consecutive seeds
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    pub seeds: u64,
    #[command(flatten)]
    pub searching: Searching,
    #[command(flatten)]
    pub as_campaign: AsCampaign,
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
    /// Number of consecutive seeds [default: 20, as in the paper; 2 with --quick]
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    pub seeds: Option<u64>,
    /// First seed
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    /// Quick version: few seeds and small budgets, ten minutes on two cores
    #[arg(long)]
    pub quick: bool,
    /// List the required runs and how many of them are in the store, without running anything
    #[arg(long)]
    pub dry_run: bool,
    /// The UCI file YearPredictionMSD.txt; without it, the item `year` uses a generated stand-in and says so
    #[arg(long, value_name = "FILE")]
    pub data: Option<std::path::PathBuf>,
    /// Output folder for the page, figures and tables
    #[arg(long, value_name = "DIR", default_value = "rl4rla-reproduction")]
    pub out: std::path::PathBuf,
    #[command(flatten)]
    pub as_campaign: AsCampaign,
    #[command(flatten)]
    pub threads: Threads,
    #[command(flatten)]
    pub resources: Resources,
}

#[derive(Args)]
pub struct Audit {
    /// Built-in curriculum or path to a .toml file
    pub curriculum: OsString,
    /// Number of consecutive seeds
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    pub seeds: u64,
    /// First seed
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    /// Maximum number of states per stage
    #[arg(long, default_value_t = 5_000_000, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub budget: u64,
    /// Ignore the hints of each stage: allow all operators of the task and open both sections
    #[arg(long)]
    pub no_hints: bool,
    /// Enumerate only programs that make sense whatever the units of A and b; for linear systems
    #[arg(long)]
    pub typed: bool,
    #[command(flatten)]
    pub as_campaign: AsCampaign,
    #[command(flatten)]
    pub threads: Threads,
    #[command(flatten)]
    pub resources: Resources,
}

/// Needs the fewest evaluations on small spaces and states a confidence; `docs/graph-search.md` compares methods.
const DEFAULT_METHOD: &str = "best";

/// Shown after the options of `rl4rla learn`.
pub const LEARN_HELP: &str = "\
Examples:
  rl4rla learn --out policy.json
  rl4rla learn --without sketched-precond-gd --out policy.json
  rl4rla discover sketched-precond-gd --method mcgs-puct --policy policy.json

Every stage that found its target shows which edits led there, in every order of its insertions. A policy is a table of
weights of features of edits, fitted by maximum likelihood; the file contains the record of its training.
See also `rl4rla help learned-proposal`.";

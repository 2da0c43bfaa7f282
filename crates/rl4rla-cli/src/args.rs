//! The command line as typed.

mod evaluate;

pub use evaluate::{Evaluate, ProfileName, UnitName};

use crate::failure::Failure;
use crate::page::{Page, duration};
use clap::{Args, Parser, Subcommand, ValueEnum};
use rl4rla::clock::{self, Part};
use rl4rla::discovery::Merge;
use serde::de::value::StrDeserializer;
use serde::de::{DeserializeOwned, IntoDeserializer};
use serde_json::json;
use std::collections::BTreeMap;

/// Discovers randomized linear algebra algorithms as explicit, readable programs.
#[derive(Parser)]
#[command(
    name = "rl4rla",
    version,
    propagate_version = true,
    after_help = "\
Examples:
  rl4rla discover sketched-precond-gd
  rl4rla list curricula
  rl4rla show run:LAST
  rl4rla evaluate sketched-precond-gd --family mid-cond --kappa 1e6 --iterations 30

Exit codes: 0 success, 1 ran but the answer is no, 2 bad input or usage, 130 interrupted with work saved."
)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
    #[command(flatten)]
    pub shared: Shared,
}

/// What every command takes.
#[derive(Args)]
pub struct Shared {
    /// Print exactly one JSON document on standard output
    #[arg(long, global = true)]
    pub json: bool,
    /// Print no remarks, only results
    #[arg(long, short, global = true)]
    pub quiet: bool,
    /// Where runs are kept
    #[arg(long, global = true, default_value = DEFAULT_STORE, value_name = "FILE")]
    pub store: std::path::PathBuf,
}

/// The store of the current folder.
const DEFAULT_STORE: &str = "rl4rla.db";

impl Shared {
    /// A command as it is to be typed to meet the same store.
    pub fn again(&self, command: &str) -> String {
        match self.store == std::path::Path::new(DEFAULT_STORE) {
            true => format!("rl4rla {command}"),
            false => format!("rl4rla {command} --store {}", self.store.display()),
        }
    }
}

#[derive(Subcommand)]
pub enum Command {
    /// Discover an algorithm: run the stages of a curriculum, each from what the one before found
    #[command(after_help = "\
Examples:
  rl4rla discover sketched-precond-gd
  rl4rla discover precond-weighted-sgd --method mcgs-ucd --seed 3
  rl4rla discover ./mine.toml --budget 50000 --json

Everything is saved as it is computed: interrupt it at any time, and go on with `rl4rla resume RUN`.
Exit code 1 if a stage did not find its target.")]
    Discover(Discover),
    /// Go on with an interrupted run; the result is the uninterrupted one, bit for bit
    #[command(after_help = "\
Examples:
  rl4rla resume LAST
  rl4rla resume 3f9a2c1d --json

RUN is a run's id, the beginning of one, or LAST. A run that is done prints its result again.")]
    Resume(Resume),
    /// Run curricula with many seeds and methods: success rates, playouts, evaluations, times
    #[command(after_help = "\
Examples:
  rl4rla sweep sketched-precond-gd --methods best,mcgs-ucd --seeds 20
  rl4rla sweep block-kaczmarz subsampled-ls-gd --methods mcts,mcgs-uct,mcgs-ucd --seeds 20 --json

Seeds are 0 to N−1, or from --seed on, one attempt each.
What is done already is taken from the store: interrupt a sweep at any time, and start it again.
Exit code 1 if some run did not find its target.")]
    Sweep(Sweep),
    /// Enumerate every stage of a curriculum: is its target really the best program there?
    #[command(after_help = "\
Examples:
  rl4rla audit sketched-precond-gd
  rl4rla audit ./mine.toml --seeds 5 --json

Exit code 1 if some target is not the best program of its stage.")]
    Audit(Audit),
    /// Show what there is: curricula, programs, operators, families, runs, methods
    #[command(after_help = "Example:\n  rl4rla list operators --json")]
    List(List),
    /// Show a program: its name, its code with shapes, its equation, its cost in symbols
    #[command(after_help = "\
Examples:
  rl4rla show sketched-precond-gd
  rl4rla show ./mine.rla --json

Symbols: m rows and n columns of A, s rows of a sketch, k rows of a sample, T iterations.")]
    Show(Show),
    /// Decide whether two programs are one algorithm, by algebra and by execution
    #[command(after_help = "\
Examples:
  rl4rla equiv sketched-precond-gd sketched-precond-gd-factored
  rl4rla equiv ls-gd ./mine.rla --json

Exit code 0 if they are equal in exact arithmetic, 1 if not, or if algebra and execution do not agree.")]
    Equiv(Equiv),
    /// Run a program on fresh instances and score it
    #[command(
        allow_negative_numbers = true,
        after_help = "\
Examples:
  rl4rla evaluate ls-gd --family low-cond
  rl4rla evaluate sketched-precond-gd --family mid-cond --kappa 1e2,1e5,1e8 --iterations 30
  rl4rla evaluate block-kaczmarz --family mid-cond --batch 25 --iterations 200 --step 1
  rl4rla evaluate ls-gd --family mid-cond --profile tolerance --kappa 1e2,1e5,1e10 --charge 1000000x500
  rl4rla evaluate run:LAST --curriculum sketched-precond-gd --stage sketched-precond-gd

The reward and its parts are means over the instances, residuals are medians.
Exit code 1 if the program failed on every instance."
    )]
    Evaluate(Box<Evaluate>),
}

#[derive(Args)]
pub struct List {
    /// What to list
    #[arg(value_enum)]
    pub what: Listed,
    /// With `runs`: look for damage in the store first
    #[arg(long)]
    pub check: bool,
}

/// How much the machine may be used.
#[derive(Args)]
pub struct Threads {
    /// Threads; the result is the same with any number [default: all cores]
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=1024))]
    pub threads: Option<u64>,
}

/// What a computation may use, and what it tells of itself. No result depends on it.
#[derive(Args)]
pub struct Resources {
    /// The most memory for values kept to save time, in MiB; the result is the same with any number
    #[arg(long, value_name = "MIB", default_value_t = 1024)]
    pub cache: usize,
    /// Print how long instances, evaluations and the search took, added up over all threads
    #[arg(long)]
    pub timings: bool,
}

impl Resources {
    /// Runs a command with these.
    pub fn within(&self, run: impl FnOnce() -> Result<Page, Failure>) -> Result<Page, Failure> {
        rl4rla::execute::set_cache_limit(self.cache.saturating_mul(1 << 20));
        if !self.timings {
            return run();
        }
        clock::start();
        let mut page = run()?;
        let parts = Part::ALL.map(|part| (part.name(), clock::spent(part).as_secs_f64()));
        let told: Vec<String> =
            parts.iter().map(|(name, seconds)| format!("{name} {}", duration(*seconds))).collect();
        page.text = format!("{}\ntime: {}\n", page.text.trim_end(), told.join(", "));
        page.json["timings"] = json!(BTreeMap::from(parts));
        Ok(page)
    }
}

impl Threads {
    /// Makes it so; once per process.
    pub fn apply(&self) -> Result<(), Failure> {
        if let Some(threads) = self.threads {
            rayon::ThreadPoolBuilder::new().num_threads(threads as usize).build_global()?;
        }
        Ok(())
    }
}

/// How stages are searched.
#[derive(Args)]
pub struct Searching {
    /// The most playouts of a stage [default: the curriculum's]
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = clap::value_parser!(u64).range(1..), help_heading = "Search")]
    pub budget: Option<u64>,
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
    /// For `best`: the probability δ of being wrong about the leader
    #[arg(long, default_value_t = 0.05, help_heading = "Search")]
    pub delta: f64,
    /// Without the hints a stage gives: all operators of the task, both sections open
    #[arg(long, help_heading = "Search")]
    pub no_hints: bool,
}

#[derive(Args)]
pub struct Discover {
    /// A built-in curriculum or a path to a .toml file
    pub curriculum: String,
    /// How to search; `rl4rla list methods` shows all
    #[arg(long, default_value = DEFAULT_METHOD)]
    pub method: String,
    #[command(flatten)]
    pub searching: Searching,
    /// Seed of instances, draws and search
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    #[command(flatten)]
    pub threads: Threads,
    #[command(flatten)]
    pub resources: Resources,
}

#[derive(Args)]
pub struct Resume {
    /// A run's id, the beginning of one, or LAST
    pub run: String,
    #[command(flatten)]
    pub threads: Threads,
    #[command(flatten)]
    pub resources: Resources,
}

#[derive(Args)]
pub struct Sweep {
    /// Built-in curricula or paths to .toml files
    #[arg(required = true)]
    pub curricula: Vec<String>,
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
pub struct Audit {
    /// A built-in curriculum or a path to a .toml file
    pub curriculum: String,
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

#[derive(Clone, Copy, ValueEnum)]
pub enum Listed {
    /// The curricula that `discover` knows by name
    Curricula,
    /// The runs in the store
    Runs,
    /// The ways to search
    Methods,
    /// The named programs
    Programs,
    /// What programs are made of
    Operators,
    /// The problem families
    Families,
}

#[derive(Args)]
pub struct Show {
    /// A catalogue name, a path to a .rla file, or run:ID or run:ID/STAGE
    pub program: String,
}

#[derive(Args)]
pub struct Equiv {
    /// A catalogue name, a path to a .rla file, or run:ID or run:ID/STAGE
    pub first: String,
    /// Another
    pub second: String,
}

/// One of a type's names, as the type itself reads them from data.
fn named<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    let deserializer: StrDeserializer<serde::de::value::Error> = text.into_deserializer();
    T::deserialize(deserializer).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        <Cli as clap::CommandFactory>::command().debug_assert();
    }
}

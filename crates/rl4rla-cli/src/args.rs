//! The command line as typed.

mod analyze;
mod compare;
mod data;
mod evaluate;
mod export;
mod problem;
mod searching;
mod solve;

pub use analyze::Analyze;
pub use compare::Compare;
pub use data::Data;
pub use evaluate::{Evaluate, ProfileName, UnitName, Weight, keys};
pub use export::Export;
pub use problem::{Chance, Problem, Running};
pub use searching::{Audit, Discover, Proposing, Reproduce, Resume, Searching, Sweep};
pub use solve::Solve;

use crate::failure::Failure;
use crate::page::{Page, duration};
use crate::shell::quoted;
use clap::{Args, Parser, Subcommand, ValueEnum};
use rl4rla::clock::{self, Part};
use rl4rla::program::Geometry;
use serde::de::value::StrDeserializer;
use serde::de::{DeserializeOwned, IntoDeserializer};
use serde_json::json;
use std::collections::BTreeMap;
use std::ffi::OsString;

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
  rl4rla analyze sketched-precond-gd --quick
  rl4rla solve sketched-precond-gd --matrix data.csv --target price --intercept
  rl4rla export sketched-precond-gd --to python

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
        again(command, &self.store)
    }
}

/// A command as it is to be typed to meet this store.
pub fn again(command: &str, store: &std::path::Path) -> String {
    match store == std::path::Path::new(DEFAULT_STORE) {
        true => format!("rl4rla {command}"),
        false => format!("rl4rla {command} --store {}", quoted(store)),
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
  rl4rla discover subsampled-precond-gd --prefer speed

Of all programs evaluated, those that none beats in accuracy, work and stability are kept: run:ID#K names one.
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
Exit code 0 when all runs were made: how often a target was found is the answer, whatever it is.")]
    Sweep(Sweep),
    /// Enumerate every stage of a curriculum: is its target really the best program there?
    #[command(after_help = "\
Examples:
  rl4rla audit sketched-precond-gd
  rl4rla audit ./mine.toml --seeds 5 --json

Exit code 1 if some target is not the best program of its stage.")]
    Audit(Audit),
    /// Reproduce the paper: its tables and figures, computed here, with its values beside ours
    #[command(after_help = "\
Examples:
  rl4rla reproduce all --quick
  rl4rla reproduce table2 ecdf --seeds 20
  rl4rla reproduce all --data YearPredictionMSD.txt --out reproduction

Items: table1, table2, staircase, ecdf, reuse, eigenvalue, stages, transitions, tree, ablation, newton, method-tree, scalability, baselines,
year, searches, or all.
What is done already is taken from the store: interrupt it at any time, and start it again.
Exit code 1 if some item could not be made; the others are.")]
    Reproduce(Reproduce),
    /// Show what there is: curricula, programs, operators, families, baselines, runs, methods
    #[command(after_help = "Example:\n  rl4rla list operators --json")]
    List(List),
    /// Write a page about the runs in the store: what was found, how surely, at what price
    #[command(after_help = "\
Examples:
  rl4rla report
  rl4rla report LAST --out ./last
  rl4rla report --json

Writes index.html, which needs no network, and every figure and table beside it as SVG and CSV.
Without RUN it is about all runs; RUN is a run's id, the beginning of one, or LAST.")]
    Report(Report),
    /// Show a program: its name, its code with shapes, its equation, its cost in symbols
    #[command(after_help = "\
Examples:
  rl4rla show sketched-precond-gd
  rl4rla show ./mine.rla --json
  rl4rla show ./mine.rla --shape symmetric

Symbols: m rows and n columns of A, s rows of a sketch, k rows of a sample, T iterations.")]
    Show(Show),
    /// Write a program as code that runs without us, and check that it does
    #[command(after_help = "\
Examples:
  rl4rla export sketched-precond-gd --to python --out solver.py
  rl4rla export run:LAST --to rust --check
  rl4rla export all --to latex --out algorithms
  rl4rla export newton-sketch --to json

With --check the code runs on a small fixed problem with the draws of our own run, and the histories of loss and excess are
compared; without --out the verdict is then printed instead of the code. Where a language is not installed it says `not
checked`, with exit code 0. Exit code 1 if some program does not agree.")]
    Export(Box<Export>),
    /// Decide whether two programs are one algorithm, by algebra and by execution
    #[command(after_help = "\
Examples:
  rl4rla equiv sketched-precond-gd sketched-precond-gd-factored
  rl4rla equiv ls-gd ./mine.rla --json
  rl4rla equiv landweber ls-gd --shape symmetric

Exit code 0 if they are equal in exact arithmetic and run where the other runs, 1 if not, or if algebra and execution do
not agree.")]
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
    /// Find out when a program converges, how fast, at what price, and when it breaks
    #[command(
        allow_negative_numbers = true,
        after_help = "\
Examples:
  rl4rla analyze sketched-precond-gd
  rl4rla analyze precond-weighted-sgd --quick
  rl4rla analyze ls-gd --family mid-cond --kappa 1e1,1e2,1e3 --step 1.9 --tolerance 1e-8 --out ./ls-gd
  rl4rla analyze ./mine.rla --rows 4000 --cols 40 --replicates 20 --json

The iteration is analysed at every --kappa; the step is chosen at the first, and used everywhere. Intervals are 95 %
confidence intervals over the replicates. The worst case comes with the command that shows it again. Tall problems are
2000×20 unless --rows or --cols is given. docs/analyze.md explains every number."
    )]
    Analyze(Box<Analyze>),
    /// Run programs and baselines on the same instances: accuracy, time, iterations
    #[command(
        allow_negative_numbers = true,
        after_help = "\
Examples:
  rl4rla compare --baselines all --family mid-cond --kappa 1e10
  rl4rla compare sketched-precond-gd-factored --baselines qr,fossils --family mid-cond --rows 1e5 --repeats 9
  rl4rla compare newton --baselines all --family logistic --iterations 10 --step 1 --json
  rl4rla compare sketched-precond-gd --baselines qr,lsqr --matrix data.csv --target price --intercept

Solvers with an excess of at most 1e-10 come first, by time; then the others by the power of ten of their excess, and by
time among equals. Times are medians, with the least and the most.
All solvers run in one process, one after the other, beginning with another one in every repetition. Choosing the best
step for a program is not timed. With one thread, seconds are those on the core where the system tells them. Exit code 1
if every solver failed."
    )]
    Compare(Box<Compare>),
    /// Solve your own data by a program: least squares, or what else the program is for
    #[command(
        allow_negative_numbers = true,
        after_help = "\
Examples:
  rl4rla solve sketched-precond-gd --matrix data.csv --target price --intercept --out solution.csv
  rl4rla solve precond-gd --matrix A.npy --rhs b.npy --tolerance 1e-12 --out x.npy
  rl4rla solve precond-weighted-sgd --matrix A.mtx.gz --rhs b.csv --average --plot course.svg
  rl4rla solve run:LAST --matrix train.csv --target y --intercept --standardise --predict test.csv --predictions out.csv

Files are recognised by their content. docs/data.md tells what is read and what is refused, docs/solve.md how the step is
found and what happens to data that do not fit into memory.
Exit code 0 if it converged; 1 if it ran and did not reach the tolerance, with the answer and the reason."
    )]
    Solve(Box<Solve>),
}

#[derive(Args)]
pub struct List {
    /// What to list
    #[arg(value_enum)]
    pub what: Listed,
    /// With `runs`: read everything in the store first, and say so if anything is not as it was written
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
    /// The solvers that `compare` knows besides programs
    Baselines,
}

#[derive(Args)]
pub struct Report {
    /// Only these runs [default: all]
    #[arg(value_name = "RUN")]
    pub runs: Vec<String>,
    /// The folder to write to; files of the same names are replaced
    #[arg(long, default_value = "rl4rla-report", value_name = "DIR")]
    pub out: std::path::PathBuf,
    #[command(flatten)]
    pub threads: Threads,
}

#[derive(Args)]
pub struct Show {
    /// A catalogue name, a path to a .rla file, or run:ID, run:ID/STAGE or run:ID#K
    pub program: OsString,
    /// The shape of A [default: that of the program's family, or else the first that it fits]
    #[arg(long, value_enum)]
    pub shape: Option<Shape>,
}

/// The shapes of problems, as options name them.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Shape {
    /// More rows than columns
    Tall,
    /// As many rows as columns
    Square,
    /// Square, with A = Aᵀ
    Symmetric,
}

impl From<Shape> for Geometry {
    fn from(shape: Shape) -> Geometry {
        match shape {
            Shape::Tall => Geometry::Tall,
            Shape::Square => Geometry::Square,
            Shape::Symmetric => Geometry::Symmetric,
        }
    }
}

#[derive(Args)]
pub struct Equiv {
    /// A catalogue name, a path to a .rla file, or run:ID, run:ID/STAGE or run:ID#K
    pub first: OsString,
    /// Another
    pub second: OsString,
    /// The shape of A [default: that of the families the programs name, or else the first that both fit]
    #[arg(long, value_enum)]
    pub shape: Option<Shape>,
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

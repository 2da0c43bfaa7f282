//! The command line as typed.

mod advise;
mod analyze;
mod campaign;
mod compare;
mod data;
mod evaluate;
mod explore;
mod export;
mod problem;
mod resources;
mod searching;
#[cfg(feature = "serve")]
mod serve;
mod solve;

pub use advise::Advise;
pub use analyze::Analyze;
pub use campaign::{
    AsCampaign, Campaign, CampaignStep, Computing, FolderArgument, PlanArguments, ResumeArguments,
    SubmitArguments, WorkerArguments,
};
pub use compare::Compare;
pub use data::DataArguments;
pub use evaluate::{Evaluate, ProfileName, UnitName, Weight, keys};
pub use explore::Explore;
pub use export::ExportArguments;
pub use problem::{Chance, ProblemArguments, Running};
pub use resources::{EMBEDDED, Resources, Threads};
pub use searching::{Audit, Discover, Learn, Proposing, Reproduce, Resume, Searching, SweepArguments};
#[cfg(feature = "serve")]
pub use serve::Serve;
pub use solve::{Calibrate, Solve};

use crate::shell::quoted;
use clap::{Args, Parser, Subcommand, ValueEnum};
use rl4rla::program::Geometry;
use serde::de::value::StrDeserializer;
use serde::de::{DeserializeOwned, IntoDeserializer};
use std::ffi::OsString;

/// Discover, run and analyze randomized linear algebra algorithms as readable programs.
#[derive(Parser)]
#[command(
    name = "rl4rla",
    version,
    propagate_version = true,
    disable_help_subcommand = true,
    after_help = "\
Examples:
  rl4rla discover sketched-precond-gd
  rl4rla explore --cols 100 --kappa 1e3,1e6
  rl4rla list curricula
  rl4rla show run:LAST
  rl4rla evaluate sketched-precond-gd --family mid-cond --kappa 1e6 --iterations 30
  rl4rla analyze sketched-precond-gd --quick
  rl4rla advise --rows 1e6 --cols 500 --kappa 1e6
  rl4rla solve --matrix data.csv --target price --intercept
  rl4rla export sketched-precond-gd --to python

`rl4rla help` lists the topics that `rl4rla help TOPIC` explains.

Exit codes: 0 success, 1 ran but the answer is no, 2 bad input or usage, 130 interrupted (finished work is saved)."
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
    /// Print a single JSON document to standard output
    #[arg(long, global = true)]
    pub json: bool,
    /// Suppress progress and remarks; print results only
    #[arg(long, short, global = true)]
    pub quiet: bool,
    /// The store: the file that holds all runs
    #[arg(long, global = true, default_value = DEFAULT_STORE, value_name = "FILE")]
    pub store: std::path::PathBuf,
    /// Stop, and save, when standard input ends: for programs that start commands and may be killed
    #[arg(long, global = true, hide = true)]
    pub until_input_ends: bool,
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
    /// Discover an algorithm by running the stages of a curriculum
    #[command(after_help = "\
Examples:
  rl4rla discover sketched-precond-gd
  rl4rla discover precond-weighted-sgd --method mcgs-ucd --seed 3
  rl4rla discover ./mine.toml --budget 50000 --json
  rl4rla discover subsampled-precond-gd --prefer speed

Each stage starts from the program found by the previous one. The Pareto front of accuracy, work and stability is kept;
run:ID#K names its programs. Results are saved continuously: interrupt at any time and continue with `rl4rla resume RUN`.
Exit code 1 if a stage did not find its target. See also `rl4rla help curricula` and `rl4rla help graph-search`.")]
    Discover(Discover),
    /// Resume an interrupted run; the result is bitwise identical to an uninterrupted one
    #[command(after_help = "\
Examples:
  rl4rla resume LAST
  rl4rla resume 3f9a2c1d --json

RUN is a run id, a prefix of one, or LAST. For a finished run the result is printed again.")]
    Resume(Resume),
    /// Explore a family of problems without a curriculum or a target: a hall of fame of programs
    #[command(
        allow_negative_numbers = true,
        after_help = "\
Examples:
  rl4rla explore
  rl4rla explore --family high-cond --rows 2e5 --cols 100 --kappa 1e3,1e6 --tolerance 1e-8
  rl4rla explore --without-matrices --kappa 10,30
  rl4rla explore --family psd --cols 2000 --json
  rl4rla explore --matrix data.csv --target price --intercept

Nothing is given but the problems, the tolerance and the operators. Directions are enumerated by value and scored with
coefficients that an oracle chooses; formulas then replace the oracle. Finalists are tuned, selected and measured on
instances of their own, next to the catalogue. Exit code 1 if no program reached the tolerance on all of them. With
--matrix, problems are drawn that resemble your data, and the hall of fame is also run on these.
See also `rl4rla help explore`."
    )]
    Explore(Box<Explore>),
    /// Run curricula over many seeds and methods: success rates, playouts, evaluations, times
    #[command(after_help = "\
Examples:
  rl4rla sweep sketched-precond-gd --methods best,mcgs-ucd --seeds 20
  rl4rla sweep block-kaczmarz subsampled-ls-gd --methods mcts,mcgs-uct,mcgs-ucd --seeds 20 --json

One attempt per seed. Finished runs are reused from the store: interrupt at any time and repeat the command to continue.
Exit code 0 if all runs completed, whether or not they found their targets.")]
    Sweep(SweepArguments),
    /// Compute many searches on a Slurm cluster, or by many processes: plan, submit, status, resume, collect
    #[command(after_help = campaign::AFTER_HELP)]
    Campaign(Campaign),
    /// Learn a policy from the searches in the store: which edits have led to their targets
    #[command(after_help = searching::LEARN_HELP)]
    Learn(Learn),
    /// Check by exhaustive enumeration that the target of each stage is its best program
    #[command(after_help = "\
Examples:
  rl4rla audit sketched-precond-gd
  rl4rla audit ./mine.toml --seeds 5 --json

Exit code 1 if a target is not the best program of its stage.")]
    Audit(Audit),
    /// Reproduce the paper's tables and figures, with its values next to ours
    #[command(after_help = "\
Examples:
  rl4rla reproduce all --quick
  rl4rla reproduce table2 ecdf --seeds 20
  rl4rla reproduce all --data YearPredictionMSD.txt --out reproduction

Items: table1, table2, staircase, ecdf, reuse, eigenvalue, stages, transitions, tree, ablation, newton, method-tree, scalability, baselines,
year, searches, learned, winner-map, or all.
Finished runs are reused from the store: interrupt at any time and repeat the command to continue.
Exit code 1 if an item could not be produced; the others are written. See also `rl4rla help reproduce`.")]
    Reproduce(Reproduce),
    /// List curricula, programs, operators, families, baselines, methods or runs
    #[command(after_help = "Example:\n  rl4rla list operators --json")]
    List(List),
    /// Write an HTML report on the runs in the store
    #[command(after_help = "\
Examples:
  rl4rla report
  rl4rla report LAST --out ./last
  rl4rla report --json

Writes a self-contained index.html, and every figure and table as SVG and CSV in the same folder: success rates with
confidence intervals, discovered programs, equivalence evidence, cost and convergence histories.
RUN is a run id, a prefix of one, or LAST; the default is all runs.")]
    Report(Report),
    /// Serve the live page: watch, steer and browse runs in the browser
    #[cfg(feature = "serve")]
    #[command(after_help = serve::AFTER_HELP)]
    Serve(Serve),
    /// Show a program: name, code with shapes, equation, symbolic cost
    #[command(after_help = "\
Examples:
  rl4rla show sketched-precond-gd
  rl4rla show ./mine.rla --json
  rl4rla show ./mine.rla --shape symmetric

Symbols: m rows and n columns of A, s rows of a sketch, k rows of a sample, T iterations.")]
    Show(Show),
    /// Export a program as standalone code, and optionally check it
    #[command(after_help = "\
Examples:
  rl4rla export sketched-precond-gd --to python --out solver.py
  rl4rla export run:LAST --to rust --check
  rl4rla export all --to latex --out algorithms
  rl4rla export newton-sketch --to json

With --check the code runs on a small fixed problem with the random draws of a reference run, and the histories of loss and
excess are compared; without --out the verdict is printed instead of the code. If a language is not installed, the verdict
is `not checked` with exit code 0. Exit code 1 if a check fails. See also `rl4rla help export`.")]
    Export(Box<ExportArguments>),
    /// Decide whether two programs are equivalent, by algebra and by execution
    #[command(after_help = "\
Examples:
  rl4rla equiv sketched-precond-gd sketched-precond-gd-factored
  rl4rla equiv ls-gd ./mine.rla --json
  rl4rla equiv landweber ls-gd --shape symmetric

Exit code 0 if the programs are equal in exact arithmetic and defined on the same problems; 1 if not, or if algebra and
execution disagree. See also `rl4rla help equivalence`.")]
    Equiv(Equiv),
    /// Run a program on random instances and compute its reward
    #[command(
        allow_negative_numbers = true,
        after_help = "\
Examples:
  rl4rla evaluate ls-gd --family low-cond
  rl4rla evaluate sketched-precond-gd --family mid-cond --kappa 1e2,1e5,1e8 --iterations 30
  rl4rla evaluate block-kaczmarz --family mid-cond --batch 25 --iterations 200 --step 1
  rl4rla evaluate ls-gd --family mid-cond --profile tolerance --kappa 1e2,1e5,1e10 --charge 1000000x500
  rl4rla evaluate run:LAST --curriculum sketched-precond-gd --stage sketched-precond-gd

The reward and its terms are means over the instances; residuals are medians.
Exit code 1 if the program failed on every instance. See also `rl4rla help reward`."
    )]
    Evaluate(Box<Evaluate>),
    /// Analyze a program: convergence rate, step sizes, cost, robustness, worst case
    #[command(
        allow_negative_numbers = true,
        after_help = "\
Examples:
  rl4rla analyze sketched-precond-gd
  rl4rla analyze precond-weighted-sgd --quick
  rl4rla analyze ls-gd --family mid-cond --kappa 1e1,1e2,1e3 --step 1.9 --tolerance 1e-8 --out ./ls-gd
  rl4rla analyze ./mine.rla --rows 4000 --cols 40 --replicates 20 --json

The iteration is analyzed at every --kappa; the step size is chosen at the first and used for all. Intervals are 95 %
confidence intervals over the replicates. The worst case comes with a command that reproduces it. Tall problems are
2000×20 unless --rows or --cols is given. `rl4rla help analyze` explains every number."
    )]
    Analyze(Box<Analyze>),
    /// Compare programs and baseline solvers on the same instances: accuracy, time, iterations
    #[command(
        allow_negative_numbers = true,
        after_help = "\
Examples:
  rl4rla compare --baselines all --family mid-cond --kappa 1e10
  rl4rla compare sketched-precond-gd-factored --baselines qr,fossils --family mid-cond --rows 1e5 --repeats 9
  rl4rla compare newton --baselines all --family logistic --iterations 10 --step 1 --json
  rl4rla compare sketched-precond-gd --baselines qr,lsqr --matrix data.csv --target price --intercept

Solvers with an excess ‖A(x − x*)‖/‖b‖ of at most 1e-10 come first, ordered by time; then the others by the order of
magnitude of their excess, then by time. Times are medians with minimum and maximum. All solvers run sequentially in one
process, in rotating order. Choosing the best step size of a program is not timed. With one thread, CPU time is reported
where available. Exit code 1 if every solver failed. See also `rl4rla help baselines`."
    )]
    Compare(Box<Compare>),
    /// Advise on the program that takes the least work for a least-squares problem
    #[command(allow_negative_numbers = true, after_help = advise::AFTER_HELP)]
    Advise(Box<Advise>),
    /// Solve your own data: least squares, logistic regression, eigenpairs or singular values
    #[command(allow_negative_numbers = true, after_help = solve::AFTER_HELP)]
    Solve(Box<Solve>),
    /// Measure how fast this machine is, for the choices and predictions of `solve`
    #[command(after_help = solve::CALIBRATE_HELP)]
    Calibrate(Calibrate),
    /// Print the help of a command, or a document on a topic
    #[command(after_help = "\
Examples:
  rl4rla help
  rl4rla help discover
  rl4rla help curricula

Without TOPIC, all commands and topics are listed. A name that is both prints the help of the command, then the document.")]
    Help(Help),
}

#[derive(Args)]
pub struct Help {
    /// Command or topic
    pub topic: Option<String>,
}

#[derive(Args)]
pub struct List {
    /// What to list
    #[arg(value_enum)]
    pub what: Listed,
    /// With `runs`: verify the checksums of the whole store first
    #[arg(long)]
    pub check: bool,
}

#[derive(Clone, Copy, ValueEnum)]
pub enum Listed {
    /// Built-in curricula
    Curricula,
    /// Runs in the store
    Runs,
    /// Search methods
    Methods,
    /// Named programs (the catalogue)
    Programs,
    /// Operators of the program language
    Operators,
    /// Problem families
    Families,
    /// Baseline solvers for `compare`
    Baselines,
}

#[derive(Args)]
pub struct Report {
    /// Runs to include [default: all]
    #[arg(value_name = "RUN")]
    pub runs: Vec<String>,
    /// Output folder; existing files of the same names are replaced
    #[arg(long, default_value = "rl4rla-report", value_name = "DIR")]
    pub out: std::path::PathBuf,
    #[command(flatten)]
    pub threads: Threads,
}

#[derive(Args)]
pub struct Show {
    /// Program: catalogue name, path to a .rla file, run:ID, run:ID/STAGE or run:ID#K
    pub program: OsString,
    /// Shape of A [default: that of the program's family, else the first that fits]
    #[arg(long, value_enum)]
    pub shape: Option<ShapeOption>,
}

/// The shapes of problems, as options name them.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ShapeOption {
    /// More rows than columns
    Tall,
    /// As many rows as columns
    Square,
    /// Square with A = Aᵀ
    Symmetric,
}

impl From<ShapeOption> for Geometry {
    fn from(shape: ShapeOption) -> Geometry {
        match shape {
            ShapeOption::Tall => Geometry::Tall,
            ShapeOption::Square => Geometry::Square,
            ShapeOption::Symmetric => Geometry::Symmetric,
        }
    }
}

#[derive(Args)]
pub struct Equiv {
    /// Program: catalogue name, path to a .rla file, run:ID, run:ID/STAGE or run:ID#K
    pub first: OsString,
    /// The program to compare it with
    pub second: OsString,
    /// Shape of A [default: that of the programs' families, else the first that fits both]
    #[arg(long, value_enum)]
    pub shape: Option<ShapeOption>,
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

//! The options of `solve`.

use super::problem::size;
use super::{Chance, DataArguments, Threads};
use clap::Args;
use rl4rla::solve::{RankDeficient, Which};
use std::ffi::OsString;
use std::path::PathBuf;

/// Examples, and what the exit codes mean.
pub const AFTER_HELP: &str = "\
Examples:
  rl4rla solve --matrix data.csv --target price --intercept --out solution.csv
  rl4rla solve --matrix A.npy --rhs b.npy --explain
  rl4rla solve qr --matrix A.npy --rhs b.npy
  rl4rla solve precond-gd --matrix A.npy --rhs b.npy --tolerance 1e-12 --out x.npy
  rl4rla solve precond-weighted-sgd --matrix A.mtx.gz --rhs b.csv --average --plot history.svg
  rl4rla solve run:LAST --matrix train.csv --target y --intercept --standardise --predict test.csv --predictions out.csv
  rl4rla solve --eigenpairs 10 --matrix A.npy --out values.csv --vectors V.npy
  rl4rla solve --svd 50 --matrix A.npy --vectors V.npy --left-vectors U.npy

Without PROGRAM, the fastest program that fits the data is chosen, and a more stable one if its certificate does not hold.
File formats are detected from the content. `rl4rla help data` describes the formats, `rl4rla help solve` the convergence
test, the automatic step size and out-of-core data.
Exit code 0 if converged; 1 if the tolerance was not reached (the answer and the reason are printed); 2 for bad input.";

/// Examples, and where the speeds are kept.
pub const CALIBRATE_HELP: &str = "\
Examples:
  rl4rla calibrate
  rl4rla calibrate --threads 1 --json

Takes about two seconds and writes a file next to the store, which `rl4rla solve` reads. Run it when nothing else runs.";

#[derive(Args)]
pub struct Calibrate {
    #[command(flatten)]
    pub threads: Threads,
}

fn rank_deficient(text: &str) -> Result<RankDeficient, String> {
    match text {
        "refuse" => Ok(RankDeficient::Refuse),
        "drop" => Ok(RankDeficient::Drop),
        "min-norm" => Ok(RankDeficient::MinNorm),
        _ => Err("expected refuse, drop or min-norm".into()),
    }
}

fn which(text: &str) -> Result<Which, String> {
    let found = Which::ALL.into_iter().find(|(name, _)| *name == text);
    found.map(|(_, which)| which).ok_or_else(|| "expected largest-magnitude, largest or smallest".into())
}

/// Options that have no meaning for eigenpairs and singular values.
const NOT_SPECTRAL: [&str; 18] = [
    "program",
    "rhs",
    "target",
    "intercept",
    "standardise",
    "rank_deficient",
    "step",
    "lambda",
    "average",
    "mu",
    "every",
    "sketch",
    "sketch_factor",
    "batch",
    "sampling",
    "plot",
    "predict",
    "predictions",
];

#[derive(Args)]
pub struct Solve {
    /// Program: catalogue name, path to a .rla file, run:ID, run:ID/STAGE or run:ID#K; or a baseline for least squares
    /// [default: the fastest program that fits the data]
    pub program: Option<OsString>,
    /// Compute K eigenpairs of a symmetric matrix instead; no program is needed
    #[arg(long, value_name = "K", value_parser = size, requires = "matrix", conflicts_with_all = NOT_SPECTRAL, help_heading = "Eigenpairs and singular values")]
    pub eigenpairs: Option<usize>,
    /// Compute the K largest singular values and their vectors instead; no program is needed
    #[arg(long, value_name = "K", value_parser = size, requires = "matrix", conflicts_with_all = NOT_SPECTRAL, conflicts_with = "eigenpairs", help_heading = "Eigenpairs and singular values")]
    pub svd: Option<usize>,
    // The requirement alone is not enough: clap drops it if `--svd`, which conflicts with what is required, is present.
    /// Which eigenvalues: largest-magnitude, largest or smallest
    #[arg(long, default_value = "largest-magnitude", value_parser = which, requires = "eigenpairs", conflicts_with = "svd", help_heading = "Eigenpairs and singular values")]
    pub which: Which,
    /// Write the eigenvectors or right singular vectors to this file, as columns: NPY by extension, otherwise CSV
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with = "program",
        help_heading = "Eigenpairs and singular values"
    )]
    pub vectors: Option<PathBuf>,
    /// Write the left singular vectors to this file, as columns: NPY by extension, otherwise CSV
    #[arg(
        long,
        value_name = "FILE",
        requires = "svd",
        conflicts_with = "eigenpairs",
        help_heading = "Eigenpairs and singular values"
    )]
    pub left_vectors: Option<PathBuf>,
    #[command(flatten)]
    pub data: DataArguments,

    /// Iteration limit T
    #[arg(long, default_value = "1000", value_parser = size, help_heading = "Run")]
    pub iterations: usize,
    /// Stop when ‖A(x − x*)‖ ≤ tolerance·‖Ax − b‖, or at rounding level; 0 runs to the iteration limit. Other tasks have
    /// their own criteria: see `rl4rla help solve` [default: 1e-10, and without PROGRAM also a backward error at rounding level]
    #[arg(long, help_heading = "Run")]
    pub tolerance: Option<f64>,
    /// Linearly dependent columns: `refuse` reports them, `drop` removes them, `min-norm` returns the minimum-norm solution
    /// [default: refuse, and without PROGRAM min-norm]
    #[arg(long, value_name = "HOW", value_parser = rank_deficient, help_heading = "Run")]
    pub rank_deficient: Option<RankDeficient>,
    /// Without PROGRAM: run every candidate, and show predicted and measured times
    #[arg(long, help_heading = "Run", conflicts_with = "program")]
    pub explain: bool,
    /// Step size η, or `auto`: chosen by a pilot of 16 iterations or, for other tasks, by a line search in every iteration
    #[arg(long, default_value = "auto", allow_hyphen_values = true, help_heading = "Run")]
    pub step: String,
    /// λ of ridge regression, min ‖Ax − b‖² + λ‖x‖², of shifted systems, (A + λI)x = b, and of logistic regression with the
    /// penalty ½λ‖x‖², which is C = 1/λ in scikit-learn and leaves the intercept alone [default: 0]
    #[arg(long, allow_hyphen_values = true, help_heading = "Run")]
    pub lambda: Option<f64>,
    /// Without PROGRAM: ridge regression for COUNT values of λ from FIRST to LAST, with one factorisation
    #[arg(long, value_name = "FIRST:LAST:COUNT", conflicts_with_all = ["program", "lambda", "predict"], help_heading = "Run")]
    pub lambda_path: Option<String>,
    /// Task to solve without PROGRAM: least-squares or logistic
    #[arg(long, value_name = "TASK", default_value = "least-squares", value_parser = ["least-squares", "logistic"], conflicts_with = "program", help_heading = "Run")]
    pub task: String,
    /// File with a weight ≥ 0 for every row: minimizes Σ wᵢ(aᵢᵀx − bᵢ)²
    #[arg(long, value_name = "FILE", help_heading = "Data", requires = "matrix")]
    pub weights: Option<PathBuf>,
    /// Standard errors, t values and R², for least squares with independent columns
    #[arg(long, help_heading = "Output")]
    pub summary: bool,
    /// Return the mean of the second half of the iterates, which averages out sampling noise
    #[arg(long, help_heading = "Run")]
    pub average: bool,
    #[command(flatten)]
    pub chance: Chance,
    /// Seed of the random draws
    #[arg(long, default_value_t = 0, help_heading = "Run")]
    pub seed: u64,
    #[command(flatten)]
    pub threads: Threads,

    /// Write the solution to this file: NPY by extension, otherwise CSV with column names
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub out: Option<PathBuf>,
    /// Plot the convergence history of the residual as SVG, with a CSV file next to it
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub plot: Option<PathBuf>,
    /// Predict the target for the rows of another file with the same columns; for two labels, the probability of the larger one
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub predict: Option<PathBuf>,
    /// Write the predictions to this file: NPY by extension, otherwise CSV
    #[arg(long, value_name = "FILE", help_heading = "Output", requires = "predict")]
    pub predictions: Option<PathBuf>,
}

//! The options of `export`.

use super::named;
use clap::Args;
use rl4rla::execute::{Sampling, SketchKind};
use rl4rla::export::Language;
use rl4rla::program::nearest;
use std::ffi::OsString;

#[derive(Args)]
pub struct ExportArguments {
    /// Programs: catalogue names, paths to .rla files, run:ID, run:ID/STAGE or run:ID#K; `all` for the whole catalogue
    #[arg(required = true, value_name = "PROGRAM")]
    pub programs: Vec<OsString>,
    /// Output language: python, rust, julia, latex or json
    #[arg(long, value_name = "LANGUAGE", value_parser = language)]
    pub to: Language,
    /// Output file, or folder for several programs [default: standard output]
    #[arg(long, value_name = "FILE")]
    pub out: Option<std::path::PathBuf>,
    /// Run the exported code: compare it with a reference run, and test its defaults on problems with known solutions
    #[arg(long)]
    pub check: bool,

    /// Iteration limit T [default: 1000]
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=1_000_000), help_heading = "Defaults of the exported code")]
    pub iterations: Option<u64>,
    /// Tolerance τ [default: 1e-10]
    #[arg(long, allow_hyphen_values = true, help_heading = "Defaults of the exported code")]
    pub tolerance: Option<f64>,
    /// Step size η [default: determined by the code at run time]
    #[arg(long, allow_hyphen_values = true, help_heading = "Defaults of the exported code")]
    pub step: Option<f64>,
    /// The number μ in register `mu` [default: the run's, or 0]
    #[arg(long, allow_hyphen_values = true, help_heading = "Defaults of the exported code")]
    pub mu: Option<f64>,
    /// Iterations k from one REFRESH to the next [default: the run's, or 10]
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=1_000_000), help_heading = "Defaults of the exported code")]
    pub every: Option<u64>,
    /// Sketch type: sjlt, sjlt2, sjlt4, countsketch, gaussian or srht [default: the run's, or sjlt]
    #[arg(long, help_heading = "Defaults of the exported code")]
    pub sketch: Option<SketchKind>,
    /// Sketch rows per column of A [default: the run's, or 8]
    #[arg(long, allow_hyphen_values = true, help_heading = "Defaults of the exported code")]
    pub sketch_factor: Option<f64>,
    /// Rows k per sample [default: the run's, or 100]
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=10_000_000), help_heading = "Defaults of the exported code")]
    pub batch: Option<u64>,
    /// Row sampling: `unbiased`, or `released` as in the paper's code [default: the run's, or unbiased]
    #[arg(long, value_parser = named::<Sampling>, help_heading = "Defaults of the exported code")]
    pub sampling: Option<Sampling>,
}

fn language(name: &str) -> Result<Language, String> {
    Language::named(name).ok_or_else(|| {
        let known: Vec<&str> = Language::all().map(|language| language.name).collect();
        let meant = nearest(name, known.iter().copied());
        let meant = meant.map(|meant| format!(" (did you mean `{meant}`?)")).unwrap_or_default();
        format!("expected one of {}{meant}", known.join(", "))
    })
}

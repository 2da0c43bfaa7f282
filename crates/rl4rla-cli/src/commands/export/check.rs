//! Whether exported code does what the program does: it is run on a small problem with the draws of our own run.

use super::latex;
use super::toolchain::{self, Absent, Workshop};
use super::trial::Prepared;
use crate::failure::Failure;
use rl4rla::export::{Export, Language, Trial, latex_faults, unbalanced};
use rl4rla::program::Document;
use serde_json::Value;
use std::fs;

/// The largest difference between two histories that rounding may make, as a part of the largest value so far. The
/// problems have small condition numbers, so a right program stays far below.
pub const TOLERANCE: f64 = 1e-8;

/// What came of a check.
pub enum Verdict {
    /// It ran, and its histories differ by so much from ours.
    Ran(f64),
    /// It was looked at without being run, and nothing is wrong.
    Sound(&'static str),
    /// Something is wrong.
    Wrong(String),
    /// Nothing could be said.
    Unchecked(String),
}

impl Verdict {
    /// Whether the program passed, if that is known.
    pub fn passed(&self) -> Option<bool> {
        match self {
            Verdict::Ran(deviation) => Some(*deviation <= TOLERANCE),
            Verdict::Sound(_) => Some(true),
            Verdict::Wrong(_) => Some(false),
            Verdict::Unchecked(_) => None,
        }
    }

    /// How far its histories are from ours, if it ran.
    pub fn deviation(&self) -> Option<f64> {
        match self {
            Verdict::Ran(deviation) => Some(*deviation),
            _ => None,
        }
    }

    /// What else there is to say.
    pub fn words(&self) -> String {
        match self {
            Verdict::Ran(_) => String::new(),
            Verdict::Sound(how) => how.to_string(),
            Verdict::Wrong(why) | Verdict::Unchecked(why) => why.clone(),
        }
    }
}

/// A verdict for every program.
pub fn check(
    language: Language,
    exports: &[Export],
    texts: &[String],
    quiet: bool,
) -> Result<Vec<Verdict>, Failure> {
    let workshop = Workshop::open()?;
    match (language.driver, language.name) {
        (Some(driver), name) => run(language, driver, name, exports, texts, &workshop, quiet),
        (None, "latex") => texts
            .iter()
            .zip(exports)
            .map(|(text, export)| match latex_faults(text) {
                Some(fault) => Ok(Verdict::Wrong(fault)),
                None => latex::typeset(text, &export.identifier(), &workshop),
            })
            .collect(),
        _ => Ok(texts.iter().zip(exports).map(|(text, export)| read_back(text, export)).collect()),
    }
}

/// Runs all programs in one process.
fn run(
    language: Language,
    driver: fn(&[Trial]) -> String,
    name: &str,
    exports: &[Export],
    texts: &[String],
    workshop: &Workshop,
    quiet: bool,
) -> Result<Vec<Verdict>, Failure> {
    let prepared: Vec<Prepared> = exports.iter().map(Prepared::new).collect::<Result<_, _>>()?;
    for ((prepared, export), text) in prepared.iter().zip(exports).zip(texts) {
        prepared.write(&workshop.folder.join(export.identifier()))?;
        fs::write(workshop.folder.join(format!("{}.{}", export.identifier(), language.extension)), text)?;
    }
    let trials: Vec<Trial> = exports
        .iter()
        .zip(&prepared)
        .map(|(export, prepared)| Trial { export, settings: &prepared.settings })
        .collect();
    let ended = toolchain::run(name, &driver(&trials), workshop, quiet)?;
    let verdict = |((prepared, export), text): ((&Prepared, &Export), &String)| {
        let broken = if name == "julia" { unbalanced(text) } else { None };
        match (broken, &ended) {
            (Some(fault), _) => Verdict::Wrong(fault),
            (None, Err(Absent(why))) => Verdict::Unchecked(why.clone()),
            (None, Ok(said)) => match prepared.deviation(&workshop.folder.join(export.identifier())) {
                Some(deviation) => Verdict::Ran(deviation),
                None => Verdict::Wrong(format!("gave no results: {said}")),
            },
        }
    };
    Ok(prepared.iter().zip(exports).zip(texts).map(verdict).collect())
}

/// Whether data hold the program they were made from.
fn read_back(text: &str, export: &Export) -> Verdict {
    let data: Option<Value> = serde_json::from_str(text).ok();
    let program = data.as_ref().and_then(|data| data["program"].as_str());
    match program.map(str::parse::<Document>) {
        Some(Ok(document)) if document.program == export.document.program => Verdict::Sound("read back"),
        _ => Verdict::Wrong("the program cannot be read back".into()),
    }
}

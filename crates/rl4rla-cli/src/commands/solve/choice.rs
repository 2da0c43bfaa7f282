//! The automatic choice of a program: its reason, and with `--explain` what the others would have taken.

use crate::failure::Failure;
use crate::page::{duration, faint, ledger, number};
use crate::progress;
use rl4rla::execute::SketchKind;
use rl4rla::program::Entry;
use rl4rla::solve::{
    Chosen, Problem, Solution, SolveCandidate, SolveError, SolveOptions, Speeds, attempt, auto, candidates,
};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Why a program was chosen.
pub struct ProgramChoice {
    /// Its catalogue entry.
    pub entry: &'static Entry,
    /// Seconds taken by the choice and the solution.
    pub seconds: f64,
    reason: String,
    tried: Vec<(&'static str, String)>,
    kappa: Option<f64>,
    sketch: Option<(SketchKind, f64)>,
    predicted: f64,
    /// All candidates, run by `--explain`.
    alternatives: Vec<Alternative>,
}

/// A candidate that was run for comparison.
struct Alternative {
    candidate: SolveCandidate,
    seconds: f64,
    /// Its backward error, or why it has no solution.
    outcome: Result<f64, String>,
}

/// Where the speeds of this machine are kept: next to the store.
pub fn calibration(store: &Path) -> PathBuf {
    store.with_extension("calibration.json")
}

/// The speeds measured by `rl4rla calibrate`, or those of a usual machine.
pub fn speeds(store: &Path) -> Result<Speeds, Failure> {
    let path = calibration(store);
    let text = match std::fs::read_to_string(&path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Speeds::USUAL),
        text => text.map_err(|error| error.to_string()),
    };
    let speeds =
        text.and_then(|text| serde_json::from_str::<Speeds>(&text).map_err(|error| error.to_string()));
    speeds
        .and_then(|speeds| speeds.checked().ok_or_else(|| "a speed is not a positive number".into()))
        .map_err(|error: String| {
            Failure::new(format!("{}: {error}", path.display()))
                .advise("`rl4rla calibrate` writes it again; without the file, usual speeds are assumed")
        })
}

/// Solves by the automatic choice; with `explain`, all candidates are run before.
pub fn choose(
    mut problem: Problem,
    options: &SolveOptions,
    speeds: Speeds,
    explain: bool,
) -> Result<(Solution, ProgramChoice), SolveError> {
    let mut alternatives = vec![];
    for candidate in if explain { candidates(&problem, options, speeds) } else { vec![] } {
        progress::doing(format!("trying {}", candidate.program));
        let begun = Instant::now();
        let (again, solution) = attempt(&candidate, problem);
        let seconds = begun.elapsed().as_secs_f64();
        problem = again;
        let outcome = solution.map(|solution| solution.backward_error().unwrap_or(f64::NAN));
        alternatives.push(Alternative { candidate, seconds, outcome });
    }
    let begun = Instant::now();
    let chosen = auto(problem, options, speeds)?;
    let (seconds, reason) = (begun.elapsed().as_secs_f64(), chosen.reason());
    let Chosen { solution, candidate, tried, examination, .. } = chosen;
    let choice = ProgramChoice {
        entry: Entry::named(candidate.program).expect("candidates are in the catalogue"),
        seconds,
        reason,
        tried,
        kappa: examination.kappa,
        predicted: candidate.seconds,
        sketch: candidate.sketch,
        alternatives,
    };
    Ok((solution, choice))
}

impl ProgramChoice {
    /// Additional JSON keys.
    pub fn json(&self) -> Value {
        let alternative = |row: &Alternative| {
            json!({
                "program": row.candidate.program,
                "expected_to_converge": row.candidate.fit,
                "predicted_seconds": row.candidate.seconds,
                "seconds": row.seconds,
                "backward_error": row.outcome.as_ref().ok(),
                "failure": row.outcome.as_ref().err(),
            })
        };
        json!({
            "reason": self.reason,
            "predicted_seconds": self.predicted,
            "sampled_kappa": self.kappa.filter(|kappa| kappa.is_finite()),
            "sketch": self.sketch.map(|(kind, _)| kind.to_string()),
            "sketch_factor": self.sketch.map(|(_, factor)| factor),
            "tried": self.tried.iter().map(|(program, why)| json!({ "program": program, "failure": why })).collect::<Vec<_>>(),
            "alternatives": self.alternatives.iter().map(alternative).collect::<Vec<_>>(),
        })
    }

    /// The reason in one line, and the table of alternatives.
    pub fn text(&self) -> String {
        let mut text = faint(&format!("{}\n", self.reason));
        if !self.alternatives.is_empty() {
            let row = |row: &Alternative| {
                let outcome = match &row.outcome {
                    Ok(error) => format!("backward error {}", number(*error)),
                    Err(why) => why.clone(),
                };
                let fit = if row.candidate.fit { "" } else { "not expected to converge" };
                vec![
                    row.candidate.program.into(),
                    short_time(row.candidate.seconds),
                    short_time(row.seconds),
                    outcome,
                    fit.into(),
                ]
            };
            let heads = ["program", "predicted", "measured", "result", ""];
            text += &format!("\n{}", ledger(&heads, self.alternatives.iter().map(row), 1..3));
        }
        text
    }
}

/// A duration that may be below a millisecond.
fn short_time(seconds: f64) -> String {
    if seconds < 0.01 { format!("{:.2} ms", 1e3 * seconds) } else { duration(seconds) }
}

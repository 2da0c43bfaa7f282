//! The automatic choice of a program: its reason, and with `--explain` what the others would have taken.

use crate::failure::Failure;
use crate::page::{duration, faint, ledger, number};
use rl4rla::fit::{Alternative, FitChoice};
use rl4rla::solve::Speeds;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

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

/// Additional JSON keys.
pub fn json(choice: &FitChoice) -> Value {
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
        "reason": choice.reason,
        "predicted_seconds": choice.predicted,
        "sampled_kappa": choice.kappa.filter(|kappa| kappa.is_finite()),
        "sketch": choice.sketch.map(|(kind, _)| kind.to_string()),
        "sketch_factor": choice.sketch.map(|(_, factor)| factor),
        "tried": choice.tried.iter().map(|(program, why)| json!({ "program": program, "failure": why })).collect::<Vec<_>>(),
        "alternatives": choice.alternatives.iter().map(alternative).collect::<Vec<_>>(),
    })
}

/// The reason in one line, and the table of alternatives.
pub fn text(choice: &FitChoice) -> String {
    let mut text = faint(&format!("{}\n", choice.reason));
    if !choice.alternatives.is_empty() {
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
        text += &format!("\n{}", ledger(&heads, choice.alternatives.iter().map(row), 1..3));
    }
    text
}

/// A duration that may be below a millisecond.
fn short_time(seconds: f64) -> String {
    if seconds < 0.01 { format!("{:.2} ms", 1e3 * seconds) } else { duration(seconds) }
}

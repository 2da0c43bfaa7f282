//! Typesets exported documents if LaTeX is installed.

use super::toolchain::{Workshop, output};
use rl4rla::experiment::ExperimentError;
use rl4rla::experiment::exported::TrialVerdict;
use std::fs;
use std::process::Command;

/// Typesetting commands, with the arguments before the file name.
const TYPESETTERS: [(&str, &[&str]); 3] = [
    ("pdflatex", &["-interaction=nonstopmode", "-halt-on-error"]),
    ("latexmk", &["-pdf", "-interaction=nonstopmode", "-halt-on-error"]),
    ("tectonic", &[]),
];

/// Typesets a document with valid structure.
pub fn typeset(text: &str, name: &str, workshop: &Workshop) -> Result<TrialVerdict, ExperimentError> {
    let file = format!("{name}.tex");
    fs::write(workshop.folder.join(&file), text)?;
    for (program, arguments) in TYPESETTERS {
        let ran = output(Command::new(program).args(arguments).arg(&file).current_dir(&workshop.folder))?;
        let Some(ran) = ran else { continue };
        let said = String::from_utf8_lossy(&ran.stdout).into_owned();
        let fault = said.lines().find(|line| line.starts_with('!')).unwrap_or("it was not typeset");
        return Ok(match ran.status.success() {
            true => TrialVerdict::Sound("typeset"),
            false => TrialVerdict::Wrong(fault.into()),
        });
    }
    Ok(TrialVerdict::Sound("structure only; no LaTeX on this machine"))
}

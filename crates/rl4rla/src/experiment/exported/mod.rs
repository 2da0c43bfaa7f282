//! Tests of exported code: it is run on a small problem with the random draws of our own run, and with its own
//! defaults and draws on problems with known solutions.

mod problems;
mod trial;

pub use problems::TrialOutcome;

use super::ExperimentError;
use crate::export::{Export, Language, Trial, latex_faults, unbalanced};
use crate::problem::Instance;
use crate::program::Document;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use problems::{TrialProblem, write};
use trial::PreparedTrial;

/// The largest difference between two histories that counts as rounding, relative to the largest value so far. The
/// problems are well conditioned, so correct code stays far below.
pub const TOLERANCE: f64 = 1e-8;

/// The result of a check.
pub enum TrialVerdict {
    /// It ran: largest deviation of its histories from ours, and the results with its own defaults.
    Ran(f64, Vec<TrialOutcome>),
    /// It was checked without being run, and no error was found.
    Sound(&'static str),
    /// An error was found.
    Wrong(String),
    /// It could not be checked.
    Unchecked(String),
}

impl TrialVerdict {
    /// Whether the check passed, if known.
    pub fn passed(&self) -> Option<bool> {
        match self {
            TrialVerdict::Ran(deviation, outcomes) => {
                Some(*deviation <= TOLERANCE && outcomes.iter().all(|outcome| outcome.fault.is_none()))
            }
            TrialVerdict::Sound(_) => Some(true),
            TrialVerdict::Wrong(_) => Some(false),
            TrialVerdict::Unchecked(_) => None,
        }
    }

    /// Largest deviation of its histories from ours, if it ran.
    pub fn deviation(&self) -> Option<f64> {
        match self {
            TrialVerdict::Ran(deviation, _) => Some(*deviation),
            _ => None,
        }
    }

    /// The results with its own defaults.
    pub fn outcomes(&self) -> &[TrialOutcome] {
        match self {
            TrialVerdict::Ran(_, outcomes) => outcomes,
            _ => &[],
        }
    }

    /// Further details, in words.
    pub fn words(&self) -> String {
        match self {
            TrialVerdict::Ran(_, outcomes) => {
                let faults: Vec<&str> =
                    outcomes.iter().filter_map(|outcome| outcome.fault.as_deref()).collect();
                faults.join("; ")
            }
            TrialVerdict::Sound(how) => how.to_string(),
            TrialVerdict::Wrong(why) | TrialVerdict::Unchecked(why) => why.clone(),
        }
    }
}

/// The reason why nothing can be run.
pub struct Absent(pub String);

/// The environment in which exported code is tested.
pub trait CodeRunner {
    /// A temporary folder for this check.
    fn folder(&self) -> &Path;

    /// Runs a driver in the folder: its last output, or the reason why it cannot be run.
    fn run(&self, language: Language, driver: &str) -> Result<Result<String, Absent>, ExperimentError>;

    /// Typesets a document of valid structure, in a file of this name.
    fn typeset(&self, text: &str, name: &str) -> Result<TrialVerdict, ExperimentError>;
}

/// Creates a subfolder, but not its parent, which is gone if the check is being interrupted.
pub fn make_inside(folder: &Path) -> io::Result<()> {
    match fs::create_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        made => made,
    }
}

/// How exported code of a language is checked.
struct Check {
    language: &'static str,
    /// Errors that can be found without running the code.
    fault: fn(&str) -> Option<String>,
    way: Way,
}

/// What to do with code that looks right.
enum Way {
    /// Run it.
    Run,
    /// Typeset it.
    Typeset,
    /// Parse it.
    Read,
}

const CHECKS: [Check; 5] = [
    Check { language: "python", fault: |_| None, way: Way::Run },
    Check { language: "rust", fault: |_| None, way: Way::Run },
    Check { language: "julia", fault: unbalanced, way: Way::Run },
    Check { language: "latex", fault: latex_faults, way: Way::Typeset },
    Check { language: "json", fault: |_| None, way: Way::Read },
];

/// Checks every program.
pub fn check(
    language: Language,
    exports: &[Export],
    texts: &[String],
    machine: &dyn CodeRunner,
) -> Result<Vec<TrialVerdict>, ExperimentError> {
    let check = CHECKS.iter().find(|check| check.language == language.name);
    let check = check.expect("every language has a check; a test looks for it");
    let folder = machine.folder();
    let verdicts: Vec<TrialVerdict> = match (&check.way, language.driver) {
        (Way::Run, Some(driver)) => {
            let prepared: Vec<PreparedTrial> =
                exports.iter().map(PreparedTrial::new).collect::<Result<_, _>>()?;
            for ((prepared, export), text) in prepared.iter().zip(exports).zip(texts) {
                let name = export.identifier();
                prepared.write(&folder.join(&name))?;
                fs::write(folder.join(format!("{name}.{}", language.extension)), text)?;
            }
            let mut problems: BTreeMap<&'static str, Instance> = BTreeMap::new();
            for problem in exports.iter().flat_map(TrialProblem::all) {
                if !problems.contains_key(problem.name) {
                    let instance = problem.instance()?;
                    write(&instance, &folder.join(problem.name))?;
                    problems.insert(problem.name, instance);
                }
            }
            let trial = |(export, prepared)| trial(export, prepared);
            let trials: Vec<Trial> = exports.iter().zip(&prepared).map(trial).collect();
            let ended = machine.run(language, &driver(&trials))?;
            let results = |export: &Export| folder.join(export.identifier());
            let outcomes = |export: &Export| {
                let file = |problem: &str| folder.join(problem).join(format!("{}.txt", export.identifier()));
                let goal = export.run_loop.goal;
                let read = |problem: &TrialProblem| {
                    TrialOutcome::read(problem.name, &problems[problem.name], goal, &file(problem.name))
                };
                TrialProblem::all(export).iter().map(read).collect()
            };
            let pairs = exports.iter().zip(&prepared);
            pairs
                .map(|(export, prepared)| compared(prepared, &results(export), &ended, || outcomes(export)))
                .collect()
        }
        (Way::Typeset, _) => {
            let typeset = |(text, export): (&String, &Export)| machine.typeset(text, &export.identifier());
            texts.iter().zip(exports).map(typeset).collect::<Result<_, _>>()?
        }
        _ => texts.iter().zip(exports).map(|(text, export)| read_back(text, export)).collect(),
    };
    let fault = |text: &String| (check.fault)(text).map(TrialVerdict::Wrong);
    Ok(texts.iter().zip(verdicts).map(|(text, verdict)| fault(text).unwrap_or(verdict)).collect())
}

fn trial<'a>(export: &'a Export<'a>, prepared: &'a PreparedTrial) -> Trial<'a> {
    let problems = TrialProblem::all(export).iter().map(|problem| problem.name).collect();
    Trial { export, settings: &prepared.settings, problems }
}

/// Compares the results in a folder with ours.
fn compared(
    prepared: &PreparedTrial,
    folder: &Path,
    ended: &Result<String, Absent>,
    outcomes: impl Fn() -> Vec<TrialOutcome>,
) -> TrialVerdict {
    match ended {
        Err(Absent(why)) => TrialVerdict::Unchecked(why.clone()),
        Ok(said) => match prepared.deviation(folder) {
            Some(deviation) => TrialVerdict::Ran(deviation, outcomes()),
            None => TrialVerdict::Wrong(format!("gave no results: {said}")),
        },
    }
}

/// Whether exported data contain the original program.
fn read_back(text: &str, export: &Export) -> TrialVerdict {
    let data: Option<Value> = serde_json::from_str(text).ok();
    let program = data.as_ref().and_then(|data| data["program"].as_str());
    match program.map(str::parse::<Document>) {
        Some(Ok(document)) if document.program == export.document.program => TrialVerdict::Sound("read back"),
        _ => TrialVerdict::Wrong("the program cannot be read back".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_language_has_a_check_that_suits_it() {
        for language in Language::all() {
            let check = CHECKS.iter().find(|check| check.language == language.name);
            let runs = check.map(|check| matches!(check.way, Way::Run));
            assert_eq!(runs, Some(language.driver.is_some()), "{language}");
        }
    }
}

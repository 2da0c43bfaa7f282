//! The automatic choice of a program: its reason, and if asked for what the others would have taken.

use crate::execute::SketchKind;
use crate::program::Entry;
use crate::solve::{
    Chosen, Problem, Solution, SolveCandidate, SolveError, SolveOptions, Speeds, attempt, auto, candidates,
};
use std::time::Instant;

/// Why a program was chosen.
#[derive(Clone, PartialEq, Debug)]
pub struct FitChoice {
    /// Its catalogue name.
    pub program: &'static str,
    /// Its title.
    pub title: &'static str,
    /// Seconds taken by the choice and the solution.
    pub seconds: f64,
    /// Why it was chosen, in one line.
    pub reason: String,
    /// Programs tried before, and why they did not do.
    pub tried: Vec<(&'static str, String)>,
    /// κ of a sample of rows, if there was one.
    pub kappa: Option<f64>,
    /// The sketch and its rows per column, if it sketches.
    pub sketch: Option<(SketchKind, f64)>,
    /// Predicted seconds.
    pub predicted: f64,
    /// All candidates, if they were run for comparison.
    pub alternatives: Vec<Alternative>,
}

/// A candidate that was run for comparison.
#[derive(Clone, PartialEq, Debug)]
pub struct Alternative {
    /// The candidate.
    pub candidate: SolveCandidate,
    /// Seconds it took.
    pub seconds: f64,
    /// Its backward error, or why it has no solution.
    pub outcome: Result<f64, String>,
}

/// Solves by the automatic choice; with `explain`, all candidates are run before, and `doing` is told of each.
pub(super) fn choose(
    mut problem: Problem,
    options: &SolveOptions,
    speeds: Speeds,
    explain: bool,
    doing: &mut dyn FnMut(&str),
) -> Result<(Solution, FitChoice), SolveError> {
    let mut alternatives = vec![];
    for candidate in if explain { candidates(&problem, options, speeds) } else { vec![] } {
        doing(&format!("trying {}", candidate.program));
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
    let entry = Entry::named(candidate.program).expect("candidates are in the catalogue");
    let choice = FitChoice {
        program: entry.name,
        title: &entry.document.title,
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

//! What came of a stage.

use super::attempt::Attempt;
use crate::analysis::PreconditionerForm;
use crate::equivalence::Verdict;
use crate::program::Program;

/// Whether a stage found its target.
#[derive(Clone, PartialEq, Debug)]
pub struct Judgement {
    /// Whether it did.
    pub found: bool,
    /// The name of what it found, if the catalogue has one.
    pub matched: Option<&'static str>,
    /// The comparison with the target; none where the program does not fit its problems.
    pub verdict: Option<Box<Verdict>>,
    /// The condition number from which it is less accurate than the target, where that alone keeps it from being found.
    pub unstable_from: Option<f64>,
}

/// The result of one stage.
#[derive(Clone, Debug)]
pub struct StageResult {
    /// The stage's name.
    pub name: String,
    /// What the search found, whether or not it was looked for.
    pub attempt: Attempt,
    /// How it compares with the target; none if nothing was found.
    pub judgement: Option<Judgement>,
    /// How the chosen program holds its preconditioner, if it has one.
    pub form: Option<PreconditionerForm>,
    /// How long it took; no part of the result.
    pub seconds: f64,
}

impl StageResult {
    /// Whether the chosen program is the target.
    pub fn found(&self) -> bool {
        self.judgement.as_ref().is_some_and(|judgement| judgement.found)
    }

    /// The chosen program.
    pub fn program(&self) -> Option<&Program> {
        self.attempt.candidates.first().map(|chosen| &chosen.program)
    }

    /// Its mean reward on the final instances.
    pub fn reward(&self) -> f64 {
        self.attempt.report.as_ref().map_or(0.0, |report| report.reward().mean)
    }
}

//! The result of a stage.

use super::attempt::Attempt;
use crate::analysis::PreconditionerForm;
use crate::equivalence::Verdict;
use crate::program::Program;

/// Whether a stage found its target.
#[derive(Clone, PartialEq, Debug)]
pub struct Judgement {
    /// Whether the result counts as the target.
    pub found: bool,
    /// Catalogue name of the result, if it has one.
    pub matched: Option<&'static str>,
    /// The comparison with the target; `None` if the program does not fit its problems.
    pub verdict: Option<Box<Verdict>>,
    /// The condition number from which it is less accurate than the target, if that is the only reason for not being
    /// found.
    pub unstable_from: Option<f64>,
}

/// The result of one stage.
#[derive(Clone, Debug)]
pub struct StageResult {
    /// The stage's name.
    pub name: String,
    /// The result of the search.
    pub attempt: Attempt,
    /// The comparison with the target; `None` if no program was found.
    pub judgement: Option<Judgement>,
    /// How the chosen program represents its preconditioner, if it has one.
    pub form: Option<PreconditionerForm>,
    /// The target's mean reward on the final instances, if the chosen program is another one.
    pub target_reward: Option<f64>,
    /// Duration in seconds; not part of the result.
    pub seconds: f64,
}

impl StageResult {
    /// Whether the chosen program counts as the target.
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

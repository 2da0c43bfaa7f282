//! Running a curriculum: each stage starts from the program the one before really discovered, unless transitions are to be
//! judged one by one.

use super::{Curriculum, Judgement};
use crate::analysis::Form;
use crate::discovery::{Approach, Attempt, Author, Known, Observe, Problems, attempt};
use crate::problem::FamilyError;
use crate::program::Program;
use crate::search::{Counters, Stop};
use std::time::Instant;

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
    pub form: Option<Form>,
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

/// The result of a curriculum.
#[derive(Clone, Debug, Default)]
pub struct Discovery {
    /// The stages tried: all of them, or up to the first that missed its target where the next starts from what it found.
    pub stages: Vec<StageResult>,
    /// Whether every stage found its target.
    pub found: bool,
    /// Whether the run was asked to stop.
    pub interrupted: bool,
}

impl Discovery {
    /// What all searches took together.
    pub fn counters(&self) -> Counters {
        self.stages.iter().fold(Counters::default(), |sum, stage| sum.plus(stage.attempt.counters))
    }

    /// How long it took.
    pub fn seconds(&self) -> f64 {
        self.stages.iter().map(|stage| stage.seconds).sum()
    }
}

/// Hears of every stage as it ends, besides everything an observer hears.
pub trait Follow: Observe {
    /// A stage begins.
    fn begins(&mut self, _number: usize) {}

    /// A stage has ended.
    fn ended(&mut self, _number: usize, _result: &StageResult) {}
}

impl Follow for crate::discovery::Unobserved {}

/// Runs a curriculum: a pure function of curriculum, approach and seed, but for the time it takes.
///
/// `known` holds rewards computed by an earlier attempt at the same run, so that it need not compute them again.
pub fn discover(
    curriculum: &Curriculum,
    approach: &Approach,
    seed: u64,
    known: &Known,
    follow: &mut dyn Follow,
) -> Result<Discovery, FamilyError> {
    discover_among(curriculum, approach, seed, known, &Problems::default(), follow)
}

/// The same with what other runs have drawn and computed, for runs with the same seed.
pub fn discover_among(
    curriculum: &Curriculum,
    approach: &Approach,
    seed: u64,
    known: &Known,
    problems: &Problems,
    follow: &mut dyn Follow,
) -> Result<Discovery, FamilyError> {
    discover_with(curriculum, approach, seed, known, problems, None, follow)
}

/// The same with an author, whom islands ask for programs.
pub fn discover_with(
    curriculum: &Curriculum,
    approach: &Approach,
    seed: u64,
    known: &Known,
    problems: &Problems,
    mut author: Option<&mut dyn Author>,
    follow: &mut dyn Follow,
) -> Result<Discovery, FamilyError> {
    let mut discovery = Discovery::default();
    let mut program = curriculum.start.clone();
    for (number, (stage, target)) in curriculum.stages.iter().enumerate() {
        let start = Instant::now();
        follow.begins(number);
        problems.keep(&stage.families);
        let author = author.as_mut().map(|author| &mut **author as &mut dyn Author);
        let approach = &approach.after(discovery.counters());
        let attempt = attempt(stage, &program, approach, seed, number, problems, known, author, follow)?;
        if attempt.stop == Stop::Interrupted {
            discovery.interrupted = true;
            return Ok(discovery);
        }
        let chosen = attempt.candidates.first().map(|chosen| chosen.program.clone());
        let judgement = chosen.as_ref().map(|chosen| target.judge(chosen, stage.grammar.signature));
        let form = chosen.as_ref().and_then(|chosen| target.form(chosen, stage.grammar.signature));
        let seconds = start.elapsed().as_secs_f64();
        let result = StageResult { name: stage.name.clone(), attempt, judgement, form, seconds };
        follow.ended(number, &result);
        let found = result.found();
        discovery.stages.push(result);
        match chosen {
            _ if approach.from_targets && !target.is_open() => program = target.sought(),
            Some(chosen) if found => program = chosen,
            _ => return Ok(discovery),
        }
    }
    discovery.found = discovery.stages.iter().all(StageResult::found);
    Ok(discovery)
}

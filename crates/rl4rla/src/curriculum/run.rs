//! Running a curriculum: each stage starts from the program that the previous one found, unless transitions are
//! judged separately or the method writes whole programs, so that every stage is a search of its own.

use super::Curriculum;
use crate::discovery::{Approach, Bench, Context, Observer, Stage, StageResult, attempt};
use crate::problem::{FamilyError, InstanceSet};
use crate::search::{Counters, StopReason};
use std::time::Instant;

/// The result of a curriculum.
#[derive(Clone, Debug, Default)]
pub struct Discovery {
    /// The stages run: all of them, or up to the first that missed its target if the next one starts from its result.
    pub stages: Vec<StageResult>,
    /// Whether every stage found its target.
    pub found: bool,
    /// Whether the run was asked to stop.
    pub interrupted: bool,
}

impl Discovery {
    /// The sum of the counters of all searches.
    pub fn counters(&self) -> Counters {
        self.stages.iter().fold(Counters::default(), |sum, stage| sum.plus(stage.attempt.counters))
    }

    /// Duration in seconds.
    pub fn seconds(&self) -> f64 {
        self.stages.iter().map(|stage| stage.seconds).sum()
    }
}

/// Runs a curriculum: apart from durations a pure function of curriculum, approach and seed, provided that the
/// proposer in the context, if any, is one.
pub fn discover(
    curriculum: &Curriculum,
    approach: &Approach,
    seed: u64,
    context: &mut Context,
) -> Result<Discovery, FamilyError> {
    let mut discovery = Discovery::default();
    let mut program = curriculum.start.clone();
    let mut edits = 0;
    for (number, (stage, target)) in curriculum.stages.iter().enumerate() {
        let start = Instant::now();
        context.observer.begins(number);
        context.problems.keep(&stage.families);
        let approach = &approach.after(discovery.counters());
        edits += stage.edits;
        // A method that writes whole programs may make all edits up to here.
        let afresh = approach.method.info().starts_afresh();
        let stage = &Stage { edits: if afresh { edits } else { stage.edits }, ..stage.clone() };
        let attempt = attempt(stage, &program, approach, seed, number, context)?;
        if attempt.stop == StopReason::Interrupted {
            discovery.interrupted = true;
            return Ok(discovery);
        }
        let chosen = attempt.candidates.first().map(|chosen| chosen.program.clone());
        let judgement = chosen.as_ref().map(|chosen| target.judge(chosen, stage.grammar.signature));
        let form = chosen.as_ref().and_then(|chosen| target.form(chosen, stage.grammar.signature));
        let is_other = judgement.as_ref().is_some_and(|judgement| !judgement.found);
        let target_reward = match is_other {
            true => {
                let Context { known, problems, .. } = &*context;
                let bench = Bench::new(stage, InstanceSet::Final, seed, number, known, problems)?;
                Some(bench.evaluation(&target.sought()).reward().mean)
            }
            false => None,
        };
        let seconds = start.elapsed().as_secs_f64();
        let name = stage.name.clone();
        let result = StageResult { name, attempt, judgement, form, target_reward, seconds };
        context.observer.ended(number, &result);
        let found = result.found();
        discovery.stages.push(result);
        match chosen {
            _ if afresh => {}
            _ if approach.from_targets && !target.is_open() => program = target.sought(),
            Some(chosen) if found => program = chosen,
            _ => return Ok(discovery),
        }
    }
    discovery.found = discovery.stages.iter().all(StageResult::found);
    Ok(discovery)
}

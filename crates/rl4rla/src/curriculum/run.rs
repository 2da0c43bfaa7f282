//! Running a curriculum: each stage starts from the program that the previous one found, unless transitions are
//! judged separately or the method writes whole programs, so that every stage is a search of its own.

use super::Curriculum;
use crate::discovery::{Approach, Bench, Context, Observer, Stage, StageResult, attempt};
use crate::problem::{FamilyError, InstanceSet};
use crate::program::Program;
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

/// Where a stage of a run begins.
#[derive(Clone, PartialEq, Debug)]
pub struct StageStart {
    /// Index of the stage.
    pub number: usize,
    /// The program it starts from.
    pub program: Program,
    /// The sum of the counters of the searches before it.
    pub spent: Counters,
}

impl StageStart {
    /// The start of the first stage.
    pub fn first(curriculum: &Curriculum) -> StageStart {
        StageStart { number: 0, program: curriculum.start.clone(), spent: Counters::default() }
    }

    /// The start of the next stage, if there may be one: after a stage that chose this program, found its target or not,
    /// with these counters.
    #[must_use]
    pub fn next(
        self,
        curriculum: &Curriculum,
        approach: &Approach,
        chosen: Option<Program>,
        found: bool,
        counters: Counters,
    ) -> Option<StageStart> {
        let target = &curriculum.stages[self.number].1;
        let program = match chosen {
            _ if approach.method.info().starts_afresh() => self.program,
            _ if approach.from_targets && !target.is_open() => target.sought(),
            Some(chosen) if found => chosen,
            _ => return None,
        };
        Some(StageStart { number: self.number + 1, program, spent: self.spent.plus(counters) })
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
    let mut from = StageStart::first(curriculum);
    let mut edits = 0;
    for (number, (stage, target)) in curriculum.stages.iter().enumerate() {
        let start = Instant::now();
        context.observer.begins(number);
        context.problems.keep(&stage.families);
        let approach = &approach.after(from.spent);
        edits += stage.edits;
        // A method that writes whole programs may make all edits up to here.
        let afresh = approach.method.info().starts_afresh();
        let stage = &Stage { edits: if afresh { edits } else { stage.edits }, ..stage.clone() };
        let attempt = attempt(stage, &from.program, approach, seed, number, context)?;
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
        let next = from.next(curriculum, approach, chosen, result.found(), result.attempt.counters);
        discovery.stages.push(result);
        match next {
            Some(next) => from = next,
            None => return Ok(discovery),
        }
    }
    discovery.found = discovery.stages.iter().all(StageResult::found);
    Ok(discovery)
}

//! The bench: the instances of a stage, and the rewards of programs on them.

use super::log::{Known, RewardKey};
use super::problems::{MeasuredRewards, Problems};
use super::stage::{Fresh, Stage};
use crate::clock::{WorkPhase, spend, wait};
use crate::execute::PreparedInstance;
use crate::problem::{Family, FamilyError, InstanceSet};
use crate::program::Program;
use crate::reward::{Evaluation, Protocol, RewardSample, Score, draws, reward_sample, score, score_prepared};
use crate::rng::Stream;
use crate::search::Solved;
use rayon::prelude::*;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// One set of instances of a stage, with the protocol that scores programs on them.
pub struct Bench<'a> {
    /// Instances drawn once.
    instances: Vec<Arc<PreparedInstance>>,
    /// Their number, also if they were not drawn.
    turns: usize,
    /// What is redrawn for every evaluation.
    fresh: Fresh,
    /// The latest instances that were drawn for single evaluations.
    latest: Mutex<VecDeque<(usize, Arc<PreparedInstance>)>>,
    families: &'a [Family],
    protocol: &'a Protocol,
    set: InstanceSet,
    seed: u64,
    number: usize,
    known: &'a Known,
    measured: Arc<MeasuredRewards>,
}

/// A reward with other measurements of its run; these are missing if the reward was already known.
#[derive(Clone, Copy, Debug)]
pub(super) struct Measured {
    pub reward: f64,
    pub seen: Option<RewardSample>,
}

/// Minimum number of replicates for the final comparison of the best programs, if evaluations are fresh.
const REPLICATES: usize = 16;

/// Maximum number of fresh instances kept.
const LATEST: usize = 32;

impl<'a> Bench<'a> {
    /// Draws the instances of a set for stage `number` of a run; rewards in `known` are not computed again.
    pub fn new(
        stage: &'a Stage,
        set: InstanceSet,
        seed: u64,
        number: usize,
        known: &'a Known,
        problems: &Problems,
    ) -> Result<Bench<'a>, FamilyError> {
        let bench = Bench::recalling(stage, set, seed, number, known, problems);
        Ok(Bench { instances: problems.draw(&stage.families, set, seed, bench.turns)?, ..bench })
    }

    /// The same without instances, for a search that is given known rewards only.
    pub(super) fn recalling(
        stage: &'a Stage,
        set: InstanceSet,
        seed: u64,
        number: usize,
        known: &'a Known,
        problems: &Problems,
    ) -> Bench<'a> {
        let (turns, fresh) = match set {
            InstanceSet::Search => (stage.instances.search, stage.instances.fresh),
            InstanceSet::Select => (stage.instances.select, Fresh::No),
            InstanceSet::Final => (stage.instances.report, Fresh::No),
        };
        let (families, protocol) = (&stage.families, &stage.protocol);
        let measured =
            problems.measured(protocol, families, set, seed, (fresh != Fresh::No).then_some(turns));
        let (instances, latest) = Default::default();
        Bench { instances, turns, fresh, latest, families, protocol, set, seed, number, known, measured }
    }

    /// The instances drawn once.
    pub(super) fn instances(&self) -> &[Arc<PreparedInstance>] {
        &self.instances
    }

    /// Number of replicates of every value; one per instance unless evaluations are fresh.
    pub fn count(&self) -> usize {
        match self.fresh {
            Fresh::No => self.turns,
            Fresh::Draws | Fresh::Instances => self.turns.max(REPLICATES),
        }
    }

    /// Number of different values that can be drawn for a program.
    pub fn draws(&self, program: &Program) -> usize {
        match self.fresh {
            Fresh::Instances => usize::MAX,
            Fresh::Draws if has_luck(program) => usize::MAX,
            Fresh::Draws | Fresh::No => self.turns,
        }
    }

    /// The log key of a reward on replicate `index`.
    pub fn record(&self, key: u128, index: usize) -> RewardKey {
        RewardKey { stage: self.number, key, set: self.set, index }
    }

    /// The reward of a program on replicate `index`: a pure function, with common random numbers for all programs.
    pub fn reward(&self, solved: &Solved<Program>, index: usize) -> f64 {
        self.measure(solved, index).reward
    }

    /// The same with the other measurements of the run, if it was made.
    pub(super) fn measure(&self, solved: &Solved<Program>, index: usize) -> Measured {
        if let Some(&reward) = self.known.get(&self.record(solved.key, index)) {
            return Measured { reward, seen: None };
        }
        let seen = spend(WorkPhase::Evaluation, || self.reward_sample(&solved.solution, index));
        Measured { reward: seen.reward, seen: Some(seen) }
    }

    /// The same, computed even if the reward is known.
    pub fn reward_sample(&self, program: &Program, index: usize) -> RewardSample {
        // Without random draws, all replicates on one instance are equal.
        let one = self.fresh == Fresh::Draws && !has_luck(program);
        let index = if one { index % self.instances.len() } else { index };
        let stream = self.stream(index);
        // The Pareto front uses the first instance only; elsewhere the singular values are not needed.
        reward_sample(program, &self.instance(index), self.protocol, &stream, index == 0, &self.measured.runs)
    }

    /// The instance of replicate `index`.
    fn instance(&self, index: usize) -> Arc<PreparedInstance> {
        let usual = &self.instances[index % self.instances.len()];
        if self.fresh != Fresh::Instances || index < self.instances.len() {
            return usual.clone();
        }
        let latest = || self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, known)) = latest().iter().find(|(other, _)| *other == index) {
            return known.clone();
        }
        let family = self.families[index % self.families.len()].for_set(self.set);
        // A sample of a table may be rejected; the initial instances were not.
        let Ok(drawn) = PreparedInstance::draw(&family, &self.set.stream(self.seed, index as u64)) else {
            return usual.clone();
        };
        let (drawn, mut latest) = (Arc::new(drawn), latest());
        latest.push_back((index, drawn.clone()));
        if latest.len() > LATEST {
            latest.pop_front();
        }
        drawn
    }

    /// The excess at the starting point of instance `index`.
    pub fn start(&self, index: usize) -> f64 {
        self.instances[index].problem().measure_start().1
    }

    /// The score of a program on instance `index`, with all terms and its history.
    pub fn score(&self, program: &Program, index: usize, executor: Executor) -> Score {
        let (stream, prepared) = (self.stream(index), &self.instances[index]);
        let score = || match executor {
            Executor::Full => score(program, &prepared.instance(), self.protocol, &stream),
            Executor::Reduced => score_prepared(program, prepared, self.protocol, &stream),
        };
        self.measured.score(program, stream, executor, || spend(WorkPhase::Report, score))
    }

    /// Measures a program on all instances: in reduced coordinates, and on the first one by the full executor too. If
    /// the two disagree there, rounding matters to this program, and all scores are those of the full executor.
    pub fn evaluation(&self, program: &Program) -> Evaluation {
        let all = |executor: Executor| -> Vec<Score> {
            let one = |index| self.score(program, index, executor);
            wait(|| (0..self.instances.len()).into_par_iter().map(one).collect())
        };
        let full = wait(|| self.score(program, 0, Executor::Full));
        let mut scores = all(Executor::Reduced);
        if agree(&full, &scores[0]) {
            scores[0] = full;
        } else {
            scores = all(Executor::Full);
        }
        Evaluation { scores }
    }

    fn stream(&self, index: usize) -> Stream {
        draws(self.seed, index as u64, self.set as u64)
    }
}

/// The executors that can compute a score: they differ by rounding.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Executor {
    /// On the original matrices.
    Full,
    /// In reduced coordinates, if the program allows it.
    Reduced,
}

/// Largest relative difference of the rewards and of the final excesses of two executors that agree.
const AGREEMENT: f64 = 1e-3;

/// Whether two scores of a program on the same instance agree.
fn agree(full: &Score, reduced: &Score) -> bool {
    let close = |a: f64, b: f64| (a - b).abs() <= AGREEMENT * a.abs().max(b.abs());
    let both_fail = full.outcome.is_err() && reduced.outcome.is_err();
    both_fail
        || (close(full.reward, reduced.reward)
            && full.reached == reduced.reached
            && close(full.last_excess(), reduced.last_excess()))
}

/// Whether a program makes random draws.
fn has_luck(program: &Program) -> bool {
    program.setup.iter().chain(&program.iteration).any(|instruction| instruction.op.draws())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discovery::Instances;
    use crate::program::{Entry, Geometry, Grammar};
    use crate::reward::{Profile, StepRule};

    /// Final excesses of a catalogue program on three instances of a condition number: as reported, and by each executor.
    fn excesses(name: &str, condition: f64) -> [Vec<f64>; 3] {
        let family =
            Family { rows: 200, cols: 6, condition: Some(condition), ..Family::named("mid-cond").unwrap() };
        let stage = Stage {
            name: name.into(),
            grammar: Grammar::full(Geometry::Tall),
            edits: 1,
            families: vec![family],
            protocol: Protocol::new(Profile::sound(), StepRule::Fixed(1.0)),
            exploration: 0.5,
            budget_per_decision: false,
            budget: 10,
            merge: crate::discovery::Merge::Canonical,
            instances: Instances { search: 1, select: 1, report: 3, ..Instances::default() },
        };
        let (known, problems) = (Known::default(), Problems::default());
        let bench = Bench::new(&stage, InstanceSet::Final, 0, 0, &known, &problems).unwrap();
        let program = &Entry::named(name).unwrap().document.program;
        let by = |executor| (0..3).map(|index| bench.score(program, index, executor).last_excess()).collect();
        [
            bench.evaluation(program).scores.iter().map(Score::last_excess).collect(),
            by(Executor::Full),
            by(Executor::Reduced),
        ]
    }

    #[test]
    fn a_report_is_that_of_the_full_executor_where_rounding_matters() {
        // Ten steps of gradient descent are the same in all coordinates.
        let [reported, full, reduced] = excesses("ls-gd", 10.0);
        assert_eq!(reported[0], full[0]);
        assert_eq!(reported[1..], reduced[1..]);
        assert_ne!(full[1..], reduced[1..], "they differ in the last digits");
        // The Gram matrix is inverted with an error of about κ²·ε, and what is left after ten steps is rounding.
        let [reported, full, reduced] = excesses("precond-gd", 1e7);
        assert_eq!(reported, full);
        assert_ne!(full, reduced);
    }
}

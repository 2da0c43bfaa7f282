//! The bench: the instances of a stage, drawn once, and the rewards programs earn on them.

use super::log::{Known, Record};
use super::problems::{Earned, Problems};
use super::stage::Stage;
use crate::clock::{Part, spend};
use crate::execute::Prepared;
use crate::problem::{FamilyError, InstanceSet};
use crate::program::Program;
use crate::reward::{Earnings, Protocol, Score, draws, earnings, score};
use crate::rng::Stream;
use crate::search::Solved;
use std::sync::Arc;

/// One set of instances of a stage, with the protocol that scores programs on them.
pub struct Bench<'a> {
    instances: Vec<Arc<Prepared>>,
    protocol: &'a Protocol,
    set: InstanceSet,
    seed: u64,
    number: usize,
    known: &'a Known,
    earned: Arc<Earned>,
}

impl<'a> Bench<'a> {
    /// Draws the instances of a set, for stage `number` of a run; what is `known` need not be computed again.
    pub fn new(
        stage: &'a Stage,
        set: InstanceSet,
        seed: u64,
        number: usize,
        known: &'a Known,
        problems: &Problems,
    ) -> Result<Bench<'a>, FamilyError> {
        let count = match set {
            InstanceSet::Search => stage.instances.search,
            InstanceSet::Select => stage.instances.select,
            InstanceSet::Final => stage.instances.report,
        };
        let instances = problems.draw(&stage.families, set, seed, count)?;
        let protocol = &stage.protocol;
        let earned = problems.earned(protocol, &stage.families, set, seed);
        Ok(Bench { instances, protocol, set, seed, number, known, earned })
    }

    /// How many instances there are.
    pub fn count(&self) -> usize {
        self.instances.len()
    }

    /// The name of a reward on instance `index`.
    pub fn record(&self, key: u128, index: usize) -> Record {
        Record { stage: self.number, key, set: self.set, index }
    }

    /// What a program earns on instance `index`: a pure function, with the same luck for every program.
    pub fn reward(&self, solved: &Solved<Program>, index: usize) -> f64 {
        let known = self.known.get(&self.record(solved.key, index)).copied();
        known.unwrap_or_else(|| spend(Part::Evaluation, || self.earnings(&solved.solution, index)).reward)
    }

    /// The same, with what else was seen of the run.
    pub fn earnings(&self, program: &Program, index: usize) -> Earnings {
        let (instance, luck) = (&self.instances[index], self.draws(index));
        // Fronts look at the first instance; elsewhere singular values would be found for nothing.
        earnings(program, instance, self.protocol, &luck, index == 0, &self.earned.rewards)
    }

    /// The excess that instance `index` starts with.
    pub fn start(&self, index: usize) -> f64 {
        self.instances[index].problem().measure_start().1
    }

    /// The whole score of a program on instance `index`, by the full executor.
    pub fn score(&self, program: &Program, index: usize) -> Score {
        let luck = self.draws(index);
        self.earned.score(program, luck, || {
            let instance = self.instances[index].instance();
            spend(Part::Report, || score(program, instance, self.protocol, &luck))
        })
    }

    fn draws(&self, index: usize) -> Stream {
        draws(self.seed, index as u64, self.set as u64)
    }
}

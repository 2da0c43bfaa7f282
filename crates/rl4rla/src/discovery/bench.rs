//! The bench: the instances of a stage, drawn once, and the rewards programs earn on them.

use super::log::{Known, Record};
use super::stage::Stage;
use crate::clock::{Part, spend};
use crate::execute::Prepared;
use crate::problem::{Family, FamilyError, InstanceSet};
use crate::program::Program;
use crate::reward::{Protocol, Rewards, Score, draws, score, shared_reward};
use crate::rng::Stream;
use crate::search::Solved;
use rayon::prelude::*;
use std::sync::{Arc, Mutex};

/// Instances drawn so far, shared by the stages of a run that draw from the same families.
#[derive(Default)]
pub struct Problems {
    drawn: Mutex<Vec<(Place, Arc<Prepared>)>>,
}

#[derive(Clone, PartialEq, Debug)]
struct Place {
    family: Family,
    set: InstanceSet,
    seed: u64,
    index: usize,
}

impl Problems {
    /// The first `count` instances of a set, the families taking turns.
    pub fn draw(
        &self,
        families: &[Family],
        set: InstanceSet,
        seed: u64,
        count: usize,
    ) -> Result<Vec<Arc<Prepared>>, FamilyError> {
        (0..count)
            .into_par_iter()
            .map(|index| self.one(Place { family: families[index % families.len()], set, seed, index }))
            .collect()
    }

    fn one(&self, place: Place) -> Result<Arc<Prepared>, FamilyError> {
        let drawn = || self.drawn.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some((_, known)) = drawn().iter().find(|(other, _)| *other == place) {
            return Ok(known.clone());
        }
        let stream = place.set.stream(place.seed, place.index as u64);
        let prepared = Arc::new(Prepared::draw(&place.family, &stream)?);
        drawn().push((place, prepared.clone()));
        Ok(prepared)
    }

    /// Forgets what families other than these gave.
    pub fn keep(&self, families: &[Family]) {
        let mut drawn = self.drawn.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        drawn.retain(|(place, _)| families.contains(&place.family));
    }
}

/// One set of instances of a stage, with the protocol that scores programs on them.
pub struct Bench<'a> {
    instances: Vec<Arc<Prepared>>,
    protocol: &'a Protocol,
    set: InstanceSet,
    seed: u64,
    number: usize,
    known: &'a Known,
    rewards: Rewards,
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
        let (protocol, rewards) = (&stage.protocol, Rewards::new());
        Ok(Bench { instances, protocol, set, seed, number, known, rewards })
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
        known.unwrap_or_else(|| {
            spend(Part::Evaluation, || {
                let (instance, luck) = (&self.instances[index], self.draws(index));
                shared_reward(&solved.solution, instance, self.protocol, &luck, &self.rewards)
            })
        })
    }

    /// The whole score of a program on instance `index`, by the full executor.
    pub fn score(&self, program: &Program, index: usize) -> Score {
        let instance = self.instances[index].instance();
        spend(Part::Report, || score(program, instance, self.protocol, &self.draws(index)))
    }

    fn draws(&self, index: usize) -> Stream {
        draws(self.seed, index as u64, self.set as u64)
    }
}

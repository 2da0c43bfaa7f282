//! The bench: the instances of a stage, drawn once, and the rewards programs earn on them.

use super::stage::Stage;
use crate::execute::Prepared;
use crate::problem::{Family, FamilyError, InstanceSet};
use crate::program::Program;
use crate::reward::{Protocol, draws, reward};
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
        let instance = place.family.draw(&place.set.stream(place.seed, place.index as u64))?;
        let prepared = Arc::new(Prepared::new(instance));
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
pub struct Bench {
    instances: Vec<Arc<Prepared>>,
    protocol: Protocol,
    set: InstanceSet,
    seed: u64,
}

impl Bench {
    /// Draws the instances of a set.
    pub fn new(
        stage: &Stage,
        set: InstanceSet,
        seed: u64,
        problems: &Problems,
    ) -> Result<Bench, FamilyError> {
        let count = match set {
            InstanceSet::Search => stage.instances.search,
            InstanceSet::Select => stage.instances.select,
            InstanceSet::Final => stage.instances.report,
        };
        let instances = problems.draw(&stage.families, set, seed, count)?;
        Ok(Bench { instances, protocol: stage.protocol.clone(), set, seed })
    }

    /// How many instances there are.
    pub fn count(&self) -> usize {
        self.instances.len()
    }

    /// Which set they are.
    pub fn set(&self) -> InstanceSet {
        self.set
    }

    /// The instances.
    pub fn instances(&self) -> &[Arc<Prepared>] {
        &self.instances
    }

    /// What a program earns on instance `index`: a pure function, with the same luck for every program.
    pub fn reward(&self, program: &Program, index: usize) -> f64 {
        let stream = draws(self.seed, index as u64, self.set as u64);
        reward(program, &self.instances[index], &self.protocol, &stream)
    }
}

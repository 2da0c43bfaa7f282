//! Shared by all runs of one seed: the instances they draw, and the rewards of programs on them.

use super::bench::Executor;
use crate::cache::{Cache, is_short};
use crate::execute::PreparedInstance;
use crate::problem::{Family, FamilyError, InstanceSet};
use crate::program::{Canonical, LiveOut, Program};
use crate::reward::{Protocol, Score, SharedRuns};
use crate::rng::Stream;
use rayon::prelude::*;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Instances drawn and rewards computed so far: shared by the stages of a run that draw from the same families, and
/// by runs with the same seed. A cache: no result depends on its contents.
#[derive(Default)]
pub struct Problems {
    drawn: Mutex<Vec<(Place, Arc<PreparedInstance>)>>,
    measured: Mutex<Vec<(Terms, Arc<MeasuredRewards>)>>,
}

#[derive(Clone, PartialEq, Debug)]
struct Place {
    family: Family,
    set: InstanceSet,
    seed: u64,
    index: usize,
}

/// Everything that a reward depends on, besides the program and the random draws.
#[derive(Clone, PartialEq, Debug)]
struct Terms {
    protocol: Protocol,
    families: Vec<Family>,
    set: InstanceSet,
    seed: u64,
    /// Number of initial instances, if replicates rotate over them; `None` if each replicate has its own.
    turns: Option<usize>,
}

/// Rewards of programs on one set of instances under one protocol.
pub struct MeasuredRewards {
    /// Runs in reduced coordinates.
    pub(super) runs: SharedRuns,
    /// Full scores.
    scores: Cache<(u128, Stream, Executor), Score>,
}

fn lock<T>(held: &Mutex<T>) -> MutexGuard<'_, T> {
    held.lock().unwrap_or_else(PoisonError::into_inner)
}

impl MeasuredRewards {
    /// The full score of a program with this RNG stream.
    pub(super) fn score(
        &self,
        program: &Program,
        stream: Stream,
        executor: Executor,
        make: impl FnOnce() -> Score,
    ) -> Score {
        self.scores.find((Canonical::new(program, LiveOut::PARTIAL).id(), stream, executor), make)
    }
}

impl Problems {
    /// The first `count` instances of a set, alternating between the families.
    pub fn draw(
        &self,
        families: &[Family],
        set: InstanceSet,
        seed: u64,
        count: usize,
    ) -> Result<Vec<Arc<PreparedInstance>>, FamilyError> {
        (0..count)
            .into_par_iter()
            .map(|index| self.one(Place { family: families[index % families.len()], set, seed, index }))
            .collect()
    }

    fn one(&self, place: Place) -> Result<Arc<PreparedInstance>, FamilyError> {
        if let Some((_, known)) = lock(&self.drawn).iter().find(|(other, _)| *other == place) {
            return Ok(known.clone());
        }
        let stream = place.set.stream(place.seed, place.index as u64);
        let prepared = Arc::new(PreparedInstance::draw(&place.family.for_set(place.set), &stream)?);
        lock(&self.drawn).push((place, prepared.clone()));
        Ok(prepared)
    }

    /// The cached rewards for this protocol and these instances.
    pub fn measured(
        &self,
        protocol: &Protocol,
        families: &[Family],
        set: InstanceSet,
        seed: u64,
        turns: Option<usize>,
    ) -> Arc<MeasuredRewards> {
        let terms = Terms { protocol: protocol.clone(), families: families.to_vec(), set, seed, turns };
        let mut measured = lock(&self.measured);
        if let Some((_, known)) = measured.iter().find(|(other, _)| *other == terms) {
            return known.clone();
        }
        let new = Arc::new(MeasuredRewards { runs: SharedRuns::new(), scores: Cache::new() });
        measured.push((terms, new.clone()));
        new
    }

    /// Frees memory for the instances of these families if it is short: each cache evicts only its own values, so
    /// those of other instances are dropped here.
    pub fn keep(&self, families: &[Family]) {
        let drawn = lock(&self.drawn);
        for (_, prepared) in drawn.iter().filter(|(place, _)| is_short() && !families.contains(&place.family))
        {
            prepared.forget();
        }
        if is_short() {
            drawn.iter().for_each(|(_, prepared)| prepared.forget());
        }
    }
}

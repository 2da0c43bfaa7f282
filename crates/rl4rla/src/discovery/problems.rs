//! Shared by all runs of one seed: the instances they draw, and the rewards of programs on them.

use crate::execute::{Cache, PreparedInstance, cache_bytes, cache_limit};
use crate::problem::{Family, FamilyError, InstanceSet};
use crate::program::{Canonical, LiveOut, Program};
use crate::reward::{Protocol, Rewards, Score};
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
    /// Rewards computed in reduced coordinates.
    pub(super) rewards: Rewards,
    /// Scores computed by the full executor.
    scores: Cache<(u128, Stream), Score>,
}

fn lock<T>(held: &Mutex<T>) -> MutexGuard<'_, T> {
    held.lock().unwrap_or_else(PoisonError::into_inner)
}

impl MeasuredRewards {
    /// The score of a program with this RNG stream, by the full executor.
    pub(super) fn score(&self, program: &Program, stream: Stream, make: impl FnOnce() -> Score) -> Score {
        self.scores.find((Canonical::new(program, LiveOut::PARTIAL).id(), stream), make)
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
        let new = Arc::new(MeasuredRewards { rewards: Rewards::new(), scores: Cache::new() });
        measured.push((terms, new.clone()));
        new
    }

    /// Frees memory for the instances of these families if it is short, by dropping all others.
    pub fn keep(&self, families: &[Family]) {
        let mut drawn = lock(&self.drawn);
        // Each cache evicts only its own entries, so values held by other instances are dropped here.
        if cache_bytes() > cache_limit() / 2 {
            drawn.iter().for_each(|(_, prepared)| prepared.forget());
        }
        if drawn.iter().map(|(_, prepared)| prepared.bytes()).sum::<usize>() > cache_limit() {
            drawn.retain(|(place, _)| families.contains(&place.family));
        }
    }
}

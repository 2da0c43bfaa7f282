//! Recording: an observer that writes a run into the store, and the values that an earlier attempt left there.

use super::{RunId, Sample, Store, StoreError, StoredReward};
use crate::discovery::{Front, Known, Leader, Observer, Progress, RewardKey, StageResult};
use crate::problem::InstanceSet;
use crate::record::StageRecord;

/// The instance sets, indexed by their number in the store.
const SETS: [InstanceSet; 3] = [InstanceSet::Search, InstanceSet::Select, InstanceSet::Final];

/// The values that a run has computed already.
pub fn known(store: &Store, run: &RunId) -> Result<Known, StoreError> {
    let rows = store.evaluations(run)?;
    let entry = |row: StoredReward| {
        // Sets of a later version are ignored.
        let set = *SETS.get(row.set as usize)?;
        let key = u128::from_le_bytes(row.key);
        Some((RewardKey { stage: row.stage as usize, key, set, index: row.index as usize }, row.value))
    };
    Ok(rows.into_iter().filter_map(entry).collect())
}

/// Thins the learning curve of a search to points evenly spaced in the logarithm of the playouts.
pub struct Sampler {
    per_factor: u64,
    next: u64,
}

impl Sampler {
    /// This many points for every factor of e in playouts.
    pub fn new(per_factor: u64) -> Sampler {
        Sampler { per_factor, next: 0 }
    }

    /// Makes the next call of [`take`](Sampler::take) return a point.
    pub fn take_next(&mut self) {
        self.next = 0;
    }

    /// A point, if one is due.
    pub fn take(&mut self, progress: &Progress) -> Option<Sample> {
        let counters = &progress.counters;
        if counters.playouts < self.next {
            return None;
        }
        self.next = counters.playouts + counters.playouts / self.per_factor + 1;
        Some(Sample {
            stage: progress.stage as u32,
            playouts: counters.playouts,
            unique_states: counters.unique_states,
            visits: counters.node_visits,
            revisits: counters.node_visits.saturating_sub(counters.unique_states),
            evaluations: counters.evaluations,
            best: progress.best.as_ref().map_or(0.0, |best| best.reward),
        })
    }

    /// The last point of a stage's curve.
    pub fn take_last(&mut self, number: usize, result: &StageResult) -> Option<Sample> {
        self.take_next();
        let leading = result.attempt.candidates.iter().max_by(|a, b| a.search.total_cmp(&b.search));
        let best = leading.map(|leading| Leader { program: &leading.program, reward: leading.search });
        let front = Front::default();
        self.take(&Progress { stage: number, counters: result.attempt.counters, best, front: &front })
    }
}

/// Writes a run into the store as it goes. If the store fails, the run is asked to stop and the error is kept.
pub struct Recorder<'a> {
    /// The store.
    pub store: &'a mut Store,
    run: RunId,
    known: &'a Known,
    sampler: Sampler,
    error: Option<StoreError>,
}

impl<'a> Recorder<'a> {
    /// Records this run; the values in `known` are stored already.
    pub fn new(store: &'a mut Store, run: RunId, known: &'a Known) -> Recorder<'a> {
        Recorder { store, run, known, sampler: Sampler::new(100), error: None }
    }

    /// Keeps the first error.
    fn note(&mut self, result: Result<(), StoreError>) {
        if let (Err(error), None) = (result, &self.error) {
            self.error = Some(error);
        }
    }

    fn sample(&mut self, sample: Sample) {
        if self.error.is_none() {
            let written = self.store.sample(&self.run, &sample);
            self.note(written);
        }
    }

    /// Writes the record of a stage.
    pub fn stage(&mut self, number: usize, record: &StageRecord) {
        let written = self.store.finish_stage(&self.run, number as u32, record);
        self.note(written);
    }

    /// Commits everything; returns the first error.
    pub fn close(mut self) -> Result<(), StoreError> {
        let flushed = self.store.flush();
        self.note(flushed);
        self.error.map_or(Ok(()), Err)
    }
}

impl Observer for Recorder<'_> {
    fn evaluated(&mut self, record: RewardKey, value: f64) {
        if self.error.is_some() || self.known.contains_key(&record) {
            return;
        }
        let set = SETS.iter().position(|set| *set == record.set).expect("every set has a number");
        let row = StoredReward {
            stage: record.stage as u32,
            key: record.key.to_le_bytes(),
            set: set as u8,
            index: record.index as u32,
            value,
        };
        let written = self.store.append(&self.run, &[row]);
        self.note(written);
    }

    fn continues(&mut self, progress: &Progress) -> bool {
        if let Some(sample) = self.sampler.take(progress) {
            self.sample(sample);
        }
        self.error.is_none()
    }

    fn begins(&mut self, _number: usize) {
        self.sampler.take_next();
    }

    fn ended(&mut self, number: usize, result: &StageResult) {
        if let Some(sample) = self.sampler.take_last(number, result) {
            self.sample(sample);
        }
    }
}

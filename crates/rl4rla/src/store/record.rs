//! Recording: an observer that writes a run into the store, and what an earlier attempt left there.

use super::{Evaluation, RunId, Sample, Store, StoreError};
use crate::curriculum::{Follow, StageResult};
use crate::discovery::{Known, Leader, Observe, Progress, Record};
use crate::problem::InstanceSet;

/// The sets of instances, by their number in the store.
const SETS: [InstanceSet; 3] = [InstanceSet::Search, InstanceSet::Select, InstanceSet::Final];

/// What a run has computed already.
pub fn known(store: &Store, run: &RunId) -> Result<Known, StoreError> {
    let rows = store.evaluations(run)?;
    let entry = |row: Evaluation| {
        // A set of a later version is nothing to us.
        let set = *SETS.get(row.set as usize)?;
        let key = u128::from_le_bytes(row.key);
        Some((Record { stage: row.stage as usize, key, set, index: row.index as usize }, row.value))
    };
    Ok(rows.into_iter().filter_map(entry).collect())
}

/// Writes a run into the store as it goes. When the store fails the run is asked to stop, and the error is kept.
pub struct Recorder<'a> {
    /// The store.
    pub store: &'a mut Store,
    run: RunId,
    known: &'a Known,
    next_sample: u64,
    error: Option<StoreError>,
}

impl<'a> Recorder<'a> {
    /// Records this run; what is `known` is there already.
    pub fn new(store: &'a mut Store, run: RunId, known: &'a Known) -> Recorder<'a> {
        Recorder { store, run, known, next_sample: 0, error: None }
    }

    /// Keeps the first error.
    fn note(&mut self, result: Result<(), StoreError>) {
        if let (Err(error), None) = (result, &self.error) {
            self.error = Some(error);
        }
    }

    /// Writes what a stage came to, in the words of the caller.
    pub fn stage(&mut self, number: usize, result: &str, seconds: f64) {
        let written = self.store.finish_stage(&self.run, number as u32, result, seconds);
        self.note(written);
    }

    /// Commits everything, and says whether anything went wrong.
    pub fn close(mut self) -> Result<(), StoreError> {
        let flushed = self.store.flush();
        self.note(flushed);
        self.error.map_or(Ok(()), Err)
    }
}

impl Observe for Recorder<'_> {
    fn evaluated(&mut self, record: Record, value: f64) {
        if self.error.is_some() || self.known.contains_key(&record) {
            return;
        }
        let set = SETS.iter().position(|set| *set == record.set).expect("every set has a number");
        let row = Evaluation {
            stage: record.stage as u32,
            key: record.key.to_le_bytes(),
            set: set as u8,
            index: record.index as u32,
            value,
        };
        let written = self.store.append(&self.run, &[row]);
        self.note(written);
    }

    fn goes_on(&mut self, progress: &Progress) -> bool {
        let counters = &progress.counters;
        if counters.playouts >= self.next_sample && self.error.is_none() {
            // A hundred points for every factor of e: enough for a curve on either scale.
            self.next_sample = counters.playouts + counters.playouts / 100 + 1;
            let sample = Sample {
                stage: progress.stage as u32,
                playouts: counters.playouts,
                unique_states: counters.unique_states,
                visits: counters.node_visits,
                revisits: counters.node_visits.saturating_sub(counters.unique_states),
                evaluations: counters.evaluations,
                best: progress.best.as_ref().map_or(0.0, |best| best.reward),
            };
            let written = self.store.sample(&self.run, &sample);
            self.note(written);
        }
        self.error.is_none()
    }
}

impl Follow for Recorder<'_> {
    fn begins(&mut self, _number: usize) {
        self.next_sample = 0;
    }

    fn ended(&mut self, number: usize, result: &StageResult) {
        // The last point of the curve, wherever it fell.
        self.next_sample = 0;
        let leading = result.attempt.candidates.iter().max_by(|a, b| a.search.total_cmp(&b.search));
        let best = leading.map(|leading| Leader { program: &leading.program, reward: leading.search });
        self.goes_on(&Progress { stage: number, counters: result.attempt.counters, best });
    }
}

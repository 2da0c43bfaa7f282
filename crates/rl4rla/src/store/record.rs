//! Recording: an observer that writes a run into the store, and the values that an earlier attempt left there.

use super::live::Pace;
use super::{LiveBest, LiveEntry, LiveState, RunId, Sample, Store, StoreError, StoredLeader, StoredReward};
use crate::curriculum::Curriculum;
use crate::discovery::{self, Approach, Front, Known, Observer, Progress, RewardKey, StageResult};
use crate::problem::InstanceSet;
use crate::program::{Program, Update};
use crate::record::StageRecord;

/// The instance sets, indexed by their number in the store.
const SETS: [InstanceSet; 3] = [InstanceSet::Search, InstanceSet::Select, InstanceSet::Final];

/// The values that a run has computed already.
pub fn known(store: &Store, run: &RunId) -> Result<Known, StoreError> {
    Ok(store.evaluations(run)?.into_iter().filter_map(StoredReward::into_known).collect())
}

impl StoredReward {
    /// A reward as it is logged.
    pub fn new(reward: RewardKey, value: f64) -> StoredReward {
        let set = SETS.iter().position(|set| *set == reward.set).expect("every set has a number");
        StoredReward {
            stage: reward.stage as u32,
            key: reward.key.to_le_bytes(),
            set: set as u8,
            index: reward.index as u32,
            value,
        }
    }

    /// The rows of a result of an exploration, one for each number.
    pub fn of_result(key: u128, numbers: &[f64]) -> impl Iterator<Item = StoredReward> {
        let row = move |(index, &value): (usize, &f64)| StoredReward {
            stage: 0,
            key: key.to_le_bytes(),
            set: 0,
            index: index as u32,
            value,
        };
        numbers.iter().enumerate().map(row)
    }

    /// The reward; `None` if it belongs to a set of a later version.
    pub fn into_known(self) -> Option<(RewardKey, f64)> {
        let set = *SETS.get(self.set as usize)?;
        let key = u128::from_le_bytes(self.key);
        Some((RewardKey { stage: self.stage as usize, key, set, index: self.index as usize }, self.value))
    }
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
        let (best, front) = (last_leader(result), Front::default());
        self.take(&Progress { stage: number, counters: result.attempt.counters, best, front: &front })
    }
}

/// The program that led a search when it ended.
fn last_leader(result: &StageResult) -> Option<discovery::Leader<'_>> {
    let leading = result.attempt.candidates.iter().max_by(|a, b| a.search.total_cmp(&b.search))?;
    Some(discovery::Leader { program: &leading.program, reward: leading.search })
}

/// Writes a run into the store as it goes. If the store fails, the run is asked to stop and the error is kept.
pub struct Recorder<'a> {
    /// The store.
    pub store: &'a mut Store,
    run: RunId,
    known: &'a Known,
    curriculum: &'a Curriculum,
    approach: &'a Approach,
    sampler: Sampler,
    /// The program that leads the current stage.
    leader: Option<Program>,
    pace: Pace,
    error: Option<StoreError>,
}

impl<'a> Recorder<'a> {
    /// Records this run of a curriculum; the values in `known` are stored already.
    pub fn new(
        store: &'a mut Store,
        run: RunId,
        known: &'a Known,
        curriculum: &'a Curriculum,
        approach: &'a Approach,
    ) -> Result<Recorder<'a>, StoreError> {
        let pace = Pace::new(store.seconds(&run)?);
        let sampler = Sampler::new(100);
        Ok(Recorder { store, run, known, curriculum, approach, sampler, leader: None, pace, error: None })
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

    fn update(&self, number: usize) -> Update {
        self.curriculum.stages[number].0.grammar.signature.update
    }

    /// Records the best program of a stage if it is not the one that led before.
    fn lead(&mut self, progress: &Progress) {
        let Some(best) = progress.best.filter(|best| self.leader.as_ref() != Some(best.program)) else {
            return;
        };
        self.leader = Some(best.program.clone());
        let leader = StoredLeader {
            stage: progress.stage as u32,
            evaluations: progress.counters.evaluations,
            playouts: progress.counters.playouts,
            reward: best.reward,
            program: self.update(progress.stage).text(best.program),
        };
        if self.error.is_none() {
            let written = self.store.lead(&self.run, leader);
            self.note(written);
        }
    }

    /// Shows the state of the run, with what is known of it already.
    fn show(&mut self, number: usize, doing: &str, known: LiveState) {
        let stage = &self.curriculum.stages[number].0;
        let live = LiveState {
            stage: number,
            name: stage.name.clone(),
            budget: self.approach.tuning(stage).budget,
            at: self.pace.tick(),
            doing: doing.into(),
            ..known
        };
        if self.error.is_none() {
            let written = self.store.show(&self.run, &live);
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
        let written = self.store.append(&self.run, &[StoredReward::new(record, value)]);
        self.note(written);
    }

    fn continues(&mut self, progress: &Progress) -> bool {
        if let Some(sample) = self.sampler.take(progress) {
            self.sample(sample);
        }
        self.lead(progress);
        if self.pace.is_due() {
            let (update, counters) = (self.update(progress.stage), &progress.counters);
            let best = progress.best.as_ref();
            let live = LiveState {
                playouts: counters.playouts,
                evaluations: counters.evaluations,
                unique_states: counters.unique_states,
                best: best.map(|best| LiveBest { program: update.text(best.program), reward: best.reward }),
                front: LiveEntry::of(progress.front, update),
                ..LiveState::default()
            };
            self.show(progress.stage, "searching", live);
        }
        self.error.is_none()
    }

    fn begins(&mut self, number: usize) {
        self.sampler.take_next();
        self.leader = None;
        self.show(number, "drawing instances", LiveState::default());
    }

    fn ended(&mut self, number: usize, result: &StageResult) {
        if let Some(sample) = self.sampler.take_last(number, result) {
            self.sample(sample);
        }
        let (best, front) = (last_leader(result), Front::default());
        self.lead(&Progress { stage: number, counters: result.attempt.counters, best, front: &front });
    }
}

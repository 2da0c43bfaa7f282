//! Observers: notified of the progress of a run, and able to stop it.

use super::front::Front;
use super::log::RewardKey;
use super::result::StageResult;
use crate::program::Program;
use crate::search::Counters;

/// The best program so far.
#[derive(Clone, Copy, Debug)]
pub struct Leader<'a> {
    /// The program.
    pub program: &'a Program,
    /// Its mean reward on the search instances.
    pub reward: f64,
}

/// Progress of a run.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    /// Index of the stage.
    pub stage: usize,
    /// Counters of its search.
    pub counters: Counters,
    /// The best program so far.
    pub best: Option<Leader<'a>>,
    /// The Pareto front so far.
    pub front: &'a Front,
}

/// An observer of a run.
pub trait Observer {
    /// A stage begins.
    fn begins(&mut self, _number: usize) {}

    /// A reward was computed or taken from the log.
    fn evaluated(&mut self, _record: RewardKey, _value: f64) {}

    /// Whether the run should continue.
    fn continues(&mut self, _progress: &Progress) -> bool {
        true
    }

    /// A stage has ended.
    fn ended(&mut self, _number: usize, _result: &StageResult) {}
}

/// Without an observer every run continues.
impl<O: Observer + ?Sized> Observer for Option<&mut O> {
    fn begins(&mut self, number: usize) {
        self.iter_mut().for_each(|observer| observer.begins(number));
    }

    fn evaluated(&mut self, record: RewardKey, value: f64) {
        self.iter_mut().for_each(|observer| observer.evaluated(record, value));
    }

    fn continues(&mut self, progress: &Progress) -> bool {
        self.iter_mut().all(|observer| observer.continues(progress))
    }

    fn ended(&mut self, number: usize, result: &StageResult) {
        self.iter_mut().for_each(|observer| observer.ended(number, result));
    }
}

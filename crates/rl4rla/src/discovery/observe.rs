//! Observers: notified of the progress of a run, and able to stop it.

use super::front::Front;
use super::log::Record;
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

/// Where a run is.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    /// The number of the stage.
    pub stage: usize,
    /// What its search has done.
    pub counters: Counters,
    /// Who leads.
    pub best: Option<Leader<'a>>,
    /// The programs that none beats so far.
    pub front: &'a Front,
}

/// An observer of a run.
pub trait Observe {
    /// A reward was computed, or was known.
    fn evaluated(&mut self, _record: Record, _value: f64) {}

    /// Whether the run should continue.
    fn goes_on(&mut self, _progress: &Progress) -> bool {
        true
    }
}

/// Watches nothing.
pub struct Unobserved;

impl Observe for Unobserved {}

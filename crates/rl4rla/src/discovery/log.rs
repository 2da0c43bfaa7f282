//! The log of rewards, from which a run can be resumed.

use crate::problem::InstanceSet;
use rustc_hash::FxHashMap;

/// The key of one reward within a run.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct RewardKey {
    /// Index of the stage.
    pub stage: usize,
    /// Key of the program.
    pub key: u128,
    /// Instance set.
    pub set: InstanceSet,
    /// Index of the instance.
    pub index: usize,
}

/// Known rewards. A reward is a pure function, so knowing it changes only the time.
pub type Known = FxHashMap<RewardKey, f64>;

//! What is known of rewards already computed: the memory that makes a run resumable.

use crate::problem::InstanceSet;
use rustc_hash::FxHashMap;

/// The name of one reward within a run.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct RewardKey {
    /// The number of the stage.
    pub stage: usize,
    /// The key of the program.
    pub key: u128,
    /// The set of the instance.
    pub set: InstanceSet,
    /// Its number.
    pub index: usize,
}

/// Rewards by name. A reward is a pure function, so knowing it changes nothing but the time.
pub type Known = FxHashMap<RewardKey, f64>;

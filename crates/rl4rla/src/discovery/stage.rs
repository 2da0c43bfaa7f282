//! A stage: what a search over programs is told. Its target is not here, so no search can know it.

use super::merge::Merge;
use crate::problem::Family;
use crate::program::Grammar;
use crate::reward::Protocol;

/// How many instances there are of each set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Instances {
    /// That score candidates during the search.
    pub search: usize,
    /// That choose among the best candidates.
    pub select: usize,
    /// That measure the chosen program.
    pub report: usize,
}

impl Default for Instances {
    fn default() -> Instances {
        Instances { search: 16, select: 8, report: 8 }
    }
}

/// A stage as a search sees it.
#[derive(Clone, Debug)]
pub struct Stage {
    /// Its name.
    pub name: String,
    /// What may be written, and where.
    pub grammar: Grammar,
    /// How many instructions may be inserted.
    pub edits: usize,
    /// Where problems come from; instances take turns.
    pub families: Vec<Family>,
    /// How programs are run and rewarded.
    pub protocol: Protocol,
    /// c, the weight of exploration.
    pub exploration: f64,
    /// The most playouts.
    pub budget: u64,
    /// Which programs are one.
    pub merge: Merge,
    /// How many instances there are.
    pub instances: Instances,
}

//! A stage: the inputs of a search over programs. The target is not among them, so no search can use it.

use super::merge::Merge;
use crate::problem::Family;
use crate::program::Grammar;
use crate::reward::Protocol;
use serde::{Deserialize, Serialize};
use std::fmt;

/// What is redrawn for every evaluation of a program during the search.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fresh {
    /// Nothing: the search instances alternate, each with its own fixed random draws.
    No,
    /// The draws of sketches and samples, with the search instances in rotation: the released code's rule.
    Draws,
    /// The instance too, as in the paper's definition of a curriculum.
    Instances,
}

impl Fresh {
    /// All of them.
    pub const ALL: [Fresh; 3] = [Fresh::No, Fresh::Draws, Fresh::Instances];
}

impl fmt::Display for Fresh {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Fresh::No => "no",
            Fresh::Draws => "draws",
            Fresh::Instances => "instances",
        })
    }
}

/// How many instances there are of each set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Instances {
    /// That score candidates during the search.
    pub search: usize,
    /// That choose among the best candidates.
    pub select: usize,
    /// That measure the chosen program.
    pub report: usize,
    /// What is fresh in every evaluation of the search.
    pub fresh: Fresh,
}

impl Default for Instances {
    fn default() -> Instances {
        Instances { search: 16, select: 8, report: 8, fresh: Fresh::No }
    }
}

/// A stage as a search sees it.
#[derive(Clone, Debug)]
pub struct Stage {
    /// Its name.
    pub name: String,
    /// What may be written, and where.
    pub grammar: Grammar,
    /// How many edits may be made.
    pub edits: usize,
    /// The families of the problems; instances alternate between them.
    pub families: Vec<Family>,
    /// How programs are run and rewarded.
    pub protocol: Protocol,
    /// c, the weight of exploration.
    pub exploration: f64,
    /// The most playouts, of the stage or of each decision.
    pub budget: u64,
    /// Whether the budget is that of each decision, as in the released code.
    pub budget_per_decision: bool,
    /// Which programs are one.
    pub merge: Merge,
    /// How many instances there are.
    pub instances: Instances,
}

//! A stage: the inputs of a search over programs. The target is not among them, so no search can use it.

use super::merge::Merge;
use crate::problem::Family;
use crate::program::{Grammar, Update};
use crate::reward::Protocol;
use serde::{Deserialize, Serialize};
use std::fmt;

/// What is redrawn for every evaluation of a program during the search.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fresh {
    /// Nothing: the search rotates over its instances, each with its own fixed random draws.
    No,
    /// The random draws of sketches and samples, rotating over the search instances: the rule of the released code.
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

/// Numbers of instances of the three sets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Instances {
    /// Instances that score candidates during the search.
    pub search: usize,
    /// Instances that select among the best candidates.
    pub select: usize,
    /// Instances that measure the chosen program.
    pub report: usize,
    /// What is redrawn for every evaluation of the search.
    pub fresh: Fresh,
}

impl Default for Instances {
    fn default() -> Instances {
        Instances { search: 16, select: 8, report: 8, fresh: Fresh::No }
    }
}

/// The inputs of a search.
#[derive(Clone, Debug)]
pub struct Stage {
    /// Its name.
    pub name: String,
    /// The legal instructions and their places.
    pub grammar: Grammar,
    /// Maximum number of edits.
    pub edits: usize,
    /// The families of the problems; instances alternate between them.
    pub families: Vec<Family>,
    /// How programs are run and rewarded.
    pub protocol: Protocol,
    /// c, the exploration constant.
    pub exploration: f64,
    /// Maximum number of playouts, of the stage or of each decision.
    pub budget: u64,
    /// Whether the budget applies to each decision, as in the released code.
    pub budget_per_decision: bool,
    /// The merge key.
    pub merge: Merge,
    /// Numbers of instances.
    pub instances: Instances,
}

impl Stage {
    /// Whether the values of its programs have units: its problems are linear systems, and a program computes a step.
    pub fn has_units(&self) -> bool {
        let task = self.families[0].kind.info().task;
        task.is_least_squares() && self.grammar.signature.update == Update::Subtract
    }
}

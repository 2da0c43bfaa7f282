//! What a search took, of one stage or of all.

use super::stage::number;
use crate::search::Counters;
use serde::{Deserialize, Serialize};

/// What a search took.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct SearchCost {
    /// Descents from the root; for an enumeration, the states it generated.
    pub playouts: u64,
    /// Rewards computed, one for each program and instance.
    pub evaluations: u64,
    /// Different programs among them.
    #[serde(default)]
    pub programs: u64,
    /// |S|, the nodes of the graph that were visited.
    #[serde(default)]
    pub unique_states: u64,
    /// |V|, the visits of nodes.
    #[serde(default)]
    pub node_visits: u64,
    /// 1 − |S|/|V|.
    #[serde(default)]
    pub revisit_rate: f64,
    /// The share of edges that led, when first taken, to a node known from elsewhere.
    #[serde(default)]
    pub transposition_rate: f64,
    /// Wall time; no part of the result.
    #[serde(deserialize_with = "number")]
    pub seconds: f64,
}

impl SearchCost {
    /// The cost of a search that counted this and took so long.
    pub fn new(counters: &Counters, seconds: f64) -> SearchCost {
        SearchCost {
            playouts: counters.playouts,
            evaluations: counters.evaluations,
            programs: counters.solutions,
            unique_states: counters.unique_states,
            node_visits: counters.node_visits,
            revisit_rate: counters.revisit_rate(),
            transposition_rate: counters.transposition_rate(),
            seconds,
        }
    }
}

/// A number of a search's cost, to be counted over runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Quantity {
    /// Playouts.
    Playouts,
    /// Evaluations.
    Evaluations,
    /// Different programs.
    Programs,
    /// Nodes visited.
    UniqueStates,
    /// The share of visits that met a known node.
    RevisitRate,
    /// The share of edges that led to a node known from elsewhere.
    TranspositionRate,
    /// Wall time.
    Seconds,
}

impl Quantity {
    /// The number itself.
    pub fn of(self, cost: &SearchCost) -> f64 {
        match self {
            Quantity::Playouts => cost.playouts as f64,
            Quantity::Evaluations => cost.evaluations as f64,
            Quantity::Programs => cost.programs as f64,
            Quantity::UniqueStates => cost.unique_states as f64,
            Quantity::RevisitRate => cost.revisit_rate,
            Quantity::TranspositionRate => cost.transposition_rate,
            Quantity::Seconds => cost.seconds,
        }
    }
}

//! The cost of a search, for one stage or all.

use crate::curriculum::number;
use crate::search::Counters;
use serde::{Deserialize, Serialize};

/// The cost of a search.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct SearchCost {
    /// Descents from the root; for an enumeration, the states generated.
    pub playouts: u64,
    /// Rewards computed, one for each program and instance.
    pub evaluations: u64,
    /// Distinct programs among them.
    #[serde(default)]
    pub programs: u64,
    /// |S|, the number of distinct nodes visited.
    #[serde(default)]
    pub unique_states: u64,
    /// |V|, the number of node visits.
    #[serde(default)]
    pub node_visits: u64,
    /// 1 − |S|/|V|.
    #[serde(default)]
    pub revisit_rate: f64,
    /// The fraction of edges that led, when first taken, to a node that was already known.
    #[serde(default)]
    pub transposition_rate: f64,
    /// Wall time in seconds; not part of the result.
    #[serde(deserialize_with = "number")]
    pub seconds: f64,
}

impl SearchCost {
    /// The cost from these counters and this duration.
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

    /// The counters, without the number of transpositions, of which only the rate is recorded.
    pub fn counters(&self) -> Counters {
        Counters {
            playouts: self.playouts,
            evaluations: self.evaluations,
            solutions: self.programs,
            unique_states: self.unique_states,
            node_visits: self.node_visits,
            transpositions: 0,
        }
    }
}

/// A component of a search's cost, for statistics over runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Quantity {
    /// Playouts.
    Playouts,
    /// Evaluations.
    Evaluations,
    /// Distinct programs.
    Programs,
    /// Distinct nodes visited.
    UniqueStates,
    /// Fraction of visits to nodes visited before.
    RevisitRate,
    /// Fraction of edges that led to a node already known.
    TranspositionRate,
    /// Wall time.
    Seconds,
}

impl Quantity {
    /// Its value.
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

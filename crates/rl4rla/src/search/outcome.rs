//! The result of a search, and the reason why it stopped.

use super::domain::Solved;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Why a search stopped.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StopReason {
    /// Every decision was settled by the LUCB criterion.
    Lucb,
    /// Everything has been explored, and the leader has the highest mean over all replicates, with the required
    /// confidence.
    Confident,
    /// Everything below the last decision has been measured completely.
    Exhausted,
    /// Everything has been tried, and all values are zero.
    NoSignal,
    /// The budget is exhausted.
    Budget,
    /// Asked to stop.
    Interrupted,
    /// The method cannot search these problems.
    Unsuitable,
}

impl StopReason {
    /// Its name in results.
    pub fn name(self) -> &'static str {
        match self {
            StopReason::Lucb => "lucb",
            StopReason::Confident => "confident",
            StopReason::Exhausted => "exhausted",
            StopReason::NoSignal => "no-signal",
            StopReason::Budget => "budget",
            StopReason::Interrupted => "interrupted",
            StopReason::Unsuitable => "unsuitable",
        }
    }
}

impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Counters of a search.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Counters {
    /// Descents from the root; for an enumeration, the states generated.
    pub playouts: u64,
    /// Values computed, one for each solution and replicate; repeated requests are free.
    pub evaluations: u64,
    /// Distinct solutions among them.
    pub solutions: u64,
    /// |S|, the number of distinct nodes visited.
    pub unique_states: u64,
    /// |V|, the number of node visits, random rollouts excluded.
    pub node_visits: u64,
    /// Edges that led, when first taken, to a node that was already known; counted by Monte Carlo searches.
    pub transpositions: u64,
}

impl Counters {
    /// 1 − |S|/|V|, the fraction of visits to nodes visited before.
    pub fn revisit_rate(&self) -> f64 {
        if self.node_visits == 0 { 0.0 } else { 1.0 - self.unique_states as f64 / self.node_visits as f64 }
    }

    /// The fraction of edges that led, when first taken, to a node that was already known; 0 in a tree.
    pub fn transposition_rate(&self) -> f64 {
        let taken = self.transpositions + self.unique_states.saturating_sub(1);
        if taken == 0 { 0.0 } else { self.transpositions as f64 / taken as f64 }
    }

    /// The sum of both.
    #[must_use]
    pub fn plus(self, other: Counters) -> Counters {
        Counters {
            playouts: self.playouts + other.playouts,
            evaluations: self.evaluations + other.evaluations,
            solutions: self.solutions + other.solutions,
            unique_states: self.unique_states + other.unique_states,
            node_visits: self.node_visits + other.node_visits,
            transpositions: self.transpositions + other.transpositions,
        }
    }
}

/// A solution with its measured values.
#[derive(Clone, Debug)]
pub struct Ranked<S> {
    /// The solution.
    pub solved: Solved<S>,
    /// Its values, replicate by replicate.
    pub values: Vec<f64>,
    /// The number of evaluations up to its first one, including that.
    pub first: u64,
}

impl<S> Ranked<S> {
    /// Their mean; 0 if there are none.
    pub fn mean(&self) -> f64 {
        self.values.iter().sum::<f64>() / self.values.len().max(1) as f64
    }
}

/// The memory of a search's graph.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct GraphSize {
    /// Number of nodes, including those never visited.
    pub nodes: usize,
    /// Number of edges.
    pub edges: usize,
    /// Bytes of nodes, edges and lookup tables.
    pub bytes: usize,
}

/// The result of a search.
#[derive(Clone, Debug)]
pub struct Outcome<S> {
    /// The best solutions, best first, each measured on every replicate.
    pub ranked: Vec<Ranked<S>>,
    /// Why it stopped.
    pub stop: StopReason,
    /// Counters of the search, including the final measurement of the best.
    pub counters: Counters,
    /// Size of the graph; zero for methods without one.
    pub size: GraphSize,
}

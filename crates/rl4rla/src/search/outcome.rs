//! What a search has found, and why it stopped.

use super::domain::Solved;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Why a search stopped.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StopReason {
    /// Every decision was settled by the LUCB criterion.
    Lucb,
    /// Nothing is left unexplored, and the leader has the highest mean over all replicates, with the confidence asked
    /// for.
    Confident,
    /// Everything there is below the last decision has been measured as often as can be.
    Exhausted,
    /// Everything has been tried, and all of it is worth nothing.
    NoSignal,
    /// The budget is spent.
    Budget,
    /// Asked to stop.
    Interrupted,
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
        }
    }
}

impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What a search has done.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Counters {
    /// Descents from the root; for an enumeration, the states it generated.
    pub playouts: u64,
    /// Values computed, one for each solution and replicate; asking again is free.
    pub evaluations: u64,
    /// Different solutions among them.
    pub solutions: u64,
    /// |S|, the nodes of the graph that were visited.
    pub unique_states: u64,
    /// |V|, the visits of nodes, those in random rollouts aside.
    pub node_visits: u64,
    /// Edges that led, when first taken, to a node known from elsewhere; counted by the Monte Carlo searches.
    pub transpositions: u64,
}

impl Counters {
    /// 1 − |S|/|V|, the share of visits to known nodes.
    pub fn revisit_rate(&self) -> f64 {
        if self.node_visits == 0 { 0.0 } else { 1.0 - self.unique_states as f64 / self.node_visits as f64 }
    }

    /// The share of edges that led, when first taken, to a node known from elsewhere; 0 in a tree.
    pub fn transposition_rate(&self) -> f64 {
        let taken = self.transpositions + self.unique_states.saturating_sub(1);
        if taken == 0 { 0.0 } else { self.transpositions as f64 / taken as f64 }
    }

    /// Both together.
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

/// A solution with what is known of its value.
#[derive(Clone, Debug)]
pub struct Ranked<S> {
    /// The solution.
    pub solved: Solved<S>,
    /// Its values, replicate by replicate.
    pub values: Vec<f64>,
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
    /// Nodes, those never visited included.
    pub nodes: usize,
    /// Edges.
    pub edges: usize,
    /// Bytes that nodes, edges and whatever finds them take.
    pub bytes: usize,
}

/// The result of a search.
#[derive(Clone, Debug)]
pub struct Outcome<S> {
    /// The best solutions, best first, each measured on every replicate.
    pub ranked: Vec<Ranked<S>>,
    /// Why it stopped.
    pub stop: StopReason,
    /// What it took, the final measurement of the best included.
    pub counters: Counters,
    /// The graph it built; nothing for a method that builds none.
    pub size: GraphSize,
}

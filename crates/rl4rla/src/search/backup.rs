//! Backup: how the value of a playout is propagated to the nodes above.

use super::domain::Domain;
use super::engine::Engine;
use super::graph::End;
use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};

/// Backup rules.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Backup {
    /// Q(s) = (U(s) + Σ N(s,a)·Q(s')) / (1 + Σ N(s,a)) with U(s) the node's own rollout: a function of the children,
    /// so repeating it changes nothing.
    Idempotent,
    /// The rule of the released code: U is the latest rollout through the node, also at terminal nodes, and the other
    /// parents of every node on the path are updated as well.
    Latest,
    /// As printed in the paper: the value R of a rollout from s goes into every edge of every path to s, N(s,a) ←
    /// N(s,a) + 1 and Q̂(s,a) ← Q̂(s,a) + (R − Q̂(s,a))/N(s,a).
    Printed,
}

impl Backup {
    /// All backup rules.
    pub const ALL: [Backup; 3] = [Backup::Idempotent, Backup::Latest, Backup::Printed];
}

impl<D: Domain> Engine<'_, '_, D> {
    /// Backs up a playout, from the end of its path to the start.
    pub(super) fn back_up(&mut self, path: &[usize], taken: &[usize], rollout: f64) {
        if self.plan.backup == Backup::Printed {
            self.count_on_all_paths(path, rollout);
        }
        for (depth, &place) in path.iter().enumerate().rev() {
            self.ledger.counters.node_visits += 1;
            if self.plan.backup != Backup::Printed {
                self.visit(place);
                if let Some(&i) = taken.get(depth) {
                    self.graph.edges_mut(place)[i].visits += 1;
                }
            }
            if let Some(&i) = taken.get(depth) {
                // The visit of the child has been counted already, so one of its visits is this one.
                let edge = self.edges(place)[i];
                let known = edge.visits == 1 && self.graph.nodes[edge.child()].visits > 1;
                self.ledger.counters.transpositions += u64::from(known);
            }
            self.refresh(place, rollout);
            if self.plan.backup == Backup::Latest {
                let latest_first: Vec<usize> = self.graph.parents(place).collect();
                for parent in latest_first.into_iter().rev() {
                    if self.graph.nodes[parent].visits > 0 && !path.contains(&parent) {
                        self.refresh(parent, rollout);
                    }
                }
            }
        }
    }

    fn visit(&mut self, place: usize) {
        let visits = &mut self.graph.nodes[place].visits;
        *visits += 1;
        self.ledger.counters.unique_states += u64::from(*visits == 1);
    }

    /// Adds a rollout from the end of a path to every node and edge above it.
    fn count_on_all_paths(&mut self, path: &[usize], rollout: f64) {
        let mut waiting: Vec<usize> = path.last().copied().into_iter().collect();
        let mut met: FxHashSet<usize> = waiting.iter().copied().collect();
        while let Some(place) = waiting.pop() {
            self.visit(place);
            let parents: Vec<usize> = self.graph.parents(place).collect();
            for parent in parents {
                self.graph.average(parent, place, rollout);
                if met.insert(parent) {
                    waiting.push(parent);
                }
            }
        }
    }

    /// Recomputes Q(s) from the children.
    fn refresh(&mut self, place: usize, rollout: f64) {
        let node = &self.graph.nodes[place];
        let edges = self.edges(place);
        let (value, closed) = match node.end {
            End::Solution(solution) => {
                let solution = solution as usize;
                let value = match self.plan.backup {
                    Backup::Idempotent | Backup::Printed => self.ledger.mean(solution),
                    Backup::Latest => rollout,
                };
                (value, self.ledger.is_exhausted(solution))
            }
            End::Nothing => (0.0, true),
            End::No => {
                let own = match self.plan.backup {
                    Backup::Idempotent | Backup::Printed => node.own,
                    Backup::Latest => Some(rollout),
                };
                let start = own.map_or((0.0, 0.0), |own| (own, 1.0));
                let (sum, count) = edges.iter().fold(start, |(sum, count), edge| {
                    let visits = f64::from(edge.visits);
                    (sum + visits * self.graph.nodes[edge.child()].value, count + visits)
                });
                (if count > 0.0 { sum / count } else { 0.0 }, self.graph.all_closed(place))
            }
        };
        self.graph.nodes[place].value = value;
        if closed {
            self.graph.close(place);
        }
    }
}

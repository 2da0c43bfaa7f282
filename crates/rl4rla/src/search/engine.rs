//! Monte Carlo graph search: the paper's method, and tree search when sharing is switched off.
//!
//! A playout selects edges by the rule down to a node not yet visited, expanding on its way, and goes on at random
//! to an end, whose value is backed up along the path. At the root, playouts alternate between the leader
//! and its strongest challenger until their confidence bounds part (LUCB); then the root moves on to the best child
//! and the graph is kept.

use super::domain::Domain;
use super::graph::{End, Graph, Sharing};
use super::ledger::{Budget, Ledger, Watch};
use super::outcome::{Outcome, Stop};
use super::rule::{Rule, Statistics};
use crate::rng::Stream;
use rand::RngExt;

/// How values travel up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Backup {
    /// Q(s) = (U(s) + Σ N(s,a)·Q(s')) / (1 + Σ N(s,a)) with U(s) the node's own rollout. The same whoever asks and
    /// however often: a function of the children.
    Idempotent,
    /// The released code's: U is the latest rollout through the node, at an end too, and the other parents of every
    /// node on the path are refreshed with it as well.
    Latest,
}

/// How a graph search goes about it.
pub struct Plan<'a> {
    /// Tree or graph.
    pub sharing: Sharing,
    /// The selection rule.
    pub rule: &'a dyn Rule,
    /// c, the weight of the bonus, in selection and in stopping.
    pub exploration: f64,
    /// How values travel up.
    pub backup: Backup,
    /// Whether to play on, for LUCB's sake, when nothing is left to learn.
    pub patient: bool,
    /// The most playouts and evaluations.
    pub budget: Budget,
    /// How many solutions to bring back.
    pub keep: usize,
    /// Where chance comes from.
    pub stream: Stream,
}

/// Playouts between two looks at the watch.
const LOOK: u64 = 64;

/// Runs a graph search.
pub fn graph_search<D: Domain>(
    domain: &D,
    plan: &Plan,
    watch: &mut dyn Watch<D::Solution>,
) -> Outcome<D::Solution> {
    let graph = Graph::new(domain, plan.sharing);
    let mut engine = Engine { ledger: Ledger::new(domain, plan.budget, watch), graph, plan };
    let stop = engine.decide();
    let size = engine.graph.size();
    Outcome { size, ..engine.ledger.close(stop, plan.keep) }
}

struct Engine<'a, 'b, D: Domain> {
    ledger: Ledger<'a, D>,
    graph: Graph<'a, D>,
    plan: &'b Plan<'b>,
}

impl<D: Domain> Engine<'_, '_, D> {
    /// Makes one decision after the other, until nothing is left to decide.
    fn decide(&mut self) -> Stop {
        let mut root = 0;
        loop {
            self.graph.expand(root);
            if self.edges(root).is_empty() && root != 0 {
                return Stop::Lucb;
            }
            let stop = self.settle(root);
            if stop != Stop::Lucb {
                return stop;
            }
            root = self.edges(root)[self.leader(root)].child();
        }
    }

    /// Plays until the decision at `root` is made, or cannot be. Where there is none, `root` is measured.
    fn settle(&mut self, root: usize) -> Stop {
        let mut turn = 0u64;
        loop {
            if self.graph.nodes[root].closed && !(self.plan.patient && self.ledger.has_signal()) {
                return if self.ledger.has_signal() { Stop::Exhausted } else { Stop::NoSignal };
            }
            if self.ledger.is_spent() {
                return Stop::Budget;
            }
            if self.ledger.counters.playouts.is_multiple_of(LOOK) && !self.ledger.goes_on() {
                return Stop::Interrupted;
            }
            let edges = self.edges(root);
            let first = match edges.iter().position(|edge| edge.visits == 0) {
                _ if edges.is_empty() => None,
                Some(untried) => Some(untried),
                None => {
                    let leader = self.leader(root);
                    let Some(challenger) = self.challenger(root, leader) else { return Stop::Lucb };
                    let value = |i: usize| self.graph.nodes[edges[i].child()].value;
                    let bonus = self.bonus(root);
                    let width = |i: usize| self.plan.exploration * bonus(i);
                    if value(leader) - width(leader) > value(challenger) + width(challenger) {
                        return Stop::Lucb;
                    }
                    turn += 1;
                    Some(if turn % 2 == 1 { leader } else { challenger })
                }
            };
            self.playout(root, first);
        }
    }

    fn edges(&self, place: usize) -> &[super::graph::Edge] {
        self.graph.edges(place)
    }

    /// The edge to the child of highest value; of equals the first.
    fn leader(&self, place: usize) -> usize {
        let value = |i: usize| self.graph.nodes[self.edges(place)[i].child()].value;
        (0..self.edges(place).len())
            .reduce(|best, i| if value(i) > value(best) { i } else { best })
            .expect("a decision has a choice")
    }

    /// The edge of highest score but for the leader.
    fn challenger(&self, place: usize, leader: usize) -> Option<usize> {
        self.highest(place, (0..self.edges(place).len()).filter(|&i| i != leader))
    }

    /// The edge of highest score: untried ones first, of equals the less tried, then the first.
    fn highest(&self, place: usize, among: impl Iterator<Item = usize>) -> Option<usize> {
        let edges = self.edges(place);
        let bonus = self.bonus(place);
        let score = |i: usize| match edges[i].visits {
            0 => f64::INFINITY,
            _ => self.graph.nodes[edges[i].child()].value + self.plan.exploration * bonus(i),
        };
        let better = |(i, score): (usize, f64), (best, highest): (usize, f64)| {
            score > highest || (score == highest && edges[i].visits < edges[best].visits)
        };
        let scored = among.map(|i| (i, score(i)));
        scored.reduce(|best, next| if better(next, best) { next } else { best }).map(|(i, _)| i)
    }

    /// The bonus of each edge of a node.
    fn bonus(&self, place: usize) -> impl Fn(usize) -> f64 {
        let (node, edges) = (&self.graph.nodes[place], self.graph.edges(place));
        let parent = self.plan.rule.parent(node.visits);
        let prior = if edges.is_empty() { 0.0 } else { self.ledger.domain().prior(&node.state, edges.len()) };
        move |i: usize| {
            let edge = edges[i].visits.max(1);
            let child = self.graph.nodes[edges[i].child()].visits.max(1);
            self.plan.rule.bonus(parent, Statistics { edge, child, prior })
        }
    }

    /// One playout; the first edge may be given.
    fn playout(&mut self, root: usize, first: Option<usize>) {
        let (mut path, mut taken) = (vec![root], Vec::new());
        let (mut here, mut forced) = (root, first);
        let value = loop {
            let fresh = !self.graph.nodes[here].is_expanded();
            self.graph.expand(here);
            if self.edges(here).is_empty() {
                break self.end(here);
            }
            let i = forced.take().or_else(|| self.highest(here, 0..self.edges(here).len()));
            let i = i.expect("there is an edge");
            taken.push(i);
            here = self.edges(here)[i].child();
            path.push(here);
            // A known child has had its rollout; the released code gives it another.
            if self.graph.nodes[here].visits == 0 || (fresh && self.plan.backup == Backup::Latest) {
                break self.rollout(here);
            }
        };
        self.back_up(&path, &taken, value);
        self.ledger.counters.playouts += 1;
    }

    /// Goes on at random from a node to an end, and takes its value.
    fn rollout(&mut self, place: usize) -> f64 {
        let domain = self.ledger.domain();
        let mut rng = self.plan.stream.derive("playout", self.ledger.counters.playouts).rng();
        let mut state = self.graph.nodes[place].state.clone();
        let mut pick = |count| rng.random_range(0..count);
        match domain.child(&state, &mut pick) {
            Some(child) => state = child,
            None => {
                self.graph.expand(place);
                return self.end(place);
            }
        }
        while let Some(child) = domain.child(&state, &mut pick) {
            state = child;
        }
        let value = match domain.solution(&state) {
            Some(solved) => {
                let solution = self.ledger.enter(solved);
                self.ledger.draw(solution)
            }
            None => 0.0,
        };
        self.graph.nodes[place].own.get_or_insert(value);
        value
    }

    /// The value of a node where nothing is left to decide; its mean becomes more exact.
    fn end(&mut self, place: usize) -> f64 {
        if self.graph.nodes[place].end == End::No {
            let solved = self.ledger.domain().solution(&self.graph.nodes[place].state);
            self.graph.nodes[place].end = match solved {
                Some(solved) => End::Solution(self.ledger.enter(solved) as u32),
                None => End::Nothing,
            };
        }
        match self.graph.nodes[place].end {
            End::Solution(solution) => self.ledger.draw(solution as usize),
            _ => 0.0,
        }
    }

    /// Counts a playout in, from its end to its start.
    fn back_up(&mut self, path: &[usize], taken: &[usize], rollout: f64) {
        for (depth, &place) in path.iter().enumerate().rev() {
            let node = &mut self.graph.nodes[place];
            if node.visits == 0 {
                self.ledger.counters.unique_states += 1;
            }
            self.ledger.counters.node_visits += 1;
            node.visits += 1;
            if let Some(&i) = taken.get(depth) {
                let edge = &mut self.graph.edges_mut(place)[i];
                edge.visits += 1;
                // The child has been counted already: one visit is this one.
                let (first, child) = (edge.visits == 1, edge.child());
                self.ledger.counters.transpositions += u64::from(first && self.graph.nodes[child].visits > 1);
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

    /// Computes Q(s) from the children.
    fn refresh(&mut self, place: usize, rollout: f64) {
        let node = &self.graph.nodes[place];
        let edges = self.edges(place);
        let (value, closed) = match node.end {
            End::Solution(solution) => {
                let solution = solution as usize;
                let value = match self.plan.backup {
                    Backup::Idempotent => self.ledger.mean(solution),
                    Backup::Latest => rollout,
                };
                (value, self.ledger.is_complete(solution))
            }
            End::Nothing => (0.0, true),
            End::No => {
                let own = match self.plan.backup {
                    Backup::Idempotent => node.own,
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

#[cfg(test)]
mod tests {
    use super::super::domain::Solved;
    use super::super::ledger::Silent;
    use super::super::rule::{Ucd, Uct};
    use super::*;
    use std::sync::Arc;

    /// Multisets of five letters out of four, worth the share of the last one: many paths, few states.
    struct Multisets;

    impl Domain for Multisets {
        type State = [u8; 4];
        type Solution = [u8; 4];

        fn root(&self) -> [u8; 4] {
            [0; 4]
        }

        fn key(&self, counts: &[u8; 4]) -> u128 {
            u128::from(u32::from_le_bytes(*counts))
        }

        fn children(&self, counts: &[u8; 4]) -> Arc<[[u8; 4]]> {
            let letters = if counts.iter().sum::<u8>() < 5 { 0..4 } else { 0..0 };
            letters.map(|letter| std::array::from_fn(|i| counts[i] + u8::from(i == letter))).collect()
        }

        fn solution(&self, counts: &[u8; 4]) -> Option<Solved<[u8; 4]>> {
            Some(Solved { key: self.key(counts), solution: *counts })
        }

        fn replicates(&self) -> usize {
            3
        }

        fn values(&self, requests: &[(&Solved<[u8; 4]>, usize)]) -> Vec<f64> {
            requests.iter().map(|(s, i)| f64::from(s.solution[3]) / 6.0 + *i as f64 / 20.0).collect()
        }
    }

    fn check(sharing: Sharing, rule: &dyn Rule) {
        let (backup, budget, stream) = (Backup::Idempotent, Budget::from(0), Stream::new(1));
        let plan = Plan { sharing, rule, exploration: 0.5, backup, patient: false, budget, keep: 1, stream };
        let mut watch = Silent;
        let mut engine = Engine {
            ledger: Ledger::new(&Multisets, budget, &mut watch),
            graph: Graph::new(&Multisets, sharing),
            plan: &plan,
        };
        engine.graph.expand(0);
        let mut before: Vec<u32> = Vec::new();
        for _ in 0..2_000 {
            engine.playout(0, None);
            for (place, node) in engine.graph.nodes.iter().enumerate() {
                if node.visits == before.get(place).copied().unwrap_or(0) || node.end != End::No {
                    continue;
                }
                let edges = engine.edges(place);
                let own = f64::from(u8::from(node.own.is_some()));
                let tried: u32 = edges.iter().map(|edge| edge.visits).sum();
                assert_eq!(f64::from(node.visits), own + f64::from(tried), "N(s) = own + ΣN(s,a)");
                assert_eq!(node.own.is_some(), place != 0);
                assert!(edges.iter().all(|edge| engine.graph.nodes[edge.child()].visits >= edge.visits));
                let sum: f64 =
                    edges.iter().map(|e| f64::from(e.visits) * engine.graph.nodes[e.child()].value).sum();
                let value = (node.own.unwrap_or(0.0) + sum) / (own + f64::from(tried));
                assert!((node.value - value).abs() < 1e-12, "Q(s) = (U(s) + ΣN(s,a)·Q(s'))/(1 + ΣN(s,a))");
            }
            before = engine.graph.nodes.iter().map(|node| node.visits).collect();
            for (place, node) in engine.graph.nodes.iter().enumerate() {
                let below = node.end == End::No && node.visits > 0 && engine.graph.all_closed(place);
                assert!(!below || node.closed, "closed by whatever path");
            }
        }
        let visited = engine.graph.nodes.iter().filter(|node| node.visits > 0);
        assert_eq!(engine.ledger.counters.unique_states, visited.clone().count() as u64);
        assert_eq!(
            engine.ledger.counters.node_visits,
            visited.map(|node| u64::from(node.visits)).sum::<u64>()
        );
        let places = 0..engine.graph.nodes.len();
        let taken =
            places.flat_map(|place| engine.edges(place)).filter(|edge| edge.visits > 0).count() as u64;
        let counters = &engine.ledger.counters;
        assert_eq!(
            taken,
            counters.unique_states - 1 + counters.transpositions,
            "each is new or was met before"
        );
        assert_eq!(counters.transpositions > 0, sharing == Sharing::Graph);
    }

    #[test]
    fn counts_and_values_add_up() {
        check(Sharing::Graph, &Uct);
        check(Sharing::Graph, &Ucd);
        check(Sharing::Tree, &Uct);
    }
}

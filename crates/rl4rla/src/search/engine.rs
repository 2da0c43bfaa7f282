//! Monte Carlo graph search: the paper's method, and tree search when sharing is switched off.
//!
//! A playout selects edges by the rule down to a node not yet visited, expanding nodes on its way, continues at
//! random to a terminal state, and backs up its value along the path. At the root, playouts alternate between the
//! leader and its strongest challenger until their confidence bounds separate (LUCB); then the root moves to the best
//! child, and the graph is kept.
//!
//! Without priors every edge of a node is visited once before any is visited again. With priors an edge that was never
//! visited has the value of its parent (first-play urgency) and the bonus of its prior, so that most may never be.
//!
//! A node is closed when everything below it has been measured completely. Closed nodes may be skipped, and a search
//! that has closed the subtree it decided on may return to the root if other children are open.

use super::backup::Backup;
use super::domain::Domain;
use super::graph::{End, Graph, Sharing};
use super::ledger::{Budget, Ledger, Watch};
use super::outcome::{Outcome, StopReason};
use super::rule::{SelectionRule, Statistics};
use crate::rng::Stream;
use rand::RngExt;

/// Configuration of a graph search.
pub struct GraphSearchPlan<'a> {
    /// Tree or graph.
    pub sharing: Sharing,
    /// The selection rule.
    pub rule: &'a dyn SelectionRule,
    /// c, the exploration constant, in selection and in the stopping rule.
    pub exploration: f64,
    /// The backup rule.
    pub backup: Backup,
    /// Whether to continue until LUCB stops, even if nothing is left to measure.
    pub patient: bool,
    /// Whether selection and decisions skip closed children.
    pub skip_closed: bool,
    /// Whether to return to the first root if the chosen subtree is closed and others are open.
    pub return_to_root: bool,
    /// Maximum playouts per decision, after which the root moves to the leader; `None` if only the whole search has a
    /// budget.
    pub decision: Option<u64>,
    /// Limits on playouts and evaluations.
    pub budget: Budget,
    /// Number of solutions to return.
    pub keep: usize,
    /// RNG stream of the search.
    pub stream: Stream,
}

/// Playouts between two calls of the observer.
const LOOK: u64 = 64;

/// Runs a graph search.
pub fn graph_search<D: Domain>(
    domain: &D,
    plan: &GraphSearchPlan,
    watch: &mut dyn Watch<D::Solution>,
) -> Outcome<D::Solution> {
    let graph = Graph::new(domain, plan.sharing);
    let mut engine = Engine { ledger: Ledger::new(domain, plan.budget, watch), graph, plan };
    let stop = engine.decide();
    engine.ledger.show(&engine.graph);
    let size = engine.graph.size();
    Outcome { size, ..engine.ledger.close(stop, plan.keep) }
}

pub(super) struct Engine<'a, 'b, D: Domain> {
    pub(super) ledger: Ledger<'a, D>,
    pub(super) graph: Graph<'a, D>,
    pub(super) plan: &'b GraphSearchPlan<'b>,
}

impl<D: Domain> Engine<'_, '_, D> {
    /// Makes one decision after another until a terminal state is reached.
    fn decide(&mut self) -> StopReason {
        let (mut root, mut end) = (0, StopReason::Lucb);
        loop {
            self.graph.expand(root);
            if self.edges(root).is_empty() && root != 0 {
                return end;
            }
            root = match self.settle(root) {
                StopReason::Lucb => self.advance(root),
                StopReason::Budget if !self.ledger.is_spent() && !self.edges(root).is_empty() => {
                    end = StopReason::Budget;
                    self.advance(root)
                }
                StopReason::Exhausted | StopReason::NoSignal if self.may_return(root) => 0,
                // Only the subtree of a decision made without evidence is exhausted.
                StopReason::Exhausted if end == StopReason::Budget && !self.graph.nodes[0].closed => {
                    return end;
                }
                stop => return stop,
            };
        }
    }

    /// The node that the root moves to after a decision.
    fn advance(&self, root: usize) -> usize {
        self.edges(root)[self.leader(root)].child()
    }

    /// Whether other children of the first root are open while everything below `root` is closed.
    fn may_return(&self, root: usize) -> bool {
        self.plan.return_to_root && root != 0 && !self.graph.nodes[0].closed
    }

    /// Runs playouts until the decision at `root` is made or the search must stop. A terminal `root` is measured.
    fn settle(&mut self, root: usize) -> StopReason {
        let (mut turn, first) = (0u64, self.ledger.counters.playouts);
        loop {
            let closed = self.graph.nodes[root].closed;
            if closed && !(self.plan.patient && self.ledger.has_signal() && !self.may_return(root)) {
                return if self.ledger.has_signal() { StopReason::Exhausted } else { StopReason::NoSignal };
            }
            let spent = self.ledger.counters.playouts - first;
            if self.ledger.is_spent() || self.plan.decision.is_some_and(|most| spent >= most) {
                return StopReason::Budget;
            }
            let looks = self.ledger.counters.playouts.is_multiple_of(LOOK);
            if looks && !self.ledger.continues_with(self.graph.nodes.len()) {
                return StopReason::Interrupted;
            }
            let edges = self.edges(root);
            let first = match self.untried(root) {
                _ if edges.is_empty() => None,
                Some(untried) => Some(untried),
                None => {
                    let leader = self.leader(root);
                    let Some(challenger) = self.challenger(root, leader) else { return StopReason::Lucb };
                    let bonus = self.bonus(root);
                    let width = |i: usize| self.plan.exploration * bonus(i);
                    let value = |i: usize| self.quality(root, i);
                    if value(leader) - width(leader) > value(challenger) + width(challenger) {
                        return StopReason::Lucb;
                    }
                    turn += 1;
                    Some(if turn % 2 == 1 { leader } else { challenger })
                }
            };
            if !self.playout(root, first) {
                return StopReason::Interrupted;
            }
        }
    }

    /// An edge that must be visited before a decision: the first that was not; with priors, the most likely if none was.
    fn untried(&self, place: usize) -> Option<usize> {
        let untried = |i: &usize| self.edges(place)[*i].visits == 0;
        match self.graph.priors(place) {
            None => self.choices(place).find(untried),
            Some(_) if self.choices(place).any(|i| !untried(&i)) => None,
            Some(_) => self.highest(place, self.choices(place)),
        }
    }

    /// The edges among which a decision is made; all of them if none are skipped.
    fn choices(&self, place: usize) -> impl Iterator<Item = usize> {
        self.open(place, self.plan.skip_closed || self.plan.return_to_root)
    }

    /// The edges of a node, without those to closed children if these are skipped and others are left.
    fn open(&self, place: usize, skip: bool) -> impl Iterator<Item = usize> {
        let edges = self.edges(place);
        let closed = move |i: usize| self.graph.nodes[edges[i].child()].closed;
        let skip = skip && !(0..edges.len()).all(closed);
        (0..edges.len()).filter(move |&i| !(skip && closed(i)))
    }

    pub(super) fn edges(&self, place: usize) -> &[super::graph::Edge] {
        self.graph.edges(place)
    }

    /// Q̂(s, a), the value of an edge; with priors, that of the node if it was never visited.
    fn quality(&self, place: usize, i: usize) -> f64 {
        match self.plan.backup {
            _ if self.is_new(place, i) => self.graph.nodes[place].value,
            Backup::Printed => self.graph.mean(place, i),
            Backup::Idempotent | Backup::Latest => self.graph.nodes[self.edges(place)[i].child()].value,
        }
    }

    /// Whether an edge is ranked by its prior alone.
    fn is_new(&self, place: usize, i: usize) -> bool {
        self.edges(place)[i].visits == 0 && self.graph.priors(place).is_some()
    }

    /// The edge with the highest value; the first on ties. One that was visited, if there are priors.
    fn leader(&self, place: usize) -> usize {
        let standing = |i: usize| (!self.is_new(place, i), self.quality(place, i));
        let better = |best: usize, i: usize| if standing(i) > standing(best) { i } else { best };
        self.choices(place).reduce(better).expect("a decision has a choice")
    }

    /// The edge with the highest score except the leader.
    fn challenger(&self, place: usize, leader: usize) -> Option<usize> {
        self.highest(place, self.choices(place).filter(|&i| i != leader))
    }

    /// The edge with the highest score: without priors, untried ones first; on ties the less tried, then the first.
    fn highest(&self, place: usize, among: impl Iterator<Item = usize>) -> Option<usize> {
        let edges = self.edges(place);
        let bonus = self.bonus(place);
        let score = |i: usize| match edges[i].visits {
            0 if !self.is_new(place, i) => f64::INFINITY,
            _ => self.quality(place, i) + self.plan.exploration * bonus(i),
        };
        let better = |(i, score): (usize, f64), (best, highest): (usize, f64)| {
            score > highest || (score == highest && edges[i].visits < edges[best].visits)
        };
        let scored = among.map(|i| (i, score(i)));
        scored.reduce(|best, next| if better(next, best) { next } else { best }).map(|(i, _)| i)
    }

    /// The exploration bonus of each edge of a node.
    fn bonus(&self, place: usize) -> impl Fn(usize) -> f64 {
        let (node, edges) = (&self.graph.nodes[place], self.graph.edges(place));
        let parent = self.plan.rule.parent(node.visits);
        let priors = self.graph.priors(place);
        let least = u32::from(priors.is_none());
        move |i: usize| {
            let edge = edges[i].visits.max(least);
            let child = self.graph.nodes[edges[i].child()].visits.max(1);
            let prior = priors.map_or(1.0 / edges.len() as f64, |priors| priors[i]);
            self.plan.rule.bonus(parent, Statistics { edge, child, prior })
        }
    }

    /// One playout; the first edge may be prescribed. Returns false if the observer does not permit its value: then
    /// nothing is backed up.
    fn playout(&mut self, root: usize, first: Option<usize>) -> bool {
        let (mut path, mut taken) = (vec![root], Vec::new());
        let (mut here, mut forced) = (root, first);
        let value = loop {
            let fresh = !self.graph.nodes[here].is_expanded();
            self.graph.expand(here);
            if self.edges(here).is_empty() {
                break self.end(here);
            }
            let i = forced.take().or_else(|| self.highest(here, self.open(here, self.plan.skip_closed)));
            let i = i.expect("there is an edge");
            taken.push(i);
            here = self.edges(here)[i].child();
            path.push(here);
            // A known child has had its rollout; the released code makes another one.
            if self.graph.nodes[here].visits == 0 || (fresh && self.plan.backup == Backup::Latest) {
                break self.rollout(here);
            }
        };
        let Some(value) = value else { return false };
        self.back_up(&path, &taken, value);
        self.ledger.counters.playouts += 1;
        true
    }

    /// Continues at random from a node to a terminal state and returns its value.
    fn rollout(&mut self, place: usize) -> Option<f64> {
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
                self.ledger.draw(solution)?
            }
            None => 0.0,
        };
        self.graph.nodes[place].own.get_or_insert(value);
        Some(value)
    }

    /// Draws a value of a terminal node, which refines its mean.
    fn end(&mut self, place: usize) -> Option<f64> {
        if self.graph.nodes[place].end == End::No {
            let solved = self.ledger.domain().solution(&self.graph.nodes[place].state);
            self.graph.nodes[place].end = match solved {
                Some(solved) => End::Solution(self.ledger.enter(solved) as u32),
                None => End::Nothing,
            };
        }
        match self.graph.nodes[place].end {
            End::Solution(solution) => self.ledger.draw(solution as usize),
            _ => Some(0.0),
        }
    }
}

#[cfg(test)]
mod tests;

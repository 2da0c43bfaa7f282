//! Best-solution search: a graph search for the maximum, with a confidence.
//!
//! It differs from the paper's search in three ways. The value of a node is the *best* solution known below it, not
//! the mean of random rollouts. Every state reached is itself a solution and is measured at once, so there are no
//! rollouts. And the search ends when everything has been explored and the leader is better than every other solution
//! with confidence 1 − δ, in paired comparisons on common replicates.

use super::domain::Domain;
use super::graph::{Edge, Graph, Sharing};
use super::ledger::{Budget, Ledger, Watch};
use super::outcome::{Outcome, StopReason};
use rustc_hash::FxHashMap;
use statrs::distribution::{ContinuousCDF, StudentsT};

/// The test by which one solution counts as better than another.
///
/// The differences of two solutions on common replicates are taken as normal with unknown variance. The variance
/// observed for other pairs serves as a prior with the weight of `weight` observations, and is bounded below by
/// `spread`: three equal differences are no proof. The error probability δ is divided among all comparisons.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Confidence {
    /// δ, the error probability of the leader.
    pub delta: f64,
    /// Lower bound on the standard deviation of differences.
    pub spread: f64,
    /// Weight of the prior variance, in observations.
    pub weight: f64,
}

impl Default for Confidence {
    fn default() -> Confidence {
        Confidence { delta: 0.05, spread: 0.05, weight: 6.0 }
    }
}

impl Confidence {
    /// Whether the leader, solution number `number`, is better than another, by their values on common replicates.
    ///
    /// The number is the leader's: the best solution is lost if *any* other looks better, so the errors add up over
    /// the leaders, and a leader that is the maximum of many noisy values needs more evidence.
    fn settles(
        &self,
        difference: Difference,
        seen: Seen,
        number: usize,
        looks: usize,
        quantiles: &mut Quantiles,
    ) -> bool {
        let Difference { count, mean, squares } = difference;
        if mean <= 0.0 {
            return false;
        }
        let freedom = count - 1.0 + self.weight;
        let variance = (squares + self.weight * seen.variance(self)) / freedom;
        // The solutions number 2^e to 2^(e+1) share 6/π²·δ/(e+1)²; the sum over all e is δ.
        let octave = (number.max(1) as f64).log2().floor();
        let share = 6.0 / std::f64::consts::PI.powi(2) / (octave + 1.0).powi(2) / octave.exp2();
        let delta = self.delta * share / looks as f64;
        mean > quantiles.get(freedom, 1.0 - delta) * (variance / count).sqrt()
    }
}

/// Cached quantiles of Student's t: few distinct ones are needed, repeatedly.
#[derive(Default)]
struct Quantiles(FxHashMap<(u64, u64), f64>);

impl Quantiles {
    fn get(&mut self, freedom: f64, probability: f64) -> f64 {
        *self.0.entry((freedom.to_bits(), probability.to_bits())).or_insert_with(|| {
            StudentsT::new(0.0, 1.0, freedom).expect("positive freedom").inverse_cdf(probability)
        })
    }
}

/// The differences of two solutions on the replicates they share.
#[derive(Clone, Copy)]
struct Difference {
    count: f64,
    mean: f64,
    /// Σ (d − mean)².
    squares: f64,
}

impl Difference {
    fn of(leader: &[f64], other: &[f64]) -> Difference {
        let count = other.len().min(leader.len()) as f64;
        let differences = || leader.iter().zip(other).map(|(l, o)| l - o);
        let mean = differences().sum::<f64>() / count;
        Difference { count, mean, squares: differences().map(|d| (d - mean).powi(2)).sum() }
    }
}

/// Pooled variance of all differences so far.
#[derive(Clone, Copy, Default)]
struct Seen {
    squares: f64,
    freedom: f64,
}

impl Seen {
    fn add(&mut self, difference: Difference) {
        self.squares += difference.squares;
        self.freedom += difference.count - 1.0;
    }

    /// The variance expected for the next pair.
    fn variance(self, least: &Confidence) -> f64 {
        let least = least.spread.powi(2);
        if self.freedom > 0.0 { least.max(self.squares / self.freedom) } else { least }
    }
}

/// Initial number of replicates of a new solution.
const FIRST: usize = 1;

/// Number of nodes expanded together.
const BATCH: u64 = 8;

/// Runs a best-solution search; its playouts are the nodes expanded.
pub fn best<D: Domain>(
    domain: &D,
    confidence: Confidence,
    exploration: f64,
    budget: impl Into<Budget>,
    keep: usize,
    watch: &mut dyn Watch<D::Solution>,
) -> Outcome<D::Solution> {
    let graph = Graph::new(domain, Sharing::Graph);
    let mut search = Best {
        ledger: Ledger::new(domain, budget.into(), watch),
        graph,
        confidence,
        exploration,
        leader: None,
        seen: Seen::default(),
        quantiles: Quantiles::default(),
    };
    let stop = search.run();
    search.ledger.show(&search.graph);
    let size = search.graph.size();
    Outcome { size, ..search.ledger.close(stop, keep) }
}

struct Best<'a, D: Domain> {
    ledger: Ledger<'a, D>,
    graph: Graph<'a, D>,
    confidence: Confidence,
    exploration: f64,
    leader: Option<usize>,
    seen: Seen,
    quantiles: Quantiles,
}

impl<D: Domain> Best<'_, D> {
    fn run(&mut self) -> StopReason {
        if !self.meet(0..1) {
            return self.ledger.why();
        }
        loop {
            if self.graph.nodes[0].closed {
                return if self.ledger.has_signal() { StopReason::Confident } else { StopReason::NoSignal };
            }
            if self.ledger.is_spent() {
                return StopReason::Budget;
            }
            if !self.ledger.continues_with(self.graph.nodes.len()) {
                return StopReason::Interrupted;
            }
            let known = self.graph.nodes.len();
            for _ in 0..BATCH.min(self.ledger.playouts_left()) {
                let Some(place) = self.descend() else { break };
                self.expand(place);
            }
            if !self.meet(known..self.graph.nodes.len()) {
                return self.ledger.why();
            }
        }
    }

    /// The most promising node that is not yet expanded.
    fn descend(&mut self) -> Option<usize> {
        if self.graph.nodes[0].closed {
            return None;
        }
        let mut here = 0;
        loop {
            self.ledger.counters.node_visits += 1;
            self.graph.nodes[here].visits += 1;
            if !self.graph.nodes[here].is_expanded() {
                return Some(here);
            }
            let edges = self.graph.edges(here);
            let total = f64::from(self.graph.nodes[here].visits).ln();
            let score = |i: usize| {
                let width = (total / f64::from(edges[i].visits + 1)).sqrt();
                self.graph.nodes[edges[i].child()].value + self.exploration * width
            };
            let open = (0..edges.len()).filter(|&i| !self.graph.nodes[edges[i].child()].closed);
            let scored = open.map(|i| (i, score(i)));
            let highest = scored.reduce(|best, next| if next.1 > best.1 { next } else { best });
            let (i, _) = highest.expect("an open node has an open child");
            let child = edges[i].child();
            self.graph.edges_mut(here)[i].visits += 1;
            here = child;
        }
    }

    /// Adds the children of a node; some may be known already.
    fn expand(&mut self, place: usize) {
        self.ledger.counters.playouts += 1;
        self.graph.expand(place);
        if self.graph.all_closed(place) {
            self.graph.close(place);
        }
        let value = |edge: &Edge| self.graph.nodes[edge.child()].value;
        let highest = self.graph.edges(place).iter().map(value).fold(0.0, f64::max);
        self.raise(place, highest);
    }

    /// Measures the solutions of new nodes as far as necessary to decide whether they lead.
    fn meet(&mut self, places: std::ops::Range<usize>) -> bool {
        let domain = self.ledger.domain();
        let known = self.ledger.count();
        let mut owners = Vec::new();
        for place in places {
            self.ledger.counters.unique_states += 1;
            self.ledger.counters.node_visits += 1;
            let state = &self.graph.nodes[place].state;
            if let Some(solved) = domain.solution(state) {
                owners.push((place, self.ledger.enter(solved)));
            }
            if domain.is_end(state) {
                self.graph.close(place);
            }
        }
        if !self.race((known..self.ledger.count()).collect()) {
            return false;
        }
        for (place, solution) in owners {
            self.raise(place, self.ledger.mean(solution));
        }
        true
    }

    /// Measures new solutions against the leader until each is worse with confidence, cannot catch up, or has
    /// been measured on every replicate.
    fn race(&mut self, mut running: Vec<usize>) -> bool {
        let replicates = self.ledger.domain().replicates();
        let bar = self.leader.map_or(0.0, |leader| self.ledger.mean(leader));
        running.retain(|&s| self.ledger.can_reach(s, bar));
        let mut count = FIRST.min(replicates);
        while !running.is_empty() {
            if !self.ledger.measure(&running.iter().map(|&s| (s, count)).collect::<Vec<_>>()) {
                return false;
            }
            let highest =
                |best: usize, s: usize| if self.ledger.mean(s) > self.ledger.mean(best) { s } else { best };
            let first = running.iter().copied().chain(self.leader).reduce(highest).expect("some are running");
            if !self.ledger.measure(&[(first, replicates)]) {
                return false;
            }
            // It may have been leading by chance.
            let ahead = |&old: &usize| self.ledger.mean(old) >= self.ledger.mean(first);
            let leader = self.leader.filter(ahead).unwrap_or(first);
            self.leader = Some(leader);
            let compared = |s: usize| Difference::of(self.ledger.values(leader), self.ledger.values(s));
            running.iter().filter(|&&s| s != leader).for_each(|&s| self.seen.add(compared(s)));
            running.retain(|&s| {
                let mut behind = || {
                    let Best { confidence, seen, quantiles, .. } = self;
                    confidence.settles(compared(s), *seen, leader + 1, replicates, quantiles)
                };
                !self.ledger.is_complete(s) && self.ledger.can_reach(s, self.ledger.mean(leader)) && !behind()
            });
            count = (count + 1).min(replicates);
        }
        true
    }

    /// Propagates a better solution to all nodes above.
    fn raise(&mut self, place: usize, value: f64) {
        let mut waiting = vec![place];
        while let Some(place) = waiting.pop() {
            if self.graph.nodes[place].value < value {
                self.graph.nodes[place].value = value;
                waiting.extend(self.graph.parents(place));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;

    fn settles(confidence: Confidence, leader: &[f64], other: &[f64], number: usize, seen: Seen) -> bool {
        confidence.settles(Difference::of(leader, other), seen, number, 5, &mut Quantiles::default())
    }

    /// Number of 2,000 pairs of equal solutions in which one is ever called better, with the variance learned from
    /// many such pairs.
    fn mistakes(confidence: Confidence, spread: f64) -> usize {
        let seen = Seen { squares: 100.0 * spread.powi(2), freedom: 100.0 };
        let zeros = [0.0; 32];
        let mistaken = |seed: u64| {
            let noise: Vec<f64> = Stream::new(seed).normals(32).iter().map(|z| spread * z).collect();
            [2, 4, 8, 16, 32].iter().any(|&count| settles(confidence, &noise, &zeros[..count], 1, seen))
        };
        (0..2_000).filter(|&seed| mistaken(seed)).count()
    }

    #[test]
    fn equal_solutions_are_rarely_told_apart() {
        for delta in [0.3, 0.1, 0.02] {
            for spread in [0.01, 0.05, 0.1, 0.5] {
                let count = mistakes(Confidence { delta, ..Confidence::default() }, spread);
                assert!(count as f64 <= 2_000.0 * delta, "{count} at δ = {delta}, spread {spread}");
            }
        }
    }

    #[test]
    fn errors_add_up_to_delta() {
        // A clear difference is significant, a negative one never, and later leaders need more evidence.
        let settles = |leader, other, number| {
            settles(Confidence::default(), &[leader; 4], &[other; 4], number, Seen::default())
        };
        assert!(settles(0.9, 0.1, 1));
        assert!(!settles(0.5, 0.5, 1));
        assert!(!settles(0.1, 0.9, 1));
        assert!(settles(0.6, 0.5, 1));
        assert!(!settles(0.6, 0.5, 10_000));
    }
}

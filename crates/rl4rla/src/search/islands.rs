//! Island evolution: several separate populations, whose parents are given to an arbitrary proposer (Romera-Paredes
//! et al., *FunSearch*, 2023).

use super::domain::{Domain, walk};
use super::fitness::{FitnessEvaluator, Individual};
use super::ledger::{Budget, Watch};
use super::outcome::{Outcome, StopReason};
use crate::rng::Stream;
use rand::{Rng, RngExt};
use rustc_hash::FxHashSet;

/// A parent as shown to a proposer.
pub struct Parent<'a, S> {
    /// The state.
    pub state: &'a S,
    /// Its mean on the replicates it was measured on.
    pub score: f64,
}

/// A source of new states, given old ones.
pub trait ProposalSource<D: Domain> {
    /// States to try. The parents are sorted by score, the best last, and may be empty. An empty list is a valid
    /// answer; `None` means that there will never be any more, and interrupts the search.
    fn propose(
        &mut self,
        domain: &D,
        parents: &[Parent<D::State>],
        pick: &mut dyn FnMut(usize) -> usize,
    ) -> Option<Vec<D::State>>;

    /// The minimum number of evaluations charged for a proposal, whatever its result: if proposing is expensive in
    /// itself, proposals of known states must not be free.
    fn cost(&self) -> u64 {
        0
    }
}

/// Proposes mutations of the better parent, and sometimes a crossover with the other.
pub struct Breeder;

/// One in this many proposals has two parents.
const PAIRS: usize = 4;

impl<D: Domain> ProposalSource<D> for Breeder {
    fn propose(
        &mut self,
        domain: &D,
        parents: &[Parent<D::State>],
        pick: &mut dyn FnMut(usize) -> usize,
    ) -> Option<Vec<D::State>> {
        let both = |pick: &mut dyn FnMut(usize) -> usize| match parents {
            [.., other, best] if pick(PAIRS) == 0 => domain.recombine(best.state, other.state, pick),
            _ => None,
        };
        let mutant = |pick: &mut dyn FnMut(usize) -> usize| domain.mutate(parents.last()?.state, pick);
        let child = both(pick).or_else(|| mutant(pick)).unwrap_or_else(|| walk(domain, pick, |_| {}));
        Some(vec![child])
    }
}

const ISLANDS: usize = 5;

/// Number of random walks that an island starts with, besides the root.
const FOUNDERS: usize = 2;

/// Number of parents of a proposal.
const PARENTS: usize = 2;

/// Initial temperature of the softmax over the scores of clusters; it falls to 0 over this many individuals of an
/// island and then starts again.
const TEMPERATURE: f64 = 0.1;
const COOLING: u64 = 1000;

/// Individuals between two resets of the worse half of the islands.
const RESET: u64 = 250;

/// Number of consecutive proposals without a state that end a search.
const PATIENCE: usize = 50;

/// Evolves islands with this proposer. Playouts are individuals and empty proposals.
pub fn islands<D: Domain>(
    domain: &D,
    proposer: &mut dyn ProposalSource<D>,
    budget: impl Into<Budget>,
    keep: usize,
    stream: &Stream,
    watch: &mut dyn Watch<D::Solution>,
) -> Outcome<D::Solution> {
    let mut sea = Sea { evaluator: FitnessEvaluator::new(domain, budget.into(), watch), islands: Vec::new() };
    let stop = sea.evolve(proposer, stream);
    sea.evaluator.ledger.close(stop, keep)
}

struct Sea<'a, D: Domain> {
    evaluator: FitnessEvaluator<'a, D>,
    islands: Vec<Island<D::State>>,
}

struct Island<S> {
    /// In order of creation.
    clusters: Vec<Cluster<S>>,
    /// Indices of its solutions, so that none is added twice.
    known: FxHashSet<usize>,
}

/// Individuals with equal scores on every replicate.
struct Cluster<S> {
    signature: Vec<f64>,
    score: f64,
    members: Vec<Member<S>>,
}

struct Member<S> {
    individual: Individual<S>,
    size: usize,
}

impl<S> Island<S> {
    fn new() -> Island<S> {
        Island { clusters: Vec::new(), known: FxHashSet::default() }
    }

    fn best(&self) -> Option<&Cluster<S>> {
        self.clusters.iter().reduce(|best, next| if next.score > best.score { next } else { best })
    }

    /// Parents, the best last: the cluster is chosen by score, and within it short programs are preferred.
    fn parents(&self, rng: &mut impl Rng) -> Vec<Parent<'_, S>> {
        if self.clusters.is_empty() {
            return Vec::new();
        }
        let age = (self.known.len() as u64 % COOLING) as f64 / COOLING as f64;
        let temperature = TEMPERATURE * (1.0 - age);
        let scores: Vec<f64> = self.clusters.iter().map(|cluster| cluster.score / temperature).collect();
        let mut parents: Vec<Parent<S>> = (0..PARENTS)
            .map(|_| {
                let cluster = &self.clusters[softmax(&scores, rng)];
                let sizes = cluster.members.iter().map(|member| member.size);
                let (least, most) = (sizes.clone().min().unwrap_or(0), sizes.clone().max().unwrap_or(0));
                let brevity: Vec<f64> =
                    sizes.map(|size| -((size - least) as f64) / (most as f64).max(1.0)).collect();
                let member = &cluster.members[softmax(&brevity, rng)];
                Parent { state: &member.individual.state, score: cluster.score }
            })
            .collect();
        parents.sort_by(|a, b| a.score.total_cmp(&b.score));
        parents
    }
}

/// An index, with probability proportional to the exponential of its weight.
fn softmax(weights: &[f64], rng: &mut impl Rng) -> usize {
    let most = weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> = weights.iter().map(|weight| (weight - most).exp()).collect();
    let mut left = rng.random::<f64>() * weights.iter().sum::<f64>();
    let chosen = weights.iter().position(|weight| {
        left -= weight;
        left < 0.0
    });
    chosen.unwrap_or(weights.len() - 1)
}

impl<D: Domain> Sea<'_, D> {
    fn evolve(&mut self, proposer: &mut dyn ProposalSource<D>, stream: &Stream) -> StopReason {
        if self.evaluator.ledger.is_spent() {
            return StopReason::Budget;
        }
        if !self.evaluator.ledger.continues() {
            return StopReason::Interrupted;
        }
        if !self.settle(stream) {
            return self.evaluator.ledger.why();
        }
        let domain = self.evaluator.ledger.domain();
        let (mut silence, mut reset) = (0, RESET);
        loop {
            if self.evaluator.ledger.is_spent() || silence >= PATIENCE {
                return StopReason::Budget;
            }
            if !self.evaluator.ledger.continues() {
                return StopReason::Interrupted;
            }
            let (made, before) =
                (self.evaluator.ledger.counters.playouts, self.evaluator.ledger.counters.evaluations);
            let mut rng = stream.derive("playout", made).rng();
            if made >= reset {
                self.reset(&mut rng);
                reset = made + RESET;
            }
            let island = rng.random_range(0..ISLANDS);
            let parents = self.islands[island].parents(&mut rng);
            let mut pick = |count: usize| rng.random_range(0..count);
            let Some(mut states) = proposer.propose(domain, &parents, &mut pick) else {
                return StopReason::Interrupted;
            };
            states.truncate(self.evaluator.ledger.playouts_left() as usize);
            if states.is_empty() {
                self.evaluator.ledger.charge(proposer.cost());
                (silence, self.evaluator.ledger.counters.playouts) = (silence + 1, made + 1);
                continue;
            }
            silence = 0;
            let Some(children) = self.evaluator.evaluate(states) else { return self.evaluator.ledger.why() };
            let spent = self.evaluator.ledger.counters.evaluations - before;
            self.evaluator.ledger.charge(proposer.cost().saturating_sub(spent));
            children.into_iter().for_each(|child| self.register(island, child));
        }
    }

    /// Creates the islands; returns false if the search must stop.
    fn settle(&mut self, stream: &Stream) -> bool {
        let domain = self.evaluator.ledger.domain();
        let walks = (0..ISLANDS * FOUNDERS).map(|number| {
            let mut rng = stream.derive("founder", number as u64).rng();
            walk(domain, &mut |count| rng.random_range(0..count), |_| {})
        });
        let states = std::iter::once(domain.root()).chain(walks);
        let most = usize::try_from(self.evaluator.ledger.playouts_left()).unwrap_or(usize::MAX);
        let Some(founders) = self.evaluator.evaluate(states.take(most).collect()) else { return false };
        self.islands = (0..ISLANDS).map(|_| Island::new()).collect();
        for (number, founder) in founders.into_iter().enumerate() {
            match number {
                0 => (0..ISLANDS).for_each(|island| self.register(island, founder.clone())),
                _ => self.register(number % ISLANDS, founder),
            }
        }
        true
    }

    fn register(&mut self, island: usize, individual: Individual<D::State>) {
        let Some(place) = individual.place else { return };
        let (island, ledger) = (&mut self.islands[island], &self.evaluator.ledger);
        if !island.known.insert(place) {
            return;
        }
        let member = Member { individual, size: ledger.domain().size(ledger.solution(place)) };
        let signature = ledger.values(place);
        match island.clusters.iter_mut().find(|cluster| cluster.signature == signature) {
            Some(cluster) => cluster.members.push(member),
            None => island.clusters.push(Cluster {
                signature: signature.to_vec(),
                score: ledger.mean(place),
                members: vec![member],
            }),
        }
    }

    /// Empties the worse half of the islands and restarts each with the best individual of a better one.
    fn reset(&mut self, rng: &mut impl Rng) {
        let score = |&island: &usize| self.islands[island].best().map_or(-1.0, |best| best.score);
        let mut order: Vec<usize> = (0..ISLANDS).collect();
        order.sort_by(|a, b| score(a).total_cmp(&score(b)));
        let (worse, better) = order.split_at(ISLANDS / 2);
        for &island in worse {
            let source = &self.islands[better[rng.random_range(0..better.len())]];
            let shortest = |best: &Cluster<D::State>| {
                best.members.iter().min_by_key(|member| member.size).map(|member| member.individual.clone())
            };
            let founder = source.best().and_then(shortest);
            self.islands[island] = Island::new();
            founder.into_iter().for_each(|founder| self.register(island, founder));
        }
    }
}

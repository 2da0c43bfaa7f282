//! The ledger: every value a search has requested, computed once.

use super::domain::{Domain, Solved};
use super::outcome::{Counters, GraphSize, Outcome, Ranked, StopReason};
use super::view::GraphView;
use rustc_hash::FxHashMap;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// An observer of a search for solutions of type `S`, which may stop it.
pub trait Watch<S> {
    /// A value was computed.
    fn evaluated(&mut self, _key: u128, _replicate: usize, _value: f64) {}

    /// Whether the search should continue. `best` is the solution with the highest mean so far, and that mean.
    fn continues(&mut self, _counters: &Counters, _best: Option<(&S, f64)>) -> bool {
        true
    }

    /// Whether a value may be computed; if not, the search stops before it is.
    fn permits(&mut self, _key: u128, _replicate: usize) -> bool {
        true
    }

    /// Whether the graph of the search may have this many nodes; if not, the search stops.
    fn has_room(&mut self, _nodes: usize) -> bool {
        true
    }

    /// The search has ended or was stopped; methods without a graph never say so.
    fn searched(&mut self, _graph: &dyn GraphView<S>) {}
}

/// Limits of a search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Budget {
    /// Maximum number of playouts.
    pub playouts: u64,
    /// Maximum number of evaluations; the final measurement of the best solutions is not included.
    pub evaluations: Option<u64>,
}

impl From<u64> for Budget {
    fn from(playouts: u64) -> Budget {
        Budget { playouts, evaluations: None }
    }
}

/// An observer that does nothing.
pub struct Silent;

impl<S> Watch<S> for Silent {}

struct Entry<S> {
    solved: Solved<S>,
    /// Values of replicates 0, 1, …
    values: Vec<f64>,
    sum: f64,
    /// Upper bound on its values.
    bound: f64,
    /// Number of calls of [`Ledger::draw`].
    draws: usize,
    /// Evaluations of the search up to its first value.
    first: u64,
}

impl<S> Entry<S> {
    fn mean(&self) -> f64 {
        if self.values.is_empty() { 0.0 } else { self.sum / self.values.len() as f64 }
    }
}

/// The mean of a solution at some time. Ordered by mean; ties go to the solution entered first.
struct Standing {
    mean: f64,
    place: usize,
}

impl Ord for Standing {
    fn cmp(&self, other: &Standing) -> Ordering {
        self.mean.total_cmp(&other.mean).then(other.place.cmp(&self.place))
    }
}
impl PartialOrd for Standing {
    fn partial_cmp(&self, other: &Standing) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl PartialEq for Standing {
    fn eq(&self, other: &Standing) -> bool {
        self.cmp(other).is_eq()
    }
}
impl Eq for Standing {}

/// The values computed so far, by solution and replicate.
pub struct Ledger<'a, D: Domain> {
    domain: &'a D,
    budget: Budget,
    watch: &'a mut dyn Watch<D::Solution>,
    /// Whether the observer has asked to stop.
    interrupted: bool,
    places: FxHashMap<u128, usize>,
    /// In the order in which they were entered.
    entries: Vec<Entry<D::Solution>>,
    best: Option<usize>,
    /// Every mean so far, for finding the best solution again when its mean falls.
    heap: BinaryHeap<Standing>,
    /// Whether the mean of `best` has fallen, so that another may be ahead.
    fallen: bool,
    /// Counters of the search.
    pub counters: Counters,
    /// Evaluations charged for proposals without a value.
    charged: u64,
}

/// Maximum number of values computed between two calls of the observer.
const BATCH: usize = 512;

impl<'a, D: Domain> Ledger<'a, D> {
    /// An empty ledger.
    pub fn new(domain: &'a D, budget: Budget, watch: &'a mut dyn Watch<D::Solution>) -> Ledger<'a, D> {
        Ledger {
            domain,
            budget,
            watch,
            interrupted: false,
            places: FxHashMap::default(),
            entries: Vec::new(),
            best: None,
            heap: BinaryHeap::new(),
            fallen: false,
            counters: Counters::default(),
            charged: 0,
        }
    }

    /// The domain of the search.
    pub fn domain(&self) -> &'a D {
        self.domain
    }

    /// Playouts not yet spent.
    pub fn playouts_left(&self) -> u64 {
        self.budget.playouts.saturating_sub(self.counters.playouts)
    }

    /// Evaluations not yet spent.
    pub fn evaluations_left(&self) -> u64 {
        let spent = self.counters.evaluations.saturating_add(self.charged);
        self.budget.evaluations.map_or(u64::MAX, |most| most.saturating_sub(spent))
    }

    /// Charges the budget for work that costs as much as evaluations but gives no value.
    pub fn charge(&mut self, evaluations: u64) {
        self.charged += evaluations;
    }

    /// Whether the budget is spent.
    pub fn is_spent(&self) -> bool {
        self.playouts_left() == 0 || self.evaluations_left() == 0
    }

    /// The index of a solution, assigned when it is first entered.
    pub fn enter(&mut self, solved: Solved<D::Solution>) -> usize {
        let next = self.entries.len();
        let place = *self.places.entry(solved.key).or_insert(next);
        if place == next {
            let bound = self.domain.bound(&solved.solution);
            self.entries.push(Entry { solved, values: Vec::new(), sum: 0.0, bound, draws: 0, first: 0 });
        }
        place
    }

    /// Number of solutions entered.
    pub fn count(&self) -> usize {
        self.entries.len()
    }

    /// The solution with this index.
    pub fn solution(&self, place: usize) -> &D::Solution {
        &self.entries[place].solved.solution
    }

    /// The known values of a solution.
    pub fn values(&self, place: usize) -> &[f64] {
        &self.entries[place].values
    }

    /// The mean of the known values.
    pub fn mean(&self, place: usize) -> f64 {
        self.entries[place].mean()
    }

    /// Whether every replicate has been measured.
    pub fn is_complete(&self, place: usize) -> bool {
        self.entries[place].values.len() >= self.domain.replicates()
    }

    /// Whether every value that can be drawn is known.
    pub fn is_exhausted(&self, place: usize) -> bool {
        self.entries[place].values.len() >= self.domain.draws(self.solution(place))
    }

    /// Upper bound on the values of a solution.
    pub fn bound(&self, place: usize) -> f64 {
        self.entries[place].bound
    }

    /// Whether a solution could still reach this mean with its upper bound on all remaining replicates.
    pub fn can_reach(&self, place: usize, mean: f64) -> bool {
        let (entry, all) = (&self.entries[place], self.domain.replicates() as f64);
        let most = (entry.sum + entry.bound * (all - entry.values.len() as f64)) / all;
        // Sums of the same numbers in another order differ by rounding.
        most >= mean - 1e-12
    }

    /// The next value of a solution, cycling through all that can be drawn; `None` if the observer does not permit it.
    /// Costs at most one evaluation; the caller must check the budget.
    pub fn draw(&mut self, place: usize) -> Option<f64> {
        let replicate = self.entries[place].draws % self.domain.draws(self.solution(place));
        if replicate == self.entries[place].values.len() && !self.compute(&[(place, replicate)]) {
            return None;
        }
        self.entries[place].draws += 1;
        Some(self.entries[place].values[replicate])
    }

    /// Measures the first `count` replicates of each of these solutions. Returns false if the observer asks to stop
    /// or the budget is exhausted before that; [`Ledger::why`] tells which.
    pub fn measure(&mut self, wanted: &[(usize, usize)]) -> bool {
        let mut missing: Vec<(usize, usize)> = wanted
            .iter()
            .flat_map(|&(place, count)| {
                let count = count.min(self.domain.replicates());
                (self.entries[place].values.len()..count).map(move |replicate| (place, replicate))
            })
            .collect();
        // Sorted by replicate, so that an interrupted batch leaves no gaps.
        missing.sort_by_key(|&(place, replicate)| (replicate, place));
        missing.dedup();
        let affordable = usize::try_from(self.evaluations_left()).unwrap_or(usize::MAX).min(missing.len());
        let all = affordable == missing.len();
        for batch in missing[..affordable].chunks(BATCH) {
            if !self.compute(batch) || (batch.len() > 1 && !self.continues()) {
                return false;
            }
        }
        all
    }

    /// Computes these values, up to the first that the observer does not permit; returns whether it permits all.
    fn compute(&mut self, batch: &[(usize, usize)]) -> bool {
        let Ledger { watch, entries, .. } = self;
        let permitted = |&&(place, replicate): &&(usize, usize)| {
            let key = entries[place].solved.key;
            watch.permits(key, replicate)
        };
        let count = batch.iter().take_while(permitted).count();
        let (batch, refused) = batch.split_at(count);
        let requests: Vec<_> =
            batch.iter().map(|&(place, replicate)| (&self.entries[place].solved, replicate)).collect();
        let values = self.domain.values(&requests);
        assert_eq!(values.len(), batch.len(), "a domain answers every request");
        for (&(place, replicate), value) in batch.iter().zip(values) {
            self.note(place, replicate, value);
        }
        self.interrupted |= !refused.is_empty();
        refused.is_empty()
    }

    fn note(&mut self, place: usize, replicate: usize, value: f64) {
        let value = if value.is_nan() { 0.0 } else { value.clamp(0.0, 1.0) };
        let entry = &mut self.entries[place];
        let before = entry.mean();
        self.watch.evaluated(entry.solved.key, replicate, value);
        self.counters.evaluations += 1;
        if entry.values.is_empty() {
            entry.first = self.counters.evaluations;
            self.counters.solutions += 1;
        }
        entry.values.push(value);
        entry.sum += value;
        let after = entry.mean();
        self.heap.push(Standing { mean: after, place });
        if self.best == Some(place) {
            self.fallen |= after < before;
        } else if self.best.is_none_or(|best| after > self.mean(best)) {
            self.best = Some(place);
        }
    }

    /// The solution with the highest mean.
    pub fn best(&mut self) -> Option<usize> {
        if self.fallen {
            // Outdated entries on top of the heap have an up-to-date one further down.
            while self.heap.peek().is_some_and(|top| top.mean != self.mean(top.place)) {
                self.heap.pop();
            }
            self.best = self.heap.peek().map(|top| top.place);
            self.fallen = false;
        }
        self.best
    }

    /// Whether any solution has a positive value.
    pub fn has_signal(&mut self) -> bool {
        self.best().is_some_and(|place| self.mean(place) > 0.0)
    }

    /// Whether the observer lets the search continue.
    pub fn continues(&mut self) -> bool {
        let best = self.best().map(|place| &self.entries[place]);
        let best = best.map(|entry| (&entry.solved.solution, entry.mean()));
        self.interrupted |= !self.watch.continues(&self.counters, best);
        !self.interrupted
    }

    /// The same for a search whose graph has this many nodes.
    pub fn continues_with(&mut self, nodes: usize) -> bool {
        self.interrupted |= !self.watch.has_room(nodes);
        self.continues()
    }

    /// Shows the observer the graph of the search, which has ended.
    pub fn show(&mut self, graph: &dyn GraphView<D::Solution>) {
        self.watch.searched(graph);
    }

    /// The reason why a search must stop.
    pub fn why(&self) -> StopReason {
        if self.interrupted { StopReason::Interrupted } else { StopReason::Budget }
    }

    /// Ends a search: returns the best `count` solutions, measured on every replicate so that none leads by a single
    /// favourable draw. These evaluations are counted but not limited by the budget.
    pub fn close(mut self, stop: StopReason, count: usize) -> Outcome<D::Solution> {
        self.budget.evaluations = None;
        let replicates = self.domain.replicates();
        loop {
            let order = self.order();
            let incomplete: Vec<(usize, usize)> = order
                .iter()
                .take(count)
                .filter(|&&place| !self.is_complete(place))
                .map(|&place| (place, replicates))
                .collect();
            if stop == StopReason::Interrupted || incomplete.is_empty() {
                let ranked = order.into_iter().take(count).map(|place| self.ranked(place)).collect();
                return Outcome { ranked, stop, counters: self.counters, size: GraphSize::default() };
            }
            if !self.measure(&incomplete) {
                let ranked = order.into_iter().take(count).map(|place| self.ranked(place)).collect();
                let (counters, size) = (self.counters, GraphSize::default());
                return Outcome { ranked, stop: StopReason::Interrupted, counters, size };
            }
        }
    }

    /// The indices of all measured solutions, highest mean first; on ties, the one entered first.
    pub fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = self.measured().collect();
        order.sort_by(|&a, &b| self.mean(b).total_cmp(&self.mean(a)).then(a.cmp(&b)));
        order
    }

    fn measured(&self) -> impl Iterator<Item = usize> {
        (0..self.entries.len()).filter(|&place| !self.entries[place].values.is_empty())
    }

    fn ranked(&self, place: usize) -> Ranked<D::Solution> {
        let entry = &self.entries[place];
        Ranked { solved: entry.solved.clone(), values: entry.values.clone(), first: entry.first }
    }
}

//! Creation and evaluation of the individuals of evolutionary searches.

use super::domain::Domain;
use super::ledger::{Budget, Ledger, Watch};
use rustc_hash::FxHashSet;

/// Number of replicates per individual, so that no single favourable draw keeps it alive.
pub(super) const REPLICATES: usize = 4;

/// A state, and the index of its solution in the ledger, if it has one.
#[derive(Clone)]
pub(super) struct Individual<S> {
    pub state: S,
    pub place: Option<usize>,
}

/// Creates and counts individuals; those with known solutions need no evaluations.
pub(super) struct FitnessEvaluator<'a, D: Domain> {
    pub ledger: Ledger<'a, D>,
    met: FxHashSet<u128>,
}

impl<'a, D: Domain> FitnessEvaluator<'a, D> {
    pub fn new(
        domain: &'a D,
        budget: Budget,
        watch: &'a mut dyn Watch<D::Solution>,
    ) -> FitnessEvaluator<'a, D> {
        FitnessEvaluator { ledger: Ledger::new(domain, budget, watch), met: FxHashSet::default() }
    }

    /// Creates individuals from these states and measures them together; `None` if the search must stop.
    pub fn evaluate(&mut self, states: Vec<D::State>) -> Option<Vec<Individual<D::State>>> {
        let domain = self.ledger.domain();
        let mut individuals = Vec::with_capacity(states.len());
        for state in states {
            self.met.insert(domain.key(&state));
            let place = domain.solution(&state).map(|solved| self.ledger.enter(solved));
            individuals.push(Individual { state, place });
        }
        let count = individuals.len() as u64;
        self.ledger.counters.playouts += count;
        self.ledger.counters.node_visits += count;
        self.ledger.counters.unique_states = self.met.len() as u64;
        let wanted: Vec<_> = individuals.iter().filter_map(|one| Some((one.place?, REPLICATES))).collect();
        self.ledger.measure(&wanted).then_some(individuals)
    }

    /// The mean value of an individual; below all others if it is not a solution.
    pub fn fitness(&self, individual: &Individual<D::State>) -> f64 {
        individual.place.map_or(-1.0, |place| self.ledger.mean(place))
    }
}

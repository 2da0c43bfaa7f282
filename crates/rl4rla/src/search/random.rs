//! Random search: what everything else must beat.

use super::domain::Domain;
use super::ledger::{Ledger, Watch};
use super::outcome::{Outcome, Stop};
use crate::rng::Stream;
use rand::RngExt;
use rustc_hash::FxHashSet;

/// Goes from the root to an end at random, `budget` times, and draws a value at every end.
pub fn random<D: Domain>(
    domain: &D,
    budget: u64,
    keep: usize,
    stream: &Stream,
    watch: &mut dyn Watch<D::Solution>,
) -> Outcome<D::Solution> {
    let mut ledger = Ledger::new(domain, watch);
    let mut met = FxHashSet::default();
    while ledger.counters.playouts < budget {
        if !ledger.goes_on() {
            return ledger.close(Stop::Interrupted, keep);
        }
        let mut rng = stream.derive("playout", ledger.counters.playouts).rng();
        let mut state = domain.root();
        loop {
            ledger.counters.node_visits += 1;
            met.insert(domain.key(&state));
            let Some(child) = domain.child(&state, &mut |count| rng.random_range(0..count)) else { break };
            state = child;
        }
        if let Some(solved) = domain.solution(&state) {
            let solution = ledger.enter(solved);
            ledger.draw(solution);
        }
        ledger.counters.playouts += 1;
        ledger.counters.unique_states = met.len() as u64;
    }
    ledger.close(Stop::Budget, keep)
}

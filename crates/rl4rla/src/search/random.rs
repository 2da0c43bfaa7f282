//! Random search: the simplest baseline.

use super::domain::{Domain, walk};
use super::ledger::{Budget, Ledger, Watch};
use super::outcome::{Outcome, StopReason};
use crate::rng::Stream;
use rand::RngExt;
use rustc_hash::FxHashSet;

/// Random walks from the root to a terminal state, within the budget, with one value drawn at the end of each.
pub fn random<D: Domain>(
    domain: &D,
    budget: impl Into<Budget>,
    keep: usize,
    stream: &Stream,
    watch: &mut dyn Watch<D::Solution>,
) -> Outcome<D::Solution> {
    let mut ledger = Ledger::new(domain, budget.into(), watch);
    let mut met = FxHashSet::default();
    while !ledger.is_spent() {
        if !ledger.continues() {
            return ledger.close(StopReason::Interrupted, keep);
        }
        let mut rng = stream.derive("playout", ledger.counters.playouts).rng();
        let state = walk(domain, &mut |count| rng.random_range(0..count), |state| {
            ledger.counters.node_visits += 1;
            met.insert(domain.key(state));
        });
        if let Some(solved) = domain.solution(&state) {
            let solution = ledger.enter(solved);
            if ledger.draw(solution).is_none() {
                return ledger.close(StopReason::Interrupted, keep);
            }
        }
        ledger.counters.playouts += 1;
        ledger.counters.unique_states = met.len() as u64;
    }
    ledger.close(StopReason::Budget, keep)
}

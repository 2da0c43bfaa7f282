//! Exhaustive search: every state and every solution. When it finishes, its winner is the best program; it is the
//! reference for all other methods, in evaluations.

use super::domain::Domain;
use super::ledger::{Budget, Ledger, Watch};
use super::outcome::{Outcome, StopReason};
use super::places::KeyPlaces;

/// How completely solutions are measured.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Measure {
    /// On every replicate.
    All,
    /// Until another solution is certainly better: a solution is dropped when even the value 1 on all remaining
    /// replicates could not bring it up to the leader.
    WhileInTheRunning,
}

/// States between two calls of the observer.
const LOOK: u64 = 256;

/// Visits every state once, in breadth-first order, and measures every solution.
///
/// The playouts of the budget are the states generated; a search that exceeds it stops with what it has found.
pub fn exhaustive<D: Domain>(
    domain: &D,
    measure: Measure,
    budget: impl Into<Budget>,
    keep: usize,
    watch: &mut dyn Watch<D::Solution>,
) -> Outcome<D::Solution> {
    let mut ledger = Ledger::new(domain, budget.into(), watch);
    let stop = match enumerate(&mut ledger) {
        StopReason::Interrupted => return ledger.close(StopReason::Interrupted, keep),
        stop => stop,
    };
    let solutions: Vec<usize> = (0..ledger.count()).collect();
    let measured = match measure {
        Measure::All => (1..=domain.replicates())
            .all(|count| ledger.measure(&solutions.iter().map(|&s| (s, count)).collect::<Vec<_>>())),
        Measure::WhileInTheRunning => drop_by_bounds(&mut ledger, solutions),
    };
    match (measured, ledger.has_signal()) {
        (false, _) => {
            let why = ledger.why();
            ledger.close(why, keep)
        }
        (true, false) => ledger.close(stop.max(StopReason::NoSignal), keep),
        (true, true) => ledger.close(stop, keep),
    }
}

/// Enters every solution into the ledger.
fn enumerate<D: Domain>(ledger: &mut Ledger<D>) -> StopReason {
    let domain = ledger.domain();
    let root = domain.root();
    if let Some(solved) = domain.solution(&root) {
        ledger.enter(solved);
    }
    let mut met = KeyPlaces::default();
    met.get_or_insert(domain.key(&root), 0);
    let mut level = vec![root];
    (ledger.counters.unique_states, ledger.counters.node_visits) = (1, 1);
    while !level.is_empty() {
        let mut next = Vec::new();
        for state in level {
            for child in domain.children(&state).iter() {
                ledger.counters.node_visits += 1;
                if ledger.counters.node_visits.is_multiple_of(LOOK) && !ledger.continues() {
                    return StopReason::Interrupted;
                }
                let number = ledger.counters.unique_states as u32;
                if met.get_or_insert(domain.key(child), number) != number {
                    continue;
                }
                if ledger.is_spent() {
                    return StopReason::Budget;
                }
                ledger.counters.playouts += 1;
                ledger.counters.unique_states += 1;
                if let Some(solved) = domain.solution(child) {
                    ledger.enter(solved);
                }
                if !domain.is_end(child) {
                    next.push(child.clone());
                }
            }
        }
        level = next;
    }
    StopReason::Exhausted
}

/// Solutions measured between two updates of the leader.
const TOGETHER: usize = 256;

/// Measures one replicate after the other and drops solutions that can no longer win; the most promising ones first,
/// so that there is soon a strong leader to compare with.
fn drop_by_bounds<D: Domain>(ledger: &mut Ledger<D>, mut running: Vec<usize>) -> bool {
    let replicates = ledger.domain().replicates();
    running.sort_by(|&a, &b| ledger.bound(b).total_cmp(&ledger.bound(a)).then(a.cmp(&b)));
    let mut bar = 0.0;
    for count in 1..=replicates {
        for some in running.chunks(TOGETHER) {
            let some = some.iter().filter(|&&place| ledger.can_reach(place, bar));
            let some: Vec<(usize, usize)> = some.map(|&place| (place, count)).collect();
            if !ledger.measure(&some) {
                return false;
            }
            let leader = ledger.best().filter(|&leader| !ledger.is_complete(leader));
            if let Some(leader) = leader {
                if !ledger.measure(&[(leader, replicates)]) {
                    return false;
                }
                bar = ledger.mean(leader).max(bar);
            }
        }
        running.retain(|&place| ledger.can_reach(place, bar));
    }
    true
}

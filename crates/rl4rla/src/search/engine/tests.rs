//! Tests of the graph statistics after playouts.

use super::super::domain::Solved;
use super::super::ledger::Silent;
use super::super::rule::{Ucd, Uct};
use super::*;
use std::sync::Arc;

/// Multisets of five letters out of four, valued by the share of the last letter: many paths, few states.
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

fn plan(sharing: Sharing, rule: &dyn SelectionRule, backup: Backup) -> GraphSearchPlan<'_> {
    GraphSearchPlan {
        sharing,
        rule,
        exploration: 0.5,
        backup,
        patient: false,
        skip_closed: false,
        return_to_root: false,
        decision: None,
        budget: Budget::from(0),
        keep: 1,
        stream: Stream::new(1),
    }
}

/// An engine whose root is expanded.
fn expanded<'a>(plan: &'a GraphSearchPlan<'a>, watch: &'a mut Silent) -> Engine<'a, 'a, Multisets> {
    let mut graph = Graph::new(&Multisets, plan.sharing);
    graph.expand(0);
    Engine { ledger: Ledger::new(&Multisets, plan.budget, watch), graph, plan }
}

fn check(sharing: Sharing, rule: &dyn SelectionRule) {
    let (plan, mut watch) = (plan(sharing, rule, Backup::Idempotent), Silent);
    let mut engine = expanded(&plan, &mut watch);
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
    assert_eq!(engine.ledger.counters.node_visits, visited.map(|node| u64::from(node.visits)).sum::<u64>());
    let places = 0..engine.graph.nodes.len();
    let taken = places.flat_map(|place| engine.edges(place)).filter(|edge| edge.visits > 0).count() as u64;
    let counters = &engine.ledger.counters;
    assert_eq!(taken, counters.unique_states - 1 + counters.transpositions, "each is new or was met before");
    assert_eq!(counters.transpositions > 0, sharing == Sharing::Graph);
}

#[test]
fn counts_and_values_add_up() {
    check(Sharing::Graph, &Uct);
    check(Sharing::Graph, &Ucd);
    check(Sharing::Tree, &Uct);
}

/// Every edge holds the mean of the rollouts below it, whatever path they took.
#[test]
fn printed_means_are_means_over_all_paths() {
    for sharing in [Sharing::Graph, Sharing::Tree] {
        let (plan, mut watch) = (plan(sharing, &Ucd, Backup::Printed), Silent);
        let mut engine = expanded(&plan, &mut watch);
        // Computed by hand: a rollout counts for the edges that existed when it ended.
        let mut sums: std::collections::BTreeMap<(usize, usize), (f64, u32)> = Default::default();
        let mut before: Vec<f64> = Vec::new();
        for _ in 0..500 {
            let edges = |engine: &Engine<Multisets>| -> Vec<(usize, usize, u32, f64)> {
                let nodes = 0..engine.graph.nodes.len();
                let edges = nodes.flat_map(|place| (0..engine.edges(place).len()).map(move |i| (place, i)));
                let told = |(place, i): (usize, usize)| {
                    (place, i, engine.edges(place)[i].visits, engine.graph.mean(place, i))
                };
                edges.map(told).collect()
            };
            engine.playout(0, None);
            let values: std::collections::BTreeSet<u64> = edges(&engine)
                .into_iter()
                .filter_map(|(place, i, visits, mean)| {
                    let (sum, count) = sums.get(&(place, i)).copied().unwrap_or((0.0, 0));
                    assert!(visits == count || visits == count + 1, "one rollout counts once");
                    let value = mean * f64::from(visits) - sum;
                    sums.insert((place, i), (mean * f64::from(visits), visits));
                    (visits > count).then(|| (value * 1e6).round() as u64)
                })
                .collect();
            assert_eq!(values.len(), 1, "every edge above gets the same value");
            before.push(f64::from(engine.graph.nodes[0].visits));
        }
        assert!(before.iter().enumerate().all(|(i, &visits)| visits == (i + 1) as f64), "N(root) counts all");
        let met = engine.graph.nodes.iter().filter(|node| node.visits > 1).count();
        assert!(met > 10);
    }
}

//! Regularised evolution: a population from which the oldest member is removed, whatever its fitness (Real et al.,
//! *AutoML-Zero*, 2020).

use super::domain::{Domain, walk};
use super::fitness::{FitnessEvaluator, Individual, REPLICATES};
use super::ledger::{Budget, Watch};
use super::outcome::{Outcome, StopReason};
use crate::rng::Stream;
use rand::RngExt;
use std::collections::VecDeque;

/// FitnessEvaluator size limit.
const POPULATION: u64 = 100;

/// A tournament has 1/`SHARE` of the population, and at least two members.
const SHARE: usize = 10;

/// At most 1/`FOUNDERS` of the individuals that the budget allows are founders; the rest is for evolution.
const FOUNDERS: u64 = 4;

/// Starts a population from random walks; then the winner of each tournament gets a mutated child, and the oldest
/// member is removed. Playouts are individuals.
pub fn evolution<D: Domain>(
    domain: &D,
    budget: impl Into<Budget>,
    keep: usize,
    stream: &Stream,
    watch: &mut dyn Watch<D::Solution>,
) -> Outcome<D::Solution> {
    let mut evaluator = FitnessEvaluator::new(domain, budget.into(), watch);
    let stop = evolve(&mut evaluator, stream);
    evaluator.ledger.close(stop, keep)
}

fn evolve<D: Domain>(evaluator: &mut FitnessEvaluator<D>, stream: &Stream) -> StopReason {
    let domain = evaluator.ledger.domain();
    if evaluator.ledger.is_spent() {
        return StopReason::Budget;
    }
    if !evaluator.ledger.continues() {
        return StopReason::Interrupted;
    }
    let playouts = evaluator.ledger.playouts_left();
    let individuals = playouts.min(evaluator.ledger.evaluations_left() / REPLICATES as u64);
    let population = (individuals / FOUNDERS).clamp(2, POPULATION).min(playouts);
    let founder = |number| {
        let mut rng = stream.derive("founder", number).rng();
        walk(domain, &mut |count| rng.random_range(0..count), |_| {})
    };
    let founders = evaluator.evaluate((0..population).map(founder).collect());
    let Some(founders) = founders else { return evaluator.ledger.why() };
    let mut population: VecDeque<Individual<D::State>> = founders.into();
    loop {
        if evaluator.ledger.is_spent() {
            return StopReason::Budget;
        }
        if !evaluator.ledger.continues() {
            return StopReason::Interrupted;
        }
        let mut rng = stream.derive("playout", evaluator.ledger.counters.playouts).rng();
        let mut pick = |count: usize| rng.random_range(0..count);
        let rivals: Vec<usize> =
            (0..population.len().div_ceil(SHARE).max(2)).map(|_| pick(population.len())).collect();
        let fitness = |rival: usize| evaluator.fitness(&population[rival]);
        let winner =
            rivals.into_iter().reduce(|best, next| if fitness(next) > fitness(best) { next } else { best });
        let parent = &population[winner.expect("a tournament has rivals")].state;
        let child = domain.mutate(parent, &mut pick).unwrap_or_else(|| walk(domain, &mut pick, |_| {}));
        let Some(child) = evaluator.evaluate(vec![child]) else { return evaluator.ledger.why() };
        population.extend(child);
        population.pop_front();
    }
}

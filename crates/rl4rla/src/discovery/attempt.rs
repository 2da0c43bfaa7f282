//! An attempt at a stage: search, select, report.

use super::bench::Bench;
use super::context::Context;
use super::front::{Front, ParetoEntry, flops};
use super::log::RewardKey;
use super::merge::Merge;
use super::observe::{Leader, Observer, Progress};
use super::stage::{Fresh, Instances, Stage};
use super::stage_search::StageSearch;
use crate::clock::{WorkPhase, spend};
use crate::problem::{FamilyError, InstanceSet};
use crate::program::Program;
use crate::reward::Evaluation;
use crate::search::{Backup, Counters, Method, Outcome, Ranked, StopReason, Tuning, Watch};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::sync::{Mutex, PoisonError};

/// Search method and options.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Approach {
    /// The method.
    pub method: Method,
    /// Overrides the merge key of the stage.
    pub merge: Option<Merge>,
    /// Use the constants and the backup rule of the released code.
    pub released: bool,
    /// Only LUCB or the budget ends a decision.
    pub patient: bool,
    /// Overrides the budget of the stage.
    pub budget: Option<u64>,
    /// Backup rule, if not the default. Serialized only if set, as are the options below.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backup: Option<Backup>,
    /// Skip closed children.
    #[serde(default, skip_serializing_if = "is_no")]
    pub skip_closed: bool,
    /// Return to the root if the chosen subtree is closed.
    #[serde(default, skip_serializing_if = "is_no")]
    pub return_to_root: bool,
    /// The budget applies to each decision, even if the stage says otherwise.
    #[serde(default, skip_serializing_if = "is_no")]
    pub budget_per_decision: bool,
    /// What is redrawn in every evaluation; overrides the rule of the stage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fresh: Option<Fresh>,
    /// Every stage starts from the target of the previous one, found or not.
    #[serde(default, skip_serializing_if = "is_no")]
    pub from_targets: bool,
    /// Maximum evaluations per stage. Serialized only if set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evaluations: Option<u64>,
    /// Maximum evaluations of a whole run: a stage may use what the stages before it left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_evaluations: Option<u64>,
    /// Maximum playouts of a whole run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_playouts: Option<u64>,
    /// Overrides the exploration constant of the stage.
    pub exploration: Option<f64>,
    /// δ, for methods that use one.
    pub delta: f64,
}

impl Approach {
    /// A method with default options.
    pub fn new(method: Method) -> Approach {
        Approach {
            method,
            merge: None,
            released: false,
            patient: false,
            backup: None,
            skip_closed: false,
            return_to_root: false,
            budget_per_decision: false,
            fresh: None,
            from_targets: false,
            budget: None,
            evaluations: None,
            run_evaluations: None,
            run_playouts: None,
            exploration: None,
            delta: 0.05,
        }
    }

    /// The same options with the remaining budget of a run that has spent this much.
    #[must_use]
    pub fn after(&self, spent: Counters) -> Approach {
        let left = |run: Option<u64>, spent: u64| run.map(|run| run.saturating_sub(spent));
        Approach {
            run_playouts: left(self.run_playouts, spent.playouts),
            run_evaluations: left(self.run_evaluations, spent.evaluations),
            ..*self
        }
    }

    /// A stage with what this approach redraws in every evaluation.
    pub(super) fn redrawing(&self, stage: &Stage) -> Stage {
        let fresh = self.fresh.unwrap_or(stage.instances.fresh);
        Stage { instances: Instances { fresh, ..stage.instances }, ..stage.clone() }
    }

    /// The parameters of the search.
    pub fn tuning(&self, stage: &Stage) -> Tuning {
        let budget = self.budget.unwrap_or(stage.budget);
        let decision = (self.budget_per_decision || stage.budget_per_decision).then_some(budget);
        Tuning {
            exploration: self.exploration.unwrap_or(stage.exploration),
            released: self.released,
            backup: self.backup,
            patient: self.patient,
            skip_closed: self.skip_closed,
            return_to_root: self.return_to_root,
            decision,
            // A stage has as many decisions as edits.
            budget: decision
                .map_or(budget, |each| each.saturating_mul(stage.edits as u64))
                .min(self.run_playouts.unwrap_or(u64::MAX)),
            evaluations: self.evaluations.into_iter().chain(self.run_evaluations).min(),
            confidence: crate::search::Confidence { delta: self.delta, ..Default::default() },
            keep: CANDIDATES,
        }
    }
}

fn is_no(flag: &bool) -> bool {
    !flag
}

/// Number of candidates passed from the search to the selection.
const CANDIDATES: usize = 5;

/// Rewards closer than this count as equal: the difference is rounding.
const TIE: f64 = 1e-6;

/// A program passed to the selection.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// The program.
    pub program: Program,
    /// Its mean reward on the search instances.
    pub search: f64,
    /// Its mean reward on the select instances.
    pub select: f64,
    /// The evaluations of the search up to its first one.
    pub first: u64,
}

/// The result of an attempt.
#[derive(Clone, Debug)]
pub struct Attempt {
    /// The candidates, the chosen one first; empty if no program has a positive reward.
    pub candidates: Vec<Candidate>,
    /// The chosen program on the final instances.
    pub report: Option<Evaluation>,
    /// The Pareto front of all programs evaluated.
    pub front: Vec<ParetoEntry>,
    /// Why the search stopped.
    pub stop: StopReason,
    /// Counters of the search.
    pub counters: Counters,
}

/// Searches a stage from a program, chooses the best candidate on the select instances, and measures it on the final
/// ones: a pure function of stage, start, approach and seed, provided that the proposer in the context, if any, is
/// one.
pub fn attempt(
    stage: &Stage,
    start: &Program,
    approach: &Approach,
    seed: u64,
    number: usize,
    context: &mut Context,
) -> Result<Attempt, FamilyError> {
    let Context { problems, known, proposer, policy, observer } = context;
    let stage = &approach.redrawing(stage);
    let bench = |set| Bench::new(stage, set, seed, number, known, problems);
    let searched = bench(InstanceSet::Search)?;
    let front = Mutex::new(Front::default());
    let mut watch = Adaptor { observer, number, front: &front };
    let search = StageSearch { stage, start, approach, seed, number, policy: policy.as_ref() };
    let search = || search.run(&searched, Some(&front), proposer, &mut watch);
    let Outcome { ranked, stop, counters, .. } = spend(WorkPhase::Search, search);
    if stop == StopReason::Interrupted {
        return Ok(Attempt { candidates: vec![], report: None, front: vec![], stop, counters });
    }
    let noticed = front.into_inner().unwrap_or_else(PoisonError::into_inner);
    let selected = bench(InstanceSet::Select)?;
    let candidates = select(ranked, &selected, stage, observer);
    let front = noticed.measured(stage, &selected);
    let report = match candidates.first() {
        Some(chosen) => Some(bench(InstanceSet::Final)?.evaluation(&chosen.program)),
        None => None,
    };
    Ok(Attempt { candidates, report, front, stop, counters })
}

/// Ranks candidates by their reward on the select instances; on ties the cheaper, then the shorter.
fn select(
    ranked: Vec<Ranked<Program>>,
    bench: &Bench,
    stage: &Stage,
    observer: &mut dyn Observer,
) -> Vec<Candidate> {
    let worthy: Vec<Ranked<Program>> = ranked.into_iter().filter(|r| r.mean() > 0.0).collect();
    let wanted: Vec<(usize, usize)> =
        (0..worthy.len()).flat_map(|c| (0..bench.count()).map(move |i| (c, i))).collect();
    let rewards: Vec<f64> =
        wanted.par_iter().map(|&(c, index)| bench.reward(&worthy[c].solved, index)).collect();
    for (&(c, index), &reward) in wanted.iter().zip(&rewards) {
        observer.evaluated(bench.record(worthy[c].solved.key, index), reward);
    }
    let mut candidates: Vec<Candidate> = worthy
        .into_iter()
        .zip(rewards.chunks(bench.count()))
        .map(|(ranked, rewards)| Candidate {
            search: ranked.mean(),
            first: ranked.first,
            program: ranked.solved.solution,
            select: rewards.iter().sum::<f64>() / bench.count() as f64,
        })
        .collect();
    candidates.sort_by(|a, b| b.select.total_cmp(&a.select));
    let best = candidates.first().map_or(0.0, |c| c.select);
    let tied = candidates.partition_point(|c| c.select >= best - TIE);
    candidates[..tied].sort_by(|a, b| {
        let key = |c: &Candidate| (flops(&c.program, stage), c.program.len());
        key(a).partial_cmp(&key(b)).expect("flops are numbers").then_with(|| a.program.cmp(&b.program))
    });
    candidates
}

/// Forwards the events of a search to the observer of a run.
struct Adaptor<'a> {
    observer: &'a mut dyn Observer,
    number: usize,
    front: &'a Mutex<Front>,
}

impl Watch<Program> for Adaptor<'_> {
    fn evaluated(&mut self, key: u128, replicate: usize, value: f64) {
        let record = RewardKey { stage: self.number, key, set: InstanceSet::Search, index: replicate };
        self.observer.evaluated(record, value);
    }

    fn continues(&mut self, counters: &Counters, best: Option<(&Program, f64)>) -> bool {
        let best = best.map(|(program, reward)| Leader { program, reward });
        let front = &self.front.lock().unwrap_or_else(PoisonError::into_inner);
        self.observer.continues(&Progress { stage: self.number, counters: *counters, best, front })
    }
}

//! The result of one stage of a run.

use super::SearchCost;
use crate::analysis::PreconditionerForm;
use crate::curriculum::{StageResult, number};
use crate::discovery::{ParetoEntry, Stage, Tradeoff};
use crate::equivalence::catalogue_name;
use crate::execute::Trace;
use crate::program::{Document, Program, Signature, equation};
use crate::reward::{Evaluation, Score};
use crate::search::StopReason;
use crate::statistics::Summary;
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;

/// The result of one stage.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct StageRecord {
    /// The stage's name.
    pub name: String,
    /// Whether the chosen program counts as the target.
    pub found: bool,
    /// Its catalogue name, if it has one.
    pub matched: Option<String>,
    /// How it represents its preconditioner, if it has one.
    pub form: Option<String>,
    /// Whether that form solves systems of every tested condition number to rounding.
    pub stable: Option<bool>,
    /// Why a program that equals the target in exact arithmetic was rejected.
    pub reason: Option<String>,
    /// The cost of the search.
    #[serde(flatten)]
    pub cost: SearchCost,
    /// The evaluations up to the first one of the chosen program; missing before version 0.6.0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<u64>,
    /// Why the search stopped.
    pub stop: StopReason,
    /// The mean reward of the chosen program on the final instances; 0 if there is none.
    #[serde(deserialize_with = "number")]
    pub reward: f64,
    /// That of the target, if the chosen program is another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_reward: Option<f64>,
    /// The standard error of that mean.
    pub reward_error: Option<f64>,
    /// The means of the terms of the reward.
    #[serde(flatten)]
    pub terms: TermMeans,
    /// The mean number of flops of a run.
    pub flops: Option<f64>,
    /// The mean final excess, over the instances on which the program ran.
    pub excess: Option<f64>,
    /// The number of final instances.
    pub instances: Option<usize>,
    /// The number of final instances on which the program failed.
    pub failures: Option<usize>,
    /// The chosen program; `None` if no program has a positive reward.
    pub program: Option<String>,
    /// Its equation.
    pub equation: Option<String>,
    /// The candidates of the selection, the chosen one first.
    #[serde(default)]
    pub candidates: Vec<CandidateRecord>,
    /// The Pareto front of all programs evaluated, the most accurate first.
    #[serde(default)]
    pub front: Vec<FrontEntry>,
}

/// Means over the final instances by the key of a reward term; `None` if nothing was found.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct TermMeans(pub BTreeMap<String, Option<f64>>);

impl<'de> Deserialize<'de> for TermMeans {
    /// Takes all remaining numeric keys, so that records with a user's terms can be read without registering them.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<TermMeans, D::Error> {
        let all = BTreeMap::<String, serde_json::Value>::deserialize(deserializer)?;
        let numbers = all.into_iter().filter(|(_, value)| value.is_number() || value.is_null());
        Ok(TermMeans(numbers.map(|(key, value)| (key, value.as_f64())).collect()))
    }
}

/// A program passed to the selection.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct CandidateRecord {
    /// The program.
    pub program: String,
    /// Its mean reward on the search instances.
    #[serde(deserialize_with = "number")]
    pub search: f64,
    /// Its mean reward on the select instances.
    #[serde(deserialize_with = "number")]
    pub select: f64,
}

/// A program of the Pareto front.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct FrontEntry {
    /// Its number in the front, from 1.
    pub place: usize,
    /// Accuracy, work and stability: medians over the select instances.
    #[serde(flatten)]
    pub tradeoff: Tradeoff,
    /// Its mean reward on the select instances.
    #[serde(deserialize_with = "number")]
    pub reward: f64,
    /// Its catalogue name, if it has one.
    pub name: Option<String>,
    /// Its equation.
    pub equation: Option<String>,
    /// The program.
    pub program: String,
}

impl StageRecord {
    /// The record of a finished stage.
    pub fn new(stage: &Stage, result: &StageResult) -> StageRecord {
        let (attempt, signature) = (&result.attempt, stage.grammar.signature);
        let report = attempt.report.as_ref();
        let mean = |part: &dyn Fn(&Score) -> f64| {
            report.map(|report| Summary::of(report.scores.iter().map(part)).mean)
        };
        let terms = stage.protocol.profile.shown().into_iter();
        let program = result.program();
        let judgement = result.judgement.as_ref();
        let candidates = attempt.candidates.iter().map(|candidate| CandidateRecord {
            program: signature.update.text(&candidate.program),
            search: candidate.search,
            select: candidate.select,
        });
        StageRecord {
            name: result.name.clone(),
            found: result.found(),
            matched: judgement.and_then(|judgement| judgement.matched).map(String::from),
            form: result.form.as_ref().map(ToString::to_string),
            stable: result.form.as_ref().map(PreconditionerForm::is_stable),
            reason: judgement.and_then(|judgement| judgement.unstable_from).map(unstable),
            cost: SearchCost::new(&attempt.counters, result.seconds),
            first: attempt.candidates.first().map(|chosen| chosen.first),
            stop: attempt.stop,
            reward: result.reward(),
            target_reward: result.target_reward,
            reward_error: report.map(|report| report.reward().error),
            terms: TermMeans(
                terms.map(|term| (term.row().key.into(), mean(&|score| score.terms[term]))).collect(),
            ),
            flops: mean(&|score| score.flops),
            excess: report
                .and_then(|report| report.last(|trace: &Trace| &trace.excesses))
                .map(|last| last.mean),
            instances: report.map(|report| report.scores.len()),
            failures: report.map(Evaluation::failures),
            program: program.map(|program| signature.update.text(program)),
            equation: program.and_then(|program| equation_of(program, signature)),
            candidates: candidates.collect(),
            front: (attempt.front.iter().zip(1..))
                .map(|(offer, place)| FrontEntry::new(place, offer, signature))
                .collect(),
        }
    }

    /// The chosen program; `None` if there is none or this build cannot parse it.
    pub fn parsed(&self) -> Option<Program> {
        Some(self.program.as_ref()?.parse::<Document>().ok()?.program)
    }

    /// Whether the chosen program is not the target but has a higher reward on the same final instances.
    pub fn is_better(&self) -> bool {
        !self.found && self.target_reward.is_some_and(|target| self.reward > target + TIE)
    }

    /// Lead of the chosen program over the next candidate.
    pub fn lead(&self) -> Option<f64> {
        let [first, second, ..] = &self.candidates[..] else { return None };
        Some(first.select - second.select)
    }
}

impl FrontEntry {
    fn new(place: usize, offer: &ParetoEntry, signature: Signature) -> FrontEntry {
        FrontEntry {
            place,
            tradeoff: offer.tradeoff,
            reward: offer.reward,
            name: catalogue_name(&offer.program, signature).map(String::from),
            equation: equation_of(&offer.program, signature),
            program: signature.update.text(&offer.program),
        }
    }
}

/// Rewards closer than this count as equal.
const TIE: f64 = 1e-6;

fn equation_of(program: &Program, signature: Signature) -> Option<String> {
    equation(program, signature).ok().map(|equation| equation.text)
}

/// The reason for rejecting a program that is less accurate from this condition number on.
fn unstable(kappa: f64) -> String {
    format!(
        "equal to the target in exact arithmetic, but less accurate from κ = {kappa:e} on; this stage requires the stable form"
    )
}

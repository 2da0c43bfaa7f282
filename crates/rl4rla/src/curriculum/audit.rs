//! Audit of a curriculum: checks that each stage's target is the best program it can reach.

use super::{Curriculum, Target};
use crate::discovery::{Appending, Bench, Known, Merge, Problems, Space, Stage};
use crate::equivalence::fingerprint;
use crate::problem::{FamilyError, InstanceSet};
use crate::program::Program;
use crate::record::number;
use crate::search::{Measure, Ranked, Watch};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::collections::BTreeSet;

/// The audit of one stage.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Audited {
    /// The stage's name.
    pub name: String,
    /// Number of reachable programs with distinct canonical forms.
    pub programs: usize,
    /// Number of distinct behaviours among them.
    pub classes: usize,
    /// The number of equivalence classes with a higher reward than the target, plus one; `None` if it is unreachable.
    pub target_rank: Option<usize>,
    /// The target's mean reward.
    pub target: f64,
    /// The best program equivalent to the target.
    #[serde(serialize_with = "texts", deserialize_with = "programs")]
    pub best_form: Option<Program>,
    /// The best program that is not equivalent to the target, and its mean reward.
    #[serde(serialize_with = "rated_texts", deserialize_with = "rated_programs")]
    pub runner_up: Option<(Program, f64)>,
    /// The target's lead over it, in mean reward.
    #[serde(deserialize_with = "number")]
    pub margin: f64,
    /// The smallest lead on a single instance.
    #[serde(deserialize_with = "number")]
    pub least_margin: f64,
    /// Whether the observer let it finish.
    pub complete: bool,
}

impl Audited {
    /// Whether its target is certainly the best program.
    pub fn is_first(&self) -> bool {
        self.target_rank == Some(1) && self.complete && self.margin > 0.0
    }
}

fn texts<S: Serializer>(program: &Option<Program>, serializer: S) -> Result<S::Ok, S::Error> {
    program.as_ref().map(Program::to_string).serialize(serializer)
}

fn programs<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Program>, D::Error> {
    let text = Option::<String>::deserialize(deserializer)?;
    text.map(|text| text.parse().map_err(de::Error::custom)).transpose()
}

fn rated_texts<S: Serializer>(rated: &Option<(Program, f64)>, serializer: S) -> Result<S::Ok, S::Error> {
    rated.as_ref().map(|(program, reward)| (program.to_string(), reward)).serialize(serializer)
}

fn rated_programs<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<(Program, f64)>, D::Error> {
    let rated = Option::<(String, f64)>::deserialize(deserializer)?;
    rated.map(|(text, reward)| Ok((text.parse().map_err(de::Error::custom)?, reward))).transpose()
}

/// Audits every stage, each starting from the best form of the target before it, on the select instances. The first
/// stages may have been audited before.
pub fn audit(
    curriculum: &Curriculum,
    seed: u64,
    budget: u64,
    before: &[Audited],
    watch: &mut dyn Watch<Program>,
    mut ended: impl FnMut(&Audited),
) -> Result<Vec<Audited>, FamilyError> {
    let problems = Problems::default();
    let mut start = curriculum.start.clone();
    let mut audited = Vec::new();
    for (number, (stage, target)) in curriculum.stages.iter().enumerate() {
        problems.keep(&stage.families);
        let result = match before.get(number) {
            Some(before) => before.clone(),
            None => audit_stage(stage, target, &start, number, seed, budget, &problems, watch)?,
        };
        ended(&result);
        // If the target is out of reach, the next stage is audited from the target itself.
        start = result.best_form.clone().unwrap_or_else(|| target.sought());
        audited.push(result);
    }
    Ok(audited)
}

#[allow(clippy::too_many_arguments)]
fn audit_stage(
    stage: &Stage,
    target: &Target,
    start: &Program,
    number: usize,
    seed: u64,
    budget: u64,
    problems: &Problems,
    watch: &mut dyn Watch<Program>,
) -> Result<Audited, FamilyError> {
    let known = Known::default();
    let bench = Bench::new(stage, InstanceSet::Select, seed, number, &known, problems)?;
    let space = Space { stage, start, merge: Merge::Canonical, bench: &bench, front: None };
    let outcome = Appending::new(space).enumerate(Measure::All, budget, usize::MAX, watch);
    let (signature, out) = (stage.grammar.signature, stage.grammar.live_out);
    let behaviour = |ranked: &Ranked<Program>| fingerprint(&ranked.solved.solution, signature, out);
    let classes: BTreeSet<u128> = outcome.ranked.iter().map(behaviour).collect();
    let is_target = |ranked: &&Ranked<Program>| target.judge(&ranked.solved.solution, signature).found;
    // Ranked best first: all programs before the target have a higher reward, and only the next one below it is
    // needed.
    let place = outcome.ranked.iter().position(|ranked| is_target(&ranked));
    let better: &[Ranked<Program>] = &outcome.ranked[..place.unwrap_or(0)];
    let best = place.map(|place| &outcome.ranked[place]);
    let runner_up = match better.first() {
        Some(first) => Some(first),
        None => outcome.ranked.iter().skip(place.map_or(0, |p| p + 1)).find(|ranked| !is_target(ranked)),
    };
    let strictly: BTreeSet<u128> = better
        .iter()
        .filter(|ranked| best.is_some_and(|best| ranked.mean() > best.mean()))
        .map(behaviour)
        .collect();
    let leads = |best: &Ranked<Program>, other: &Ranked<Program>| {
        let leads = best.values.iter().zip(&other.values).map(|(b, o)| b - o);
        leads.fold(f64::INFINITY, f64::min)
    };
    Ok(Audited {
        name: stage.name.clone(),
        programs: outcome.ranked.len(),
        classes: classes.len(),
        target_rank: place.map(|_| strictly.len() + 1),
        target: best.map_or(0.0, Ranked::mean),
        best_form: best.map(|best| best.solved.solution.clone()),
        runner_up: runner_up.map(|other| (other.solved.solution.clone(), other.mean())),
        margin: best.map_or(f64::NAN, |b| b.mean() - runner_up.map_or(0.0, Ranked::mean)),
        least_margin: match (best, runner_up) {
            (Some(best), Some(other)) => leads(best, other),
            _ => f64::NAN,
        },
        complete: outcome.stop != crate::search::StopReason::Interrupted
            && outcome.stop != crate::search::StopReason::Budget,
    })
}

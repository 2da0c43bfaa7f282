//! Audit of a curriculum: checks that each stage's target is the best program it can reach.

use super::{Curriculum, Target};
use crate::discovery::{Appending, Bench, Known, Merge, Problems, Space, Stage};
use crate::equivalence::fingerprint;
use crate::problem::{FamilyError, InstanceSet};
use crate::program::Program;
use crate::search::{Measure, Ranked, StopReason, Watch};
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

/// A number; JSON has null for non-finite ones.
pub(crate) fn number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or(f64::NAN))
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

/// Audits every stage, each starting from the best form of the target before it, on the select instances. Stages that were
/// audited before are known by their names. If `watch` interrupts a stage, it is the last one.
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
        let known = before.iter().find(|before| before.name == stage.name);
        let (result, interrupted) = match known {
            Some(known) => (known.clone(), false),
            None => audit_stage(stage, target, &start, number, seed, budget, &problems, watch)?,
        };
        ended(&result);
        // If the target is out of reach, the next stage is audited from the target itself.
        start = result.best_form.clone().unwrap_or_else(|| target.sought());
        audited.push(result);
        if interrupted {
            break;
        }
    }
    Ok(audited)
}

/// The audit of one stage, and whether it was interrupted.
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
) -> Result<(Audited, bool), FamilyError> {
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
    let audited = Audited {
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
        complete: !matches!(outcome.stop, StopReason::Interrupted | StopReason::Budget),
    };
    Ok((audited, outcome.stop == StopReason::Interrupted))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::{Counters, Silent};

    const TWO: &str = r#"
        title = "Gradient descent in two stages"
        [defaults]
        open = ["iteration"]
        step = 0.5
        instances = { search = 6, select = 4, report = 4 }
        [[stage]]
        name = "landweber"
        edits = 2
        family = { kind = "psd", rows = 8, cols = 8, condition = 2 }
        target = "landweber"
        [[stage]]
        name = "ls-gd"
        edits = 1
        family = { kind = "low-cond", rows = 40, cols = 4 }
        target = "ls-gd"
    "#;

    /// Interrupts what it watches at once.
    struct Interrupting(usize);

    impl Watch<Program> for Interrupting {
        fn continues(&mut self, _counters: &Counters, _best: Option<(&Program, f64)>) -> bool {
            self.0 += 1;
            false
        }
    }

    /// As text, in which what is not a number equals itself.
    fn texts(stages: &[Audited]) -> Vec<String> {
        stages.iter().map(|stage| serde_json::to_string(stage).unwrap()).collect()
    }

    #[test]
    fn stages_audited_before_are_found_in_any_order_and_with_gaps() {
        let curriculum = Curriculum::parse("two", TWO).unwrap();
        let again = |before: &[Audited]| audit(&curriculum, 3, 10_000, before, &mut Silent, |_| {}).unwrap();
        let all = again(&[]);
        assert!(all.len() == 2 && texts(&all)[0] != texts(&all)[1]);
        let [first, second] = [all[0].clone(), all[1].clone()];
        for before in [vec![first.clone()], vec![second.clone()], vec![second, first]] {
            assert_eq!(texts(&again(&before)), texts(&all), "{}", before[0].name);
        }
    }

    #[test]
    fn what_is_interrupted_begins_no_other_stage() {
        let curriculum = Curriculum::parse("two", TWO).unwrap();
        let mut watch = Interrupting(0);
        let stages = audit(&curriculum, 3, 10_000, &[], &mut watch, |_| {}).unwrap();
        assert!(stages.len() == 1 && !stages[0].complete && watch.0 > 0);
        let short = audit(&curriculum, 3, 5, &[], &mut Silent, |_| {}).unwrap();
        assert!(short.len() == 2 && !short[0].complete, "a budget ends a stage alone");
    }
}

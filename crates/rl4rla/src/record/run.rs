//! The result of a whole run.

use super::{Build, FrontEntry, HallRecord, RivalRecord, SearchCost, StageRecord};
use crate::curriculum::{Curriculum, Discovery};
use crate::discovery::{Preference, Tradeoff};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The result of a run that has ended.
///
/// ```
/// use rl4rla::curriculum::{Curriculum, discover};
/// use rl4rla::discovery::{Approach, Context};
/// use rl4rla::record::RunRecord;
/// use rl4rla::search::Method;
///
/// let curriculum = Curriculum::parse("mine", r#"
///     title = "Gradient descent from the empty program"
///     [[stage]]
///     name = "ls-gd"
///     edits = 3
///     open = ["iteration"]
///     registers = ["v1"]
///     step = 0.5
///     family = { kind = "low-cond", rows = 40, cols = 4 }
///     instances = { search = 6, select = 4, report = 4 }
///     target = "ls-gd"
/// "#).unwrap();
/// let discovery = discover(&curriculum, &Approach::new(Method::Best), 0, &mut Context::default()).unwrap();
/// let record = RunRecord::new("", &curriculum, "best", 0, &discovery);
/// let text = serde_json::to_string(&record).unwrap();
/// assert_eq!(serde_json::from_str::<RunRecord>(&text).unwrap(), record);
/// ```
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct RunRecord {
    /// Version of this format.
    #[serde(default = "first")]
    pub format: u32,
    /// The build that ended the run; missing in version 0.2.0 and before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub build: Option<Build>,
    /// The id of the run.
    pub run: String,
    /// The name of the curriculum.
    pub curriculum: String,
    /// The name of the search method.
    pub method: String,
    /// The seed.
    pub seed: u64,
    /// Whether every stage found its target.
    pub found: bool,
    /// The total cost of all searches.
    #[serde(flatten)]
    pub cost: SearchCost,
    /// The program preferred by the user from the last stage's Pareto front.
    pub preferred: Option<PreferredEntry>,
    /// For runs of a sweep: whether it computed everything itself, without sharing caches with other runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alone: Option<bool>,
    /// The proposer, if not the grammar.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proposer: Option<ProposerRecord>,
    /// The learned policy, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<PolicyRecord>,
    /// The stages run, in order.
    pub stages: Vec<StageRecord>,
    /// The hall of fame of an exploration, the best first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hall: Vec<HallRecord>,
    /// Programs of the catalogue on the same instances, the best first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rivals: Vec<RivalRecord>,
}

/// The preferred entry of the last Pareto front.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct PreferredEntry {
    /// The entry.
    #[serde(flatten)]
    pub entry: FrontEntry,
    /// The name of the stage.
    pub stage: String,
    /// How commands refer to the program.
    pub source: String,
}

/// The learned policy of a run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PolicyRecord {
    /// The digest of its table.
    pub digest: String,
    /// Whether it was trained on the curriculum of the run, or on a stage with one of its targets.
    pub trained_here: bool,
}

/// Statistics of an external proposer.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ProposerRecord {
    /// Name of the model.
    pub model: String,
    /// Number of answers.
    pub answers: u64,
    /// Number of answers that were not valid programs of their stage.
    pub bad: u64,
}

/// The format of records without a format number.
fn first() -> u32 {
    1
}

impl RunRecord {
    /// The current format. New keys do not change it: readers ignore unknown ones.
    pub const FORMAT: u32 = 1;

    /// Whether two runs have come to the same, to the last bit. Times, ids and shared caches are no part of that, nor what
    /// was asked of a run after its search: a preference, and what its programs do on other data.
    pub fn same_result(&self, other: &RunRecord) -> bool {
        fn timeless(value: &mut Value) {
            match value {
                Value::Object(entries) => {
                    entries.remove("seconds");
                    entries.values_mut().for_each(timeless);
                }
                Value::Array(values) => values.iter_mut().for_each(timeless),
                _ => {}
            }
        }
        let result = |record: &RunRecord| {
            let mut record = RunRecord { run: String::new(), alone: None, preferred: None, ..record.clone() };
            record.hall.iter_mut().for_each(|entry| entry.on_data = None);
            // As JSON, in which what is not a number equals itself.
            let mut value = serde_json::to_value(record).expect("records are plain data");
            timeless(&mut value);
            value
        };
        result(self) == result(other)
    }

    /// The record of a run that ended in this build.
    pub fn new(
        run: &str,
        curriculum: &Curriculum,
        method: &str,
        seed: u64,
        discovery: &Discovery,
    ) -> RunRecord {
        let stages = discovery.stages.iter().zip(&curriculum.stages);
        RunRecord {
            format: RunRecord::FORMAT,
            build: Some(Build::current()),
            run: run.into(),
            curriculum: curriculum.name.clone(),
            method: method.into(),
            seed,
            found: discovery.found,
            cost: SearchCost::new(&discovery.counters(), discovery.seconds()),
            preferred: None,
            alone: None,
            proposer: None,
            policy: None,
            stages: stages.map(|(result, (stage, _))| StageRecord::new(stage, result)).collect(),
            hall: vec![],
            rivals: vec![],
        }
    }

    /// The same with the preferred program of the last stage's Pareto front, if there is a preference.
    #[must_use]
    pub fn preferring(mut self, preference: Option<&Preference>) -> RunRecord {
        self.preferred = preference.zip(self.stages.last()).and_then(|(preference, stage)| {
            let tradeoffs: Vec<Tradeoff> = stage.front.iter().map(|entry| entry.tradeoff).collect();
            let entry = stage.front[preference.choose(&tradeoffs)?].clone();
            let source = format!("run:{}#{}", self.run, entry.place);
            Some(PreferredEntry { entry, stage: stage.name.clone(), source })
        });
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    /// A document of version 0.2.0 with all keys.
    fn document() -> Value {
        let text = "iteration:\n  v1 = MAT_VEC_MUL(A, x)\n";
        let entry = |place: usize, excess: f64, flops: f64| {
            json!({ "place": place, "excess": excess, "flops": flops, "condition": 4.0, "reward": 0.1 + 0.2,
                    "name": null, "equation": "x", "program": text })
        };
        let cost = json!({ "playouts": 15, "evaluations": 164, "programs": 66, "unique_states": 3, "node_visits": 9,
                           "revisit_rate": 2.0 / 3.0, "transposition_rate": 1e-300, "seconds": 0.006 });
        let mut stage = json!({
            "name": "ls-gd", "found": true, "matched": "ls-gd", "form": null, "stable": null, "reason": null,
            "stop": "no-signal", "reward": 0.5741, "reward_error": 1.91e-6, "acc": 0.1, "decay": 0.2, "comp": 0.3,
            "cond": 0.4, "flops": 7.51e4, "excess": 0.1058, "instances": 4, "failures": 0, "program": text,
            "equation": "x", "candidates": [{ "program": text, "search": 0.5, "select": 0.25 },
                                            { "program": text, "search": 0.5, "select": 0.125 }],
            "front": [entry(1, 1e-12, 1e9), entry(2, 1e-2, 1e6)],
        });
        let mut run = json!({
            "run": "4a7db888", "curriculum": "small", "method": "best", "seed": u64::MAX, "found": true,
            "preferred": null, "alone": true, "proposer": { "model": "m", "answers": 58, "bad": 1 },
        });
        for object in [&mut stage, &mut run] {
            object.as_object_mut().unwrap().extend(cost.as_object().unwrap().clone());
        }
        run["stages"] = json!([stage]);
        run
    }

    #[test]
    fn documents_of_earlier_versions_come_back_as_they_are() {
        let document = document();
        let record: RunRecord = serde_json::from_str(&document.to_string()).unwrap();
        let mut again = serde_json::to_value(&record).unwrap();
        assert_eq!(again.as_object_mut().unwrap().remove("format"), Some(json!(1)));
        assert_eq!(again, document);
        assert_eq!((record.stages[0].lead(), record.cost.programs), (Some(0.125), 66));
        assert!(record.stages[0].parsed().is_some());
    }

    #[test]
    fn keys_that_came_later_may_be_missing_and_null_is_no_number() {
        let mut old = document();
        for key in ["alone", "proposer", "preferred", "transposition_rate", "unique_states"] {
            old.as_object_mut().unwrap().remove(key);
        }
        for key in ["form", "stable", "reason", "failures", "front", "transposition_rate", "candidates"] {
            old["stages"][0].as_object_mut().unwrap().remove(key);
        }
        old["stages"][0]["reward"] = Value::Null;
        let record: RunRecord = serde_json::from_value(old).unwrap();
        assert_eq!((record.build, record.alone, record.stages[0].front.len()), (None, None, 0));
        assert!(record.stages[0].reward.is_nan() && record.stages[0].lead().is_none());
        for bad in ["[]", "3", "null", "\"text\"", "{", "{}"] {
            assert!(serde_json::from_str::<RunRecord>(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn what_is_asked_after_the_search_is_no_part_of_the_result() {
        let record: RunRecord = serde_json::from_value(document()).unwrap();
        let speed = Preference { accuracy: 0.0, speed: 1.0, stability: 0.0 };
        let preferring = record.clone().preferring(Some(&speed));
        assert!(preferring.preferred.is_some() && preferring.same_result(&record));
        let entry = json!({ "place": 1, "program": "", "matched": null, "nearest": null, "equation": null, "step": 0.5,
                            "mu": null, "sketch": null, "sketch_factor": null, "search": 0.5, "select": 0.5, "reached": 1,
                            "runs": 2, "reward": 0.5, "reward_error": 0.1 });
        let mut explored = RunRecord { hall: vec![serde_json::from_value(entry).unwrap()], ..record.clone() };
        let before = explored.clone();
        assert!(!before.same_result(&record));
        let on_data = json!({ "ending": "reached", "tolerance": 0.1, "iterations": 3, "passes": 6 });
        explored.hall[0].on_data = Some(serde_json::from_value(on_data).unwrap());
        assert!(explored.same_result(&before));
        let mut other = record.clone();
        other.cost.playouts += 1;
        assert!(!other.same_result(&record));
    }

    #[test]
    fn what_is_preferred_is_an_entry_of_the_last_front() {
        let record: RunRecord = serde_json::from_value(document()).unwrap();
        let speed = Preference { accuracy: 0.0, speed: 1.0, stability: 0.0 };
        let preferred = record.clone().preferring(Some(&speed)).preferred.unwrap();
        assert_eq!((preferred.entry.place, preferred.source.as_str()), (2, "run:4a7db888#2"));
        assert_eq!(preferred.stage, "ls-gd");
        assert_eq!(record.preferring(None).preferred, None);
    }
}

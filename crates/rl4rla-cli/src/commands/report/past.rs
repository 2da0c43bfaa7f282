//! What the store tells of a run, and runs that may be counted together.

use crate::failure::Failure;
use crate::source::stages;
use rl4rla::curriculum::Curriculum;
use rl4rla::store::{RunRow, Status, Store};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// A stage that a run finished.
pub struct Step {
    pub name: String,
    pub found: bool,
    /// Its name in the catalogue.
    pub matched: Option<String>,
    /// How the program holds its preconditioner.
    pub form: Option<String>,
    pub program: Option<String>,
    pub equation: Option<String>,
    pub stop: String,
    /// How far it was ahead of the next candidate.
    pub lead: Option<f64>,
    /// The programs that none beat in everything.
    pub front: Vec<Value>,
    /// All that is a number.
    numbers: BTreeMap<String, f64>,
}

impl Step {
    fn read(stage: &Value) -> Step {
        let text = |key: &str| stage[key].as_str().map(str::to_string);
        let select = |place: usize| stage["candidates"][place]["select"].as_f64();
        let numbers = stage.as_object().into_iter().flatten();
        Step {
            name: text("name").unwrap_or_default(),
            found: stage["found"] == true,
            matched: text("matched"),
            form: text("form"),
            program: text("program"),
            equation: text("equation"),
            stop: text("stop").unwrap_or_default(),
            lead: select(0).zip(select(1)).map(|(first, second)| first - second),
            front: stage["front"].as_array().cloned().unwrap_or_default(),
            numbers: numbers.filter_map(|(key, value)| Some((key.clone(), value.as_f64()?))).collect(),
        }
    }

    /// A number of the stage, if it has it.
    pub fn number(&self, key: &str) -> Option<f64> {
        self.numbers.get(key).copied()
    }
}

/// A run, as far as it came.
pub struct Past {
    pub row: RunRow,
    /// Whether it found all it was to find; none as long as it is not done.
    pub found: Option<bool>,
    pub version: String,
    pub settings: String,
    pub spec: String,
    pub steps: Vec<Step>,
}

impl Past {
    /// Reads a run; a result that another version has written in another form has no stages.
    pub fn read(store: &Store, row: RunRow) -> Result<Past, Failure> {
        let run = store.run(&row.id)?;
        let whole: Option<Value> = run.result.and_then(|text| serde_json::from_str(&text).ok());
        let steps = match whole.as_ref().and_then(|result| result["stages"].as_array()) {
            Some(stages) => stages.iter().map(Step::read).collect(),
            None => stages(store, &row.id)?.iter().map(|stage| Step::read(&stage.result)).collect(),
        };
        let found = row.status.found();
        Ok(Past { row, found, version: run.version, settings: run.settings, spec: run.spec, steps })
    }

    /// The sum of a number over the stages.
    pub fn total(&self, key: &str) -> f64 {
        self.steps.iter().filter_map(|step| step.number(key)).sum()
    }

    /// How it stands, in a word.
    pub fn standing(&self) -> &'static str {
        match self.row.status {
            Status::Done { found: true } => "found",
            Status::Done { found: false } => "not found",
            other => other.name(),
        }
    }
}

/// Runs that differ in their seed only.
pub struct Group {
    pub curriculum: String,
    /// The method, and what tells it from others of the same curriculum.
    pub method: String,
    /// In the order of the store.
    pub runs: Vec<Past>,
    /// The curriculum, if this version can read it.
    pub read: Option<Curriculum>,
}

impl Group {
    /// The runs that are done.
    pub fn done(&self) -> impl Iterator<Item = &Past> {
        self.runs.iter().filter(|past| past.found.is_some())
    }

    /// The run to show: the last that found everything, or else the last of those that came furthest.
    pub fn best(&self) -> Option<&Past> {
        let rank = |past: &&Past| (past.found == Some(true), past.found.is_some(), past.steps.len());
        self.runs.iter().max_by_key(rank)
    }
}

/// Puts runs together that may be counted together: same text of the curriculum, same settings, same version.
pub fn groups(pasts: Vec<Past>) -> Vec<Group> {
    let mut sorted: BTreeMap<[String; 5], Vec<Past>> = BTreeMap::new();
    for past in pasts {
        let RunRow { curriculum, method, .. } = &past.row;
        let key = [curriculum, method, &past.spec, &past.settings, &past.version].map(String::clone);
        let runs: &mut Vec<Past> = sorted.entry(key).or_default();
        // The same run again has the same result: it counts once.
        let again = |known: &Past| known.row.seed == past.row.seed && known.found.is_some();
        if past.found.is_none() || !runs.iter().any(again) {
            runs.push(past);
        }
    }
    let keys: Vec<[String; 5]> = sorted.keys().cloned().collect();
    let group = |(key, runs): ([String; 5], Vec<Past>)| {
        let alike: Vec<&[String; 5]> = keys.iter().filter(|other| other[..2] == key[..2]).collect();
        let remark = distinction(&key, &alike);
        let [curriculum, method, spec, settings, _] = key;
        let settings: Value = serde_json::from_str(&settings).unwrap_or_default();
        // Who proposed programs from outside is always told.
        let model = settings["proposer"]["model"].as_str().map(|model| format!("proposed by {model}"));
        let remarks: Vec<String> = model.into_iter().chain((!remark.is_empty()).then_some(remark)).collect();
        let method = if remarks.is_empty() { method } else { format!("{method} ({})", remarks.join(", ")) };
        let read = Curriculum::parse(&curriculum, &spec).ok();
        Group { curriculum, method, runs, read }
    };
    sorted.into_iter().map(group).collect()
}

/// What tells runs from others of the same curriculum and method.
fn distinction(key: &[String; 5], alike: &[&[String; 5]]) -> String {
    let own = traits(key, alike);
    let others: Vec<BTreeMap<String, String>> = alike.iter().map(|other| traits(other, alike)).collect();
    let differs =
        |name: &String| others.iter().map(|other| other.get(name)).collect::<BTreeSet<_>>().len() > 1;
    let told = own.iter().filter(|(name, _)| differs(name)).map(|(name, value)| format!("{name} {value}"));
    told.collect::<Vec<_>>().join(", ")
}

/// Everything that two runs of a curriculum by a method may differ in.
fn traits([_, _, spec, settings, version]: &[String; 5], alike: &[&[String; 5]]) -> BTreeMap<String, String> {
    let texts: BTreeSet<&String> = alike.iter().map(|other| &other[2]).collect();
    let text = texts.iter().position(|text| *text == spec).unwrap_or(0) + 1;
    let settings: Value = serde_json::from_str(settings).unwrap_or_default();
    let plain = |value: &Value| match value {
        Value::Null => "as usual".to_string(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let outer = settings.as_object().into_iter().flatten();
    let inner = settings["approach"].as_object().into_iter().flatten();
    let mut traits: BTreeMap<String, String> = outer
        .chain(inner)
        .filter(|(_, v)| !v.is_object())
        .map(|(key, value)| (key.clone(), plain(value)))
        .collect();
    traits.insert("text".into(), text.to_string());
    traits.insert("version".into(), version.clone());
    traits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_is_named_and_nothing_else() {
        let key = |settings: &str, version: &str| -> [String; 5] {
            ["c", "best", "title = 1", settings, version].map(String::from)
        };
        let a = key(r#"{"approach":{"method":"Best","budget":null,"delta":0.05},"hints":true}"#, "0.2.0");
        let b = key(r#"{"approach":{"method":"Best","budget":500,"delta":0.05},"hints":true}"#, "0.2.0");
        assert_eq!(distinction(&a, &[&a]), "");
        assert_eq!(distinction(&a, &[&a, &b]), "budget as usual");
        assert_eq!(distinction(&b, &[&a, &b]), "budget 500");
        let c = key(&a[3], "0.1.0");
        assert_eq!(distinction(&c, &[&a, &c]), "version 0.1.0");
        let broken = key("not json", "0.2.0");
        assert!(distinction(&broken, &[&a, &broken]).len() < 40);
    }
}

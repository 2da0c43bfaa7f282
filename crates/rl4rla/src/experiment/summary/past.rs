//! Stored runs, and groups of runs with equal settings.

use crate::curriculum::Curriculum;
use crate::experiment::ExperimentError;
use crate::experiment::label::{label, limits};
use crate::record::{Build, Quantity, StageRecord};
use crate::store::{RunRow, Status, Store, StoreError};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// A stored run, finished or not.
pub struct Past {
    pub row: RunRow,
    /// Whether it found all targets; `None` if it is unfinished.
    pub found: Option<bool>,
    pub build: Build,
    pub settings: String,
    pub spec: String,
    pub steps: Vec<StageRecord>,
}

impl Past {
    /// Reads a run; if its record was written by another version in another form, the records of its stages are used.
    pub fn read(store: &Store, row: RunRow) -> Result<Past, ExperimentError> {
        let run = store.run(&row.id)?;
        let steps = match run.result {
            Ok(Some(record)) => record.stages,
            Ok(None) | Err(StoreError::Unreadable { .. }) => store.stages(&row.id)?,
            Err(error) => return Err(error.into()),
        };
        let found = row.status.found();
        Ok(Past { row, found, build: run.build, settings: run.settings, spec: run.spec, steps })
    }

    /// The sum over the stages of a component of the search cost.
    pub fn total(&self, quantity: Quantity) -> f64 {
        self.steps.iter().map(|step| quantity.of(&step.cost)).sum()
    }

    /// Its status in one word.
    pub fn standing(&self) -> &'static str {
        match self.row.status {
            Status::Done { found: true } => "found",
            Status::Done { found: false } => "not found",
            other => other.name(),
        }
    }
}

/// Runs that differ only in their seed.
pub struct RunGroup {
    pub curriculum: String,
    /// The method, with what distinguishes it from others of the same curriculum.
    pub method: String,
    /// In the order of the store.
    pub runs: Vec<Past>,
    /// The curriculum, if this version can parse it.
    pub read: Option<Curriculum>,
}

impl RunGroup {
    /// The finished runs.
    pub fn done(&self) -> impl Iterator<Item = &Past> {
        self.runs.iter().filter(|past| past.found.is_some())
    }

    /// The run to show: the last that found everything, or else the last of those that got furthest.
    pub fn best(&self) -> Option<&Past> {
        let rank = |past: &&Past| (past.found == Some(true), past.found.is_some(), past.steps.len());
        self.runs.iter().max_by_key(rank)
    }
}

/// Groups runs with the same curriculum text, settings and build.
pub fn groups(pasts: Vec<Past>) -> Vec<RunGroup> {
    let mut sorted: BTreeMap<Key, Vec<Past>> = BTreeMap::new();
    for past in pasts {
        let RunRow { curriculum, method, .. } = &past.row;
        let build = past.build.to_string();
        let key = [curriculum, method, &past.spec, &past.settings, &build].map(String::clone);
        let runs: &mut Vec<Past> = sorted.entry(key).or_default();
        // A repeated run has the same result and counts once.
        let again = |known: &Past| known.row.seed == past.row.seed && known.found.is_some();
        if past.found.is_none() || !runs.iter().any(again) {
            runs.push(past);
        }
    }
    let keys: Vec<Key> = sorted.keys().cloned().collect();
    let names = names(&keys);
    let group = |((key, runs), method): ((Key, Vec<Past>), String)| {
        let [curriculum, _, spec, ..] = key;
        let read = Curriculum::parse(&curriculum, &spec).ok();
        RunGroup { curriculum, method, runs, read }
    };
    sorted.into_iter().zip(names).map(group).collect()
}

/// What the runs of a group have in common: curriculum, method, the curriculum's text, settings and build.
type Key = [String; 5];

/// The names of groups: their labels, and what else is needed to distinguish those of one curriculum.
fn names(keys: &[Key]) -> Vec<String> {
    let plain = |key: &Key| {
        let settings: Value = serde_json::from_str(&key[3]).unwrap_or_default();
        label(&key[1], limits(&key[0], &settings))
    };
    let name = |key: &Key| {
        let alike = |other: &&Key| other[0] == key[0] && plain(other) == plain(key);
        label(&plain(key), distinction(key, &keys.iter().filter(alike).collect::<Vec<_>>()))
    };
    keys.iter().map(name).collect()
}

/// What distinguishes groups with the same curriculum and label: the curriculum's text, settings that are not part of
/// labels, and the build.
fn distinction(key: &Key, alike: &[&Key]) -> Vec<String> {
    let number = |of: usize| {
        let known: BTreeSet<&String> = alike.iter().map(|other| &other[of]).collect();
        let place = known.iter().position(|one| **one == key[of]);
        place.filter(|_| known.len() > 1).map(|place| place + 1)
    };
    let text = number(2).map(|number| format!("text {number}"));
    let settings = number(3).map(|number| format!("settings {number}"));
    let version = number(4).map(|_| format!("version {}", key[4]));
    [text, settings, version].into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(curriculum: &str, spec: &str, settings: &str, version: &str) -> Key {
        [curriculum, "best", spec, settings, version].map(String::from)
    }

    #[test]
    fn what_differs_is_named_and_nothing_else() {
        let usual = r#"{"approach":{"method":"Best","budget":null,"delta":0.05},"hints":true}"#;
        let short = r#"{"approach":{"method":"Best","budget":500,"delta":0.05},"hints":true}"#;
        let keys = [key("c", "1", usual, "0.2.0"), key("c", "1", short, "0.2.0")];
        assert_eq!(names(&keys), ["best", "best, at most 500 playouts"]);
        // The same settings have the same name, whatever other groups there are.
        assert_eq!(names(&keys[1..]), ["best, at most 500 playouts"]);
        let versions = [key("c", "1", usual, "0.1.0"), key("c", "1", usual, "0.2.0")];
        assert_eq!(names(&versions), ["best, version 0.1.0", "best, version 0.2.0"]);
        let texts =
            [key("c", "1", usual, "0.2.0"), key("c", "2", usual, "0.2.0"), key("d", "1", usual, "0.2.0")];
        assert_eq!(names(&texts), ["best, text 1", "best, text 2", "best"]);
        let unreadable = [key("c", "1", "not json", "0.2.0"), key("c", "1", usual, "0.2.0")];
        let names: BTreeSet<String> = names(&unreadable).into_iter().collect();
        assert_eq!(names.len(), 2, "{names:?}");
    }
}

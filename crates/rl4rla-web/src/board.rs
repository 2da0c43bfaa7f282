//! The runs of the store as they were last seen: what lists of them are made from.

use rl4rla::store::{RunRow, Status};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// All runs by their place in the store.
#[derive(Default)]
pub struct Board {
    rows: BTreeMap<String, RunRow>,
}

impl Board {
    /// Takes in rows that are new or have changed.
    pub fn take(&mut self, changed: &[RunRow], gone: &[String]) {
        gone.iter().for_each(|id| drop(self.rows.remove(id)));
        self.rows.extend(changed.iter().map(|row| (row.id.to_string(), row.clone())));
    }

    /// All runs, in the order of their ids.
    pub fn rows(&self) -> impl Iterator<Item = &RunRow> {
        self.rows.values()
    }

    /// A run.
    pub fn row(&self, id: &str) -> Option<&RunRow> {
        self.rows.get(id)
    }

    /// The ids of the runs that somebody works on.
    pub fn running(&self) -> Vec<RunRow> {
        self.rows().filter(|row| row.status == Status::Running).cloned().collect()
    }

    /// How many runs there are of each status.
    pub fn counts(&self) -> Value {
        let mut counts = BTreeMap::from(
            [Status::Running, Status::Interrupted, Status::Done { found: true }, Status::Failed]
                .map(|status| (status.name(), 0)),
        );
        let (mut all, mut deleted) = (0, 0);
        for row in self.rows() {
            match row.deleted {
                true => deleted += 1,
                false => {
                    all += 1;
                    *counts.entry(row.status.name()).or_default() += 1;
                }
            }
        }
        let mut told = json!(counts);
        told["all"] = json!(all);
        told["deleted"] = json!(deleted);
        told
    }
}

/// A run as lists show it; `ours` if this server started it and it still works.
pub fn told(row: &RunRow, ours: bool) -> Value {
    json!({
        "id": row.id.as_str(),
        "curriculum": row.curriculum,
        "method": row.method,
        "seed": row.seed,
        "status": row.status.name(),
        "found": row.status.found(),
        "created": row.created,
        "seconds": row.seconds,
        "playouts": row.playouts,
        "evaluations": row.evaluations,
        "stages": row.stages,
        "tags": row.tags,
        "note": row.note,
        "deleted": row.deleted,
        "alive": ours,
    })
}

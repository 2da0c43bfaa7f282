//! What the store keeps of the stages of a run.

use super::error::{ExperimentError, unreadable};
use crate::store::{RunId, StageRow, Store};
use serde_json::Value;

/// A finished stage of a run.
pub struct Finished {
    /// Its name.
    pub name: String,
    /// All that is known of it.
    pub result: Value,
}

/// The finished stages of a run, in order. One that cannot be read is an error: those before it are no substitute.
pub fn stages(store: &Store, id: &RunId) -> Result<Vec<Finished>, ExperimentError> {
    let read = |row: &StageRow| {
        let what = || format!("stage {} of run {id}", u64::from(row.stage) + 1);
        let result: Value = serde_json::from_str(&row.result).map_err(|error| unreadable(&what(), &error))?;
        match result["name"].as_str() {
            Some(name) => Ok(Finished { name: name.into(), result }),
            None => Err(unreadable(&what(), &"it has no name")),
        }
    };
    store.stages(id)?.iter().map(read).collect()
}

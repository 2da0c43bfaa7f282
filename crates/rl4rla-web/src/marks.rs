//! What people say of runs: tags, notes, and that they want to see them no more.

use crate::board::told;
use crate::error::ApiError;
use crate::run::reading;
use crate::state::ServerState;
use axum::Json;
use axum::extract::{Path, State};
use rl4rla::store::{RunId, Store, StoreError};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

/// What is said of a run.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WantedMarks {
    tags: Vec<String>,
    note: String,
}

/// Writes tags and a note.
pub async fn write(
    State(shared): State<Arc<ServerState>>,
    Path(id): Path<String>,
    Json(marks): Json<WantedMarks>,
) -> Result<Json<Value>, ApiError> {
    change(shared, id, move |store, run| store.set_marks(run, &marks.tags, &marks.note)).await
}

/// Leaves a run out of lists.
pub async fn delete(
    State(shared): State<Arc<ServerState>>,
    Path(id): Path<String>,
) -> Result<Json<Value>, ApiError> {
    if shared.board().row(&id).is_some_and(|row| row.status == rl4rla::store::Status::Running) {
        return Err(ApiError::conflict(format!("run {id} goes on")).advise("stop it first"));
    }
    change(shared, id, |store, run| store.delete(run)).await
}

/// Takes it into lists again.
pub async fn restore(
    State(shared): State<Arc<ServerState>>,
    Path(id): Path<String>,
) -> Result<Json<Value>, ApiError> {
    change(shared, id, |store, run| store.restore(run)).await
}

/// StoreChanges a run in the store; its new row.
async fn change(
    shared: Arc<ServerState>,
    id: String,
    write: impl FnOnce(&mut Store, &RunId) -> Result<(), StoreError> + Send + 'static,
) -> Result<Json<Value>, ApiError> {
    let path = shared.settings.store.clone();
    let row = reading(move || {
        let mut store = Store::open(&path)?;
        let run = store.find(&id)?;
        write(&mut store, &run)?;
        Ok(store.run(&run)?.row)
    })
    .await?;
    shared.board().take(std::slice::from_ref(&row), &[]);
    let row = told(&row, shared.jobs.works_on(row.id.as_str()));
    shared.events.tell("runs", &json!({ "rows": [row], "gone": [] }));
    Ok(Json(row))
}

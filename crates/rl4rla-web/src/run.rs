//! One run: what it is, how far it is, and how it got there.

use crate::board::told;
use crate::error::ApiError;
use crate::outline::RunOutline;
use crate::state::ServerState;
use crate::terms::{MeasuredTerms, WAIT};
use axum::Json;
use axum::extract::{Path, State};
use rl4rla::record::{Build, EXPLORE};
use rl4rla::store::{LiveState, Run, Status, Store, StoreError, StoredLeader};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Instant;

/// Reads from the store on a thread that may wait.
pub async fn reading<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
) -> Result<T, ApiError> {
    let done = tokio::task::spawn_blocking(work).await;
    Ok(done.map_err(|_| ApiError::inside("the store cannot be read"))??)
}

/// Everything about a run but its evaluations.
pub async fn whole(
    State(shared): State<Arc<ServerState>>,
    Path(id): Path<String>,
) -> Result<Json<Value>, ApiError> {
    let store = shared.settings.store.clone();
    let read = move || {
        let store = Store::open_read_only(&store)?;
        let id = store.find(&id)?;
        Ok((store.run(&id)?, store.stages(&id)?, store.live(&id)?))
    };
    let (run, stages, live) = reading(read).await?;
    let outline = RunOutline::of(&run);
    let objection = objection(&run);
    let id = run.row.id.as_str();
    let settings: Value = serde_json::from_str(&run.settings).unwrap_or_default();
    let (record, unreadable) = match &run.result {
        Ok(record) => (record.as_ref(), None),
        Err(error) => (None, Some(error.to_string())),
    };
    Ok(Json(json!({
        "row": told(&run.row, shared.jobs.works_on(id)),
        "kind": if run.row.curriculum == EXPLORE { "explore" } else { "discover" },
        "spec": run.spec,
        "settings": settings,
        "build": run.build,
        "resumable": objection.is_none(),
        "why_not": objection,
        "stage_names": outline.names(),
        "edits": outline.edits(),
        "budgets": outline.budgets(),
        "stages": stages,
        "record": record,
        "live": live.map(|live| live_value(&live, &outline)),
        "message": shared.jobs.failure_of(id).or(unreadable),
    })))
}

/// Why a run cannot be resumed, if so.
fn objection(run: &Run) -> Option<String> {
    match run.row.status {
        Status::Running => Some("it goes on".into()),
        Status::Done { .. } => Some("it has ended".into()),
        _ if !Build::current().continues(&run.build) => {
            Some(format!("it was started by another build, version {}", run.build.version))
        }
        _ => None,
    }
}

/// The state of a run, with the equations of its programs.
pub fn live_value(live: &LiveState, outline: &RunOutline) -> Value {
    let mut value = json!(live);
    let equation = |program: &Value| outline.equation(live.stage, program.as_str()?);
    if value["best"].is_object() {
        value["best"]["equation"] = json!(equation(&value["best"]["program"]));
    }
    value
}

/// The learning curves of a run, and each program that was the best for a while.
pub async fn curves(
    State(shared): State<Arc<ServerState>>,
    Path(id): Path<String>,
) -> Result<Json<Value>, ApiError> {
    let store = shared.settings.store.clone();
    let read = move || {
        let store = Store::open_read_only(&store)?;
        let id = store.find(&id)?;
        let (run, samples, leaders) = (store.run(&id)?, store.samples(&id)?, store.leaders(&id)?);
        let outline = RunOutline::of(&run);
        let (terms, until) = (MeasuredTerms::of(&run, &outline), Instant::now() + WAIT);
        let stages = outline.names().into_iter().enumerate().map(|(number, name)| {
            let here = |stage: u32| stage as usize == number;
            let points: Vec<Value> = samples
                .iter()
                .filter(|sample| here(sample.stage))
                .map(|sample| {
                    json!({
                        "playouts": sample.playouts, "evaluations": sample.evaluations,
                        "unique_states": sample.unique_states, "visits": sample.visits, "best": sample.best,
                    })
                })
                .collect();
            let told = |leader: &StoredLeader| {
                let program = &leader.program;
                json!({
                    "evaluations": leader.evaluations, "playouts": leader.playouts, "reward": leader.reward,
                    "program": program, "equation": outline.equation(number, program),
                    "terms": shared.terms.find(&run, number, program, until, || terms.measure(number, program)),
                })
            };
            // The last first: its terms matter most.
            let here = leaders.iter().rev().filter(|leader| here(leader.stage));
            let mut leaders: Vec<Value> = here.map(told).collect();
            leaders.reverse();
            json!({ "stage": number, "name": name, "points": points, "leaders": leaders })
        });
        let stages: Vec<Value> = stages.collect();
        Ok(json!({ "stages": stages }))
    };
    Ok(Json(reading(read).await?))
}

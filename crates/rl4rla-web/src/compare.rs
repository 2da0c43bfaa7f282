//! Runs side by side: success with its interval, and the work to get there.

use crate::error::ApiError;
use crate::state::ServerState;
use axum::Json;
use axum::extract::{Query, State};
use rl4rla::statistics::{Interval, Rate};
use rl4rla::store::RunRow;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Most runs that are compared.
const MOST: usize = 2000;

/// Which runs.
#[derive(Deserialize)]
pub struct ChosenRuns {
    runs: String,
}

/// Compares runs, by curriculum and method.
pub async fn runs(
    State(shared): State<Arc<ServerState>>,
    Query(chosen): Query<ChosenRuns>,
) -> Result<Json<Value>, ApiError> {
    let board = shared.board();
    let mut groups: BTreeMap<(&str, &str), Vec<&RunRow>> = BTreeMap::new();
    for id in chosen.runs.split(',').filter(|id| !id.is_empty()).take(MOST) {
        let row = board.row(id).ok_or_else(|| ApiError::missing(format!("there is no run `{id}`")))?;
        groups.entry((&row.curriculum, &row.method)).or_default().push(row);
    }
    let groups: Vec<Value> =
        groups.into_iter().map(|((curriculum, method), rows)| group(curriculum, method, &rows)).collect();
    Ok(Json(json!({ "groups": groups })))
}

fn group(curriculum: &str, method: &str, rows: &[&RunRow]) -> Value {
    // Runs that have not ended say nothing about success.
    let ended: Vec<&&RunRow> = rows.iter().filter(|row| row.status.found().is_some()).collect();
    let found: Vec<&&&RunRow> = ended.iter().filter(|row| row.status.found() == Some(true)).collect();
    let rate = Rate { successes: found.len(), trials: ended.len() };
    let spread = |of: fn(&RunRow) -> f64| {
        let interval = Interval::median(found.iter().map(|row| of(row)));
        interval
            .map(|interval| json!({ "median": interval.value, "low": interval.low, "high": interval.high }))
    };
    let run = |row: &&RunRow| {
        json!({
            "id": row.id.as_str(), "seed": row.seed, "status": row.status.name(), "found": row.status.found(),
            "evaluations": row.evaluations, "playouts": row.playouts, "seconds": row.seconds,
        })
    };
    json!({
        "curriculum": curriculum,
        "method": method,
        "seeds": ended.len(),
        "successes": found.len(),
        "interval": (!ended.is_empty()).then(|| rate.interval()),
        "evaluations": spread(|row| row.evaluations as f64),
        "seconds": spread(|row| row.seconds),
        "runs": rows.iter().map(run).collect::<Vec<Value>>(),
    })
}

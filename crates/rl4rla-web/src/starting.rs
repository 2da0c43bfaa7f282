//! Starting, stopping and resuming runs.

use crate::board::told;
use crate::check;
use crate::command::words;
use crate::error::ApiError;
use crate::programs::is_id;
use crate::state::ServerState;
use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use rl4rla::curriculum::BUILTIN;
use serde::Deserialize;
use serde_json::{Value, json};
use std::ffi::OsString;
use std::sync::Arc;

/// What is to be run, as the command's options say it.
#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum RunOrder {
    /// The stages of a curriculum.
    Discover(DiscoverOrder),
    /// A family of problems, without a curriculum.
    Explore(ExploreOrder),
}

/// Options of `discover`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DiscoverOrder {
    curriculum: Option<String>,
    toml: Option<String>,
    method: Option<String>,
    seed: Option<u64>,
    budget: Option<u64>,
    evaluations: Option<u64>,
    threads: Option<u64>,
}

/// Options of `explore`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExploreOrder {
    family: Option<String>,
    rows: Option<f64>,
    cols: Option<f64>,
    kappa: Option<Vec<f64>>,
    outside: Option<f64>,
    tolerance: Option<f64>,
    edits: Option<u64>,
    evolve: Option<u64>,
    #[serde(default)]
    without_matrices: bool,
    seed: Option<u64>,
    threads: Option<u64>,
}

/// An option with its value, as one word, so that no value is taken for another option.
fn option<T>(name: &str, value: Option<T>, text: fn(&T) -> String) -> Option<OsString> {
    value.map(|value| format!("--{name}={}", text(&value)).into())
}

fn number(value: &f64) -> String {
    format!("{value:e}")
}

impl DiscoverOrder {
    fn words(self) -> Result<Vec<OsString>, ApiError> {
        let DiscoverOrder { curriculum, toml, method, seed, budget, evaluations, threads } = self;
        let curriculum = match (curriculum, toml) {
            (Some(name), None) if BUILTIN.iter().any(|(known, _)| *known == name) => name,
            (Some(name), None) => {
                return Err(ApiError::refused(
                    format!("no curriculum `{name}`"),
                    Some("a built-in one, or the text of yours".into()),
                ));
            }
            (None, Some(text)) => {
                check::accepted(&text)?;
                // The line break tells the command that this is no path.
                format!("{text}\n")
            }
            _ => return Err(ApiError::bad("either `curriculum` or `toml` is needed")),
        };
        let options = [
            option("method", method, String::clone),
            option("seed", seed, u64::to_string),
            option("budget", budget, u64::to_string),
            option("evaluations", evaluations, u64::to_string),
            option("threads", threads, u64::to_string),
        ];
        let rest = [OsString::from("--"), curriculum.into()];
        Ok(words(&["discover"]).into_iter().chain(options.into_iter().flatten()).chain(rest).collect())
    }
}

impl ExploreOrder {
    fn words(self) -> Vec<OsString> {
        let ExploreOrder { family, rows, cols, kappa, outside, tolerance, .. } = self;
        let ExploreOrder { edits, evolve, without_matrices, seed, threads, .. } = self;
        let options = [
            option("family", family, String::clone),
            option("rows", rows, number),
            option("cols", cols, number),
            option("kappa", kappa, |all| all.iter().map(number).collect::<Vec<_>>().join(",")),
            option("outside", outside, number),
            option("tolerance", tolerance, number),
            option("edits", edits, u64::to_string),
            option("evolve", evolve, u64::to_string),
            option("seed", seed, u64::to_string),
            option("threads", threads, u64::to_string),
            without_matrices.then(|| "--without-matrices".into()),
        ];
        words(&["explore"]).into_iter().chain(options.into_iter().flatten()).collect()
    }
}

/// Starts a run.
pub async fn start(
    State(shared): State<Arc<ServerState>>,
    Json(order): Json<RunOrder>,
) -> Result<(StatusCode, Json<Value>), ApiError> {
    let words = match order {
        RunOrder::Discover(order) => order.words()?,
        RunOrder::Explore(order) => order.words(),
    };
    let job = shared.jobs.start(&words)?;
    Ok((StatusCode::CREATED, Json(json!({ "job": job }))))
}

/// Asks a run to save its work and end.
pub async fn stop(
    State(shared): State<Arc<ServerState>>,
    Path(id): Path<String>,
) -> Result<Json<Value>, ApiError> {
    if !shared.jobs.stop(&id) {
        return Err(ApiError::conflict(format!("run {id} was not started from here, or is over"))
            .advise("stop it where it was started: Ctrl-C saves it"));
    }
    row(&shared, &id)
}

/// Continues an interrupted run.
pub async fn resume(
    State(shared): State<Arc<ServerState>>,
    Path(id): Path<String>,
) -> Result<Json<Value>, ApiError> {
    if !is_id(&id) {
        return Err(ApiError::missing(format!("there is no run `{id}`")));
    }
    if shared.jobs.works_on(&id) {
        return Err(ApiError::conflict(format!("run {id} goes on already")));
    }
    shared.jobs.start(&words(&["resume", &id]))?;
    row(&shared, &id)
}

fn row(shared: &ServerState, id: &str) -> Result<Json<Value>, ApiError> {
    let board = shared.board();
    let row = board.row(id).ok_or_else(|| ApiError::missing(format!("there is no run `{id}`")))?;
    Ok(Json(told(row, shared.jobs.works_on(id))))
}

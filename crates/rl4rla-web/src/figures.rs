//! The figures of a run, drawn as in reports.

use crate::error::ApiError;
use crate::state::ServerState;
use axum::extract::{Path, State};
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use rl4rla::experiment::summary::RunFigure;
use rl4rla::store::Store;
use std::sync::Arc;

/// A figure by name: `curves`, `front-STAGE` or `history-STAGE`.
pub async fn draw(
    State(shared): State<Arc<ServerState>>,
    Path((run, name)): Path<(String, String)>,
) -> Result<Response, ApiError> {
    let wanted = parsed(&name).ok_or_else(|| ApiError::missing(format!("there is no figure `{name}`")))?;
    let path = shared.settings.store.clone();
    let drawn = move || -> Result<Option<String>, ApiError> {
        let store = Store::open_read_only(&path)?;
        let id = store.find(&run)?;
        let figure = wanted.draw(&store, &id).map_err(|error| ApiError::inside(error.to_string()))?;
        Ok(figure.map(|figure| figure.svg()))
    };
    let drawn = tokio::task::spawn_blocking(drawn).await;
    let svg = drawn.map_err(|_| ApiError::inside("the figure cannot be drawn"))??;
    let svg = svg.ok_or_else(|| ApiError::missing("there is nothing to draw yet"))?;
    Ok(([(CONTENT_TYPE, "image/svg+xml")], svg).into_response())
}

fn parsed(name: &str) -> Option<RunFigure> {
    let stage = |rest: &str| rest.parse::<usize>().ok();
    match name.split_once('-') {
        None if name == "curves" => Some(RunFigure::Curves),
        Some(("front", rest)) => stage(rest).map(RunFigure::Front),
        Some(("history", rest)) => stage(rest).map(RunFigure::History),
        _ => None,
    }
}

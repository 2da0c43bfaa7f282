//! The search graph of a run, made again from the log of its evaluations.
//!
//! One search is made again at a time, on one thread: a search that goes on should not notice it. The last graphs are kept.

use crate::error::ApiError;
use crate::state::ServerState;
use axum::Json;
use axum::extract::{Path, Query, State};
use rl4rla::discovery::{GraphLimits, SearchGraph};
use rl4rla::experiment::{GraphError, StoredStage};
use rl4rla::store::{Status, Store};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Graphs that are kept.
const KEPT: usize = 4;

/// How long a search may be made again.
const LONGEST: Duration = Duration::from_secs(60);

/// How long the graph of a search that goes on is good enough.
const FRESH: Duration = Duration::from_secs(5);

/// A graph that was made.
struct Made {
    run: String,
    stage: usize,
    /// When, if the search goes on.
    at: Option<Instant>,
    graph: Arc<SearchGraph>,
}

/// The last graphs; locked while one is made.
#[derive(Default)]
pub struct Graphs(Mutex<VecDeque<Made>>);

/// Which stage, from zero.
#[derive(Deserialize)]
pub struct StageNumber {
    #[serde(default)]
    stage: usize,
}

impl Graphs {
    fn find(&self, path: &std::path::Path, run: &str, stage: usize) -> Result<Arc<SearchGraph>, ApiError> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|made| made.at.is_none_or(|at| at.elapsed() < FRESH));
        if let Some(made) = kept.iter().find(|made| made.run == run && made.stage == stage) {
            return Ok(made.graph.clone());
        }
        let (stored, goes_on) = {
            let store = Store::open_read_only(path)?;
            let id = store.find(run)?;
            let goes_on = store.run(&id)?.row.status == Status::Running;
            (StoredStage::read(&store, &id, stage).map_err(refused)?, goes_on)
        };
        let begun = Instant::now();
        let one = rayon::ThreadPoolBuilder::new().num_threads(1).build();
        let one = one.map_err(|error| ApiError::inside(error.to_string()))?;
        let graph = one.install(|| stored.graph(GraphLimits::default(), &|| begun.elapsed() > LONGEST));
        let graph = Arc::new(graph.map_err(refused)?);
        let at = (goes_on && !graph.complete).then(Instant::now);
        kept.push_front(Made { run: run.into(), stage, at, graph: graph.clone() });
        kept.truncate(KEPT);
        Ok(graph)
    }
}

fn refused(error: GraphError) -> ApiError {
    match error {
        GraphError::Store(error) => error.into(),
        error => {
            let refusal = ApiError::conflict(error.to_string());
            match error.advice() {
                Some(advice) => refusal.advise(advice),
                None => refusal,
            }
        }
    }
}

async fn graph(shared: Arc<ServerState>, run: String, stage: usize) -> Result<Arc<SearchGraph>, ApiError> {
    let find = move || shared.graphs.find(&shared.settings.store, &run, stage);
    tokio::task::spawn_blocking(find).await.map_err(|_| ApiError::inside("the graph cannot be made"))?
}

/// The nodes and edges, column by column.
pub async fn whole(
    State(shared): State<Arc<ServerState>>,
    Path(run): Path<String>,
    Query(StageNumber { stage }): Query<StageNumber>,
) -> Result<Json<Value>, ApiError> {
    let graph = graph(shared, run, stage).await?;
    let value: Vec<f64> = graph.value.iter().map(|value| (value * 1e4).round() / 1e4).collect();
    Ok(Json(json!({
        "stage": graph.stage,
        "playouts": graph.counters.playouts,
        "complete": graph.complete,
        "count": graph.count,
        "root": 0,
        "depth": graph.depth,
        "value": value,
        "visits": graph.visits,
        "flags": graph.flags,
        "parent": graph.parent,
        "more": graph.more,
        "shown": graph.shown(),
        "hidden": graph.hidden(),
    })))
}

/// A node with its program.
pub async fn node(
    State(shared): State<Arc<ServerState>>,
    Path((run, node)): Path<(String, usize)>,
    Query(StageNumber { stage }): Query<StageNumber>,
) -> Result<Json<Value>, ApiError> {
    let graph = graph(shared, run, stage).await?;
    let find = move || graph.node(node);
    let found =
        tokio::task::spawn_blocking(find).await.map_err(|_| ApiError::inside("the node cannot be read"))?;
    let found = found.ok_or_else(|| ApiError::missing(format!("the graph has no node {node}")))?;
    Ok(Json(json!(found)))
}

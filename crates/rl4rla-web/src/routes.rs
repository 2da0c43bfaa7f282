//! What is answered at which address.

use crate::guard::{self, Guard};
use crate::state::ServerState;
use crate::{
    asset, campaigns, check, compare, error::ApiError, events, figures, graph, lists, map, marks, programs,
    run, runs, starting,
};
use axum::body::to_bytes;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post, put};
use axum::{Json, Router};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;

/// Most bytes of a body; curricula are short.
const BODY: usize = 256 << 10;

/// How long a body may take to come, and its answer.
const RECEIVING: Duration = Duration::from_secs(10);
const PATIENCE: Duration = Duration::from_secs(120);

/// All addresses.
pub fn router(guard: Arc<Guard>, shared: Arc<ServerState>) -> Router {
    let api = Router::new()
        .route("/about", get(told_about))
        .route("/runs", get(runs::list).post(starting::start))
        .route("/runs/{id}", get(run::whole))
        .route("/runs/{id}/curves", get(run::curves))
        .route("/runs/{id}/figures/{name}", get(figures::draw))
        .route("/runs/{id}/graph", get(graph::whole))
        .route("/runs/{id}/graph/{node}", get(graph::node))
        .route("/runs/{id}/stop", post(starting::stop))
        .route("/runs/{id}/resume", post(starting::resume))
        .route("/runs/{id}/delete", post(marks::delete))
        .route("/runs/{id}/restore", post(marks::restore))
        .route("/runs/{id}/marks", put(marks::write))
        .route("/program", get(programs::show))
        .route("/program/{question}", post(programs::ask))
        .route("/compare", get(compare::runs))
        .route("/campaigns", get(campaigns::list))
        .route("/map", get(map::winners))
        .route("/lists", get(lists::all))
        .route("/check", post(check::curriculum))
        .layer(from_fn(received));
    Router::new()
        .route("/", get(asset::index))
        .route("/assets/{name}", get(asset::file))
        .route("/api/events", get(events::stream))
        .nest("/api", api)
        .fallback(nothing)
        .layer(from_fn_with_state(guard, guard::check))
        .with_state(shared)
}

async fn nothing() -> ApiError {
    ApiError::missing("there is nothing at this address")
}

/// Reads the whole body first, so that nothing waits for one that is slow or too long.
async fn received(request: Request, next: Next) -> Response {
    let (head, body) = request.into_parts();
    let late = |what: &str| ApiError::new(StatusCode::REQUEST_TIMEOUT, what).into_response();
    match timeout(RECEIVING, to_bytes(body, BODY)).await {
        Err(_) => late("the body did not come in time"),
        Ok(Err(_)) => {
            ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, format!("the body has more than {BODY} bytes"))
                .into_response()
        }
        Ok(Ok(body)) => match timeout(PATIENCE, next.run(Request::from_parts(head, body.into()))).await {
            Err(_) => late("this took too long"),
            Ok(response) => response,
        },
    }
}

async fn told_about(State(shared): State<Arc<ServerState>>) -> Json<Value> {
    Json(about(&shared))
}

/// What the page shows of the server.
pub fn about(shared: &ServerState) -> Value {
    let settings = &shared.settings;
    json!({
        "version": rl4rla::VERSION,
        "store": settings.store.file_name().map(|name| name.to_string_lossy()),
        "read_only": settings.read_only,
        "campaigns": settings.campaigns.len(),
        "counts": shared.board().counts(),
        "threads": std::thread::available_parallelism().map_or(1, usize::from),
    })
}

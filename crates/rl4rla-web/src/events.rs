//! Server-sent events: what has changed, to every page that is open.

use crate::error::ApiError;
use crate::routes::about;
use crate::state::ServerState;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::sse::{Event, KeepAlive, Sse};
use futures_util::stream::{Stream, unfold};
use serde_json::Value;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::broadcast::{Receiver, Sender, channel, error::RecvError};

/// Events that wait for a slow page; one that misses more begins again.
const WAITING: usize = 256;

/// Pages that are told of changes at a time.
const PAGES: usize = 64;

/// What has happened; formatted once for all pages.
#[derive(Clone, Debug)]
pub struct Told {
    name: &'static str,
    data: Arc<str>,
}

/// Whoever is told of changes.
#[derive(Clone)]
pub struct Events(Sender<Told>);

impl Events {
    /// Nobody yet.
    pub fn new() -> Events {
        Events(channel(WAITING).0)
    }

    /// Whether anybody listens.
    pub fn are_heard(&self) -> bool {
        self.0.receiver_count() > 0
    }

    /// Tells everybody.
    pub fn tell(&self, name: &'static str, data: &Value) {
        // Without listeners there is nothing to do.
        let _ = self.0.send(Told { name, data: data.to_string().into() });
    }
}

/// The stream of events: `hello` first, and again after some were missed.
pub async fn stream(
    State(shared): State<Arc<ServerState>>,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, ApiError> {
    if shared.events.0.receiver_count() >= PAGES {
        let message = format!("{PAGES} pages are open already");
        return Err(ApiError::new(StatusCode::SERVICE_UNAVAILABLE, message).advise("close some of them"));
    }
    let events = shared.events.0.subscribe();
    let next = |(shared, mut events, greeted): (Arc<ServerState>, Receiver<Told>, bool)| async move {
        let event = match greeted {
            false => hello(&shared),
            true => match events.recv().await {
                Ok(Told { name, data }) => Event::default().event(name).data(&*data),
                Err(RecvError::Lagged(_)) => hello(&shared),
                Err(RecvError::Closed) => return None,
            },
        };
        Some((Ok(event), (shared, events, true)))
    };
    let every = KeepAlive::new().interval(Duration::from_secs(15));
    Ok(Sse::new(unfold((shared, events, false), next)).keep_alive(every))
}

fn hello(shared: &ServerState) -> Event {
    Event::default().event("hello").data(about(shared).to_string())
}

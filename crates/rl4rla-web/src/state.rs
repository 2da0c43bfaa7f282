//! What all requests share.

use crate::board::Board;
use crate::campaigns::Campaigns;
use crate::command::Commands;
use crate::events::Events;
use crate::graph::Graphs;
use crate::jobs::Jobs;
use crate::lists::Lists;
use crate::server::ServerSettings;
use crate::terms::KnownTerms;
use crate::watch;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Questions about programs at a time. A search that goes on should not notice them.
const QUESTIONS: usize = 1;

/// What all requests share.
pub struct ServerState {
    /// What is served, and how.
    pub settings: ServerSettings,
    /// Whoever is told of changes.
    pub events: Events,
    /// Runs that were started from the page.
    pub jobs: Arc<Jobs>,
    /// Questions that the command answers.
    pub commands: Commands,
    /// The campaigns that are shown.
    pub campaigns: Arc<Campaigns>,
    /// What the command lists, once it was asked for.
    pub lists: Lists,
    /// Search graphs that were made again.
    pub graphs: Graphs,
    /// Terms of rewards that were computed.
    pub terms: KnownTerms,
    /// The style sheet of reports and of this page.
    pub style: String,
    board: Mutex<Board>,
}

impl ServerState {
    /// The state of a new server; begins to watch the store.
    pub fn new(settings: ServerSettings) -> Arc<ServerState> {
        let events = Events::new();
        let shared = Arc::new(ServerState {
            jobs: Jobs::new(&settings, events.clone()),
            commands: Commands::new(&settings, QUESTIONS),
            campaigns: Campaigns::new(&settings),
            lists: Lists::default(),
            graphs: Graphs::default(),
            terms: KnownTerms::default(),
            style: rl4rla::report::style_sheet(),
            board: Mutex::new(Board::default()),
            events,
            settings,
        });
        watch::begin(Arc::downgrade(&shared));
        shared
    }

    /// The runs as they were last seen.
    pub fn board(&self) -> MutexGuard<'_, Board> {
        self.board.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

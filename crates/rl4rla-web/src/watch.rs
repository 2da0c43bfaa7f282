//! Looking at the store while others write to it: what has changed is told to all pages.

use crate::board::told;
use crate::outline::RunOutline;
use crate::run::live_value;
use crate::state::ServerState;
use rl4rla::store::Watcher;
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::Weak;
use std::time::Duration;

/// How often the store is looked at.
const LOOK: Duration = Duration::from_millis(400);

/// How long it takes at most until pages know what was last written.
pub const SETTLING: Duration = Duration::from_millis(600);

/// Looks at the store on a thread of its own, until the server is gone.
pub fn begin(shared: Weak<ServerState>) {
    let watch = move || {
        let Some(path) = shared.upgrade().map(|shared| shared.settings.store.clone()) else { return };
        let mut watcher = Watcher::new(&path);
        // What was last told of runs that go on.
        let mut lives = BTreeMap::new();
        while let Some(shared) = shared.upgrade() {
            look(&shared, &mut watcher, &mut lives);
            drop(shared);
            std::thread::sleep(LOOK);
        }
    };
    // Without a thread the page shows what it is asked for, and nothing by itself.
    let _ = std::thread::Builder::new().name("watch".into()).spawn(watch);
}

fn look(shared: &ServerState, watcher: &mut Watcher, lives: &mut BTreeMap<String, String>) {
    // The store may be written at this moment, or not exist yet; it is looked at again soon.
    let Ok(Some(changes)) = watcher.poll() else { return };
    shared.board().take(&changes.rows, &changes.gone);
    if !shared.events.are_heard() {
        return;
    }
    let rows: Vec<_> =
        changes.rows.iter().map(|row| told(row, shared.jobs.works_on(row.id.as_str()))).collect();
    shared.events.tell("runs", &json!({ "rows": rows, "gone": changes.gone }));
    let running = shared.board().running();
    lives.retain(|id, _| running.iter().any(|row| row.id.as_str() == id));
    let Some(store) = watcher.store() else { return };
    for row in running {
        let Ok(Some(live)) = store.live(&row.id) else { continue };
        let Ok(run) = store.run(&row.id) else { continue };
        let live = live_value(&live, &RunOutline::of(&run));
        if lives.insert(row.id.to_string(), live.to_string()).as_ref() != Some(&live.to_string()) {
            shared.events.tell("live", &json!({ "run": row.id.as_str(), "live": live }));
        }
    }
}

//! Watching a store: which runs have changed since the last look, cheaply.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::opening::{logged, written};
use super::{RunRow, Status, Store, StoreError};

/// The times of a file are too coarse to tell a change from another so soon after it.
const COARSE: Duration = Duration::from_secs(2);

/// What is new in a store.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct StoreChanges {
    /// The runs that are new or have changed, in the order in which they began; deleted ones included.
    pub rows: Vec<RunRow>,
    /// The ids of the runs that are not there any more: the file was removed or replaced.
    pub gone: Vec<String>,
}

/// A reader that stays and tells what has changed. It takes part in no lock that a writer waits for, and the store may
/// come, go and be replaced.
#[derive(Debug)]
pub struct Watcher {
    path: PathBuf,
    open: Option<Open>,
    /// The rows as told, by the keys of their runs.
    told: BTreeMap<i64, RunRow>,
}

/// An open store.
#[derive(Debug)]
struct Open {
    store: Store,
    /// Which file it is.
    file: Option<(u64, u64)>,
    /// The version of the data as SQLite counts it, and the number of the last change.
    version: i64,
    change: i64,
}

impl Watcher {
    /// Watches the store at this path.
    pub fn new(path: &Path) -> Watcher {
        Watcher { path: path.into(), open: None, told: BTreeMap::new() }
    }

    /// The store as of the last poll, if there is one; for reading.
    pub fn store(&self) -> Option<&Store> {
        self.open.as_ref().map(|open| &open.store)
    }

    /// What has changed since the last poll, `None` if nothing has; at first, everything that is there.
    ///
    /// After an error the next poll begins with the store as it is then.
    pub fn poll(&mut self) -> Result<Option<StoreChanges>, StoreError> {
        let polled = self.look();
        if polled.is_err() {
            self.open = None;
        }
        // A writer has come while a file without writers was being read.
        let busy = matches!(polled, Err(StoreError::Busy { .. }));
        let changes = if busy { self.look()? } else { polled? };
        Ok(Some(changes).filter(|changes| *changes != StoreChanges::default()))
    }

    fn look(&mut self) -> Result<StoreChanges, StoreError> {
        if self.open.as_ref().is_some_and(|open| open.is_outdated(&self.path)) {
            self.open = None;
        }
        let Some(open) = &mut self.open else { return self.reopen() };
        let version = open.version()?;
        let mut rows = Vec::new();
        if version != open.version {
            let (changed, change) = open.store.listing(Some(open.change))?;
            if change < open.change {
                return self.reopen();
            }
            (open.version, open.change, rows) = (version, change, changed);
        }
        // A process that is killed changes nothing in the file.
        for told in self.told.values().filter(|told| told.status == Status::Running) {
            if rows.iter().all(|row| row.id != told.id) {
                let status = open.store.status(&told.id)?;
                rows.extend((status != told.status).then(|| RunRow { status, ..told.clone() }));
            }
        }
        rows.sort_by_key(|row| row.id.row());
        // A running run is told even if only its state has changed, which is not in its row.
        rows.retain(|row| {
            let before = self.told.insert(row.id.row(), row.clone());
            before.as_ref() != Some(row) || row.status == Status::Running
        });
        Ok(StoreChanges { rows, gone: vec![] })
    }

    /// Opens the store and compares all of it with what was told.
    fn reopen(&mut self) -> Result<StoreChanges, StoreError> {
        self.open = Open::new(&self.path)?;
        let (rows, change) = match &self.open {
            Some(open) => open.store.listing(None)?,
            None => (vec![], 0),
        };
        if let Some(open) = &mut self.open {
            open.change = change;
        }
        let now: BTreeMap<i64, RunRow> = rows.into_iter().map(|row| (row.id.row(), row)).collect();
        let before = std::mem::replace(&mut self.told, now);
        let there = |old: &&RunRow| self.told.get(&old.id.row()).is_some_and(|row| row.id == old.id);
        let gone = before.values().filter(|old| !there(old)).map(|old| old.id.to_string()).collect();
        let rows = self.told.values().filter(|row| before.get(&row.id.row()) != Some(row)).cloned().collect();
        Ok(StoreChanges { rows, gone })
    }
}

impl Open {
    /// The store at this path; `None` if there is none yet.
    fn new(path: &Path) -> Result<Option<Open>, StoreError> {
        let file = identity(path);
        match Store::open_read_only(path) {
            Err(StoreError::NotThere { .. } | StoreError::Empty { .. }) => Ok(None),
            opened => {
                let mut open = Open { store: opened?, file, version: 0, change: 0 };
                // Before the rows are read: a change in between is told twice and not missed.
                open.version = open.version()?;
                Ok(Some(open))
            }
        }
    }

    fn version(&self) -> Result<i64, StoreError> {
        self.store.read(|connection| connection.query_row("PRAGMA data_version", [], |row| row.get(0)))
    }

    /// Whether the file at this path is not what is open: it was replaced or, if it was opened as a file that nobody
    /// writes, somebody has written since.
    fn is_outdated(&self, path: &Path) -> bool {
        let fresh = |time: SystemTime| time.elapsed().is_ok_and(|age| age < COARSE);
        let touched = |time| logged(path) || written(path) != Some(time) || fresh(time);
        identity(path) != self.file || self.store.settled.is_some_and(touched)
    }
}

/// Which file is at this path, as far as the system tells.
fn identity(path: &Path) -> Option<(u64, u64)> {
    let found = std::fs::metadata(path).ok()?;
    #[cfg(unix)]
    let identity = {
        use std::os::unix::fs::MetadataExt;
        (found.dev(), found.ino())
    };
    #[cfg(not(unix))]
    let identity = (0, u64::from(found.is_file()));
    Some(identity)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Folder, evaluation, new_run, record};
    use super::super::{LiveState, RunId};
    use super::*;

    #[track_caller]
    fn told(watcher: &mut Watcher) -> Vec<RunId> {
        let changes = watcher.poll().unwrap().unwrap_or_default();
        assert_eq!(changes.gone, [""; 0]);
        changes.rows.into_iter().map(|row| row.id).collect()
    }

    #[test]
    fn a_watcher_sees_writers_come_work_and_go() {
        let folder = Folder::new();
        let path = folder.file("runs.db");
        let mut watcher = Watcher::new(&path);
        assert!(watcher.poll().unwrap().is_none() && watcher.store().is_none(), "there is no store yet");
        let mut store = Store::open(&path).unwrap();
        let run = store.begin(&new_run()).unwrap();
        assert_eq!(told(&mut watcher), std::slice::from_ref(&run));
        assert!(watcher.poll().unwrap().is_none());
        let other = store.begin(&new_run()).unwrap();
        store.show(&run, &LiveState { playouts: 3, ..LiveState::default() }).unwrap();
        assert_eq!(told(&mut watcher), [run.clone(), other.clone()]);
        assert_eq!(watcher.store().unwrap().live(&run).unwrap().unwrap().playouts, 3);
        store.show(&run, &LiveState { playouts: 4, ..LiveState::default() }).unwrap();
        assert_eq!(
            told(&mut watcher),
            std::slice::from_ref(&run),
            "its row is the same, and its state is new"
        );
        store.finish(&run, &record()).unwrap();
        store.delete(&other).unwrap();
        assert_eq!(told(&mut watcher), [run.clone(), other.clone()]);
        store.interrupted(&other).unwrap();
        drop(store);
        assert_eq!(told(&mut watcher), std::slice::from_ref(&other));
        // Nobody writes now, until somebody does.
        let mut quiet = Watcher::new(&path);
        assert_eq!(told(&mut quiet).len(), 2);
        assert!(quiet.poll().unwrap().is_none());
        let mut store = Store::open(&path).unwrap();
        store.append(&other, &[evaluation(0)]).unwrap();
        store.flush().unwrap();
        for watcher in [&mut watcher, &mut quiet] {
            let changes = watcher.poll().unwrap().unwrap();
            assert_eq!((changes.rows.len(), changes.rows[0].evaluations), (1, 1));
        }
    }

    #[test]
    fn a_run_that_nobody_works_on_any_more_is_told_once() {
        let folder = Folder::new();
        let path = folder.file("runs.db");
        let mut store = Store::open(&path).unwrap();
        let run = store.begin(&new_run()).unwrap();
        let mut watcher = Watcher::new(&path);
        assert_eq!(told(&mut watcher), std::slice::from_ref(&run));
        drop(store);
        let changes = watcher.poll().unwrap().unwrap();
        assert_eq!((changes.rows.len(), changes.rows[0].status), (1, Status::Interrupted));
        assert!(watcher.poll().unwrap().is_none());
        assert_eq!(watcher.store().unwrap().live(&run).unwrap(), None);
    }

    #[test]
    fn a_store_that_is_removed_or_replaced_is_told() {
        let folder = Folder::new();
        let (path, moved) = (folder.file("runs.db"), folder.file("moved.db"));
        let run = Store::open(&path).unwrap().begin(&new_run()).unwrap();
        let mut watcher = Watcher::new(&path);
        assert_eq!(told(&mut watcher), std::slice::from_ref(&run));
        std::fs::rename(&path, &moved).unwrap();
        let gone = StoreChanges { rows: vec![], gone: vec![run.to_string()] };
        assert_eq!(watcher.poll().unwrap(), Some(gone.clone()));
        assert!(watcher.poll().unwrap().is_none());
        let mut store = Store::open(&path).unwrap();
        let other = store.begin(&super::super::NewRun { seed: 8, ..new_run() }).unwrap();
        assert_eq!(told(&mut watcher), [other]);
        drop(store);
        std::fs::write(&moved, "text").unwrap();
        std::fs::rename(&moved, &path).unwrap();
        assert!(matches!(watcher.poll(), Err(StoreError::NotAStore { .. })));
    }
}

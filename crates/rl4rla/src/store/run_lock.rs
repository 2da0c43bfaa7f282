//! Who works on a run: a lock for each run that is being worked on, on a file next to the store that is removed with it.
//! Several processes may work on different runs of a store, and one on the same run.

use std::fs;
use std::path::{Path, PathBuf};

use super::error::StoreError;
use super::lock::{self, Lock, Mode};
use super::opening::beside;

/// Attempts to take a lock that others hold for a moment: to see whether the run is being worked on, or to clear away.
const TRIES: usize = 30;
const PAUSE: std::time::Duration = std::time::Duration::from_millis(10);

/// The right to work on a run, until dropped.
#[derive(Debug)]
pub(super) struct RunLock {
    lock: Lock,
    path: PathBuf,
}

impl RunLock {
    /// Takes the lock of this run, or returns the holder as an error.
    pub(super) fn take(store: &Path, run: &str) -> Result<RunLock, StoreError> {
        let path = file(store, run);
        for _ in 0..TRIES {
            if let Some(lock) = RunLock::attempt(store, &path)? {
                return Ok(lock);
            }
            std::thread::sleep(PAUSE);
        }
        let holder = lock::holder(&path);
        Err(StoreError::Held { path: store.to_path_buf(), run: Some(run.into()), holder })
    }

    /// The lock of a run that nobody works on; `None` if somebody does.
    pub(super) fn of_the_dead(store: &Path, run: &str) -> Option<RunLock> {
        RunLock::attempt(store, &file(store, run)).ok().flatten()
    }

    fn attempt(store: &Path, path: &Path) -> Result<Option<RunLock>, StoreError> {
        let lock = Lock::attempt(path, store, Mode::Alone)?;
        // The file may have been removed between opening and locking it, and then the lock is worth nothing.
        let lock = lock.filter(|lock| lock.is_at(path));
        Ok(lock.map(|lock| RunLock { lock, path: path.into() }))
    }
}

impl Drop for RunLock {
    fn drop(&mut self) {
        // While it is locked: nobody else can have taken the lock of this file.
        if self.lock.is_at(&self.path) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Whether a process works on this run.
pub(super) fn held(store: &Path, run: &str) -> bool {
    lock::held_alone(&file(store, run))
}

/// Removes the lock files of processes that were killed.
pub(super) fn clear(store: &Path) {
    let (Some(folder), Some(name)) = (store.parent(), store.file_name()) else { return };
    let prefix = [name.as_encoded_bytes(), ENDING.as_bytes()].concat();
    let Ok(files) = fs::read_dir(folder) else { return };
    for found in files.flatten() {
        let name = found.file_name();
        let run = name.as_encoded_bytes().strip_prefix(&prefix[..]);
        let is_id = |run: &[u8]| run.len() == 8 && run.iter().all(u8::is_ascii_hexdigit);
        if run.is_some_and(is_id) {
            drop(RunLock::attempt(store, &found.path()));
        }
    }
}

/// What follows the name of the store in that of a lock file, before the id.
const ENDING: &str = ".run-";

fn file(store: &Path, run: &str) -> PathBuf {
    beside(store, &format!("{ENDING}{run}"))
}

#[cfg(test)]
mod tests {
    use super::super::testing::Folder;
    use super::*;

    #[test]
    fn one_works_on_a_run_and_leaves_nothing() {
        let folder = Folder::new();
        let store = folder.file("runs.db");
        let lock = RunLock::take(&store, "0123abcd").unwrap();
        assert!(held(&store, "0123abcd") && !held(&store, "0123abce"));
        let error = RunLock::take(&store, "0123abcd").unwrap_err();
        let StoreError::Held { holder: Some(holder), run: Some(run), .. } = &error else { panic!("{error}") };
        assert_eq!((holder.pid, run.as_str()), (std::process::id(), "0123abcd"));
        let told = error.to_string();
        assert!(
            told.contains("run 0123abcd in `") && told.contains("is being worked on by process"),
            "{told}"
        );
        assert!(RunLock::of_the_dead(&store, "0123abcd").is_none());
        drop(RunLock::take(&store, "0123abce").unwrap());
        drop(lock);
        assert!(!held(&store, "0123abcd"));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn what_killed_processes_left_is_cleared_away_and_nothing_else() {
        let folder = Folder::new();
        let store = folder.file("runs.db");
        let kept = ["runs.db.run-0123abcg", "runs.db.run-0123abc", "runs.db2.run-0123abcd", "runs.db"];
        for name in kept.iter().chain(&["runs.db.run-0123abcd", "runs.db.run-ffffffff"]) {
            fs::write(folder.file(name), "").unwrap();
        }
        let lock = RunLock::take(&store, "ffffffff").unwrap();
        clear(&store);
        let left = || {
            let files = fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().file_name());
            files.count()
        };
        assert_eq!(left(), kept.len() + 1);
        drop(lock);
        assert_eq!(left(), kept.len());
    }

    #[test]
    fn a_lock_on_a_file_that_was_removed_is_worth_nothing() {
        let folder = Folder::new();
        let store = folder.file("runs.db");
        let path = file(&store, "0123abcd");
        let stale = Lock::attempt(&path, &store, Mode::Alone).unwrap().unwrap();
        fs::remove_file(&path).unwrap();
        assert!(!stale.is_at(&path));
        let new = RunLock::take(&store, "0123abcd").unwrap();
        assert!(!stale.is_at(&path), "nor after the next one made its own");
        drop(RunLock { lock: stale, path: path.clone() });
        assert!(path.exists() && held(&store, "0123abcd"), "and its end takes nothing away");
        drop(new);
        assert!(!path.exists());
    }
}

//! Entering a store as one of its writers.

use std::path::Path;

use super::creation;
use super::error::StoreError;
use super::lock::{Lock, Mode, Patience};
use super::opening::{interrupted, look, open_for_writing};
use super::schema::{FORMAT, MIGRATIONS, migrate};
use super::stamp::Stamp;

/// Enters a store as one of its writers: takes its lock, and creates the file or migrates it to the current format if
/// necessary, which one does alone.
pub(super) fn enter(path: &Path) -> Result<Lock, StoreError> {
    let patience = Patience::new();
    loop {
        if let Some(lock) = Lock::attempt_store(path, Mode::Alone)? {
            prepare(path)?;
            drop(lock);
        }
        // Between the two locks others may have come.
        if let Some(lock) = Lock::attempt_store(path, Mode::Shared)?
            && is_current(path)?
        {
            return Ok(lock);
        }
        patience.wait(path)?;
    }
}

/// Whether a store is there in the current format.
fn is_current(path: &Path) -> Result<bool, StoreError> {
    Ok(path.exists() && look(path)?.1 == FORMAT)
}

/// Creates a store, or repairs and migrates it. The caller holds its lock alone.
fn prepare(path: &Path) -> Result<(), StoreError> {
    if !path.exists() {
        creation::create(path)?;
    }
    // Checked first with a read-only connection, because a writing connection may change a file merely by closing it.
    match look(path) {
        Ok(_) => {}
        // Creation was interrupted and left its journal, which only a writer can roll back.
        Err(StoreError::Permission { .. }) if interrupted(path) => {
            Stamp::of_file(path)?.format(path, FORMAT)?;
        }
        Err(error) => return Err(error),
    }
    clear_strangers(path);
    let mut connection = open_for_writing(path)?;
    let mut update = || {
        migrate(&mut connection, MIGRATIONS)?;
        // Tables are created first, so that the file itself identifies it as a store before a log exists. On file
        // systems without shared memory SQLite keeps using a journal, which is slower and as safe.
        connection.execute_batch("PRAGMA journal_mode = WAL")
    };
    update().map_err(|error| StoreError::sqlite(path, error))
}

/// Removes empty SQLite files that a reader of another user has left next to the store: the owner of the store may
/// have no permission to write to them.
fn clear_strangers(path: &Path) {
    #[cfg(unix)]
    {
        use super::opening::beside;
        use std::os::unix::fs::MetadataExt;
        let log = std::fs::metadata(beside(path, "-wal"));
        let Ok(store) = std::fs::metadata(path) else { return };
        let holds_nothing = match &log {
            Ok(log) => log.len() == 0,
            Err(error) => error.kind() == std::io::ErrorKind::NotFound,
        };
        for file in ["-wal", "-shm"].map(|ending| beside(path, ending)) {
            if holds_nothing && std::fs::metadata(&file).is_ok_and(|found| found.uid() != store.uid()) {
                let _ = std::fs::remove_file(file);
            }
        }
    }
}

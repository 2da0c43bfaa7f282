//! The store: all runs in one SQLite file, so that a run can be interrupted at any time and resumed.
//!
//! Evaluations are pure functions of a program and an instance, so the log of their values is a cache: resuming means
//! running again with that cache, and gives the same bits. No other search state is saved.
//!
//! Any number of processes may write to a store at the same time, each to runs of its own.

mod clock;
mod creation;
mod digest;
mod entering;
mod error;
mod evaluation;
mod holder;
mod leader;
mod live;
mod lock;
mod mark;
mod opening;
mod record;
mod result;
mod results;
mod run;
mod run_lock;
mod schema;
mod seal;
mod stage;
mod stamp;
mod status;
mod summary;
#[cfg(test)]
mod testing;
mod watch;

pub use clock::{now, utc};
pub use error::StoreError;
pub use evaluation::{Sample, StoredReward};
pub use holder::Holder;
pub use leader::StoredLeader;
pub use live::{LiveBest, LiveEntry, LiveState};
pub use mark::Marks;
pub use record::{Recorder, Sampler, known};
pub use results::ResultRecorder;
pub use run::{NewRun, Run, RunId, RunRow};
pub use status::Status;
pub use watch::{StoreChanges, Watcher};

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rusqlite::{Connection, TransactionBehavior};

use evaluation::Buffer;
use lock::Lock;
use run_lock::RunLock;

/// A file of runs, open for writing or for reading.
///
/// A run is worked on by one process at a time, from [`begin`](Store::begin) or [`resume`](Store::resume) until it ends, is
/// interrupted or the store is dropped.
///
/// Appended rows are committed about once a second, by [`flush`](Store::flush), by every other method that writes,
/// and on drop. A process that is killed loses the rows appended since the last commit; a resumed run computes them
/// again.
///
/// ```
/// use rl4rla::record::Build;
/// use rl4rla::store::{StoredReward, NewRun, Status, Store};
///
/// let folder = std::env::temp_dir().join(format!("rl4rla-example-{}", std::process::id()));
/// std::fs::create_dir_all(&folder)?;
/// let path = folder.join("runs.db");
///
/// let mut store = Store::open(&path)?;
/// let new = NewRun {
///     curriculum: "small", method: "random", seed: 7, spec: "name = \"small\"", settings: "{}",
///     build: &Build::current(),
/// };
/// let run = store.begin(&new)?;
/// store.append(&run, &[StoredReward { stage: 0, key: [1; 16], set: 0, index: 3, value: 0.5 }])?;
/// store.interrupted(&run)?;
/// drop(store);
///
/// let store = Store::open_read_only(&path)?;
/// let run = store.find(&run.as_str()[..4])?;
/// assert_eq!(store.evaluations(&run)?[0].value, 0.5);
/// assert_eq!(store.runs()?[0].status, Status::Interrupted);
/// # drop(store);
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Store {
    path: PathBuf,
    buffer: Buffer,
    // Declared before the locks, so that the file is closed while they are still held.
    connection: Connection,
    /// The locks of the runs that this writer works on, by their keys.
    working: BTreeMap<i64, RunLock>,
    /// `None` for a reader.
    lock: Option<Lock>,
    /// Whether the file has an earlier format, whose only writer holds the lock alone.
    earlier: bool,
    /// Modification time of the file if it has no writer and is therefore read without locks.
    settled: Option<SystemTime>,
}

impl Store {
    /// Opens a store for writing, creating the file if there is none. Runs in the state running that no process works on
    /// become [`Status::Interrupted`].
    pub fn open(path: &Path) -> Result<Store, StoreError> {
        schema::check_library()?;
        let path = real(path)?;
        if path.exists() {
            opening::check_file(&path)?;
        }
        let lock = Some(entering::enter(&path)?);
        let connection = opening::open_for_writing(&path)?;
        let (buffer, working) = (Buffer::new(), BTreeMap::new());
        let mut store = Store { path, buffer, connection, working, lock, earlier: false, settled: None };
        store.interrupt_the_dead()?;
        run_lock::clear(&store.path);
        Ok(store)
    }

    /// Opens a store for reading, even while another process writes to it. Leaves no files behind.
    pub fn open_read_only(path: &Path) -> Result<Store, StoreError> {
        schema::check_library()?;
        let path = real(path)?;
        opening::check_file(&path)?;
        let (connection, format, settled) = opening::open_for_reading(&path)?;
        let (buffer, working, earlier) = (Buffer::new(), BTreeMap::new(), format < schema::FORMAT);
        Ok(Store { path, buffer, connection, working, lock: None, earlier, settled })
    }

    /// Path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Commits all appended rows.
    pub fn flush(&mut self) -> Result<(), StoreError> {
        if self.buffer.is_empty() { Ok(()) } else { self.commit(|_| Ok(())) }
    }

    /// Verifies the whole file: its structure and the checksum of every row.
    pub fn integrity(&self) -> Result<(), StoreError> {
        self.read(|connection| {
            let check = "PRAGMA integrity_check(1)";
            let found: String = connection.query_row(check, [], |row| row.get(0))?;
            if found != "ok" {
                return Err(seal::damaged(found));
            }
            match connection.prepare("PRAGMA foreign_key_check")?.exists([])? {
                true => Err(seal::damaged("there are rows of runs that do not exist".into())),
                false => Ok(()),
            }
        })?;
        for row in self.all_runs()? {
            self.run(&row.id)?.result?;
            self.stages(&row.id)?;
            self.leaders(&row.id)?;
            self.check_summary(&row)?;
            self.read(|connection| {
                let (run, id) = (row.id.row(), row.id.as_str());
                let seal = seal::Seal::of_evaluations(connection, run)?;
                seal.check(connection, run, id, seal::SealedPart::Evaluations)
            })?;
        }
        Ok(())
    }

    /// Runs several writes as one transaction: concurrent readers, and readers after a crash, see all of them or none.
    pub fn together<T, E: From<StoreError>>(
        &mut self,
        work: impl FnOnce(&mut Store) -> Result<T, E>,
    ) -> Result<T, E> {
        self.flush()?;
        self.writable()?;
        self.execute("BEGIN IMMEDIATE")?;
        let done = work(self).and_then(|done| {
            self.flush()?;
            self.execute("COMMIT")?;
            Ok(done)
        });
        if done.is_err() {
            // The first error is reported; some errors have rolled back already.
            let _ = self.execute("ROLLBACK");
            self.buffer.clear();
        }
        self.release_ended();
        done
    }

    fn execute(&self, sql: &str) -> Result<(), StoreError> {
        self.connection.execute_batch(sql).map_err(|error| StoreError::sqlite(&self.path, error))
    }

    /// Runs queries on one snapshot of the store.
    fn read<T>(&self, query: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, StoreError> {
        let found = match self.connection.is_autocommit() {
            true => self.connection.unchecked_transaction().and_then(|transaction| query(&transaction)),
            false => query(&self.connection),
        };
        found.map_err(|error| match self.settled {
            // The apparent damage is due to a writer that has started meanwhile.
            Some(time) if opening::written(&self.path) != Some(time) => {
                StoreError::Busy { path: self.path.clone() }
            }
            _ => StoreError::sqlite(&self.path, error),
        })
    }

    /// Writes the buffered rows and `more` in one transaction. After a failure the rows stay in the buffer.
    fn commit<T>(&mut self, more: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, StoreError> {
        self.transact(|connection| Ok(more(connection)?))
    }

    /// The same for what may fail in other ways.
    fn transact<T>(&mut self, more: impl FnOnce(&Connection) -> Result<T, Fault>) -> Result<T, StoreError> {
        self.writable()?;
        let Store { path, buffer, connection, .. } = self;
        buffer.touch();
        let write = || -> Result<T, Fault> {
            if !connection.is_autocommit() {
                buffer.write(connection)?;
                return more(connection);
            }
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            buffer.write(&transaction)?;
            let done = more(&transaction)?;
            transaction.commit()?;
            Ok(done)
        };
        let done = write().map_err(|fault| match fault {
            Fault::Sqlite(error) => StoreError::sqlite(path, error),
            Fault::Store(error) => error,
        })?;
        buffer.clear();
        Ok(done)
    }

    fn writable(&self) -> Result<(), StoreError> {
        match self.lock {
            Some(_) => Ok(()),
            None => Err(StoreError::ReadOnly { path: self.path.clone() }),
        }
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        // An error cannot be reported here, and lost rows are computed again.
        let _ = self.flush();
        // The last writer leaves everything in one file. SQLite does that itself, but not while a reader is there.
        if self.lock.as_ref().is_some_and(Lock::becomes_alone) {
            let _ = self.connection.busy_timeout(opening::PATIENCE);
            let _ = self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
        }
    }
}

/// Why a transaction failed.
enum Fault {
    /// By a statement.
    Sqlite(rusqlite::Error),
    /// By something else.
    Store(StoreError),
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Fault {
        Fault::Sqlite(error)
    }
}

/// Resolves symbolic links, so that two writers meet at one lock. The file need not exist yet.
fn real(path: &Path) -> Result<PathBuf, StoreError> {
    let failed = |error| StoreError::io(path, error);
    if let (Ok(to), false) = (fs::read_link(path), path.exists()) {
        let why = format!(
            "it is a link to `{}`, which does not exist; remove it, or choose another path",
            to.display()
        );
        return Err(StoreError::Other { path: path.to_path_buf(), why });
    }
    match fs::canonicalize(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let name = path.file_name().ok_or(error).map_err(failed)?;
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
            Ok(fs::canonicalize(folder.unwrap_or(Path::new("."))).map_err(failed)?.join(name))
        }
        found => found.map_err(failed),
    }
}

#[cfg(test)]
mod tests;

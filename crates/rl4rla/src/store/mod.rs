//! The store: discovery runs on disk, in one SQLite file, so that a run may stop at any time and go on.
//!
//! Evaluations are pure functions of a program and an instance, so the log of their values is a cache:
//! resuming is running again with that cache, and ends with the same bits. Nothing else of a search is saved.

mod clock;
mod error;
mod evaluation;
mod lock;
mod record;
mod run;
mod schema;
mod stage;
mod stamp;
mod status;
#[cfg(test)]
mod testing;

pub use clock::utc;
pub use error::StoreError;
pub use evaluation::{Evaluation, Sample};
pub use lock::Holder;
pub use record::{Recorder, Sampler, known};
pub use run::{NewRun, Run, RunId, RunRow};
pub use stage::StageRow;
pub use status::Status;

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, Transaction, TransactionBehavior};

use evaluation::Buffer;
use lock::Lock;

/// A file of runs, open for one writer or any number of readers.
///
/// What is appended is committed about once a second, by [`flush`](Store::flush), by every other method that
/// writes, and on drop. A process that is killed loses what it appended since, which a resumed run computes
/// again.
///
/// ```
/// use rl4rla::store::{Evaluation, NewRun, Status, Store};
///
/// let folder = std::env::temp_dir().join(format!("rl4rla-example-{}", std::process::id()));
/// std::fs::create_dir_all(&folder)?;
/// let path = folder.join("runs.db");
///
/// let mut store = Store::open(&path)?;
/// let new = NewRun {
///     curriculum: "small", method: "random", seed: 7, spec: "name = \"small\"", settings: "{}", version: "0.1.0",
/// };
/// let run = store.begin(&new)?;
/// store.append(&run, &[Evaluation { stage: 0, key: [1; 16], set: 0, index: 3, value: 0.5 }])?;
/// store.finish(&run, Status::Done { found: true }, "{}")?;
/// drop(store);
///
/// let store = Store::open_read_only(&path)?;
/// let run = store.find(&run.as_str()[..4])?;
/// assert_eq!(store.evaluations(&run)?[0].value, 0.5);
/// assert_eq!(store.runs()?[0].status, Status::Done { found: true });
/// # drop(store);
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Store {
    path: PathBuf,
    buffer: Buffer,
    // Before the lock, so that the file is closed while it is still ours.
    connection: Connection,
    /// None for a reader.
    lock: Option<Lock>,
}

impl Store {
    /// Opens a store for writing, creating the file if there is none. There is one writer at a time; runs that
    /// an earlier writer left running were cut short and become [`Status::Interrupted`].
    pub fn open(path: &Path) -> Result<Store, StoreError> {
        schema::check_library()?;
        match File::create_new(path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                return Err(StoreError::io(path, error));
            }
            _ => {}
        }
        let path = real(path)?;
        schema::check_file(&path)?;
        let lock = Lock::take(&path)?;
        let connection = schema::open_for_writing(&path)?;
        let mut store = Store { path, buffer: Buffer::new(), connection, lock: Some(lock) };
        store.interrupt_all()?;
        Ok(store)
    }

    /// Opens a store for reading, also while another process writes to it.
    pub fn open_read_only(path: &Path) -> Result<Store, StoreError> {
        schema::check_library()?;
        let path = real(path)?;
        schema::check_file(&path)?;
        match schema::open_for_reading(&path)? {
            (connection, schema::FORMAT) => Ok(Store { path, buffer: Buffer::new(), connection, lock: None }),
            (_, found) => Err(StoreError::Older { path, found, known: schema::FORMAT }),
        }
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Commits what has been appended.
    pub fn flush(&mut self) -> Result<(), StoreError> {
        if self.buffer.is_empty() { Ok(()) } else { self.commit(|_| Ok(())) }
    }

    /// Reads the whole file and says whether it is sound.
    pub fn integrity(&self) -> Result<(), StoreError> {
        let check = "PRAGMA integrity_check(1)";
        let found: String = self.read(|connection| connection.query_row(check, [], |row| row.get(0)))?;
        if found == "ok" { Ok(()) } else { Err(StoreError::Corrupt { path: self.path.clone(), why: found }) }
    }

    /// Runs a query.
    fn read<T>(&self, query: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, StoreError> {
        query(&self.connection).map_err(|error| StoreError::sqlite(&self.path, error))
    }

    /// Writes what is buffered and something more, all or nothing. What failed stays in the buffer.
    fn commit<T>(&mut self, more: impl FnOnce(&Transaction) -> rusqlite::Result<T>) -> Result<T, StoreError> {
        self.writable()?;
        let Store { path, buffer, connection, .. } = self;
        buffer.touch();
        let write = || {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            buffer.write(&transaction)?;
            let done = more(&transaction)?;
            transaction.commit()?;
            Ok(done)
        };
        let done = write().map_err(|error| StoreError::sqlite(path, error))?;
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
        // Nobody is left to hear of an error, and what is lost is computed again.
        let _ = self.flush();
    }
}

/// One name for a file, whatever links lead to it: two writers must meet at one lock.
fn real(path: &Path) -> Result<PathBuf, StoreError> {
    fs::canonicalize(path).map_err(|error| StoreError::io(path, error))
}

#[cfg(test)]
mod tests {
    use super::testing::{Folder, evaluation, new_run};
    use super::*;
    use std::process::Command;

    #[test]
    fn there_is_one_writer_and_readers_look_on() {
        let folder = Folder::new();
        let path = folder.file("runs.db");
        let mut store = Store::open(&path).unwrap();
        let Err(StoreError::Held { holder: Some(holder), .. }) = Store::open(&path) else { panic!() };
        assert_eq!(holder.pid, std::process::id());
        let mut reader = Store::open_read_only(&path).unwrap();
        let run = store.begin(&new_run()).unwrap();
        store.append(&run, &[evaluation(0)]).unwrap();
        store.flush().unwrap();
        assert_eq!(reader.evaluations(&run).unwrap(), [evaluation(0)]);
        let refused = Err(StoreError::ReadOnly { path: path.clone() });
        assert_eq!(reader.append(&run, &[evaluation(1)]), refused);
        assert_eq!(reader.begin(&new_run()).map(drop), refused);
        drop(store);
        Store::open(&path).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn a_link_to_a_store_meets_the_same_lock() {
        let folder = Folder::new();
        let (path, link) = (folder.file("runs.db"), folder.file("link.db"));
        std::os::unix::fs::symlink(&path, &link).unwrap();
        let store = Store::open(&path).unwrap();
        assert!(matches!(Store::open(&link), Err(StoreError::Held { .. })));
        drop(store);
        assert_eq!(Store::open(&link).unwrap().path(), path);
    }

    const CHILD: &str = "RL4RLA_TEST_STORE";

    /// The process that dies in the next test.
    #[test]
    fn child() {
        let Some(path) = std::env::var_os(CHILD) else { return };
        let mut store = Store::open(Path::new(&path)).unwrap();
        let run = store.begin(&new_run()).unwrap();
        store.append(&run, &[evaluation(0), evaluation(1)]).unwrap();
        store.flush().unwrap();
        store.buffer.interval = std::time::Duration::MAX;
        store.append(&run, &[evaluation(2)]).unwrap();
        std::process::abort();
    }

    #[test]
    fn a_dead_process_leaves_what_it_committed_and_no_lock() {
        let folder = Folder::new();
        let path = folder.file("runs.db");
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "store::tests::child"]).env(CHILD, &path);
        let output = command.output().unwrap();
        assert!(!output.status.success() && path.exists(), "{output:?}");
        let reader = Store::open_read_only(&path).unwrap();
        assert_eq!(reader.runs().unwrap()[0].status, Status::Interrupted);
        let mut store = Store::open(&path).unwrap();
        store.integrity().unwrap();
        let run = store.runs().unwrap().remove(0);
        assert_eq!((run.status, run.evaluations), (Status::Interrupted, 2));
        assert_eq!(store.evaluations(&run.id).unwrap(), [evaluation(0), evaluation(1)]);
        // Going on: what is known is ignored, what was lost is added.
        store.append(&run.id, &[evaluation(0), evaluation(1), evaluation(2)]).unwrap();
        store.finish(&run.id, Status::Done { found: false }, "{}").unwrap();
        assert_eq!(reader.runs().unwrap()[0].evaluations, 3);
    }
}

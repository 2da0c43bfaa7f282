//! The store: all runs in one SQLite file, so that a run can be interrupted at any time and resumed.
//!
//! Evaluations are pure functions of a program and an instance, so the log of their values is a cache: resuming means
//! running again with that cache, and gives the same bits. No other search state is saved.

mod clock;
mod creation;
mod digest;
mod error;
mod evaluation;
mod leader;
mod live;
mod lock;
mod mark;
mod opening;
mod record;
mod result;
mod results;
mod run;
mod schema;
mod seal;
mod stage;
mod stamp;
mod status;
mod summary;
#[cfg(test)]
mod testing;
mod watch;

pub use clock::utc;
pub use error::StoreError;
pub use evaluation::{Sample, StoredReward};
pub use leader::Leader;
pub use live::{Live, LiveBest, LiveEntry};
pub use lock::Holder;
pub use mark::Marks;
pub use record::{Recorder, Sampler, known};
pub use results::ResultRecorder;
pub use run::{NewRun, Run, RunId, RunRow};
pub use status::Status;
pub use watch::{Changes, Watcher};

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rusqlite::{Connection, TransactionBehavior};

use evaluation::Buffer;
use lock::Lock;

/// A file of runs, open for one writer or any number of readers.
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
    // Declared before the lock, so that the file is closed while the lock is still held.
    connection: Connection,
    /// `None` for a reader.
    lock: Option<Lock>,
    /// Modification time of the file if it has no writer and is therefore read without locks.
    settled: Option<SystemTime>,
}

impl Store {
    /// Opens a store for writing, creating the file if there is none. There is one writer at a time; runs that an
    /// earlier writer left in the state running become [`Status::Interrupted`].
    pub fn open(path: &Path) -> Result<Store, StoreError> {
        schema::check_library()?;
        let path = real(path)?;
        if path.exists() {
            opening::check_file(&path)?;
        }
        let lock = Lock::take(&path)?;
        if !path.exists() {
            creation::create(&path)?;
        }
        let connection = opening::open_for_writing(&path)?;
        let mut store = Store { path, buffer: Buffer::new(), connection, lock: Some(lock), settled: None };
        store.interrupt_all()?;
        Ok(store)
    }

    /// Opens a store for reading, even while another process writes to it. Leaves no files behind.
    pub fn open_read_only(path: &Path) -> Result<Store, StoreError> {
        schema::check_library()?;
        let path = real(path)?;
        opening::check_file(&path)?;
        let (connection, settled) = opening::open_for_reading(&path)?;
        Ok(Store { path, buffer: Buffer::new(), connection, lock: None, settled })
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
        self.writable()?;
        let Store { path, buffer, connection, .. } = self;
        buffer.touch();
        let write = || {
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
        // An error cannot be reported here, and lost rows are computed again.
        let _ = self.flush();
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
mod tests {
    use super::testing::{Folder, evaluation, new_run, record, stage};
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
        std::fs::remove_file(&path).unwrap();
        let told = Store::open(&link).unwrap_err().to_string();
        assert!(told.contains("link to") && told.contains("runs.db`, which does not exist"), "{told}");
    }

    #[test]
    fn what_is_done_together_is_there_as_a_whole_or_not_at_all() {
        let folder = Folder::new();
        let path = folder.file("runs.db");
        let mut store = Store::open(&path).unwrap();
        let reader = Store::open_read_only(&path).unwrap();
        let mut attempt = |fails: bool| {
            store.together(|store| {
                let run = store.begin(&new_run())?;
                store.append(&run, &[evaluation(0)])?;
                store.finish_stage(&run, 0, &stage("a"))?;
                store.finish(&run, &record())?;
                assert_eq!(store.runs()?.len(), 1);
                assert_eq!(reader.runs()?.len(), 0, "nobody else sees it yet");
                if fails { Err(StoreError::Busy { path: path.clone() }) } else { Ok(run) }
            })
        };
        attempt(true).unwrap_err();
        let run = attempt(false).unwrap();
        store.integrity().unwrap();
        assert_eq!((reader.runs().unwrap().len(), reader.evaluations(&run).unwrap().len()), (1, 1));
    }

    const CHILD: &str = "RL4RLA_TEST_STORE";

    /// The process that is killed in the next test.
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
        // Resuming: known rows are ignored, lost ones are added.
        store.append(&run.id, &[evaluation(0), evaluation(1), evaluation(2)]).unwrap();
        store.finish(&run.id, &record()).unwrap();
        assert_eq!(reader.runs().unwrap()[0].evaluations, 3);
    }
}

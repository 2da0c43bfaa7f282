//! Opening a file without damage if it is not a store, and without leaving files behind.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rusqlite::{Connection, OpenFlags};

use super::error::StoreError;
use super::lock::{self, Lock};
use super::schema::{FORMAT, update_in_passing};
use super::stamp::{Stamp, foreign};

/// Maximum time to wait for another program's lock on the file.
pub(super) const PATIENCE: Duration = Duration::from_millis(500);

/// Maximum time a writer waits for the commits of others. It has work to lose.
const PATIENCE_OF_WRITERS: Duration = Duration::from_secs(30);

/// Rejects files that cannot be a store, without using SQLite, which would leave its own files next to a foreign one.
/// If there is a lock file, the store is ours and may be open; then the check is left to SQLite.
pub(super) fn check_file(path: &Path) -> Result<(), StoreError> {
    let found = fs::metadata(path).map_err(|error| StoreError::io(path, error))?;
    if !found.is_file() {
        return Err(foreign(path, "it is not a regular file"));
    }
    #[cfg(unix)]
    if let names @ 2.. = std::os::unix::fs::MetadataExt::nlink(&found) {
        return Err(StoreError::Linked { path: path.to_path_buf(), names });
    }
    if !lock::sidecar(path).exists() {
        Stamp::of_file(path)?.format(path, FORMAT)?;
    }
    Ok(())
}

/// Path of a file next to the store, by suffix.
pub(super) fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_os_string();
    name.push(ending);
    name.into()
}

/// Modification time of a file.
pub(super) fn written(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).and_then(|found| found.modified()).ok()
}

/// Whether there are commits that are only in the log.
pub(super) fn logged(path: &Path) -> bool {
    fs::metadata(beside(path, "-wal")).is_ok_and(|log| log.len() > 0)
}

/// Modification time of a store that has no writer and no log. Such a file is opened as immutable: otherwise SQLite
/// would create two files next to it, which is impossible in a read-only folder, and which lock out the store's owner
/// if they belong to another user.
fn settled(path: &Path) -> Option<SystemTime> {
    let calm = !logged(path) && !interrupted(path) && !lock::held(&lock::sidecar(path));
    written(path).filter(|_| calm && cfg!(unix))
}

/// Opens a store for reading; also returns its format and, if it has no writer, its modification time. StoreChanges nothing in
/// the file.
pub(super) fn open_for_reading(path: &Path) -> Result<Found, StoreError> {
    let (connection, format, time) = match look(path) {
        Err(StoreError::Permission { why, .. }) if interrupted(path) => {
            repair(path).map_err(|error| match error {
                StoreError::Permission { .. } => StoreError::Unsettled { path: path.to_path_buf(), why },
                other => other,
            })?;
            look(path)?
        }
        Err(StoreError::Permission { why, .. }) if beside(path, "-wal").exists() => {
            return Err(StoreError::Unsettled { path: path.to_path_buf(), why });
        }
        found => found?,
    };
    if format == 0 {
        return Err(StoreError::Empty { path: path.to_path_buf() });
    }
    update_in_passing(&connection, format).map_err(|error| StoreError::sqlite(path, error))?;
    Ok((connection, format, time))
}

/// A store as found, its format, and its modification time if it has no writer.
type Found = (Connection, i64, Option<SystemTime>);

/// Opens a file without changing anything.
pub(super) fn look(path: &Path) -> Result<Found, StoreError> {
    let time = settled(path);
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let open = || {
        let connection = match time {
            Some(_) => Connection::open_with_flags(immutable(path), flags | OpenFlags::SQLITE_OPEN_URI),
            None => Connection::open_with_flags(path, flags),
        }?;
        connection.busy_timeout(PATIENCE)?;
        connection.execute_batch("PRAGMA trusted_schema = OFF; PRAGMA temp_store = MEMORY")?;
        let stamp = Stamp::of(&connection)?;
        Ok((connection, stamp))
    };
    let (connection, stamp) = open().map_err(|error| StoreError::sqlite(path, error))?;
    Ok((connection, stamp.format(path, FORMAT)?, time))
}

/// The URI of an immutable file.
fn immutable(path: &Path) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-_.".contains(&byte);
    let letter = |&byte: &u8| match plain(byte) {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02X}"),
    };
    let path: String = path.as_os_str().as_encoded_bytes().iter().map(letter).collect();
    format!("file://{path}?immutable=1")
}

/// Rolls back an interrupted transaction, as the next writer would.
fn repair(path: &Path) -> Result<(), StoreError> {
    let _lock = Lock::alone(path)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let undo = || Stamp::of(&Connection::open_with_flags(path, flags)?);
    undo().map(drop).map_err(|error| StoreError::sqlite(path, error))
}

/// Opens a store for writing. The caller holds its lock.
pub(super) fn open_for_writing(path: &Path) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let open = || {
        let connection = Connection::open_with_flags(path, flags)?;
        connection.busy_timeout(PATIENCE_OF_WRITERS)?;
        connection.execute_batch(
            "PRAGMA trusted_schema = OFF; PRAGMA foreign_keys = ON; PRAGMA synchronous = FULL",
        )?;
        Ok(connection)
    };
    open().map_err(|error| StoreError::sqlite(path, error))
}

/// Whether a transaction in journal mode was interrupted.
pub(super) fn interrupted(path: &Path) -> bool {
    fs::metadata(beside(path, "-journal")).is_ok_and(|journal| journal.len() > 0)
}

#[cfg(test)]
mod tests {
    use super::super::Store;
    use super::super::result::json;
    use super::super::schema::MIGRATIONS;
    use super::super::stamp::APPLICATION;
    use super::super::testing::{Folder, evaluation, new_run, record, stage};
    use super::*;
    use crate::record::Build;

    /// The names and bytes of all files of a folder.
    fn contents(folder: &Folder) -> Vec<(String, Vec<u8>)> {
        let files = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
        let mut all: Vec<_> =
            files.map(|path| (path.display().to_string(), fs::read(&path).unwrap_or_default())).collect();
        all.sort();
        all
    }

    fn both(path: &Path) -> [StoreError; 2] {
        [Store::open_read_only(path).unwrap_err(), Store::open(path).unwrap_err()]
    }

    fn sql(path: &Path, batch: &str) {
        Connection::open(path).unwrap().execute_batch(batch).unwrap();
    }

    #[test]
    fn a_new_store_is_stamped_durable_and_checks_its_keys() {
        let folder = Folder::new();
        let path = folder.file("runs.db");
        let store = Store::open(&path).unwrap();
        let value = |name: &str| -> String {
            let sql = format!("SELECT CAST({name} AS TEXT) FROM pragma_{name}");
            store.connection.query_row(&sql, [], |row| row.get(0)).unwrap()
        };
        assert_eq!((value("journal_mode").as_str(), value("synchronous").as_str()), ("wal", "2"));
        assert_eq!((value("foreign_keys"), value("user_version")), ("1".into(), FORMAT.to_string()));
        assert_eq!(value("application_id"), APPLICATION.to_string());
        drop(store);
        // The header bytes and SQLite agree on what the file is.
        let stamp = Stamp::of_file(&path).unwrap();
        assert_eq!(stamp, Stamp::of(&Connection::open(&path).unwrap()).unwrap());
        assert_eq!(stamp, Stamp { application: APPLICATION, format: FORMAT, empty: false });
    }

    #[test]
    fn an_empty_database_becomes_a_store_when_written() {
        let folder = Folder::new();
        for (name, batch) in
            [("nothing", ""), ("empty", "VACUUM"), ("wal", "PRAGMA journal_mode = WAL; VACUUM")]
        {
            let path = folder.file(name);
            sql(&path, batch);
            let empty = StoreError::Empty { path: path.clone() };
            assert_eq!(Store::open_read_only(&path).unwrap_err(), empty);
            Store::open(&path).unwrap().begin(&new_run()).unwrap();
            assert_eq!(Store::open_read_only(&path).unwrap().runs().unwrap().len(), 1);
        }
    }

    #[test]
    fn a_newer_store_is_refused_and_left_alone() {
        let folder = Folder::new();
        let path = folder.file("runs.db");
        drop(Store::open(&path).unwrap());
        sql(&path, "PRAGMA user_version = 999");
        let newer = StoreError::Newer { path: path.clone(), found: 999, known: FORMAT };
        for lock in [true, false] {
            if !lock {
                fs::remove_file(lock::sidecar(&path)).unwrap();
            }
            let before = fs::read(&path).unwrap();
            assert_eq!(both(&path), [newer.clone(), newer.clone()]);
            assert_eq!(fs::read(&path).unwrap(), before);
        }
    }

    #[test]
    fn a_newer_stamp_that_is_only_in_the_log_is_seen() {
        let folder = Folder::new();
        let path = folder.file("runs.db");
        drop(Store::open(&path).unwrap());
        let other = Connection::open(&path).unwrap();
        other.execute_batch("PRAGMA wal_autocheckpoint = 0; PRAGMA user_version = 999").unwrap();
        let before = fs::read(&path).unwrap();
        assert_eq!(Stamp::of_bytes(&before).unwrap().format, FORMAT, "the file does not say so yet");
        let newer = StoreError::Newer { path: path.clone(), found: 999, known: FORMAT };
        assert_eq!(both(&path), [newer.clone(), newer]);
        assert_eq!(fs::read(&path).unwrap(), before);
    }

    #[test]
    fn foreign_files_are_refused_and_left_alone() {
        let folder = Folder::new();
        let database = |name: &str, batch: &str| sql(&folder.file(name), batch);
        database("plain", "CREATE TABLE a (b); INSERT INTO a VALUES (1)");
        database("wal", "PRAGMA journal_mode = WAL; CREATE TABLE a (b)");
        database("stamped", "PRAGMA application_id = 7; CREATE TABLE a (b)");
        database("numbered", "PRAGMA user_version = 3; VACUUM");
        database("negative", &format!("PRAGMA application_id = {APPLICATION}; PRAGMA user_version = -1"));
        fs::write(folder.file("text"), "name = \"small\"\n".repeat(100)).unwrap();
        fs::write(folder.file("byte"), [0]).unwrap();
        fs::write(folder.file("magic"), b"SQLite format 3\0").unwrap();
        let noise = |i: u32| i.wrapping_mul(2_654_435_761).to_be_bytes()[0];
        fs::write(folder.file("noise"), (0..10_000).map(noise).collect::<Vec<u8>>()).unwrap();
        fs::create_dir(folder.file("folder")).unwrap();
        let before = contents(&folder);
        for (name, _) in &before {
            for error in both(Path::new(name)) {
                assert!(matches!(error, StoreError::NotAStore { .. }), "{name}: {error:?}");
            }
        }
        assert_eq!(contents(&folder), before, "and nothing was left beside them");
    }

    #[test]
    fn what_is_not_there_is_said_to_be_missing() {
        let folder = Folder::new();
        let path = folder.file("none.db");
        assert_eq!(Store::open_read_only(&path).unwrap_err(), StoreError::NotThere { path: path.clone() });
        assert!(!path.exists());
        let deep = folder.file("no/such/folder.db");
        assert_eq!(both(&deep), [(); 2].map(|()| StoreError::NotThere { path: deep.clone() }));
    }

    #[test]
    fn damaged_stores_are_errors_and_never_panics() {
        let folder = Folder::new();
        let path = folder.file("whole");
        let mut store = Store::open(&path).unwrap();
        let run = store.begin(&new_run()).unwrap();
        store.append(&run, &(0..2_000).map(evaluation).collect::<Vec<_>>()).unwrap();
        drop(store);
        let whole = fs::read(&path).unwrap();
        let use_all = |path: &Path| -> Result<(), StoreError> {
            let mut store = Store::open(path)?;
            store.integrity()?;
            store.runs()?;
            let run = store.find(run.as_str())?;
            store.run(&run)?;
            store.evaluations(&run)?;
            store.begin(&new_run()).map(drop)
        };
        for size in [1, 50, 104, 105, 512, 4_095, 4_096, 5_000, whole.len() / 2, whole.len() - 4_096] {
            let path = folder.file(&format!("cut-{size}"));
            fs::write(&path, &whole[..size]).unwrap();
            use_all(&path).unwrap_err();
        }
        let mut damaged = 0;
        for at in (0..whole.len()).step_by(whole.len() / 150) {
            let path = folder.file(&format!("hit-{at}"));
            let mut bytes = whole.clone();
            bytes.iter_mut().skip(at).take(40).for_each(|byte| *byte ^= 0x5a);
            fs::write(&path, bytes).unwrap();
            damaged += usize::from(use_all(&path).is_err());
        }
        assert!(damaged > 0, "none of it was seen");
        let path = folder.file("bare");
        sql(&path, &format!("PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {FORMAT}"));
        assert!(matches!(Store::open(&path), Err(StoreError::Corrupt { .. })));
        let reader = Store::open_read_only(&path);
        assert!(matches!(reader.and_then(|reader| reader.runs()), Err(StoreError::Corrupt { .. })));
    }

    #[test]
    fn a_creation_that_was_cut_short_is_done_again() {
        let folder = Folder::new();
        let (path, copy) = (folder.file("first"), folder.file("second"));
        let mut connection = Connection::open(&path).unwrap();
        connection.execute_batch("PRAGMA cache_size = 1; PRAGMA cache_spill = 1; VACUUM").unwrap();
        let transaction = connection.transaction().unwrap();
        transaction.execute_batch(MIGRATIONS[0].sql).unwrap();
        transaction
            .execute_batch("CREATE TABLE filler (x); INSERT INTO filler VALUES (zeroblob(100000))")
            .unwrap();
        // The state after a killed process: some of the pages, and the journal that rolls them back.
        fs::copy(&path, &copy).unwrap();
        fs::copy(folder.file("first-journal"), folder.file("second-journal")).unwrap();
        assert!(interrupted(&copy));
        assert_eq!(Store::open_read_only(&copy).unwrap_err(), StoreError::Empty { path: copy.clone() });
        assert!(!interrupted(&copy), "a reader who may write undoes it");
        let store = Store::open(&copy).unwrap();
        store.integrity().unwrap();
        assert_eq!(store.runs().unwrap(), []);
    }

    #[test]
    fn a_store_without_seals_is_read_and_then_brought_up_to_date() {
        let folder = Folder::new();
        let path = folder.file("old.db");
        let stamp = format!("PRAGMA application_id = {APPLICATION}; PRAGMA user_version = 1");
        let rows = format!(
            "
            INSERT INTO run VALUES (1, 'abcd1234', 'small', 'best', 7, 's', '{{}}', '0.1.0', 5, 'done', 1, '{}', 1.5);
            INSERT INTO stage VALUES (1, 0, '{}', 1.0);
            INSERT INTO evaluation VALUES (1, 0, zeroblob(16), 0, 3, 4602678819172646912);
            INSERT INTO sample VALUES (1, 0, 10, 1, 2, 3, 4, 0)",
            json(&record()),
            json(&stage("a"))
        );
        sql(&path, &format!("{}; {rows}; {stamp}; PRAGMA journal_mode = WAL", MIGRATIONS[0].sql));
        let before = contents(&folder);
        let told = |store: &Store| {
            store.integrity().unwrap();
            let row = store.runs().unwrap().remove(0);
            let (stages, evaluations) = (store.stages(&row.id).unwrap(), store.evaluations(&row.id).unwrap());
            assert_eq!((row.playouts, row.evaluations, row.stages, row.seconds), (10, 1, 1, 1.5));
            assert_eq!((&stages[0], evaluations[0].value), (&stage("a"), 0.5));
            assert_eq!(store.run(&row.id).unwrap().build, Build { version: "0.1.0".into(), digest: None });
        };
        told(&Store::open_read_only(&path).unwrap());
        assert_eq!(contents(&folder), before, "a reader changes nothing and leaves nothing");
        told(&Store::open(&path).unwrap());
        assert_eq!(Stamp::of_file(&path).unwrap().format, FORMAT);
        told(&Store::open_read_only(&path).unwrap());
        sql(&path, "UPDATE run SET curriculum = 'large'");
        Store::open_read_only(&path).unwrap().integrity().unwrap_err();
    }

    #[test]
    fn readers_leave_nothing_behind() {
        let folder = Folder::new();
        // A name with characters that must be escaped in a URI.
        let path = folder.file("a b%41?é#.db");
        Store::open(&path).unwrap().begin(&new_run()).unwrap();
        let before = contents(&folder);
        let store = Store::open_read_only(&path).unwrap();
        assert_eq!(store.runs().unwrap().len(), 1);
        assert_eq!(contents(&folder), before, "not even while they read");
        // During a concurrent write a reader gets the old state or an error.
        Store::open(&path).unwrap().begin(&new_run()).unwrap();
        match store.runs() {
            Ok(runs) => assert!(runs.len() <= 2),
            Err(error) => assert_eq!(error, StoreError::Busy { path: path.clone() }),
        }
        assert_eq!(Store::open_read_only(&path).unwrap().runs().unwrap().len(), 2);
    }

    #[cfg(unix)]
    #[test]
    fn a_second_name_for_a_store_is_refused() {
        let folder = Folder::new();
        let (path, other) = (folder.file("runs.db"), folder.file("other.db"));
        drop(Store::open(&path).unwrap());
        fs::hard_link(&path, &other).unwrap();
        for path in [&path, &other] {
            let linked = StoreError::Linked { path: path.clone(), names: 2 };
            assert_eq!(both(path), [linked.clone(), linked]);
        }
        fs::remove_file(&other).unwrap();
        drop(Store::open(&path).unwrap());
    }
}

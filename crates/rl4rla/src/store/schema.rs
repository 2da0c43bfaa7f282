//! The tables, and how a file is opened without harm to what it may be instead.

use std::fs;
use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, TransactionBehavior};

use super::error::StoreError;
use super::lock;
use super::stamp::{APPLICATION, Stamp, foreign};

/// The first SQLite without the WAL-reset bug, which damages a file when a checkpoint meets a commit.
const OLDEST_LIBRARY: i32 = 3_051_003;

/// How long to wait for another program that reads or writes the file.
const PATIENCE: Duration = Duration::from_millis(500);

/// Entry i brings a store from format i to format i + 1. An entry never changes once released.
///
/// Values are the bits of an f64 in an INTEGER, since SQLite turns NaN into NULL.
const MIGRATIONS: &[&str] = &["
    CREATE TABLE run (
        row        INTEGER PRIMARY KEY,
        id         TEXT NOT NULL UNIQUE,
        curriculum TEXT NOT NULL,
        method     TEXT NOT NULL,
        seed       INTEGER NOT NULL,
        spec       TEXT NOT NULL,
        settings   TEXT NOT NULL,
        version    TEXT NOT NULL,
        created    INTEGER NOT NULL,
        status     TEXT NOT NULL DEFAULT 'running',
        found      INTEGER,
        result     TEXT,
        seconds    REAL NOT NULL DEFAULT 0
    ) STRICT;
    CREATE TABLE stage (
        run        INTEGER NOT NULL REFERENCES run(row),
        stage      INTEGER NOT NULL,
        result     TEXT NOT NULL,
        seconds    REAL NOT NULL,
        PRIMARY KEY (run, stage)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE evaluation (
        run        INTEGER NOT NULL REFERENCES run(row),
        stage      INTEGER NOT NULL,
        key        BLOB NOT NULL,
        instances  INTEGER NOT NULL,
        instance   INTEGER NOT NULL,
        value      INTEGER NOT NULL,
        PRIMARY KEY (run, stage, key, instances, instance)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE sample (
        run           INTEGER NOT NULL REFERENCES run(row),
        stage         INTEGER NOT NULL,
        playouts      INTEGER NOT NULL,
        unique_states INTEGER NOT NULL,
        visits        INTEGER NOT NULL,
        revisits      INTEGER NOT NULL,
        evaluations   INTEGER NOT NULL,
        best          INTEGER NOT NULL,
        PRIMARY KEY (run, stage, playouts)
    ) STRICT, WITHOUT ROWID;
"];

/// The format this program writes.
pub(super) const FORMAT: i64 = MIGRATIONS.len() as i64;

/// Refuses a SQLite that may damage what it writes.
pub(super) fn check_library() -> Result<(), StoreError> {
    match rusqlite::version_number() {
        number if number < OLDEST_LIBRARY => {
            Err(StoreError::OldLibrary { found: rusqlite::version().into() })
        }
        _ => Ok(()),
    }
}

/// Refuses what cannot be a store, without SQLite, which would leave files of its own beside a foreign one.
/// A lock file says that the store is ours and may be open; SQLite is the judge then.
pub(super) fn check_file(path: &Path) -> Result<(), StoreError> {
    let found = fs::metadata(path).map_err(|error| StoreError::io(path, error))?;
    if !found.is_file() {
        return Err(foreign(path, "it is not a regular file"));
    }
    if !lock::sidecar(path).exists() {
        Stamp::of_file(path)?.format(path, FORMAT)?;
    }
    Ok(())
}

/// Opens a store for reading and returns its format. Changes nothing in the file.
pub(super) fn open_for_reading(path: &Path) -> Result<(Connection, i64), StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let open = || {
        let connection = Connection::open_with_flags(path, flags)?;
        connection.busy_timeout(PATIENCE)?;
        connection.execute_batch("PRAGMA trusted_schema = OFF")?;
        let stamp = Stamp::of(&connection)?;
        Ok((connection, stamp))
    };
    let (connection, stamp) = open().map_err(|error| StoreError::sqlite(path, error))?;
    Ok((connection, stamp.format(path, FORMAT)?))
}

/// Opens a store for writing and brings it up to date. The caller holds its lock.
pub(super) fn open_for_writing(path: &Path) -> Result<Connection, StoreError> {
    // Looking first, since a connection for writing may change a file by merely closing it.
    match open_for_reading(path) {
        Ok(_) => {}
        // A creation was cut short and left its journal, which only a writer can undo.
        Err(StoreError::Permission { .. }) if interrupted(path) => {
            Stamp::of_file(path)?.format(path, FORMAT)?;
        }
        Err(error) => return Err(error),
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let open = || {
        let mut connection = Connection::open_with_flags(path, flags)?;
        connection.busy_timeout(PATIENCE)?;
        connection.execute_batch("PRAGMA trusted_schema = OFF; PRAGMA foreign_keys = ON")?;
        migrate(&mut connection, MIGRATIONS)?;
        // Tables first: so the file itself says what it is before a log exists. Where a file system cannot
        // share memory, SQLite stays with a journal, which is slower and as safe.
        connection.execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL")?;
        Ok(connection)
    };
    open().map_err(|error| StoreError::sqlite(path, error))
}

/// Brings the tables from the format of the file to the last one, all or nothing.
fn migrate(connection: &mut Connection, migrations: &[&str]) -> rusqlite::Result<()> {
    let format = Stamp::of(connection)?.format as usize;
    if format >= migrations.len() {
        return Ok(());
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    for sql in &migrations[format..] {
        transaction.execute_batch(sql)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION)?;
    transaction.pragma_update(None, "user_version", migrations.len() as i64)?;
    transaction.commit()
}

/// Whether a transaction without a write-ahead log was cut short.
fn interrupted(path: &Path) -> bool {
    let mut name = path.as_os_str().to_os_string();
    name.push("-journal");
    fs::metadata(name).is_ok_and(|journal| journal.len() > 0)
}

#[cfg(test)]
mod tests {
    use super::super::Store;
    use super::super::testing::{Folder, evaluation, new_run};
    use super::*;

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
        assert_eq!((value("foreign_keys").as_str(), value("user_version").as_str()), ("1", "1"));
        assert_eq!(value("application_id"), APPLICATION.to_string());
        drop(store);
        // The bytes and SQLite agree on what the file is.
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
            let older = StoreError::Older { path: path.clone(), found: 0, known: FORMAT };
            assert_eq!(Store::open_read_only(&path).unwrap_err(), older);
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
        let reader = Store::open_read_only(&path).unwrap();
        assert!(matches!(reader.runs(), Err(StoreError::Corrupt { .. })));
    }

    #[test]
    fn migrations_run_once_in_order_and_keep_the_rows() {
        let folder = Folder::new();
        let path = folder.file("runs.db");
        Store::open(&path).unwrap().begin(&new_run()).unwrap();
        let next = [MIGRATIONS[0], "ALTER TABLE run ADD COLUMN note TEXT", "UPDATE run SET note = 'b'"];
        let mut connection = Connection::open(&path).unwrap();
        for _ in 0..2 {
            migrate(&mut connection, &next[..2]).unwrap();
            assert_eq!(Stamp::of(&connection).unwrap().format, 2);
        }
        // One that fails half way leaves nothing behind.
        let wrong = [next[0], next[1], next[2], "no sql"];
        migrate(&mut connection, &wrong).unwrap_err();
        assert_eq!(Stamp::of(&connection).unwrap().format, 2);
        let notes = "SELECT count(*) FROM run WHERE note IS NULL";
        assert_eq!(connection.query_row(notes, [], |row| row.get::<_, i64>(0)).unwrap(), 1);
    }

    #[test]
    fn a_creation_that_was_cut_short_is_done_again() {
        let folder = Folder::new();
        let (path, copy) = (folder.file("first"), folder.file("second"));
        let mut connection = Connection::open(&path).unwrap();
        connection.execute_batch("PRAGMA cache_size = 1; PRAGMA cache_spill = 1; VACUUM").unwrap();
        let transaction = connection.transaction().unwrap();
        transaction.execute_batch(MIGRATIONS[0]).unwrap();
        transaction
            .execute_batch("CREATE TABLE filler (x); INSERT INTO filler VALUES (zeroblob(100000))")
            .unwrap();
        // What a killed process leaves: part of the pages, and the journal that undoes them.
        fs::copy(&path, &copy).unwrap();
        fs::copy(folder.file("first-journal"), folder.file("second-journal")).unwrap();
        assert!(interrupted(&copy));
        assert!(
            matches!(open_for_reading(&copy), Err(StoreError::Permission { .. })),
            "a reader cannot undo it"
        );
        let store = Store::open(&copy).unwrap();
        store.integrity().unwrap();
        assert_eq!(store.runs().unwrap(), []);
    }
}

//! The tables and their migrations.

use rusqlite::{Connection, TransactionBehavior};

use super::digest;
use super::error::StoreError;
use super::seal::seal_all;
use super::stamp::{APPLICATION, Stamp};
use super::summary;

/// The first SQLite version without the WAL-reset bug, which damages a file when a checkpoint coincides with a
/// commit.
const OLDEST_LIBRARY: i32 = 3_051_003;

/// New tables, and the function that fills them from existing ones.
pub(super) struct Migration {
    pub(super) sql: &'static str,
    pub(super) fill: fn(&Connection) -> rusqlite::Result<()>,
    /// Indices and triggers on them, which a reader of an earlier format does without.
    pub(super) aids: &'static str,
}

/// Entry i migrates a store from format i to format i + 1. An entry never changes once released, and only adds
/// tables, so that a reader can create them as temporary tables.
///
/// Values are stored as the bits of an f64 in an INTEGER, since SQLite turns NaN into NULL.
pub(super) const MIGRATIONS: &[Migration] = &[
    Migration {
        sql: "
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
",
        fill: |_| Ok(()),
        aids: "",
    },
    Migration {
        sql: "
    CREATE TABLE seal (
        run        INTEGER NOT NULL,
        part       INTEGER NOT NULL,
        count      INTEGER NOT NULL,
        digest     INTEGER NOT NULL,
        sum        INTEGER NOT NULL,
        PRIMARY KEY (run, part)
    ) STRICT, WITHOUT ROWID;
",
        fill: seal_all,
        aids: "",
    },
    Migration {
        sql: "
    CREATE TABLE build (
        run        INTEGER PRIMARY KEY,
        digest     TEXT,
        sum        INTEGER NOT NULL
    ) STRICT;
",
        fill: digest::fill,
        aids: "",
    },
    Migration {
        sql: "
    CREATE TABLE leader (
        run         INTEGER NOT NULL REFERENCES run(row),
        stage       INTEGER NOT NULL,
        evaluations INTEGER NOT NULL,
        playouts    INTEGER NOT NULL,
        reward      INTEGER NOT NULL,
        program     TEXT NOT NULL,
        PRIMARY KEY (run, stage, evaluations, playouts)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE live (
        run         INTEGER PRIMARY KEY REFERENCES run(row),
        state       TEXT NOT NULL
    ) STRICT;
    CREATE TABLE mark (
        run         INTEGER PRIMARY KEY REFERENCES run(row),
        tags        TEXT NOT NULL,
        note        TEXT NOT NULL,
        deleted     INTEGER NOT NULL,
        sum         INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE summary (
        run         INTEGER PRIMARY KEY,
        change      INTEGER NOT NULL,
        playouts    INTEGER NOT NULL
    ) STRICT;
",
        fill: summary::fill,
        aids: summary::AIDS,
    },
];

/// The format that this version writes.
pub(super) const FORMAT: i64 = MIGRATIONS.len() as i64;

/// Rejects an SQLite library that may damage what it writes.
pub(super) fn check_library() -> Result<(), StoreError> {
    match rusqlite::version_number() {
        number if number < OLDEST_LIBRARY => {
            Err(StoreError::OldLibrary { found: rusqlite::version().into() })
        }
        _ => Ok(()),
    }
}

/// Creates the tables of later formats as temporary tables of this reader, in one snapshot of the store.
pub(super) fn update_in_passing(connection: &Connection, format: i64) -> rusqlite::Result<()> {
    if format < FORMAT {
        connection.execute_batch("BEGIN")?;
    }
    for migration in &MIGRATIONS[format as usize..] {
        connection.execute_batch(&migration.sql.replace("CREATE TABLE", "CREATE TEMP TABLE"))?;
        (migration.fill)(connection)?;
    }
    Ok(())
}

/// Migrates a file to the current format in one transaction.
pub(super) fn migrate(connection: &mut Connection, migrations: &[Migration]) -> rusqlite::Result<()> {
    let format = Stamp::of(connection)?.format as usize;
    if format >= migrations.len() {
        return Ok(());
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    for migration in &migrations[format..] {
        transaction.execute_batch(migration.sql)?;
        (migration.fill)(&transaction)?;
        transaction.execute_batch(migration.aids)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION)?;
    transaction.pragma_update(None, "user_version", migrations.len() as i64)?;
    transaction.commit()
}

#[cfg(test)]
mod tests {
    use super::super::Store;
    use super::super::testing::{Folder, new_run};
    use super::*;

    #[test]
    fn migrations_run_once_in_order_and_keep_the_rows() {
        let folder = Folder::new();
        let path = folder.file("runs.db");
        Store::open(&path).unwrap().begin(&new_run()).unwrap();
        let plain = |sql| Migration { sql, fill: |_| Ok(()), aids: "" };
        let next = || {
            let known = MIGRATIONS.iter().map(|migration| Migration { ..*migration });
            let new = ["ALTER TABLE run ADD COLUMN note TEXT", "UPDATE run SET note = 'b'"].map(plain);
            known.chain(new).collect::<Vec<Migration>>()
        };
        let added = MIGRATIONS.len() + 1;
        let mut connection = Connection::open(&path).unwrap();
        for _ in 0..2 {
            migrate(&mut connection, &next()[..added]).unwrap();
            assert_eq!(Stamp::of(&connection).unwrap().format, added as i64);
        }
        // A migration that fails half way leaves nothing behind.
        let wrong: Vec<Migration> = next().into_iter().chain([plain("no sql")]).collect();
        migrate(&mut connection, &wrong).unwrap_err();
        assert_eq!(Stamp::of(&connection).unwrap().format, added as i64);
        let notes = "SELECT count(*) FROM run WHERE note IS NULL";
        assert_eq!(connection.query_row(notes, [], |row| row.get::<_, i64>(0)).unwrap(), 1);
    }
}

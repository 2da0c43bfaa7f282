//! Seals: the row count and the sum of row hashes for every part of a run, so that damage to the content is noticed.
//!
//! SQLite finds damage to its own structure, but not a changed digit, a missing row or an outdated page. A seal is
//! written in the same transaction as its rows and compared whenever they are read. It is updated incrementally and
//! never recomputed, so that damaged rows are never sealed.

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Error, OptionalExtension, Params, Row, params};
use xxhash_rust::xxh3::xxh3_64;

/// The columns of a run covered by its seal, in the order in which they are hashed.
pub(super) const RUN_COLUMNS: &str =
    "row, id, curriculum, method, seed, spec, settings, version, created, status, found, result, seconds";

/// Pseudo run under which the number of all runs is sealed.
const ALL: i64 = 0;

/// A part of a run with its own seal.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum SealedPart {
    /// The row of the run; its count is the number of finished stages.
    Run,
    /// The log of evaluations.
    Evaluations,
    /// The points of the learning curves.
    Samples,
    /// The result of a stage.
    Stage(u32),
    /// The programs that led the searches. Without a row there are none: runs of earlier formats have no such seal.
    Leaders,
}

impl SealedPart {
    fn number(self) -> i64 {
        match self {
            SealedPart::Run => 0,
            SealedPart::Evaluations => 1,
            SealedPart::Samples => 2,
            SealedPart::Stage(stage) => 3 + i64::from(stage),
            SealedPart::Leaders => -1,
        }
    }

    fn damaged(self, id: &str) -> Error {
        let what = match self {
            SealedPart::Run => format!("run {id}"),
            SealedPart::Evaluations => format!("the evaluations of run {id}"),
            SealedPart::Samples => format!("the curves of run {id}"),
            SealedPart::Stage(stage) => format!("stage {} of run {id}", u64::from(stage) + 1),
            SealedPart::Leaders => format!("the leading programs of run {id}"),
        };
        damaged(format!("the checksum of {what} is wrong"))
    }
}

/// Error for content that differs from what was written.
pub(super) fn damaged(why: String) -> Error {
    Error::ToSqlConversionFailure(why.into())
}

/// The number of rows and the sum of their hashes, independent of their order.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub(super) struct Seal {
    pub(super) count: i64,
    digest: i64,
}

impl Seal {
    /// Adds a row.
    pub(super) fn add(&mut self, hash: i64) {
        self.count = self.count.wrapping_add(1);
        self.digest = self.digest.wrapping_add(hash);
    }

    /// Removes a row.
    pub(super) fn remove(&mut self, hash: i64) {
        self.count = self.count.wrapping_sub(1);
        self.digest = self.digest.wrapping_sub(hash);
    }

    /// An error if this differs from the stored seal.
    pub(super) fn check(
        self,
        connection: &Connection,
        run: i64,
        id: &str,
        part: SealedPart,
    ) -> rusqlite::Result<()> {
        match Seal::read(connection, run, id, part)? == self {
            true => Ok(()),
            false => Err(part.damaged(id)),
        }
    }

    /// The stored seal.
    pub(super) fn read(
        connection: &Connection,
        run: i64,
        id: &str,
        part: SealedPart,
    ) -> rusqlite::Result<Seal> {
        match (stored(connection, run, part.number())?, part) {
            (Some(seal), _) => Ok(seal),
            (None, SealedPart::Leaders) => Ok(Seal::default()),
            (None, _) => Err(part.damaged(id)),
        }
    }

    /// Adds this to the stored seal.
    pub(super) fn amend(self, connection: &Connection, run: i64, part: SealedPart) -> rusqlite::Result<()> {
        let old = Seal::read(connection, run, &format!("in row {run}"), part)?;
        let (count, digest) = (old.count.wrapping_add(self.count), old.digest.wrapping_add(self.digest));
        Seal { count, digest }.write(connection, run, part)
    }

    pub(super) fn write(self, connection: &Connection, run: i64, part: SealedPart) -> rusqlite::Result<()> {
        store(connection, run, part.number(), self)
    }

    /// The seal of the rows of a query.
    fn of(connection: &Connection, sql: &str, values: impl Params) -> rusqlite::Result<Seal> {
        let mut statement = connection.prepare_cached(sql)?;
        let mut rows = statement.query(values)?;
        let mut seal = Seal::default();
        while let Some(row) = rows.next()? {
            seal.add(hash_row(row)?);
        }
        Ok(seal)
    }

    /// The seal of a run's evaluations as they are in the table.
    pub(super) fn of_evaluations(connection: &Connection, run: i64) -> rusqlite::Result<Seal> {
        Seal::of(connection, "SELECT * FROM evaluation WHERE run = ?1", [run])
    }

    /// The seal of a run's row with this number of finished stages.
    pub(super) fn of_run(hash: i64, stages: i64) -> Seal {
        Seal { count: stages, digest: hash }
    }
}

fn store(connection: &Connection, run: i64, part: i64, seal: Seal) -> rusqlite::Result<()> {
    let sql = "INSERT OR REPLACE INTO seal VALUES (?1, ?2, ?3, ?4, ?5)";
    let Seal { count, digest } = seal;
    let sum = hash(&[run, part, count, digest].map(ValueRef::Integer));
    connection.prepare_cached(sql)?.execute(params![run, part, count, digest, sum]).map(drop)
}

/// A stored seal; `None` if it is missing or damaged itself.
fn stored(connection: &Connection, run: i64, part: i64) -> rusqlite::Result<Option<Seal>> {
    let sql = "SELECT * FROM seal WHERE run = ?1 AND part = ?2";
    let numbers = |row: &Row| -> rusqlite::Result<[i64; 5]> {
        Ok([row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?])
    };
    let found = connection.prepare_cached(sql)?.query_row([run, part], numbers).optional()?;
    Ok(found.and_then(|[r, p, count, digest, sum]| {
        let sound = [r, p] == [run, part] && sum == hash(&[r, p, count, digest].map(ValueRef::Integer));
        sound.then_some(Seal { count, digest })
    }))
}

/// The sealed number of runs, since missing rows cannot be noticed otherwise.
pub(super) fn number_of_runs(connection: &Connection) -> rusqlite::Result<i64> {
    let lost = || damaged("the checksum of the number of runs is wrong".into());
    Ok(stored(connection, ALL, 0)?.ok_or_else(lost)?.count)
}

pub(super) fn set_number_of_runs(connection: &Connection, count: i64) -> rusqlite::Result<()> {
    store(connection, ALL, 0, Seal { count, digest: 0 })
}

/// Seals the current content of a store whose format has no seals.
pub(super) fn seal_all(connection: &Connection) -> rusqlite::Result<()> {
    let numbers = |sql: &str, values: &[i64]| -> rusqlite::Result<Vec<i64>> {
        let mut statement = connection.prepare(sql)?;
        statement.query_map(rusqlite::params_from_iter(values), |row| row.get(0))?.collect()
    };
    let runs = numbers("SELECT row FROM run", &[])?;
    for &run in &runs {
        let stages = numbers("SELECT stage FROM stage WHERE run = ?1", &[run])?;
        let row = Seal::of(connection, &format!("SELECT {RUN_COLUMNS} FROM run WHERE row = ?1"), [run])?;
        Seal::of_run(row.digest, stages.len() as i64).write(connection, run, SealedPart::Run)?;
        Seal::of_evaluations(connection, run)?.write(connection, run, SealedPart::Evaluations)?;
        let samples = Seal::of(connection, "SELECT * FROM sample WHERE run = ?1", [run])?;
        samples.write(connection, run, SealedPart::Samples)?;
        for stage in stages {
            let sql = "SELECT * FROM stage WHERE run = ?1 AND stage = ?2";
            Seal::of(connection, sql, [run, stage])?.write(
                connection,
                run,
                SealedPart::Stage(stage as u32),
            )?;
        }
    }
    set_number_of_runs(connection, runs.len() as i64)
}

/// The hash of a row over all columns in order.
pub(super) fn hash_row(row: &Row) -> rusqlite::Result<i64> {
    let count = row.as_ref().column_count();
    let values: Vec<ValueRef> = (0..count).map(|column| row.get_ref(column)).collect::<Result<_, _>>()?;
    Ok(hash(&values))
}

/// The hash of a row's values, from an unambiguous encoding.
pub(super) fn hash(values: &[ValueRef]) -> i64 {
    let mut bytes = Vec::with_capacity(9 * values.len() + 64);
    let mut put = |kind: u8, content: &[u8]| {
        bytes.push(kind);
        bytes.extend((content.len() as u64).to_le_bytes());
        bytes.extend(content);
    };
    for value in values {
        match value {
            ValueRef::Null => put(0, &[]),
            ValueRef::Integer(number) => put(1, &number.to_le_bytes()),
            ValueRef::Real(number) => put(2, &number.to_bits().to_le_bytes()),
            ValueRef::Text(text) => put(3, text),
            ValueRef::Blob(blob) => put(4, blob),
        }
    }
    xxh3_64(&bytes) as i64
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Folder, evaluation, new_run, record, stage};
    use super::super::{Sample, Store, StoreError};
    use super::*;

    #[test]
    fn whatever_is_changed_or_lost_is_noticed() {
        let folder = Folder::new();
        let path = folder.file("runs.db");
        let mut store = Store::open(&path).unwrap();
        for _ in 0..2 {
            let run = store.begin(&new_run()).unwrap();
            store.append(&run, &(0..20).map(evaluation).collect::<Vec<_>>()).unwrap();
            let [unique_states, visits, revisits, evaluations] = [1, 2, 3, 4];
            let sample = |playouts| Sample {
                stage: 0,
                playouts,
                unique_states,
                visits,
                revisits,
                evaluations,
                best: 0.5,
            };
            for playouts in [10, 20, 10] {
                store.sample(&run, &sample(playouts)).unwrap();
            }
            for number in [0, 1, 0] {
                store.finish_stage(&run, number, &stage("a")).unwrap();
            }
            store.finish(&run, &record()).unwrap();
        }
        store.integrity().unwrap();
        drop(store);
        for (number, sql) in [
            "UPDATE run SET seconds = seconds + 1 WHERE row = 2",
            "UPDATE run SET spec = spec || ' ' WHERE row = 2",
            "UPDATE run SET found = 0 WHERE row = 2",
            "UPDATE run SET id = 'aaaaaaaa' WHERE row = 2",
            "UPDATE run SET row = 3 WHERE row = 2",
            "DELETE FROM run WHERE row = 2",
            "UPDATE stage SET result = replace(result, '\"a\"', '\"b\"') WHERE run = 2 AND stage = 1",
            "DELETE FROM stage WHERE run = 2 AND stage = 1",
            "UPDATE stage SET stage = 7 WHERE run = 2 AND stage = 1",
            "UPDATE evaluation SET value = value + 1 WHERE run = 2 AND instance = 3",
            "DELETE FROM evaluation WHERE run = 2 AND instance = 3",
            "UPDATE evaluation SET instance = 99 WHERE run = 2 AND instance = 3",
            "UPDATE sample SET visits = visits + 1 WHERE run = 2 AND playouts = 10",
            "DELETE FROM sample WHERE run = 2 AND playouts = 20",
            "DELETE FROM seal WHERE run = 2 AND part = 1",
            "UPDATE seal SET count = count + 1 WHERE run = 2 AND part = 1",
            "UPDATE seal SET digest = digest + 1 WHERE run = 2 AND part = 0",
            "DELETE FROM seal WHERE run = 0",
            "UPDATE build SET digest = 'another' WHERE run = 2",
            "UPDATE build SET digest = NULL WHERE run = 2",
            "DELETE FROM build WHERE run = 2",
        ]
        .into_iter()
        .enumerate()
        {
            let copy = folder.file(&format!("copy-{number}"));
            std::fs::copy(&path, &copy).unwrap();
            let hand = Connection::open(&copy).unwrap();
            hand.execute_batch(&format!("PRAGMA foreign_keys = OFF; {sql}")).unwrap();
            drop(hand);
            let found = Store::open_read_only(&copy).unwrap().integrity();
            assert!(matches!(found, Err(StoreError::Corrupt { .. })), "{sql}: {found:?}");
        }
    }

    #[test]
    fn a_writer_does_not_seal_what_was_damaged() {
        let folder = Folder::new();
        let path = folder.file("runs.db");
        let mut store = Store::open(&path).unwrap();
        let run = store.begin(&new_run()).unwrap();
        drop(store);
        Connection::open(&path).unwrap().execute_batch("UPDATE run SET seconds = 9").unwrap();
        let error = Store::open(&path).unwrap_err().to_string();
        assert!(error.contains(&format!("the checksum of run {run} is wrong")), "{error}");
    }

    #[test]
    fn rows_that_look_alike_have_different_hashes() {
        let text = |text: &'static str| ValueRef::Text(text.as_bytes());
        let rows: [&[ValueRef]; 6] = [
            &[text("ab"), text("c")],
            &[text("a"), text("bc")],
            &[text("abc")],
            &[ValueRef::Blob(b"abc")],
            &[ValueRef::Integer(0), ValueRef::Null],
            &[ValueRef::Real(0.0), ValueRef::Null],
        ];
        let mut hashes: Vec<i64> = rows.iter().map(|row| hash(row)).collect();
        hashes.sort();
        hashes.dedup();
        assert_eq!(hashes.len(), rows.len());
    }
}

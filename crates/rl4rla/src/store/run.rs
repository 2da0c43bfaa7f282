//! Runs: their settings, ids and results.

mod admitted;

use std::fmt;

use rusqlite::types::Type;
use rusqlite::{Connection, Error, OptionalExtension, Params, Row, params};
use xxhash_rust::xxh3::xxh3_64;

use super::clock::now;
use super::digest;
use super::evaluation::samples;
use super::result::json;
use super::run_lock::{self, RunLock};
use super::seal::{self, RUN_COLUMNS, Seal, SealedPart, damaged, hash_row};
use super::stage::duration;
use super::{Fault, Marks, Status, Store, StoreError, live, lock};
use crate::record::{Build, RunRecord};

/// The settings of a new run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NewRun<'a> {
    /// The name of the curriculum.
    pub curriculum: &'a str,
    /// The name of the search method.
    pub method: &'a str,
    /// The seed of all its random numbers.
    pub seed: u64,
    /// The whole curriculum as TOML, copied: later edits of its file do not change the run.
    pub spec: &'a str,
    /// All other settings, as JSON.
    pub settings: &'a str,
    /// The build that begins it.
    pub build: &'a Build,
}

impl NewRun<'_> {
    /// The id of the run: eight hexadecimal digits, the same in every store where it is the first of its kind.
    fn id(&self, attempt: u64) -> String {
        let NewRun { curriculum, method, seed, spec, settings, .. } = self;
        // Debug formatting quotes strings, so different settings give different texts.
        let text = format!("{:?}", (curriculum, spec, method, seed, settings, attempt));
        format!("{:08x}", xxh3_64(text.as_bytes()) >> 32)
    }

    /// The first of its ids that no run has.
    fn free_id(&self, connection: &Connection) -> rusqlite::Result<String> {
        let mut attempt = 0;
        loop {
            let text = self.id(attempt);
            let taken = "SELECT count(*) FROM run WHERE id = ?1";
            match connection.prepare_cached(taken)?.query_row([&text], |row| row.get(0))? {
                0 => return Ok(text),
                _ => attempt += 1,
            }
        }
    }

    /// Writes its row, with the seals of its parts.
    fn insert(&self, connection: &Connection, text: String, created: i64) -> rusqlite::Result<RunId> {
        let row = seal::number_of_runs(connection)? + 1;
        let NewRun { curriculum, method, seed, spec, settings, build } = *self;
        connection.execute(
            "INSERT INTO run (row, id, curriculum, method, seed, spec, settings, version, created)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
            params![row, text, curriculum, method, seed as i64, spec, settings, build.version, created],
        )?;
        Seal::of_run(hash_of(connection, row)?, 0).write(connection, row, SealedPart::Run)?;
        Seal::default().write(connection, row, SealedPart::Evaluations)?;
        Seal::default().write(connection, row, SealedPart::Samples)?;
        digest::write(connection, row, build.digest.as_deref())?;
        seal::set_number_of_runs(connection, row)?;
        Ok(RunId { text, row })
    }
}

/// The id of a run in its store: eight hexadecimal digits.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct RunId {
    text: String,
    row: i64,
}

impl RunId {
    /// The id in these columns.
    pub(super) fn of(text: String, row: i64) -> RunId {
        RunId { text, row }
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The key of the run in the other tables.
    pub(super) fn row(&self) -> i64 {
        self.row
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}

/// Summary of a run.
#[derive(Clone, PartialEq, Debug)]
pub struct RunRow {
    /// Its id.
    pub id: RunId,
    /// The name of the curriculum.
    pub curriculum: String,
    /// The name of the search method.
    pub method: String,
    /// The seed.
    pub seed: u64,
    /// Its status.
    pub status: Status,
    /// When it began, in seconds since 1970.
    pub created: i64,
    /// Working time in seconds, summed over all resumptions.
    pub seconds: f64,
    /// Playouts, over all stages.
    pub playouts: u64,
    /// Evaluations in its log.
    pub evaluations: u64,
    /// Number of finished stages.
    pub stages: u32,
    /// Its tags.
    pub tags: Vec<String>,
    /// Its note; empty if there is none.
    pub note: String,
    /// Whether it is deleted.
    pub deleted: bool,
}

/// A run with its settings and result.
#[derive(Clone, PartialEq, Debug)]
pub struct Run {
    /// Summary of the run.
    pub row: RunRow,
    /// The whole curriculum as TOML.
    pub spec: String,
    /// All other settings, as JSON.
    pub settings: String,
    /// The build that began it.
    pub build: Build,
    /// The record of a run that has ended; an error if it cannot be read.
    pub result: Result<Option<RunRecord>, StoreError>,
}

impl Store {
    /// Begins a run, gives it an id and starts working on it.
    pub fn begin(&mut self, new: &NewRun) -> Result<RunId, StoreError> {
        let path = self.path.clone();
        let (id, lock) = self.transact(|transaction| {
            let text = new.free_id(transaction)?;
            // Taken before anybody else can see the run.
            let lock = RunLock::take(&path, &text).map_err(Fault::Store)?;
            Ok((new.insert(transaction, text, now())?, lock))
        })?;
        self.working.insert(id.row, lock);
        Ok(id)
    }

    /// The run with this id, or the only one whose id starts with it.
    pub fn find(&self, wanted: &str) -> Result<RunId, StoreError> {
        let prefix = wanted.trim().to_lowercase();
        let mut found =
            self.ids("WHERE ?1 != '' AND substr(id, 1, length(?1)) = ?1 ORDER BY row", [&prefix])?;
        if found.len() == 1 {
            return Ok(found.remove(0));
        }
        if found.is_empty() {
            return Err(self.unknown(wanted));
        }
        let candidates = found.iter().map(RunId::to_string).collect();
        Err(StoreError::AmbiguousRun { path: self.path.clone(), wanted: wanted.into(), candidates })
    }

    /// All runs that are not deleted, the newest last.
    pub fn runs(&self) -> Result<Vec<RunRow>, StoreError> {
        Ok(self.all_runs()?.into_iter().filter(|row| !row.deleted).collect())
    }

    /// All runs, deleted ones included.
    pub fn all_runs(&self) -> Result<Vec<RunRow>, StoreError> {
        let mut rows = self.read(|connection| {
            let mut statement =
                connection.prepare_cached(&format!("SELECT {RUN_COLUMNS} FROM run ORDER BY row"))?;
            let rows = statement.query_map([], |row| run_row(connection, row))?;
            let rows = rows.collect::<rusqlite::Result<Vec<_>>>()?;
            let count = seal::number_of_runs(connection)?;
            if count != rows.len() as i64 {
                return Err(damaged(format!("there should be {count} runs, and there are {}", rows.len())));
            }
            // SQLite trusts the order of its pages, and swapped runs would each pass their own checks.
            match rows.is_sorted_by(|a, b| a.id.row < b.id.row) {
                true => Ok(rows),
                false => Err(damaged("its runs are not in order".into())),
            }
        })?;
        self.settle_all(&mut rows)?;
        Ok(rows)
    }

    /// A run with its settings and result.
    pub fn run(&self, id: &RunId) -> Result<Run, StoreError> {
        let found = self.read(|connection| {
            let sql = format!("SELECT {RUN_COLUMNS} FROM run WHERE row = ?1 AND id = ?2");
            let whole = |row: &Row| {
                let digest = digest::read(connection, id.row, &id.text)?;
                let build = Build { version: row.get(7)?, digest };
                let (spec, settings, result) = (row.get(5)?, row.get(6)?, row.get::<_, Option<String>>(11)?);
                let result = result.map(|text| self.record(id, &text)).transpose();
                Ok(Run { row: run_row(connection, row)?, spec, settings, build, result })
            };
            connection.query_row(&sql, params![id.row, id.text], whole).optional()
        })?;
        let mut run = found.ok_or_else(|| self.unknown(id.as_str()))?;
        self.settle_all(std::slice::from_mut(&mut run.row))?;
        Ok(run)
    }

    /// The status of a run.
    pub(super) fn status(&self, id: &RunId) -> Result<Status, StoreError> {
        match self.status_as_stored(id)? {
            // It may have ended just now: a run ends before it is given up.
            Status::Running if !self.is_running(id) => match self.status_as_stored(id)? {
                Status::Running => Ok(Status::Interrupted),
                ended => Ok(ended),
            },
            status => Ok(status),
        }
    }

    fn status_as_stored(&self, id: &RunId) -> Result<Status, StoreError> {
        let found = self.read(|connection| {
            let sql = "SELECT status, found FROM run WHERE row = ?1 AND id = ?2";
            let status = |row: &Row| stored_status(&row.get::<_, String>(0)?, row.get(1)?);
            connection.prepare_cached(sql)?.query_row(params![id.row, id.text], status).optional()
        })?;
        found.ok_or_else(|| self.unknown(id.as_str()))
    }

    /// Working time of a run in seconds, summed over all attempts so far.
    pub(super) fn seconds(&self, id: &RunId) -> Result<f64, StoreError> {
        self.read(|connection| {
            let sql = "SELECT seconds FROM run WHERE row = ?1";
            connection.query_row(sql, [id.row], |row| row.get(0))
        })
    }

    /// Starts working on a run that was interrupted or has failed. It is an error if another process works on it, or if it
    /// has ended.
    pub fn resume(&mut self, run: &RunId) -> Result<(), StoreError> {
        self.writable()?;
        if !self.working.contains_key(&run.row) {
            let lock = RunLock::take(&self.path, &run.text)?;
            if let Status::Done { .. } = self.status(run)? {
                return Err(StoreError::Ended { path: self.path.clone(), run: run.to_string() });
            }
            self.working.insert(run.row, lock);
        }
        self.set_status(run, Status::Running, None)
    }

    /// Commits everything appended and ends a run with its record.
    pub fn finish(&mut self, run: &RunId, record: &RunRecord) -> Result<(), StoreError> {
        self.set_status(run, Status::Done { found: record.found }, Some(&json(record)))
    }

    /// Commits everything appended and marks the run as interrupted.
    pub fn interrupted(&mut self, run: &RunId) -> Result<(), StoreError> {
        self.set_status(run, Status::Interrupted, None)
    }

    /// Adds to the working time of a run.
    pub fn add_seconds(&mut self, run: &RunId, seconds: f64) -> Result<(), StoreError> {
        let sql = "UPDATE run SET seconds = seconds + ?3 WHERE row = ?1 AND id = ?2";
        self.update(run, sql, params![run.row, run.text, duration(seconds)])
    }

    pub(super) fn set_status(
        &mut self,
        run: &RunId,
        status: Status,
        result: Option<&str>,
    ) -> Result<(), StoreError> {
        let sql = "UPDATE run SET status = ?3, found = ?4, result = ?5 WHERE row = ?1 AND id = ?2";
        let values = params![run.row, run.text, status.name(), status.found(), result];
        let changed = self.commit(|transaction| {
            live::remove(transaction, run.row)?;
            change(transaction, run, sql, values)
        })?;
        self.release_ended();
        if changed == 0 { Err(self.unknown(run.as_str())) } else { Ok(()) }
    }

    /// Gives up the locks of runs that are not running, once that is committed.
    pub(super) fn release_ended(&mut self) {
        if self.connection.is_autocommit() {
            let sql = "SELECT count(*) FROM run WHERE row = ?1 AND status = 'running'";
            let connection = &self.connection;
            let runs = |row: &i64| connection.query_row(sql, [row], |found| found.get(0));
            self.working.retain(|row, _| runs(row).map_or(true, |count: i64| count > 0));
        }
    }

    fn update(&mut self, run: &RunId, sql: &str, values: impl Params) -> Result<(), StoreError> {
        match self.commit(|transaction| change(transaction, run, sql, values))? {
            0 => Err(self.unknown(run.as_str())),
            _ => Ok(()),
        }
    }

    /// Marks the running runs that no process works on as interrupted.
    pub(super) fn interrupt_the_dead(&mut self) -> Result<(), StoreError> {
        for run in self.ids("WHERE status = 'running'", [])? {
            // Held until it is committed, so that nobody resumes the run meanwhile.
            let Some(_lock) = RunLock::of_the_dead(&self.path, &run.text) else { continue };
            let sql =
                "UPDATE run SET status = 'interrupted' WHERE row = ?1 AND id = ?2 AND status = 'running'";
            self.commit(|transaction| {
                live::remove(transaction, run.row)?;
                change(transaction, &run, sql, params![run.row, run.text])
            })?;
        }
        Ok(())
    }

    /// Whether a run that is stored as running can be: a killed process does not change that.
    pub(super) fn is_running(&self, run: &RunId) -> bool {
        let earlier = self.earlier && lock::held_alone(&lock::sidecar(&self.path));
        earlier || self.working.contains_key(&run.row) || run_lock::held(&self.path, &run.text)
    }

    /// Corrects the status of runs that are stored as running and that nobody works on.
    pub(super) fn settle_all(&self, rows: &mut [RunRow]) -> Result<(), StoreError> {
        for row in rows.iter_mut().filter(|row| row.status == Status::Running) {
            row.status = self.status(&row.id)?;
        }
        Ok(())
    }

    fn unknown(&self, wanted: &str) -> StoreError {
        let listed = "WHERE row NOT IN (SELECT run FROM mark WHERE deleted) ORDER BY row DESC LIMIT 5";
        let last = self.ids(listed, []);
        let last = last.map(|ids| ids.iter().rev().map(RunId::to_string).collect());
        let (path, wanted) = (self.path.clone(), wanted.to_string());
        last.map_or_else(|error| error, |last| StoreError::UnknownRun { path, wanted, last })
    }

    fn ids(&self, which: &str, values: impl Params) -> Result<Vec<RunId>, StoreError> {
        self.read(|connection| {
            let mut statement = connection.prepare(&format!("SELECT id, row FROM run {which}"))?;
            let id = |row: &Row| Ok(RunId { text: row.get(0)?, row: row.get(1)? });
            statement.query_map(values, id)?.collect()
        })
    }
}

/// The hash of a run's row.
fn hash_of(connection: &Connection, row: i64) -> rusqlite::Result<i64> {
    let sql = format!("SELECT {RUN_COLUMNS} FROM run WHERE row = ?1");
    connection.prepare_cached(&sql)?.query_row([row], |row: &Row| hash_row(row))
}

/// Updates the row of a run after checking its seal; returns the number of rows changed.
fn change(connection: &Connection, run: &RunId, sql: &str, values: impl Params) -> rusqlite::Result<usize> {
    let there = "SELECT count(*) FROM run WHERE row = ?1 AND id = ?2";
    let there: i64 = connection.query_row(there, params![run.row, run.text], |row| row.get(0))?;
    if there == 0 {
        return Ok(0);
    }
    let stages = Seal::read(connection, run.row, &run.text, SealedPart::Run)?.count;
    let before = Seal::of_run(hash_of(connection, run.row)?, stages);
    before.check(connection, run.row, &run.text, SealedPart::Run)?;
    let changed = connection.execute(sql, values)?;
    Seal::of_run(hash_of(connection, run.row)?, stages).write(connection, run.row, SealedPart::Run)?;
    Ok(changed)
}

/// A run from its [`RUN_COLUMNS`], verified against its seal; its status as stored.
fn run_row(connection: &Connection, row: &Row) -> rusqlite::Result<RunRow> {
    let id = RunId { text: row.get(1)?, row: row.get(0)? };
    let stages = Seal::read(connection, id.row, &id.text, SealedPart::Run)?.count;
    Seal::of_run(hash_row(row)?, stages).check(connection, id.row, &id.text, SealedPart::Run)?;
    let evaluations = Seal::read(connection, id.row, &id.text, SealedPart::Evaluations)?.count;
    // Points are ordered by stage and playouts, so the last of each stage has the most playouts.
    let samples = samples(connection, id.row, &id.text)?;
    let playouts = samples.chunk_by(|a, b| a.stage == b.stage).filter_map(|stage| stage.last());
    let playouts = playouts.fold(0_u64, |sum, last| sum.saturating_add(last.playouts));
    let Marks { tags, note, deleted } = Marks::read(connection, id.row, &id.text)?;
    Ok(RunRow {
        id,
        curriculum: row.get(2)?,
        method: row.get(3)?,
        seed: row.get::<_, i64>(4)? as u64,
        status: stored_status(&row.get::<_, String>(9)?, row.get(10)?)?,
        created: row.get(8)?,
        seconds: row.get(12)?,
        playouts,
        evaluations: evaluations as u64,
        stages: stages as u32,
        tags,
        note,
        deleted,
    })
}

/// The status in these columns.
pub(super) fn stored_status(name: &str, found: Option<bool>) -> rusqlite::Result<Status> {
    let wrong = || Error::InvalidColumnType(9, "status".into(), Type::Text);
    Status::from_columns(name, found).ok_or_else(wrong)
}

#[cfg(test)]
mod tests;

//! Runs: what was asked for, how it is known, and how it ended.

use std::fmt;

use rusqlite::types::Type;
use rusqlite::{Connection, Error, OptionalExtension, Params, Row, params};
use xxhash_rust::xxh3::xxh3_64;

use super::clock::now;
use super::evaluation::samples;
use super::seal::{self, Part, RUN_COLUMNS, Seal, damaged, hash_row};
use super::stage::duration;
use super::{Status, Store, StoreError, lock};

/// What a run is asked to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NewRun<'a> {
    /// The name of the curriculum.
    pub curriculum: &'a str,
    /// The name of the search method.
    pub method: &'a str,
    /// The seed of all its random numbers.
    pub seed: u64,
    /// The whole curriculum as TOML, frozen: a file that is edited later does not change the run.
    pub spec: &'a str,
    /// All other settings, as JSON.
    pub settings: &'a str,
    /// The version of the program.
    pub version: &'a str,
}

impl NewRun<'_> {
    /// Eight hexadecimal digits for the run of this row.
    fn id(&self, row: i64, attempt: u64) -> String {
        let NewRun { curriculum, method, seed, spec, settings, .. } = self;
        // Debug text quotes the strings, so no two runs share a text.
        let text = format!("{:?}", (curriculum, spec, method, seed, settings, row, attempt));
        format!("{:08x}", xxh3_64(text.as_bytes()) >> 32)
    }
}

/// The id of a run in its store: eight hexadecimal digits.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct RunId {
    text: String,
    row: i64,
}

impl RunId {
    /// The id as users write it.
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

/// A run at a glance.
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
    /// How long it has worked, over all resumptions.
    pub seconds: f64,
    /// Playouts, over all stages.
    pub playouts: u64,
    /// Evaluations in its log.
    pub evaluations: u64,
    /// Stages finished.
    pub stages: u32,
}

/// A run with all it was asked to do, and what came of it.
#[derive(Clone, PartialEq, Debug)]
pub struct Run {
    /// The run at a glance.
    pub row: RunRow,
    /// The whole curriculum as TOML.
    pub spec: String,
    /// All other settings, as JSON.
    pub settings: String,
    /// The version of the program that began it.
    pub version: String,
    /// What it found, as JSON, once it has ended.
    pub result: Option<String>,
}

impl Store {
    /// Begins a run and gives it an id.
    pub fn begin(&mut self, new: &NewRun) -> Result<RunId, StoreError> {
        self.commit(|transaction| {
            let row = seal::number_of_runs(transaction)? + 1;
            let mut attempt = 0;
            let text = loop {
                let text = new.id(row, attempt);
                let taken = "SELECT count(*) FROM run WHERE id = ?1";
                match transaction.query_row(taken, [&text], |row| row.get(0))? {
                    0 => break text,
                    _ => attempt += 1,
                }
            };
            let NewRun { curriculum, method, seed, spec, settings, version } = *new;
            transaction.execute(
                "INSERT INTO run (row, id, curriculum, method, seed, spec, settings, version, created)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
                params![row, text, curriculum, method, seed as i64, spec, settings, version, now()],
            )?;
            Seal::of_run(hash_of(transaction, row)?, 0).write(transaction, row, Part::Run)?;
            Seal::default().write(transaction, row, Part::Evaluations)?;
            Seal::default().write(transaction, row, Part::Samples)?;
            seal::set_number_of_runs(transaction, row)?;
            Ok(RunId { text, row })
        })
    }

    /// The run with this id, or the only one whose id begins so.
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

    /// All runs, the newest last.
    pub fn runs(&self) -> Result<Vec<RunRow>, StoreError> {
        let alive = self.alive();
        self.read(|connection| {
            let mut statement =
                connection.prepare_cached(&format!("SELECT {RUN_COLUMNS} FROM run ORDER BY row"))?;
            let rows = statement.query_map([], |row| run_row(connection, row, alive))?;
            let rows = rows.collect::<rusqlite::Result<Vec<_>>>()?;
            let count = seal::number_of_runs(connection)?;
            if count != rows.len() as i64 {
                return Err(damaged(format!("there should be {count} runs, and there are {}", rows.len())));
            }
            // SQLite trusts its pages to be in order; every run is sound by itself where two of them are swapped.
            match rows.is_sorted_by(|a, b| a.id.row < b.id.row) {
                true => Ok(rows),
                false => Err(damaged("its runs are not in order".into())),
            }
        })
    }

    /// A run with all it was asked to do.
    pub fn run(&self, id: &RunId) -> Result<Run, StoreError> {
        let alive = self.alive();
        let found = self.read(|connection| {
            let sql = format!("SELECT {RUN_COLUMNS} FROM run WHERE row = ?1 AND id = ?2");
            let whole = |row: &Row| {
                let (spec, settings, version) = (row.get(5)?, row.get(6)?, row.get(7)?);
                let result = row.get(11)?;
                Ok(Run { row: run_row(connection, row, alive)?, spec, settings, version, result })
            };
            connection.query_row(&sql, params![id.row, id.text], whole).optional()
        })?;
        found.ok_or_else(|| self.unknown(id.as_str()))
    }

    /// Marks a run as worked on again.
    pub fn resume(&mut self, run: &RunId) -> Result<(), StoreError> {
        self.set_status(run, Status::Running, None)
    }

    /// Ends a run with its result, together with all that was appended before.
    pub fn finish(&mut self, run: &RunId, status: Status, result: &str) -> Result<(), StoreError> {
        self.set_status(run, status, Some(result))
    }

    /// Saves all that was appended and marks the run as one to resume.
    pub fn interrupted(&mut self, run: &RunId) -> Result<(), StoreError> {
        self.set_status(run, Status::Interrupted, None)
    }

    /// Adds to the time a run has worked.
    pub fn add_seconds(&mut self, run: &RunId, seconds: f64) -> Result<(), StoreError> {
        let sql = "UPDATE run SET seconds = seconds + ?3 WHERE row = ?1 AND id = ?2";
        self.update(run, sql, params![run.row, run.text, duration(seconds)])
    }

    fn set_status(&mut self, run: &RunId, status: Status, result: Option<&str>) -> Result<(), StoreError> {
        let sql = "UPDATE run SET status = ?3, found = ?4, result = ?5 WHERE row = ?1 AND id = ?2";
        self.update(run, sql, params![run.row, run.text, status.name(), status.found(), result])
    }

    fn update(&mut self, run: &RunId, sql: &str, values: impl Params) -> Result<(), StoreError> {
        match self.commit(|transaction| change(transaction, run, sql, values))? {
            0 => Err(self.unknown(run.as_str())),
            _ => Ok(()),
        }
    }

    /// Marks runs whose process is gone; for a writer that has just begun.
    pub(super) fn interrupt_all(&mut self) -> Result<(), StoreError> {
        let sql = "UPDATE run SET status = 'interrupted' WHERE row = ?1 AND id = ?2";
        for run in self.ids("WHERE status = 'running'", [])? {
            self.update(&run, sql, params![run.row, run.text])?;
        }
        Ok(())
    }

    /// Whether a run that is marked as running may be: a killed process could not change the mark.
    fn alive(&self) -> bool {
        self.lock.is_some() || lock::held(&self.path)
    }

    fn unknown(&self, wanted: &str) -> StoreError {
        let last = self.ids("ORDER BY row DESC LIMIT 5", []);
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

/// Changes the row of a run that is sound, and says how many rows that were.
fn change(connection: &Connection, run: &RunId, sql: &str, values: impl Params) -> rusqlite::Result<usize> {
    let there = "SELECT count(*) FROM run WHERE row = ?1 AND id = ?2";
    let there: i64 = connection.query_row(there, params![run.row, run.text], |row| row.get(0))?;
    if there == 0 {
        return Ok(0);
    }
    let stages = Seal::read(connection, run.row, &run.text, Part::Run)?.count;
    let before = Seal::of_run(hash_of(connection, run.row)?, stages);
    before.check(connection, run.row, &run.text, Part::Run)?;
    let changed = connection.execute(sql, values)?;
    Seal::of_run(hash_of(connection, run.row)?, stages).write(connection, run.row, Part::Run)?;
    Ok(changed)
}

/// A run from its [`RUN_COLUMNS`], if it is as it was written.
fn run_row(connection: &Connection, row: &Row, alive: bool) -> rusqlite::Result<RunRow> {
    let id = RunId { text: row.get(1)?, row: row.get(0)? };
    let stages = Seal::read(connection, id.row, &id.text, Part::Run)?.count;
    Seal::of_run(hash_row(row)?, stages).check(connection, id.row, &id.text, Part::Run)?;
    let evaluations = Seal::read(connection, id.row, &id.text, Part::Evaluations)?.count;
    // The points come by stage and then by playouts, so the last of each stage has the most.
    let samples = samples(connection, id.row, &id.text)?;
    let playouts = samples.chunk_by(|a, b| a.stage == b.stage).filter_map(|stage| stage.last());
    let playouts = playouts.fold(0_u64, |sum, last| sum.saturating_add(last.playouts));
    let status = Status::from_columns(&row.get::<_, String>(9)?, row.get(10)?);
    let status = match status.ok_or(Error::InvalidColumnType(9, "status".into(), Type::Text))? {
        Status::Running if !alive => Status::Interrupted,
        status => status,
    };
    Ok(RunRow {
        id,
        curriculum: row.get(2)?,
        method: row.get(3)?,
        seed: row.get::<_, i64>(4)? as u64,
        status,
        created: row.get(8)?,
        seconds: row.get(12)?,
        playouts,
        evaluations: evaluations as u64,
        stages: stages as u32,
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Folder, evaluation, new_run};
    use super::super::{Sample, StageRow};
    use super::*;

    fn store(folder: &Folder) -> Store {
        Store::open(&folder.file("runs.db")).unwrap()
    }

    #[test]
    fn a_run_comes_back_whole() {
        let folder = Folder::new();
        let mut open = store(&folder);
        let new = NewRun { seed: u64::MAX, spec: "a = \"\u{0}é\"\n", ..new_run() };
        let run = open.begin(&new).unwrap();
        open.append(&run, &[evaluation(0), evaluation(1)]).unwrap();
        let sample = Sample {
            stage: 0,
            playouts: 10,
            unique_states: 1,
            visits: 1,
            revisits: 0,
            evaluations: 2,
            best: 0.0,
        };
        open.sample(&run, &sample).unwrap();
        open.sample(&run, &Sample { playouts: 20, ..sample }).unwrap();
        open.sample(&run, &Sample { stage: 1, playouts: 5, ..sample }).unwrap();
        open.finish_stage(&run, 0, "{}", 1.0).unwrap();
        open.add_seconds(&run, 1.5).unwrap();
        open.add_seconds(&run, f64::NAN).unwrap();
        open.add_seconds(&run, 2.0).unwrap();
        assert_eq!(open.run(&run).unwrap().row.status, Status::Running);
        open.finish(&run, Status::Done { found: true }, "{\"x\":1}").unwrap();
        drop(open);
        let open = store(&folder);
        let found = open.run(&run).unwrap();
        assert_eq!((found.spec.as_str(), found.settings.as_str()), (new.spec, new.settings));
        assert_eq!((found.version.as_str(), found.result.as_deref()), (new.version, Some("{\"x\":1}")));
        let row = found.row;
        assert_eq!(open.runs().unwrap(), std::slice::from_ref(&row));
        assert_eq!((row.curriculum.as_str(), row.method.as_str(), row.seed), ("small", "random", u64::MAX));
        assert_eq!((row.status, row.seconds), (Status::Done { found: true }, 3.5));
        assert_eq!((row.playouts, row.evaluations, row.stages), (25, 2, 1));
        assert!(row.id == run && row.created > 1_700_000_000);
    }

    #[test]
    fn ids_are_short_and_unique_and_say_nothing_of_the_time() {
        let (one, two) = (Folder::new(), Folder::new());
        let [ids, again] = [&one, &two].map(|folder| {
            let mut open = store(folder);
            let mut ids: Vec<String> = (0..50).map(|_| open.begin(&new_run()).unwrap().to_string()).collect();
            ids.push(open.begin(&NewRun { seed: 8, ..new_run() }).unwrap().to_string());
            ids
        });
        assert_eq!(ids, again);
        let mut different = ids.clone();
        different.sort();
        different.dedup();
        assert_eq!(different.len(), 51);
        assert!(ids.iter().all(|id| id.len() == 8 && id.chars().all(|c| c.is_ascii_hexdigit())), "{ids:?}");
    }

    #[test]
    fn an_id_that_is_taken_is_not_given_again() {
        let folder = Folder::new();
        let mut open = store(&folder);
        let first = open.begin(&new_run()).unwrap();
        let next = new_run().id(2, 0);
        // The second run would get the id that the first one now has.
        open.connection.execute("UPDATE run SET id = ?1", [&next]).unwrap();
        let second = open.begin(&new_run()).unwrap();
        assert_eq!(second.as_str(), new_run().id(2, 1));
        assert!(matches!(open.run(&first), Err(StoreError::UnknownRun { .. })), "its id has changed");
    }

    #[test]
    fn runs_are_found_by_the_beginning_of_their_id() {
        let folder = Folder::new();
        let mut open = store(&folder);
        let nothing = open.find("a").unwrap_err();
        assert!(matches!(&nothing, StoreError::UnknownRun { last, .. } if last.is_empty()));
        let ids: Vec<RunId> = (0..40).map(|_| open.begin(&new_run()).unwrap()).collect();
        for id in &ids {
            assert_eq!(&open.find(id.as_str()).unwrap(), id);
            assert_eq!(&open.find(&format!(" {} ", id.as_str().to_uppercase())).unwrap(), id);
            for n in 1..8 {
                let prefix = &id.as_str()[..n];
                let like: Vec<String> =
                    ids.iter().map(RunId::to_string).filter(|other| other.starts_with(prefix)).collect();
                match open.find(prefix) {
                    Ok(found) => assert_eq!((&found, like.len()), (id, 1)),
                    Err(StoreError::AmbiguousRun { candidates, .. }) => assert_eq!(candidates, like),
                    Err(error) => panic!("{error}"),
                }
            }
        }
        let last: Vec<String> = ids[35..].iter().map(RunId::to_string).collect();
        for wanted in ["", "%", "________", "xyz", "'; DROP TABLE run; --"] {
            let error = open.find(wanted).unwrap_err();
            let expected =
                StoreError::UnknownRun { path: open.path.clone(), wanted: wanted.into(), last: last.clone() };
            assert_eq!(error, expected);
        }
    }

    #[test]
    fn runs_whose_pages_are_swapped_are_damage() {
        const PAGE: usize = 4096;
        let folder = Folder::new();
        let (path, spec) = (folder.file("runs.db"), "#".repeat(3 * PAGE / 4));
        let mut open = store(&folder);
        let ids = [0; 3].map(|_| open.begin(&NewRun { spec: &spec, ..new_run() }).unwrap());
        drop(open);
        let mut bytes = std::fs::read(&path).unwrap();
        // A page for each run, where the curriculum follows the id; in the index it does not.
        let page = |id: &RunId| {
            let text = [id.as_str(), new_run().curriculum].concat();
            bytes.windows(text.len()).position(|window| window == text.as_bytes()).unwrap() / PAGE * PAGE
        };
        let (one, other) = (page(&ids[1]), page(&ids[2]));
        (0..PAGE).for_each(|at| bytes.swap(one + at, other + at));
        std::fs::write(&path, bytes).unwrap();
        let found = Store::open_read_only(&path).unwrap().runs();
        assert!(matches!(found, Err(StoreError::Corrupt { .. })), "{found:?}");
    }

    #[test]
    fn a_run_whose_process_is_gone_is_interrupted() {
        let folder = Folder::new();
        let mut open = store(&folder);
        let run = open.begin(&new_run()).unwrap();
        let reader = Store::open_read_only(&folder.file("runs.db")).unwrap();
        assert_eq!(reader.runs().unwrap()[0].status, Status::Running, "its writer lives");
        drop(open);
        assert_eq!(reader.runs().unwrap()[0].status, Status::Interrupted);
        assert_eq!(reader.run(&run).unwrap().row.status, Status::Interrupted);
        let mut open = store(&folder);
        assert_eq!(open.runs().unwrap()[0].status, Status::Interrupted, "the next writer knows");
        open.resume(&run).unwrap();
        assert_eq!(open.runs().unwrap()[0].status, Status::Running);
        open.append(&run, &[evaluation(0)]).unwrap();
        open.interrupted(&run).unwrap();
        let row = &open.runs().unwrap()[0];
        assert_eq!((row.status, row.evaluations), (Status::Interrupted, 1));
        open.finish(&run, Status::Failed, "{}").unwrap();
        assert_eq!(open.runs().unwrap()[0].status, Status::Failed);
        assert_eq!(open.stages(&run).unwrap(), [] as [StageRow; 0]);
    }
}

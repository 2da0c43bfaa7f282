//! The log of evaluations, from which a run is resumed, and the points of its learning curves.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::seal::{Seal, SealedPart, hash, hash_row};
use super::{RunId, Store, StoreError, StoredLeader, leader, live, summary};
use serde::{Deserialize, Serialize};

/// Maximum time and maximum number of rows before buffered rows are committed.
const INTERVAL: Duration = Duration::from_secs(1);
const MOST_ROWS: usize = 1 << 18;

/// The value of one program on one instance.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct StoredReward {
    /// The stage of the curriculum, from zero.
    pub stage: u32,
    /// The id of the program.
    pub key: [u8; 16],
    /// Which set of instances.
    pub set: u8,
    /// Which instance of the set.
    pub index: u32,
    /// The computed value; all bits are stored, also those of NaN.
    pub value: f64,
}

/// A point of a run's learning curves: the counters of a search after some playouts.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Sample {
    /// The stage of the curriculum, from zero.
    pub stage: u32,
    /// Playouts of the stage so far.
    pub playouts: u64,
    /// Distinct states seen.
    pub unique_states: u64,
    /// State visits, repeated ones included.
    pub visits: u64,
    /// Visits to states seen before.
    pub revisits: u64,
    /// Evaluations: one program on one instance.
    pub evaluations: u64,
    /// Best reward so far.
    #[serde(with = "exact")]
    pub best: f64,
}

/// Numbers as text, which keeps those that are not finite.
mod exact {
    use serde::{Deserialize, Deserializer, Serializer, de};

    pub fn serialize<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(value)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

impl Store {
    /// Logs evaluations of a run. A row that is already there is not changed, because an evaluation is a pure
    /// function.
    ///
    /// After an error the rows stay buffered, and the next commit tries them again.
    pub fn append(&mut self, run: &RunId, rows: &[StoredReward]) -> Result<(), StoreError> {
        self.writable()?;
        self.buffer.evaluations.extend(rows.iter().map(|row| (run.row(), *row)));
        if self.buffer.is_due() { self.flush() } else { Ok(()) }
    }

    /// Records a point of the learning curves; a resumed run replaces the points it passes again.
    pub fn sample(&mut self, run: &RunId, sample: &Sample) -> Result<(), StoreError> {
        self.writable()?;
        self.buffer.samples.push((run.row(), *sample));
        if self.buffer.is_due() { self.flush() } else { Ok(()) }
    }

    /// The committed evaluations of a run, ordered by stage, program and instance.
    pub fn evaluations(&self, run: &RunId) -> Result<Vec<StoredReward>, StoreError> {
        self.read(|connection| {
            let sql = "SELECT * FROM evaluation WHERE run = ?1 ORDER BY stage, key, instances, instance";
            let mut statement = connection.prepare_cached(sql)?;
            let mut seal = Seal::default();
            let rows = statement.query_map([run.row()], |row| {
                seal.add(hash_row(row)?);
                let (stage, key, set, index) = (row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?);
                Ok(StoredReward { stage, key, set, index, value: from_bits(row.get(5)?) })
            })?;
            let rows = rows.collect::<rusqlite::Result<Vec<_>>>()?;
            seal.check(connection, run.row(), run.as_str(), SealedPart::Evaluations)?;
            Ok(rows)
        })
    }

    /// Deletes the evaluations of a run that is not going to be resumed.
    pub fn forget_evaluations(&mut self, run: &RunId) -> Result<(), StoreError> {
        self.commit(|connection| {
            connection.execute("DELETE FROM evaluation WHERE run = ?1", [run.row()])?;
            Seal::default().write(connection, run.row(), SealedPart::Evaluations)
        })
    }

    /// The committed points of a run's learning curves, ordered by stage and playouts.
    pub fn samples(&self, run: &RunId) -> Result<Vec<Sample>, StoreError> {
        self.read(|connection| samples(connection, run.row(), run.as_str()))
    }
}

/// The points of a run's learning curves.
pub(super) fn samples(connection: &Connection, run: i64, id: &str) -> rusqlite::Result<Vec<Sample>> {
    let sql = "SELECT * FROM sample WHERE run = ?1 ORDER BY stage, playouts";
    let mut statement = connection.prepare_cached(sql)?;
    let mut seal = Seal::default();
    let rows = statement.query_map([run], |row| {
        seal.add(hash_row(row)?);
        let count = |column| row.get(column).map(|n: i64| n as u64);
        Ok(Sample {
            stage: row.get(1)?,
            playouts: count(2)?,
            unique_states: count(3)?,
            visits: count(4)?,
            revisits: count(5)?,
            evaluations: count(6)?,
            best: from_bits(row.get(7)?),
        })
    })?;
    let rows = rows.collect::<rusqlite::Result<Vec<_>>>()?;
    seal.check(connection, run, id, SealedPart::Samples)?;
    Ok(rows)
}

pub(super) fn to_bits(value: f64) -> i64 {
    value.to_bits() as i64
}

pub(super) fn from_bits(bits: i64) -> f64 {
    f64::from_bits(bits as u64)
}

/// Rows waiting for the next commit, each with the key of its run.
#[derive(Debug)]
pub(super) struct Buffer {
    evaluations: Vec<(i64, StoredReward)>,
    samples: Vec<(i64, Sample)>,
    pub(super) leaders: Vec<(i64, StoredLeader)>,
    /// The states of running runs, as JSON; each replaces the one before.
    pub(super) live: BTreeMap<i64, String>,
    /// Time of the last attempt to commit; after a failure the next attempt also waits for the interval.
    last: Instant,
    /// Maximum waiting time; tests set it to infinity.
    pub(super) interval: Duration,
}

impl Buffer {
    pub(super) fn new() -> Buffer {
        Buffer {
            evaluations: Vec::new(),
            samples: Vec::new(),
            leaders: Vec::new(),
            live: BTreeMap::new(),
            last: Instant::now(),
            interval: INTERVAL,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.evaluations.is_empty()
            && self.samples.is_empty()
            && self.leaders.is_empty()
            && self.live.is_empty()
    }

    /// Whether a commit is due.
    pub(super) fn is_due(&self) -> bool {
        self.evaluations.len() >= MOST_ROWS || self.last.elapsed() >= self.interval
    }

    /// Starts a new interval.
    pub(super) fn touch(&mut self) {
        self.last = Instant::now();
    }

    pub(super) fn clear(&mut self) {
        self.evaluations.clear();
        self.samples.clear();
        self.leaders.clear();
        self.live.clear();
    }

    pub(super) fn write(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        // Sorted by primary key, so that neighbouring rows share pages. The sort is stable, so the first value of a
        // key wins.
        self.evaluations.sort_by_key(|(run, e)| (*run, e.stage, e.key, e.set, e.index));
        for (run, seal) in write_evaluations(connection, &self.evaluations)? {
            seal.amend(connection, run, SealedPart::Evaluations)?;
        }
        for (run, seal) in write_samples(connection, &self.samples)? {
            seal.amend(connection, run, SealedPart::Samples)?;
            summary::count_playouts(connection, run)?;
        }
        for (run, seal) in leader::write(connection, &self.leaders)? {
            seal.amend(connection, run, SealedPart::Leaders)?;
        }
        live::write(connection, &self.live)
    }
}

/// Seals of the rows added, by run.
pub(super) type Added = BTreeMap<i64, Seal>;

fn write_evaluations(connection: &Connection, rows: &[(i64, StoredReward)]) -> rusqlite::Result<Added> {
    let mut insert =
        connection.prepare_cached("INSERT OR IGNORE INTO evaluation VALUES (?1, ?2, ?3, ?4, ?5, ?6)")?;
    let mut added = Added::new();
    for (run, StoredReward { stage, key, set, index, value }) in rows {
        let [number, set, index, bits] =
            [i64::from(*stage), i64::from(*set), i64::from(*index), to_bits(*value)];
        if insert.execute(params![run, number, key, set, index, bits])? > 0 {
            let [run_ref, number, set, index, bits] = [*run, number, set, index, bits].map(ValueRef::Integer);
            let row = [run_ref, number, ValueRef::Blob(key), set, index, bits];
            added.entry(*run).or_default().add(hash(&row));
        }
    }
    Ok(added)
}

fn write_samples(connection: &Connection, rows: &[(i64, Sample)]) -> rusqlite::Result<Added> {
    let old = "SELECT * FROM sample WHERE run = ?1 AND stage = ?2 AND playouts = ?3";
    let mut old = connection.prepare_cached(old)?;
    let new = "INSERT OR REPLACE INTO sample VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
    let mut new = connection.prepare_cached(new)?;
    let mut added = Added::new();
    for (run, sample) in rows {
        let Sample { stage, playouts, unique_states, visits, revisits, evaluations, best } = *sample;
        let counts = [playouts, unique_states, visits, revisits, evaluations].map(|n| n as i64);
        let [playouts, unique_states, visits, revisits, evaluations] = counts;
        let row = [*run, stage.into(), playouts, unique_states, visits, revisits, evaluations, to_bits(best)];
        let seal = added.entry(*run).or_default();
        let replaced = old.query_row([*run, stage.into(), playouts], |row: &Row| hash_row(row)).optional()?;
        replaced.into_iter().for_each(|hash| seal.remove(hash));
        new.execute(row)?;
        seal.add(hash(&row.map(ValueRef::Integer)));
    }
    Ok(added)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Folder, evaluation, new_run};
    use super::*;

    /// No timed commits, only explicit ones.
    const NEVER: Duration = Duration::MAX;

    fn bits(rows: &[StoredReward]) -> Vec<u64> {
        rows.iter().map(|row| row.value.to_bits()).collect()
    }

    #[test]
    fn every_bit_survives() {
        let folder = Folder::new();
        let mut store = Store::open(&folder.file("runs.db")).unwrap();
        let run = store.begin(&new_run()).unwrap();
        let nan = f64::from_bits(0xfff8_dead_beef_0001);
        let values =
            [0.0, -0.0, f64::NAN, nan, f64::INFINITY, f64::NEG_INFINITY, f64::MIN_POSITIVE / 4.0, -1.5];
        let edge =
            |value| StoredReward { stage: u32::MAX, key: [255; 16], set: u8::MAX, index: u32::MAX, value };
        let mut rows: Vec<StoredReward> =
            (0..).zip(values).map(|(i, value)| StoredReward { value, ..evaluation(i) }).collect();
        rows.push(edge(f64::MAX));
        store.append(&run, &rows).unwrap();
        drop(store);
        let store = Store::open_read_only(&folder.file("runs.db")).unwrap();
        let found = store.evaluations(&run).unwrap();
        assert_eq!(bits(&found), bits(&rows));
        let place = |e: &StoredReward| (e.stage, e.key, e.set, e.index);
        assert!(found.iter().map(place).eq(rows.iter().map(place)));
    }

    #[test]
    fn the_first_value_of_an_evaluation_stays() {
        let folder = Folder::new();
        let mut store = Store::open(&folder.file("runs.db")).unwrap();
        let [one, other] = [(); 2].map(|()| store.begin(&new_run()).unwrap());
        let with = |value| StoredReward { value, ..evaluation(0) };
        store.append(&one, &[with(1.0), with(2.0)]).unwrap();
        store.flush().unwrap();
        store.append(&one, &[with(3.0)]).unwrap();
        store.append(&other, &[with(4.0)]).unwrap();
        store.flush().unwrap();
        assert_eq!(store.evaluations(&one).unwrap(), [with(1.0)]);
        assert_eq!(store.evaluations(&other).unwrap(), [with(4.0)], "runs do not share a log");
    }

    #[test]
    fn samples_are_replaced_when_a_run_passes_again() {
        let folder = Folder::new();
        let mut store = Store::open(&folder.file("runs.db")).unwrap();
        let run = store.begin(&new_run()).unwrap();
        let at = |playouts, best| Sample {
            stage: 1,
            playouts,
            unique_states: 2,
            visits: 3,
            revisits: 4,
            evaluations: u64::MAX,
            best,
        };
        for sample in [at(200, -0.5), at(100, f64::NEG_INFINITY), at(200, 0.25)] {
            store.sample(&run, &sample).unwrap();
        }
        store.flush().unwrap();
        assert_eq!(store.samples(&run).unwrap(), [at(100, f64::NEG_INFINITY), at(200, 0.25)]);
    }

    #[test]
    fn a_commit_comes_with_time_with_size_and_when_asked() {
        let folder = Folder::new();
        let mut store = Store::open(&folder.file("runs.db")).unwrap();
        let run = store.begin(&new_run()).unwrap();
        assert_eq!(store.buffer.interval, Duration::from_secs(1));
        store.buffer.interval = NEVER;
        store.append(&run, &[evaluation(0)]).unwrap();
        assert_eq!(store.evaluations(&run).unwrap(), [], "not yet");
        store.flush().unwrap();
        assert_eq!(store.evaluations(&run).unwrap().len(), 1);
        let many: Vec<StoredReward> = (0..MOST_ROWS as u32).map(evaluation).collect();
        store.append(&run, &many[1..]).unwrap();
        assert_eq!(store.evaluations(&run).unwrap().len(), 1);
        store.append(&run, &many[..1]).unwrap();
        assert_eq!(store.evaluations(&run).unwrap().len(), MOST_ROWS);
        assert!(store.buffer.is_empty());
        store.buffer.interval = Duration::ZERO;
        store.append(&run, &[evaluation(u32::MAX)]).unwrap();
        assert_eq!(store.evaluations(&run).unwrap().len(), MOST_ROWS + 1, "time has come");
    }

    #[test]
    fn a_full_disk_is_an_error_and_what_was_committed_stays() {
        let folder = Folder::new();
        let mut store = Store::open(&folder.file("runs.db")).unwrap();
        let run = store.begin(&new_run()).unwrap();
        let rows: Vec<StoredReward> = (0..20_000).map(evaluation).collect();
        store.append(&run, &rows[..100]).unwrap();
        store.flush().unwrap();
        let pages: i64 = store.connection.query_row("PRAGMA page_count", [], |row| row.get(0)).unwrap();
        store.connection.pragma_update(None, "max_page_count", pages + 4).unwrap();
        store.buffer.interval = Duration::ZERO;
        let error = store.append(&run, &rows).unwrap_err();
        assert!(matches!(error, StoreError::Full { .. }), "{error:?}");
        assert_eq!(store.evaluations(&run).unwrap(), rows[..100], "all or nothing");
        store.integrity().unwrap();
        // Once there is space again, the buffered rows are written.
        store.connection.pragma_update(None, "max_page_count", 1_000_000).unwrap();
        store.flush().unwrap();
        assert_eq!(store.evaluations(&run).unwrap(), rows);
    }

    #[test]
    fn a_store_that_stays_full_is_closed_without_harm() {
        let folder = Folder::new();
        let path = folder.file("runs.db");
        let mut store = Store::open(&path).unwrap();
        let run = store.begin(&new_run()).unwrap();
        store.append(&run, &[evaluation(0)]).unwrap();
        store.flush().unwrap();
        store.connection.pragma_update(None, "max_page_count", 1).unwrap();
        store.buffer.interval = NEVER;
        store.append(&run, &(1..20_000).map(evaluation).collect::<Vec<_>>()).unwrap();
        drop(store);
        let store = Store::open(&path).unwrap();
        store.integrity().unwrap();
        assert_eq!(store.evaluations(&run).unwrap(), [evaluation(0)]);
    }
}

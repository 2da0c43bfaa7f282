//! What a running run is doing: one row, replaced about twice a second and removed when the run ends. It is no result,
//! so it has no checksum, and one that cannot be read is as good as none.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use rusqlite::{Connection, OptionalExtension};
use serde::{Deserialize, Serialize};

use super::result::json;
use super::{RunId, Status, Store, StoreError};
use crate::curriculum::number;
use crate::discovery::{Front, Tradeoff};
use crate::program::Update;

/// Time between two states of a run.
const INTERVAL: Duration = Duration::from_millis(500);

/// Maximum number of programs of a front.
const MOST_ENTRIES: usize = 50;

/// The state of a running run.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct LiveState {
    /// The stage of the curriculum, from zero.
    pub stage: usize,
    /// The stage's name.
    pub name: String,
    /// Playouts of the stage so far.
    pub playouts: u64,
    /// Evaluations of the stage so far; of an exploration, its results.
    pub evaluations: u64,
    /// Distinct states seen.
    pub unique_states: u64,
    /// Maximum number of playouts of the stage; 0 if there is none.
    pub budget: u64,
    /// Working time in seconds, summed over all resumptions.
    pub at: f64,
    /// The best program of the stage so far.
    pub best: Option<LiveBest>,
    /// The Pareto front of the stage so far, the most accurate first.
    pub front: Vec<LiveEntry>,
    /// What is being done, in words.
    pub doing: String,
}

/// The best program of a stage so far.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct LiveBest {
    /// The program.
    pub program: String,
    /// Its mean reward on the search instances.
    #[serde(deserialize_with = "number")]
    pub reward: f64,
}

/// A program of a Pareto front.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct LiveEntry {
    /// Accuracy, work and stability.
    #[serde(flatten)]
    pub tradeoff: Tradeoff,
    /// The program.
    pub program: String,
}

impl LiveEntry {
    /// The most accurate programs of a front.
    pub(super) fn of(front: &Front, update: Update) -> Vec<LiveEntry> {
        let mut points: Vec<_> = front.points().collect();
        points.sort_by(|(a, _), (b, _)| a.excess.total_cmp(&b.excess).then(a.flops.total_cmp(&b.flops)));
        points.truncate(MOST_ENTRIES);
        let entry = |(tradeoff, program): (&Tradeoff, _)| LiveEntry {
            tradeoff: *tradeoff,
            program: update.text(program),
        };
        points.into_iter().map(entry).collect()
    }
}

/// When the state of a run is due, and how long the run has been worked on.
pub(super) struct Pace {
    start: Instant,
    /// Seconds of earlier attempts.
    before: f64,
    last: Option<Instant>,
    /// Time between two states; tests set it to zero.
    pub(super) interval: Duration,
}

impl Pace {
    /// Starts now.
    pub(super) fn new(before: f64) -> Pace {
        Pace { start: Instant::now(), before, last: None, interval: INTERVAL }
    }

    pub(super) fn is_due(&self) -> bool {
        self.last.is_none_or(|last| last.elapsed() >= self.interval)
    }

    /// Working time in seconds, for a state that is being written.
    pub(super) fn tick(&mut self) -> f64 {
        let now = Instant::now();
        self.last = Some(now);
        self.before + (now - self.start).as_secs_f64()
    }
}

impl Store {
    /// Commits the state of a running run, together with everything appended.
    pub fn show(&mut self, run: &RunId, live: &LiveState) -> Result<(), StoreError> {
        self.writable()?;
        self.buffer.live.insert(run.row(), json(live));
        self.flush()
    }

    /// The state of a run, if a process is working on it.
    pub fn live(&self, run: &RunId) -> Result<Option<LiveState>, StoreError> {
        if self.status(run)? != Status::Running {
            return Ok(None);
        }
        let text: Option<String> = self.read(|connection| {
            let sql = "SELECT state FROM live WHERE run = ?1";
            connection.prepare_cached(sql)?.query_row([run.row()], |row| row.get(0)).optional()
        })?;
        Ok(text.and_then(|text| serde_json::from_str(&text).ok()))
    }
}

/// Writes the states of runs.
pub(super) fn write(connection: &Connection, states: &BTreeMap<i64, String>) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached("INSERT OR REPLACE INTO live VALUES (?1, ?2)")?;
    states.iter().try_for_each(|state| statement.execute(state).map(drop))
}

/// Removes the state of a run.
pub(super) fn remove(connection: &Connection, run: i64) -> rusqlite::Result<()> {
    connection.prepare_cached("DELETE FROM live WHERE run = ?1")?.execute([run]).map(drop)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Folder, new_run, record};
    use super::*;

    #[test]
    fn a_state_is_there_while_its_run_is_and_unreadable_ones_are_none() {
        let folder = Folder::new();
        let path = folder.file("runs.db");
        let mut store = Store::open(&path).unwrap();
        let run = store.begin(&new_run()).unwrap();
        let tradeoff = Tradeoff { excess: 1e-3, flops: 5.0, condition: 2.0 };
        let live = LiveState {
            stage: 2,
            name: "ls-gd".into(),
            playouts: 7,
            best: Some(LiveBest { program: "p".into(), reward: 0.5 }),
            front: vec![LiveEntry { tradeoff, program: "q".into() }],
            ..LiveState::default()
        };
        let reader = Store::open_read_only(&path).unwrap();
        assert_eq!(reader.live(&run).unwrap(), None);
        store.show(&run, &LiveState::default()).unwrap();
        store.show(&run, &live).unwrap();
        assert_eq!(reader.live(&run).unwrap().as_ref(), Some(&live));
        for (state, found) in
            [("{\"later\": 1}", Some(LiveState::default())), ("[", None), ("{\"at\": \"\"}", None)]
        {
            store.connection.execute("UPDATE live SET state = ?1", [state]).unwrap();
            assert_eq!(reader.live(&run).unwrap(), found);
        }
        let nan = Some(LiveBest { program: "p".into(), reward: f64::NAN });
        store.show(&run, &LiveState { best: nan, ..live.clone() }).unwrap();
        assert!(reader.live(&run).unwrap().unwrap().best.unwrap().reward.is_nan());
        store.interrupted(&run).unwrap();
        assert_eq!(reader.live(&run).unwrap(), None);
        store.resume(&run).unwrap();
        assert_eq!(reader.live(&run).unwrap(), None, "that of the earlier attempt is gone");
        store.show(&run, &live).unwrap();
        store.finish(&run, &record()).unwrap();
        assert_eq!(reader.live(&run).unwrap(), None);
        let left = "SELECT count(*) FROM live";
        assert_eq!(store.connection.query_row(left, [], |row| row.get::<_, i64>(0)).unwrap(), 0);
    }
}

//! What a list of many runs needs of each, without reading and verifying everything else: a number that grows with every
//! change, and the playouts. The rest is in an index of the runs, which SQLite keeps and checks.

use rusqlite::{Connection, OptionalExtension, Row};

use super::mark::Marks;
use super::run::stored_status;
use super::seal::damaged;
use super::{RunId, RunRow, Store, StoreError};

/// Every change of a run's results goes with a new seal, so that the triggers see them all.
pub(super) const AIDS: &str = "
    CREATE INDEX run_listing
        ON run (row, curriculum, method, seed, created, status, found, seconds, id);
    CREATE INDEX summary_change ON summary (change);
    CREATE TRIGGER seal_change AFTER INSERT ON seal WHEN new.run > 0 BEGIN
        INSERT INTO summary SELECT new.run, 0, 0 WHERE NOT EXISTS (SELECT 1 FROM summary WHERE run = new.run);
        UPDATE summary SET change = (SELECT max(change) + 1 FROM summary) WHERE run = new.run;
    END;
    CREATE TRIGGER live_change AFTER INSERT ON live BEGIN
        UPDATE summary SET change = (SELECT max(change) + 1 FROM summary) WHERE run = new.run;
    END;
    CREATE TRIGGER mark_change AFTER INSERT ON mark BEGIN
        UPDATE summary SET change = (SELECT max(change) + 1 FROM summary) WHERE run = new.run;
    END;
";

/// The columns of a run in the list, and the tables that have them besides that of the runs.
const COLUMNS: &str = "run.row, id, curriculum, method, seed, created, status, found, seconds, playouts,
    evaluations.count, stages.count, tags, note, deleted, mark.sum";
const JOINS: &str = "
    JOIN summary ON summary.run = run.row
    JOIN seal AS evaluations ON evaluations.run = run.row AND evaluations.part = 1
    JOIN seal AS stages ON stages.run = run.row AND stages.part = 0
    LEFT JOIN mark ON mark.run = run.row";

/// The query for all runs; their rows are not read if there is an index that has everything.
fn all(earlier: bool) -> String {
    let index = if earlier { "" } else { "INDEXED BY run_listing" };
    format!("SELECT {COLUMNS} FROM run {index} {JOINS} ORDER BY run.row")
}

impl Store {
    /// All runs as [`runs`](Store::runs) has them, deleted ones included, without verifying checksums: a list of ten
    /// thousand takes milliseconds.
    pub fn index(&self) -> Result<Vec<RunRow>, StoreError> {
        Ok(self.listing(None)?.0)
    }

    /// The rows of the runs that changed since a change, or all, in order; and the number of the last change.
    pub(super) fn listing(&self, since: Option<i64>) -> Result<(Vec<RunRow>, i64), StoreError> {
        let (mut rows, last) = self.read(|connection| {
            let last = "SELECT coalesce(max(change), 0) FROM summary";
            let last: i64 = connection.prepare_cached(last)?.query_row([], |row| row.get(0))?;
            let rows = match since {
                None => {
                    let mut all = connection.prepare_cached(&all(self.earlier))?;
                    all.query_map([], listed)?.collect::<rusqlite::Result<_>>()?
                }
                Some(since) => {
                    let sql = "SELECT run FROM summary WHERE change > ?1 ORDER BY run";
                    let mut changed = connection.prepare_cached(sql)?;
                    let changed = changed.query_map([since], |row| row.get::<_, i64>(0))?;
                    let one = format!("SELECT {COLUMNS} FROM run {JOINS} WHERE run.row = ?1");
                    let mut one = connection.prepare_cached(&one)?;
                    let mut row = |run: rusqlite::Result<i64>| one.query_row([run?], listed);
                    changed.map(&mut row).collect::<rusqlite::Result<Vec<_>>>()?
                }
            };
            Ok((rows, last))
        })?;
        self.settle_all(&mut rows)?;
        Ok((rows, last))
    }
}

impl Store {
    /// An error if the summary of a run differs from what it sums up.
    pub(super) fn check_summary(&self, row: &RunRow) -> Result<(), StoreError> {
        self.read(|connection| {
            let sql = "SELECT playouts FROM summary WHERE run = ?1";
            let stored: Option<i64> =
                connection.query_row(sql, [row.id.row()], |row| row.get(0)).optional()?;
            match stored == Some(row.playouts as i64) {
                true => Ok(()),
                false => Err(damaged(format!("the summary of run {} is wrong", row.id))),
            }
        })
    }
}

/// A run from a row of the listing, with its status as stored.
fn listed(row: &Row) -> rusqlite::Result<RunRow> {
    let id = RunId::of(row.get(1)?, row.get(0)?);
    let marks = match row.get::<_, Option<String>>(12)? {
        Some(tags) => {
            Marks::verified(id.row(), id.as_str(), (tags, row.get(13)?, row.get(14)?, row.get(15)?))?
        }
        None => Marks::default(),
    };
    let Marks { tags, note, deleted } = marks;
    Ok(RunRow {
        curriculum: row.get(2)?,
        method: row.get(3)?,
        seed: row.get::<_, i64>(4)? as u64,
        created: row.get(5)?,
        status: stored_status(&row.get::<_, String>(6)?, row.get(7)?)?,
        seconds: row.get(8)?,
        playouts: row.get::<_, i64>(9)? as u64,
        evaluations: row.get::<_, i64>(10)? as u64,
        stages: row.get::<_, i64>(11)? as u32,
        tags,
        note,
        deleted,
        id,
    })
}

/// The playouts of a run: those of the last point of each stage's curve, added up. The points need not be read, because
/// they are ordered by stage and playouts.
fn playouts(connection: &Connection, run: i64) -> rusqlite::Result<i64> {
    let sql = "SELECT stage, playouts FROM sample WHERE run = ?1 AND stage < ?2
               ORDER BY stage DESC, playouts DESC LIMIT 1";
    let mut statement = connection.prepare_cached(sql)?;
    let (mut stage, mut sum) = (i64::MAX, 0_i64);
    let last = |row: &Row| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?));
    while let Some((earlier, playouts)) = statement.query_row([run, stage], last).optional()? {
        (stage, sum) = (earlier, sum.saturating_add(playouts));
    }
    Ok(sum)
}

/// Stores the playouts of a run whose points have changed.
pub(super) fn count_playouts(connection: &Connection, run: i64) -> rusqlite::Result<()> {
    let sql = "UPDATE summary SET playouts = ?2 WHERE run = ?1";
    connection.prepare_cached(sql)?.execute([run, playouts(connection, run)?]).map(drop)
}

/// Adds rows for all runs of an earlier format.
pub(super) fn fill(connection: &Connection) -> rusqlite::Result<()> {
    let mut statement = connection.prepare("SELECT row FROM run")?;
    let runs: Vec<i64> = statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    runs.into_iter().try_for_each(|run| {
        let values = [run, run, playouts(connection, run)?];
        connection.prepare_cached("INSERT INTO summary VALUES (?1, ?2, ?3)")?.execute(values).map(drop)
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Folder, evaluation, new_run, record, stage};
    use super::super::{LiveState, Sample};
    use super::*;

    const SAMPLE: Sample = Sample {
        stage: 0,
        playouts: 10,
        unique_states: 1,
        visits: 1,
        revisits: 0,
        evaluations: 2,
        best: 0.0,
    };

    #[test]
    fn the_index_says_what_the_list_says() {
        let folder = Folder::new();
        let path = folder.file("runs.db");
        let mut store = Store::open(&path).unwrap();
        assert_eq!(store.index().unwrap(), []);
        let runs = [0; 4].map(|_| store.begin(&new_run()).unwrap());
        store.append(&runs[0], &[evaluation(0), evaluation(1)]).unwrap();
        for (stage, playouts) in [(0, 10), (0, 30), (2, 5), (0, 20)] {
            store.sample(&runs[0], &Sample { stage, playouts, ..SAMPLE }).unwrap();
        }
        store.finish_stage(&runs[1], 0, &stage("a")).unwrap();
        store.finish(&runs[1], &record()).unwrap();
        store.interrupted(&runs[2]).unwrap();
        store.set_marks(&runs[3], &["tag".into()], "note").unwrap();
        store.delete(&runs[3]).unwrap();
        let index = store.index().unwrap();
        assert_eq!(index, store.all_runs().unwrap());
        assert_eq!((index[0].playouts, index[0].evaluations, index[1].stages), (35, 2, 1));
        assert_eq!(Store::open_read_only(&path).unwrap().index().unwrap(), index);
        store.integrity().unwrap();
        store.connection.execute("UPDATE summary SET playouts = 1 WHERE run = 1", []).unwrap();
        let error = store.integrity().unwrap_err().to_string();
        assert!(error.contains("the summary of run"), "{error}");
    }

    #[test]
    fn every_change_moves_its_run_to_the_front_and_no_other() {
        let folder = Folder::new();
        let mut store = Store::open(&folder.file("runs.db")).unwrap();
        let [run, other] = [(); 2].map(|()| store.begin(&new_run()).unwrap());
        type Change = fn(&mut Store, &RunId) -> Result<(), StoreError>;
        let changes: [Change; 9] = [
            |store, run| store.append(run, &[evaluation(0)]),
            |store, run| store.sample(run, &SAMPLE),
            |store, run| store.show(run, &LiveState::default()),
            |store, run| store.finish_stage(run, 0, &stage("a")),
            |store, run| store.add_seconds(run, 1.0),
            |store, run| store.set_marks(run, &[], "note"),
            |store, run| store.delete(run),
            |store, run| store.finish(run, &record()),
            |store, run| store.forget_evaluations(run),
        ];
        let mut last = store.listing(None).unwrap().1;
        for (number, change) in changes.into_iter().enumerate() {
            assert_eq!(store.listing(Some(last)).unwrap(), (vec![], last));
            change(&mut store, &run).unwrap();
            store.flush().unwrap();
            let (rows, now) = store.listing(Some(last)).unwrap();
            assert!(now > last, "{number}");
            assert_eq!(rows.iter().map(|row| &row.id).collect::<Vec<_>>(), [&run], "{number}");
            last = now;
        }
        let row = store.all_runs().unwrap().remove(0);
        assert_eq!((row.playouts, row.stages, row.deleted), (10, 1, true));
        assert!(other != run);
    }

    #[test]
    fn the_listing_is_read_from_an_index() {
        let folder = Folder::new();
        let store = Store::open(&folder.file("runs.db")).unwrap();
        let sql = format!("EXPLAIN QUERY PLAN {}", all(false));
        let mut plan = store.connection.prepare(&sql).unwrap();
        let lines = plan.query_map([], |row| row.get::<_, String>(3)).unwrap();
        let lines: Vec<String> = lines.map(Result::unwrap).collect();
        assert!(lines[0].contains("SCAN run USING COVERING INDEX run_listing"), "{lines:?}");
        assert!(!lines.iter().any(|line| line.contains("TEMP B-TREE")), "{lines:?}");
    }
}

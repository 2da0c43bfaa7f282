//! The programs that led the searches of a run, from the first to the last.

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::evaluation::{Added, from_bits, to_bits};
use super::seal::{Seal, SealedPart, hash, hash_row};
use super::{RunId, Store, StoreError};

/// A program that was the best of a stage's search, from some moment on.
#[derive(Clone, PartialEq, Debug)]
pub struct StoredLeader {
    /// The stage of the curriculum, from zero.
    pub stage: u32,
    /// Evaluations when it was first seen to lead.
    pub evaluations: u64,
    /// Playouts at that moment.
    pub playouts: u64,
    /// Its mean reward on the search instances at that moment.
    pub reward: f64,
    /// The program.
    pub program: String,
}

impl Store {
    /// Records that a program leads; a resumed run replaces the leaders it passes again.
    pub fn lead(&mut self, run: &RunId, leader: StoredLeader) -> Result<(), StoreError> {
        self.writable()?;
        self.buffer.leaders.push((run.row(), leader));
        if self.buffer.is_due() { self.flush() } else { Ok(()) }
    }

    /// The committed leaders of a run, ordered by stage and evaluations.
    pub fn leaders(&self, run: &RunId) -> Result<Vec<StoredLeader>, StoreError> {
        self.read(|connection| {
            let sql = "SELECT * FROM leader WHERE run = ?1 ORDER BY stage, evaluations, playouts";
            let mut statement = connection.prepare_cached(sql)?;
            let mut seal = Seal::default();
            let rows = statement.query_map([run.row()], |row| {
                seal.add(hash_row(row)?);
                let count = |column| row.get(column).map(|n: i64| n as u64);
                Ok(StoredLeader {
                    stage: row.get(1)?,
                    evaluations: count(2)?,
                    playouts: count(3)?,
                    reward: from_bits(row.get(4)?),
                    program: row.get(5)?,
                })
            })?;
            let rows = rows.collect::<rusqlite::Result<Vec<_>>>()?;
            seal.check(connection, run.row(), run.as_str(), SealedPart::Leaders)?;
            Ok(rows)
        })
    }
}

/// Writes leaders; returns what they add to the seals.
pub(super) fn write(connection: &Connection, rows: &[(i64, StoredLeader)]) -> rusqlite::Result<Added> {
    let old = "SELECT * FROM leader WHERE run = ?1 AND stage = ?2 AND evaluations = ?3 AND playouts = ?4";
    let mut old = connection.prepare_cached(old)?;
    let new = "INSERT OR REPLACE INTO leader VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    let mut new = connection.prepare_cached(new)?;
    let mut added = Added::new();
    for (run, StoredLeader { stage, evaluations, playouts, reward, program }) in rows {
        let place = [*run, i64::from(*stage), *evaluations as i64, *playouts as i64];
        let seal = added.entry(*run).or_default();
        let replaced = old.query_row(place, |row: &Row| hash_row(row)).optional()?;
        replaced.into_iter().for_each(|hash| seal.remove(hash));
        let ([run, stage, evaluations, playouts], reward) = (place, to_bits(*reward));
        new.execute(params![run, stage, evaluations, playouts, reward, program])?;
        let [run, stage, evaluations, playouts, reward] =
            [run, stage, evaluations, playouts, reward].map(ValueRef::Integer);
        let program = ValueRef::Text(program.as_bytes());
        seal.add(hash(&[run, stage, evaluations, playouts, reward, program]));
    }
    Ok(added)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Folder, new_run};
    use super::*;
    use rusqlite::Connection;

    fn leader(evaluations: u64, program: &str) -> StoredLeader {
        StoredLeader {
            stage: 1,
            evaluations,
            playouts: 2 * evaluations,
            reward: -0.0,
            program: program.into(),
        }
    }

    #[test]
    fn leaders_come_back_in_order_and_are_replaced_when_passed_again() {
        let folder = Folder::new();
        let mut store = Store::open(&folder.file("runs.db")).unwrap();
        let [run, other] = [(); 2].map(|()| store.begin(&new_run()).unwrap());
        assert_eq!(store.leaders(&run).unwrap(), []);
        for row in [leader(20, "b"), leader(10, "a"), leader(20, "c")] {
            store.lead(&run, row).unwrap();
        }
        store.flush().unwrap();
        store.lead(&run, leader(10, "a")).unwrap();
        store.flush().unwrap();
        let found = store.leaders(&run).unwrap();
        assert_eq!(found, [leader(10, "a"), leader(20, "c")]);
        assert_eq!(found[0].reward.to_bits(), (-0.0_f64).to_bits());
        assert_eq!(store.leaders(&other).unwrap(), []);
        store.integrity().unwrap();
    }

    #[test]
    fn a_leader_that_was_changed_or_lost_is_noticed() {
        for sql in [
            "UPDATE leader SET program = 'b'",
            "UPDATE leader SET reward = 1",
            "DELETE FROM leader WHERE evaluations = 20",
            "DELETE FROM seal WHERE part = -1",
            "UPDATE seal SET sum = sum + 1 WHERE part = -1",
        ] {
            let folder = Folder::new();
            let path = folder.file("runs.db");
            let mut store = Store::open(&path).unwrap();
            let run = store.begin(&new_run()).unwrap();
            store.lead(&run, leader(10, "a")).unwrap();
            store.lead(&run, leader(20, "a")).unwrap();
            drop(store);
            Connection::open(&path).unwrap().execute_batch(sql).unwrap();
            let found = Store::open_read_only(&path).unwrap().integrity();
            let Err(StoreError::Corrupt { why, .. }) = found else { panic!("{sql}: {found:?}") };
            assert!(why.contains("the leading programs of run"), "{why}");
        }
    }
}

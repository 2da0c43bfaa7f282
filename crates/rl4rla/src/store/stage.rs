//! The results of the stages of a run.

use rusqlite::types::ValueRef;
use rusqlite::{OptionalExtension, params};

use super::result::json;
use super::seal::{Seal, SealedPart, damaged, hash, hash_row};
use super::{RunId, Store, StoreError};
use crate::record::StageRecord;

impl Store {
    /// Writes the record of a stage and commits everything appended; a resumed run replaces it.
    pub fn finish_stage(&mut self, run: &RunId, stage: u32, record: &StageRecord) -> Result<(), StoreError> {
        let result = &json(record);
        self.commit(|connection| {
            let (row, id, seconds) = (run.row(), run.as_str(), duration(record.cost.seconds));
            let old = "SELECT 1 FROM stage WHERE run = ?1 AND stage = ?2";
            let old = connection.query_row(old, params![row, stage], |_| Ok(())).optional()?;
            let sql = "INSERT OR REPLACE INTO stage VALUES (?1, ?2, ?3, ?4)";
            connection.execute(sql, params![row, stage, result, seconds])?;
            let mut seal = Seal::default();
            let [run, number] = [row, i64::from(stage)].map(ValueRef::Integer);
            seal.add(hash(&[run, number, ValueRef::Text(result.as_bytes()), ValueRef::Real(seconds)]));
            seal.write(connection, row, SealedPart::Stage(stage))?;
            if old.is_none() {
                let mut seal = Seal::read(connection, row, id, SealedPart::Run)?;
                seal.count += 1;
                seal.write(connection, row, SealedPart::Run)?;
            }
            Ok(())
        })
    }

    /// The records of the finished stages, in order. One that cannot be read makes the whole result an error.
    pub fn stages(&self, run: &RunId) -> Result<Vec<StageRecord>, StoreError> {
        let texts = self.read(|connection| {
            let sql = "SELECT * FROM stage WHERE run = ?1 ORDER BY stage";
            let mut statement = connection.prepare_cached(sql)?;
            let rows = statement.query_map([run.row()], |row| {
                let mut seal = Seal::default();
                seal.add(hash_row(row)?);
                seal.check(connection, run.row(), run.as_str(), SealedPart::Stage(row.get(1)?))?;
                Ok((row.get(1)?, row.get(2)?))
            })?;
            let rows = rows.collect::<rusqlite::Result<Vec<(u32, String)>>>()?;
            let count = Seal::read(connection, run.row(), run.as_str(), SealedPart::Run)?.count;
            match count == rows.len() as i64 {
                true => Ok(rows),
                false => Err(damaged(format!("run {run} finished {count} stages and has {}", rows.len()))),
            }
        })?;
        let what = |stage: u32| format!("stage {} of run {run}", u64::from(stage) + 1);
        texts.iter().map(|(stage, text)| self.parsed(text, || what(*stage))).collect()
    }
}

/// A duration that can be summed: 0 for NaN, which SQLite cannot store, and for negative ones of a clock set back.
pub(super) fn duration(seconds: f64) -> f64 {
    seconds.max(0.0)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Folder, evaluation, new_run, stage};
    use super::*;

    #[test]
    fn a_stage_is_replaced_and_brings_its_evaluations() {
        let folder = Folder::new();
        let mut store = Store::open(&folder.file("runs.db")).unwrap();
        let run = store.begin(&new_run()).unwrap();
        store.append(&run, &[evaluation(0)]).unwrap();
        let mut timeless = stage("b");
        timeless.cost.seconds = f64::NAN;
        store.finish_stage(&run, 1, &timeless).unwrap();
        assert_eq!(store.evaluations(&run).unwrap().len(), 1, "committed with the stage");
        assert!(store.stages(&run).unwrap()[0].cost.seconds.is_nan());
        store.finish_stage(&run, 0, &stage("a")).unwrap();
        store.finish_stage(&run, 1, &stage("c")).unwrap();
        assert_eq!(store.stages(&run).unwrap(), [stage("a"), stage("c")]);
        assert_eq!(store.runs().unwrap()[0].stages, 2);
    }
}

//! The results of the stages of a run.

use rusqlite::params;

use super::{RunId, Store, StoreError};

/// A finished stage of a run.
#[derive(Clone, PartialEq, Debug)]
pub struct StageRow {
    /// Which stage of the curriculum, from zero.
    pub stage: u32,
    /// What it found, as JSON.
    pub result: String,
    /// How long it took.
    pub seconds: f64,
}

impl Store {
    /// Records the result of a stage together with all that was appended before; a resumed run replaces it.
    pub fn finish_stage(
        &mut self,
        run: &RunId,
        stage: u32,
        result: &str,
        seconds: f64,
    ) -> Result<(), StoreError> {
        self.commit(|transaction| {
            let sql = "INSERT OR REPLACE INTO stage VALUES (?1, ?2, ?3, ?4)";
            transaction.execute(sql, params![run.row(), stage, result, duration(seconds)])?;
            Ok(())
        })
    }

    /// The finished stages of a run, in order.
    pub fn stages(&self, run: &RunId) -> Result<Vec<StageRow>, StoreError> {
        self.read(|connection| {
            let sql = "SELECT stage, result, seconds FROM stage WHERE run = ?1 ORDER BY stage";
            let mut statement = connection.prepare_cached(sql)?;
            let rows = statement.query_map([run.row()], |row| {
                Ok(StageRow { stage: row.get(0)?, result: row.get(1)?, seconds: row.get(2)? })
            })?;
            rows.collect()
        })
    }
}

/// A time that adds up: SQLite has no NaN, and a clock that ran backwards took no time.
pub(super) fn duration(seconds: f64) -> f64 {
    seconds.max(0.0)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Folder, evaluation, new_run};
    use super::*;

    #[test]
    fn a_stage_is_replaced_and_brings_its_evaluations() {
        let folder = Folder::new();
        let mut store = Store::open(&folder.file("runs.db")).unwrap();
        let run = store.begin(&new_run()).unwrap();
        store.append(&run, &[evaluation(0)]).unwrap();
        store.finish_stage(&run, 1, "{\"b\":1}", f64::NAN).unwrap();
        assert_eq!(store.evaluations(&run).unwrap().len(), 1, "committed with the stage");
        store.finish_stage(&run, 0, "{}", 1.5).unwrap();
        store.finish_stage(&run, 1, "{\"b\":2}", 2.5).unwrap();
        let row = |stage, result: &str, seconds| StageRow { stage, result: result.into(), seconds };
        assert_eq!(store.stages(&run).unwrap(), [row(0, "{}", 1.5), row(1, "{\"b\":2}", 2.5)]);
        assert_eq!(store.runs().unwrap()[0].stages, 2);
    }
}

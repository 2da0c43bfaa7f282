//! Runs that were computed elsewhere.

use super::{NewRun, Run, RunId};
use crate::record::RunRecord;
use crate::store::{Sample, Store, StoreError};

impl Store {
    /// Enters a run that has ended elsewhere: `record` makes its record once its id is known. `created` is when it began, in
    /// seconds since 1970.
    pub fn admit(
        &mut self,
        new: &NewRun,
        created: i64,
        samples: &[Sample],
        record: impl FnOnce(&RunId) -> RunRecord,
    ) -> Result<RunRecord, StoreError> {
        self.writable()?;
        // Nobody works on it, and nobody sees it before it is whole, so it needs no lock.
        let id = self.commit(|transaction| {
            let text = new.free_id(transaction)?;
            new.insert(transaction, text, created)
        })?;
        let record = record(&id);
        for sample in samples {
            self.sample(&id, sample)?;
        }
        for (number, stage) in record.stages.iter().enumerate() {
            self.finish_stage(&id, number as u32, stage)?;
        }
        self.add_seconds(&id, record.cost.seconds)?;
        self.finish(&id, &record)?;
        Ok(record)
    }

    /// The runs that have ended with the identity of this one: more than one if it was begun again and again.
    pub fn ended(&self, new: &NewRun) -> Result<Vec<Run>, StoreError> {
        let mut found = Vec::new();
        for attempt in 0.. {
            let Some(id) = self.ids("WHERE id = ?1", [&new.id(attempt)])?.pop() else { break };
            let run = self.run(&id)?;
            let (row, keys) = (&run.row, (new.curriculum, new.method, new.seed, new.spec, new.settings));
            let same = (&*row.curriculum, &*row.method, row.seed, &*run.spec, &*run.settings) == keys;
            if same && run.build == *new.build && row.status.found().is_some() && !row.deleted {
                found.push(run);
            }
        }
        Ok(found)
    }
}

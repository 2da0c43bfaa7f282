//! Records as stored: JSON, possibly written by another version.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{RunId, Store, StoreError};
use crate::record::RunRecord;

/// The JSON text of a record.
pub(super) fn json(record: &impl Serialize) -> String {
    serde_json::to_string(record).expect("records are plain data")
}

impl Store {
    /// Parses the record of a run.
    pub(super) fn record(&self, id: &RunId, text: &str) -> Result<RunRecord, StoreError> {
        let record: RunRecord = self.parsed(text, || format!("the result of run {id}"))?;
        match record.format {
            ..=RunRecord::FORMAT => Ok(record),
            later => {
                let why = format!(
                    "it has format {later} and this program knows formats up to {}",
                    RunRecord::FORMAT
                );
                let (path, what) = (self.path.clone(), format!("the result of run {id}"));
                Err(StoreError::Unreadable { path, what, why })
            }
        }
    }

    /// Parses a JSON value.
    pub(super) fn parsed<T: DeserializeOwned>(
        &self,
        text: &str,
        what: impl FnOnce() -> String,
    ) -> Result<T, StoreError> {
        serde_json::from_str(text).map_err(|error| {
            let (path, why) = (self.path.clone(), error.to_string());
            StoreError::Unreadable { path, what: what(), why }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::Status;
    use super::super::testing::{Folder, new_run, record};
    use super::*;

    #[test]
    fn a_result_that_is_no_record_is_told_and_the_run_is_there() {
        let folder = Folder::new();
        let mut open = Store::open(&folder.file("runs.db")).unwrap();
        let run = open.begin(&new_run()).unwrap();
        let newer = json(&RunRecord { format: 99, ..record() });
        for text in ["[]", "3", "null", "\"text\"", "{", "{}", &newer] {
            open.set_status(&run, Status::Done { found: true }, Some(text)).unwrap();
            let found = open.run(&run).unwrap();
            let error = found.result.unwrap_err();
            assert!(matches!(&error, StoreError::Unreadable { .. }), "{text}: {error}");
            assert!(error.to_string().contains(&format!("the result of run {run} in `")), "{error}");
            assert_eq!(open.integrity(), Err(error));
            assert_eq!(found.row.status, Status::Done { found: true });
        }
    }
}

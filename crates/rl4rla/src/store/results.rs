//! The log of an exploration's results: its rows are those of the log of evaluations, one for each number.

use super::live::Pace;
use super::{LiveState, RunId, Store, StoreError, StoredReward};
use crate::explore::ResultLog;
use rustc_hash::FxHashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Writes the results of an exploration into the store as they are computed, from any thread, and knows those that an
/// earlier attempt left there. After an error of the store nothing more is written, and the error is kept.
pub struct ResultRecorder<'a> {
    run: RunId,
    known: FxHashMap<u128, Vec<f64>>,
    writing: Mutex<Writing<'a>>,
    replayed: AtomicUsize,
    computed: AtomicUsize,
}

/// What one thread at a time writes.
struct Writing<'a> {
    store: &'a mut Store,
    error: Option<StoreError>,
    pace: Pace,
    /// What is being done, in words.
    doing: String,
}

impl<'a> ResultRecorder<'a> {
    /// Records this run, with the results that are in the store.
    pub fn new(store: &'a mut Store, run: RunId) -> Result<ResultRecorder<'a>, StoreError> {
        let mut known: FxHashMap<u128, Vec<f64>> = FxHashMap::default();
        for row in store.evaluations(&run)? {
            // Rows come in the order of their numbers.
            known.entry(u128::from_le_bytes(row.key)).or_default().push(row.value);
        }
        let (replayed, computed) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let pace = Pace::new(store.seconds(&run)?);
        let writing = Mutex::new(Writing { store, error: None, pace, doing: String::new() });
        Ok(ResultRecorder { run, known, writing, replayed, computed })
    }

    /// Numbers of results that were taken from the log, and that were computed.
    pub fn counts(&self) -> [usize; 2] {
        [&self.replayed, &self.computed].map(|count| count.load(Ordering::Relaxed))
    }

    /// Notes what is being done, for those who watch the run.
    pub fn doing(&self, what: &str) {
        let mut writing = self.writing();
        writing.doing = what.into();
        self.show(&mut writing);
    }

    /// Whether the store has failed.
    pub fn failed(&self) -> bool {
        self.writing().error.is_some()
    }

    /// Commits everything; returns the first error.
    pub fn close(self) -> Result<(), StoreError> {
        let Writing { store, error, .. } = self.writing.into_inner().unwrap_or_else(PoisonError::into_inner);
        let flushed = store.flush();
        error.map_or(flushed, Err)
    }

    fn writing(&self) -> MutexGuard<'_, Writing<'a>> {
        self.writing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Shows the state of the run if it is due.
    fn show(&self, writing: &mut Writing) {
        if writing.error.is_none() && writing.pace.is_due() {
            let evaluations = self.counts().iter().sum::<usize>() as u64;
            let (at, doing) = (writing.pace.tick(), writing.doing.clone());
            let live = LiveState { evaluations, at, doing, ..LiveState::default() };
            writing.error = writing.store.show(&self.run, &live).err();
        }
    }
}

impl ResultLog for ResultRecorder<'_> {
    fn known(&self, key: u128) -> Option<Vec<f64>> {
        let found = self.known.get(&key).cloned();
        self.replayed.fetch_add(usize::from(found.is_some()), Ordering::Relaxed);
        found
    }

    fn computed(&self, key: u128, numbers: &[f64]) {
        self.computed.fetch_add(1, Ordering::Relaxed);
        let rows: Vec<StoredReward> = StoredReward::of_result(key, numbers).collect();
        let mut writing = self.writing();
        if writing.error.is_none() {
            writing.error = writing.store.append(&self.run, &rows).err();
        }
        self.show(&mut writing);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Folder, new_run};
    use super::*;

    #[test]
    fn what_was_written_is_known_and_forgotten_at_the_end() {
        let folder = Folder::new();
        let mut store = Store::open(&folder.file("runs.db")).unwrap();
        let [run, other] = [(); 2].map(|()| store.begin(&new_run()).unwrap());
        let results = [(7_u128 << 100, vec![0.5, f64::INFINITY, -0.0]), (1, vec![0.25])];
        let log = ResultRecorder::new(&mut store, run.clone()).unwrap();
        std::thread::scope(|scope| {
            for (key, numbers) in &results {
                scope.spawn(|| log.computed(*key, numbers));
            }
        });
        assert_eq!(log.known(1), None, "the log is that of an earlier attempt");
        assert_eq!(log.counts(), [0, 2]);
        log.close().unwrap();
        let log = ResultRecorder::new(&mut store, run.clone()).unwrap();
        for (key, numbers) in &results {
            let bits = |numbers: &[f64]| numbers.iter().map(|number| number.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(&log.known(*key).unwrap()), bits(numbers));
        }
        assert_eq!((log.known(2), log.counts()), (None, [2, 0]));
        log.close().unwrap();
        let log = ResultRecorder::new(&mut store, other).unwrap();
        assert_eq!(log.known(1), None, "every run has a log of its own");
        log.close().unwrap();
        store.forget_evaluations(&run).unwrap();
        assert!(store.evaluations(&run).unwrap().is_empty());
        store.integrity().unwrap();
        let log = ResultRecorder::new(&mut store, run).unwrap();
        assert_eq!(log.known(1), None);
    }

    #[test]
    fn a_reader_cannot_record() {
        let folder = Folder::new();
        let mut store = Store::open(&folder.file("runs.db")).unwrap();
        let run = store.begin(&new_run()).unwrap();
        drop(store);
        let mut reader = Store::open_read_only(&folder.file("runs.db")).unwrap();
        let log = ResultRecorder::new(&mut reader, run).unwrap();
        log.computed(1, &[1.0]);
        assert!(log.failed());
        assert!(matches!(log.close(), Err(StoreError::ReadOnly { .. })));
    }
}

//! Progress display of an exploration.

use crate::failure::Failure;
use crate::interrupt::stopped;
use crate::progress;
use rl4rla::explore::ResultLog;
use rl4rla::store::ResultRecorder;
use std::sync::{Mutex, PoisonError};

/// Records the results of an exploration and shows its progress.
pub struct LiveLog<'a> {
    recorder: ResultRecorder<'a>,
    doing: Mutex<String>,
}

impl<'a> LiveLog<'a> {
    /// Shows the progress of the recorded exploration.
    pub fn new(recorder: ResultRecorder<'a>) -> LiveLog<'a> {
        LiveLog { recorder, doing: Mutex::default() }
    }

    /// Shows what is being done; tells whether there is reason to go on.
    pub fn goes_on(&self, what: &str) -> bool {
        *self.doing.lock().unwrap_or_else(PoisonError::into_inner) = what.into();
        self.recorder.doing(what);
        progress::doing(self.message());
        !stopped() && !self.recorder.failed()
    }

    /// Ends the display; the numbers of results that an earlier attempt had computed and that were computed now, or the
    /// error of the store.
    pub fn close(self) -> Result<[usize; 2], Failure> {
        let counts = self.recorder.counts();
        self.recorder.close()?;
        Ok(counts)
    }

    fn message(&self) -> String {
        let what = self.doing.lock().unwrap_or_else(PoisonError::into_inner);
        match self.recorder.counts() {
            [0, computed] => format!("{what} · {computed} results"),
            [replayed, computed] => {
                format!("{what} · {} results, {replayed} of them from the store", computed + replayed)
            }
        }
    }
}

impl ResultLog for LiveLog<'_> {
    fn known(&self, key: u128) -> Option<Vec<f64>> {
        self.recorder.known(key)
    }

    fn computed(&self, key: u128, numbers: &[f64]) {
        self.recorder.computed(key, numbers);
        progress::update(|| self.message());
    }
}

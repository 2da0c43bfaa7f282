//! How far a run has come, and how long it has come no further.

use crate::linalg;

/// Iterations in a row that change nothing before a run is at a standstill.
pub(super) const STILL: usize = 8;

/// Looks in a row that come no closer: then rounding, or the program's own error, hides the rest.
const STALE: usize = 100;

/// Looks in a row that do not come half as close again: then a run that is good up to rounding need not go on.
const SLOW: usize = 10;

/// How close a run has come, how many looks ago, and how many looks ago it had come half as close.
pub(super) struct Closest {
    distance: f64,
    since: usize,
    mark: f64,
    since_mark: usize,
}

impl Default for Closest {
    fn default() -> Closest {
        Closest { distance: f64::INFINITY, since: 0, mark: f64::INFINITY, since_mark: 0 }
    }
}

impl Closest {
    /// Takes note of a distance.
    pub fn look(&mut self, distance: f64) {
        (self.distance, self.since) =
            if distance < self.distance { (distance, 0) } else { (self.distance, self.since + 1) };
        (self.mark, self.since_mark) =
            if distance < 0.5 * self.mark { (distance, 0) } else { (self.mark, self.since_mark + 1) };
    }

    /// Whether little more is to be expected.
    pub fn is_slow(&self) -> bool {
        self.since_mark >= SLOW
    }

    /// Whether nothing more is to be expected.
    pub fn is_stale(&self) -> bool {
        self.since >= STALE
    }
}

/// The mean of vectors.
#[derive(Default)]
pub(super) struct Mean {
    sum: Vec<f64>,
    count: usize,
}

impl Mean {
    /// Adds a vector.
    pub fn add(&mut self, x: &[f64]) {
        self.sum = if self.count == 0 { x.to_vec() } else { linalg::add(&self.sum, x) };
        self.count += 1;
    }

    /// The mean of what was added, if anything was.
    pub fn value(&self) -> Option<Vec<f64>> {
        (self.count > 0).then(|| linalg::scale(1.0 / self.count as f64, &self.sum))
    }
}

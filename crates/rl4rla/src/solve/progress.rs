//! Progress of a run, and how long it has made none.

use crate::linalg;

/// Consecutive iterations without any change after which a run has stalled.
pub(super) const STILL: usize = 8;

/// Consecutive measurements without improvement after which rounding, or the error of the program itself, hides the
/// rest.
const STALE: usize = 100;

/// Consecutive measurements without halving the distance after which a run that is accurate up to rounding may stop.
pub(super) const SLOW: usize = 10;

/// The smallest distance reached, the measurements since then, and the measurements since the distance was last
/// halved.
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
    /// Records a measured distance.
    pub fn look(&mut self, distance: f64) {
        (self.distance, self.since) =
            if distance < self.distance { (distance, 0) } else { (self.distance, self.since + 1) };
        (self.mark, self.since_mark) =
            if distance < 0.5 * self.mark { (distance, 0) } else { (self.mark, self.since_mark + 1) };
    }

    /// Whether little more progress can be expected, after so many measurements without much.
    pub fn is_slow(&self, patience: usize) -> bool {
        self.since_mark >= patience
    }

    /// Whether no more progress can be expected.
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

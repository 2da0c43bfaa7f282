//! Sizes of blocks and bases, and when an iteration looks at its Ritz values.

/// Sizes of an iteration.
pub struct BasisLimits {
    /// Columns of a block.
    pub block: usize,
    /// Products with A, at most.
    pub passes: usize,
    /// Residual, relative to the largest value, at which a pair has converged.
    pub target: f64,
}

/// Columns of a block: as many as are multiplied in hardly more time than one.
const BLOCK: usize = 4;
/// The same if many pairs are asked for.
const MANY: usize = 8;
/// Columns of a basis beyond twice the pairs: with more, orthogonalising costs more than the products it saves.
const EXTRA: usize = 120;
/// Steps after which Ritz values are only looked at now and then.
const EARLY: usize = 12;
const NOW_AND_THEN: usize = 4;
/// Steps of a probe: at least these, and this share of those it took to converge.
const LEAST_PROBE: usize = 3;
const SHARE: usize = 3;

impl BasisLimits {
    /// For k pairs.
    pub fn new(k: usize, passes: usize, tolerance: f64) -> BasisLimits {
        // Half of the tolerance is left for rounding, down to what rounding itself leaves.
        let target = (0.5 * tolerance).max(4.0 * f64::EPSILON);
        BasisLimits { block: if k > 16 { MANY } else { BLOCK }, passes, target }
    }

    /// Largest number of columns of a basis in n dimensions.
    pub fn room(&self, k: usize, n: usize) -> usize {
        (2 * k + EXTRA).min(n - 2 * self.block)
    }

    /// How many of the Ritz vectors a restart keeps.
    pub fn kept(&self, k: usize, done: usize) -> usize {
        (k + (done - k) / 2).min(done - self.block)
    }

    /// Whether to look at the Ritz values after this many steps.
    pub fn looks_at(&self, steps: usize) -> bool {
        steps <= EARLY || steps.is_multiple_of(NOW_AND_THEN)
    }

    /// Steps of a probe, which has the room that is left beside k pairs.
    pub fn probing(&self, steps: usize, k: usize, n: usize) -> usize {
        steps.div_ceil(SHARE).max(LEAST_PROBE).min((self.room(k, n) - k) / self.block)
    }
}

//! How fast this machine is: flops and bytes per second.

use crate::clock::fastest;
use crate::linalg::{self, Matrix};
use serde::Serialize;
use std::time::Duration;

/// Where rates come from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RatesSource {
    /// A short benchmark on this machine.
    Measured,
    /// [`Rates::USUAL`].
    Default,
}

/// Rates of a machine.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Rates {
    /// Flops per second of products of matrices.
    pub flops: f64,
    /// Bytes per second of a product A·x with a matrix larger than the caches.
    pub bytes: f64,
    /// Where they come from.
    pub source: RatesSource,
}

/// Time of each of the two measurements.
const TIME: Duration = Duration::from_millis(60);

impl Rates {
    /// Two cores of a common server: 50 Gflop/s and 10 GB/s.
    pub const USUAL: Rates = Rates { flops: 5e10, bytes: 1e10, source: RatesSource::Default };

    /// Measures this machine, in less than a third of a second.
    pub fn measured() -> Rates {
        let (rows, cols) = (4096, 128);
        let entry = |i: usize| ((i * 7919) % 1013) as f64 / 1013.0 - 0.5;
        let tall = Matrix::from_row_major(rows, cols, (0..rows * cols).map(entry).collect());
        let flops = (rows * cols * cols) as f64 / fastest(TIME, || linalg::gram(&tall).get(0, 0));
        let large = Matrix::from_row_major(8 * rows, cols, (0..8 * rows * cols).map(entry).collect());
        let x = vec![1.0; cols];
        let bytes = (8 * 8 * rows * cols) as f64 / fastest(TIME, || linalg::mat_vec(&large, &x)[0]);
        Rates { flops, bytes, source: RatesSource::Measured }
    }

    /// The price of a pass over A, in products A·x at the rate of products of matrices.
    pub fn price(&self) -> f64 {
        4.0 * self.flops / self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_positive_numbers_and_give_a_price() {
        let rates = Rates::measured();
        assert!(rates.flops.is_finite() && rates.flops > 0.0 && rates.bytes.is_finite() && rates.bytes > 0.0);
        assert_eq!(rates.source, RatesSource::Measured);
        // 8 bytes at 10 GB/s take as long as 40 flops at 50 Gflop/s, and a product A·x takes 2 for each entry.
        assert_eq!(Rates::USUAL.price(), 20.0);
    }
}

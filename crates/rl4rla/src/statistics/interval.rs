//! Statistics over replicates with confidence intervals.

use super::{CONFIDENCE, Spread};
use serde::Serialize;

/// A statistic over replicates with its 95 % confidence interval.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Interval {
    /// The estimate.
    pub value: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// Number of replicates.
    pub count: usize,
}

impl Interval {
    /// The mean with Student's t interval; `None` if there are no values.
    pub fn mean(values: impl IntoIterator<Item = f64>) -> Option<Interval> {
        let Spread { count, mean, error, .. } = Spread::of(values)?;
        Some(Interval { value: mean, low: mean - error, high: mean + error, count })
    }

    /// The median with the narrowest symmetric pair of order statistics that covers the true median with 95 %
    /// confidence; the minimum and maximum if there are too few replicates for that. `None` if there are no values.
    ///
    /// ```
    /// use rl4rla::statistics::Interval;
    /// let interval = Interval::median((1..=9).map(f64::from)).unwrap();
    /// assert_eq!((interval.low, interval.value, interval.high), (2.0, 5.0, 8.0));
    /// ```
    pub fn median(values: impl IntoIterator<Item = f64>) -> Option<Interval> {
        let mut sorted: Vec<f64> = values.into_iter().collect();
        sorted.sort_by(f64::total_cmp);
        let (count, value) = (sorted.len(), Spread::of(sorted.iter().copied())?.median);
        // The k-th from either end holds the median with probability 1 − 2·P(B < k), B ~ Binomial(count, ½).
        let (mut below, mut mass, mut k) = (0.0, 0.5_f64.powi(count as i32), 0);
        while 1.0 - 2.0 * (below + mass) >= CONFIDENCE && 2 * (k + 1) <= count {
            below += mass;
            mass *= (count - k) as f64 / (k + 1) as f64;
            k += 1;
        }
        let place = k.saturating_sub(1);
        Some(Interval { value, low: sorted[place], high: sorted[count - 1 - place], count })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;

    #[test]
    fn few_replicates_are_given_whole() {
        let of = |n: u32| Interval::median((0..n).map(f64::from)).unwrap();
        assert_eq!((of(1).low, of(1).high), (0.0, 0.0));
        assert_eq!((of(5).low, of(5).high), (0.0, 4.0));
        assert_eq!((of(8).low, of(8).high), (0.0, 7.0));
        // 1 − 2·(1 + 12 + 66)/4096 = 0.961: the third from either end.
        assert_eq!((of(12).low, of(12).high), (2.0, 9.0));
        assert_eq!(Interval::median([]), None);
        assert_eq!(Interval::mean([]), None);
    }

    #[test]
    fn the_median_is_covered_as_promised() {
        for count in [6, 9, 20] {
            let holds = |i: &u64| {
                let interval = Interval::median(Stream::new(*i).normals(count)).unwrap();
                (interval.low..=interval.high).contains(&0.0)
            };
            let share = (0..4000).filter(holds).count() as f64 / 4000.0;
            assert!(share > 0.94, "{count}: {share}");
        }
    }
}

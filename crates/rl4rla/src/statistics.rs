//! Summary statistics of repeated runs: mean with confidence interval, median, quartiles, range.

mod choice;
mod interval;
mod summary;

pub use choice::{LogitChoice, fit, log_likelihood, softmax};
pub use interval::Interval;
pub use summary::Summary;

use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

/// The confidence level of all intervals.
const CONFIDENCE: f64 = 0.95;

/// Summary statistics of a set of values.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Spread {
    /// Number of values.
    pub count: usize,
    /// The mean.
    pub mean: f64,
    /// Half the width of Student's 95 % confidence interval of the mean; 0 for a single value.
    pub error: f64,
    /// The median.
    pub median: f64,
    /// The first quartile.
    pub lower: f64,
    /// The third quartile.
    pub upper: f64,
    /// The minimum.
    pub min: f64,
    /// The maximum.
    pub max: f64,
    /// The values themselves, if there are few.
    few: [f64; FEW - 1],
}

/// With fewer values than this, the values themselves say more than a mean or a median with its error.
const FEW: usize = 5;

impl Spread {
    /// The statistics of these values; `None` if there are none.
    ///
    /// ```
    /// use rl4rla::statistics::Spread;
    /// let spread = Spread::of([3.0, 1.0, 2.0, 4.0]).unwrap();
    /// assert_eq!((spread.mean, spread.median, spread.lower, spread.upper), (2.5, 2.5, 1.75, 3.25));
    /// ```
    pub fn of(values: impl IntoIterator<Item = f64>) -> Option<Spread> {
        let mut sorted: Vec<f64> = values.into_iter().collect();
        sorted.sort_by(f64::total_cmp);
        let (&min, &max) = (sorted.first()?, sorted.last()?);
        let count = sorted.len() as f64;
        let mean = sorted.iter().sum::<f64>() / count;
        let error = if sorted.len() > 1 {
            let squares: f64 = sorted.iter().map(|v| (v - mean).powi(2)).sum();
            let student = StudentsT::new(0.0, 1.0, count - 1.0).expect("positive freedom");
            student.inverse_cdf(0.5 + CONFIDENCE / 2.0) * (squares / (count - 1.0) / count).sqrt()
        } else {
            0.0
        };
        let mut few = [0.0; FEW - 1];
        few.iter_mut().zip(&sorted).for_each(|(place, value)| *place = *value);
        Some(Spread {
            count: sorted.len(),
            mean,
            error,
            median: quantile(&sorted, 0.5),
            lower: quantile(&sorted, 0.25),
            upper: quantile(&sorted, 0.75),
            min,
            max,
            few,
        })
    }

    /// The values themselves in ascending order; `None` if there are five or more.
    ///
    /// ```
    /// use rl4rla::statistics::Spread;
    /// assert_eq!(Spread::of([3.0, 1.0]).unwrap().few(), Some(&[1.0, 3.0][..]));
    /// assert_eq!(Spread::of([1.0; 5]).unwrap().few(), None);
    /// ```
    pub fn few(&self) -> Option<&[f64]> {
        self.few.get(..self.count)
    }

    /// The interquartile range.
    pub fn iqr(&self) -> f64 {
        self.upper - self.lower
    }
}

/// The median of these values; NaN if there are none.
pub fn median(values: Vec<f64>) -> f64 {
    Spread::of(values).map_or(f64::NAN, |spread| spread.median)
}

/// A quantile of sorted values, by linear interpolation.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = share * (sorted.len() - 1) as f64;
    let (low, high) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
    low + (high - low) * place.fract()
}

/// A success rate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rate {
    /// Number of successes.
    pub successes: usize,
    /// Number of trials.
    pub trials: usize,
}

impl Rate {
    /// The fraction of successes; 0 without trials.
    pub fn share(self) -> f64 {
        self.successes as f64 / self.trials.max(1) as f64
    }

    /// Wilson's 95 % confidence interval of the fraction.
    ///
    /// ```
    /// use rl4rla::statistics::Rate;
    /// let [low, high] = Rate { successes: 20, trials: 20 }.interval();
    /// assert!((low - 0.839).abs() < 1e-3 && (high - 1.0).abs() < 1e-12);
    /// ```
    pub fn interval(self) -> [f64; 2] {
        if self.trials == 0 {
            return [0.0, 1.0];
        }
        let (n, p) = (self.trials as f64, self.share());
        let z = Normal::standard().inverse_cdf(0.5 + CONFIDENCE / 2.0);
        let middle = p + z * z / (2.0 * n);
        let half = z * (p * (1.0 - p) / n + z * z / (4.0 * n * n)).sqrt();
        [middle - half, middle + half].map(|end| (end / (1.0 + z * z / n)).clamp(0.0, 1.0))
    }
}

impl std::fmt::Display for Rate {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "{}/{}", self.successes, self.trials)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_of_means_are_students() {
        let spread = Spread::of([1.0, 2.0, 3.0]).unwrap();
        // t(0.975; 2) = 4.302653, s/√3 = 0.577350.
        assert!((spread.error - 4.302_653 * 0.577_350).abs() < 1e-5);
        assert_eq!(Spread::of([4.0]).unwrap().error, 0.0);
        assert_eq!(Spread::of([]), None);
    }

    #[test]
    fn quantiles_lie_between_order_statistics() {
        assert_eq!(Spread::of([3.0, 1.0, 2.0]).unwrap().median, 2.0);
        assert_eq!(Spread::of([1.0, 2.0]).unwrap().median, 1.5);
        assert_eq!(Spread::of([0.0, 1.0, 2.0, 3.0, 4.0]).unwrap().iqr(), 2.0);
    }

    #[test]
    fn rates_have_wilsons_interval() {
        // 15 of 20: (0.531, 0.888), as in any table of the score interval.
        let [low, high] = Rate { successes: 15, trials: 20 }.interval();
        assert!((low - 0.5313).abs() < 1e-3 && (high - 0.8881).abs() < 1e-3, "{low} {high}");
        assert_eq!(Rate { successes: 0, trials: 0 }.interval(), [0.0, 1.0]);
        assert_eq!(Rate { successes: 3, trials: 4 }.to_string(), "3/4");
    }
}

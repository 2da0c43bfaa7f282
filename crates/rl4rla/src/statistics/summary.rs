//! Mean, standard error and range of measured values.

/// Mean and spread of a quantity.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Summary {
    /// The mean.
    pub mean: f64,
    /// The standard error of the mean; 0 for a single value.
    pub error: f64,
    /// The smallest value.
    pub min: f64,
    /// The largest value.
    pub max: f64,
}

impl Summary {
    /// Summary of these values; NaN if there are none.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Summary {
        let values: Vec<f64> = values.into_iter().collect();
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
        let error = if values.len() > 1 { (squares / (count - 1.0) / count).sqrt() } else { 0.0 };
        let fold = |start: f64, pick: fn(f64, f64) -> f64| values.iter().copied().fold(start, pick);
        Summary { mean, error, min: fold(f64::INFINITY, f64::min), max: fold(f64::NEG_INFINITY, f64::max) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summaries() {
        let s = Summary::of([1.0, 2.0, 3.0]);
        assert_eq!((s.mean, s.min, s.max), (2.0, 1.0, 3.0));
        assert!((s.error - (1.0f64 / 3.0).sqrt()).abs() < 1e-12);
        assert_eq!(Summary::of([4.0]).error, 0.0);
        assert!(Summary::of([]).mean.is_nan());
    }
}

//! Attainable accuracy: the best excess in 32-bit and 64-bit arithmetic, by condition number.

use super::study::{ExcessHistory, Study};
use crate::execute::{Precision, RunSettings};
use crate::statistics::Interval;
use serde::Serialize;

/// The best excess within T iterations at one condition number.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Digits {
    /// κ, if it was prescribed.
    pub kappa: Option<f64>,
    /// With data, registers and iterates rounded to 32 bits; the excess is measured on the original data.
    pub single: Option<Interval>,
    /// With 64 bits.
    pub double: Option<Interval>,
    /// Number of runs that failed with 32 bits.
    pub failed_single: usize,
    /// Number of runs that failed with 64 bits.
    pub failed_double: usize,
}

impl Digits {
    /// The attainable accuracy at every condition number of a study.
    pub fn all(study: &Study) -> Vec<Digits> {
        let row = |&kappa: &Option<f64>| {
            let family = study.at(kappa);
            let histories =
                |precision| study.histories(&family, &RunSettings { precision, ..study.settings(&family) });
            let [single, double] = [Precision::Single, Precision::Double].map(histories);
            let best = |histories: &[ExcessHistory]| {
                Interval::median(histories.iter().flatten().map(|history| least(history)))
            };
            let failed =
                |histories: &[ExcessHistory]| histories.iter().filter(|history| history.is_err()).count();
            Digits {
                kappa,
                single: best(&single),
                double: best(&double),
                failed_single: failed(&single),
                failed_double: failed(&double),
            }
        };
        study.kappas.iter().map(row).collect()
    }
}

fn least(history: &[f64]) -> f64 {
    history.iter().copied().fold(f64::INFINITY, f64::min)
}

#[cfg(test)]
mod tests {
    use super::super::study::tests::study;
    use super::*;

    #[test]
    fn half_the_bits_are_half_the_digits() {
        let mut study = study("sketched-precond-gd-factored", "mid-cond", (200, 6), &[10.0, 1e3], Some(0.67));
        study.protocol.iterations = 120;
        for row in Digits::all(&study) {
            let (single, double) = (row.single.unwrap().value, row.double.unwrap().value);
            assert!((1e-9..1e-4).contains(&single) && double < 1e-11, "{row:?}");
        }
    }
}

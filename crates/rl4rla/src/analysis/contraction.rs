//! The contraction factor of the excess per iteration, computed and measured, against the condition number.

use super::iteration::Nature;
use super::spectrum::Spectrum;
use super::study::{ExcessHistory, Study};
use crate::statistics::Interval;
use serde::Serialize;

/// The contraction at one condition number.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Contraction {
    /// κ, if it was prescribed.
    pub kappa: Option<f64>,
    /// From the spectrum of the iteration matrix, for stationary methods.
    pub computed: Option<Computed>,
    /// The geometric rate of the excess in the last iterations before rounding or noise dominates.
    pub measured: Option<Interval>,
    /// Number of failed runs.
    pub failed: usize,
}

/// Quantities of the iteration matrix G = I − η·M·A.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Computed {
    /// ρ(G), the asymptotic convergence factor.
    pub radius: Interval,
    /// ‖A·G·A⁺‖, the largest possible factor of the excess in one iteration.
    pub norm: Interval,
}

/// The floor is reached when the excess is within this factor of its minimum.
const NEAR: f64 = 10.0;

impl Contraction {
    /// The contraction at every condition number of a study, from its spectra and convergence histories there.
    pub fn all(
        study: &Study,
        spectra: &[Vec<Spectrum>],
        histories: &[Vec<ExcessHistory>],
    ) -> Vec<Contraction> {
        let row = |((&kappa, spectra), histories): ((&Option<f64>, &Vec<Spectrum>), &Vec<ExcessHistory>)| {
            let over =
                |f: fn(&Spectrum, f64) -> f64| Interval::mean(spectra.iter().map(|s| f(s, study.step)));
            let computed = over(Spectrum::radius).zip(over(Spectrum::norm));
            Contraction {
                kappa,
                computed: computed.map(|(radius, norm)| Computed { radius, norm }),
                measured: Interval::mean(histories.iter().flatten().filter_map(|history| rate(history))),
                failed: histories.iter().filter(|history| history.is_err()).count(),
            }
        };
        study.kappas.iter().zip(spectra).zip(histories).map(row).collect()
    }
}

/// The spectra at every condition number, one per replicate; empty unless the iteration is stationary.
pub(super) fn spectra(study: &Study, nature: Nature) -> Vec<Vec<Spectrum>> {
    let at = |kappa: &Option<f64>| {
        let family = study.at(*kappa);
        let drawn = if nature == Nature::Stationary { study.instances(&family) } else { vec![] };
        let each = drawn.iter().zip(0..);
        each.filter_map(|(instance, index)| Spectrum::of(study, &family, instance.as_ref().ok()?, index))
            .collect()
    };
    study.kappas.iter().map(at).collect()
}

/// The contraction factor of these excesses per iteration: the geometric mean over the last half of the history, up
/// to where it reaches its floor. Above 1 if the excess grows.
pub fn rate(excesses: &[f64]) -> Option<f64> {
    let end = excesses.len().checked_sub(1)?;
    let (first, last) = (excesses[0], excesses[end]);
    let least = excesses.iter().copied().filter(|e| *e > 0.0).fold(f64::INFINITY, f64::min);
    let floor = NEAR * least;
    let falls = last < first && floor < first;
    let reached = excesses.iter().position(|e| *e <= floor).filter(|_| falls).unwrap_or(end);
    // An excess of zero has no rate, but the one before it has.
    let from = reached / 2;
    let ratio = excesses[reached] / excesses[from];
    (reached > from && ratio > 0.0).then(|| ratio.powf(1.0 / (reached - from) as f64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn geometric_courses_have_their_rate() {
        let history = |q: f64, floor: f64| (0..60).map(|t| q.powi(t) + floor).collect::<Vec<f64>>();
        for q in [0.9, 0.5, 1.1] {
            assert!((rate(&history(q, 0.0)).unwrap() - q).abs() < 1e-12);
        }
        // The floor is excluded.
        let floored = rate(&history(0.5, 1e-6)).unwrap();
        assert!((floored - 0.5).abs() < 0.01, "{floored}");
        // A fast start does not count.
        let two: Vec<f64> = (0..200).map(|t| 0.1f64.powi(t) + 0.01 * 0.9f64.powi(t)).collect();
        assert!((rate(&two).unwrap() - 0.9).abs() < 1e-3);
    }

    #[test]
    fn short_courses_are_no_trouble() {
        assert_eq!((rate(&[]), rate(&[1.0])), (None, None));
        assert_eq!(rate(&[1.0, 1e-16, 2e-16, 0.0]), Some(1e-16));
        assert_eq!(rate(&[0.0, 0.0]), None);
        assert_eq!(rate(&[1.0, 1.0, 1.0]), Some(1.0));
    }
}

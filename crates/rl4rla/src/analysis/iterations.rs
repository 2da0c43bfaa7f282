//! Iterations to the tolerance: predicted from the contraction factor, and observed.

use super::contraction::rate;
use super::spectrum::Spectrum;
use super::study::{ExcessHistory, Study};
use crate::statistics::Interval;
use serde::Serialize;

/// Iterations to the tolerance at one condition number.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Wait {
    /// κ, if it was prescribed.
    pub kappa: Option<f64>,
    /// ln(ε/e₀)/ln ρ, with ρ from the spectrum, or measured if there is none; `None` if ρ ≥ 1.
    pub predicted: Option<Interval>,
    /// The first iteration whose excess is at most ε, over the runs that reached it.
    pub observed: Option<Interval>,
    /// Number of runs that reached the tolerance.
    pub reached: usize,
    /// Number of runs.
    pub count: usize,
    /// Iteration limit of the runs.
    pub within: usize,
}

impl Wait {
    /// The iterations at every condition number of a study, from its spectra and convergence histories there.
    pub fn all(study: &Study, spectra: &[Vec<Spectrum>], histories: &[Vec<ExcessHistory>]) -> Vec<Wait> {
        let epsilon = study.care.tolerance;
        let row = |((&kappa, spectra), histories): ((&Option<f64>, &Vec<Spectrum>), &Vec<ExcessHistory>)| {
            let ran: Vec<&Vec<f64>> = histories.iter().flatten().collect();
            let start = Interval::mean(ran.iter().map(|history| history[0])).map_or(1.0, |start| start.value);
            let factors: Vec<f64> = match spectra.is_empty() {
                true => ran.iter().filter_map(|history| rate(history)).collect(),
                false => spectra.iter().map(|spectrum| spectrum.radius(study.step)).collect(),
            };
            let each: Option<Vec<f64>> =
                factors.into_iter().map(|factor| predicted(factor, epsilon / start)).collect();
            let observed: Vec<f64> = ran.iter().filter_map(|history| reached(history, epsilon)).collect();
            Wait {
                kappa,
                predicted: each.and_then(Interval::mean),
                reached: observed.len(),
                observed: Interval::median(observed),
                count: histories.len(),
                within: study.horizon(),
            }
        };
        study.kappas.iter().zip(spectra).zip(histories).map(row).collect()
    }
}

/// The first iteration whose excess is at most ε.
fn reached(history: &[f64], epsilon: f64) -> Option<f64> {
    history.iter().position(|excess| *excess <= epsilon).map(|t| t as f64)
}

/// The number of iterations after which ρᵗ ≤ ε; `None` if that never happens.
pub(super) fn predicted(factor: f64, epsilon: f64) -> Option<f64> {
    match factor {
        _ if epsilon >= 1.0 => Some(0.0),
        factor if !(0.0..1.0).contains(&factor) => None,
        // At least one iteration is needed.
        factor => Some((epsilon.ln() / factor.max(f64::MIN_POSITIVE).ln()).ceil().max(1.0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_are_counted() {
        assert_eq!(predicted(0.1, 1e-6), Some(6.0));
        assert_eq!(
            (predicted(0.0, 1e-6), predicted(1.0, 1e-6), predicted(1.2, 0.1)),
            (Some(1.0), None, None)
        );
        assert_eq!(predicted(0.5, 2.0), Some(0.0));
        assert_eq!((reached(&[1.0, 0.1, 0.01], 0.05), reached(&[1.0], 0.5)), (Some(2.0), None));
    }
}

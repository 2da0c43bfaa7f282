//! Iterations to a tolerance: predicted from the contraction, and observed.

use super::contraction::rate;
use super::spectrum::Spectrum;
use super::study::{ExcessHistory, Study};
use crate::statistics::Interval;
use serde::Serialize;

/// Iterations to a tolerance at one condition number.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Wait {
    /// κ, if one was imposed.
    pub kappa: Option<f64>,
    /// ln(ε/e₀)/ln ρ, with ρ from the spectrum, or measured where there is none; nothing if ρ ≥ 1.
    pub predicted: Option<Interval>,
    /// The first iteration whose excess is at most ε, over the runs that came there.
    pub observed: Option<Interval>,
    /// How many runs came there.
    pub reached: usize,
    /// How many were made.
    pub count: usize,
    /// After how many iterations they ended.
    pub within: usize,
}

impl Wait {
    /// At every condition number of a study, given its spectra and convergence histories there.
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

/// The iterations after which ρᵗ ≤ ε; nothing if it never is.
pub(super) fn predicted(factor: f64, epsilon: f64) -> Option<f64> {
    match factor {
        _ if epsilon >= 1.0 => Some(0.0),
        factor if !(0.0..1.0).contains(&factor) => None,
        // What vanishes in one iteration does not vanish in less.
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

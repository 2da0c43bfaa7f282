//! The step sizes for which a program converges, (0, ηmax), and the best of them.

use super::spectrum::Spectrum;
use super::study::{Study, last};
use crate::execute::RunSettings;
use crate::statistics::Interval;
use rayon::prelude::*;
use serde::Serialize;

/// How the range of step sizes was determined.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Found {
    /// From the eigenvalues of M·A: ηmax = min 2·Re λ/|λ|².
    Spectrum,
    /// By experiment: the largest step size for which the excess decreases over T iterations, by bisection.
    Bisection,
    /// Not applicable: the program has no step size.
    NotApplicable,
}

/// The step sizes for which a program converges.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct StepRange {
    /// How they were determined.
    pub found: Found,
    /// The step size used in the rest of the analysis.
    pub used: f64,
    /// Lower end of the range.
    pub low: f64,
    /// Upper end at the first condition number; `None` if no end was found.
    pub high: Option<f64>,
    /// The best step size there.
    pub best: Option<f64>,
    /// The range at every condition number.
    pub rows: Vec<StepRow>,
}

/// The step sizes at one condition number.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct StepRow {
    /// κ, if it was prescribed.
    pub kappa: Option<f64>,
    /// ηmax; `None` if no end was found, 0 if the program converges for no step size.
    pub high: Option<Interval>,
    /// The step size with the smallest contraction factor, or with the smallest excess after T iterations.
    pub best: Option<Interval>,
}

/// Exponents of the powers of two that are tried.
const POWERS: std::ops::RangeInclusive<i32> = -12..=8;
/// Bisections of the last interval: three digits.
const HALVINGS: usize = 8;
/// Maximum number of replicates used.
const REPLICATES: u64 = 3;

impl StepRange {
    /// The range of a study, given its spectra at every condition number.
    pub fn of(study: &Study, spectra: &[Vec<Spectrum>]) -> StepRange {
        let known = spectra.iter().any(|spectra| !spectra.is_empty()) && !study.reads_step();
        let found = match (study.has_step(), known) {
            (false, _) => Found::NotApplicable,
            (true, true) => Found::Spectrum,
            (true, false) => Found::Bisection,
        };
        let row = |(&kappa, spectra): (&Option<f64>, &Vec<Spectrum>)| match found {
            Found::NotApplicable => StepRow { kappa, high: None, best: None },
            Found::Spectrum => StepRow {
                kappa,
                high: Interval::mean(spectra.iter().map(Spectrum::stable)),
                best: Interval::mean(spectra.iter().filter_map(Spectrum::best)),
            },
            Found::Bisection => bisected(study, kappa),
        };
        let rows: Vec<StepRow> = study.kappas.iter().zip(spectra).map(row).collect();
        let first = |part: fn(&StepRow) -> Option<Interval>| Some(part(rows.first()?)?.value);
        let (high, best) = (first(|row| row.high), first(|row| row.best));
        StepRange { found, used: study.step, low: 0.0, high, best, rows }
    }
}

/// Determines the range on a few instances separately.
fn bisected(study: &Study, kappa: Option<f64>) -> StepRow {
    // As many replicates as the map has if runs are too expensive for more.
    let replicates = study.care.replicates.min(study.effort.replicates / 2).clamp(1, REPLICATES);
    let ends: Vec<(Option<f64>, Option<f64>)> =
        (0..replicates).into_par_iter().map(|index| search(study, kappa, index)).collect();
    // If one instance has no upper end, the result has none.
    let high: Option<Vec<f64>> = ends.iter().map(|(high, _)| *high).collect();
    StepRow {
        kappa,
        high: high.and_then(Interval::mean),
        best: Interval::mean(ends.iter().filter_map(|(_, best)| *best)),
    }
}

/// Upper end of the range, 0 if no step size converges and `None` if all do, and the best step size tried.
fn search(study: &Study, kappa: Option<f64>, index: u64) -> (Option<f64>, Option<f64>) {
    let family = study.at(kappa);
    let (mut best, mut least) = (None, f64::INFINITY);
    let mut falls = |step: f64| {
        let settings = RunSettings { step, ..study.settings(&family) };
        let history = study.history(&family, &settings, study.care.seed, index);
        let (end, start) = (last(&history), history.ok().and_then(|c| c.first().copied()).unwrap_or(0.0));
        if end < least {
            (best, least) = (Some(step), end);
        }
        end < start
    };
    // Tiny steps may make no visible progress, so the end is at the first step size that is too large.
    let powers: Vec<f64> = POWERS.map(|power| 2f64.powi(power)).collect();
    let tried: Vec<bool> = powers.iter().map(|step| falls(*step)).collect();
    let Some(begin) = tried.iter().position(|falls| *falls) else { return (Some(0.0), None) };
    let Some(beyond) = tried[begin..].iter().position(|falls| !*falls) else { return (None, best) };
    let (mut low, mut high) = (powers[begin + beyond - 1], powers[begin + beyond]);
    for _ in 0..HALVINGS {
        let middle = (low + high) / 2.0;
        if falls(middle) { low = middle } else { high = middle }
    }
    (Some(low), best)
}

#[cfg(test)]
mod tests {
    use super::super::study::tests::study;
    use super::*;

    #[test]
    fn bisection_finds_what_the_spectrum_says() {
        let mut study = study("ls-gd", "mid-cond", (100, 5), &[3.0], Some(0.5));
        study.protocol.iterations = 300;
        let high = bisected(&study, Some(3.0)).high.unwrap().value;
        assert!((high - 2.0).abs() < 0.02, "{high}");
    }

    #[test]
    fn what_has_no_step_has_no_range() {
        let study = study("power-iteration", "eigenvalue", (8, 8), &[4.0], Some(1.0));
        let range = StepRange::of(&study, &[vec![]]);
        assert_eq!((range.found, range.high), (Found::NotApplicable, None));
    }

    #[test]
    fn sampled_gradients_have_an_end() {
        let study = study("sgd", "low-cond", (200, 5), &[2.0], Some(0.5));
        let row = bisected(&study, Some(2.0));
        let (high, best) = (row.high.unwrap().value, row.best.unwrap().value);
        assert!((0.5..3.0).contains(&high) && best < high, "{high} {best}");
    }
}

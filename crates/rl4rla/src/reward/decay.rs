//! Decay: rewards a residual that decreases in every iteration.
//!
//! decay = clip( −ln ρmax, 0, 1 ),  ρmax = maxₜ ‖rₜ₊₁‖ / ‖rₜ‖

use super::term::{Formula, Need, RewardTerm};

/// Table row of the decay term.
pub static DECAY: RewardTerm = RewardTerm {
    key: "decay",
    title: "decay",
    doc: "of the slowest iteration",
    needs: &[Need::Iterates],
    sound: Formula::new(|input| decay_of_excess(&input.trace.excesses)),
    paper: Formula::new(|input| decay(&input.trace.residuals)),
};

/// Residuals below this are rounding noise; their ratios say nothing about the method.
const ROUNDING: f64 = 1e-12;

/// The released formula: every ratio counts, and a ρmax that is zero or NaN scores 0.
pub fn decay(residuals: &[f64]) -> f64 {
    of_largest_ratio(residuals.windows(2).map(|pair| pair[1] / pair[0]))
}

/// The formula of `sound`: ratios of the excess, down to rounding noise. A method that reaches the solution in one
/// iteration gets the full term.
pub fn decay_of_excess(excesses: &[f64]) -> f64 {
    let above = excesses.windows(2).filter(|pair| pair[0] > ROUNDING);
    of_largest_ratio(above.map(|pair| pair[1].max(f64::MIN_POSITIVE) / pair[0]))
}

fn of_largest_ratio(ratios: impl Iterator<Item = f64>) -> f64 {
    let largest = ratios
        .fold(0.0, |largest: f64, ratio| if ratio > largest || ratio.is_nan() { ratio } else { largest });
    if largest.is_nan() || largest == 0.0 { 0.0 } else { (-largest.ln()).clamp(0.0, 1.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_step_decides() {
        let e = std::f64::consts::E;
        assert!((decay(&[1.0, 1.0 / e, 1.0 / (e * e)]) - 1.0).abs() < 1e-12);
        assert!((decay(&[1.0, 0.1, 0.09]) - -(0.9f64.ln())).abs() < 1e-12);
        assert_eq!(decay(&[1.0, 0.5, 0.6]), 0.0);
    }

    #[test]
    fn degenerate_histories_earn_nothing() {
        assert_eq!(decay(&[1.0]), 0.0);
        assert_eq!(decay(&[1.0, f64::NAN, 0.1]), 0.0);
        assert_eq!(decay(&[1.0, 0.0, 0.0]), 0.0);
    }

    #[test]
    fn rounding_noise_does_not_count_against_a_method() {
        assert_eq!(decay_of_excess(&[1.0, 1e-16, 2e-16]), 1.0);
        assert_eq!(decay(&[1.0, 1e-16, 2e-16]), 0.0);
        assert_eq!(decay_of_excess(&[1.0, 0.0, 0.0]), 1.0);
        assert_eq!(decay_of_excess(&[1.0, 4e-7, 1.2e-13, 3e-16]), 1.0);
    }
}

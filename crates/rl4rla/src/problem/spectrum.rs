//! Spectra of the families: positive, in decreasing order.

use crate::rng::Stream;

/// The distribution of singular values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum SpectrumLaw {
    /// Linearly spaced from 1 to 1/κ.
    Even,
    /// Linearly spaced from 2 to 1.
    Low,
    /// Squares of standard normals.
    Mid,
    /// 1/i¹⁰.
    High,
    /// Geometrically spaced from 1 to 1/κ.
    Geometric,
    /// The ends are 1 and 1/κ, the others log-uniform between them.
    LogUniform,
}

/// Added to every singular value of a tall family: keeps the smallest away from zero.
const FLOOR: f64 = 1e-6;

/// Default condition number of the distributions that are defined by one.
const CONDITION: f64 = 2.0;

/// The singular values of one instance before normalization, largest first.
///
/// If a condition number is asked for and the distribution is not defined by one, the spectrum drawn is mapped
/// affinely in its logarithm, σ ↦ σmax·κ^(−t) with t = ln(σmax/σ)/ln(σmax/σmin), so that σmax stays and σmax/σmin =
/// κ.
pub(super) fn draw(law: SpectrumLaw, n: usize, condition: Option<f64>, stream: &Stream) -> Vec<f64> {
    let kappa = condition.unwrap_or(if n == 1 { 1.0 } else { CONDITION });
    let powers = |exponents: Vec<f64>| exponents.into_iter().map(|t| kappa.powf(-t)).collect();
    let mut sigma = match law {
        SpectrumLaw::Even => return evenly(1.0, 1.0 / kappa, n),
        SpectrumLaw::Geometric => return powers(evenly(1.0, 0.0, n).into_iter().rev().collect()),
        SpectrumLaw::LogUniform => {
            let mut exponents = stream.uniforms(n);
            exponents.sort_by(f64::total_cmp);
            (exponents[n - 1], exponents[0]) = (1.0, 0.0);
            return powers(exponents);
        }
        SpectrumLaw::Low => evenly(2.0, 1.0, n),
        SpectrumLaw::Mid => stream.normals(n).iter().map(|z| z * z).collect(),
        SpectrumLaw::High => (1..=n).map(|i| (i as f64).powi(-10)).collect(),
    };
    sigma.sort_by(|a, b| b.total_cmp(a));
    sigma.iter_mut().for_each(|s| *s += FLOOR);
    if let Some(condition) = condition {
        impose(&mut sigma, condition);
    }
    sigma
}

/// `n` evenly spaced numbers from `first` to `last`; only `last` if n = 1.
fn evenly(first: f64, last: f64, n: usize) -> Vec<f64> {
    (0..n).rev().map(|i| last + (first - last) * i as f64 / (n.max(2) - 1) as f64).collect()
}

fn impose(sigma: &mut [f64], condition: f64) {
    let (largest, smallest) = (sigma[0], sigma[sigma.len() - 1]);
    // Equal values stay equal: this happens only for a single column.
    let range = (largest / smallest).ln().max(f64::MIN_POSITIVE);
    for s in sigma {
        let t = (largest / *s).ln() / range;
        *s = largest * condition.powf(-t);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(law: SpectrumLaw, cols: usize, condition: Option<f64>) -> Vec<f64> {
        draw(law, cols, condition, &Stream::new(1))
    }

    #[test]
    fn spectra_are_those_of_the_definition() {
        assert_eq!(drawn(SpectrumLaw::Even, 3, None), [1.0, 0.75, 0.5]);
        assert_eq!(drawn(SpectrumLaw::Even, 2, Some(10.0)), [1.0, 0.1]);
        assert_eq!(drawn(SpectrumLaw::Low, 3, None), [2.0, 1.5, 1.0].map(|s| s + 1e-6));
        assert_eq!(drawn(SpectrumLaw::High, 2, None), [1.0, 1.0 / 1024.0].map(|s| s + 1e-6));
        let mid = drawn(SpectrumLaw::Mid, 50, None);
        let mut squares: Vec<f64> = Stream::new(1).normals(50).iter().map(|z| z * z + 1e-6).collect();
        squares.sort_by(|a, b| b.total_cmp(a));
        assert_eq!(mid, squares);
    }

    #[test]
    fn one_column_has_one_value() {
        assert_eq!(drawn(SpectrumLaw::Even, 1, None), [1.0]);
        assert_eq!(drawn(SpectrumLaw::Geometric, 1, None), [1.0]);
        assert_eq!(drawn(SpectrumLaw::LogUniform, 1, Some(1.0)), [1.0]);
        assert_eq!(drawn(SpectrumLaw::Low, 1, Some(1.0)), [1.0 + 1e-6]);
        assert_eq!(drawn(SpectrumLaw::High, 1, None), [1.0 + 1e-6]);
        assert_eq!(drawn(SpectrumLaw::Mid, 1, Some(1.0)), drawn(SpectrumLaw::Mid, 1, None));
    }

    #[test]
    fn a_condition_is_imposed_exactly_and_keeps_the_order() {
        for law in [
            SpectrumLaw::Even,
            SpectrumLaw::Geometric,
            SpectrumLaw::LogUniform,
            SpectrumLaw::Low,
            SpectrumLaw::Mid,
            SpectrumLaw::High,
        ] {
            for condition in [1.0, 1.5, 1e3, 1e12, 1e200] {
                let sigma = drawn(law, 20, Some(condition));
                assert!((sigma[0] / sigma[19] / condition - 1.0).abs() < 1e-14, "{law:?} {condition}");
                assert!(sigma.is_sorted_by(|a, b| a >= b));
                assert_eq!(sigma[0], drawn(law, 20, None)[0]);
            }
        }
    }

    #[test]
    fn imposing_is_affine_in_the_logarithm() {
        let mut sigma = [8.0, 4.0, 1.0];
        impose(&mut sigma, 64.0);
        for (s, expected) in sigma.iter().zip([8.0, 2.0, 0.125]) {
            assert!((s / expected - 1.0).abs() < 1e-14);
        }
    }
}

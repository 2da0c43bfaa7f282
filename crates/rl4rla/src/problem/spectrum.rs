//! Spectra of the families: positive, in decreasing order.

use super::{Family, Kind};
use crate::rng::Stream;

/// Added to every singular value of a tall family: keeps the smallest away from zero.
const FLOOR: f64 = 1e-6;

/// The condition number of `psd` when none is asked for.
const PSD_CONDITION: f64 = 2.0;

/// The singular values of one instance before normalisation, largest first.
///
/// `psd` has λmax = 1 here. When a tall family has a condition κ, the spectrum drawn is mapped affinely
/// in its logarithm, σ ↦ σmax·κ^(−t) with t = ln(σmax/σ)/ln(σmax/σmin), so that σmax stays and
/// σmax/σmin = κ.
pub(super) fn draw(family: &Family, stream: &Stream) -> Vec<f64> {
    let n = family.cols;
    let mut sigma = match family.kind {
        Kind::Psd => {
            let condition = family.condition.unwrap_or(if n == 1 { 1.0 } else { PSD_CONDITION });
            return evenly(1.0, 1.0 / condition, n);
        }
        Kind::LowCond => evenly(2.0, 1.0, n),
        Kind::MidCond => stream.normals(n).iter().map(|z| z * z).collect(),
        Kind::HighCond => (1..=n).map(|i| (i as f64).powi(-10)).collect(),
    };
    sigma.sort_by(|a, b| b.total_cmp(a));
    sigma.iter_mut().for_each(|s| *s += FLOOR);
    if let Some(condition) = family.condition {
        impose(&mut sigma, condition);
    }
    sigma
}

/// `n` numbers from `first` to `last` in equal steps; just `last` if one is all there is.
fn evenly(first: f64, last: f64, n: usize) -> Vec<f64> {
    (0..n).rev().map(|i| last + (first - last) * i as f64 / (n.max(2) - 1) as f64).collect()
}

fn impose(sigma: &mut [f64], condition: f64) {
    let (largest, smallest) = (sigma[0], sigma[sigma.len() - 1]);
    // Equal values stay equal: only a single column has them.
    let range = (largest / smallest).ln().max(f64::MIN_POSITIVE);
    for s in sigma {
        let t = (largest / *s).ln() / range;
        *s = largest * condition.powf(-t);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(kind: Kind, cols: usize, condition: Option<f64>) -> Vec<f64> {
        draw(&Family { rows: cols, cols, condition, ..Family::new(kind) }, &Stream::new(1))
    }

    #[test]
    fn spectra_are_those_of_the_definition() {
        assert_eq!(drawn(Kind::Psd, 3, None), [1.0, 0.75, 0.5]);
        assert_eq!(drawn(Kind::Psd, 2, Some(10.0)), [1.0, 0.1]);
        assert_eq!(drawn(Kind::LowCond, 3, None), [2.0, 1.5, 1.0].map(|s| s + 1e-6));
        assert_eq!(drawn(Kind::HighCond, 2, None), [1.0, 1.0 / 1024.0].map(|s| s + 1e-6));
        let mid = drawn(Kind::MidCond, 50, None);
        let mut squares: Vec<f64> = Stream::new(1).normals(50).iter().map(|z| z * z + 1e-6).collect();
        squares.sort_by(|a, b| b.total_cmp(a));
        assert_eq!(mid, squares);
    }

    #[test]
    fn one_column_has_one_value() {
        assert_eq!(drawn(Kind::Psd, 1, None), [1.0]);
        assert_eq!(drawn(Kind::LowCond, 1, Some(1.0)), [1.0 + 1e-6]);
        assert_eq!(drawn(Kind::HighCond, 1, None), [1.0 + 1e-6]);
        assert_eq!(drawn(Kind::MidCond, 1, Some(1.0)), drawn(Kind::MidCond, 1, None));
    }

    #[test]
    fn a_condition_is_imposed_exactly_and_keeps_the_order() {
        for kind in [Kind::Psd, Kind::LowCond, Kind::MidCond, Kind::HighCond] {
            for condition in [1.0, 1.5, 1e3, 1e12, 1e200] {
                let sigma = drawn(kind, 20, Some(condition));
                assert!((sigma[0] / sigma[19] / condition - 1.0).abs() < 1e-14, "{kind} {condition}");
                assert!(sigma.is_sorted_by(|a, b| a >= b));
                assert!(kind == Kind::Psd || sigma[0] == drawn(kind, 20, None)[0]);
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

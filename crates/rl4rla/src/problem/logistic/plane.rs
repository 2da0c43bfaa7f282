//! Exact minimization of the cross-entropy over a plane: the step of an oracle that knows the labels.

use super::fit::{loss, loss_above};
use crate::linalg::{self, sigmoids};

/// Maximum number of Newton steps; a minimum is reached after five to ten.
const MOST_STEPS: usize = 40;
/// A predicted decrease below this fraction of the loss is rounding error.
const ROUNDING: f64 = 1e-15;
/// The part of w that is not along u is rounding error below this fraction of its length, squared.
const PARALLEL: f64 = 1e-20;

/// α and γ that minimize L at z − α(u − γw); γ = 0 without w, or if w is a multiple of u.
pub fn best_combination(z: &[f64], u: &[f64], w: Option<&[f64]>, b: &[f64]) -> (f64, f64) {
    let length = linalg::norm(u);
    if length == 0.0 || !length.is_finite() {
        return (0.0, 0.0);
    }
    let mut axes = vec![linalg::scale(1.0 / length, u)];
    // Orthonormal axes, so that u and w may be nearly parallel.
    let (mut along, mut beyond) = (0.0, 0.0);
    if let Some(w) = w {
        along = linalg::dot(&axes[0], w);
        let rest: Vec<f64> = w.iter().zip(&axes[0]).map(|(w, e)| w - along * e).collect();
        let size = linalg::dot(&rest, &rest);
        if size > PARALLEL * linalg::dot(w, w) {
            beyond = size.sqrt();
            axes.push(linalg::scale(1.0 / beyond, &rest));
        }
    }
    let at = minimizer(z, &axes, b);
    // −αu + αγw = at₀e₀ + at₁e₁.
    let beta = if beyond > 0.0 { at[1] / beyond } else { 0.0 };
    let alpha = (beta * along - at[0]) / length;
    if alpha == 0.0 || !alpha.is_finite() { (0.0, 0.0) } else { (alpha, beta / alpha) }
}

/// The coordinates at which L(z + Σ tᵢeᵢ) is smallest, by Newton's method with step halving. If L decreases forever
/// along a line, a point far out on it.
fn minimizer(z: &[f64], axes: &[Vec<f64>], b: &[f64]) -> [f64; 2] {
    let mut at = [0.0; 2];
    let mut z = z.to_vec();
    for _ in 0..MOST_STEPS {
        let p = sigmoids(&z);
        let slope = |e: &[f64]| -> f64 { e.iter().zip(&p).zip(b).map(|((e, p), b)| e * (p - b)).sum() };
        let curvature = |e: &[f64], f: &[f64]| -> f64 {
            e.iter().zip(f).zip(&p).map(|((e, f), p)| e * f * p * (1.0 - p)).sum()
        };
        let first = &axes[0];
        let (g, h) = (slope(first), curvature(first, first));
        let step = match axes.get(1) {
            None => [-g / h, 0.0],
            Some(second) => {
                let (g2, mixed, h2) = (slope(second), curvature(first, second), curvature(second, second));
                let determinant = h * h2 - mixed * mixed;
                [(mixed * g2 - h2 * g) / determinant, (mixed * g - h * g2) / determinant]
            }
        };
        let mut along = linalg::scale(step[0], first);
        if let Some(second) = axes.get(1) {
            along.iter_mut().zip(second).for_each(|(a, e)| *a += step[1] * e);
        }
        let (promised, here) = (-slope(&along), loss(&z, b));
        if !(promised > 0.0 && here.is_finite()) {
            break;
        }
        // A last full Newton step squares the remaining error.
        let last = promised <= ROUNDING.sqrt() * here;
        let moved = |t: f64| z.iter().zip(&along).map(|(z, a)| z + t * a).collect::<Vec<f64>>();
        let enough = |t: &f64| last || loss_above(&moved(*t), &z, b) <= -1e-4 * t * promised;
        let Some(t) = (0..60).map(|k| 0.5f64.powi(k)).find(enough) else { break };
        at = [at[0] + t * step[0], at[1] + t * step[1]];
        z = moved(t);
        if promised <= ROUNDING * here {
            break;
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;

    struct Plane {
        z: Vec<f64>,
        u: Vec<f64>,
        w: Vec<f64>,
        b: Vec<f64>,
    }

    fn plane(seed: u64) -> Plane {
        let draw = |label: &str| Stream::new(seed).derive(label, 0).normals(60);
        let b = draw("b").iter().map(|b| f64::from(*b > 0.0)).collect();
        Plane { z: draw("z"), u: draw("u"), w: draw("w"), b }
    }

    impl Plane {
        fn loss(&self, alpha: f64, beta: f64) -> f64 {
            let at = |i: usize| self.z[i] - alpha * self.u[i] + beta * self.w[i];
            loss(&(0..60).map(at).collect::<Vec<f64>>(), &self.b)
        }
    }

    #[test]
    fn the_coefficients_are_the_best_there_are() {
        for seed in 0..5 {
            let p = plane(seed);
            let (alpha, gamma) = best_combination(&p.z, &p.u, Some(&p.w), &p.b);
            let (beta, best) = (alpha * gamma, p.loss(alpha, alpha * gamma));
            for (i, j) in [(1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0), (0.7, 0.7), (0.7, -0.7)] {
                assert!(p.loss(alpha + 1e-4 * i, beta + 1e-4 * j) > best, "seed {seed}, {i} {j}");
            }
            let (alone, none) = best_combination(&p.z, &p.u, None, &p.b);
            assert_eq!(none, 0.0);
            let best = p.loss(alone, 0.0);
            assert!(p.loss(alone + 1e-4, 0.0) > best && p.loss(alone - 1e-4, 0.0) > best);
        }
    }

    /// On a grid that is refined around its best point.
    #[test]
    fn brute_force_finds_the_same_minimum() {
        let p = plane(7);
        let (alpha, gamma) = best_combination(&p.z, &p.u, Some(&p.w), &p.b);
        let (mut centre, mut width) = ((0.0, 0.0), 4.0);
        for _ in 0..12 {
            let place = |i: i32, c: f64| c + width * f64::from(i) / 10.0;
            let grid = (-10..=10).flat_map(|i| (-10..=10).map(move |j| (i, j)));
            let points = grid.map(|(i, j)| (place(i, centre.0), place(j, centre.1)));
            let least = points.min_by(|one, other| p.loss(one.0, one.1).total_cmp(&p.loss(other.0, other.1)));
            (centre, width) = (least.unwrap(), width / 4.0);
        }
        assert!((centre.0 - alpha).abs() < 1e-6 && (centre.1 - alpha * gamma).abs() < 1e-6);
    }

    #[test]
    fn a_last_step_nearly_along_the_direction_does_no_harm() {
        let mut p = plane(3);
        let (alone, _) = best_combination(&p.z, &p.u, None, &p.b);
        assert_eq!(best_combination(&p.z, &p.u, Some(&linalg::scale(2.0, &p.u)), &p.b), (alone, 0.0));
        // The plane of u and w is that of u and u + 1e-7·w.
        let (alpha, gamma) = best_combination(&p.z, &p.u, Some(&p.w), &p.b);
        let best = p.loss(alpha, alpha * gamma);
        p.w = p.u.iter().zip(&p.w).map(|(u, w)| u + 1e-7 * w).collect();
        let (alpha, gamma) = best_combination(&p.z, &p.u, Some(&p.w), &p.b);
        assert!((p.loss(alpha, alpha * gamma) / best - 1.0).abs() < 1e-9);
        assert_eq!(best_combination(&p.z, &[0.0; 60], None, &p.b), (0.0, 0.0));
    }

    #[test]
    fn a_line_that_separates_the_labels_has_a_finite_step() {
        let p = plane(4);
        let u: Vec<f64> = p.b.iter().map(|b| 0.5 - b).collect();
        let (alpha, gamma) = best_combination(&p.z, &u, None, &p.b);
        assert!(alpha.is_finite() && alpha > 10.0 && gamma == 0.0, "{alpha}");
    }
}

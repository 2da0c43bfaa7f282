//! Exact minimization over a plane: the step of an oracle that knows the solution.

use crate::linalg;

/// α and γ that minimize ‖e − α(u − γw)‖; γ = 0 without w, or if w is a multiple of u.
pub fn best_combination(e: &[f64], u: &[f64], w: Option<&[f64]>) -> (f64, f64) {
    best_in_energy(e, [u, u], w.map(|w| [w, w]))
}

/// The same in the norm √(vᵀHv), given u and w together with Hu and Hw.
pub fn best_in_energy(e: &[f64], [u, hu]: [&[f64]; 2], w: Option<[&[f64]; 2]>) -> (f64, f64) {
    let uu = linalg::dot(u, hu);
    if uu == 0.0 || !uu.is_finite() {
        return (0.0, 0.0);
    }
    let alone = linalg::dot(e, hu) / uu;
    let Some([w, hw]) = w else { return (alone, 0.0) };
    // w without its part along u.
    let along = linalg::dot(u, hw) / uu;
    let without = |w: &[f64], u: &[f64]| w.iter().zip(u).map(|(w, u)| w - along * u).collect::<Vec<f64>>();
    let (beyond, image) = (without(w, u), without(hw, hu));
    let size = linalg::dot(&beyond, &image);
    if size <= 1e-20 * linalg::dot(w, hw) {
        return (alone, 0.0);
    }
    let beta = -linalg::dot(e, &image) / size;
    let alpha = alone + beta * along;
    if alpha == 0.0 { (0.0, 0.0) } else { (alpha, beta / alpha) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;

    #[test]
    fn the_coefficients_are_the_best_there_are() {
        let [e, u, w] = [0, 1, 2].map(|i| Stream::new(3).derive("vector", i).normals(9));
        let left = |alpha: f64, beta: f64| {
            let rest: Vec<f64> = (0..9).map(|i| e[i] - alpha * u[i] + beta * w[i]).collect();
            linalg::norm(&rest)
        };
        let (alpha, gamma) = best_combination(&e, &u, Some(&w));
        let best = left(alpha, alpha * gamma);
        for (da, db) in [(1e-3, 0.0), (-1e-3, 0.0), (0.0, 1e-3), (0.0, -1e-3)] {
            assert!(left(alpha + da, alpha * gamma + db) > best);
        }
        let (alone, none) = best_combination(&e, &u, None);
        assert_eq!(none, 0.0);
        assert!(left(alone + 1e-3, 0.0) > left(alone, 0.0) && left(alone - 1e-3, 0.0) > left(alone, 0.0));
        // A last step along the same line adds nothing.
        assert_eq!(best_combination(&e, &u, Some(&linalg::scale(2.0, &u))), (alone, 0.0));
        assert_eq!(best_combination(&e, &[0.0; 9], None), (0.0, 0.0));
    }

    #[test]
    fn in_the_energy_norm_the_combination_is_that_of_a_factor() {
        let [e, u, w] = [0, 1, 2].map(|i| Stream::new(5).derive("vector", i).normals(6));
        let scales: [f64; 6] = [1.0, 2.0, 3.0, 0.5, 0.1, 4.0];
        let by = |v: &[f64], power: i32| -> Vec<f64> {
            v.iter().zip(scales).map(|(v, s)| v * s.powi(power)).collect()
        };
        let (a, c) = best_combination(&by(&e, 1), &by(&u, 1), Some(&by(&w, 1)));
        let (alpha, gamma) = best_in_energy(&e, [&u, &by(&u, 2)], Some([&w, &by(&w, 2)]));
        assert!((alpha - a).abs() < 1e-12 && (gamma - c).abs() < 1e-12, "{alpha} {a} {gamma} {c}");
    }
}

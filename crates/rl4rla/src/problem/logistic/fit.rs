//! The cross-entropy and its minimum.
//!
//! L(x) = Σᵢ ln(1 + exp(zᵢ)) − bᵢ·zᵢ,  z = Ax,  bᵢ = (1 + yᵢ)/2 for labels yᵢ = ±1
//!
//! which is Σᵢ ln(1 + exp(−yᵢ·zᵢ)).
#![allow(non_snake_case)]

use crate::linalg::{self, Matrix, sigmoids, softplus};
pub use crate::linalg::{cross_entropy as loss, sigmoid};

/// Maximum number of Newton steps; problems that have a solution need about ten.
const MOST_STEPS: usize = 100;
/// A predicted decrease below this fraction of the loss is rounding error.
const ROUNDING: f64 = 1e-15;

/// The difference of L at two points, term by term, so that common parts cancel before they are rounded.
pub fn loss_above(z: &[f64], other: &[f64], b: &[f64]) -> f64 {
    let term = |((z, o), b): ((&f64, &f64), &f64)| softplus(*z) - softplus(*o) - b * (z - o);
    z.iter().zip(other).zip(b).map(term).sum()
}

/// ½λ‖x‖².
pub fn penalty(lambda: f64, x: &[f64]) -> f64 {
    if lambda == 0.0 { 0.0 } else { 0.5 * lambda * linalg::dot(x, x) }
}

/// √(σ(z)·(1 − σ(z))), entry by entry: the roots of the weights of the Hessian.
pub fn slopes(z: &[f64]) -> Vec<f64> {
    sigmoids(z).iter().map(|p| (p * (1.0 - p)).sqrt()).collect()
}

/// Aᵀ(σ(z) − b).
pub fn gradient(A: &Matrix, z: &[f64], b: &[f64]) -> Vec<f64> {
    linalg::vec_mat(&linalg::sub(&sigmoids(z), b), A)
}

/// Whether every margin has the sign of its label, so that scaling x up always reduces the loss.
pub fn separates(z: &[f64], b: &[f64]) -> bool {
    z.iter().zip(b).all(|(z, b)| (b - 0.5) * z > 0.0)
}

/// The minimizer of L, by Newton's method with step halving; `None` if L has no minimum because a hyperplane
/// separates the labels, or nearly so.
pub fn fit(A: &Matrix, b: &[f64]) -> Option<Vec<f64>> {
    fit_from(A, b, vec![0.0; A.cols()])
}

/// The same from another starting point.
pub fn fit_from(A: &Matrix, b: &[f64], x: Vec<f64>) -> Option<Vec<f64>> {
    fit_shifted(A, b, x, 0.0)
}

/// The minimizer of L + ½λ‖x‖², from this starting point.
pub fn fit_shifted(A: &Matrix, b: &[f64], mut x: Vec<f64>, lambda: f64) -> Option<Vec<f64>> {
    let mut z = linalg::mat_vec(A, &x);
    for _ in 0..MOST_STEPS {
        let mut hessian = linalg::gram_of_scaled(&slopes(&z), A);
        let mut g = gradient(A, &z, b);
        if lambda > 0.0 {
            let n = A.cols();
            hessian = Matrix::from_fn(n, n, |i, j| hessian.get(i, j) + if i == j { lambda } else { 0.0 });
            g.iter_mut().zip(&x).for_each(|(g, x)| *g += lambda * x);
        }
        // Directions without data have no curvature: the pseudo-inverse ignores them.
        let step = linalg::mat_vec(&linalg::inverse(&hessian).ok()?, &g);
        let along = linalg::mat_vec(A, &step);
        let promised = linalg::dot(&g, &step);
        let here = loss(&z, b) + penalty(lambda, &x);
        if promised.is_nan() || !here.is_finite() {
            return None;
        }
        // A last full Newton step squares the remaining error.
        let last = promised <= ROUNDING.sqrt() * here;
        let moved = |t: f64| z.iter().zip(&along).map(|(z, d)| z - t * d).collect::<Vec<f64>>();
        let left = |t: f64| {
            let shorter: Vec<f64> = x.iter().zip(&step).map(|(x, s)| x - t * s).collect();
            penalty(lambda, &shorter) - penalty(lambda, &x)
        };
        let above = |t: f64| loss_above(&moved(t), &z, b) + left(t);
        let enough = |t: f64| last || above(t) <= -1e-4 * t * promised;
        let t = (0..60).map(|k| 0.5f64.powi(k)).find(|&t| enough(t))?;
        x.iter_mut().zip(&step).for_each(|(x, s)| *x -= t * s);
        z = linalg::mat_vec(A, &x);
        if lambda == 0.0 && separates(&z, b) {
            return None;
        }
        if promised <= ROUNDING * here {
            // If margins still grow although the loss no longer decreases, the minimum is at infinity.
            let still = lambda > 0.0 || along.iter().all(|d| d.abs() < 0.1);
            return still.then_some(x);
        }
    }
    None
}

/// The iterate of gradient descent after `steps` steps of size 4/‖A‖², which suits every problem.
pub fn gradient_descent(A: &Matrix, b: &[f64], norm: f64, steps: usize) -> Vec<f64> {
    let (mut x, length) = (vec![0.0; A.cols()], 4.0 / norm.powi(2).max(f64::MIN_POSITIVE));
    for _ in 0..steps {
        let g = gradient(A, &linalg::mat_vec(A, &x), b);
        x.iter_mut().zip(&g).for_each(|(x, g)| *x -= length * g);
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;
    use proptest::prelude::*;

    fn problem(seed: u64, rows: usize, cols: usize) -> (Matrix, Vec<f64>) {
        let stream = Stream::new(seed);
        let entries = stream.derive("A", 0).normals(rows * cols);
        let b = stream.derive("b", 0).uniforms(rows).iter().map(|u| f64::from(*u < 0.5)).collect();
        (Matrix::from_fn(rows, cols, |i, j| entries[i * cols + j]), b)
    }

    #[test]
    fn a_hand_solved_problem() {
        // One column of ones, three labels of four positive: σ(x) = 3/4.
        let A = Matrix::from_fn(4, 1, |_, _| 1.0);
        let x = fit(&A, &[1.0, 1.0, 0.0, 1.0]).unwrap();
        assert!((x[0] - 3f64.ln()).abs() < 1e-12);
        let z = vec![x[0]; 4];
        let entropy = -(3.0 * 0.75f64.ln() + 0.25f64.ln());
        assert!((loss(&z, &[1.0, 1.0, 0.0, 1.0]) - entropy).abs() < 1e-12);
    }

    #[test]
    fn separable_labels_have_no_minimum() {
        let A = Matrix::from_rows(&[&[1.0], &[2.0], &[-1.0]]);
        assert_eq!(fit(&A, &[1.0, 1.0, 0.0]), None);
        assert!(fit(&A, &[1.0, 0.0, 0.0]).is_some());
        // Two equal points with different labels: the loss is at least 2·ln 2 there, but the others are separable.
        let A = Matrix::from_rows(&[&[0.0, 1.0], &[0.0, 1.0], &[1.0, 0.0], &[-1.0, 0.0]]);
        assert_eq!(fit(&A, &[1.0, 0.0, 1.0, 0.0]), None);
    }

    #[test]
    fn large_margins_do_not_overflow() {
        assert_eq!(loss_above(&[800.0], &[799.0], &[0.0]), 1.0);
    }

    proptest! {
        #[test]
        fn the_gradient_vanishes_at_the_fit(seed: u64, cols in 1..5_usize) {
            let (A, b) = problem(seed, 60, cols);
            if let Some(x) = fit(&A, &b) {
                let g = gradient(&A, &linalg::mat_vec(&A, &x), &b);
                prop_assert!(linalg::norm(&g) < 1e-10, "{g:?}");
            }
        }

        #[test]
        fn the_gradient_is_the_slope_of_the_loss(seed: u64) {
            let (A, b) = problem(seed, 20, 3);
            let (x, h) = (Stream::new(seed).derive("x", 0).normals(3), 1e-5);
            let at = |j: usize, h: f64| {
                let mut x = x.clone();
                x[j] += h;
                loss(&linalg::mat_vec(&A, &x), &b)
            };
            let g = gradient(&A, &linalg::mat_vec(&A, &x), &b);
            for (j, g) in g.into_iter().enumerate() {
                prop_assert!(((at(j, h) - at(j, -h)) / (2.0 * h) - g).abs() < 1e-7);
            }
        }
    }
}

//! The triangular factor of independent columns, and what it tells of a gradient: the distance from the solution, the
//! backward error, κ.
//!
//! Quantities are those of Â = A·D⁻¹, the columns scaled to length 1 by their lengths D, with R̂ = R·D⁻¹.
#![allow(non_snake_case)]

use crate::linalg::{self, Matrix};
use crate::rng::Stream;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// Steps of power iteration and of inverse iteration for σ₁ and σₙ.
const STEPS: usize = 8;

/// Columns from which on fewer steps have to do.
const MANY: usize = 300;

/// Steps of conjugate gradients for the backward error.
const REFINEMENTS: usize = 12;

/// A triangular factor R of independent columns, RᵀR ≈ AᵀA.
pub(super) struct ColumnFactor {
    R: Arc<Matrix>,
    /// ‖aⱼ‖, up to the distortion of a sketch.
    pub lengths: Vec<f64>,
    /// σ₁ and σₙ of R̂, or estimates of them.
    pub extremes: [f64; 2],
    /// The lengths of the rows of R̂⁻¹ and of R̂⁻¹R̂⁻ᵀ, computed when needed.
    reach: OnceLock<[Vec<f64>; 2]>,
}

impl ColumnFactor {
    /// Lengths whose squares are far from overflow and underflow.
    pub const PLAIN: Range<f64> = 1e-100..1e100;

    /// The factor R of columns of these lengths, with the extreme singular values of R̂.
    pub fn new(R: Arc<Matrix>, lengths: Vec<f64>, extremes: [f64; 2]) -> ColumnFactor {
        ColumnFactor { R, lengths, extremes, reach: OnceLock::new() }
    }

    /// The same with estimates of the extreme singular values, σ₁ from below and σₙ from above; `None` if R is
    /// singular, or lengths are far from 1.
    pub fn of(R: &Arc<Matrix>) -> Option<ColumnFactor> {
        let lengths: Vec<f64> = (0..R.cols()).map(|j| linalg::norm(&R.column(j)[..=j])).collect();
        if !lengths.iter().all(|length| ColumnFactor::PLAIN.contains(length)) {
            return None;
        }
        let mut factor = ColumnFactor::new(R.clone(), lengths, [1.0; 2]);
        let steps = if R.cols() > MANY { STEPS / 2 } else { STEPS };
        let start = Stream::new(0).derive("extreme singular values", 0).normals(R.cols());
        let unit = |v: &[f64]| linalg::scale(1.0 / linalg::norm(v), v);
        let (mut long, mut short) = (unit(&start), unit(&start));
        for step in 0..steps {
            let image = factor.times(&long);
            let back = linalg::solve_upper_transposed(R, &factor.in_units(&short)).ok()?;
            factor.extremes = [linalg::norm(&image), 1.0 / linalg::norm(&back)];
            if step + 1 < steps {
                long = unit(&factor.transposed_times(&image));
                short = unit(&factor.in_units(&linalg::solve_upper(R, &back).ok()?));
            }
        }
        factor.extremes.iter().all(|sigma| sigma.is_normal()).then_some(factor)
    }

    /// σ₁/σₙ of the columns scaled to length 1.
    pub fn kappa(&self) -> f64 {
        if self.lengths.len() < 2 { 1.0 } else { self.extremes[0] / self.extremes[1] }
    }

    /// The coefficients with respect to columns of length 1.
    pub fn in_units(&self, x: &[f64]) -> Vec<f64> {
        x.iter().zip(&self.lengths).map(|(x, length)| x * length).collect()
    }

    /// The gradient with respect to those coefficients.
    pub fn gradient_in_units(&self, gradient: &[f64]) -> Vec<f64> {
        gradient.iter().zip(&self.lengths).map(|(g, length)| g / length).collect()
    }

    /// R̂·v.
    fn times(&self, v: &[f64]) -> Vec<f64> {
        linalg::upper_mat_vec(&self.R, &self.gradient_in_units(v))
    }

    /// R̂ᵀ·v.
    fn transposed_times(&self, v: &[f64]) -> Vec<f64> {
        self.gradient_in_units(&linalg::upper_vec_mat(v, &self.R))
    }

    /// R⁻ᵀg, of length ‖A(x − x*)‖ for the gradient g at x; infinite if it overflows.
    pub fn descent(&self, gradient: &[f64]) -> Vec<f64> {
        linalg::solve_upper_transposed(&self.R, gradient)
            .unwrap_or_else(|_| vec![f64::INFINITY; gradient.len()])
    }

    /// R⁻¹R⁻ᵀv; infinite if it overflows.
    pub fn solved_twice(&self, v: &[f64]) -> Vec<f64> {
        linalg::solve_upper(&self.R, &self.descent(v)).unwrap_or_else(|_| vec![f64::INFINITY; v.len()])
    }

    /// The distance of the coefficients from the solution, in units of columns of length 1, for d = R⁻ᵀg.
    pub fn newton(&self, descent: &[f64]) -> Vec<f64> {
        let step = linalg::solve_upper(&self.R, descent);
        self.in_units(&step.unwrap_or_else(|_| vec![f64::INFINITY; descent.len()]))
    }

    /// Bounds on the change of each entry of [`ColumnFactor::newton`] due to errors of these sizes in r and in g = Aᵀr.
    pub fn amplification(&self, residual: f64, gradient: f64) -> Vec<f64> {
        let [first, second] = self.reach.get_or_init(|| self.reach());
        first.iter().zip(second).map(|(first, second)| residual * first + gradient * second).collect()
    }

    fn reach(&self) -> [Vec<f64>; 2] {
        let n = self.lengths.len();
        let Ok(inverse) = linalg::triangular_inverse(&self.R) else {
            return [vec![f64::INFINITY; n], vec![f64::INFINITY; n]];
        };
        let inverse = Matrix::from_fn(n, n, |i, j| inverse.get(i, j) * self.lengths[i]);
        let covariance = linalg::outer_gram(&inverse);
        let rows = inverse.transpose();
        let length = |matrix: &Matrix, j: usize| linalg::norm(matrix.column(j));
        [&rows, &covariance].map(|matrix| (0..n).map(|j| length(matrix, j)).collect())
    }

    /// The Karlson–Waldén estimate ‖(‖x‖²R̂ᵀR̂ + ‖r‖²I)^(−1/2)·ĝ‖/‖R̂‖_F of the backward error, from above, for ‖x‖ in
    /// units of columns of length 1, ‖r‖, the gradient and d = R⁻ᵀg. A bound that is small `enough` is not sharpened.
    ///
    /// Its square is the minimum of ‖x‖²‖R̂z‖² + ‖ĝ − ‖x‖²R̂ᵀR̂z‖²/‖r‖² over all z, and every z gives a bound. Conjugate
    /// gradients start at z = 0; the solution without r, z = R̂⁻¹R̂⁻ᵀĝ/‖x‖², gives ‖d‖/‖x‖.
    pub fn backward_error(
        &self,
        length: f64,
        distance: f64,
        gradient: &[f64],
        descent: &[f64],
        enough: f64,
    ) -> f64 {
        let size = (self.lengths.len() as f64).sqrt().max(1.0);
        let g = self.gradient_in_units(gradient);
        let mut best = quotient(linalg::norm(descent), length).min(quotient(linalg::norm(&g), distance));
        // Everything in units of ‖r‖, so that squares stay in range.
        let ratio = length / distance;
        if best <= enough * size || !ratio.is_normal() || !best.is_finite() {
            return best / size;
        }
        let mut r = linalg::scale(1.0 / distance, &g);
        let (mut p, mut image) = (r.clone(), vec![0.0; r.len()]);
        let mut rr = linalg::dot(&r, &r);
        let first = rr;
        // r + back, with back = ratio²·R̂ᵀR̂z, is always ĝ/‖r‖.
        let mut rest = r.clone();
        for _ in 0..REFINEMENTS.min(2 * r.len()) {
            let forward = linalg::scale(ratio, &self.times(&p));
            let back = linalg::scale(ratio, &self.transposed_times(&forward));
            let step = rr / (linalg::dot(&forward, &forward) + linalg::dot(&p, &p));
            let add = |to: &mut Vec<f64>, factor: f64, v: &[f64]| {
                to.iter_mut().zip(v).for_each(|(to, v)| *to += factor * v);
            };
            add(&mut image, step, &forward);
            add(&mut rest, -step, &back);
            add(&mut r, -step, &linalg::add(&back, &p));
            best = best.min(linalg::norm(&image).hypot(linalg::norm(&rest)));
            let next = linalg::dot(&r, &r);
            if next.is_nan() || next <= 1e-4 * first || best <= enough * size {
                break;
            }
            let beta = next / rr;
            p = linalg::add(&r, &linalg::scale(beta, &p));
            rr = next;
        }
        best / size
    }
}

/// value/by, and 0 where the value is, whatever it is divided by.
pub(super) fn quotient(value: f64, by: f64) -> f64 {
    if value == 0.0 { 0.0 } else { value / by }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::{Svd, qr_r, svd_of_square};

    fn example(n: usize, kappa: f64, seed: u64) -> Arc<Matrix> {
        let entries = Stream::new(seed).normals((n + 20) * n);
        let scale = |j: usize| kappa.powf(-(j as f64) / (n.max(2) - 1) as f64);
        // Columns of very different lengths, with common directions.
        let column = |i: usize, j: usize| entries[i * n + j] * scale(j) + entries[i * n];
        Arc::new(qr_r(&Matrix::from_fn(n + 20, n, |i, j| column(i, j) * 4f64.powi(j as i32 % 7))))
    }

    fn scaled(factor: &ColumnFactor) -> Svd {
        let R = &factor.R;
        svd_of_square(&Matrix::from_fn(R.rows(), R.cols(), |i, j| R.get(i, j) / factor.lengths[j])).unwrap()
    }

    #[test]
    fn extreme_singular_values_are_estimated_from_inside() {
        for (n, kappa) in [(1, 1.0), (2, 10.0), (7, 1e3), (60, 1e6), (200, 1e9)] {
            let factor = ColumnFactor::of(&example(n, kappa, 1)).unwrap();
            let Svd { sigma, .. } = scaled(&factor);
            let [largest, smallest] = factor.extremes;
            assert!((0.8 * sigma[0]..1.0001 * sigma[0]).contains(&largest), "{n} {kappa}");
            let last = sigma[n - 1];
            assert!((0.9999 * last..3.0 * last).contains(&smallest), "{n} {kappa}: {smallest} {last}");
        }
        let singular = Arc::new(Matrix::from_rows(&[&[1.0, 1.0], &[0.0, 0.0]]));
        assert!(ColumnFactor::of(&singular).is_none());
    }

    #[test]
    fn the_backward_error_is_that_of_karlson_and_walden() {
        for (n, kappa) in [(1, 1.0), (5, 10.0), (40, 1e4), (40, 1e8)] {
            let factor = ColumnFactor::of(&example(n, kappa, 2)).unwrap();
            let Svd { sigma, V, .. } = scaled(&factor);
            let gradient = Stream::new(3).normals(n);
            let descent = factor.descent(&gradient);
            for (length, distance) in [(1.0, 1.0), (1e3, 1.0), (1.0, 1e3), (1.0, 0.0), (1e-9, 1e9)] {
                let rotated = linalg::vec_mat(&factor.gradient_in_units(&gradient), &V);
                let pieces = rotated.iter().zip(&sigma).map(|(u, s)| u / f64::hypot(distance, s * length));
                let expected = linalg::norm(&pieces.collect::<Vec<f64>>()) / (n as f64).sqrt();
                let found = factor.backward_error(length, distance, &gradient, &descent, 0.0);
                assert!(found >= expected * (1.0 - 1e-6), "a bound: {found} {expected}");
                assert!(found <= expected * 3.0, "{n} {kappa} {length} {distance}: {found} {expected}");
                let coarse = factor.backward_error(length, distance, &gradient, &descent, 5.0 * expected);
                assert!(coarse >= found && coarse <= 5.0 * expected, "{coarse} {found}");
            }
        }
    }

    #[test]
    fn steps_and_their_errors_are_those_of_the_inverse() {
        let factor = ColumnFactor::of(&example(12, 100.0, 4)).unwrap();
        let Svd { sigma, V, .. } = scaled(&factor);
        let gradient = Stream::new(5).normals(12);
        let rotated = linalg::vec_mat(&factor.gradient_in_units(&gradient), &V);
        let over = |power: i32, v: &[f64]| -> Vec<f64> {
            v.iter().zip(&sigma).map(|(v, s)| v / s.powi(power)).collect()
        };
        let expected = linalg::mat_vec(&V, &over(2, &rotated));
        let found = factor.newton(&factor.descent(&gradient));
        assert!(linalg::norm(&linalg::sub(&found, &expected)) < 1e-9 * linalg::norm(&expected));
        for (j, bound) in factor.amplification(1.0, 10.0).into_iter().enumerate() {
            let row: Vec<f64> = (0..12).map(|i| V.get(j, i)).collect();
            let expected = linalg::norm(&over(1, &row)) + 10.0 * linalg::norm(&over(2, &row));
            assert!((bound - expected).abs() < 1e-9 * expected);
        }
    }
}

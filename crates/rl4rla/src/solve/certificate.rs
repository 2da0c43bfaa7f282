//! When a solution is good enough, and by what a user knows it.
//!
//! With r = Ax − b and columns of length 1, R a triangle of A (or of a sketch of it):
//!
//! - excess: ‖R⁻ᵀAᵀr‖ ≈ ‖A(x − x*)‖, the distance of Ax from the best there is, whatever κ is;
//! - reached: excess ≤ τ·‖r‖, or every |xⱼ − xⱼ*| + its own rounding ≤ τ·|xⱼ| by R⁻¹R⁻ᵀAᵀr; where r is nothing but
//!   rounding, excess ≤ 4ε·(‖A‖‖x‖ + ‖b‖);
//! - converged: reached, or excess ≤ max(τ, min(8εκ, 10⁻⁴))·‖r‖ + 4ε·(‖A‖‖x‖ + ‖b‖);
//! - backward error: ‖(‖x‖²AᵀA + ‖r‖²I)^(−1/2)·Aᵀr‖/‖A‖_F, the estimate of Karlson and Waldén.

use super::factor::ColumnFactor;
use crate::execute::Seen;
use crate::linalg;

/// What rounding leaves to a backward stable method, in ε·κ‖r‖.
const CONDITIONED: f64 = 8.0;

/// But at most this part of ‖r‖ passes for rounding.
const MOST: f64 = 1e-4;

/// The same in ε·(‖A‖‖x‖ + ‖b‖).
const ROUNDED: f64 = 4.0;

/// A residual of so many roundings may be nothing else.
const CONSISTENT: f64 = 1e3;

/// How good a solution of least squares is, as estimated from a triangle of A.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Certificate {
    /// Whether it is as good as the tolerance asks for.
    pub reached: bool,
    /// The same, or as good as rounding is sure to allow.
    pub converged: bool,
    /// ‖A(x − x*)‖/‖Ax − b‖, the excess in units of the residual; 0 if there is no residual.
    pub excess: f64,
    /// The excess in the same units up to which it counts as converged.
    pub allowed: f64,
    /// max |aⱼᵀr|/(‖aⱼ‖‖r‖), the largest cosine of a column and the residual.
    pub cosine: f64,
    /// The relative change of A for which x is the exact solution, by the estimate of Karlson and Waldén.
    pub backward_error: f64,
    /// How many columns are independent.
    pub rank: usize,
    /// κ of these, with columns of length 1.
    pub kappa: f64,
}

impl Certificate {
    /// Judges y by what was seen there; `size` is ‖b‖.
    pub(super) fn of(
        factor: &ColumnFactor,
        y: &[f64],
        seen: &Seen,
        size: f64,
        tolerance: f64,
    ) -> Certificate {
        let (distance, kappa) = (seen.distance, factor.kappa());
        let rotated = factor.rotated(&seen.gradient);
        let pieces: Vec<f64> = rotated.iter().zip(&factor.sigma).map(|(u, sigma)| u / sigma).collect();
        let excess = linalg::norm(&pieces);
        let unit = factor.in_units(y);
        let length = linalg::norm(&unit);
        let largest = factor.sigma.first().copied().unwrap_or(0.0);
        let conditioned = (CONDITIONED * f64::EPSILON * kappa).min(MOST);
        let rounded = ROUNDED * f64::EPSILON * (largest * length + size);
        let allowed = tolerance.max(conditioned) * distance + rounded;
        let known = || {
            let gaps = factor.newton(&rotated);
            // What rounding may hide of a gap: that of r comes through R⁻¹, and that of the product Aᵀr through R⁻¹R⁻ᵀ.
            let hidden = factor.amplification(rounded, ROUNDED * f64::EPSILON * distance);
            gaps.iter()
                .zip(&hidden)
                .zip(&unit)
                .all(|((gap, hidden), x)| gap.abs() + hidden <= tolerance * x.abs())
        };
        let consistent = distance <= CONSISTENT * rounded;
        let reached = excess <= tolerance * distance || (consistent && excess <= rounded) || known();
        let weighed = rotated.iter().zip(&factor.sigma).map(|(u, sigma)| u / distance.hypot(sigma * length));
        let weighed: Vec<f64> = weighed.map(|piece| if piece.is_nan() { 0.0 } else { piece }).collect();
        let relative = |value: f64| if value == 0.0 { 0.0 } else { value / distance };
        let cosines = seen.gradient.iter().zip(&factor.lengths).map(|(g, length)| relative(g.abs() / length));
        Certificate {
            reached,
            converged: reached || excess <= allowed,
            excess: relative(excess),
            allowed: relative(allowed),
            cosine: cosines.fold(0.0, f64::max),
            backward_error: linalg::norm(&weighed) / (factor.lengths.len() as f64).sqrt().max(1.0),
            rank: factor.lengths.len(),
            kappa,
        }
    }
}

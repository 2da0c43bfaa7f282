//! The convergence certificate of least squares.
//!
//! With r = Ax − b, columns scaled to length 1, and R the triangular factor of A (or of a sketch of it):
//!
//! - excess: ‖R⁻ᵀAᵀr‖ ≈ ‖A(x − x*)‖, the distance of Ax from Ax*, whatever κ is;
//! - reached: excess ≤ τ·‖r‖, or |xⱼ − xⱼ*| plus its own rounding error ≤ τ·|xⱼ| for every j, by R⁻¹R⁻ᵀAᵀr; if r is
//!   only rounding error, excess ≤ 4ε·(‖A‖‖x‖ + ‖b‖);
//! - converged: reached, or excess ≤ max(τ, min(8εκ, 10⁻⁴))·‖r‖ + 4ε·(‖A‖‖x‖ + ‖b‖);
//! - backward error: ‖(‖x‖²AᵀA + ‖r‖²I)^(−1/2)·Aᵀr‖/‖A‖_F, the Karlson–Waldén estimate.

use super::factor::ColumnFactor;
use crate::execute::Seen;
use crate::linalg;

/// Rounding error of a backward stable method, in units of ε·κ‖r‖.
const CONDITIONED: f64 = 8.0;

/// Maximum fraction of ‖r‖ that is accepted as rounding error.
const MOST: f64 = 1e-4;

/// Rounding error in units of ε·(‖A‖‖x‖ + ‖b‖).
const ROUNDED: f64 = 4.0;

/// A residual of at most this many rounding errors may be nothing but rounding error.
const CONSISTENT: f64 = 1e3;

/// Accuracy of a least-squares solution, estimated from a triangular factor of A.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Certificate {
    /// Whether the tolerance is met.
    pub reached: bool,
    /// Whether the tolerance is met, or the excess is within the rounding error of a backward stable method.
    pub converged: bool,
    /// ‖A(x − x*)‖/‖Ax − b‖, the excess in units of the residual; 0 if there is no residual.
    pub excess: f64,
    /// The largest such ratio that counts as converged.
    pub allowed: f64,
    /// max |aⱼᵀr|/(‖aⱼ‖‖r‖), the relative gradient.
    pub cosine: f64,
    /// The smallest relative change of A for which x is an exact solution (Karlson–Waldén estimate).
    pub backward_error: f64,
    /// Number of independent columns.
    pub rank: usize,
    /// Condition number of the independent columns, scaled to length 1.
    pub kappa: f64,
}

impl Certificate {
    /// The certificate of y from the residual and gradient measured there; `size` is ‖b‖.
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
            // Rounding errors that may hide in a gap: that of r is amplified by R⁻¹, that of the product Aᵀr by
            // R⁻¹R⁻ᵀ.
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

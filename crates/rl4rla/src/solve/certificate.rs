//! The convergence certificate of least squares.
//!
//! With r = Ax − b, columns scaled to length 1, and R the triangular factor of A (or of a sketch of it):
//!
//! - excess: ‖R⁻ᵀAᵀr‖ ≈ ‖A(x − x*)‖, the distance of Ax from Ax*, whatever κ is;
//! - reached: excess ≤ τ·‖r‖, or |xⱼ − xⱼ*| plus its own rounding error ≤ τ·|xⱼ| for every j, by R⁻¹R⁻ᵀAᵀr; if r is
//!   only rounding error, excess ≤ 4ε·(‖A‖‖x‖ + ‖b‖);
//! - converged: reached, or excess ≤ max(τ, min(8εκ, 10⁻⁴))·‖r‖ + 4ε·(‖A‖‖x‖ + ‖b‖);
//! - backward error: ‖(‖x‖²AᵀA + ‖r‖²I)^(−1/2)·Aᵀr‖/‖A‖_F, the Karlson–Waldén estimate, from above;
//! - forward error: ‖R⁻¹R⁻ᵀAᵀr‖/‖x‖ plus the rounding errors of r and Aᵀr, amplified by 1/σₙ and 1/σₙ².

use super::column_factor::{ColumnFactor, quotient};
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

/// What a run has to reach.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct AccuracyGoal {
    /// τ.
    pub tolerance: f64,
    /// The largest backward error, instead of τ.
    pub backward_error: Option<f64>,
}

/// Accuracy of a least-squares solution, estimated from a triangular factor of A.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Certificate {
    /// Whether the tolerance, or the backward error asked for, is met.
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
    /// ‖x − x*‖/‖x‖ with columns scaled to length 1: the distance by R⁻¹R⁻ᵀAᵀr, and the rounding error that may hide
    /// in it.
    pub forward_error: f64,
    /// Number of independent columns.
    pub rank: usize,
    /// Condition number of the independent columns, scaled to length 1.
    pub kappa: f64,
}

impl Certificate {
    /// Decimal digits to expect in x, relative to its length with columns scaled to length 1.
    pub fn digits(&self) -> usize {
        (-self.forward_error.max(f64::EPSILON).log10()).max(0.0) as usize
    }

    /// The certificate of y from the residual and gradient measured there; `size` is ‖b‖.
    pub(super) fn of(
        factor: &ColumnFactor,
        y: &[f64],
        seen: &Seen,
        size: f64,
        goal: AccuracyGoal,
    ) -> Certificate {
        let (distance, kappa) = (seen.distance, factor.kappa());
        let descent = factor.descent(&seen.gradient);
        let excess = linalg::norm(&descent);
        let unit = factor.in_units(y);
        let length = linalg::norm(&unit);
        let [largest, smallest] = factor.extremes;
        let conditioned = (CONDITIONED * f64::EPSILON * kappa).min(MOST);
        let rounded = ROUNDED * f64::EPSILON * (largest * length + size);
        let allowed = goal.tolerance.max(conditioned) * distance + rounded;
        let gaps = factor.newton(&descent);
        let known = || {
            let met = |(gap, x): (&f64, &f64)| gap.abs() <= goal.tolerance * x.abs();
            // Rounding errors that may hide in a gap: that of r is amplified by R⁻¹, that of the product Aᵀr by
            // R⁻¹R⁻ᵀ.
            gaps.iter().zip(&unit).all(met)
                && gaps
                    .iter()
                    .zip(factor.amplification(rounded, ROUNDED * f64::EPSILON * distance))
                    .zip(&unit)
                    .all(|((gap, hidden), x)| gap.abs() + hidden <= goal.tolerance * x.abs())
        };
        let consistent = distance <= CONSISTENT * rounded;
        let met = excess <= goal.tolerance * distance || (consistent && excess <= rounded) || known();
        let converged = met || excess <= allowed;
        let relative = |value: f64| quotient(value, distance);
        let cosines = factor.gradient_in_units(&seen.gradient).into_iter().map(|g| relative(g.abs()));
        // With a goal, what counts is whether it is met.
        let enough = goal.backward_error.map_or(0.0, |goal| if converged { goal } else { f64::INFINITY });
        let backward_error = factor.backward_error(length, distance, &seen.gradient, &descent, enough);
        let hidden = (rounded + ROUNDED * f64::EPSILON * distance / smallest) / smallest;
        let forward_error = (linalg::norm(&gaps) + hidden) / length;
        Certificate {
            reached: goal.backward_error.map_or(met, |goal| converged && backward_error <= goal),
            converged,
            excess: relative(excess),
            allowed: relative(allowed),
            cosine: cosines.fold(0.0, f64::max),
            backward_error,
            forward_error: if forward_error.is_nan() { 0.0 } else { forward_error },
            rank: factor.lengths.len(),
            kappa,
        }
    }
}

//! Blendenpik: LSQR on AR⁻¹ with the R of a sketch.
#![allow(non_snake_case)]

use super::error::BaselineError;
use super::lsqr::{LsqrLimits, minimise};
use super::request::{BaselineSolution, Request};
use super::sketched::Sketched;
use crate::linalg;

/// Rows of the sketch per column of A.
const FACTOR: usize = 4;
/// Iteration limit: the remaining condition number, about 3, needs some fifty iterations.
const ITERATIONS: usize = 100;

/// x = x₀ + R⁻¹y,  y = argmin ‖AR⁻¹y − (b − Ax₀)‖ by LSQR, with the R and x₀ of a sparse sketch of 4n rows.
///
/// The published method mixes rows by a fast transform instead; the preconditioner is equally good. Stops as LSQR
/// does, τ = 10⁻¹⁴, or after 100 iterations.
pub fn blendenpik(request: &Request) -> Result<BaselineSolution, BaselineError> {
    let (_, n) = request.tall()?;
    let sketched = Sketched::draw(request, FACTOR * n)?;
    let (r, g) = linalg::residual_and_gradient(request.A, &sketched.start, request.b);
    let limits = LsqrLimits::of(request, linalg::norm(request.b), ITERATIONS);
    let found = minimise(&sketched, (r, sketched.solve_transposed(&g)?), &limits)?;
    let x = linalg::add(&sketched.start, &sketched.solve(&found.y)?);
    BaselineSolution::new(x, found.iterations, 2.0 + found.iterations as f64, found.converged)
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;

    #[test]
    fn the_condition_number_does_not_show() {
        for kappa in [10.0, 1e6, 1e12] {
            let (A, b) = problem(1500, 15, kappa, 1e-3, 1);
            let found = blendenpik(&request(&A, &b)).unwrap();
            assert!(found.converged && found.iterations < 70, "κ {kappa:e}: {}", found.iterations);
            // Forward stable: ‖A(x − x*)‖ ≤ O(ε)(‖A‖‖x‖ + κ‖r‖).
            let gap = distance(&A, &b, &found.x);
            assert!(gap < 1e-14 * (10.0 + 1e-3 * kappa), "κ {kappa:e}: {gap:e}");
        }
    }
}

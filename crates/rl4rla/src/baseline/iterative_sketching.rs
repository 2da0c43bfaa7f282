//! Iterative sketching with damping and momentum.
#![allow(non_snake_case)]

use super::error::BaselineError;
use super::request::{BaselineSolution, Request};
use super::sketched::{LEAST_ROWS, ROUNDING, Sketched};
use crate::linalg;

/// Minimum rows of the sketch per column of A.
const LEAST: usize = 4;
/// Iteration limit.
const ITERATIONS: usize = 100;

/// xᵢ₊₁ = xᵢ − αR⁻¹R⁻ᵀAᵀ(Axᵢ − b) + β(xᵢ − xᵢ₋₁),  β = n/d,  α = (1 − n/d)²,  from x₀ = R⁻¹QᵀSb.
///
/// R is that of a sparse sketch of d rows, where d balances the costs of QR and of the iterations as proposed by
/// Epperly: d = ⌈n·exp W(4m/n²·ln(1/ε))⌉ with Lambert's W, but at most m, and at least 4n and 240. Ends when ‖rᵢ₊₁ −
/// rᵢ‖ ≤ τ(‖A‖‖x‖ + 0.1·κ‖r‖), τ = ε, with the columns of A scaled to length 1, or after 100 iterations.
pub fn iterative_sketching(request: &Request) -> Result<BaselineSolution, BaselineError> {
    let (m, n) = request.tall()?;
    let size = sketch_rows(m, n);
    let (tolerance, most) =
        (request.tolerance.unwrap_or(f64::EPSILON), request.iterations.unwrap_or(ITERATIONS));
    let sketched = Sketched::draw(request, size)?;
    let (damping, momentum) = parameters(n, size);
    let mut x = sketched.start.clone();
    let mut last = x.clone();
    let (mut r, mut g) = linalg::residual_and_gradient(request.A, &x, request.b);
    let first = linalg::norm(&r);
    for iteration in 1..=most {
        let step = sketched.solve(&sketched.solve_transposed(&g)?)?;
        let moved = |((x, last), step): ((&f64, &f64), &f64)| x - damping * step + momentum * (x - last);
        let next: Vec<f64> = x.iter().zip(&last).zip(&step).map(moved).collect();
        last = std::mem::replace(&mut x, next);
        let before = std::mem::take(&mut r);
        (r, g) = linalg::residual_and_gradient(request.A, &x, request.b);
        let (change, length) = (linalg::norm(&linalg::sub(&r, &before)), linalg::norm(&r));
        // A bad sketch: otherwise the starting point is at least as good as zero, up to the distortion.
        if length.is_nan() || length > 1e3 * first.max(linalg::norm(request.b)) {
            return Err(BaselineError::Diverged { iteration });
        }
        let reach = sketched.reach(&x) + ROUNDING * sketched.condition * length;
        if change <= tolerance * reach {
            return BaselineSolution::new(x, iteration, 2.0 + iteration as f64, true);
        }
    }
    BaselineSolution::new(x, most, 2.0 + most as f64, false)
}

/// α and β for a sketch of d rows.
pub(super) fn parameters(n: usize, d: usize) -> (f64, f64) {
    let ratio = n as f64 / d as f64;
    ((1.0 - ratio).powi(2), ratio)
}

/// The number d of sketch rows.
fn sketch_rows(m: usize, n: usize) -> usize {
    let (rows, cols) = (m as f64, n as f64);
    let balanced = cols * lambert(4.0 * rows / (cols * cols) * (1.0 / f64::EPSILON).ln()).exp();
    (balanced.ceil() as usize).min(m).max(LEAST * n).max(LEAST_ROWS)
}

/// Lambert's W(z), the w with w·eʷ = z, for z ≥ 0, by Newton's method.
fn lambert(z: f64) -> f64 {
    // The function is convex and increasing there, so Newton's method stays above the root if it starts above.
    let mut w = z.ln_1p();
    for _ in 0..50 {
        w -= (w - z * (-w).exp()) / (w + 1.0);
    }
    w
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;

    #[test]
    fn lamberts_function_is_inverted() {
        for w in [0.0, 0.1, 1.0, 3.0, 12.0] {
            assert!((lambert(w * f64::exp(w)) - w).abs() < 1e-12 * (1.0 + w), "{w}");
        }
        // At least 240 and 4n, at most m; between them d/n·ln(d/n) = 4m/n²·ln(1/ε).
        assert_eq!([sketch_rows(100, 50), sketch_rows(1000, 1), sketch_rows(500, 400)], [240, 1000, 1600]);
        let d = sketch_rows(1_000_000, 100) as f64 / 100.0;
        assert!((d * d.ln() / (400.0 * (1.0 / f64::EPSILON).ln()) - 1.0).abs() < 1e-3, "{d}");
    }

    #[test]
    fn residuals_are_those_of_qr_at_every_condition() {
        for kappa in [10.0, 1e5, 1e10] {
            let (A, b) = problem(2000, 20, kappa, 1e-2, 1);
            let found = iterative_sketching(&request(&A, &b)).unwrap();
            assert!(found.converged && found.iterations < 60, "κ {kappa:e}: {}", found.iterations);
            // Forward stable: ‖A(x − x*)‖ ≤ O(ε)(‖A‖‖x‖ + κ‖r‖).
            assert!(distance(&A, &b, &found.x) < 1e-14 * (10.0 + 1e-2 * kappa), "κ {kappa:e}");
        }
    }

    #[test]
    fn one_iteration_by_hand() {
        let (A, b) = problem(300, 4, 100.0, 0.1, 2);
        let asked = Request { iterations: Some(1), ..request(&A, &b) };
        let size = sketch_rows(300, 4);
        let sketched = Sketched::draw(&asked, size).unwrap();
        let g = linalg::vec_mat(&linalg::sub(&linalg::mat_vec(&A, &sketched.start), &b), &A);
        let step = sketched.solve(&sketched.solve_transposed(&g).unwrap()).unwrap();
        let damping = (1.0 - 4.0 / size as f64).powi(2);
        let expected = linalg::sub(&sketched.start, &linalg::scale(damping, &step));
        let x = iterative_sketching(&asked).unwrap().x;
        assert!(linalg::norm(&linalg::sub(&x, &expected)) < 1e-12 * linalg::norm(&expected));
    }
}

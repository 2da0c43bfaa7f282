//! FOSSILS: a sketched solver as accurate and stable as Householder QR.
//!
//! Its inner solver is the heavy-ball method on the preconditioned normal equations, in the coordinates y = Rx; two
//! steps of iterative refinement make it backward stable.
#![allow(non_snake_case)]

use super::error::BaselineError;
use super::iterative_sketching::parameters;
use super::lsqr::Products;
use super::request::{BaselineSolution, Request};
use super::sketched::{LEAST_ROWS, ROUNDING, Sketched};
use crate::linalg;

/// Rows of the sketch per column of A.
const FACTOR: usize = 12;
/// Refinement steps: one is forward stable, two are backward stable.
const REFINEMENTS: usize = 2;
/// Iteration limit of a refinement.
const ITERATIONS: usize = 100;

/// x ← x + R⁻¹y,  (R⁻ᵀAᵀAR⁻¹)y = c,  c = R⁻ᵀAᵀ(b − Ax),  twice, from x₀ = R⁻¹QᵀSb.
///
/// The inner equation is solved by yᵢ₊₁ = yᵢ + α(c − R⁻ᵀAᵀAR⁻¹yᵢ) + β(yᵢ − yᵢ₋₁),  β = n/d,  α = (1 − n/d)², from y₀
/// = c, with a sparse sketch of d = 12n rows, but at least 240. It ends when ‖yᵢ₊₁ − yᵢ‖ ≤ τ(‖A‖‖x‖ + 0.1·κ‖c‖), τ =
/// ε, or after 100 iterations. There ‖A‖, x and κ refer to A with columns scaled to length 1; everything else is
/// invariant under column scaling, as reflections and triangular solves are.
pub fn fossils(request: &Request) -> Result<BaselineSolution, BaselineError> {
    let (m, n) = request.tall()?;
    let size = (FACTOR * n).max(LEAST_ROWS);
    let sketched = Sketched::draw(request, size)?;
    let mut solver = HeavyBall {
        sketched: &sketched,
        parameters: parameters(n, size),
        origin: vec![0.0; m],
        tolerance: request.tolerance.unwrap_or(f64::EPSILON),
        left: request.iterations.unwrap_or(REFINEMENTS * ITERATIONS),
        made: 0,
    };
    let mut x = sketched.start.clone();
    let mut converged = true;
    for _ in 0..REFINEMENTS {
        let (_, g) = linalg::residual_and_gradient(request.A, &x, request.b);
        let c = linalg::scale(-1.0, &sketched.solve_transposed(&g)?);
        let (y, settled) = solver.solve(&c, sketched.reach(&x))?;
        x = linalg::add(&x, &sketched.solve(&y)?);
        converged &= settled;
    }
    let passes = (1 + REFINEMENTS + solver.made) as f64;
    BaselineSolution::new(x, solver.made, passes, converged)
}

struct HeavyBall<'a> {
    sketched: &'a Sketched<'a>,
    parameters: (f64, f64),
    /// A zero vector of length m.
    origin: Vec<f64>,
    tolerance: f64,
    /// Iterations left.
    left: usize,
    /// Iterations made.
    made: usize,
}

impl HeavyBall<'_> {
    /// Solves (R⁻ᵀAᵀAR⁻¹)y = c; also returns whether y has converged to the accuracy that is attainable for an x of
    /// this reach.
    fn solve(&mut self, c: &[f64], reach: f64) -> Result<(Vec<f64>, bool), BaselineError> {
        let (damping, momentum) = self.parameters;
        let norm_c = linalg::norm(c);
        let goal = self.tolerance * (reach + ROUNDING * self.sketched.condition * norm_c);
        let (mut y, mut last) = (c.to_vec(), c.to_vec());
        for _ in 0..self.left.min(ITERATIONS) {
            let (_, image) = self.sketched.residual_and_gradient(&y, &self.origin)?;
            let update: Vec<f64> =
                (0..c.len()).map(|j| damping * (c[j] - image[j]) + momentum * (y[j] - last[j])).collect();
            let next = linalg::add(&y, &update);
            last = std::mem::replace(&mut y, next);
            (self.made, self.left) = (self.made + 1, self.left - 1);
            let change = linalg::norm(&update);
            // A bad sketch: otherwise the matrix of the equation is close to the identity.
            if change.is_nan() || change > 1e3 * norm_c {
                return Err(BaselineError::Diverged { iteration: self.made });
            }
            if change <= goal {
                return Ok((y, true));
            }
        }
        Ok((y, false))
    }
}

#[cfg(test)]
mod tests {
    use super::super::direct::{normal_equations, qr};
    use super::super::testing::*;
    use super::*;
    use crate::linalg::testing::conditioned;

    #[test]
    fn as_backward_stable_as_qr_where_the_normal_equations_are_not() {
        for (kappa, noise) in [(1e4, 1e-6), (1e7, 1e-3), (1e10, 1e-12), (1e10, 1e-3), (1e12, 1e-6)] {
            let (A, b) = problem(2000, 20, kappa, noise, 1);
            let asked = request(&A, &b);
            let error =
                |solver: BaselineFunction| solver(&asked).map(|found| backward_error(&A, &b, &found.x));
            let (own, reference) = (error(fossils).unwrap(), error(qr).unwrap());
            assert!(own < 100.0 * reference, "κ {kappa:e}, noise {noise:e}: {own:e} against {reference:e}");
            assert!(own < 1e-13, "κ {kappa:e}, noise {noise:e}: {own:e}");
        }
        // ε·κ² = 2 at κ = 1e8; below that Cholesky succeeds but is less accurate.
        let (A, b) = problem(2000, 20, 1e7, 1e-3, 1);
        let lost = backward_error(&A, &b, &normal_equations(&request(&A, &b)).unwrap().x);
        let kept = backward_error(&A, &b, &fossils(&request(&A, &b)).unwrap().x);
        assert!(lost > 1e3 * kept, "{lost:e} against {kept:e}");
        assert!(normal_equations(&request(&problem(2000, 20, 1e10, 1e-3, 1).0, &b)).is_err());
    }

    #[test]
    fn one_refinement_is_not_enough() {
        // FOSSILS differs from iterative sketching in its backward error on ill-conditioned problems.
        let (A, b) = problem(2000, 20, 1e12, 1e-3, 2);
        let twice = fossils(&request(&A, &b)).unwrap();
        let first = super::super::iterative_sketching::iterative_sketching(&request(&A, &b)).unwrap();
        let (twice, once) = (backward_error(&A, &b, &twice.x), backward_error(&A, &b, &first.x));
        assert!(once > 10.0 * twice, "{once:e} against {twice:e}");
    }

    #[test]
    fn columns_of_any_scale() {
        let plain = conditioned(1000, 8, 1e3, 3);
        let A = linalg::Matrix::from_fn(1000, 8, |i, j| plain.get(i, j) * 10f64.powi(3 * j as i32 - 12));
        let b = linalg::mat_vec(&plain, &[1.0; 8]);
        let x = fossils(&request(&A, &b)).unwrap().x;
        assert!(linalg::norm(&linalg::sub(&linalg::mat_vec(&A, &x), &b)) < 1e-11 * linalg::norm(&b));
    }
}

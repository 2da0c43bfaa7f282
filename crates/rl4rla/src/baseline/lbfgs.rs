//! L-BFGS for logistic regression.
#![allow(non_snake_case)]

use super::error::BaselineError;
use super::newton::TOLERANCE;
use super::request::{BaselineSolution, Request};
use crate::linalg::{self, SecantPairs};
use crate::problem::cross_entropy::{gradient, loss, loss_above};
use std::convert::Infallible;

/// Iteration limit.
const ITERATIONS: usize = 500;
/// Constant of the Armijo condition.
const ARMIJO: f64 = 1e-4;
/// Relative increase of the loss that rounding may cause.
const ROUNDING: f64 = 1e-15;
/// Maximum number of step halvings.
const HALVINGS: i32 = 40;

/// x ← x − tH∇L(x), from x = 0, with H the BFGS approximation of the inverse Hessian from the last 10 pairs
/// s = xₖ₊₁ − xₖ, y = ∇L(xₖ₊₁) − ∇L(xₖ), and t the first of 1, ½, ¼, … with L(x − tp) ≤ L(x) − 10⁻⁴·t·pᵀ∇L(x).
///
/// L(x) = Σ ln(1 + exp zᵢ) − bᵢzᵢ, z = Ax, without a penalty. The line search works on z and needs no pass; an
/// iteration has two, Ap and Aᵀ(σ(z) − b). The initial H is (4/‖A‖²_F)I, a lower bound of every inverse Hessian, and
/// then (sᵀy/yᵀy)I. Ends when ‖∇L(x)‖ ≤ τ‖∇L(0)‖, τ = 10⁻¹⁰, or after 500 iterations.
pub fn lbfgs(request: &Request) -> Result<BaselineSolution, BaselineError> {
    let (m, n) = request.labelled()?;
    let (A, b) = (request.A, request.b);
    let (tolerance, most) =
        (request.tolerance.unwrap_or(TOLERANCE), request.iterations.unwrap_or(ITERATIONS));
    let (mut x, mut z) = (vec![0.0; n], vec![0.0; m]);
    let mut g = gradient(A, &z, b);
    let goal = tolerance * linalg::norm(&g);
    let squares: f64 = A.row_major().chunks_exact(n).map(|row| linalg::dot(row, row)).sum();
    let first = 4.0 / squares.max(f64::MIN_POSITIVE);
    let mut pairs = SecantPairs::default();
    for iteration in 0..most {
        let passes = 1.0 + 2.0 * iteration as f64;
        if linalg::norm(&g) <= goal {
            return BaselineSolution::new(x, iteration, passes, true);
        }
        let initial = pairs.scale().unwrap_or(first);
        let Ok(p) = pairs.times(&g, |q| Ok::<_, Infallible>(linalg::scale(initial, q)));
        let along = linalg::mat_vec(A, &p);
        let promised = linalg::dot(&g, &p);
        if !promised.is_finite() || !linalg::is_finite(&along) {
            return Err(BaselineError::Diverged { iteration });
        }
        let moved = |t: f64| z.iter().zip(&along).map(|(z, d)| z - t * d).collect::<Vec<f64>>();
        // A decrease that is smaller than the rounding error of the loss is accepted.
        let hidden = ROUNDING * loss(&z, b);
        let enough = |t: f64| loss_above(&moved(t), &z, b) <= hidden - ARMIJO * t * promised;
        let Some(t) = (0..HALVINGS).map(|k| 0.5f64.powi(k)).find(|&t| enough(t)) else {
            // No further decrease is possible beyond rounding.
            return BaselineSolution::new(x, iteration, passes, false);
        };
        let s = linalg::scale(-t, &p);
        x = linalg::add(&x, &s);
        z = moved(t);
        let next = gradient(A, &z, b);
        pairs.learn(s, linalg::sub(&next, &g));
        g = next;
    }
    let converged = linalg::norm(&g) <= goal;
    BaselineSolution::new(x, most, 1.0 + 2.0 * most as f64, converged)
}

#[cfg(test)]
mod tests {
    use super::super::newton::newton_direct;
    use super::super::testing::*;
    use super::*;
    use crate::linalg::Matrix;
    use crate::problem::{Family, Instance};
    use crate::rng::Stream;

    fn instance(kappa: f64) -> Instance {
        let mut family = Family::named("logistic").unwrap();
        (family.rows, family.cols, family.condition) = (800, 8, Some(kappa));
        family.draw(&Stream::new(3)).unwrap()
    }

    #[test]
    fn both_methods_find_the_tasks_own_optimum() {
        for kappa in [2.0, 30.0] {
            let instance = instance(kappa);
            let size = linalg::norm(&gradient(&instance.A, &vec![0.0; 800], &instance.b));
            for (solver, tolerance) in [(lbfgs as BaselineFunction, 1e-6), (newton_direct, 1e-6)] {
                let found = solver(&request(&instance.A, &instance.b)).unwrap();
                let gap = linalg::norm(&linalg::sub(&found.x, &instance.x_star));
                assert!(found.converged, "κ {kappa}");
                assert!(gap < tolerance * linalg::norm(&instance.x_star), "κ {kappa}: {gap:e}");
                assert!(instance.measure(&found.x).1 < 1e-12);
                let z = linalg::mat_vec(&instance.A, &found.x);
                assert!(linalg::norm(&gradient(&instance.A, &z, &instance.b)) < 2e-10 * size);
            }
        }
    }

    #[test]
    fn separable_labels_end_with_the_iterations() {
        let A = Matrix::from_rows(&[&[1.0], &[2.0], &[-1.0]]);
        let b = [1.0, 1.0, 0.0];
        let found =
            lbfgs(&Request { tolerance: Some(0.0), iterations: Some(30), ..request(&A, &b) }).unwrap();
        assert!(!found.converged && found.x[0] > 1.0, "{found:?}");
    }
}

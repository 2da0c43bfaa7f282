//! Solvers for (A + λI)x = b with symmetric positive semidefinite A: Cholesky, and conjugate gradients with and without a
//! Nyström preconditioner.
#![allow(non_snake_case)]

use super::error::BaselineError;
use super::lsqr::TOLERANCE;
use super::request::{BaselineSolution, Request};
use crate::execute::{Sketch, SketchKind};
use crate::linalg::{self, Matrix, NumericError};

/// x = R⁻¹R⁻ᵀb,  A + λI = RᵀR by Cholesky.
pub fn cholesky(request: &Request) -> Result<BaselineSolution, BaselineError> {
    let n = request.square()?;
    let entry = |i, j| request.A.get(i, j) + if i == j { request.lambda } else { 0.0 };
    let R = factor(&Matrix::from_fn(n, n, entry))?;
    let x = linalg::solve_upper(&R, &linalg::solve_upper_transposed(&R, request.b)?)?;
    BaselineSolution::direct(x, 1.0)
}

fn factor(M: &Matrix) -> Result<Matrix, BaselineError> {
    linalg::cholesky_r(M).map_err(|error| match error {
        NumericError::Singular { index } => BaselineError::NotPositiveDefinite { pivot: index },
        other => other.into(),
    })
}

/// Conjugate gradients. Ends when ‖r‖ ≤ τ‖b‖, τ = 10⁻¹⁴, or after max(10n, 100) iterations of one pass each.
pub fn cg(request: &Request) -> Result<BaselineSolution, BaselineError> {
    request.square()?;
    conjugate(request, |r| Ok(r.to_vec()), 0.0)
}

/// Rows of the sketch of the Nyström preconditioner, as a share of n.
const SHARE: f64 = 0.15;

/// Conjugate gradients with the preconditioner Â + λI, where Â = YᵀW⁻¹Y with Y = SA and W = SASᵀ is the Nyström
/// approximation of A from a sparse sketch S of 0.15n rows. By Woodbury's formula
///
/// (Â + λI)⁻¹ = (I − Yᵀ(λW + YYᵀ)⁻¹Y)/λ,
///
/// which needs no inverse of W. Ends as [`cg`] does.
pub fn nystrom_pcg(request: &Request) -> Result<BaselineSolution, BaselineError> {
    let n = request.square()?;
    let rows = ((SHARE * n as f64).round() as usize).clamp(1, n);
    let S = Sketch::draw(SketchKind::Sjlt, rows, n, &request.stream.derive("sketch", 0));
    let Y = S.apply(request.A).by_columns();
    let W = S.apply(&Y.transpose()).by_columns();
    let outer = linalg::outer_gram(&Y);
    let size = (0..rows).map(|i| outer.get(i, i)).fold(0.0, f64::max);
    // Without λ, or with a Y of less than full rank, a shift of the size of rounding errors.
    let shift = rows as f64 * f64::EPSILON * size;
    let entry = |i: usize, j: usize| {
        let w = 0.5 * (W.get(i, j) + W.get(j, i));
        outer.get(i, j) + request.lambda * w + if i == j { shift } else { 0.0 }
    };
    if size == 0.0 {
        return cg(request);
    }
    let R = factor(&Matrix::from_fn(rows, rows, entry))?;
    let precondition = |r: &[f64]| {
        let y = linalg::mat_vec(&Y, r);
        let y = linalg::solve_upper(&R, &linalg::solve_upper_transposed(&R, &y)?)?;
        Ok(linalg::sub(r, &linalg::vec_mat(&y, &Y)))
    };
    conjugate(request, precondition, 1.0)
}

/// x ← x + αp,  r ← r − α(A + λI)p,  z = Pr,  p ← z + βp.
fn conjugate(
    request: &Request,
    precondition: impl Fn(&[f64]) -> Result<Vec<f64>, NumericError>,
    setup_passes: f64,
) -> Result<BaselineSolution, BaselineError> {
    let (n, tolerance) = (request.b.len(), request.tolerance.unwrap_or(TOLERANCE));
    let most = request.iterations.unwrap_or((10 * n).max(100));
    let goal = tolerance * linalg::norm(request.b);
    let (mut x, mut r) = (vec![0.0; n], request.b.to_vec());
    let mut z = precondition(&r)?;
    let (mut p, mut size) = (z.clone(), linalg::dot(&r, &z));
    for iteration in 0..most {
        if linalg::norm(&r) <= goal {
            return BaselineSolution::new(x, iteration, setup_passes + iteration as f64, true);
        }
        let mut q = linalg::mat_vec(request.A, &p);
        q.iter_mut().zip(&p).for_each(|(q, p)| *q += request.lambda * p);
        let step = size / linalg::dot(&p, &q);
        if !step.is_finite() || step < 0.0 {
            return Err(BaselineError::Diverged { iteration });
        }
        x.iter_mut().zip(&p).for_each(|(x, p)| *x += step * p);
        r.iter_mut().zip(&q).for_each(|(r, q)| *r -= step * q);
        z = precondition(&r)?;
        let next = linalg::dot(&r, &z);
        let share = next / size;
        p = z.iter().zip(&p).map(|(z, p)| z + share * p).collect();
        size = next;
    }
    let converged = linalg::norm(&r) <= goal;
    BaselineSolution::new(x, most, setup_passes + most as f64, converged)
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use crate::problem::Family;
    use crate::rng::Stream;

    #[test]
    fn all_agree_and_the_preconditioner_saves_iterations() {
        let family = Family { rows: 120, cols: 120, ..Family::named("spd-decay").unwrap() };
        let instance = family.draw(&Stream::new(1)).unwrap();
        let asked =
            Request { lambda: instance.lambda, tolerance: Some(1e-11), ..request(&instance.A, &instance.b) };
        let [direct, plain, preconditioned] =
            [cholesky, cg, nystrom_pcg].map(|solver| solver(&asked).unwrap());
        for found in [&direct, &plain, &preconditioned] {
            assert!(instance.measure(&found.x).1 < 1e-8, "{:?}", instance.measure(&found.x));
        }
        assert!(
            3 * preconditioned.iterations < plain.iterations,
            "{} {}",
            preconditioned.iterations,
            plain.iterations
        );
    }

    #[test]
    fn an_indefinite_matrix_is_refused() {
        let A = Matrix::from_rows(&[&[1.0, 0.0], &[0.0, -2.0]]);
        let asked = request(&A, &[1.0, 1.0]);
        assert!(matches!(cholesky(&asked), Err(BaselineError::NotPositiveDefinite { pivot: 1 })));
        assert!(cg(&asked).is_err());
    }

    #[test]
    fn a_zero_matrix_is_solved_by_its_shift() {
        let A = Matrix::zeros(3, 3);
        for solver in [cholesky, cg, nystrom_pcg] {
            let x = solver(&Request { lambda: 2.0, ..request(&A, &[2.0, 4.0, 6.0]) }).unwrap().x;
            assert!(linalg::norm(&linalg::sub(&x, &[1.0, 2.0, 3.0])) < 1e-14, "{x:?}");
        }
    }
}

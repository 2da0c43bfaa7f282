//! Wide systems: the solution of minimum norm, x = Aᵀ(AAᵀ)⁻¹b, with iterative refinement.
#![allow(non_snake_case)]

use super::candidate::squares_well;
use super::certificate::Certificate;
use super::column_factor::ColumnFactor;
use super::error::{SolveError, Unsupported};
use super::problem::Problem;
use super::solution::{Solution, Termination};
use crate::linalg::{self, Matrix};
use crate::problem::InstanceError;
use std::sync::Arc;

/// Steps of refinement, at most.
const STEPS: usize = 20;

/// Smallest σₙ/σ₁ of rows of length 1 that leaves no doubt about the rank, in units of ε times the longer side.
const DOUBT: f64 = 30.0;

/// Entries up to which a sparse matrix is made dense.
const DENSE: usize = 1 << 27;

/// The solution of minimum norm of a system with more unknowns than equations.
///
/// R with RᵀR = AAᵀ comes from the Gram matrix of the rows, and every step of refinement adds Aᵀ·R⁻¹R⁻ᵀr. Where κ does not
/// allow that, Aᵀ = QR, and a step is Q·R⁻ᵀr, which is accurate for every κ. Either way x stays in the range of Aᵀ.
/// Dependent rows are left to the SVD.
///
/// ```
/// use rl4rla::solve::{Problem, minimum_norm};
/// let solution = minimum_norm(&Problem::from_rows(1, 2, [3.0, 4.0], [25.0]).unwrap()).unwrap();
/// let x = solution.into_x().unwrap();
/// assert!((x[0] - 3.0).abs() < 1e-14 && (x[1] - 4.0).abs() < 1e-14);
/// ```
pub fn minimum_norm(problem: &Problem) -> Result<Solution, SolveError> {
    let (A, b) = (&problem.matrix, &problem.b);
    let unsupported = |what| Err(SolveError::Unsupported { task: problem.task.name(), what });
    if A.is_in_file() {
        return unsupported(Unsupported::File);
    }
    InstanceError::check_entries(A, b).map_err(SolveError::Data)?;
    if A.is_sparse() {
        return match A.rows() * A.cols() <= DENSE {
            true => minimum_norm(&Problem { matrix: A.clone().to_dense(), ..problem.clone() }),
            false => unsupported(Unsupported::Sparse),
        };
    }
    let squared =
        linalg::cholesky_r(&linalg::outer_gram(A)).ok().and_then(|R| trusted(&Arc::new(R), A, true));
    if let Some(factor) = squared {
        return Ok(refined(A, b, &factor, |r| linalg::vec_mat(&factor.solved_twice(r), A)));
    }
    let (Q, R) = linalg::thin_qr(&A.transpose()).ok_or(SolveError::Data(InstanceError::NoSolution))?;
    let R = Arc::new(R);
    match trusted(&R, A, false) {
        Some(factor) => Ok(refined(A, b, &factor, |r| linalg::mat_vec(&Q, &factor.descent(r)))),
        None => by_svd(A, b, &Q, &R),
    }
}

/// The factor, if it leaves no doubt about the rank.
fn trusted(R: &Arc<Matrix>, A: &Matrix, squared: bool) -> Option<ColumnFactor> {
    let factor = ColumnFactor::of(R)?;
    let kappa = factor.kappa();
    let clear = 1.0 / kappa > DOUBT * f64::EPSILON * A.cols() as f64;
    let accurate = !squared || squares_well(kappa, A.rows());
    (clear && accurate).then_some(factor)
}

/// Refinement from x = 0 by steps that solve A·step = r up to rounding.
fn refined(A: &Matrix, b: &[f64], factor: &ColumnFactor, solve: impl Fn(&[f64]) -> Vec<f64>) -> Solution {
    let size = linalg::norm(b);
    let frobenius = linalg::norm(&factor.lengths);
    let (mut x, mut r) = (vec![0.0; A.cols()], b.to_vec());
    let (mut residuals, mut reads) = (vec![if size > 0.0 { 1.0 } else { 0.0 }], 1);
    // The smallest ‖ΔA‖ and ‖Δb‖ for which x is exact, relative to ‖A‖ in the Frobenius norm and to ‖b‖.
    let backward = |x: &[f64], r: &[f64]| match linalg::norm(r) {
        0.0 => 0.0,
        distance => distance / (frobenius * linalg::norm(x) + size),
    };
    let mut error = backward(&x, &r);
    for _ in 0..STEPS {
        if error <= 0.25 * f64::EPSILON {
            break;
        }
        let next = linalg::add(&x, &solve(&r));
        let left = linalg::sub(b, &linalg::mat_vec(A, &next));
        reads += 2;
        let now = backward(&next, &left);
        if now.is_nan() || now >= error {
            break;
        }
        let slow = now > 0.5 * error;
        (x, r, error) = (next, left, now);
        residuals.push(linalg::norm(&r) / size);
        if slow {
            break;
        }
    }
    let kappa = factor.kappa();
    let forward = kappa * (error + f64::EPSILON);
    finished(x, &r, size, residuals, reads, A.rows(), [error, forward, kappa])
}

/// By the SVD of R, with Aᵀ = QR; singular values at rounding level count as zero.
fn by_svd(A: &Matrix, b: &[f64], Q: &Matrix, R: &Matrix) -> Result<Solution, SolveError> {
    let svd = linalg::svd_of_square(R)?;
    let first = svd.sigma.first().copied().unwrap_or(0.0);
    let null = A.cols() as f64 * f64::EPSILON * first;
    let rank = svd.sigma.iter().filter(|s| **s > null).count();
    // A = (QUΣVᵀ)ᵀ, so A⁺ = QUΣ⁺Vᵀ.
    let turned = linalg::vec_mat(b, &svd.V);
    let divided = turned.iter().zip(&svd.sigma).map(|(v, s)| if *s > null { v / s } else { 0.0 });
    let x = linalg::mat_vec(Q, &linalg::mat_vec(&svd.U, &divided.collect::<Vec<f64>>()));
    let size = linalg::norm(b);
    let (r, gradient) = linalg::residual_and_gradient(A, &x, b);
    let length = linalg::norm(&x);
    // The part of r inside the range of A is rounding error; the rest of it is that of b.
    let inside = if first > 0.0 { linalg::norm(&gradient) / first } else { 0.0 };
    let error = if inside == 0.0 { 0.0 } else { inside / (first * length + size) };
    let kappa = if rank > 0 { first / svd.sigma[rank - 1] } else { 1.0 };
    let residuals = vec![if size > 0.0 { linalg::norm(&r) / size } else { 0.0 }];
    Ok(finished(x, &r, size, residuals, 4, rank, [error, kappa * (error + f64::EPSILON), kappa]))
}

fn finished(
    x: Vec<f64>,
    r: &[f64],
    size: f64,
    residuals: Vec<f64>,
    reads: usize,
    rank: usize,
    [backward_error, forward_error, kappa]: [f64; 3],
) -> Solution {
    let converged = backward_error <= 16.0 * f64::EPSILON;
    let residual = if size > 0.0 { linalg::norm(r) / size } else { 0.0 };
    let iterations = residuals.len() - 1;
    Solution {
        certificate: Some(Certificate {
            reached: converged,
            converged,
            excess: if converged { 0.0 } else { 1.0 },
            allowed: 0.0,
            cosine: 0.0,
            backward_error,
            forward_error,
            rank,
            kappa,
        }),
        x,
        converged,
        residual,
        gradient: 0.0,
        gradient_bound: None,
        dependent: vec![],
        step: 0.0,
        iterations,
        passes: reads as f64,
        reads,
        flops: 0.0,
        residuals,
        ended: if converged { Termination::Tolerance } else { Termination::Floor },
        failure: None,
        obstacle: None,
        figures: vec![],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::testing::{conditioned, deficient, normal};

    fn problem(A: &Matrix, b: Vec<f64>) -> Problem {
        Problem::from_rows(A.rows(), A.cols(), A.row_major().to_vec(), b).unwrap()
    }

    #[test]
    fn it_is_the_pseudo_inverse_at_any_condition_number() {
        for (m, n, kappa) in
            [(1, 2, 1.0), (5, 30, 10.0), (20, 300, 1e6), (20, 300, 1e9), (20, 60, 1e12), (50, 60, 1e13)]
        {
            let A = conditioned(n, m, kappa, 5).transpose();
            let b = normal(m, 1, 6).column(0).to_vec();
            let found = minimum_norm(&problem(&A, b.clone())).unwrap();
            let known = found.certificate.unwrap();
            assert!(found.is_converged() && known.rank == m, "{m} {n} {kappa}: {known:?}");
            assert!(known.backward_error < 4.0 * f64::EPSILON, "{known:?}");
            let wanted = linalg::mat_vec(&linalg::pseudo_inverse(&A).unwrap(), &b);
            let gap = linalg::norm(&linalg::sub(found.estimate(), &wanted)) / linalg::norm(&wanted);
            assert!(gap < 1e-13 * kappa && known.forward_error < 1e-13 * kappa, "{kappa}: {gap} {known:?}");
        }
    }

    #[test]
    fn dependent_rows_are_left_to_the_svd() {
        let A = deficient(30, 6, 4, 7).transpose();
        let b = normal(6, 1, 8).column(0).to_vec();
        let found = minimum_norm(&problem(&A, b.clone())).unwrap();
        assert!(found.is_converged() && found.certificate.unwrap().rank == 4);
        let wanted = linalg::mat_vec(&linalg::pseudo_inverse(&A).unwrap(), &b);
        let gap = linalg::norm(&linalg::sub(found.estimate(), &wanted)) / linalg::norm(&wanted);
        assert!(gap < 1e-12, "{gap}");
        let zero = minimum_norm(&problem(&Matrix::zeros(2, 5), vec![1.0, 2.0])).unwrap();
        assert!(zero.is_converged() && zero.estimate() == [0.0; 5] && zero.certificate.unwrap().rank == 0);
        let nothing = minimum_norm(&problem(&normal(2, 5, 1), vec![0.0, 0.0])).unwrap();
        assert!(nothing.is_converged() && nothing.estimate() == [0.0; 5]);
    }

    #[test]
    fn bad_data_are_refused() {
        let bad =
            problem(&Matrix::from_fn(2, 5, |i, j| if i + j == 3 { f64::NAN } else { 1.0 }), vec![1.0; 2]);
        assert!(matches!(minimum_norm(&bad), Err(SolveError::Data(InstanceError::MatrixEntry { .. }))));
    }
}

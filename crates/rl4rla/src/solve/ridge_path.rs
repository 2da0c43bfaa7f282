//! Ridge regression, min ‖Ax − b‖² + λ‖x‖², for many λ with one factorisation.
//!
//! With AᵀA = VDVᵀ, x(λ) = V(D + λI)⁻¹VᵀAᵀb. V and D come from AᵀA where its rounding errors do not matter, and from the
//! SVD of the R of A otherwise.
#![allow(non_snake_case)]

use super::error::SolveError;
use super::problem::Problem;
use crate::linalg::{self, Matrix};
use crate::problem::InstanceError;

/// Largest relative error of x at which AᵀA is used.
const ACCURATE: f64 = 1e-10;

/// The solution for one λ.
#[derive(Clone, PartialEq, Debug)]
pub struct RidgePoint {
    /// λ.
    pub lambda: f64,
    /// x, in the order of the columns.
    pub x: Vec<f64>,
    /// ‖Ax − b‖/‖b‖.
    pub residual: f64,
    /// Effective degrees of freedom, Σ dᵢ/(dᵢ + λ), and one for an intercept.
    pub freedom: f64,
    /// Generalised cross-validation, ‖Ax − b‖²/m/(1 − freedom/m)²: its minimum is a usual choice of λ.
    pub gcv: f64,
    /// Bound on ‖x − x*‖/‖x‖, by rounding errors to first order.
    pub forward_error: f64,
}

/// Solutions for many λ.
#[derive(Clone, PartialEq, Debug)]
pub struct RidgePath {
    /// One for every λ, in the order given.
    pub points: Vec<RidgePoint>,
    /// Whether the factor comes from AᵀA; otherwise from a QR factorisation.
    pub squared: bool,
    /// ‖x − x*‖/‖x‖ at the smallest λ as measured by a pass over A: the Newton step from there.
    pub measured: f64,
    /// Condition number of AᵀA + λI at the smallest λ.
    pub kappa: f64,
}

impl RidgePath {
    /// The point with the least generalised cross-validation.
    pub fn best(&self) -> &RidgePoint {
        let least = self.points.iter().min_by(|a, b| a.gcv.total_cmp(&b.gcv));
        least.expect("a path has a point")
    }

    /// Whether the measured error is within this tolerance, or within ten times its bound.
    pub fn is_converged(&self, tolerance: f64) -> bool {
        let bound = self.points.iter().map(|point| point.forward_error).fold(0.0, f64::max);
        self.measured <= tolerance.max(10.0 * bound) && bound < 1.0
    }
}

/// Orthonormal coordinates in which AᵀA is diagonal.
struct Coordinates {
    V: Matrix,
    /// D.
    squares: Vec<f64>,
    /// VᵀAᵀb.
    target: Vec<f64>,
    /// ‖b‖² minus its part in the range of A; as far as known.
    outside: Option<f64>,
    /// The last coefficient, if it is not penalised.
    free: Option<f64>,
}

/// Solves ridge regression for every λ ≥ 0. With `intercept`, the last column of A is not penalised; it must be
/// orthogonal to the others, as a column of ones is to centred columns.
///
/// ```
/// use rl4rla::{rng::Stream, solve::{Problem, ridge_path}};
/// let (m, n) = (500, 4);
/// let (a, b) = (Stream::new(1).normals(m * n), Stream::new(2).normals(m));
/// let path = ridge_path(&Problem::from_rows(m, n, a, b).unwrap(), &[0.0, 1.0, 100.0], false).unwrap();
/// assert!(path.is_converged(1e-10));
/// let length = |i: usize| path.points[i].x.iter().map(|x| x * x).sum::<f64>();
/// assert!(length(0) > length(1) && length(1) > length(2));
/// ```
pub fn ridge_path(problem: &Problem, lambdas: &[f64], intercept: bool) -> Result<RidgePath, SolveError> {
    let (A, b) = (&problem.matrix, &problem.b);
    InstanceError::check_entries(A, b).map_err(SolveError::Data)?;
    assert!(!lambdas.is_empty() && lambdas.iter().all(|lambda| *lambda >= 0.0), "λ ≥ 0");
    let least = lambdas.iter().copied().fold(f64::INFINITY, f64::min);
    let squared = Coordinates::squared(A, b, intercept);
    let squared = squared.filter(|found| found.error(least, found.squares[0], linalg::norm(b)) <= ACCURATE);
    let (found, is_squared) = match squared {
        Some(found) => (found, true),
        None => (Coordinates::factored(A, b, intercept)?, false),
    };
    let point = |lambda: f64| found.point(lambda, A.rows(), linalg::norm(b), is_squared);
    let points: Vec<RidgePoint> = lambdas.iter().map(|lambda| point(*lambda)).collect();
    let hardest = points.iter().min_by(|a, b| a.lambda.total_cmp(&b.lambda)).expect("at least one λ");
    let measured = found.newton(A, b, hardest);
    let last = found.squares.last().copied().unwrap_or(0.0);
    let kappa = (found.squares[0] + least) / (last + least);
    Ok(RidgePath { points, squared: is_squared, measured, kappa })
}

impl Coordinates {
    /// From AᵀA; `None` if the eigenvalues cannot be computed or none is positive.
    fn squared(A: &Matrix, b: &[f64], intercept: bool) -> Option<Coordinates> {
        let (G, c) = (linalg::gram(A), linalg::vec_mat(b, A));
        let n = A.cols() - usize::from(intercept);
        let (squares, V) = linalg::symmetric_eigen(&Matrix::from_fn(n, n, |i, j| G.get(i, j)))?;
        let target = linalg::vec_mat(&c[..n], &V);
        let free = intercept.then(|| c[n] / G.get(n, n));
        squares.first().is_some_and(|first| *first > 0.0).then_some(Coordinates {
            V,
            squares,
            target,
            outside: None,
            free,
        })
    }

    /// From a QR factorisation of A with b, and the SVD of R.
    fn factored(A: &Matrix, b: &[f64], intercept: bool) -> Result<Coordinates, SolveError> {
        let (R, c) = linalg::qr_r_with(A, b);
        let n = A.cols() - usize::from(intercept);
        let svd = linalg::svd_of_square(&Matrix::from_fn(n, n, |i, j| R.get(i, j)))?;
        let turned = linalg::vec_mat(&c[..n], &svd.U);
        // Singular values that are only rounding errors count as zero, for the minimum-norm solution at λ = 0.
        let null = A.rows().max(A.cols()) as f64 * f64::EPSILON * svd.sigma.first().copied().unwrap_or(0.0);
        let sigma: Vec<f64> = svd.sigma.iter().map(|s| if *s > null { *s } else { 0.0 }).collect();
        let inside: f64 = c.iter().map(|c| c * c).sum();
        Ok(Coordinates {
            V: svd.V,
            target: sigma.iter().zip(&turned).map(|(s, u)| s * u).collect(),
            squares: sigma.iter().map(|s| s * s).collect(),
            outside: Some((linalg::dot(b, b) - inside).max(0.0)),
            // The other columns are orthogonal to it.
            free: intercept.then(|| linalg::vec_mat(b, A)[n] / linalg::column_norms(A)[n].powi(2)),
        })
    }

    /// (D + λI)⁻¹v, zero where D + λ is.
    fn divided(&self, v: &[f64], lambda: f64) -> Vec<f64> {
        let quotient = |(v, d): (&f64, &f64)| if d + lambda > 0.0 { v / (d + lambda) } else { 0.0 };
        v.iter().zip(&self.squares).map(quotient).collect()
    }

    /// Rounding errors of AᵀA and Aᵀb of relative size nε, in x(λ).
    fn error(&self, lambda: f64, largest: f64, size: f64) -> f64 {
        let n = self.squares.len() as f64;
        let length = linalg::norm(&self.divided(&self.target, lambda));
        let least = self.squares.last().copied().unwrap_or(0.0).max(0.0) + lambda;
        let right = if length > 0.0 { largest.sqrt() * size / length } else { 0.0 };
        n * f64::EPSILON * (largest + right) / least
    }

    fn point(&self, lambda: f64, rows: usize, size: f64, squared: bool) -> RidgePoint {
        let w = self.divided(&self.target, lambda);
        let mut x = linalg::mat_vec(&self.V, &w);
        x.extend(self.free);
        let rss = match self.outside {
            // ‖b‖² − 2xᵀAᵀb + xᵀAᵀAx, without the share of an unpenalised column.
            None => {
                let pieces = self.target.iter().zip(&self.squares).zip(&w);
                let inside: f64 = pieces.map(|((c, d), w)| w * (2.0 * c - d * w)).sum();
                (size * size - inside).max(0.0)
            }
            // What λ leaves of b in the range of A: λ/(d + λ) of each coordinate.
            Some(outside) => {
                let left = |(d, w): (&f64, &f64)| if *d > 0.0 { (lambda * w).powi(2) / d } else { 0.0 };
                outside + self.squares.iter().zip(&w).map(left).sum::<f64>()
            }
        };
        let freedom = self.squares.iter().map(|d| if *d > 0.0 { d / (d + lambda) } else { 0.0 }).sum::<f64>();
        let freedom = freedom + f64::from(u8::from(self.free.is_some()));
        let m = rows as f64;
        let largest = self.squares.first().copied().unwrap_or(0.0);
        let forward_error = match squared {
            true => self.error(lambda, largest, size),
            // That of a QR factorisation: κ and κ²‖r‖/(σ₁‖x‖).
            false => {
                let least =
                    self.squares.iter().rev().find(|d| **d + lambda > 0.0).map_or(1.0, |d| d + lambda);
                let kappa = (largest / least).sqrt();
                let length = linalg::norm(&w);
                let share = if length > 0.0 { rss.sqrt() / (largest.sqrt() * length) } else { 0.0 };
                self.squares.len() as f64 * f64::EPSILON * kappa * (1.0 + kappa * share)
            }
        };
        RidgePoint {
            lambda,
            x,
            residual: if size > 0.0 { rss.sqrt() / size } else { 0.0 },
            freedom,
            gcv: rss / m / (1.0 - freedom / m).powi(2),
            forward_error,
        }
    }

    /// The relative length of the Newton step from a point.
    fn newton(&self, A: &Matrix, b: &[f64], point: &RidgePoint) -> f64 {
        let (_, gradient) = linalg::residual_and_gradient(A, &point.x, b);
        let n = self.squares.len();
        let penalised = gradient[..n].iter().zip(&point.x).map(|(g, x)| g + point.lambda * x);
        let turned = linalg::vec_mat(&penalised.collect::<Vec<f64>>(), &self.V);
        let step = linalg::norm(&self.divided(&turned, point.lambda));
        let length = linalg::norm(&point.x[..n]);
        if step == 0.0 { 0.0 } else { step / length }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::testing::{conditioned, normal};

    fn problem(m: usize, n: usize, kappa: f64) -> Problem {
        let a = conditioned(m, n, kappa, 3);
        let b = normal(m, 1, 4).column(0).to_vec();
        Problem::from_rows(m, n, a.row_major().to_vec(), b).unwrap()
    }

    /// The solution of A on top of √λ·I by Householder reflections.
    fn expected(problem: &Problem, lambda: f64) -> Vec<f64> {
        let (A, n) = (&problem.matrix, problem.matrix.cols());
        let m = A.rows();
        let entry = |i: usize, j: usize| match i {
            _ if i < m => A.get(i, j),
            _ => {
                if i - m == j {
                    lambda.sqrt()
                } else {
                    0.0
                }
            }
        };
        let mut right = problem.b.clone();
        right.resize(m + n, 0.0);
        linalg::least_squares(&Matrix::from_fn(m + n, n, entry), &right)
    }

    #[test]
    fn a_path_is_that_of_augmented_systems() {
        for (m, n, kappa) in [(40, 1, 1.0), (200, 6, 10.0), (300, 12, 1e5)] {
            let (problem, lambdas) = (problem(m, n, kappa), [0.0, 1e-6, 1e-2, 1.0, 1e4]);
            let path = ridge_path(&problem, &lambdas, false).unwrap();
            assert!(path.is_converged(1e-10), "{path:?}");
            assert_eq!(path.squared, kappa < 1e3, "{kappa}");
            for point in &path.points {
                let wanted = expected(&problem, point.lambda);
                let gap = linalg::norm(&linalg::sub(&point.x, &wanted)) / linalg::norm(&wanted);
                assert!(gap <= 1e-13 + 10.0 * point.forward_error, "{m} {n} {kappa} {point:?}: {gap}");
                let r = linalg::norm(&linalg::residual_and_gradient(&problem.matrix, &point.x, &problem.b).0);
                let residual = r / linalg::norm(&problem.b);
                assert!((residual - point.residual).abs() < 1e-9, "{residual} {point:?}");
            }
        }
    }

    #[test]
    fn dependent_columns_have_a_solution_of_minimum_norm() {
        let column = normal(30, 1, 1).column(0).to_vec();
        let twice: Vec<f64> = column.iter().flat_map(|a| [*a, *a]).collect();
        let problem = Problem::from_rows(30, 2, twice, normal(30, 1, 2).column(0).to_vec()).unwrap();
        let path = ridge_path(&problem, &[0.0, 1.0], false).unwrap();
        for point in &path.points {
            assert!((point.x[0] - point.x[1]).abs() < 1e-12 * point.x[0].abs(), "{point:?}");
        }
    }

    #[test]
    fn an_intercept_is_not_penalised() {
        let (m, mean) = (50, 7.0);
        let a = normal(m, 1, 1).column(0).to_vec();
        let centre = a.iter().sum::<f64>() / m as f64;
        let entries: Vec<f64> = a.iter().flat_map(|a| [a - centre, 1.0]).collect();
        let b: Vec<f64> = a.iter().map(|a| 2.0 * (a - centre) + mean).collect();
        let path = ridge_path(&Problem::from_rows(m, 2, entries, b).unwrap(), &[1e6], true).unwrap();
        assert!((path.points[0].x[1] - mean).abs() < 1e-10 && path.points[0].x[0].abs() < 1e-2);
    }

    #[test]
    fn bad_data_are_refused() {
        let nan = Problem::from_rows(3, 1, [1.0, f64::NAN, 2.0], [1.0; 3]).unwrap();
        assert!(matches!(ridge_path(&nan, &[1.0], false), Err(SolveError::Data(_))));
    }
}

//! Splittings A = M − N of a matrix and the iteration Mx ← Nx + b: where FunSearch began, and what it found.
#![allow(non_snake_case)]

use super::error::BaselineError;
use super::minimum_norm::MinimumNorm;
use super::request::{Request, Solution};
use crate::linalg::{self, Matrix};

/// Iterations of the released code.
const ITERATIONS: usize = 10;
/// ‖Ax − b‖ below which the program that FunSearch found stops.
const FOUND_TOLERANCE: f64 = 1e-14;
/// ‖xₖ₊₁ − xₖ‖ below which the program it began with stops.
const JACOBI_TOLERANCE: f64 = 1e-6;

/// x ← D⁻¹(b − (A − D)x),  D = diag(A), from x = 0.
///
/// Ends when ‖xₖ₊₁ − xₖ‖ is below the tolerance, 10⁻⁶, or after 10 iterations. For square A only: D must be.
pub fn jacobi(request: &Request) -> Result<Solution, BaselineError> {
    let n = request.square()?;
    let A = request.A;
    let diagonal: Vec<f64> = (0..n).map(|i| A.get(i, i)).collect();
    if let Some(index) = diagonal.iter().position(|d| !d.is_normal()) {
        return Err(BaselineError::ZeroDiagonal { index });
    }
    let rest = Matrix::from_fn(n, n, |i, j| if i == j { 0.0 } else { A.get(i, j) });
    let divide = |v: Vec<f64>| Ok(v.iter().zip(&diagonal).map(|(v, d)| v / d).collect());
    let moved = |next: &[f64], x: &[f64]| linalg::norm(&linalg::sub(next, x));
    iterate(request, &rest, Rest { tolerance: JACOBI_TOLERANCE, passes: 1.0, left: moved }, divide)
}

/// x ← L⁻¹(b − (A − L)x),  L = tril(A), from x = 0: the iteration of Gauss and Seidel.
///
/// Where L cannot be solved with, because it is not square or a diagonal entry is zero, x is the shortest solution of
/// min ‖Lx − (b − Ux)‖, as `numpy.linalg.lstsq` gives it. Ends when ‖Ax − b‖ is below the tolerance, 10⁻¹⁴, or after 10
/// iterations. L is factored once, where the program as found factors it in every iteration.
pub fn funsearch(request: &Request) -> Result<Solution, BaselineError> {
    let (m, n) = request.any_shape()?;
    let A = request.A;
    let upper = Matrix::from_fn(m, n, |i, j| if j > i { A.get(i, j) } else { 0.0 });
    let residual = |next: &[f64], _: &[f64]| linalg::norm(&linalg::sub(&linalg::mat_vec(A, next), request.b));
    let rest = Rest { tolerance: FOUND_TOLERANCE, passes: 2.0, left: residual };
    let solvable = m == n && (0..n).all(|i| A.get(i, i).is_normal());
    if solvable {
        // L = (Lᵀ)ᵀ, and Lᵀ is upper triangular.
        let turned = Matrix::from_fn(n, n, |i, j| if j >= i { A.get(j, i) } else { 0.0 });
        let solve = |v: Vec<f64>| Ok(linalg::solve_upper_transposed(&turned, &v)?);
        return iterate(request, &upper, rest, solve);
    }
    let lower = Matrix::from_fn(m, n, |i, j| if j <= i { A.get(i, j) } else { 0.0 });
    let factored = MinimumNorm::of(&lower)?;
    iterate(request, &upper, rest, |v| Ok(factored.solve(&v)))
}

/// When an iteration ends, and how often it reads A.
struct Rest<F> {
    tolerance: f64,
    passes: f64,
    /// What must fall below the tolerance, of the new x and the old.
    left: F,
}

/// x ← M⁻¹(b − N·x) until little is left.
fn iterate(
    request: &Request,
    N: &Matrix,
    rest: Rest<impl Fn(&[f64], &[f64]) -> f64>,
    solve: impl Fn(Vec<f64>) -> Result<Vec<f64>, BaselineError>,
) -> Result<Solution, BaselineError> {
    let (tolerance, most) =
        (request.tolerance.unwrap_or(rest.tolerance), request.iterations.unwrap_or(ITERATIONS));
    let mut x = vec![0.0; N.cols()];
    for iteration in 1..=most {
        let next = solve(linalg::sub(request.b, &linalg::mat_vec(N, &x)))?;
        let left = (rest.left)(&next, &x);
        x = next;
        if !left.is_finite() {
            return Err(BaselineError::Diverged { iteration });
        }
        if left < tolerance {
            return Solution::new(x, iteration, rest.passes * iteration as f64, true);
        }
    }
    Solution::new(x, most, rest.passes * most as f64, false)
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use crate::linalg::testing::{conditioned, normal};

    #[test]
    fn two_by_two_by_hand() {
        let A = Matrix::from_rows(&[&[4.0, 1.0], &[2.0, 8.0]]);
        let b = [5.0, 10.0];
        let after = |solver: Solver, iterations| {
            solver(&Request { iterations: Some(iterations), ..request(&A, &b) }).unwrap().x
        };
        // Jacobi: (5/4, 10/8), then ((5 − 1.25)/4, (10 − 2.5)/8). Gauss-Seidel uses 5/4 at once.
        assert_eq!(after(jacobi, 1), [1.25, 1.25]);
        assert_eq!(after(jacobi, 2), [0.9375, 0.9375]);
        assert_eq!(after(funsearch, 1), [1.25, 0.9375]);
        assert_eq!(after(funsearch, 2), [1.015625, 0.99609375]);
        let x = after(funsearch, 30);
        assert!((x[0] - 1.0).abs() < 1e-14 && (x[1] - 1.0).abs() < 1e-14);
    }

    #[test]
    fn what_funsearch_found_is_gauss_seidel() {
        let (n, G) = (12, normal(20, 12, 1));
        let A = linalg::gram(&G);
        let b = normal(n, 1, 2).column(0).to_vec();
        // Entry by entry, each from the newest of the others.
        let mut x = vec![0.0; n];
        for _ in 0..7 {
            for i in 0..n {
                let others: f64 = (0..n).filter(|j| *j != i).map(|j| A.get(i, j) * x[j]).sum();
                x[i] = (b[i] - others) / A.get(i, i);
            }
        }
        let found = funsearch(&Request { iterations: Some(7), ..request(&A, &b) }).unwrap();
        assert!(linalg::norm(&linalg::sub(&found.x, &x)) < 1e-13 * linalg::norm(&x));
        assert_eq!((found.iterations, found.converged), (7, false));
    }

    #[test]
    fn a_tall_lower_trapezoid_is_solved_in_the_first_iteration() {
        // A = L, so U = 0 and the fallback is a least-squares solve.
        let G = conditioned(30, 4, 100.0, 3);
        let A = Matrix::from_fn(30, 4, |i, j| if j <= i { G.get(i, j) } else { 0.0 });
        let b = normal(30, 1, 4).column(0).to_vec();
        let found = funsearch(&request(&A, &b)).unwrap();
        let expected = linalg::least_squares(&A, &b);
        assert!(linalg::norm(&linalg::sub(&found.x, &expected)) < 1e-12 * linalg::norm(&expected));
        // Nothing moves after the first step, and what is left is not zero: it goes on to its last iteration.
        assert_eq!((found.iterations, found.converged), (ITERATIONS, false));
        let consistent = funsearch(&request(&A, &linalg::mat_vec(&A, &[1.0, 2.0, 3.0, 4.0]))).unwrap();
        assert!(linalg::norm(&linalg::sub(&consistent.x, &[1.0, 2.0, 3.0, 4.0])) < 1e-12);
        // The first step on any tall A is that solve too.
        let one = funsearch(&Request { iterations: Some(1), ..request(&G, &b) }).unwrap();
        assert!(linalg::norm(&linalg::sub(&one.x, &expected)) < 1e-12 * linalg::norm(&expected));
    }

    #[test]
    fn what_has_no_diagonal_is_refused_or_solved_another_way() {
        let tall = Matrix::from_rows(&[&[1.0], &[2.0]]);
        let refused = jacobi(&request(&tall, &[1.0, 1.0]));
        assert_eq!(refused, Err(BaselineError::NotSquare { rows: 2, cols: 1 }));
        let swapped = Matrix::from_rows(&[&[0.0, 1.0], &[1.0, 0.0]]);
        assert_eq!(jacobi(&request(&swapped, &[1.0, 2.0])), Err(BaselineError::ZeroDiagonal { index: 0 }));
        assert!(funsearch(&request(&swapped, &[1.0, 2.0])).is_ok());
    }
}

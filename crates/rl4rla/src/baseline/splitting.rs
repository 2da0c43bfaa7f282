//! Splittings A = M − N of a matrix and the iteration Mx ← Nx + b: FunSearch's initial routine and the routine it
//! retained, both transcribed from the paper's tables.
#![allow(non_snake_case)]

use super::direct;
use super::error::BaselineError;
use super::request::{BaselineSolution, Request};
use crate::linalg::{self, Matrix, NumericError};

/// Iterations of both routines, as printed.
const ITERATIONS: usize = 10;
/// ‖Ax − b‖ below which the retained routine stops.
const RETAINED_TOLERANCE: f64 = 1e-14;
/// ‖xₖ₊₁ − xₖ‖ below which the initial routine stops.
const JACOBI_TOLERANCE: f64 = 1e-6;

/// x ← D⁻¹(b − (A − D)x),  D = diag(A), from x = 0: the Jacobi splitting that FunSearch was initialised with; no
/// model found it.
///
/// As printed, D is treated as a dense matrix and solved with by LU in every iteration. Ends when ‖xₖ₊₁ − xₖ‖ is
/// below the tolerance, 10⁻⁶, or after 10 iterations. For square A only.
pub fn jacobi(request: &Request) -> Result<BaselineSolution, BaselineError> {
    let n = request.square()?;
    let A = request.A;
    if let Some(index) = (0..n).position(|i| !A.get(i, i).is_normal()) {
        return Err(BaselineError::ZeroDiagonal { index });
    }
    let diagonal = Matrix::from_fn(n, n, |i, j| if i == j { A.get(i, i) } else { 0.0 });
    let rest = Matrix::from_fn(n, n, |i, j| if i == j { 0.0 } else { A.get(i, j) });
    let solve = |v: Vec<f64>| Ok(linalg::solve_unless_zero_pivot(&diagonal, &v)?);
    let moved = |next: &[f64], x: &[f64]| linalg::norm(&linalg::sub(next, x));
    iterate(request, &rest, Rest { tolerance: JACOBI_TOLERANCE, passes: 2.0, left: moved }, solve)
}

/// x ← L⁻¹(b − (A − L)x),  L = tril(A), from x = 0: the Gauss-Seidel iteration.
///
/// As printed, L is solved with in every iteration: by LU with partial pivoting, as `numpy.linalg.solve` does, and where
/// that raises an error, because L is not square or singular, by a least-squares solve through the SVD, as
/// `numpy.linalg.lstsq` does. Ends when ‖Ax − b‖ is below the tolerance, 10⁻¹⁴, or after 10 iterations.
pub fn funsearch(request: &Request) -> Result<BaselineSolution, BaselineError> {
    let (m, n) = request.any_shape()?;
    let A = request.A;
    let lower = Matrix::from_fn(m, n, |i, j| if j <= i { A.get(i, j) } else { 0.0 });
    let upper = Matrix::from_fn(m, n, |i, j| if j > i { A.get(i, j) } else { 0.0 });
    let residual = |next: &[f64], _: &[f64]| linalg::norm(&linalg::sub(&linalg::mat_vec(A, next), request.b));
    // U, L and A are each read once in an iteration.
    let rest = Rest { tolerance: RETAINED_TOLERANCE, passes: 3.0, left: residual };
    iterate(request, &upper, rest, |v| {
        if m == n {
            match linalg::solve_unless_zero_pivot(&lower, &v) {
                Err(NumericError::Singular { .. }) => {}
                solved => return Ok(solved?),
            }
        }
        Ok(direct::svd(&Request { A: &lower, b: &v, ..*request })?.x)
    })
}

/// Flops of one iteration of [`jacobi`] (n×n only), by the kernel costs of the released flop model: a product 2mn, an
/// LU (2/3)n³, two triangular solves n² each, a vector its length, a norm twice that.
pub fn jacobi_flops(_: f64, n: f64) -> f64 {
    2.0 * n * n + n + lu_flops(n) + 3.0 * n
}

/// The same for [`funsearch`] on an m×n matrix. The least-squares solve is a QR 2mn², Qᵀv 4mn and the
/// bidiagonalisation of R (8/3)n³; the rest is of lower order.
pub fn funsearch_flops(m: f64, n: f64) -> f64 {
    let solve = if m == n { lu_flops(n) } else { 2.0 * m * n * n + 4.0 * m * n + 8.0 / 3.0 * n.powi(3) };
    2.0 * m * n + m + solve + 2.0 * m * n + 3.0 * m
}

fn lu_flops(n: f64) -> f64 {
    2.0 / 3.0 * n.powi(3) + 2.0 * n * n
}

/// Stopping criterion of an iteration, and its number of passes over A.
struct Rest<F> {
    tolerance: f64,
    passes: f64,
    /// The quantity compared with the tolerance, a function of the new and the old x.
    left: F,
}

/// x ← M⁻¹(b − N·x) until the stopping criterion holds.
fn iterate(
    request: &Request,
    N: &Matrix,
    rest: Rest<impl Fn(&[f64], &[f64]) -> f64>,
    solve: impl Fn(Vec<f64>) -> Result<Vec<f64>, BaselineError>,
) -> Result<BaselineSolution, BaselineError> {
    let (tolerance, most) =
        (request.tolerance.unwrap_or(rest.tolerance), request.iterations.unwrap_or(ITERATIONS));
    let mut x = vec![0.0; N.cols()];
    for iteration in 1..=most {
        let rhs = linalg::sub(request.b, &linalg::mat_vec(N, &x));
        if !linalg::is_finite(&rhs) {
            return Err(BaselineError::Diverged { iteration });
        }
        let next = solve(rhs)?;
        let left = (rest.left)(&next, &x);
        x = next;
        if !left.is_finite() {
            return Err(BaselineError::Diverged { iteration });
        }
        if left < tolerance {
            return BaselineSolution::new(x, iteration, rest.passes * iteration as f64, true);
        }
    }
    BaselineSolution::new(x, most, rest.passes * most as f64, false)
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
        let after = |solver: BaselineFunction, iterations| {
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
    fn what_funsearch_retained_is_gauss_seidel() {
        let (n, G) = (12, normal(20, 12, 1));
        let A = linalg::gram(&G);
        let b = normal(n, 1, 2).column(0).to_vec();
        // Entry by entry, each from the latest values of the others.
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
        // Nothing changes after the first step, but the residual is not zero, so it runs to its iteration limit.
        assert_eq!((found.iterations, found.converged), (ITERATIONS, false));
        let consistent = funsearch(&request(&A, &linalg::mat_vec(&A, &[1.0, 2.0, 3.0, 4.0]))).unwrap();
        assert!(linalg::norm(&linalg::sub(&consistent.x, &[1.0, 2.0, 3.0, 4.0])) < 1e-12);
        // The first step on any tall A is the same solve.
        let one = funsearch(&Request { iterations: Some(1), ..request(&G, &b) }).unwrap();
        assert!(linalg::norm(&linalg::sub(&one.x, &expected)) < 1e-12 * linalg::norm(&expected));
    }

    #[test]
    fn a_tall_system_is_solved_anew_in_every_iteration() {
        // x ← argmin ‖Lx − (b − Ux)‖, written out.
        let A = conditioned(30, 4, 10.0, 5);
        let b = normal(30, 1, 6).column(0).to_vec();
        let L = Matrix::from_fn(30, 4, |i, j| if j <= i { A.get(i, j) } else { 0.0 });
        let U = Matrix::from_fn(30, 4, |i, j| if j > i { A.get(i, j) } else { 0.0 });
        let mut x = vec![0.0; 4];
        for _ in 0..3 {
            x = linalg::least_squares(&L, &linalg::sub(&b, &linalg::mat_vec(&U, &x)));
        }
        let found = funsearch(&Request { iterations: Some(3), ..request(&A, &b) }).unwrap();
        assert!(linalg::norm(&linalg::sub(&found.x, &x)) < 1e-12 * linalg::norm(&x));
        assert_eq!(found.passes, 9.0);
    }

    #[test]
    fn a_tiny_pivot_is_divided_by_and_a_zero_one_is_not() {
        // Like `numpy.linalg.solve`, which raises an error only at an exact zero.
        let tiny = Matrix::from_rows(&[&[1.0, 0.0], &[0.0, 1e-20]]);
        assert_eq!(funsearch(&request(&tiny, &[1.0, 1e-20])).unwrap().x, [1.0, 1.0]);
        let zero = Matrix::from_rows(&[&[1.0, 0.0], &[0.0, 0.0]]);
        assert_eq!(funsearch(&request(&zero, &[1.0, 1.0])).unwrap().x, [1.0, 0.0]);
    }

    #[test]
    fn flops_by_hand() {
        // n = 3: (A − D)x 18, b − that 3, LU 18 with two triangles 18, the difference 3 and its norm 6.
        assert_eq!(jacobi_flops(3.0, 3.0), 66.0);
        // Ux 18, b − that 3, the solve 36, Ax 18, less b 3, its norm 6.
        assert_eq!(funsearch_flops(3.0, 3.0), 84.0);
        // 10×3: Ux 60, 10, QR 180, Qᵀv 120, R 72, Ax 60, 10, 20.
        assert_eq!(funsearch_flops(10.0, 3.0), 532.0);
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

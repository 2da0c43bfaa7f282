//! Solvers for low-rank approximation: the truncated singular value decomposition, and three that look for the leading
//! right singular vectors in a space of few dimensions. An answer is k orthonormal rows.
#![allow(non_snake_case)]

use super::error::BaselineError;
use super::request::{BaselineSolution, Request};
use crate::execute::{Sketch, SketchKind};
use crate::linalg::{self, Matrix};

/// Rows of a random block beyond the rank (Halko, Martinsson and Tropp recommend 5 or 10).
pub const OVERSAMPLING: usize = 10;

/// Power iterations of the randomized singular value decomposition, and Krylov blocks after the first.
const POWERS: usize = 2;

/// Most iterations of subspace iteration, and the relative change of the singular values at which it ends.
const MOST: usize = 100;
const CHANGE: f64 = 1e-4;

/// The leading right singular vectors of A, by the singular value decomposition of the R of A.
pub fn truncated_svd(request: &Request) -> Result<BaselineSolution, BaselineError> {
    let (_, n) = request.tall()?;
    let svd = linalg::svd_of_square(&linalg::qr_r(request.A))?;
    let x = (0..request.rank_below(n)).flat_map(|j| svd.V.column(j).to_vec()).collect();
    BaselineSolution::direct(x, 1.0)
}

/// Randomized singular value decomposition: the range of (AᵀA)^q·AᵀΩ for a Gaussian Ω of k + 10 columns, orthonormal
/// after every product with AᵀA, and the singular value decomposition of A restricted to it. q is the number of
/// iterations, 2 by default, of two passes each.
pub fn randomized_svd(request: &Request) -> Result<BaselineSolution, BaselineError> {
    let (m, n) = request.tall()?;
    let k = request.rank_below(n);
    let powers = request.iterations.unwrap_or(POWERS);
    let mut Q = linalg::orthonormal_rows(&block(request, (k + OVERSAMPLING).min(n), m));
    for _ in 0..powers {
        Q = linalg::orthonormal_rows(&power(request.A, &Q));
    }
    let (W, _) = leading(request.A, &Q, k)?;
    BaselineSolution::new(W, powers, (2 * powers + 2) as f64, true)
}

/// Randomized block Krylov iteration: the space of AᵀΩ, (AᵀA)AᵀΩ, …, (AᵀA)^q·AᵀΩ together, for a Gaussian Ω of k + 10
/// columns, each block orthonormal before the next product, and the singular value decomposition of A restricted to it.
/// q is the number of iterations, 2 by default, of two passes each.
pub fn block_krylov(request: &Request) -> Result<BaselineSolution, BaselineError> {
    let (m, n) = request.tall()?;
    let k = request.rank_below(n);
    let powers = request.iterations.unwrap_or(POWERS);
    let mut blocks = vec![linalg::orthonormal_rows(&block(request, (k + OVERSAMPLING).min(n), m))];
    for i in 0..powers {
        blocks.push(linalg::orthonormal_rows(&power(request.A, &blocks[i])));
    }
    let each = blocks[0].rows();
    // More than n rows span no more than n.
    let rows = (each * blocks.len()).min(n);
    let stacked = Matrix::from_fn(rows, n, |i, j| blocks[i / each].get(i % each, j));
    let (W, _) = leading(request.A, &linalg::orthonormal_rows(&stacked), k)?;
    BaselineSolution::new(W, powers, (2 * powers + 2) as f64, true)
}

/// Subspace iteration: a random block of k rows times AᵀA, orthonormal after every product. Ends when no estimate of a
/// singular value changes by more than τ times the largest, τ = 10⁻⁴, or after 100 iterations of two passes each.
pub fn subspace_iteration(request: &Request) -> Result<BaselineSolution, BaselineError> {
    let (m, n) = request.tall()?;
    let (k, most) = (request.rank_below(n), request.iterations.unwrap_or(MOST));
    let tolerance = request.tolerance.unwrap_or(CHANGE);
    let mut Q = linalg::orthonormal_rows(&block(request, k, m));
    let mut last: Option<Vec<f64>> = None;
    let mut made = 0;
    let (W, converged) = loop {
        let (W, sigma) = leading(request.A, &Q, k)?;
        let is_close = |last: &Vec<f64>| {
            last.iter().zip(&sigma).all(|(old, new)| (old - new).abs() <= tolerance * sigma[0])
        };
        let converged = last.as_ref().is_some_and(is_close);
        if converged || made == most {
            break (W, converged);
        }
        last = Some(sigma);
        Q = linalg::orthonormal_rows(&power(request.A, &Q));
        made += 1;
    };
    // The product with A that gives the estimates is the first of the two with AᵀA.
    BaselineSolution::new(W, made, (2 * made + 2) as f64, converged)
}

/// AᵀΩ by rows, for a Gaussian Ω of this many columns.
fn block(request: &Request, columns: usize, m: usize) -> Matrix {
    let stream = request.stream.derive("block", 0);
    Sketch::draw(SketchKind::Gaussian, columns, m, &stream).apply(request.A).by_columns()
}

/// Q(AᵀA).
fn power(A: &Matrix, Q: &Matrix) -> Matrix {
    linalg::t_matmul(&linalg::matmul_t(A, Q), A)
}

/// The k leading right singular vectors of A·QᵀQ one after the other, and its singular values.
fn leading(A: &Matrix, Q: &Matrix, k: usize) -> Result<(Vec<f64>, Vec<f64>), BaselineError> {
    let svd = linalg::svd_of_square(&linalg::qr_r(&linalg::matmul_t(A, Q)))?;
    let V = Matrix::from_fn(Q.rows(), k.min(Q.rows()), |i, j| svd.V.get(i, j));
    let W = linalg::t_matmul(&V, Q);
    let rows = (0..W.rows()).flat_map(|i| (0..W.cols()).map(move |j| (i, j)));
    Ok((rows.map(|(i, j)| W.get(i, j)).collect(), svd.sigma))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::{Family, Instance};
    use crate::rng::Stream;

    fn drawn(family: &str) -> Instance {
        let family = Family { rows: 200, cols: 80, ..Family::named(family).unwrap() };
        family.with_number("rank", 8.0).unwrap().draw(&Stream::new(6)).unwrap()
    }

    fn request(instance: &Instance) -> Request<'_> {
        Request { rank: Some(8), ..Request::new(&instance.A, &instance.b, Stream::new(7)) }
    }

    type BaselineSolver = fn(&Request) -> Result<BaselineSolution, BaselineError>;

    fn excess(solve: BaselineSolver, instance: &Instance, iterations: usize) -> f64 {
        let asked = Request { iterations: Some(iterations), tolerance: Some(0.0), ..request(instance) };
        let found = solve(&asked).unwrap();
        assert_eq!(found.x.len(), 8 * instance.cols());
        instance.measure(&found.x).1
    }

    #[test]
    fn the_truncated_decomposition_has_the_best_error() {
        for family in ["low-rank", "low-rank-fast"] {
            let instance = drawn(family);
            let found = truncated_svd(&request(&instance)).unwrap();
            assert!(instance.measure(&found.x).1 < 1e-10, "{family}");
            assert_eq!((found.passes, found.x.len()), (1.0, 8 * 80));
        }
    }

    /// In the order of the literature: more powers are better, and a Krylov space is better than its last block.
    #[test]
    fn errors_fall_towards_the_best_as_iterations_are_made() {
        let instance = drawn("low-rank");
        for solve in [randomized_svd, block_krylov, subspace_iteration] as [BaselineSolver; 3] {
            let errors = [0, 1, 4].map(|iterations| excess(solve, &instance, iterations));
            assert!(errors[0] > errors[1] && errors[1] > errors[2], "{errors:?}");
        }
        let [power, krylov] = [randomized_svd, block_krylov].map(|solve| excess(solve, &instance, 2));
        assert!(krylov < 0.2 * power && krylov < 0.05, "{krylov} {power}");
        // Without powers both are the range finder.
        let [one, other] = [randomized_svd, block_krylov].map(|solve| excess(solve, &instance, 0));
        assert!((one - other).abs() < 1e-12, "{one} {other}");
        // Singular values that decay fast need no powers.
        assert!(excess(randomized_svd, &drawn("low-rank-fast"), 1) < 0.05);
    }

    #[test]
    fn subspace_iteration_ends_when_the_singular_values_rest() {
        let instance = drawn("low-rank-fast");
        let found = subspace_iteration(&request(&instance)).unwrap();
        assert!(found.converged && (1..40).contains(&found.iterations), "{found:?}");
        assert!(instance.measure(&found.x).1 < 0.05);
        let short = Request { iterations: Some(1), tolerance: Some(0.0), ..request(&instance) };
        let short = subspace_iteration(&short).unwrap();
        assert_eq!((short.converged, short.iterations, short.passes), (false, 1, 4.0));
    }

    #[test]
    fn a_block_that_spans_everything_is_exact() {
        let family = Family { rows: 30, cols: 12, ..Family::named("low-rank").unwrap() };
        let instance = family.with_number("rank", 5.0).unwrap().draw(&Stream::new(6)).unwrap();
        let asked = Request { rank: Some(5), ..request(&instance) };
        for solve in [randomized_svd, block_krylov] as [BaselineSolver; 2] {
            assert!(instance.measure(&solve(&asked).unwrap().x).1 < 1e-8);
        }
    }
}

//! The Nyström approximation of a positive semidefinite matrix, as a preconditioner.

use super::{Matrix, NumericError, cholesky_r, matmul, solve_upper_transposed, svd_of_square, thin_qr};

/// G of s rows such that I − GᵀG is a multiple of the preconditioner of Frangella, Tropp and Udell (2021) for A + λI:
///
/// I − GᵀG = (μ + λ)·U(Λ + λI)⁻¹Uᵀ + (I − UUᵀ),
///
/// where UΛUᵀ = YᵀW⁻¹Y is the Nyström approximation of A from Y = SA and W = SASᵀ, and μ the smallest of the eigenvalues
/// Λ. The rows of G are orthogonal and shorter than 1. W is shifted by the size of its rounding errors before its
/// Cholesky factorization; rows whose eigenvalue is no larger than such errors are zero, and so is G for A = 0.
///
/// An error if Y, W or λ is not finite, λ < 0, or W is not positive semidefinite.
#[allow(non_snake_case)]
pub fn nystrom_deflation(Y: &Matrix, W: &Matrix, lambda: f64) -> Result<Matrix, NumericError> {
    let (s, n) = (Y.rows(), Y.cols());
    if !(lambda >= 0.0 && lambda.is_finite() && Y.is_finite()) {
        return Err(NumericError::NotFinite);
    }
    let largest = (0..s).map(|i| W.get(i, i).abs()).fold(0.0, f64::max);
    if largest == 0.0 && W.is_finite() {
        return Ok(Matrix::zeros(s, n));
    }
    let errors = s as f64 * f64::EPSILON;
    let symmetric = |i: usize, j: usize| (W.get(i, j) + W.get(j, i)) / 2.0;
    let shifted = |i, j| symmetric(i, j) + if i == j { errors * largest } else { 0.0 };
    let C = cholesky_r(&Matrix::from_fn(s, s, shifted))?;
    // Bᵀ with B = C⁻ᵀY, so that YᵀW⁻¹Y = BᵀB, and BᵀZ = Q·R·Z with R = XΣZᵀ.
    let mut entries = Vec::with_capacity(n.max(s) * s);
    for j in 0..n {
        entries.extend(solve_upper_transposed(&C, Y.column(j))?);
    }
    // Zeros, if S has more rows than columns.
    entries.resize(n.max(s) * s, 0.0);
    let B = Matrix::from_row_major(n.max(s), s, entries).by_columns();
    let (Q, R) = thin_qr(&B).ok_or(NumericError::NotFinite)?;
    let svd = svd_of_square(&R)?;
    let values: Vec<f64> = svd.sigma.iter().map(|sigma| sigma * sigma).collect();
    let least =
        values.iter().copied().filter(|value| *value > errors * values[0]).fold(f64::INFINITY, f64::min);
    let weight = |value: f64| if value > least { ((value - least) / (value + lambda)).sqrt() } else { 0.0 };
    let U = matmul(&Q, &svd.U);
    Ok(Matrix::from_fn(s, n, |i, j| weight(values[i]) * U.get(j, i)))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{max_difference, normal};
    use super::super::{eigenvalues, gram, matmul_t, orthonormal_rows, t_matmul};
    use super::*;

    /// A with these eigenvalues, and a sketch of it.
    #[allow(non_snake_case)]
    fn sketched(values: &[f64], s: usize) -> (Matrix, Matrix, Matrix) {
        let n = values.len();
        let V = orthonormal_rows(&normal(n, n, 1));
        let A = t_matmul(&V, &Matrix::from_fn(n, n, |i, j| values[i] * V.get(i, j)));
        let S = normal(s, n, 2);
        let Y = matmul(&S, &A);
        let W = matmul_t(&Y, &S);
        (A, Y, W)
    }

    #[allow(non_snake_case)]
    fn shifted(A: &Matrix, shift: f64) -> Matrix {
        Matrix::from_fn(A.rows(), A.cols(), |i, j| A.get(i, j) + if i == j { shift } else { 0.0 })
    }

    /// With as many rows as the rank, the approximation is A itself.
    #[test]
    #[allow(non_snake_case)]
    fn it_is_the_preconditioner_of_the_paper() {
        let values: Vec<f64> = (0..20).map(|i| if i < 6 { 10f64.powi(-i) } else { 0.0 }).collect();
        for (s, lambda) in [(6, 1e-3), (6, 0.0), (9, 1e-4)] {
            let (A, Y, W) = sketched(&values, s);
            let G = nystrom_deflation(&Y, &W, lambda).unwrap();
            assert_eq!((G.rows(), G.cols()), (s, 20));
            let P = Matrix::from_fn(20, 20, |i, j| f64::from(i == j) - gram(&G).get(i, j));
            // Times A + λI it has the eigenvalue μ + λ in the range of A, and λ outside, to the rounding errors of A/μ.
            let product = matmul(&P, &shifted(&A, lambda));
            let range = A.map(|entry| (1e-5 + lambda) * entry);
            assert!(max_difference(&matmul(&product, &A), &range) < 1e-9 * (1e-5 + lambda), "{s} {lambda}");
            let rest = (0..s).filter(|&i| super::super::norm(G.transpose().column(i)) == 0.0).count();
            assert_eq!(rest, s - 5, "the last of the rank, and what is rounding error");
        }
    }

    /// The spectrum decays far below rounding: the shift keeps the factorization from breaking down.
    #[test]
    #[allow(non_snake_case)]
    fn a_fast_decay_is_well_conditioned_afterwards() {
        let values: Vec<f64> = (0..60).map(|i| 10f64.powf(-0.5 * i as f64)).collect();
        let (A, Y, W) = sketched(&values, 30);
        let lambda = 1e-8;
        let G = nystrom_deflation(&Y, &W, lambda).unwrap();
        let inner = super::super::outer_gram(&G);
        let off = (0..30).flat_map(|i| (0..i).map(move |j| (i, j))).map(|(i, j)| inner.get(i, j).abs());
        assert!(off.fold(0.0, f64::max) < 1e-14 && (0..30).all(|i| inner.get(i, i) < 1.0));
        let P = Matrix::from_fn(60, 60, |i, j| f64::from(i == j) - gram(&G).get(i, j));
        let spectrum = eigenvalues(&matmul(&P, &shifted(&A, lambda))).unwrap();
        let sizes: Vec<f64> = spectrum.iter().map(|[re, im]| re.hypot(*im)).collect();
        let [most, least] =
            [sizes.iter().copied().fold(0.0, f64::max), sizes.iter().copied().fold(1.0, f64::min)];
        assert!(most / least < 1.5, "{most} {least}");
    }

    #[test]
    #[allow(non_snake_case)]
    fn degenerate_input_is_zero_or_an_error() {
        let zero = nystrom_deflation(&Matrix::zeros(3, 7), &Matrix::zeros(3, 3), 0.0).unwrap();
        assert_eq!(zero, Matrix::zeros(3, 7));
        // An empty row of the sketch, and a repeated one.
        let (_, Y, W) = sketched(&[3.0, 2.0, 1.0, 0.5], 2);
        let at = |i: usize| [0, 1, 0].get(i).copied();
        let Y4 = Matrix::from_fn(4, 4, |i, j| at(i).map_or(0.0, |i| Y.get(i, j)));
        let W4 = Matrix::from_fn(4, 4, |i, j| at(i).zip(at(j)).map_or(0.0, |(i, j)| W.get(i, j)));
        let [one, other] = [(&Y, &W), (&Y4, &W4)].map(|(Y, W)| gram(&nystrom_deflation(Y, W, 0.1).unwrap()));
        assert!(max_difference(&one, &other) < 1e-12);
        for lambda in [-1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(nystrom_deflation(&Y, &W, lambda), Err(NumericError::NotFinite));
        }
        let bad = |M: &Matrix| M.map(|_| f64::NAN);
        assert!(
            nystrom_deflation(&bad(&Y), &W, 1.0).is_err() && nystrom_deflation(&Y, &bad(&W), 1.0).is_err()
        );
        let indefinite = W.map(|w| -w);
        assert!(matches!(nystrom_deflation(&Y, &indefinite, 1.0), Err(NumericError::Singular { .. })));
    }
}

//! The pseudo-inverse of a singular positive semidefinite matrix, such as the Gram matrix of fewer rows than columns.

use super::blas::symmetric_product;
use super::inverse::{explicit_inverse, norm_1};
use super::{Matrix, matmul, norm, sub};
use faer::Par;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt_pivoting::factor;

/// Largest κ₁ of LᵀL, so that no more digits are lost than by eigenvalues.
const WELL_CONDITIONED: f64 = 1e8;

/// M⁺ = L·(LᵀL)⁻²·Lᵀ with M = L·Lᵀ from a Cholesky factorization with pivoting, in a seventh of the time of an
/// eigendecomposition. `None` unless M is symmetric positive semidefinite, singular, and far from another rank.
#[allow(non_snake_case)]
pub fn semidefinite_pseudo_inverse(M: &Matrix) -> Option<Matrix> {
    if !M.is_symmetric() {
        return None;
    }
    let n = M.cols();
    let (B, scale) = M.normalized()?;
    if (0..n).all(|i| B[(i, i)] == 0.0) {
        return None;
    }
    let mut factored = B.clone();
    let (mut order, mut inverse_order) = (vec![0_usize; n], vec![0_usize; n]);
    let scratch = factor::cholesky_in_place_scratch::<usize, f64>(n, Par::Seq, Default::default());
    let (info, _) = factor::cholesky_in_place(
        factored.as_mut(),
        &mut order,
        &mut inverse_order,
        Par::Seq,
        MemStack::new(&mut MemBuffer::new(scratch)),
        Default::default(),
    )
    .ok()?;
    if info.rank == n {
        return None;
    }
    let L = Matrix::from_fn(n, info.rank, |i, j| match inverse_order[i] {
        row if row < j => 0.0,
        row => factored[(row, j)],
    });
    // What is left must be below n·ε·λ₁, where the pseudo-inverse treats eigenvalues as zero. If M is indefinite, it is
    // not, even where nothing is left on the diagonal.
    let product = symmetric_product(L.as_faer());
    let left = (0..n).map(|j| norm(&sub(B.col_as_slice(j), product.column(j))));
    let largest = (0..n).map(|j| norm(B.col_as_slice(j))).fold(0.0, f64::max);
    if norm(&left.collect::<Vec<_>>()) > n as f64 * f64::EPSILON * largest {
        return None;
    }
    let K = symmetric_product(L.as_faer().transpose());
    let inverse = explicit_inverse(&K);
    // Also false for what is not a number.
    let is_well_conditioned = norm_1(&K) * norm_1(&inverse) <= WELL_CONDITIONED;
    if !is_well_conditioned {
        return None;
    }
    let root = matmul(&L, &inverse);
    Some(symmetric_product(root.as_faer()).map(|x| x * scale.recip())).filter(Matrix::is_finite)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{assert_small, deficient, difference, frobenius, normal};
    use super::super::{gram, pseudo_inverse, symmetric_eigen};
    use super::*;

    /// The Moore-Penrose conditions for a symmetric M and X: M·X·M = M, X·M·X = X, and M·X symmetric.
    #[track_caller]
    fn check(m: &Matrix, x: &Matrix) {
        let n = m.cols() as f64;
        let kappa = frobenius(m) * frobenius(x);
        let [mx, xm] = [matmul(m, x), matmul(x, m)];
        assert_small(frobenius(&difference(&matmul(&mx, m), m)), n * kappa * frobenius(m));
        assert_small(frobenius(&difference(&matmul(&xm, x), x)), n * kappa * frobenius(x));
        assert_small(frobenius(&difference(&mx, &mx.transpose())), n * kappa);
        assert!(x.is_symmetric());
    }

    #[test]
    fn it_is_the_moore_penrose_inverse() {
        for (rows, n) in [(1, 2), (3, 7), (25, 50), (49, 50), (20, 200)] {
            for scale in [1.0, 1e-100, 1e100] {
                let m = gram(&normal(rows, n, 1).map(|x| x * scale));
                let x = semidefinite_pseudo_inverse(&m).unwrap();
                check(&m, &x);
                assert_eq!(pseudo_inverse(&m), Ok(x));
            }
        }
        let m = gram(&deficient(30, 20, 7, 2));
        check(&m, &semidefinite_pseudo_inverse(&m).unwrap());
    }

    #[test]
    fn it_leaves_other_matrices_alone() {
        let regular = gram(&normal(20, 10, 3));
        let asymmetric = deficient(10, 10, 4, 4);
        let swap = Matrix::from_rows(&[&[1.0, 0.0, 0.0], &[0.0, 0.0, 1.0], &[0.0, 1.0, 0.0]]);
        let negative = gram(&normal(3, 6, 5)).map(|x| -x);
        let zero = Matrix::zeros(4, 4);
        let infinite = gram(&normal(3, 6, 5)).map(|x| x * f64::INFINITY);
        for m in [regular, asymmetric, swap, negative, zero, infinite] {
            assert_eq!(semidefinite_pseudo_inverse(&m), None);
        }
        // The nonzero eigenvalues 1 and 1e-11 lose eleven digits in either way, and an eigendecomposition is safer.
        let v = normal(6, 6, 6);
        let (_, v) = symmetric_eigen(&gram(&v)).unwrap();
        let lambda = [1.0, 1e-11, 0.0, 0.0, 0.0, 0.0];
        let scaled = Matrix::from_fn(6, 6, |i, j| v.get(i, j) * f64::sqrt(lambda[j]));
        assert_eq!(semidefinite_pseudo_inverse(&symmetric_product(scaled.as_faer())), None);
    }
}

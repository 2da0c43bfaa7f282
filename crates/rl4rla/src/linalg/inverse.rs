//! Inverses and least squares, exact where possible and minimum-norm where not.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::lu::partial_pivoting::{factor, inverse as lu_inverse};
use faer::prelude::Solve;
use faer::{Mat, MatRef, Par};

use super::vector::{magnitude, power_of_two_below};
use super::{
    Matrix, NumericError, mat_vec, pseudo_inverse, qr_r_with, scale, semidefinite_pseudo_inverse,
    solve_upper, triangular_inverse,
};

/// M⁻¹, or the pseudo-inverse M⁺ where M is singular to working precision (or not square).
#[allow(non_snake_case)]
pub fn inverse(M: &Matrix) -> Result<Matrix, NumericError> {
    if let Some(inverse) = semidefinite_pseudo_inverse(M) {
        return Ok(inverse);
    }
    let (scaled, factor) = M.normalized().ok_or(NumericError::NotFinite)?;
    let scaled = Matrix::from_faer(scaled);
    if M.rows() == M.cols() {
        let inverse = explicit_inverse(&scaled);
        if is_usable(&scaled, &inverse) {
            let inverse = inverse.map(|x| x * factor.recip());
            return if inverse.is_finite() { Ok(inverse) } else { Err(NumericError::NotFinite) };
        }
    }
    pseudo_inverse(M)
}

/// M⁻¹·v by LU with partial pivoting; an error if a pivot is rounding noise or something overflows.
#[allow(non_snake_case)]
pub fn solve(M: &Matrix, v: &[f64]) -> Result<Vec<f64>, NumericError> {
    // M is scaled to magnitude 1 before it is factored, so the pivot of a dependent column is a few rounding errors
    // of 1.
    solve_with_pivots_above(100.0 * M.cols() as f64 * f64::EPSILON, M, v)
}

/// M⁻¹·v by LU with partial pivoting, like LAPACK's `gesv`: an error only if a pivot is exactly zero or something
/// overflows.
#[allow(non_snake_case)]
pub fn solve_unless_zero_pivot(M: &Matrix, v: &[f64]) -> Result<Vec<f64>, NumericError> {
    solve_with_pivots_above(0.0, M, v)
}

#[allow(non_snake_case)]
fn solve_with_pivots_above(noise: f64, M: &Matrix, v: &[f64]) -> Result<Vec<f64>, NumericError> {
    assert_eq!((M.rows(), M.cols()), (v.len(), v.len()), "M⁻¹·v of unequal lengths");
    let (scaled, factor) = M.normalized().ok_or(NumericError::NotFinite)?;
    let v = MatRef::from_column_major_slice(v, v.len(), 1);
    let lu = scaled.partial_piv_lu();
    let pivots = lu.U().diagonal().column_vector();
    if let Some(index) = pivots.iter().position(|pivot| pivot.abs() <= noise) {
        return Err(NumericError::Singular { index });
    }
    let x = scale(factor.recip(), lu.solve(v).col_as_slice(0));
    if x.iter().all(|x| x.is_finite()) { Ok(x) } else { Err(NumericError::NotFinite) }
}

/// argmin ‖A·x − b‖, the x of minimum norm if there are several.
///
/// All NaN if A or b is not finite.
#[allow(non_snake_case)]
pub fn least_squares(A: &Matrix, b: &[f64]) -> Vec<f64> {
    assert_eq!(A.rows(), b.len(), "least squares of unequal lengths");
    try_least_squares(A, b).unwrap_or_else(|_| vec![f64::NAN; A.cols()])
}

#[allow(non_snake_case)]
fn try_least_squares(A: &Matrix, b: &[f64]) -> Result<Vec<f64>, NumericError> {
    let n = A.cols();
    // A and b are scaled separately, or the smaller could underflow relative to the larger.
    let a_factor = power_of_two_below(A.magnitude().ok_or(NumericError::NotFinite)?);
    let b_factor = power_of_two_below(magnitude(b).ok_or(NumericError::NotFinite)?);
    let (to_a, to_b) = (a_factor.recip(), b_factor.recip());
    let x = if A.rows() < n {
        mat_vec(&pseudo_inverse(&A.map(|a| a * to_a))?, &scale(to_b, b))
    } else {
        let (R, c) = qr_r_with(A, &scale(a_factor, &scale(to_b, b)));
        let (R, c) = (R.map(|r| r * to_a), scale(to_a, &c));
        match triangular_inverse(&R) {
            Ok(inverse) if is_usable(&R, &inverse) => solve_upper(&R, &c)?,
            _ => mat_vec(&pseudo_inverse(&R)?, &c),
        }
    };
    Ok(scale(to_a, &scale(b_factor, &x)))
}

/// M⁻¹ by LU with partial pivoting; not finite if a pivot is zero.
#[allow(non_snake_case)]
pub(super) fn explicit_inverse(M: &Matrix) -> Matrix {
    let n = M.cols();
    let mut LU = M.as_faer().to_owned();
    let (mut forward, mut backward) = (vec![0_usize; n], vec![0_usize; n]);
    let scratch = factor::lu_in_place_scratch::<usize, f64>(n, n, Par::Seq, Default::default())
        .or(lu_inverse::inverse_scratch::<usize, f64>(n, Par::Seq));
    let mut buffer = MemBuffer::new(scratch);
    let stack = MemStack::new(&mut buffer);
    let (_, permutation) =
        factor::lu_in_place(LU.as_mut(), &mut forward, &mut backward, Par::Seq, stack, Default::default());
    let mut inverse = Mat::zeros(n, n);
    // L and U share a matrix: only one side of the diagonal is read for each.
    lu_inverse::inverse(inverse.as_mut(), LU.as_ref(), LU.as_ref(), permutation, Par::Seq, stack);
    Matrix::from_faer(inverse)
}

/// Whether M⁻¹ has correct digits: κ₁ = ‖M‖₁·‖M⁻¹‖₁ ≤ 0.01/(n·ε). False if anything is not finite.
#[allow(non_snake_case)]
fn is_usable(M: &Matrix, inverse: &Matrix) -> bool {
    let limit = 0.01 / (M.cols().max(1) as f64 * f64::EPSILON);
    inverse.is_finite() && norm_1(M) * norm_1(inverse) <= limit
}

/// ‖M‖₁, the largest absolute column sum.
#[allow(non_snake_case)]
pub(super) fn norm_1(M: &Matrix) -> f64 {
    (0..M.cols()).map(|j| M.column(j).iter().map(|x| x.abs()).sum()).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::super::{matmul, norm, singular_values, sub, vec_mat};
    use super::*;

    #[test]
    fn inverse_inverts_up_to_the_condition_number() {
        for n in SIZES {
            let mut examples = vec![normal(n, n, 1), Matrix::identity(n), kahan(n)];
            examples.extend([1.0, 1e4, 1e8, 1e12].map(|kappa| conditioned(n, n, kappa, 2)));
            examples.extend([1e200, 1e-200].map(|scale| normal(n, n, 3).map(|x| x * scale)));
            for m in examples {
                let x = inverse(&m).unwrap();
                let kappa = frobenius(&m) * frobenius(&x);
                for product in [matmul(&m, &x), matmul(&x, &m)] {
                    assert_small(frobenius(&difference(&product, &Matrix::identity(n))), kappa * n as f64);
                }
            }
        }
    }

    #[test]
    fn a_permutation_is_inverted_exactly() {
        let p = Matrix::from_fn(7, 7, |i, j| if (i * 3) % 7 == j { 2.0 } else { 0.0 });
        assert_eq!(inverse(&p), Ok(p.transpose().map(|x| x / 4.0)));
    }

    #[test]
    fn singular_matrices_get_the_pseudo_inverse() {
        for (n, rank) in [(1, 0), (3, 1), (20, 19), (50, 7)] {
            let m = deficient(n, n, rank, 4);
            assert_eq!(inverse(&m), pseudo_inverse(&m));
            let sigma = singular_values(&inverse(&m).unwrap()).unwrap();
            assert!(sigma.iter().all(|s| *s < 1e4), "{sigma:?}");
        }
        for n in SIZES {
            assert_eq!(inverse(&Matrix::zeros(n, n)), Ok(Matrix::zeros(n, n)));
        }
        let nearly = conditioned(20, 20, 1e15, 5);
        assert_eq!(inverse(&nearly), pseudo_inverse(&nearly));
        // Ill-conditioned is not singular: the true inverse is returned here.
        let ill = conditioned(20, 20, 1e9, 5);
        assert_ne!(inverse(&ill), pseudo_inverse(&ill));
        let wide = normal(3, 5, 6);
        assert_eq!(inverse(&wide), pseudo_inverse(&wide));
    }

    #[test]
    fn bad_values_are_errors() {
        for bad in [f64::NAN, f64::INFINITY] {
            let m =
                Matrix::from_fn(5, 5, |i, j| if (i, j) == (3, 1) { bad } else { 1.0 / (1 + i + j) as f64 });
            assert_eq!(inverse(&m), Err(NumericError::NotFinite));
            assert!(least_squares(&m, &[1.0; 5]).iter().all(|x| x.is_nan()));
            assert!(least_squares(&Matrix::identity(2), &[1.0, bad]).iter().all(|x| x.is_nan()));
        }
        assert_eq!(inverse(&Matrix::from_rows(&[&[1e-320]])), Err(NumericError::NotFinite));
    }

    /// The residual is orthogonal to the columns, and x has no component in the null space.
    #[track_caller]
    fn check_least_squares(a: &Matrix, b: &[f64], rank: usize) {
        let x = least_squares(a, b);
        assert_eq!(x.len(), a.cols());
        let residual = sub(&mat_vec(a, &x), b);
        let dimension = a.rows().max(a.cols()) as f64;
        let size = frobenius(a) * (frobenius(a) * norm(&x) + norm(b)) * dimension;
        assert_small(norm(&vec_mat(&residual, a)), size);
        if rank < a.cols() {
            let x_plus = pseudo_inverse(a).unwrap();
            let projected = mat_vec(&x_plus, &mat_vec(a, &x));
            let kappa = frobenius(a) * frobenius(&x_plus);
            assert_small(norm(&sub(&projected, &x)), norm(&x) * kappa * dimension);
        }
    }

    #[test]
    fn least_squares_of_every_shape() {
        for (m, n) in SHAPES {
            let b = normal(m, 1, 7);
            check_least_squares(&normal(m, n, 8), b.column(0), m.min(n));
            check_least_squares(&conditioned(m, n, 1e6, 9), b.column(0), m.min(n));
            check_least_squares(&conditioned(m, n, 1e12, 9), b.column(0), m.min(n));
            check_least_squares(&Matrix::zeros(m, n), b.column(0), 0);
            assert_eq!(least_squares(&normal(m, n, 8), &vec![0.0; m]), vec![0.0; n]);
        }
        for (m, n, rank) in [(3, 3, 1), (20, 20, 5), (50, 20, 19), (20, 50, 7), (400, 50, 30)] {
            check_least_squares(&deficient(m, n, rank, 10), normal(m, 1, 11).column(0), rank);
        }
    }

    #[test]
    fn least_squares_recovers_the_solution_of_a_consistent_system_at_any_scale() {
        for (a_scale, b_scale) in [(1.0, 1.0), (1e200, 1.0), (1e-150, 1e-150), (1e200, 1e200), (1.0, 1e-200)]
        {
            let (a, x) = (normal(400, 50, 12), normal(50, 1, 13));
            let b = scale(b_scale, &mat_vec(&a, x.column(0)));
            let found = least_squares(&a.map(|x| x * a_scale), &b);
            let expected = scale(b_scale / a_scale, x.column(0));
            assert_small(norm(&sub(&found, &expected)), norm(&expected) * 50.0);
        }
    }

    #[test]
    fn equal_values_give_equal_bits() {
        let b = normal(37, 1, 14);
        assert_reproducible(&normal(37, 37, 15), |a| {
            vec![inverse(a).unwrap(), Matrix::from_rows(&[&least_squares(a, b.column(0))])]
        });
    }

    #[test]
    fn solving_is_backward_stable_and_refuses_singular_matrices() {
        for n in [0, 1, 2, 10, 60] {
            let entries = crate::rng::Stream::new(n as u64).normals(n * n + n);
            let m = Matrix::from_fn(n, n, |i, j| entries[n + i * n + j]);
            let x = solve(&m, &entries[..n]).unwrap();
            let residual = norm(&sub(&mat_vec(&m, &x), &entries[..n]));
            let size = norm(m.row_major()) * norm(&x) * n.max(1) as f64 * f64::EPSILON;
            assert!(residual <= 30.0 * size, "{residual} at n = {n}");
        }
        for scale in [1e-200, 1.0, 1e200] {
            let singular = Matrix::from_fn(3, 3, |i, j| scale * (1.0 + (i * j) as f64));
            assert!(matches!(solve(&singular, &[1.0; 3]), Err(NumericError::Singular { .. })));
        }
    }

    #[test]
    fn only_a_zero_pivot_keeps_gesv_from_solving() {
        let nearly = Matrix::from_rows(&[&[1.0, 1.0], &[1.0, 1.0 + 4.0 * f64::EPSILON]]);
        assert!(matches!(solve(&nearly, &[1.0; 2]), Err(NumericError::Singular { index: 1 })));
        let x = solve_unless_zero_pivot(&nearly, &[1.0; 2]).unwrap();
        assert_eq!(mat_vec(&nearly, &x), [1.0; 2]);
        let singular = Matrix::from_rows(&[&[1.0, 1.0], &[1.0, 1.0]]);
        let refused = solve_unless_zero_pivot(&singular, &[1.0; 2]);
        assert_eq!(refused, Err(NumericError::Singular { index: 1 }));
    }
}

#![allow(clippy::needless_range_loop)]

use super::*;
use crate::linalg::testing::{deficient, frobenius, normal, with_singular_values};
use crate::linalg::{matmul, matmul_t, symmetric_eigen, t_matmul, thin_q};

/// Q·diag(λ)·Qᵀ for a random orthonormal Q, exactly symmetric, by rows.
fn rotated(n: usize, seed: u64, lambda: impl Fn(usize) -> f64) -> Matrix {
    let q = thin_q(&normal(n, n, seed));
    let a = matmul_t(&Matrix::from_fn(n, n, |i, j| q.get(i, j) * lambda(j)), &q);
    Matrix::from_fn(n, n, |i, j| 0.5 * (a.get(i, j) + a.get(j, i))).by_rows()
}

/// The k values of largest size of these, in that order.
fn leading(n: usize, k: usize, lambda: impl Fn(usize) -> f64) -> Vec<f64> {
    let mut all: Vec<f64> = (0..n).map(lambda).collect();
    all.sort_by(|a, b| b.abs().total_cmp(&a.abs()));
    all.truncate(k);
    all
}

/// Checks pairs against the known spectrum and, independently of the certificate, against A.
#[track_caller]
fn check_eigen(a: &Matrix, k: usize, expected: &[f64], method: SpectralMethod) {
    let found = eigenpairs(a, k, &SpectralOptions::default()).unwrap();
    assert!(found.is_converged(), "{:?}", found.obstacle);
    assert_eq!(found.method, method);
    let Pairs { values, right, .. } = found.into_pairs().unwrap();
    let size = expected[0].abs();
    for (value, expected) in values.iter().zip(expected) {
        assert!((value - expected).abs() <= 1e-10 * size, "{values:?} instead of {expected:?}");
    }
    let image = matmul(a, &right);
    for j in 0..k {
        let off = (0..a.rows()).map(|i| (image.get(i, j) - values[j] * right.get(i, j)).powi(2)).sum::<f64>();
        assert!(off.sqrt() <= 1e-10 * size, "residual {:e}", off.sqrt());
    }
    check_orthonormal(&right);
}

#[track_caller]
fn check_orthonormal(v: &Matrix) {
    let g = t_matmul(v, v);
    let off = Matrix::from_fn(v.cols(), v.cols(), |i, j| g.get(i, j) - f64::from(u8::from(i == j)));
    assert!(frobenius(&off) < 1e-11, "{:e}", frobenius(&off));
}

#[track_caller]
fn check_svd(a: &Matrix, k: usize, expected: impl Fn(usize) -> f64, method: SpectralMethod) {
    let found = truncated_svd(a, k, &SpectralOptions::default()).unwrap();
    assert!(found.is_converged(), "{:?}", found.obstacle);
    assert_eq!(found.method, method);
    let Pairs { values, right, left } = found.into_pairs().unwrap();
    let left = left.unwrap();
    assert_eq!((left.rows(), right.rows()), (a.rows(), a.cols()));
    let size = expected(0);
    for (j, value) in values.iter().enumerate() {
        assert!((value - expected(j)).abs() <= 1e-10 * size, "{j}: {value:e} instead of {:e}", expected(j));
    }
    let (image, back) = (matmul(a, &right), t_matmul(a, &left));
    for j in 0..k {
        let of = |x: &Matrix, y: &Matrix| {
            let off = (0..x.rows()).map(|i| (x.get(i, j) - values[j] * y.get(i, j)).powi(2)).sum::<f64>();
            assert!(off.sqrt() <= 1e-10 * size, "residual {:e}", off.sqrt());
        };
        of(&image, &left);
        of(&back, &right);
    }
    check_orthonormal(&left);
    check_orthonormal(&right);
}

const N: usize = 420;

#[test]
fn known_spectra() {
    let harmonic = |j: usize| 1.0 / (j + 1) as f64;
    let alternating = |j: usize| if j.is_multiple_of(2) { harmonic(j) } else { -harmonic(j) };
    let geometric = |j: usize| 0.5_f64.powi(j as i32);
    let flat = |j: usize| 1.0 - j as f64 / (2 * N) as f64;
    for k in [1, 10] {
        check_eigen(&rotated(N, 1, harmonic), k, &leading(N, k, harmonic), SpectralMethod::BlockKrylov);
        check_eigen(&rotated(N, 2, alternating), k, &leading(N, k, alternating), SpectralMethod::BlockKrylov);
        check_eigen(&rotated(N, 3, geometric), k, &leading(N, k, geometric), SpectralMethod::BlockKrylov);
        check_eigen(&rotated(N, 3, flat), k, &leading(N, k, flat), SpectralMethod::BlockKrylov);
        let diagonal = Matrix::from_fn(N, N, |i, j| if i == j { alternating(i) } else { 0.0 }).by_rows();
        check_eigen(&diagonal, k, &leading(N, k, alternating), SpectralMethod::BlockKrylov);
    }
    check_eigen(&rotated(90, 1, harmonic), 5, &leading(90, 5, harmonic), SpectralMethod::Eigendecomposition);
    check_eigen(&rotated(7, 1, harmonic), 7, &leading(7, 7, harmonic), SpectralMethod::Eigendecomposition);
}

/// Multiplicities beyond the width of a block: from one start, an iteration cannot see more copies than its block has
/// columns, and converges to smaller eigenvalues without a sign of it.
#[test]
fn repeated_and_clustered_eigenvalues_are_all_found() {
    for copies in [2, 5, 10, 30] {
        let repeated = |j: usize| if j < copies { 1.0 } else { 0.9 / (1 + j - copies) as f64 };
        check_eigen(&rotated(N, 4, repeated), 10, &leading(N, 10, repeated), SpectralMethod::BlockKrylov);
        let sign = |j: usize| if j.is_multiple_of(2) { repeated(j) } else { -repeated(j) };
        let a = rotated(N, 4, sign);
        let found = eigenpairs(&a, 10, &SpectralOptions::default()).unwrap().into_pairs().unwrap();
        for (value, expected) in found.values.iter().zip(leading(N, 10, sign)) {
            assert!((value.abs() - expected.abs()).abs() < 1e-10, "{:?}", found.values);
        }
        let clustered = |j: usize| if j < copies { 1.0 - 1e-7 * j as f64 } else { 0.5 / (1 + j) as f64 };
        check_eigen(&rotated(N, 5, clustered), 10, &leading(N, 10, clustered), SpectralMethod::BlockKrylov);
        let svd = with_singular_values(900, N, 6, repeated).by_rows();
        check_svd(&svd, 10, repeated, SpectralMethod::BlockKrylov);
    }
    check_eigen(&Matrix::identity(N).by_rows(), 10, &[1.0; 10], SpectralMethod::BlockKrylov);
}

/// A start that is exactly orthogonal to the leading eigenvectors: only the second start can find them.
#[test]
fn an_unlucky_start_is_noticed() {
    let lambda = |j: usize| if j < 3 { 2.0 - 0.1 * j as f64 } else { 1.0 / j as f64 };
    let seed = SpectralOptions::default().seed;
    let draws = Stream::new(seed).derive("spectral", 0);
    let block = BasisLimits::new(5, 1, 0.1).block;
    // The first draws are the start: eigenvectors are made orthogonal to them.
    let start: Vec<Vec<f64>> = (0..block).map(|j| draws.derive("direction", j as u64).normals(N)).collect();
    let random = normal(N, N, 9);
    let columns = Matrix::from_fn(N, N, |i, j| if j < block { start[j][i] } else { random.get(i, j) });
    let q = thin_q(&columns);
    // The columns of q after the start carry the leading eigenvalues.
    let value = |j: usize| lambda((j + N - block) % N);
    let a = matmul_t(&Matrix::from_fn(N, N, |i, j| q.get(i, j) * value(j)), &q);
    let a = Matrix::from_fn(N, N, |i, j| 0.5 * (a.get(i, j) + a.get(j, i))).by_rows();
    check_eigen(&a, 5, &leading(N, 5, lambda), SpectralMethod::BlockKrylov);
}

#[test]
fn both_ends_of_the_spectrum() {
    let lambda = |j: usize| j as f64 - 100.0;
    let a = rotated(N, 7, lambda);
    let values = |which| {
        let options = SpectralOptions { which, ..SpectralOptions::default() };
        eigenpairs(&a, 3, &options).unwrap().into_pairs().unwrap().values
    };
    for (which, expected) in [
        (Which::Largest, [319.0, 318.0, 317.0]),
        (Which::Smallest, [-100.0, -99.0, -98.0]),
        (Which::LargestMagnitude, [319.0, 318.0, 317.0]),
    ] {
        let found = values(which);
        assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-7), "{which:?}: {found:?}");
    }
}

#[test]
fn singular_values_of_every_shape() {
    let (slow, fast) = (|j: usize| 1.0 / (j + 1) as f64, |j: usize| 0.1_f64.powi(j as i32));
    check_svd(&with_singular_values(2000, 60, 1, slow).by_rows(), 12, slow, SpectralMethod::Gram);
    check_svd(&with_singular_values(60, 2000, 1, slow).by_rows(), 12, slow, SpectralMethod::Gram);
    // Below √ε·σ₁ the Gram matrix knows nothing.
    check_svd(&with_singular_values(2000, 60, 2, fast).by_rows(), 12, fast, SpectralMethod::Qr);
    check_svd(&with_singular_values(50, 50, 3, slow).by_rows(), 50, slow, SpectralMethod::Gram);
    check_svd(&with_singular_values(700, 500, 4, slow).by_rows(), 10, slow, SpectralMethod::BlockKrylov);
    check_svd(&with_singular_values(500, 700, 4, slow).by_rows(), 10, slow, SpectralMethod::BlockKrylov);
    check_svd(&with_singular_values(700, 500, 4, slow), 10, slow, SpectralMethod::BlockKrylov);
    check_svd(&with_singular_values(700, 500, 5, fast).by_rows(), 14, fast, SpectralMethod::BlockKrylov);
}

/// Small singular values have an error that is small relative to the largest, not its square root.
#[test]
fn small_singular_values_are_not_lost() {
    let sigma = |j: usize| 0.1_f64.powi(j as i32);
    for (m, n, method) in [(900, 40, SpectralMethod::Qr), (700, 500, SpectralMethod::BlockKrylov)] {
        let a = with_singular_values(m, n, 8, sigma).by_rows();
        let found =
            truncated_svd(&a, 12, &SpectralOptions { tolerance: 0.0, ..SpectralOptions::default() }).unwrap();
        assert_eq!((found.method, found.is_converged()), (method, true), "{:?}", found.obstacle);
        for (j, value) in found.estimate().values.iter().enumerate() {
            assert!((value - sigma(j)).abs() < 2e-15, "σ{j} = {value:e}");
        }
    }
}

#[test]
fn rank_deficient_and_zero_matrices() {
    for (m, n) in [(80, 30), (30, 80), (700, 500)] {
        let a = deficient(m, n, 4, 1).by_rows();
        let sigma = crate::linalg::singular_values(&a).unwrap();
        let method = if n == 500 { SpectralMethod::BlockKrylov } else { SpectralMethod::Qr };
        check_svd(&a, 9, |j| sigma[j], method);
        let zero = truncated_svd(&Matrix::zeros(m, n), 3, &SpectralOptions::default()).unwrap();
        assert_eq!(zero.into_pairs().unwrap().values, [0.0; 3]);
    }
    let low = |j: usize| if j < 4 { 1.0 + j as f64 } else { 0.0 };
    check_eigen(&rotated(N, 2, low), 10, &leading(N, 10, low), SpectralMethod::BlockKrylov);
    let zero = eigenpairs(&Matrix::zeros(9, 9), 9, &SpectralOptions::default()).unwrap();
    assert_eq!((zero.is_converged(), &zero.estimate().values[..]), (true, &[0.0; 9][..]));
}

#[test]
fn scales_do_not_matter() {
    let harmonic = |j: usize| 1.0 / (j + 1) as f64;
    for scale in [1e-140, 1e140] {
        let scaled = |j: usize| scale * harmonic(j);
        check_eigen(&rotated(N, 1, scaled), 5, &leading(N, 5, scaled), SpectralMethod::BlockKrylov);
        let (tall, square) =
            (with_singular_values(500, 30, 1, scaled), with_singular_values(500, 500, 1, scaled));
        check_svd(&tall.by_rows(), 5, scaled, SpectralMethod::Qr);
        check_svd(&square.by_rows(), 5, scaled, SpectralMethod::BlockKrylov);
    }
}

#[test]
fn bad_input_is_named() {
    let options = SpectralOptions::default();
    let data = |error| Err(SpectralError::Data(error));
    let a = Matrix::from_fn(40, 40, |i, j| if (i, j) == (3, 7) { 1.0 } else { 0.0 }).by_rows();
    let found = eigenpairs(&a, 2, &options);
    assert_eq!(found, data(InstanceError::NotSymmetric { row: 3, col: 7, value: 1.0, mirrored: 0.0 }));
    assert_eq!(
        eigenpairs(&normal(4, 3, 1), 2, &options),
        data(InstanceError::NotSquare { rows: 4, cols: 3 })
    );
    let bad = Matrix::from_fn(9, 5, |i, j| if (i, j) == (3, 2) { f64::NAN } else { 1.0 });
    let found = truncated_svd(&bad, 2, &options);
    assert!(matches!(found, Err(SpectralError::Data(InstanceError::MatrixEntry { row: 3, col: 2, .. }))));
    for k in [0, 6] {
        assert_eq!(
            truncated_svd(&normal(9, 5, 1), k, &options),
            Err(SpectralError::Count { asked: k, most: 5 })
        );
    }
    let odd = SpectralOptions { tolerance: -1.0, ..options };
    assert_eq!(truncated_svd(&normal(9, 5, 1), 2, &odd), Err(SpectralError::Tolerance(-1.0)));
}

/// A limit that is too low gives pairs that cannot be taken for converged ones.
#[test]
fn what_has_not_converged_says_so() {
    let n = AFFORDABLE + 100;
    let a = Matrix::from_fn(n, n, |i, j| if i == j { 1.0 / (1 + i) as f64 } else { 0.0 }).by_rows();
    let options = SpectralOptions { passes: 4, ..SpectralOptions::default() };
    for found in [eigenpairs(&a, 5, &options).unwrap(), truncated_svd(&a, 5, &options).unwrap()] {
        assert!(!found.is_converged());
        assert!(found.obstacle.as_ref().is_some_and(|why| why.contains("passes")), "{:?}", found.obstacle);
        assert!(found.into_pairs().is_err());
    }
    // Where all eigenvalues are affordable, they are computed instead.
    let flat = rotated(N, 3, |j| 1.0 - 1e-6 * j as f64);
    let found = eigenpairs(&flat, 5, &options).unwrap();
    assert_eq!((found.method, found.is_converged()), (SpectralMethod::Eigendecomposition, true));
}

#[test]
fn threads_do_not_show_and_seeds_do() {
    let a = rotated(N, 1, |j| 1.0 / (j + 1) as f64);
    let tall = normal(20_000, 40, 2).by_rows();
    let wide = normal(450, 600, 2).by_rows();
    let all = || {
        let options = SpectralOptions::default();
        let svd = |a: &Matrix| truncated_svd(a, 5, &options).unwrap();
        (eigenpairs(&a, 5, &options).unwrap(), svd(&tall), svd(&wide))
    };
    let one = all();
    for threads in [1, 2, 3] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        assert!(pool.install(all) == one, "{threads} threads");
    }
    let other = eigenpairs(&a, 5, &SpectralOptions { seed: 1, ..SpectralOptions::default() }).unwrap();
    assert!(other.estimate().right != one.0.estimate().right);
}

/// The values of a dense symmetric matrix with entries that no spectrum was put into.
#[test]
fn a_gaussian_matrix_agrees_with_its_eigendecomposition() {
    let g = normal(N, N, 11);
    let a = Matrix::from_fn(N, N, |i, j| g.get(i, j) + g.get(j, i)).by_rows();
    let (all, _) = symmetric_eigen(&a).unwrap();
    check_eigen(&a, 12, &leading(N, 12, |j| all[j]), SpectralMethod::BlockKrylov);
}

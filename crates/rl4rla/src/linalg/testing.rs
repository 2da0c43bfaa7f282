//! Test helpers of this module: matrices with known properties and scaled residuals.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rand_distr::{Distribution, StandardNormal};

use super::{Matrix, matmul, matmul_t, thin_q};

/// Shapes every factorisation is tried on: empty, thin, square, tall, wide.
pub const SHAPES: [(usize, usize); 14] = [
    (0, 0),
    (0, 3),
    (3, 0),
    (1, 1),
    (2, 2),
    (3, 3),
    (7, 7),
    (20, 20),
    (50, 50),
    (1, 5),
    (5, 1),
    (20, 50),
    (50, 20),
    (400, 50),
];

/// Sizes of square test matrices.
pub const SIZES: [usize; 7] = [0, 1, 2, 3, 7, 20, 50];

/// Residual ratios are accepted below this, as in LAPACK's own tests.
pub const RATIO: f64 = 30.0;

/// Independent standard normal entries.
pub fn normal(rows: usize, cols: usize, seed: u64) -> Matrix {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    Matrix::from_fn(rows, cols, |_, _| StandardNormal.sample(&mut rng))
}

/// U·diag(σ)·Vᵀ with U and V random orthonormal, σ log-spaced from 1 down to 1/κ.
pub fn conditioned(rows: usize, cols: usize, kappa: f64, seed: u64) -> Matrix {
    let k = rows.min(cols);
    let last = k.saturating_sub(1).max(1) as f64;
    with_singular_values(rows, cols, seed, |i| kappa.powf(-(i as f64) / last))
}

/// U·diag(σ(i))·Vᵀ with U and V random orthonormal.
pub fn with_singular_values(rows: usize, cols: usize, seed: u64, sigma: impl Fn(usize) -> f64) -> Matrix {
    let k = rows.min(cols);
    let (u, v) = (thin_q(&normal(rows, k, seed)), thin_q(&normal(cols, k, seed ^ 0xfeed)));
    matmul_t(&Matrix::from_fn(rows, k, |i, j| u.get(i, j) * sigma(j)), &v)
}

/// A matrix of the given rank, as a product of two random factors.
pub fn deficient(rows: usize, cols: usize, rank: usize, seed: u64) -> Matrix {
    matmul(&normal(rows, rank, seed), &normal(rank, cols, seed ^ 1))
}

/// Kahan's upper triangular matrix: close to singular although no diagonal entry is small.
pub fn kahan(n: usize) -> Matrix {
    let (sine, cosine) = 1.2_f64.sin_cos();
    Matrix::from_fn(n, n, |i, j| {
        let row = sine.powi(i as i32);
        match i.cmp(&j) {
            std::cmp::Ordering::Equal => row,
            std::cmp::Ordering::Less => -cosine * row,
            std::cmp::Ordering::Greater => 0.0,
        }
    })
}

/// Frobenius norm.
pub fn frobenius(m: &Matrix) -> f64 {
    super::norm(m.row_major())
}

/// P − Q.
pub fn difference(p: &Matrix, q: &Matrix) -> Matrix {
    assert_eq!((p.rows(), p.cols()), (q.rows(), q.cols()));
    Matrix::from_fn(p.rows(), p.cols(), |i, j| p.get(i, j) - q.get(i, j))
}

/// Largest entry of |P − Q|.
pub fn max_difference(p: &Matrix, q: &Matrix) -> f64 {
    difference(p, q).magnitude().expect("finite")
}

/// Asserts residual / (size·ε) < 30; a residual of zero passes whatever the size.
#[track_caller]
pub fn assert_small(residual: f64, size: f64) {
    assert!(
        residual == 0.0 || residual < RATIO * size * f64::EPSILON,
        "residual {residual:e} is {} ε against size {size:e}",
        residual / size / f64::EPSILON
    );
}

/// Asserts that `f` returns the same bits for equal matrices, however built, on every call and in every thread.
#[track_caller]
pub fn assert_reproducible(a: &Matrix, f: impl Fn(&Matrix) -> Vec<Matrix> + Sync) {
    let bits = |a: &Matrix| -> Vec<u64> {
        f(a).iter().flat_map(|m| m.row_major().iter().map(|x| x.to_bits()).collect::<Vec<_>>()).collect()
    };
    let expected = bits(a);
    let all_agree = |thread: usize| {
        (0..8).all(|round| {
            // An extra allocation, so that later ones get other addresses.
            let _shift = vec![0_u8; 1000 + 24 * (8 * thread + round)];
            let mut grown = faer::Mat::with_capacity(a.rows() + round, a.cols() + round);
            grown.resize_with(a.rows(), a.cols(), |i, j| a.get(i, j));
            expected == bits(&Matrix::from_faer(grown)) && expected == bits(&a.transpose().transpose())
        })
    };
    std::thread::scope(|scope| {
        let all_agree = &all_agree;
        let threads: Vec<_> = (0..3).map(|thread| scope.spawn(move || all_agree(thread))).collect();
        for thread in threads {
            assert!(thread.join().expect("no panic"), "results differ");
        }
    });
}

use super::*;
use crate::linalg::testing::{assert_small, conditioned, difference, frobenius, normal};
use crate::linalg::{gram, norm, qr_r, singular_values, sub, thin_q, triangular_inverse};

/// (s, m), including edge cases.
const SHAPES: [(usize, usize); 10] =
    [(0, 0), (0, 4), (3, 0), (1, 1), (1, 9), (9, 1), (5, 3), (8, 30), (20, 100), (30, 130)];

fn draw(kind: SketchKind, s: usize, m: usize, seed: u64) -> Sketch {
    Sketch::draw(kind, s, m, &Stream::new(seed))
}

fn dense(sketch: &Sketch) -> Matrix {
    sketch.apply(&Matrix::identity(sketch.rows))
}

#[test]
fn apply_is_multiplication_by_one_fixed_matrix() {
    for kind in SketchKind::ALL {
        for (s, m) in SHAPES {
            let sketch = draw(kind, s, m, 1);
            let (a, b) = (normal(m, 6, 2), normal(m, 6, 3));
            let explicit = dense(&sketch);
            let result = sketch.apply(&a);
            assert_eq!((result.rows(), result.cols()), (s, 6));
            let size = frobenius(&explicit) * frobenius(&a) * m as f64;
            assert_small(frobenius(&difference(&result, &matmul(&explicit, &a))), size);
            for j in 0..6 {
                assert_small(norm(&sub(&sketch.apply_vec(a.column(j)), result.column(j))), size);
            }
            let sum = Matrix::from_fn(m, 6, |i, j| a.get(i, j) + b.get(i, j));
            let apart = sketch.apply(&b);
            let together = Matrix::from_fn(s, 6, |i, j| result.get(i, j) + apart.get(i, j));
            assert_small(frobenius(&difference(&sketch.apply(&sum), &together)), 2.0 * size);
            assert_eq!(sketch.apply(&Matrix::zeros(m, 0)).rows(), s);
        }
    }
}

#[test]
fn sparse_data_are_sketched_like_dense_ones_on_any_number_of_threads() {
    for (m, n, rarity) in [(0_usize, 3, 1), (1, 1, 1), (130, 6, 1), (500, 7, 9), (60_000, 40, 6)] {
        let entries = (0..m * n).filter(|at| (at * 7919 + at / 13).is_multiple_of(rarity));
        let entries = entries.map(|at| (at / n, at % n, (at as f64).sin())).collect();
        let sparse = Matrix::from_sparse(Sparse::from_entries(m, n, entries).unwrap());
        let rows = sparse.clone().to_dense();
        for kind in SketchKind::ALL.into_iter().filter(|kind| kind.streams()) {
            for s in [0, 1, 5, 40] {
                let sketch = draw(kind, s, m, 9);
                let (found, expected) = (sketch.apply(&sparse), sketch.apply(&rows));
                let size = frobenius(&rows) * (m + 1) as f64;
                assert_small(frobenius(&difference(&found, &expected)), size);
                for threads in [1, 2, 3] {
                    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                    assert_eq!(
                        pool.install(|| sketch.apply(&sparse)),
                        found,
                        "{kind:?} with {threads} threads"
                    );
                }
            }
        }
    }
}

#[test]
fn rows_that_are_scaled_lazily_are_sketched_like_others() {
    let (m, n) = (300, 7);
    let entries = Stream::new(8).normals(m * n);
    let d = Stream::new(9).normals(m);
    let of = std::sync::Arc::new(Matrix::from_row_major(m, n, entries));
    let lazy = Matrix::with_scaled_rows(d.clone(), of.clone());
    let made = Matrix::from_fn(m, n, |i, j| d[i] * of.get(i, j)).by_rows();
    for kind in SketchKind::ALL {
        let sketch = draw(kind, 40, m, 10);
        let (found, expected) = (sketch.apply(&lazy), sketch.apply(&made));
        let gap = |i: usize| (found.row_major()[i] - expected.row_major()[i]).abs();
        assert!((0..40 * n).all(|i| gap(i) < 1e-13), "{kind}");
    }
}

#[test]
fn a_draw_depends_on_its_stream_only() {
    for kind in SketchKind::ALL {
        assert_eq!(dense(&draw(kind, 10, 100, 4)), dense(&draw(kind, 10, 100, 4)));
        assert_ne!(dense(&draw(kind, 10, 100, 4)), dense(&draw(kind, 10, 100, 5)));
    }
}

#[test]
fn sparse_sketches_have_the_promised_entries() {
    for kind in SketchKind::ALL {
        let SketchLaw::Sparse(promised) = kind.law() else { continue };
        for s in [1, 2, 7, 8, 9, 400] {
            let explicit = dense(&draw(kind, s, 200, 6));
            let nonzeros = promised.min(s);
            let size = 1.0 / (nonzeros as f64).sqrt();
            for j in 0..200 {
                let entries: Vec<f64> = explicit.column(j).iter().copied().filter(|x| *x != 0.0).collect();
                assert_eq!(entries.len(), nonzeros);
                assert!(entries.iter().all(|x| x.abs() == size));
                assert_small((norm(explicit.column(j)) - 1.0).abs(), 1.0);
            }
        }
    }
}

#[test]
fn rows_and_signs_are_uniform() {
    let (s, m) = (16, 40_000);
    let Operator::Sparse { entries, .. } = draw(SketchKind::Sjlt, s, m, 7).operator else { unreachable!() };
    // Each cell is binomial with mean m·8/16/2: five standard deviations.
    let mut counts = [[0_i64; 2]; 16];
    for entry in &entries {
        counts[entry.row() as usize][usize::from(entry.sign() > 0.0)] += 1;
    }
    let mean = (m * MOST_NONZEROS / s / 2) as f64;
    assert!(counts.as_flattened().iter().all(|c| (*c as f64 - mean).abs() < 5.0 * mean.sqrt()), "{counts:?}");
}

#[test]
fn hadamard_rows_are_distinct_while_they_last() {
    for (s, m) in [(1, 1), (16, 16), (7, 128)] {
        let explicit = dense(&draw(SketchKind::Srht, s, m, 8));
        // Distinct rows of an orthogonal matrix: S·Sᵀ = (2^p/s)·I.
        let expected = Matrix::identity(s).map(|x| x * m as f64 / s as f64);
        assert_small(frobenius(&difference(&gram(&explicit.transpose()), &expected)), m as f64);
    }
    let mut picked = pick(10, 10, &mut Stream::new(9).rng());
    picked.sort_unstable();
    assert_eq!(picked, (0..10).collect::<Vec<_>>());
    assert!(pick(100, 3, &mut Stream::new(9).rng()).iter().all(|i| *i < 3));
}

#[test]
fn expectation_of_the_gram_matrix_is_the_identity() {
    let draws = 3000;
    for kind in SketchKind::ALL {
        for (s, m) in [(6, 5), (12, 5), (1, 3)] {
            let grams: Vec<Matrix> = (0..draws).map(|seed| gram(&dense(&draw(kind, s, m, seed)))).collect();
            for (i, j) in (0..m).flat_map(|i| (0..m).map(move |j| (i, j))) {
                let expected = if i == j { 1.0 } else { 0.0 };
                let (mean, error) = mean_and_error(grams.iter().map(|g| g.get(i, j)));
                assert!(
                    (mean - expected).abs() <= 5.0 * error + 1e-12,
                    "{kind} {s}×{m} ({i},{j}): {mean} ± {error}"
                );
            }
        }
    }
}

/// Sample mean and its standard error.
fn mean_and_error(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let values: Vec<f64> = values.collect();
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let variance = values.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (count - 1.0);
    (mean, (variance / count).sqrt())
}

/// Entry (i, j) of the ±1 Hadamard matrix, by its definition.
fn hadamard(i: usize, j: usize) -> f64 {
    if (i & j).count_ones().is_multiple_of(2) { 1.0 } else { -1.0 }
}

#[test]
fn the_fast_transform_is_multiplication_by_the_hadamard_matrix() {
    for size in [1, 2, 16] {
        for j in 0..size {
            let mut column: Vec<f64> = (0..size).map(|i| if i == j { 1.0 } else { 0.0 }).collect();
            hadamard_transform(&mut column);
            assert_eq!(column, (0..size).map(|i| hadamard(i, j)).collect::<Vec<_>>());
        }
    }
}

/// Orthonormal bases: a random one; one supported on a few rows, which is hard for sparse sketches; and one that the
/// Hadamard transform maps to a few rows, which is hard for an SRHT without its signs.
fn subspaces(m: usize, n: usize) -> [Matrix; 3] {
    [
        thin_q(&normal(m, n, 10)),
        Matrix::from_fn(m, n, |i, j| if i == j { 1.0 } else { 0.0 }),
        Matrix::from_fn(m, n, |i, j| hadamard(i, j) / (m as f64).sqrt()),
    ]
}

#[test]
fn distortion_has_the_second_moment_of_theory() {
    // E‖UᵀSᵀSU − I‖²_F ≤ (n² + n)/s for all four, from the independence of signs (or of normals).
    let (s, m, n) = (160, 2048, 20);
    for kind in SketchKind::ALL {
        for u in subspaces(m, n) {
            let squares = (0..20).map(|seed| {
                let su = draw(kind, s, m, seed).apply(&u);
                frobenius(&difference(&gram(&su), &Matrix::identity(n))).powi(2)
            });
            let (mean, error) = mean_and_error(squares);
            let bound = (n * n + n) as f64 / s as f64;
            assert!(mean <= bound + 5.0 * error, "{kind}: {mean} ± {error} against {bound}");
            assert!(mean > 0.5 * bound, "{kind}: {mean} is too good for {bound}");
        }
    }
}

#[test]
fn singular_values_of_a_sketched_basis_are_near_one() {
    let (m, n) = (2048, 20);
    // Markov's inequality on that second moment: ‖UᵀSᵀSU − I‖ ≤ 3/4, hence σ ∈ [1/2, 3/2], fails with
    // probability at most (n² + n)/(s·(3/4)²) = 5%. A Gaussian S has σ ∈ 1 ± (√n + t)/√s up to 2·exp(−t²/2).
    let markov = (((n * n + n) as f64) / (0.75 * 0.75 * 0.05)).ceil() as usize;
    for kind in SketchKind::ALL {
        let (s, delta) = match kind {
            SketchKind::Gaussian => (800, (20.0_f64.sqrt() + 5.0) / 800.0_f64.sqrt()),
            _ => (markov, 0.5),
        };
        for u in subspaces(m, n) {
            let sigma = singular_values(&draw(kind, s, m, 11).apply(&u)).unwrap();
            assert!(sigma.iter().all(|x| (x - 1.0).abs() <= delta), "{kind}: {sigma:?}");
        }
    }
}

#[test]
fn a_sketched_factor_preconditions() {
    let (m, n) = (2000, 20);
    for kind in SketchKind::ALL {
        for kappa in [1.0, 1e8] {
            let a = conditioned(m, n, kappa, 12);
            let r = qr_r(&draw(kind, 8 * n, m, 13).apply(&a));
            let sigma = singular_values(&matmul(&a, &triangular_inverse(&r).unwrap())).unwrap();
            assert!(sigma[0] <= 10.0 * sigma[n - 1], "{kind}: {sigma:?}");
        }
    }
}

/// Frozen: a change here would change every stored result.
#[test]
fn known_answer() {
    let sketch = draw(SketchKind::Sjlt, 10, 2, 14);
    let Operator::Sparse { entries, .. } = &sketch.operator else { unreachable!() };
    let found: Vec<i64> = entries.iter().map(|e| (i64::from(e.row()) + 1) * e.sign() as i64).collect();
    assert_eq!(found, [2, -3, -4, 6, -7, -8, -9, -10, 1, 4, -5, 6, 3, -7, -2, -10]);
}

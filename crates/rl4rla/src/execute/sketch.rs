//! Sketching: random S with few rows, such that S·A keeps the geometry of the columns of A.

mod kind;

pub use kind::{SketchKind, UnknownSketch};
use rand::Rng;

use crate::linalg::{Matrix, add, matmul, wide};
use crate::rng::Stream;

/// Nonzeros in each column of a sparse Johnson-Lindenstrauss transform.
pub const SJLT_NONZEROS: usize = 8;

/// One drawn S ∈ R^{s×m}: a function of kind, s, m and stream, and of nothing else.
pub struct Sketch {
    sketch_rows: usize,
    rows: usize,
    operator: Operator,
}

enum Operator {
    /// `nonzeros` entries per column of S, ±1/√nonzeros, listed column after column.
    Sparse { nonzeros: usize, entries: Vec<Entry> },
    /// Only the stream is kept: S itself is generated anew, block by block, whenever it is applied.
    Gaussian(Stream),
    /// The diagonal of D, and the rows of H that P picks.
    Hadamard { signs: Vec<f64>, picked: Vec<usize> },
}

struct Entry {
    row: u32,
    sign: f64,
}

/// Rows of A that meet one block of a Gaussian S. Part of what S is: each block has its own stream.
const GAUSSIAN_BLOCK: usize = 64;

impl Sketch {
    /// Draws S with `sketch_rows` rows, for matrices with `rows` rows.
    ///
    /// An SRHT picks rows of the Hadamard matrix of size 2^p ≥ `rows` without replacement, as long as there
    /// are enough of them; if `sketch_rows` > 2^p, with replacement. E SᵀS = I either way.
    pub fn draw(kind: SketchKind, sketch_rows: usize, rows: usize, stream: &Stream) -> Self {
        let operator = match kind {
            SketchKind::Sjlt => sparse(SJLT_NONZEROS.min(sketch_rows), sketch_rows, rows, stream),
            SketchKind::CountSketch => sparse(1.min(sketch_rows), sketch_rows, rows, stream),
            SketchKind::Gaussian => Operator::Gaussian(stream.derive("gaussian", 0)),
            SketchKind::Srht => Operator::Hadamard {
                signs: stream.derive("signs", 0).signs(rows),
                picked: pick(sketch_rows, rows.next_power_of_two(), &mut stream.derive("rows", 0).rng()),
            },
        };
        Self { sketch_rows, rows, operator }
    }

    /// S·A.
    #[allow(non_snake_case)]
    pub fn apply(&self, A: &Matrix) -> Matrix {
        assert_eq!(A.rows(), self.rows, "S was drawn for another number of rows");
        match &self.operator {
            Operator::Sparse { nonzeros, entries } => self.apply_sparse(*nonzeros, entries, A),
            Operator::Gaussian(stream) => self.apply_gaussian(stream, A),
            Operator::Hadamard { signs, picked } => apply_hadamard(signs, picked, A),
        }
    }

    /// S·v.
    pub fn apply_vec(&self, v: &[f64]) -> Vec<f64> {
        self.apply(&Matrix::from_fn(v.len(), 1, |i, _| v[i])).column(0).to_vec()
    }

    /// Adds each row of A, with its signs, to `nonzeros` rows of the result: by rows, all access is contiguous.
    #[allow(non_snake_case)]
    fn apply_sparse(&self, nonzeros: usize, entries: &[Entry], A: &Matrix) -> Matrix {
        let (s, n) = (self.sketch_rows, A.cols());
        let mut sums = vec![0.0; s * n];
        if s > 0 && n > 0 {
            wide(
                #[inline(always)]
                || {
                    for (row, entries) in A.row_major().chunks_exact(n).zip(entries.chunks_exact(nonzeros)) {
                        for entry in entries {
                            let sum = &mut sums[entry.row as usize * n..][..n];
                            for (sum, a) in sum.iter_mut().zip(row) {
                                *sum += entry.sign * a;
                            }
                        }
                    }
                },
            );
        }
        let factor = 1.0 / (nonzeros as f64).sqrt();
        Matrix::from_fn(s, n, |i, j| factor * sums[i * n + j])
    }

    #[allow(non_snake_case)]
    fn apply_gaussian(&self, stream: &Stream, A: &Matrix) -> Matrix {
        let (s, n) = (self.sketch_rows, A.cols());
        let mut sums = vec![vec![0.0; s]; n];
        for start in (0..A.rows()).step_by(GAUSSIAN_BLOCK) {
            let height = GAUSSIAN_BLOCK.min(A.rows() - start);
            let normals = stream.derive("block", (start / GAUSSIAN_BLOCK) as u64).normals(s * height);
            let S = Matrix::from_fn(s, height, |i, j| normals[j * s + i]);
            let product = matmul(&S, &Matrix::from_fn(height, n, |i, j| A.get(start + i, j)));
            for (j, sum) in sums.iter_mut().enumerate() {
                *sum = add(sum, product.column(j));
            }
        }
        let factor = 1.0 / (s as f64).sqrt();
        Matrix::from_fn(s, n, |i, j| factor * sums[j][i])
    }
}

/// The entries of an S with `nonzeros` entries in each of its `cols` columns.
fn sparse(nonzeros: usize, rows: usize, cols: usize, stream: &Stream) -> Operator {
    let mut rng = stream.derive("sparse", 0).rng();
    let mut entries: Vec<Entry> = Vec::with_capacity(nonzeros * cols);
    for _ in 0..cols {
        let start = entries.len();
        // Floyd's sampling: one draw for each element of a uniformly random subset.
        for last in rows - nonzeros..rows {
            // One word gives the row by its high bits and the sign by its lowest.
            let word = rng.next_u64();
            let drawn = below(word, last + 1) as u32;
            let taken = entries[start..].iter().any(|entry| entry.row == drawn);
            let row = if taken { last as u32 } else { drawn };
            entries.push(Entry { row, sign: if word & 1 == 0 { 1.0 } else { -1.0 } });
        }
    }
    Operator::Sparse { nonzeros, entries }
}

/// `count` numbers below `bound`: distinct if there are that many, else independent.
fn pick(count: usize, bound: usize, rng: &mut impl Rng) -> Vec<usize> {
    if count > bound {
        return (0..count).map(|_| below(rng.next_u64(), bound)).collect();
    }
    let mut all: Vec<usize> = (0..bound).collect();
    for i in 0..count {
        all.swap(i, i + below(rng.next_u64(), bound - i));
    }
    all.truncate(count);
    all
}

/// A uniform word made a number below `bound`, with a relative bias of at most bound/2⁶⁴.
fn below(word: u64, bound: usize) -> usize {
    ((u128::from(word) * bound as u128) >> 64) as usize
}

/// √(2^p/s)·P·H·D·A with H orthonormal, that is P·(±1 Hadamard matrix)·D·A/√s.
#[allow(non_snake_case)]
fn apply_hadamard(signs: &[f64], picked: &[usize], A: &Matrix) -> Matrix {
    let size = A.rows().next_power_of_two();
    let columns: Vec<Vec<f64>> = (0..A.cols())
        .map(|j| {
            let mut column: Vec<f64> = A.column(j).iter().zip(signs).map(|(a, sign)| a * sign).collect();
            column.resize(size, 0.0);
            hadamard_transform(&mut column);
            picked.iter().map(|i| column[*i]).collect()
        })
        .collect();
    let factor = 1.0 / (picked.len() as f64).sqrt();
    Matrix::from_fn(picked.len(), A.cols(), |i, j| factor * columns[j][i])
}

/// The fast Walsh-Hadamard transform, unnormalised; the length is a power of two.
fn hadamard_transform(x: &mut [f64]) {
    let mut half = 1;
    while half < x.len() {
        for pair in x.chunks_exact_mut(2 * half) {
            let (low, high) = pair.split_at_mut(half);
            for (low, high) in low.iter_mut().zip(high) {
                (*low, *high) = (*low + *high, *low - *high);
            }
        }
        half *= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::testing::{assert_small, conditioned, difference, frobenius, normal};
    use crate::linalg::{gram, norm, qr_r, singular_values, sub, thin_q, triangular_inverse};

    /// (s, m), the edges included.
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
    fn a_draw_depends_on_its_stream_only() {
        for kind in SketchKind::ALL {
            assert_eq!(dense(&draw(kind, 10, 100, 4)), dense(&draw(kind, 10, 100, 4)));
            assert_ne!(dense(&draw(kind, 10, 100, 4)), dense(&draw(kind, 10, 100, 5)));
        }
    }

    #[test]
    fn sparse_sketches_have_the_promised_entries() {
        for (kind, promised) in [(SketchKind::Sjlt, SJLT_NONZEROS), (SketchKind::CountSketch, 1)] {
            for s in [1, 2, 7, 8, 9, 400] {
                let explicit = dense(&draw(kind, s, 200, 6));
                let nonzeros = promised.min(s);
                let size = 1.0 / (nonzeros as f64).sqrt();
                for j in 0..200 {
                    let entries: Vec<f64> =
                        explicit.column(j).iter().copied().filter(|x| *x != 0.0).collect();
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
        let Operator::Sparse { entries, .. } = draw(SketchKind::Sjlt, s, m, 7).operator else {
            unreachable!()
        };
        // Each cell is binomial with mean m·8/16/2: five standard deviations.
        let mut counts = [[0_i64; 2]; 16];
        for entry in &entries {
            counts[entry.row as usize][usize::from(entry.sign > 0.0)] += 1;
        }
        let mean = (m * SJLT_NONZEROS / s / 2) as f64;
        assert!(
            counts.as_flattened().iter().all(|c| (*c as f64 - mean).abs() < 5.0 * mean.sqrt()),
            "{counts:?}"
        );
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
                let grams: Vec<Matrix> =
                    (0..draws).map(|seed| gram(&dense(&draw(kind, s, m, seed)))).collect();
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

    /// Orthonormal bases: a random one, one on a few rows, which is hard for sparse sketches, and one that the
    /// Hadamard transform takes to a few rows, which is hard for an SRHT without its signs.
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

    /// Frozen: a change here changes every stored result.
    #[test]
    fn known_answer() {
        let sketch = draw(SketchKind::Sjlt, 10, 2, 14);
        let Operator::Sparse { entries, .. } = &sketch.operator else { unreachable!() };
        let found: Vec<i64> = entries.iter().map(|e| (i64::from(e.row) + 1) * e.sign as i64).collect();
        assert_eq!(found, [2, -3, -4, 6, -7, -8, -9, -10, 1, 4, -5, 6, 3, -7, -2, -10]);
    }
}

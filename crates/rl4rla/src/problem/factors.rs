//! Random orthonormal factors: U and V in A = U·Σ·Vᵀ.
#![allow(non_snake_case)]

use super::outline::Frame;
use super::{Leverage, Right};
use crate::linalg::{self, Matrix};
use crate::rng::Stream;

/// Degrees of freedom of the row scales that give high leverage: about a sixth of the draws lie below
/// 1e-16, so that a few rows outweigh all others.
const LEVERAGE_DEGREES: f64 = 0.1;

/// Degrees of freedom of the rows of a heavy-tailed right factor: variance finite, kurtosis not.
const STUDENT_DEGREES: f64 = 3.0;

/// Chi-square draws below this are raised to it, so that 1/√χ² ≤ 1e150 and ratios of scales stay finite.
const SMALLEST_CHI_SQUARE: f64 = 1e-300;

/// Largest accepted entry of |QᵀQ − I|.
const ORTHONORMAL: f64 = 1e-10;

/// The left factor: `rows × cols` with orthonormal columns, and one more column orthogonal to them, drawn from
/// `beyond`.
pub(super) fn left(
    rows: usize,
    cols: usize,
    leverage: Leverage,
    beyond: Option<&Stream>,
    stream: &Stream,
) -> Frame {
    let G = gaussian(rows, cols, beyond, &stream.derive("gauss", 0));
    let (drawn, turn) = match leverage {
        Leverage::Low => (G, signs(cols, stream)),
        Leverage::Coherent => {
            let row = (stream.derive("alone", 0).uniforms(1)[0] * rows as f64) as usize;
            (alone(&G, cols, row), signs(cols, stream))
        }
        Leverage::High => {
            let d = scales(LEVERAGE_DEGREES, rows, &stream.derive("scale", 0));
            // A basis is determined only up to a rotation; a uniformly random one makes the distribution of U
            // independent of how the basis was computed.
            (scaled_basis(&G, cols, &d), haar(cols, cols, &stream.derive("rotation", 0)))
        }
    };
    let Frame { drawn, turn: straight } = Frame::of(drawn);
    // The additional column is not rotated.
    let turned = |i: usize, j: usize| match (i < cols, j < cols) {
        (true, true) => turn.get(i, j),
        (own, other) => f64::from(u8::from(own == other)),
    };
    let whole = straight.cols();
    Frame { drawn, turn: linalg::matmul(&straight, &Matrix::from_fn(whole, whole, turned)) }
}

/// The right factor: `n × n`, orthonormal unless its rows are scaled.
pub(super) fn right(n: usize, law: Right, stream: &Stream) -> Matrix {
    match law {
        Right::Gauss => haar(n, n, stream),
        Right::StudentT => {
            let G = gaussian(n, n, None, &stream.derive("gauss", 0));
            let d = scales(STUDENT_DEGREES, n, &stream.derive("scale", 0));
            let T = Matrix::from_fn(n, n, |i, j| d[i] * STUDENT_DEGREES.sqrt() * G.get(i, j));
            linalg::matmul(&orthonormalise(T), &signs(n, stream))
        }
        Right::ScaledRows => {
            let V = haar(n, n, stream);
            let u = stream.derive("scale", 0).uniforms(n);
            Matrix::from_fn(n, n, |i, j| (0.5 + 1.5 * u[i]) * V.get(i, j))
        }
    }
}

/// A uniformly random matrix with orthonormal columns.
pub(super) fn haar(rows: usize, cols: usize, stream: &Stream) -> Matrix {
    let G = gaussian(rows, cols, None, &stream.derive("gauss", 0));
    linalg::matmul(&orthonormalise(G.by_columns()), &signs(cols, stream))
}

/// diag(±1) with random signs: those that QR chooses depend on the matrix and would bias the distribution.
fn signs(n: usize, stream: &Stream) -> Matrix {
    let s = stream.derive("sign", 0).signs(n);
    Matrix::from_fn(n, n, |i, j| if i == j { s[j] } else { 0.0 })
}

/// Entries up to which a Gaussian matrix is drawn from ChaCha, column by column; a larger one is drawn from a faster
/// generator, row by row.
const SMALL: usize = 1 << 16;

/// `rows × cols` standard normals, and one more column drawn from `beyond`; stored by rows.
pub(super) fn gaussian(rows: usize, cols: usize, beyond: Option<&Stream>, stream: &Stream) -> Matrix {
    let width = cols + usize::from(beyond.is_some());
    if rows * cols <= SMALL {
        let own = stream.normals(rows * cols);
        let other = beyond.map_or(vec![], |stream| stream.normals(rows));
        let entry = |i: usize, j: usize| if j < cols { own[j * rows + i] } else { other[i] };
        return Matrix::from_fn(rows, width, entry).by_rows();
    }
    let (mut own, mut other) = (stream.many_normals(), beyond.map(|stream| stream.many_normals()));
    let mut entries = vec![0.0; rows * width];
    for row in entries.chunks_exact_mut(width) {
        let (row, last) = row.split_at_mut(cols);
        own.fill(row);
        other.iter_mut().for_each(|other| other.fill(last));
    }
    Matrix::from_row_major(rows, width, entries)
}

/// `n` draws of 1/√χ²(degrees).
fn scales(degrees: f64, n: usize, stream: &Stream) -> Vec<f64> {
    let draws = stream.chi_squares(degrees, n);
    draws.into_iter().map(|c| c.max(SMALLEST_CHI_SQUARE).sqrt().recip()).collect()
}

/// The same matrix with column `cols` − 1 replaced by a unit vector whose row is zero in all other columns.
fn alone(G: &Matrix, cols: usize, row: usize) -> Matrix {
    let (rows, width) = (G.rows(), G.cols());
    let mut entries = G.row_major().to_vec();
    for (i, entries) in entries.chunks_exact_mut(width).enumerate() {
        entries[cols - 1] = 0.0;
        if i == row {
            entries.fill(0.0);
            entries[cols - 1] = 1.0;
        }
    }
    Matrix::from_row_major(rows, width, entries)
}

/// A basis of the range of D·G, D = diag(d), for the first `cols` columns of G, whatever the range of d. Further
/// columns are unchanged.
///
/// QR of D·G itself would lose all but the few largest rows to rounding. With T the rows of the
/// `cols` largest scales, W = D·G·(D_T·G_T)⁻¹ has the same range, W_T = I, and elsewhere
/// w_ij = d_i/d_T(j)·(G·G_T⁻¹)_ij with d_i ≤ d_T(j): well conditioned, each entry to full precision.
fn scaled_basis(G: &Matrix, cols: usize, d: &[f64]) -> Matrix {
    let (rows, width) = (G.rows(), G.cols());
    let mut largest: Vec<usize> = (0..rows).collect();
    largest.sort_by(|&i, &j| d[j].total_cmp(&d[i]));
    largest.truncate(cols);
    let G_T = Matrix::from_fn(cols, cols, |i, j| G.get(largest[i], j));
    // Singular with probability 0, and then W_T = I is still a basis of the range of the largest rows.
    let inverse = linalg::inverse(&G_T).unwrap_or_else(|_| Matrix::zeros(cols, cols));
    // A further column of G meets a row of zeros.
    let padded = Matrix::from_fn(width, cols, |k, j| if k < cols { inverse.get(k, j) } else { 0.0 });
    let H = linalg::matmul(G, &padded);
    let mut entries = G.row_major().to_vec();
    // A band of rows at a time, so that the cache lines being written stay in cache.
    for (band, entries) in entries.chunks_mut(BAND * width).enumerate() {
        for (j, &largest) in largest.iter().enumerate() {
            let (H, d_i) = (&H.column(j)[band * BAND..], &d[band * BAND..]);
            for ((row, h), d_i) in entries.chunks_exact_mut(width).zip(H).zip(d_i) {
                row[j] = d_i / d[largest] * h;
            }
        }
    }
    for (k, &i) in largest.iter().enumerate() {
        let own = &mut entries[i * width..][..cols];
        own.fill(0.0);
        own[k] = 1.0;
    }
    Matrix::from_row_major(rows, width, entries)
}

/// Rows of a basis written together.
const BAND: usize = 64;

/// The thin Q of a tall matrix of full rank; a second pass corrects a poor first one (twice is enough).
pub(super) fn orthonormalise(matrix: Matrix) -> Matrix {
    let Q = linalg::thin_q(&matrix);
    drop(matrix);
    if defect(&Q) <= ORTHONORMAL { Q } else { linalg::thin_q(&Q) }
}

/// The largest entry of |QᵀQ − I|.
fn defect(Q: &Matrix) -> f64 {
    let gram = Q.as_faer().transpose() * Q.as_faer();
    let mut worst = 0.0_f64;
    for j in 0..gram.ncols() {
        for i in 0..gram.nrows() {
            let identity = if i == j { 1.0 } else { 0.0 };
            worst = worst.max((gram[(i, j)] - identity).abs());
        }
    }
    worst
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::assertions::assert_law;

    fn left(rows: usize, cols: usize, leverage: Leverage, stream: &Stream) -> Matrix {
        let Frame { drawn, turn } = super::left(rows, cols, leverage, None, stream);
        linalg::matmul(&drawn, &turn)
    }

    fn scaled_basis(G: &Matrix, d: &[f64]) -> Matrix {
        orthonormalise(super::scaled_basis(G, G.cols(), d).by_columns())
    }

    /// Leverage scores: squared row norms of an orthonormal basis.
    fn leverages(Q: &Matrix) -> Vec<f64> {
        (0..Q.rows()).map(|i| (0..Q.cols()).map(|j| Q.get(i, j).powi(2)).sum()).collect()
    }

    fn largest(scores: &[f64]) -> f64 {
        scores.iter().copied().fold(0.0, f64::max)
    }

    #[test]
    fn factors_are_orthonormal() {
        for seed in 0..5 {
            let s = Stream::new(seed);
            for (rows, cols) in [(1, 1), (2, 1), (7, 7), (300, 20), (2000, 5)] {
                for leverage in Leverage::ALL {
                    assert!(defect(&left(rows, cols, leverage, &s)) < 1e-12, "{rows} × {cols} {leverage:?}");
                }
            }
            for n in [1, 2, 30] {
                assert!(defect(&right(n, Right::Gauss, &s)) < 1e-12);
                assert!(defect(&right(n, Right::StudentT, &s)) < 1e-12);
            }
        }
    }

    #[test]
    fn scaled_rows_are_in_range_and_not_orthonormal() {
        let V = right(30, Right::ScaledRows, &Stream::new(1));
        let norms: Vec<f64> = leverages(&V).iter().map(|l| l.sqrt()).collect();
        assert!(norms.iter().all(|r| (0.5..2.0).contains(r)));
        assert!(defect(&V) > 0.1);
    }

    #[test]
    fn high_leverage_is_heavy_and_low_is_not() {
        let (rows, cols) = (2000, 10);
        let even = cols as f64 / rows as f64;
        for seed in 0..5 {
            let low = leverages(&left(rows, cols, Leverage::Low, &Stream::new(seed)));
            assert!(largest(&low) < 8.0 * even);
            let mut high = leverages(&left(rows, cols, Leverage::High, &Stream::new(seed)));
            assert!(largest(&high) > 0.9, "{}", largest(&high));
            assert!((high.iter().sum::<f64>() - cols as f64).abs() < 1e-9);
            // The rows of high leverage are anywhere, not the first ones.
            assert!(high[..cols].iter().sum::<f64>() < 0.5 * cols as f64);
            high.sort_by(f64::total_cmp);
            assert!(high[rows / 2] < 1e-3 * even, "the median row matters: {}", high[rows / 2]);
        }
    }

    #[test]
    fn one_row_alone_carries_the_last_direction() {
        for (rows, cols, beyond) in [(200, 6, false), (200, 6, true), (6, 6, false), (3, 1, false)] {
            for seed in 0..3 {
                let s = Stream::new(seed);
                let other = beyond.then(|| s.derive("beyond", 0));
                let Frame { drawn, turn } =
                    super::left(rows, cols, Leverage::Coherent, other.as_ref(), &s.derive("left", 0));
                let U = linalg::matmul(&drawn, &turn);
                assert!(defect(&U) < 1e-12);
                let last = U.column(cols - 1);
                let row = (0..rows).find(|i| last[*i].abs() > 0.5).unwrap();
                let others = (0..U.cols()).filter(|j| *j != cols - 1).map(|j| U.get(row, j).abs());
                assert!((last[row].abs() - 1.0).abs() < 1e-12 && others.fold(0.0, f64::max) < 1e-12);
            }
        }
    }

    #[test]
    fn the_scaled_basis_spans_the_scaled_matrix() {
        // For a mild spread QR of D·G is accurate: the projectors must agree.
        let (rows, cols) = (40, 6);
        let s = Stream::new(3);
        let G = gaussian(rows, cols, None, &s);
        let d: Vec<f64> = s.derive("d", 0).uniforms(rows).iter().map(|u| 10_f64.powf(3.0 * u)).collect();
        let direct = linalg::thin_q(&Matrix::from_fn(rows, cols, |i, j| d[i] * G.get(i, j)));
        let basis = scaled_basis(&G, &d);
        let gap = linalg::matmul_t(&direct, &direct).as_faer() - linalg::matmul_t(&basis, &basis).as_faer();
        assert!(gap.norm_max() < 1e-10, "{}", gap.norm_max());
    }

    #[test]
    fn the_scaled_basis_survives_any_spread() {
        // Scales 1e150, 1e140, … : in exact arithmetic the first `cols` rows determine everything.
        let (rows, cols) = (30, 4);
        let G = gaussian(rows, cols, None, &Stream::new(4));
        let d: Vec<f64> = (0..rows).map(|i| 10_f64.powi(150 - 10 * i as i32)).collect();
        let scores = leverages(&scaled_basis(&G, &d));
        assert!(scores[..cols].iter().all(|l| (l - 1.0).abs() < 1e-12));
        assert!(scores[cols..].iter().all(|l| *l < 1e-12));
    }

    #[test]
    fn a_square_haar_matrix_is_uniform() {
        // The angle of a column of a 2 × 2 Haar matrix is uniform, which raw QR signs would break.
        let angle = |i| {
            let Q = haar(2, 2, &Stream::new(5).derive("q", i));
            Q.get(1, 0).atan2(Q.get(0, 0)) / std::f64::consts::TAU + 0.5
        };
        assert_law((0..5_000).map(angle).collect(), |u| u);
        let other = |i| {
            let Q = haar(3, 3, &Stream::new(5).derive("q", i));
            (Q.get(1, 2) + 1.0) / 2.0 // a coordinate of a point on the sphere is uniform (Archimedes)
        };
        assert_law((0..5_000).map(other).collect(), |u| u);
    }
}

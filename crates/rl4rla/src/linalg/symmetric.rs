//! Products with a symmetric matrix that read only half of it: a product with a large matrix takes as long as reading
//! it.

use super::{Matrix, mat_vec, wide};

/// Entries of a matrix that does not stay in the L1 cache; for smaller ones reading is no limit.
const LARGE: usize = 1 << 16;

/// Columns taken at a time.
const GROUP: usize = 4;

/// Partial sums of a dot product with one of them: together they fill the registers.
const LANES: usize = 4;

/// M·x for a symmetric M, of which only the lower triangle is read if it is large and stored by columns.
#[allow(non_snake_case)]
pub fn symmetric_mat_vec(M: &Matrix, x: &[f64]) -> Vec<f64> {
    let n = M.cols();
    assert_eq!((M.rows(), n), (n, x.len()), "M·x of unequal lengths");
    if n * n < LARGE || M.is_by_rows() || M.scaled_rows().is_some() {
        return mat_vec(M, x);
    }
    let mut y = vec![0.0; n];
    wide(
        #[inline(always)]
        || {
            let whole = n - n % GROUP;
            for first in (0..whole).step_by(GROUP) {
                add_columns::<GROUP>(M, first, x, &mut y);
            }
            for j in whole..n {
                add_columns::<1>(M, j, x, &mut y);
            }
        },
    );
    y
}

/// Adds the contribution of K columns below the diagonal, and of the rows that mirror them.
#[inline(always)]
#[allow(non_snake_case)]
fn add_columns<const K: usize>(M: &Matrix, first: usize, x: &[f64], y: &mut [f64]) {
    let below = first + K;
    // The block on the diagonal.
    for j in first..below {
        let column = M.column(j);
        y[j] += column[j] * x[j];
        for i in j + 1..below {
            y[i] += column[i] * x[j];
            y[j] += column[i] * x[i];
        }
    }
    let factors: [f64; K] = std::array::from_fn(|k| x[first + k]);
    let columns: [&[f64]; K] = std::array::from_fn(|k| &M.column(first + k)[below..x.len()]);
    let (x, x_rest) = x[below..].as_chunks::<LANES>();
    let (above, y) = y.split_at_mut(below);
    let (y, y_rest) = y.as_chunks_mut::<LANES>();
    let parts = columns.map(|column| {
        let (chunks, rest) = column.as_chunks::<LANES>();
        (&chunks[..x.len()], rest)
    });
    let mut sums = [[0.0; LANES]; K];
    for (i, (x, y)) in x.iter().zip(y).enumerate() {
        let mut sum = *y;
        for k in 0..K {
            let entries = parts[k].0[i];
            for lane in 0..LANES {
                sum[lane] += factors[k] * entries[lane];
            }
            for lane in 0..LANES {
                sums[k][lane] += entries[lane] * x[lane];
            }
        }
        *y = sum;
    }
    for k in 0..K {
        let rest = parts[k].1;
        y_rest.iter_mut().zip(rest).for_each(|(y, entry)| *y += factors[k] * entry);
        let left: f64 = rest.iter().zip(x_rest).map(|(entry, x)| entry * x).sum();
        above[first + k] += sums[k].iter().sum::<f64>() + left;
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{assert_small, normal};
    use super::super::{gram, norm, sub};
    use super::*;

    #[test]
    fn half_of_a_symmetric_matrix_is_enough() {
        for n in [1, 7, 255, 256, 257, 301, 326] {
            let (m, x) = (gram(&normal(40, n, 1)), normal(n, 1, 2));
            let half = Matrix::from_fn(n, n, |i, j| if i >= j { m.get(i, j) } else { f64::NAN });
            let plain = mat_vec(&m, x.column(0));
            let product = symmetric_mat_vec(if n * n < LARGE { &m } else { &half }, x.column(0));
            assert_small(norm(&sub(&product, &plain)), norm(m.row_major()) * norm(x.column(0)) * n as f64);
        }
    }

    #[test]
    fn other_layouts_are_read_whole() {
        let (m, x) = (gram(&normal(40, 300, 1)), normal(300, 1, 2));
        let rows = m.clone().by_rows();
        assert_eq!(symmetric_mat_vec(&rows, x.column(0)), mat_vec(&rows, x.column(0)));
    }
}

//! Column norms, and shifting, scaling and selecting the columns of a matrix in place.

use rayon::prelude::*;

use super::Matrix;
use super::by_rows::ByRows;
use super::vector::power_of_two_below;

/// A change of columns: (value − shift)/scale, for the columns that are kept.
///
/// Scaling by a power of two is exact.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnMap {
    /// Indices of the columns kept, in order.
    pub kept: Vec<usize>,
    /// Subtracted from each kept column.
    pub shift: Vec<f64>,
    /// Divisor of each kept column, applied after the shift.
    pub scale: Vec<f64>,
}

impl ColumnMap {
    /// Keeps all columns, shifted and scaled.
    pub fn all(shift: Vec<f64>, scale: Vec<f64>) -> ColumnMap {
        ColumnMap { kept: (0..shift.len()).collect(), shift, scale }
    }

    /// Keeps some columns, unchanged.
    pub fn only(kept: Vec<usize>) -> ColumnMap {
        let n = kept.len();
        ColumnMap { kept, shift: vec![0.0; n], scale: vec![1.0; n] }
    }

    /// Applies the map to rows of `cols` entries; the result is packed at the beginning of `entries`.
    pub(super) fn apply(&self, cols: usize, entries: &mut Vec<f64>) {
        let n = self.kept.len();
        if n == cols {
            // Dividing by 1 changes no bit, but takes longer than reading the entries.
            let shifts_only = self.scale.iter().all(|scale| *scale == 1.0);
            entries.par_chunks_mut((ByRows::height_of(cols) * cols).max(1)).for_each(|block| {
                for row in block.chunks_exact_mut(cols) {
                    if shifts_only {
                        row.iter_mut().zip(&self.shift).for_each(|(value, shift)| *value -= shift);
                        continue;
                    }
                    for ((value, shift), scale) in row.iter_mut().zip(&self.shift).zip(&self.scale) {
                        *value = (*value - shift) / scale;
                    }
                }
            });
            return;
        }
        let rows = entries.len() / cols.max(1);
        // A kept column never moves to the right, so nothing is overwritten before it is read.
        for i in 0..rows {
            for (j, from) in self.kept.iter().enumerate() {
                entries[i * n + j] = (entries[i * cols + from] - self.shift[j]) / self.scale[j];
            }
        }
        entries.truncate(rows * n);
    }
}

/// ‖aⱼ‖ for every column, without intermediate overflow or underflow.
pub fn column_norms(matrix: &Matrix) -> Vec<f64> {
    let zeros = vec![0.0; matrix.cols()];
    let sum = |a: f64, b: f64| a + b;
    let squares = fold(matrix, &zeros, |sum, value, _| sum + value * value, sum);
    // Within these bounds nothing overflowed, and anything that underflowed is below rounding error.
    if squares.iter().all(|sum| (1e-280..1e300).contains(sum)) {
        return squares.into_iter().map(f64::sqrt).collect();
    }
    let largest = fold(matrix, &zeros, |largest, value, _| largest.max(value.abs()), f64::max);
    let units: Vec<f64> = largest.iter().map(|largest| power_of_two_below(*largest)).collect();
    let scaled = fold(matrix, &units, |sum, value, unit| sum + (value / unit) * (value / unit), sum);
    scaled.into_iter().zip(units).map(|(sum, unit)| sum.sqrt() * unit).collect()
}

/// Folds every column from 0, in parallel, in blocks that depend only on the matrix: `term` of the result so far, the
/// entry and uⱼ. It must not change with an entry of 0.
fn fold(
    matrix: &Matrix,
    u: &[f64],
    term: impl Fn(f64, f64, f64) -> f64 + Sync,
    join: impl Fn(f64, f64) -> f64,
) -> Vec<f64> {
    let n = matrix.cols();
    let mut all = vec![0.0; n];
    if n == 0 {
        return all;
    }
    if let Some(sparse) = matrix.sparse() {
        return sparse.fold_columns(u, term, join);
    }
    let height = ByRows::height_of(n);
    matrix.each_part(height, |_, part| {
        let blocks: Vec<Vec<f64>> = part
            .entries()
            .par_chunks(height * n)
            .map(|block| {
                let mut sums = vec![0.0; n];
                for row in block.chunks_exact(n) {
                    for ((value, u), sum) in row.iter().zip(u).zip(&mut sums) {
                        *sum = term(*sum, *value, *u);
                    }
                }
                sums
            })
            .collect();
        for block in blocks {
            all.iter_mut().zip(block).for_each(|(all, part)| *all = join(*all, part));
        }
    });
    all
}

#[cfg(test)]
mod tests {
    use super::super::norm;
    use super::super::testing::normal;
    use super::*;

    fn by_rows(a: &Matrix) -> Matrix {
        Matrix::from_row_major(a.rows(), a.cols(), a.row_major().to_vec())
    }

    #[test]
    fn lengths_over_the_whole_range() {
        let a = normal(4000, 6, 1);
        let units = [1.0, 1e-300, 1e300, 0.0, 1e-320, 1e150];
        let b = Matrix::from_fn(4000, 6, |i, j| a.get(i, j) * units[j]);
        for matrix in [b.clone(), by_rows(&b)] {
            for (j, found) in column_norms(&matrix).into_iter().enumerate() {
                let expected = norm(b.column(j));
                assert!((found - expected).abs() <= 1e-13 * expected, "{j}: {found} {expected}");
            }
        }
    }

    #[test]
    fn columns_change_alike_in_memory_and_in_a_file() {
        let a = normal(70, 4, 2);
        let map = ColumnMap { kept: vec![0, 2], shift: vec![0.5, -3.0], scale: vec![0.25, 3.0] };
        let expected = Matrix::from_fn(70, 2, |i, j| (a.get(i, map.kept[j]) - map.shift[j]) / map.scale[j]);
        assert_eq!(a.clone().map_columns(map.clone()), expected);
        assert_eq!(by_rows(&a).map_columns(map.clone()), expected);
        let path = std::env::temp_dir().join(format!("rl4rla-columns-{}", std::process::id()));
        let bytes: Vec<u8> = a.row_major().iter().flat_map(|entry| entry.to_le_bytes()).collect();
        std::fs::write(&path, bytes).unwrap();
        let file = Matrix::in_file(std::fs::File::open(&path).unwrap(), 70, 4).unwrap();
        let whole = ColumnMap::all(vec![1.0; 4], vec![2.0; 4]);
        let twice = file.clone().map_columns(whole.clone()).map_columns(map.clone());
        let every: Vec<usize> = (0..70).collect();
        assert_eq!(file.map_columns(map.clone()).rows_at(&every), expected);
        assert_eq!(twice.rows_at(&every), by_rows(&a).map_columns(whole).map_columns(map));
        std::fs::remove_file(path).unwrap();
    }
}

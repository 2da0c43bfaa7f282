//! Products of a large matrix with a few vectors at once: A is read once for all of them, by all threads.
//!
//! As in `by_rows`, block boundaries depend only on the shape, partial sums are added in block order, and products are
//! rounded before they are added, so that results depend neither on the number of threads nor on the SIMD width.

use faer::linalg::matmul;
use faer::{Accum, Mat, MatRef, Par};
use rayon::prelude::*;

use super::by_rows::ByRows;
use super::vector::magnitude;
use super::{Matrix, wide};

/// Vectors handled together: their entries fill the widest SIMD register. For more of them faer's product is faster.
const LANES: usize = 8;

/// Rows of A handled together, so that the entries of the vectors are loaded less often.
const TOGETHER: usize = 4;

/// Columns of A handled at a time, so that the entries of the vectors stay in the L2 cache.
const PANEL: usize = 2048;

/// Entries of A per task.
const BLOCK: usize = 1 << 17;

/// Partial sums of Aᵀ·U that are held at once, at most.
const PARTS: usize = 16;

/// Rows per task of products with matrices of vectors, which are stored by columns.
const TALL: usize = 8192;

/// At most LANES vectors, entry by entry; missing ones are zero.
type Strip = Vec<[f64; LANES]>;

#[allow(non_snake_case)]
fn strip(X: MatRef<'_, f64>) -> Strip {
    let mut strip = vec![[0.0; LANES]; X.nrows()];
    for lane in 0..X.ncols() {
        strip.iter_mut().enumerate().for_each(|(i, entries)| entries[lane] = X[(i, lane)]);
    }
    strip
}

/// A·X for a matrix X of a few columns.
///
/// ```
/// use rl4rla::linalg::{Matrix, mat_block};
/// let a = Matrix::from_row_major(3, 2, vec![1.0, 0.0, 0.0, 2.0, 1.0, 1.0]);
/// let x = Matrix::from_rows(&[&[1.0, 2.0], &[10.0, 20.0]]);
/// assert_eq!(mat_block(&a, &x), Matrix::from_rows(&[&[1.0, 2.0], &[20.0, 40.0], &[11.0, 22.0]]));
/// ```
#[allow(non_snake_case)]
pub fn mat_block(A: &Matrix, X: &Matrix) -> Matrix {
    assert_eq!(A.cols(), X.rows(), "A·X of unequal lengths");
    let (n, p) = (A.cols(), X.cols());
    if !A.is_by_rows() || n == 0 {
        return Matrix::from_faer(product(A.as_faer(), X.as_faer()));
    }
    let mut Y = Mat::zeros(A.rows(), p);
    if p > LANES {
        A.each_part(TALL, |first, part| {
            let product = product(part.as_faer(), X.as_faer());
            Y.as_mut().subrows_mut(first, part.rows()).copy_from(product);
        });
        return Matrix::from_faer(Y);
    }
    let x = strip(X.as_faer());
    let height = (BLOCK / n).next_multiple_of(TOGETHER).max(TOGETHER);
    A.each_part(1, |first, part| {
        let products: Vec<Strip> = part.parts(height).map(|rows| rows_by_strip(rows, &x)).collect();
        for lane in 0..p {
            let column = Y.col_as_slice_mut(lane)[first..].iter_mut();
            column.zip(products.iter().flatten()).for_each(|(y, entries)| *y = entries[lane]);
        }
    });
    Matrix::from_faer(Y)
}

/// Some rows of A·X for one strip of X.
fn rows_by_strip(rows: ByRows, x: &Strip) -> Strip {
    let n = x.len();
    let mut y = vec![[0.0; LANES]; rows.rows()];
    wide(
        #[inline(always)]
        || {
            for start in (0..n).step_by(PANEL) {
                let panel = start..n.min(start + PANEL);
                let (fours, rest) = y.as_chunks_mut::<TOGETHER>();
                let (above, below) = rows.entries().split_at(fours.len() * TOGETHER * n);
                for (rows, y) in above.chunks_exact(TOGETHER * n).zip(fours) {
                    let rows: [_; TOGETHER] =
                        std::array::from_fn(|k| &rows[k * n + panel.start..k * n + panel.end]);
                    add_rows(rows, &x[panel.clone()], y);
                }
                for (row, y) in below.chunks_exact(n).zip(rest) {
                    let mut one = [*y];
                    add_rows([&row[panel.clone()]], &x[panel.clone()], &mut one);
                    [*y] = one;
                }
            }
        },
    );
    y
}

/// yₖ ← yₖ + Σⱼ aₖⱼ·xⱼ.
#[inline(always)]
fn add_rows<const K: usize>(rows: [&[f64]; K], x: &[[f64; LANES]], y: &mut [[f64; LANES]; K]) {
    // Slices of equal length let the compiler drop bounds checks.
    let rows = rows.map(|row| &row[..x.len()]);
    let mut sums = *y;
    for (j, x) in x.iter().enumerate() {
        for k in 0..K {
            for lane in 0..LANES {
                sums[k][lane] += rows[k][j] * x[lane];
            }
        }
    }
    *y = sums;
}

/// Aᵀ·U for a matrix U of a few columns.
#[allow(non_snake_case)]
pub fn block_mat(A: &Matrix, U: &Matrix) -> Matrix {
    assert_eq!(A.rows(), U.rows(), "Aᵀ·U of unequal lengths");
    let (m, n, p) = (A.rows(), A.cols(), U.cols());
    if !A.is_by_rows() || n == 0 {
        return Matrix::from_faer(t_product(A.as_faer(), U.as_faer()));
    }
    if p > LANES {
        let mut sum = Mat::zeros(n, p);
        A.each_part(TALL, |first, part| {
            let parts = t_products(part.as_faer(), U.as_faer().subrows(first, part.rows()));
            parts.iter().for_each(|part| sum += part);
        });
        return Matrix::from_faer(sum);
    }
    let u = strip(U.as_faer());
    let height = m.div_ceil(PARTS).max(BLOCK / n).next_multiple_of(LANES);
    let mut sum = vec![[0.0; LANES]; n];
    A.each_part(height, |first, part| {
        let of = |(number, rows): (usize, ByRows)| {
            let start = first + number * height;
            strip_by_rows(rows, &u[start..start + rows.rows()], n)
        };
        let parts: Vec<Strip> = part.parts(height).enumerate().map(of).collect();
        for part in &parts {
            sum.iter_mut().flatten().zip(part.iter().flatten()).for_each(|(sum, part)| *sum += part);
        }
    });
    Matrix::from_fn(n, p, |i, j| sum[i][j])
}

/// The contribution of some rows of A to Aᵀ·U, for one strip of U.
fn strip_by_rows(rows: ByRows, u: &[[f64; LANES]], n: usize) -> Strip {
    let mut sum = vec![[0.0; LANES]; n];
    wide(
        #[inline(always)]
        || {
            let (eights, rest) = u.as_chunks::<LANES>();
            let (above, below) = rows.entries().split_at(eights.len() * LANES * n);
            for (rows, u) in above.chunks_exact((LANES * n).max(1)).zip(eights) {
                add_columns(std::array::from_fn(|k| &rows[k * n..(k + 1) * n]), u, &mut sum);
            }
            for (row, u) in below.chunks_exact(n.max(1)).zip(rest) {
                add_columns([row], &[*u], &mut sum);
            }
        },
    );
    sum
}

/// sⱼ ← sⱼ + Σₖ aₖⱼ·uₖ.
#[inline(always)]
fn add_columns<const K: usize>(rows: [&[f64]; K], u: &[[f64; LANES]; K], sum: &mut [[f64; LANES]]) {
    let rows = rows.map(|row| &row[..sum.len()]);
    for (j, sum) in sum.iter_mut().enumerate() {
        let mut local = *sum;
        for k in 0..K {
            for lane in 0..LANES {
                local[lane] += rows[k][j] * u[k][lane];
            }
        }
        *sum = local;
    }
}

/// P·C for a tall P stored by columns, by blocks of rows.
#[allow(non_snake_case)]
pub fn product(P: MatRef<'_, f64>, C: MatRef<'_, f64>) -> Mat<f64> {
    let mut result = Mat::zeros(P.nrows(), C.ncols());
    subtract(&mut result, P, C, -1.0);
    result
}

/// Y ← Y − P·C for a tall P, by blocks of rows.
#[allow(non_snake_case)]
pub fn subtract_product(Y: &mut Mat<f64>, P: MatRef<'_, f64>, C: MatRef<'_, f64>) {
    subtract(Y, P, C, 1.0);
}

/// Y ← Y − sign·P·C.
#[allow(non_snake_case)]
fn subtract(Y: &mut Mat<f64>, P: MatRef<'_, f64>, C: MatRef<'_, f64>, sign: f64) {
    let mut rest = Y.as_mut();
    let mut tasks = Vec::new();
    for P in row_blocks(P) {
        let (Y, below) = rest.split_at_row_mut(P.nrows());
        tasks.push((Y, P));
        rest = below;
    }
    tasks.into_par_iter().for_each(|(Y, P)| matmul::matmul(Y, Accum::Add, P, C, -sign, Par::Seq));
}

/// Pᵀ·Y for tall P and Y, by blocks of rows.
#[allow(non_snake_case)]
pub fn t_product(P: MatRef<'_, f64>, Y: MatRef<'_, f64>) -> Mat<f64> {
    let mut sum = Mat::zeros(P.ncols(), Y.ncols());
    t_products(P, Y).iter().for_each(|part| sum += part);
    sum
}

/// The parts of Pᵀ·Y that consecutive blocks of rows contribute.
#[allow(non_snake_case)]
fn t_products(P: MatRef<'_, f64>, Y: MatRef<'_, f64>) -> Vec<Mat<f64>> {
    let blocks: Vec<_> = row_blocks(P).into_iter().zip(row_blocks(Y)).collect();
    let part = |(P, Y): (MatRef<'_, f64>, MatRef<'_, f64>)| {
        let mut part = Mat::zeros(P.ncols(), Y.ncols());
        matmul::matmul(&mut part, Accum::Replace, P.transpose(), Y, 1.0, Par::Seq);
        part
    };
    blocks.into_par_iter().map(part).collect()
}

/// Consecutive rows, `TALL` at a time.
#[allow(non_snake_case)]
fn row_blocks(P: MatRef<'_, f64>) -> Vec<MatRef<'_, f64>> {
    let height = |start: usize| TALL.min(P.nrows() - start);
    (0..P.nrows()).step_by(TALL).map(|start| P.subrows(start, height(start))).collect()
}

/// Largest absolute value of an entry, 0 if there is none; the error is the first entry, in row order, that is not
/// finite: its row, column and value.
#[allow(non_snake_case)]
pub fn largest_entry(A: &Matrix) -> Result<f64, (usize, usize, f64)> {
    let largest = match A.is_by_rows() {
        false => A.magnitude(),
        true => {
            let mut largest = Some(0.0_f64);
            A.each_part(1, |_, part| {
                let parts = part.entries().par_chunks(BLOCK).map(magnitude);
                let found = parts.reduce(|| Some(0.0), |a, b| Some(a?.max(b?)));
                largest = largest.and_then(|largest| Some(largest.max(found?)));
            });
            largest
        }
    };
    largest.ok_or_else(|| A.find(|entry| !entry.is_finite()).expect("some entry is not finite"))
}

/// The first pair of entries, in row order, that keeps a square A from being symmetric: its row and column.
#[allow(non_snake_case)]
pub fn asymmetry(A: &Matrix) -> Option<(usize, usize)> {
    const TILE: usize = 64;
    assert_eq!(A.rows(), A.cols(), "symmetry of a square matrix");
    let (n, entries) = (A.rows(), A.row_major());
    // Tiles, so that the cache lines of the mirrored entries are used whole.
    let in_band = |band: usize| {
        let rows = band * TILE..n.min((band + 1) * TILE);
        let same = (0..=band).all(|other| {
            let columns = other * TILE..n.min((other + 1) * TILE);
            rows.clone().all(|i| {
                let row = &entries[i * n..(i + 1) * n];
                columns.clone().all(|j| row[j] == entries[j * n + i])
            })
        });
        let differs = |i: usize, j: usize| entries[i * n + j] != entries[j * n + i];
        let place = || rows.clone().find_map(|i| (0..i).find(|&j| differs(i, j)).map(|j| (j, i)));
        if same { None } else { place() }
    };
    let bands: Vec<_> = (0..n.div_ceil(TILE)).into_par_iter().map(in_band).collect();
    bands.into_iter().flatten().next()
}

#[cfg(test)]
mod tests {
    use super::super::testing::{assert_small, max_difference, normal};
    use super::super::{matmul, t_matmul};
    use super::*;
    use proptest::prelude::*;

    fn by_rows(a: &Matrix) -> Matrix {
        Matrix::from_row_major(a.rows(), a.cols(), a.row_major().to_vec())
    }

    #[track_caller]
    fn check(m: usize, n: usize, p: usize, seed: u64) {
        let (a, x, u) = (normal(m, n, seed), normal(n, p, seed ^ 1), normal(m, p, seed ^ 2));
        let rows = by_rows(&a);
        for a in [&a, &rows] {
            assert_small(max_difference(&mat_block(a, &x), &matmul(a, &x)), 10.0 * (n + 1) as f64);
            assert_small(max_difference(&block_mat(a, &u), &t_matmul(a, &u)), 10.0 * (m + 1) as f64);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn products_agree_with_those_of_whole_matrices(m in 0..60usize, n in 0..60usize, p in 0..12usize, seed: u64) {
            check(m, n, p, seed);
        }
    }

    #[test]
    fn products_cross_their_block_boundaries() {
        for (m, n) in [(TALL + 5, 3), (2 * TALL, 2), (70, PANEL + 3), (3, BLOCK + 1), (5000, 60)] {
            for p in [1, LANES, LANES + 1] {
                check(m, n, p, 3);
            }
        }
    }

    #[test]
    fn threads_and_files_do_not_show() {
        let (m, n) = (TALL + 1200, 70);
        let a = by_rows(&normal(m, n, 5));
        let path = std::env::temp_dir().join(format!("rl4rla-blocks-{}", std::process::id()));
        let bytes: Vec<u8> = a.row_major().iter().flat_map(|entry| entry.to_le_bytes()).collect();
        std::fs::write(&path, bytes).unwrap();
        let stored = Matrix::in_file(std::fs::File::open(&path).unwrap(), m, n).unwrap();
        let all = |a: &Matrix| {
            [4, 11]
                .map(|p| (mat_block(a, &normal(n, p, 6)), block_mat(a, &normal(m, p, 7)), largest_entry(a)))
        };
        let one = all(&a);
        assert!(all(&stored) == one, "in a file");
        for threads in [1, 2, 8] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            assert!(pool.install(|| all(&a)) == one, "{threads} threads");
        }
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn bad_entries_are_named() {
        let a = normal(300, 150, 8);
        let with = |i, j, value| {
            by_rows(&Matrix::from_fn(300, 150, |r, c| if (r, c) == (i, j) { value } else { a.get(r, c) }))
        };
        assert_eq!(largest_entry(&with(7, 3, -99.0)), Ok(99.0));
        assert!(matches!(largest_entry(&with(200, 3, f64::NAN)), Err((200, 3, value)) if value.is_nan()));
        let symmetric = |odd: Option<(usize, usize)>| {
            Matrix::from_fn(
                150,
                150,
                |i, j| if Some((i, j)) == odd { 0.0 } else { (1 + i * j + i + j) as f64 },
            )
        };
        assert_eq!(asymmetry(&symmetric(None)), None);
        for (i, j) in [(0, 1), (1, 0), (149, 3), (70, 69), (2, 140)] {
            assert_eq!(asymmetry(&symmetric(Some((i, j)))), Some((i.min(j), i.max(j))));
        }
    }
}

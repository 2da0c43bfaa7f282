use super::super::testing::{assert_small, frobenius, max_difference, normal};
use super::super::{
    Matrix, column_norms, gram, mat_vec, norm, qr_r, qr_r_with, residual_and_gradient, scale_rows,
    squared_row_norms, sub, vec_mat,
};
use super::*;
use proptest::prelude::*;

/// Entries of a matrix in any order, some of them at the same place, some rows and columns empty.
fn entries() -> impl Strategy<Value = (usize, usize, Vec<(usize, usize, f64)>)> {
    (1..40_usize, 1..12_usize).prop_flat_map(|(m, n)| {
        let entry = (0..m, 0..n, -2.0..2.0);
        (Just(m), Just(n), prop::collection::vec(entry, 0..2 * m * n))
    })
}

fn dense(m: usize, n: usize, entries: &[(usize, usize, f64)]) -> Matrix {
    let mut all = vec![0.0; m * n];
    entries.iter().for_each(|(i, j, value)| all[i * n + j] += value);
    Matrix::from_row_major(m, n, all)
}

/// A random matrix with about one entry in `rarity`.
fn scattered(m: usize, n: usize, rarity: usize, seed: u64) -> Sparse {
    let values = normal(m, n, seed);
    let is_stored = |i: usize, j: usize| (i * 7919 + j * 104_729 + i * j).is_multiple_of(rarity);
    let places = (0..m).flat_map(|i| (0..n).map(move |j| (i, j))).filter(|(i, j)| is_stored(*i, *j));
    Sparse::from_entries(m, n, places.map(|(i, j)| (i, j, values.get(i, j))).collect()).unwrap()
}

#[track_caller]
fn assert_alike(sparse: &Matrix, dense: &Matrix) {
    let (m, n) = (dense.rows(), dense.cols());
    let (x, v) = (normal(n, 1, 1), normal(m, 1, 2));
    let (x, v) = (x.column(0), v.column(0));
    let size = frobenius(dense).max(1.0) * (norm(x) + norm(v)).max(1.0) * 10.0;
    assert_eq!((sparse.rows(), sparse.cols()), (m, n));
    assert_small(norm(&sub(&mat_vec(sparse, x), &mat_vec(dense, x))), size);
    assert_small(norm(&sub(&vec_mat(v, sparse), &vec_mat(v, dense))), size);
    let ((r, g), (expected, gradient)) =
        (residual_and_gradient(sparse, x, v), residual_and_gradient(dense, x, v));
    assert_small(norm(&sub(&r, &expected)), size);
    assert_small(norm(&sub(&g, &gradient)), size * size);
    assert_small(norm(&sub(&squared_row_norms(sparse), &squared_row_norms(dense))), size * size);
    assert_small(norm(&sub(&column_norms(sparse), &column_norms(dense))), size);
    assert_small(max_difference(&gram(sparse), &gram(dense)), size * size);
    let other = sparse.sparse().unwrap().gram();
    assert_small(max_difference(&other, &gram(dense)), size * size);
    assert_eq!(other, other.transpose());
    // The R of a matrix without full rank is not unique, but its Gram matrix is.
    assert_small(max_difference(&gram(&qr_r(sparse)), &gram(dense)), size * size * 10.0);
    let ((r, c), (_, d)) = (qr_r_with(sparse, v), qr_r_with(dense, v));
    assert_small(max_difference(&gram(&r), &gram(dense)), size * size * 10.0);
    assert!(c.len() == d.len());
    let rows: Vec<usize> = (0..m).rev().chain([0]).collect();
    assert_eq!(sparse.rows_at(&rows), dense.rows_at(&rows));
    assert_eq!((sparse.is_finite(), sparse.is_symmetric()), (true, dense.is_symmetric()));
    let large = |value: f64| value.abs() > 0.5;
    assert_eq!(sparse.find(large), dense.find(large));
    assert_eq!(sparse.find(|value| value == 0.0), dense.find(|value| value == 0.0));
    assert_eq!(scale_rows(v, sparse), scale_rows(v, dense));
    assert_eq!(sparse, dense);
    assert_eq!((sparse.map(|a| 2.0 * a), &sparse.clone().to_dense()), (dense.map(|a| 2.0 * a), dense));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]
    #[test]
    fn kernels_agree_with_dense_ones((m, n, entries) in entries(), drop in 0..12_usize) {
        let expected = dense(m, n, &entries);
        let (rows, columns, values) = (
            entries.iter().map(|e| e.0 as u32).collect(),
            entries.iter().map(|e| e.1 as u32).collect(),
            entries.iter().map(|e| e.2).collect(),
        );
        let sorted = Sparse::from_triples((m, n), rows, columns, values);
        prop_assert!(Sparse::from_parts(m, n, sorted.starts.clone(), sorted.columns.clone(), sorted.values.clone()).is_some());
        let sparse = Sparse::from_entries(m, n, entries).unwrap();
        prop_assert_eq!((&sorted.starts, &sorted.columns), (&sparse.starts, &sparse.columns));
        let close = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-12;
        prop_assert!(sorted.values.iter().zip(&sparse.values).all(close));
        assert_alike(&Matrix::from_sparse(sparse.clone()), &expected);
        let kept: Vec<usize> = (0..n).filter(|j| *j != drop).collect();
        let scale = (0..kept.len()).map(|j| 1.0 + j as f64).collect();
        let map = ColumnMap { shift: vec![0.0; kept.len()], kept, scale };
        let mapped = Matrix::from_sparse(sparse.clone()).map_columns(map.clone());
        prop_assert!(mapped.is_sparse());
        prop_assert_eq!(mapped, expected.clone().map_columns(map));
        let target = Some(drop).filter(|drop| *drop < n);
        let (moved, taken) = sparse.with_columns_moved(target, true);
        prop_assert_eq!(taken, target.map(|j| expected.column(j).to_vec()));
        let place = |j: usize| if target.is_some_and(|target| j >= target) { j + 1 } else { j };
        let width = moved.cols() - 1;
        let ones = |i: usize, j: usize| if j == width { 1.0 } else { expected.get(i, place(j)) };
        prop_assert_eq!(Matrix::from_sparse(moved), Matrix::from_fn(m, width + 1, ones));
    }
}

#[test]
fn several_blocks_agree_with_dense_ones_on_any_number_of_threads() {
    for (m, n, rarity) in [(30_000, 40, 13), (2_000, 300, 40), (3000, 50, 1), (70_000, 3, 50), (300, 120, 7)]
    {
        let sparse = Matrix::from_sparse(scattered(m, n, rarity, 3));
        if m * n < 400_000 {
            assert_alike(&sparse, &sparse.clone().to_dense());
        }
        let (x, b) = (normal(n, 1, 6), normal(m, 1, 7));
        let all = || {
            let (r, g) = residual_and_gradient(&sparse, x.column(0), b.column(0));
            let products = [r, g, mat_vec(&sparse, x.column(0)), vec_mat(b.column(0), &sparse)];
            let norms = [squared_row_norms(&sparse), column_norms(&sparse)];
            (products, norms, sparse.sparse().unwrap().gram(), gram(&sparse), qr_r(&sparse))
        };
        let one = all();
        for threads in [1, 2, 3] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            assert!(pool.install(all) == one, "{m}×{n} with {threads} threads");
        }
    }
}

#[test]
fn edges() {
    for (m, n) in [(0, 0), (0, 3), (3, 0), (1, 1), (9, 2)] {
        let sparse = Matrix::from_sparse(Sparse::from_entries(m, n, vec![]).unwrap());
        assert_eq!(
            (mat_vec(&sparse, &vec![1.0; n]), vec_mat(&vec![1.0; m], &sparse)),
            (vec![0.0; m], vec![0.0; n])
        );
        assert_eq!((gram(&sparse), qr_r(&sparse)), (Matrix::zeros(n, n), Matrix::zeros(n, n)));
        assert_eq!((sparse.nonzeros(), sparse.bytes()), (0, 8 * m));
    }
    // One row with all entries, and one entry in the last row.
    let full = (0..50_000).map(|j| (1, j, 1.0)).chain([(2, 7, 1.0)]);
    let wide = Matrix::from_sparse(Sparse::from_entries(3, 50_000, full.collect()).unwrap());
    assert_eq!(mat_vec(&wide, &vec![1.0; 50_000]), [0.0, 50_000.0, 1.0]);
    assert_eq!(vec_mat(&[1.0, 1.0, 2.0], &wide)[6..9], [1.0, 3.0, 1.0]);
    let symmetric = Sparse::from_entries(2, 2, vec![(0, 1, 3.0), (1, 0, 3.0)]).unwrap();
    assert!(
        symmetric.is_symmetric() && !Sparse::from_entries(2, 2, vec![(0, 1, 3.0)]).unwrap().is_symmetric()
    );
    assert_eq!(format!("{:?}", Matrix::from_sparse(symmetric)), "2×2 sparse, 2 entries");
    let extreme = [(0, 0, 1e200), (1, 0, -1e200), (0, 1, 1e-200)].to_vec();
    let norms = column_norms(&Matrix::from_sparse(Sparse::from_entries(2, 3, extreme).unwrap()));
    assert!((norms[0] / 2_f64.sqrt() - 1e200).abs() < 1e187 && norms[1..] == [1e-200, 0.0]);
    assert_eq!(Sparse::from_entries(1, 1, vec![(0, 0, f64::NAN)]), Err(NumericError::NotFinite));
}

#[test]
fn blocks_take_every_row_once() {
    for (m, n, rarity) in [(30_000, 40, 13), (1, 5, 1), (100, 100, 3)] {
        let sparse = scattered(m, n, rarity, 1);
        for least in [1, 10, 1000, 1 << 20] {
            let rows: Vec<usize> = sparse.blocks(least).into_iter().flatten().collect();
            assert!(rows.into_iter().eq(0..m));
        }
    }
}

#[test]
fn parts_that_do_not_fit_together_are_refused() {
    let made = |rows, cols, starts: &[usize], columns: &[u32]| {
        Sparse::from_parts(rows, cols, starts.to_vec(), columns.to_vec(), vec![1.0; 3]).is_some()
    };
    assert!(made(2, 3, &[0, 1, 3], &[2, 0, 1]));
    assert!(Sparse::from_parts(0, 0, vec![0], vec![], vec![]).is_some());
    assert!(!made(usize::MAX, 3, &[], &[2, 0, 1]));
    for starts in [&[][..], &[0, 3], &[1, 1, 3], &[0, 1, 2], &[0, 4, 3]] {
        assert!(!made(2, 3, starts, &[2, 0, 1]), "{starts:?}");
    }
    for columns in [&[2, 0][..], &[3, 0, 1], &[2, 1, 0], &[2, 1, 1]] {
        assert!(!made(2, 3, &[0, 1, 3], columns), "{columns:?}");
    }
}

use super::super::testing::{SHAPES, normal};
use super::*;

#[test]
fn both_layouts_hold_the_same_entries() {
    for (m, n) in SHAPES {
        let a = normal(m, n, 1);
        assert_eq!(a.row_major().len(), m * n);
        for i in 0..m {
            for j in 0..n {
                assert_eq!(a.row(i)[j], a.get(i, j));
                assert_eq!(a.column(j)[i], a.get(i, j));
                assert_eq!(a.transpose().get(j, i), a.get(i, j));
            }
            if i > 20 {
                break;
            }
        }
        assert_eq!(a.transpose().transpose(), a);
        assert_eq!(a.clone(), a);
        let rows = Matrix::from_row_major(m, n, a.row_major().to_vec());
        assert_eq!((rows.rows(), rows.cols(), rows.row_major()), (m, n, a.row_major()));
        assert!((0..n).all(|j| rows.column(j) == a.column(j)));
        assert_eq!((&rows, rows.clone(), rows.transpose()), (&a, a.clone(), a.transpose()));
        assert_eq!(rows.map(|x| 2.0 * x), a.map(|x| 2.0 * x));
        assert_eq!(rows.normalized(), a.normalized());
    }
}

#[test]
fn equality_is_by_shape_and_value_and_not_by_what_was_cached() {
    let a = Matrix::from_rows(&[&[1.0, 2.0], &[3.0, 4.0]]);
    let b = a.clone();
    a.row_major();
    assert_eq!(a, b);
    assert_ne!(a, a.transpose());
    assert_ne!(Matrix::zeros(0, 3), Matrix::zeros(3, 0));
    assert_eq!(format!("{a:?}"), "2×2 [[1.0, 2.0], [3.0, 4.0]]");
}

#[test]
fn one_bad_entry_anywhere_is_seen() {
    for (m, n) in [(1, 1), (7, 3), (8, 2), (17, 2)] {
        assert!(normal(m, n, 2).is_finite());
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            for (p, q) in (0..m).flat_map(|i| (0..n).map(move |j| (i, j))) {
                let a = Matrix::from_fn(m, n, |i, j| if (i, j) == (p, q) { bad } else { 1e308 });
                assert!(!a.is_finite());
            }
        }
    }
    assert_eq!(Matrix::zeros(0, 0).magnitude(), Some(0.0));
    assert_eq!(Matrix::from_rows(&[&[-3.0, 2.0]]).magnitude(), Some(3.0));
}

#[test]
fn normalising_is_exact() {
    for size in [f64::MAX, 1e200, 3.0, 1.0, 1e-200, f64::MIN_POSITIVE, 5e-324] {
        let a = Matrix::from_rows(&[&[size, -size / 2.0]]);
        let (b, factor) = a.normalized().expect("finite");
        assert!(b[(0, 0)] < 2.0);
        assert_eq!(Matrix::from_faer(b).map(|x| x * factor), a);
    }
    let (zero, factor) = Matrix::zeros(2, 2).normalized().expect("finite");
    assert!(factor > 0.0);
    assert_eq!(Matrix::from_faer(zero), Matrix::zeros(2, 2));
}

#[test]
fn a_resized_faer_matrix_gets_the_usual_layout() {
    let mut grown = Mat::<f64>::with_capacity(40, 9);
    grown.resize_with(5, 3, |i, j| (i * 3 + j) as f64);
    let a = Matrix::from_faer(grown);
    assert_eq!(a, Matrix::from_fn(5, 3, |i, j| (i * 3 + j) as f64));
    assert_eq!(a.as_faer().col_stride(), 8);
}

#[test]
fn a_matrix_with_scaled_rows_is_its_product() {
    use super::super::{gram, gram_of_scaled, mat_vec, mat_vecs, norm, scale_rows, sub, vec_mat};
    for (m, n) in SHAPES {
        let (of, d, x) = (normal(m, n, 1), normal(m, 1, 2), normal(n, 1, 3));
        let (d, x) = (d.column(0), x.column(0));
        let plain = scale_rows(d, &of);
        let lazy = || Matrix::with_scaled_rows(d.to_vec(), Arc::new(of.clone()));
        assert_eq!((lazy().rows(), lazy().cols(), lazy().bytes()), (m, n, 8 * m));
        assert_eq!((&lazy(), lazy().row_major(), lazy().clone()), (&plain, plain.row_major(), plain.clone()));
        assert_eq!(lazy().map(|x| 2.0 * x), plain.map(|x| 2.0 * x));
        assert_eq!((lazy().by_rows(), lazy().transpose()), (plain.clone(), plain.transpose()));
        assert!((0..n).all(|j| lazy().column(j) == plain.column(j)));
        let close = |a: &[f64], b: &[f64], size: f64| {
            assert!(norm(&sub(a, b)) <= 30.0 * f64::EPSILON * size * (m + n) as f64);
        };
        let size = norm(plain.row_major());
        close(&mat_vec(&lazy(), x), &mat_vec(&plain, x), size * norm(x));
        let [twice, _] = mat_vecs(&lazy(), [x, x]);
        assert_eq!(twice, mat_vec(&lazy(), x));
        close(&vec_mat(d, &lazy()), &vec_mat(d, &plain), size * norm(d));
        close(gram(&lazy()).row_major(), gram(&plain).row_major(), size * size);
        assert_eq!(gram(&lazy()), gram_of_scaled(d, &of));
        // Which copies exist changes nothing.
        let made = lazy();
        made.transpose();
        assert_eq!((mat_vec(&made, x), gram(&made)), (mat_vec(&lazy(), x), gram(&lazy())));
    }
}

#[test]
fn a_matrix_with_scaled_rows_knows_whether_it_is_finite() {
    let of = Arc::new(Matrix::from_rows(&[&[1.0, 1e200], &[0.0, 0.0]]));
    let finite = |d: [f64; 2]| Matrix::with_scaled_rows(d.to_vec(), of.clone()).is_finite();
    assert!(finite([1.0, 0.0]) && finite([1e100, 1e300]) && finite([1.0, 1e200]));
    assert!(!finite([1e200, 0.0]) && !finite([0.0, f64::INFINITY]) && !finite([f64::NAN, 1.0]));
    let bad = Arc::new(Matrix::from_rows(&[&[f64::NAN], &[1.0]]));
    assert!(!Matrix::with_scaled_rows(vec![0.0; 2], bad).is_finite());
}

#[test]
fn lent_entries_are_read_in_place_and_never_changed() {
    let a = super::super::testing::normal(50, 4, 3);
    let lent: Arc<Vec<f64>> = Arc::new(a.row_major().to_vec());
    let (before, borrowed) = (lent.to_vec(), Matrix::from_lent_rows(50, 4, lent.clone()));
    let owned = Matrix::from_row_major(50, 4, before.clone());
    assert!(std::ptr::eq(borrowed.row_major().as_ptr(), lent.as_ptr()), "in place");
    assert!(std::ptr::eq(borrowed.clone().row_major().as_ptr(), lent.as_ptr()), "a clone too");
    assert_eq!((borrowed.bytes(), owned.bytes()), (0, 8 * 200));
    let map = ColumnMap::all(vec![1.0; 4], vec![2.0; 4]);
    assert_eq!(borrowed.clone().map_columns(map.clone()), owned.clone().map_columns(map));
    assert_eq!(borrowed.with_rows_multiplied(&[3.0; 50]), owned.with_rows_multiplied(&[3.0; 50]));
    assert_eq!(*lent, before);
}

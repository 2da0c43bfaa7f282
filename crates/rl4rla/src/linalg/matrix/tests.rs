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

//! Properties of eigenvalue problems.

use super::*;

fn drawn(n: usize, condition: Option<f64>) -> Instance {
    let family = Family { rows: n, cols: n, condition, ..Family::named("eigenvalue").unwrap() };
    family.draw(&Stream::new(1)).unwrap()
}

#[test]
fn drawn_instances_are_as_asked_for() {
    let instance = drawn(20, Some(100.0));
    let (lambda, _) = linalg::symmetric_eigen(&instance.A).unwrap();
    assert!((lambda[0] - 1.0).abs() < 1e-13 && (lambda[19] - 0.01).abs() < 1e-13);
    assert!((linalg::norm(&instance.start) - 1.0).abs() < 1e-14);
    assert!(instance.measure(&instance.x_star).0 < 1e-14);
}

#[test]
fn the_measure_is_the_rayleigh_quotient() {
    let instance = drawn(8, Some(10.0));
    let x = &instance.start;
    let rho = linalg::dot(x, &linalg::mat_vec(&instance.A, x));
    assert!((instance.measure(x).0 - (1.0 - rho)).abs() < 1e-14);
    // The length of x matters, its sign does not.
    assert_eq!(instance.measure(&linalg::scale(2.0, x)), (1.0, 1.0));
    assert_eq!(instance.measure(&[f64::NAN; 8]), (1.0, 1.0));
    let turned = instance.measure(&linalg::scale(-1.0, x)).0;
    assert!((turned - instance.measure(x).0).abs() < 1e-15);
    // Far below what 1 − ρ could resolve.
    let mut near = instance.x_star.clone();
    near[0] += 1e-10;
    let gap = instance.measure(&near).0;
    assert!(gap > 0.0 && gap < 1e-19, "{gap}");
}

#[test]
fn one_dimension_is_solved_from_the_start() {
    let instance = drawn(1, None);
    assert_eq!(instance.measure(&instance.start), (0.0, 0.0));
}

#[test]
fn bad_data_are_refused_by_name() {
    let refused = |rows: &[&[f64]]| Eigenvalue.pose(Matrix::from_rows(rows), vec![]).unwrap_err().to_string();
    assert!(
        refused(&[&[1.0, 2.0], &[2.5, 1.0]])
            .starts_with("row 2, column 1 of A is 2.5 but row 1, column 2 of A is 2; ")
    );
    assert!(refused(&[&[1.0, 2.0], &[2.0, 1.0]]).starts_with("A has the eigenvalue -1"));
    assert_eq!(refused(&[&[1.0, 2.0]]), "A must be square, got 1 × 2");
    assert!(refused(&[&[f64::NAN]]).starts_with("row 1, column 1 of A is NaN"));
    assert!(refused(&[]).contains("0 × 0"));
    let posed = Eigenvalue.pose(Matrix::from_rows(&[&[2.0, 1.0], &[1.0, 2.0]]), vec![]).unwrap();
    assert!((posed.spectrum()[0] - 3.0).abs() < 1e-14 && posed.measure(&posed.x_star).0 < 1e-15);
}

#[test]
fn only_the_leading_eigenvector_is_optimal() {
    let A = Matrix::from_rows(&[&[2.0, 0.0, 0.0], &[0.0, 5.0, 0.0], &[0.0, 0.0, 4.0]]);
    let instance = Eigenvalue.pose(A, vec![]).unwrap();
    let off = |x: &[f64]| Eigenvalue.optimality(&instance, x).unwrap();
    assert_eq!(off(&[0.0, 1.0, 0.0]), 0.0);
    assert_eq!(Eigenvalue.figures(&instance, &[0.0, 1.0, 0.0]), [("eigenvalue", 5.0)]);
    // An eigenvector of another eigenvalue, a mixture, and a vector of another length.
    assert!((off(&[0.0, 0.0, 1.0]) - 0.2).abs() < 1e-12);
    assert!((off(&[0.0, 0.6, 0.8]) - (1.0 - 4.36 / 5.0)).abs() < 1e-12);
    assert!((off(&[0.0, 0.8, 0.6]) - 0.48 / 4.64).abs() < 1e-12);
    assert_eq!(off(&[0.0, 2.0, 0.0]), 1.0);
    assert_eq!(off(&[f64::NAN, 0.0, 0.0]), 1.0);
}

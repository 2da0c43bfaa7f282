//! Properties of logistic instances.

use super::families::SEPARABLE;
use super::fit::fit;
use super::objection::{NEARLY_DEPENDENT, PARTLY_SEPARATED};
use super::*;
use crate::problem::{Family, FamilyError, FamilyKind};
use crate::rng::Stream;

fn family(rows: usize, cols: usize, kappa: f64) -> Family {
    Family { rows, cols, condition: Some(kappa), ..Family::named("logistic").unwrap() }
}

#[test]
fn drawn_instances_are_as_asked_for() {
    let instance = family(400, 6, 100.0).draw(&Stream::new(1)).unwrap();
    let sigma = linalg::singular_values(&instance.A).unwrap();
    assert!((sigma[0] - 2.0).abs() < 1e-12 && (sigma[0] / sigma[5] - 100.0).abs() < 1e-8);
    assert!(instance.b.iter().all(|b| [0.0, 1.0].contains(b)));
    assert_eq!(instance.measure(&instance.x_star).1, 0.0);
    let (loss, excess) = instance.measure(&[0.0; 6]);
    assert!((loss - 2f64.ln()).abs() < 1e-12 && (excess - (loss / instance.attainable() - 1.0)).abs() < 1e-9);
}

#[test]
fn labels_follow_their_noise() {
    let wrong = |noise: f64| {
        let forward = Family { rows: 4000, ..Family::named("logistic-forward").unwrap() };
        let instance = forward.with_number("noise", noise).unwrap().draw(&Stream::new(2)).unwrap();
        let margins = linalg::mat_vec(&instance.A, &instance.start);
        margins.iter().zip(&instance.b).filter(|(z, b)| (**z > 0.0) != (**b > 0.5)).count()
    };
    assert_eq!(wrong(0.0), 0);
    // P(sign(z + ε) ≠ sign(z)) = 1/4 for z and ε of the same distribution.
    assert!((900..1100).contains(&wrong(1.0)), "{}", wrong(1.0));
}

#[test]
fn a_forward_pass_is_best_answered_by_the_model() {
    let instance = Family::named("logistic-forward").unwrap().draw(&Stream::new(3)).unwrap();
    let z = linalg::mat_vec(&instance.A, &instance.start);
    let p: Vec<f64> = z.iter().map(|z| sigmoid(*z)).collect();
    assert!(instance.measure(&p).1 < 1e-15);
    let copied = instance.measure(&instance.b).1;
    assert!(copied > instance.measure(&[0.5; 50]).1, "copying the labels is worse than guessing: {copied}");
    assert!(instance.measure(&z).1 > 0.1 && instance.measure(&[f64::NAN; 50]).1.is_nan());
}

#[test]
fn separable_data_are_measured_from_zero() {
    let separable = Family { rows: 300, cols: 4, ..Family::named("logistic-separable").unwrap() };
    let instance = separable.draw(&Stream::new(1)).unwrap();
    assert!(instance.attainable() == 0.0 && (instance.measure(&[0.0; 4]).1 - 1.0).abs() < 1e-12);
    let overlapping = separable.with_number("separation", 0.5).unwrap().draw(&Stream::new(1)).unwrap();
    assert!(overlapping.attainable() > 0.1);
    // Without noise the labels of `logistic` are separable, and the error says so.
    let exact = family(60, 3, 2.0).with_number("noise", 0.0).unwrap();
    assert_eq!(
        exact.draw(&Stream::new(1)).err(),
        Some(FamilyError::NoSolution { kind: exact.kind, why: SEPARABLE })
    );
    assert_eq!(FamilyKind(&FAMILIES[0]), exact.kind);
}

#[test]
fn gradient_descent_is_the_measure_of_accuracy() {
    let separable = Family { rows: 300, cols: 4, ..Family::named("logistic-separable").unwrap() };
    for family in [separable, family(300, 4, 10.0)] {
        let instance = family.draw(&Stream::new(1)).unwrap();
        let x = gradient_descent(&instance.A, &instance.b, instance.spectrum()[0], 5);
        let excesses =
            [&[0.0; 4][..], &[0.0; 4], &[0.0; 4], &[0.0; 4], &[0.0; 4], &x].map(|x| instance.measure(x).1);
        let history = History { instance: &instance, losses: &[], excesses: &excesses };
        let progress = (excesses[0] / excesses[5]).log10().min(1.0);
        let accuracy = Logistic.accuracy(&history).unwrap();
        assert!((accuracy - 0.5 * progress).abs() < 1e-9, "{accuracy}, not half of {progress}");
    }
}

#[test]
fn bad_data_are_refused_by_name() {
    let refused = |rows: &[&[f64]], labels: &[f64]| {
        Logistic.pose(Matrix::from_rows(rows), labels.to_vec()).unwrap_err().to_string()
    };
    let rows: [&[f64]; 3] = [&[1.0], &[2.0], &[-1.0]];
    assert!(refused(&rows, &[1.0, 0.0, -1.0]).starts_with("row 3 of b is -1, in addition to 0 and 1: "));
    assert!(refused(&rows, &[2.0; 3]).starts_with("all labels are 2; "));
    assert!(refused(&rows, &[1.0, f64::NAN, -1.0]).starts_with("row 2 of b is NaN"));
    assert!(refused(&rows, &[1.0, 1.0, -1.0]).starts_with("the labels are linearly separable"));
    assert!(refused(&rows, &[1.0, 1.0]).contains("3 rows but b has 2"));
    // One column is enough.
    let one = Logistic.pose(Matrix::from_rows(&rows), vec![1.0, -1.0, -1.0]).unwrap();
    assert_eq!(one.measure(&one.x_star).1, 0.0);
    // Any two values are labels, the larger the positive class.
    let other = Logistic.pose(Matrix::from_rows(&rows), vec![8.0, 3.0, 3.0]).unwrap();
    assert_eq!(other.b, one.b);
    let forward = Forward.pose(Matrix::from_rows(&rows), vec![1.0, -1.0, -1.0]).unwrap();
    assert_eq!(forward.start, one.x_star);
}

#[test]
fn optimality_is_that_of_a_solution_in_all_units() {
    let instance = family(300, 4, 10.0).draw(&Stream::new(1)).unwrap();
    let units = [1e-6, 1.0, 1e3, 1e9];
    let A = Matrix::from_fn(300, 4, |i, j| instance.A.get(i, j) * units[j]);
    let scaled = Logistic.pose_unsolved(A, instance.b.clone()).unwrap();
    for (x, least, most) in [(vec![0.0; 4], 1e-3, 1.0), (instance.x_star.clone(), 0.0, 1e-13)] {
        let off = Logistic.optimality(&instance, &x).unwrap();
        assert!((least..=most).contains(&off), "{off}");
        let same: Vec<f64> = x.iter().zip(units).map(|(x, unit)| x / unit).collect();
        assert!((Logistic.optimality(&scaled, &same).unwrap() - off).abs() < 1e-13);
    }
    assert_eq!(Logistic.objection(&instance, &instance.x_star), None);
}

#[test]
fn what_has_no_minimum_is_never_optimal() {
    let rows: [&[f64]; 3] = [&[1.0], &[2.0], &[-1.0]];
    let separable = Logistic.pose_unsolved(Matrix::from_rows(&rows), vec![1.0, 1.0, 0.0]).unwrap();
    assert!(Logistic.optimality(&separable, &[0.0]).unwrap() > 0.5);
    assert_eq!(Logistic.optimality(&separable, &[30.0]), Err(SEPARATED));
    // The second column is 1 in a single row, whose label it explains better and better.
    let draws = Stream::new(3).normals(40);
    let A = Matrix::from_fn(40, 2, |i, j| if j == 0 { draws[i] } else { f64::from(u8::from(i == 0)) });
    let labels: Vec<f64> = (0..40).map(|i| f64::from(u8::from(i % 2 == 0))).collect();
    let partly = Logistic.pose_unsolved(A, labels).unwrap();
    let mut x = fit_from(&Matrix::from_fn(39, 1, |i, _| draws[i + 1]), &partly.b[1..], vec![0.0]).unwrap();
    x.push(40.0);
    assert!(Logistic.optimality(&partly, &x).unwrap() < 1e-10);
    assert_eq!(Logistic.objection(&partly, &x), Some(PARTLY_SEPARATED));
    // Two columns that differ by 1 part in 10⁸: the gradient shows nothing along their difference.
    let near = Matrix::from_fn(40, 2, |i, j| draws[i] + f64::from(u8::from(j == 1)) * 1e-8 * draws[39 - i]);
    let near = Logistic.pose_unsolved(near, partly.b.clone()).unwrap();
    let whole = fit(&Matrix::from_fn(40, 1, |i, _| draws[i]), &partly.b).unwrap();
    let off = Logistic.optimality(&near, &[whole[0], 0.0]).unwrap();
    assert!(off < 1e-7, "{off}");
    assert_eq!(Logistic.objection(&near, &[whole[0], 0.0]), Some(NEARLY_DEPENDENT));
    // With dependent columns the solution is not unique.
    let A = Matrix::from_fn(40, 2, |i, j| draws[i] * [1.0, -2.0][j]);
    assert_eq!(
        Logistic.pose_unsolved(A, partly.b.clone()).err(),
        Some(InstanceError::Dependent { column: 1 })
    );
}

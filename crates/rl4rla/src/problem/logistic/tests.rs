//! What a logistic instance promises.

use super::*;
use crate::problem::Kind;

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
    // P(sign(z + ε) ≠ sign(z)) = 1/4 for z and ε of one law.
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
    // Without noise the labels of `logistic` are separable, and that is said.
    let exact = family(60, 3, 2.0).with_number("noise", 0.0).unwrap();
    assert_eq!(
        exact.draw(&Stream::new(1)).err(),
        Some(FamilyError::NoSolution { kind: exact.kind, why: SEPARABLE })
    );
    assert_eq!(Kind(&FAMILIES[0]), exact.kind);
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
    assert_eq!(refused(&rows, &[1.0, 0.0, -1.0]), "row 2 of b is 0; labels must be −1 or +1");
    assert!(refused(&rows, &[1.0, f64::NAN, -1.0]).starts_with("row 2 of b is NaN"));
    assert!(refused(&rows, &[1.0, 1.0, -1.0]).starts_with("a plane separates the labels"));
    assert!(refused(&rows, &[1.0, 1.0]).contains("3 rows but b has 2"));
    // One column is enough.
    let one = Logistic.pose(Matrix::from_rows(&rows), vec![1.0, -1.0, -1.0]).unwrap();
    assert_eq!(one.measure(&one.x_star).1, 0.0);
    let forward = Forward.pose(Matrix::from_rows(&rows), vec![1.0, -1.0, -1.0]).unwrap();
    assert_eq!(forward.start, one.x_star);
}

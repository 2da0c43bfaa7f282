//! Logistic regression with a penalty: min Σᵢ ln(1 + exp(zᵢ)) − bᵢ·zᵢ + ½λ‖x‖², z = Ax.
//!
//! A minimum exists for every λ > 0, also if the labels are separable or columns are dependent. A column without penalty
//! is one in large units: see `solve`.
#![allow(non_snake_case)]

use super::families::{Drawn, NOISE, SEPARABLE, drawn};
use super::fit::{fit_shifted, loss, penalty};
use super::{Logistic, legal, targets};
use crate::linalg::{self, Matrix};
use crate::problem::family::{Choice, Family, FamilyInfo, Number};
use crate::problem::family_error::FamilyError;
use crate::problem::image_loss::ImageLoss;
use crate::problem::instance::Instance;
use crate::problem::instance_error::InstanceError;
use crate::problem::response::Response;
use crate::problem::solving::Solving;
use crate::problem::task::{Task, Work};
use crate::program::{Op, Operator, RIDGE_LOGISTIC_OPERATORS, Reg, RegSet, Section};
use crate::rng::Stream;

/// The fit with a penalty: find the weights x that minimize the cross-entropy plus ½λ‖x‖².
pub struct RidgeLogistic;

impl Task for RidgeLogistic {
    fn name(&self) -> &'static str {
        "ridge-logistic"
    }

    fn doc(&self) -> &'static str {
        "logistic regression with a penalty: find x that minimizes the cross-entropy plus ½λ‖x‖²"
    }

    fn families(&self) -> &'static [FamilyInfo] {
        &FAMILIES
    }

    fn measure(&self, instance: &Instance, x: &[f64]) -> (f64, f64) {
        Logistic.measure(instance, x)
    }

    fn image_loss(&self) -> Option<&dyn ImageLoss> {
        Some(&Logistic)
    }

    /// Without a penalty, λ = 0.
    fn pose(&self, A: Matrix, labels: Vec<f64>) -> Result<Instance, InstanceError> {
        let mut instance = Logistic.pose(A, labels)?;
        instance.task = &RidgeLogistic;
        Ok(instance)
    }

    fn pose_unsolved(&self, A: Matrix, labels: Vec<f64>) -> Result<Instance, InstanceError> {
        self.pose_shifted(A, labels, 0.0)
    }

    fn pose_shifted(&self, A: Matrix, labels: Vec<f64>, lambda: f64) -> Result<Instance, InstanceError> {
        if lambda > 0.0 {
            let (b, nowhere) = (targets(&A, &labels)?, vec![0.0; A.cols()]);
            return Ok(Instance::posed(&RidgeLogistic, A, b, nowhere, 0.0, vec![]).with_lambda(lambda));
        }
        let mut instance = Logistic.pose_unsolved(A, labels)?;
        instance.task = &RidgeLogistic;
        Ok(instance)
    }

    fn optimality(&self, instance: &Instance, x: &[f64]) -> Result<f64, &'static str> {
        Logistic.optimality(instance, x)
    }

    fn solving(&self) -> Solving {
        Logistic.solving()
    }

    fn optimality_name(&self) -> &'static str {
        "gradient: largest |aⱼᵀr + λxⱼ|/(‖aⱼ‖‖r‖)"
    }

    fn objection(&self, instance: &Instance, x: &[f64]) -> Option<&'static str> {
        Logistic.objection(instance, x)
    }

    fn response(&self, labels: &[f64]) -> Result<Response, InstanceError> {
        Logistic.response(labels)
    }

    fn inputs(&self) -> RegSet {
        RegSet::common_inputs().with(Reg::LAMBDA)
    }

    fn operators(&self) -> &'static [Operator] {
        RIDGE_LOGISTIC_OPERATORS
    }

    fn legality(&self) -> fn(Op, &[Reg], Section) -> bool {
        legal
    }

    fn measures(&self) -> [&'static str; 2] {
        ["mean cross-entropy plus penalty, L(x)", "L(x)/L(x*) − 1"]
    }

    fn thrift(&self, work: &Work) -> Option<f64> {
        Logistic.thrift(work)
    }

    fn weights(&self) -> [f64; 4] {
        Logistic.weights()
    }

    fn direct_solution(&self, instance: &Instance) -> Option<Vec<f64>> {
        fit_shifted(&instance.A, &instance.b, instance.x_star.clone(), instance.lambda)
    }

    fn direct(&self, rows: f64, cols: f64) -> [f64; 2] {
        Logistic.direct(rows, cols)
    }
}

static FAMILIES: [FamilyInfo; 1] = [FamilyInfo {
    name: "ridge-logistic",
    doc: "labels as in `logistic`, and a penalty ½λ‖x‖²",
    task: &RidgeLogistic,
    rows: 5000,
    cols: 50,
    square: false,
    options: &[Choice::Condition, Choice::Leverage, Choice::Right, Choice::Scale],
    numbers: &[
        NOISE,
        Number {
            name: "lambda",
            doc: "λ, relative to the square of the largest singular value",
            default: 1e-3,
            least: 0.0,
            most: 1.0,
        },
    ],
    draw,
}];

fn draw(family: &Family, stream: &Stream) -> Result<Instance, FamilyError> {
    let Drawn { A, b, sigma, .. } = drawn(family, stream)?;
    let lambda = family.number("lambda").expect("a number of this family") * sigma[0].powi(2);
    let x_star = fit_shifted(&A, &b, vec![0.0; A.cols()], lambda)
        .ok_or(FamilyError::NoSolution { kind: family.kind, why: SEPARABLE })?;
    let sum = loss(&linalg::mat_vec(&A, &x_star), &b) + penalty(lambda, &x_star);
    let least = sum / A.rows() as f64;
    Ok(Instance::posed(&RidgeLogistic, A, b, x_star, least, sigma).with_lambda(lambda))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn drawn_with(lambda: f64) -> Instance {
        let family = Family { rows: 200, cols: 4, ..Family::named("ridge-logistic").unwrap() };
        family.with_number("lambda", lambda).unwrap().draw(&Stream::new(2)).unwrap()
    }

    /// One column of ones and three positive labels of four: 4σ(x) − 3 + λx = 0.
    #[test]
    fn a_hand_solved_problem() {
        let A = Matrix::from_fn(4, 1, |_, _| 1.0);
        let x: f64 = 0.5;
        let lambda = (3.0 - 4.0 / (1.0 + (-x).exp())) / x;
        let b = [1.0, 1.0, 0.0, 1.0];
        let found = fit_shifted(&A, &b, vec![0.0], lambda).unwrap();
        assert!((found[0] - x).abs() < 1e-13, "{found:?}");
        let instance = RidgeLogistic.pose_shifted(A, b.to_vec(), lambda).unwrap();
        assert!(RidgeLogistic.optimality(&instance, &[x]).unwrap() < 1e-14);
        let expected = (3.0 * (-x).exp().ln_1p() + x.exp().ln_1p() + 0.5 * lambda * x * x) / 4.0;
        assert!((instance.measure(&[x]).0 - expected).abs() < 1e-14);
    }

    #[test]
    fn drawn_instances_are_solved() {
        for lambda in [0.0, 1e-6, 0.1, 1.0] {
            let instance = drawn_with(lambda);
            assert!(
                (instance.lambda - 4.0 * lambda).abs() < 1e-12 && instance.measure(&instance.x_star).1 == 0.0
            );
            assert!(RidgeLogistic.optimality(&instance, &instance.x_star).unwrap() < 1e-12, "{lambda}");
            assert_eq!(RidgeLogistic.objection(&instance, &instance.x_star), None);
        }
        let lengths = [1e-3, 0.1, 1.0].map(|lambda| linalg::norm(&drawn_with(lambda).x_star));
        assert!(lengths.is_sorted_by(|a, b| a > b), "{lengths:?}");
    }

    /// Separable labels and dependent columns have a solution, and without a penalty they are refused.
    #[test]
    fn a_penalty_makes_every_problem_solvable() {
        let A = || Matrix::from_rows(&[&[1.0, 2.0], &[2.0, 4.0], &[-1.0, -2.0]]);
        let b = vec![1.0, 1.0, 0.0];
        let held = RidgeLogistic.pose_shifted(A(), b.clone(), 0.5).unwrap();
        let x = fit_shifted(&held.A, &held.b, vec![0.0; 2], 0.5).unwrap();
        assert!(RidgeLogistic.optimality(&held, &x).unwrap() < 1e-14);
        assert_eq!(RidgeLogistic.objection(&held, &x), None);
        let error = RidgeLogistic.pose_shifted(A(), b, 0.0).unwrap_err();
        assert_eq!(error, InstanceError::Dependent { column: 1 });
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(30))]
        #[test]
        fn the_gradient_is_the_slope_of_the_loss(seed: u64, lambda in 0.0..3.0_f64) {
            let (m, n, h) = (30, 3, 1e-5);
            let entries = Stream::new(seed).derive("A", 0).normals(m * n);
            let labels = (0..m).map(|i| f64::from(i % 3 == 0)).collect();
            let A = Matrix::from_row_major(m, n, entries);
            let instance = RidgeLogistic.pose_shifted(A, labels, lambda).unwrap();
            let x = Stream::new(seed).derive("x", 0).normals(n);
            let loss = |x: &[f64]| instance.measure(x).0 * m as f64;
            let slope = Logistic.slope(&instance, &x, &instance.image(&x)).unwrap();
            let mut steepest = 0.0_f64;
            for j in 0..n {
                let moved = |h: f64| {
                    let mut x = x.clone();
                    x[j] += h;
                    loss(&x)
                };
                let g = slope.product[j] + lambda * x[j];
                prop_assert!(((moved(h) - moved(-h)) / (2.0 * h) - g).abs() < 1e-6);
                let unit = instance.column_norms()[j] * linalg::norm(&slope.residual);
                steepest = steepest.max(g.abs() / unit);
            }
            prop_assert!((slope.optimality - steepest).abs() < 1e-14);
        }
    }
}

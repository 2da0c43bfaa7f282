//! Ridge regression: min ‖Ax − b‖² + λ‖x‖².
#![allow(non_snake_case)]

use super::explore_defaults::ExploreDefaults;
use super::family::{Choice, Family, FamilyInfo, Number};
use super::family_error::FamilyError;
use super::instance::Instance;
use super::instance_error::InstanceError;
use super::plane::best_combination;
use super::random_matrices::tall;
use super::spectrum::SpectrumLaw;
use super::task::Task;
use crate::linalg::{self, Matrix};
use crate::program::{Operator, RIDGE_OPERATORS, Reg, RegSet, TaskUnits};
use crate::rng::Stream;

/// Least squares with λ times the squared length of x.
pub struct Ridge;

impl Task for Ridge {
    fn name(&self) -> &'static str {
        "ridge"
    }

    fn doc(&self) -> &'static str {
        "ridge regression: find x that minimizes ‖Ax − b‖² + λ‖x‖²"
    }

    fn families(&self) -> &'static [FamilyInfo] {
        &FAMILIES
    }

    fn measure(&self, instance: &Instance, x: &[f64]) -> (f64, f64) {
        let residual = linalg::norm(&linalg::sub(&linalg::mat_vec(&instance.A, x), &instance.b));
        let loss = residual.hypot(instance.lambda.sqrt() * linalg::norm(x));
        (instance.relative(loss), excess(instance, x))
    }

    fn excess(&self, instance: &Instance, x: &[f64]) -> Option<f64> {
        Some(excess(instance, x))
    }

    /// Data without regularization, λ = 0.
    fn pose(&self, A: Matrix, b: Vec<f64>) -> Result<Instance, InstanceError> {
        self.pose_shifted(A, b, 0.0)
    }

    fn pose_shifted(&self, A: Matrix, b: Vec<f64>, lambda: f64) -> Result<Instance, InstanceError> {
        InstanceError::check(&A, &b)?;
        let spectrum = linalg::singular_values(&linalg::qr_r(&A)).ok_or(InstanceError::NoSolution)?;
        Ok(posed(A, b, spectrum, lambda))
    }

    fn operators(&self) -> &'static [Operator] {
        RIDGE_OPERATORS
    }

    fn inputs(&self) -> RegSet {
        RegSet::common_inputs().with(Reg::LAMBDA)
    }

    fn measures(&self) -> [&'static str; 2] {
        ["√(‖Ax − b‖² + λ‖x‖²)/‖b‖", "√(‖A(x − x*)‖² + λ‖x − x*‖²)/‖b‖"]
    }

    fn explore_defaults(&self) -> ExploreDefaults {
        ExploreDefaults::SHIFTED
    }

    /// QR of A on top of √λ·I.
    fn direct(&self, rows: f64, cols: f64) -> [f64; 2] {
        [2.0 * (rows + cols) * cols * cols - 2.0 / 3.0 * cols.powi(3), 1.0]
    }

    fn is_isometric(&self) -> bool {
        true
    }

    fn units(&self) -> Option<TaskUnits> {
        Some(TaskUnits::RIDGE)
    }

    fn best_step(&self, instance: &Instance, x: &[f64], v: &[f64], d: Option<&[f64]>) -> Option<(f64, f64)> {
        let image = |v: &[f64]| stacked(instance, v);
        let error = image(&linalg::sub(x, &instance.x_star));
        Some(best_combination(&error, &image(v), d.map(image).as_deref()))
    }

    fn direct_solution(&self, instance: &Instance) -> Option<Vec<f64>> {
        Some(solution(&instance.A, &instance.b, instance.lambda))
    }

    fn looks_at_ends(&self) -> bool {
        true
    }
}

/// Av on top of √λ·v.
fn stacked(instance: &Instance, v: &[f64]) -> Vec<f64> {
    let mut image = linalg::mat_vec(&instance.A, v);
    let root = instance.lambda.sqrt();
    image.extend(v.iter().map(|v| root * v));
    image
}

fn excess(instance: &Instance, x: &[f64]) -> f64 {
    instance.relative(linalg::norm(&stacked(instance, &linalg::sub(x, &instance.x_star))))
}

/// The least-squares solution with A on top of √λ·I, and b on top of zeros.
fn solution(A: &Matrix, b: &[f64], lambda: f64) -> Vec<f64> {
    let (m, n, root) = (A.rows(), A.cols(), lambda.sqrt());
    let entry = |i: usize, j: usize| match i {
        _ if i < m => A.get(i, j),
        _ if i - m == j => root,
        _ => 0.0,
    };
    let mut right = b.to_vec();
    right.resize(m + n, 0.0);
    linalg::least_squares(&Matrix::from_fn(m + n, n, entry), &right)
}

fn posed(A: Matrix, b: Vec<f64>, spectrum: Vec<f64>, lambda: f64) -> Instance {
    let x = solution(&A, &b, lambda);
    let mut instance = Instance::posed(&Ridge, A, b, x, 0.0, spectrum).with_lambda(lambda);
    let (attainable, _) = Ridge.measure(&instance, &instance.x_star);
    instance.set_attainable(attainable);
    instance
}

static FAMILIES: [FamilyInfo; 1] = [FamilyInfo {
    name: "ridge",
    doc: "tall, singular values that fall geometrically from 1 to 1/κ, condition 1e4 by default",
    task: &Ridge,
    rows: 10_000,
    cols: 50,
    square: false,
    options: &[Choice::Condition, Choice::Leverage, Choice::Right, Choice::Outside],
    numbers: &[Number {
        name: "lambda",
        doc: "λ, relative to the square of the largest singular value",
        default: 1e-6,
        least: 0.0,
        most: 1.0,
    }],
    draw,
}];

/// The condition number if none is asked for.
const CONDITION: f64 = 1e4;

/// b = (1 − s)·Ax + s·o, where Ax and the noise o have length 1.
fn draw(family: &Family, stream: &Stream) -> Result<Instance, FamilyError> {
    let family =
        &Family { condition: family.condition.or((family.cols > 1).then_some(CONDITION)), ..*family };
    let drawn = tall(family, SpectrumLaw::Geometric, 1.0, stream)?;
    let A = drawn.matrix(family, stream);
    let unit = |v: Vec<f64>| linalg::scale(linalg::norm(&v).recip(), &v);
    let signal = unit(linalg::mat_vec(&A, &stream.derive("solution", 0).normals(family.cols)));
    let noise = unit(stream.derive("noise", 0).normals(family.rows));
    let share = family.outside;
    let b = signal.iter().zip(&noise).map(|(r, o)| (1.0 - share) * r + share * o).collect();
    let lambda = family.number("lambda").expect("a number of this family") * drawn.sigma[0].powi(2);
    Ok(posed(A, b, drawn.sigma, lambda))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn() -> Instance {
        let family = Family { rows: 40, cols: 6, outside: 0.5, ..Family::named("ridge").unwrap() };
        family.with_number("lambda", 0.01).unwrap().draw(&Stream::new(4)).unwrap()
    }

    #[test]
    fn the_excess_is_what_the_loss_has_above_its_minimum() {
        let instance = drawn();
        let x: Vec<f64> = instance.x_star.iter().map(|x| x + 0.1).collect();
        let (loss, excess) = instance.measure(&x);
        let expected = (loss.powi(2) - instance.attainable().powi(2)).sqrt();
        assert!((excess / expected - 1.0).abs() < 1e-10, "{excess} {expected}");
        assert_eq!(instance.measure_excess(&x), Some(excess));
        assert_eq!(instance.measure(&instance.x_star), (instance.attainable(), 0.0));
        // At the solution Aᵀ(Ax − b) + λx = 0.
        let (_, g) = linalg::residual_and_gradient(&instance.A, &instance.x_star, &instance.b);
        let left = linalg::add(&g, &linalg::scale(instance.lambda, &instance.x_star));
        assert!(linalg::norm(&left) < 1e-13 && (instance.lambda - 0.01).abs() < 1e-15);
    }

    #[test]
    fn the_oracle_steps_to_the_least_loss() {
        let instance = drawn();
        let x = [0.3; 6];
        let v = Stream::new(5).normals(6);
        let (alpha, _) = Ridge.best_step(&instance, &x, &v, None).unwrap();
        let loss = |alpha: f64| instance.measure(&linalg::sub(&x, &linalg::scale(alpha, &v))).0;
        assert!(loss(alpha) < loss(alpha + 1e-3) && loss(alpha) < loss(alpha - 1e-3));
    }

    /// x = (AᵀA + λI)⁻¹Aᵀb by hand: A = (1, 1)ᵀ, b = (2, 4)ᵀ, λ = 1 give 6/3.
    #[test]
    fn data_are_posed_with_the_lambda_asked_for() {
        let A = Matrix::from_rows(&[&[1.0], &[1.0]]);
        let instance = Ridge.pose_shifted(A, vec![2.0, 4.0], 1.0).unwrap();
        assert!((instance.x_star[0] - 2.0).abs() < 1e-14 && instance.lambda == 1.0);
        assert!(instance.measure(&[2.0]).1 < 1e-14 && instance.measure(&[3.0]).1 > 0.1);
    }

    #[test]
    fn without_lambda_it_is_least_squares() {
        let instance = drawn();
        let (A, b) = instance.into_data();
        let (ridge, linear) =
            (Ridge.pose(A.clone(), b.clone()).unwrap(), super::super::Linear.pose(A, b).unwrap());
        assert!(linalg::norm(&linalg::sub(&ridge.x_star, &linear.x_star)) < 1e-11);
        assert!((ridge.attainable() - linear.attainable()).abs() < 1e-13);
    }
}

//! Symmetric positive definite systems: (A + λI)x = b.
#![allow(non_snake_case)]

use super::eigenvalue::semidefinite;
use super::explore_defaults::ExploreDefaults;
use super::family::{Choice, Family, FamilyInfo, Number};
use super::family_error::FamilyError;
use super::instance::Instance;
use super::instance_error::InstanceError;
use super::plane::best_in_energy;
use super::random_matrices;
use super::spectrum::{self, SpectrumLaw};
use super::task::Task;
use crate::linalg::{self, Matrix};
use crate::program::{Operator, Reg, RegSet, SEMIDEFINITE_OPERATORS, TaskUnits};
use crate::rng::Stream;

/// Symmetric positive semidefinite A, shifted by λ ≥ 0.
pub struct Spd;

impl Task for Spd {
    fn name(&self) -> &'static str {
        "spd"
    }

    fn doc(&self) -> &'static str {
        "solve (A + λI)x = b for symmetric positive semidefinite A"
    }

    fn families(&self) -> &'static [FamilyInfo] {
        &FAMILIES
    }

    fn measure(&self, instance: &Instance, x: &[f64]) -> (f64, f64) {
        let residual = linalg::norm(&linalg::sub(&image(instance, x), &instance.b));
        (instance.relative(residual), self.energy_error(instance, x))
    }

    fn excess(&self, instance: &Instance, x: &[f64]) -> Option<f64> {
        Some(self.energy_error(instance, x))
    }

    /// Data without a shift, λ = 0.
    fn pose(&self, A: Matrix, b: Vec<f64>) -> Result<Instance, InstanceError> {
        self.pose_shifted(A, b, 0.0)
    }

    fn pose_shifted(&self, A: Matrix, b: Vec<f64>, lambda: f64) -> Result<Instance, InstanceError> {
        InstanceError::check(&A, &b)?;
        let (A, spectrum, _) = semidefinite(A)?;
        let R = linalg::cholesky_r(&shifted_matrix(&A, lambda)).map_err(|_| InstanceError::NoSolution)?;
        let x = through_cholesky(&R, &b).ok_or(InstanceError::NoSolution)?;
        Ok(instance(A, b, x, spectrum, lambda))
    }

    fn operators(&self) -> &'static [Operator] {
        SEMIDEFINITE_OPERATORS
    }

    fn inputs(&self) -> RegSet {
        RegSet::common_inputs().with(Reg::LAMBDA)
    }

    fn measures(&self) -> [&'static str; 2] {
        ["‖(A + λI)x − b‖/‖b‖", "‖x − x*‖/‖x*‖ in the norm of A + λI"]
    }

    fn explore_defaults(&self) -> ExploreDefaults {
        ExploreDefaults { reference: "Cholesky", ..ExploreDefaults::SHIFTED }
    }

    /// Cholesky, n³/3.
    fn direct(&self, _: f64, cols: f64) -> [f64; 2] {
        [cols.powi(3) / 3.0, 1.0]
    }

    fn units(&self) -> Option<TaskUnits> {
        Some(TaskUnits::SEMIDEFINITE)
    }

    /// In the norm of A + λI, which conjugate gradients minimize.
    fn best_step(&self, instance: &Instance, x: &[f64], v: &[f64], d: Option<&[f64]>) -> Option<(f64, f64)> {
        let error = linalg::sub(x, &instance.x_star);
        let [hv, hd] = [Some(v), d].map(|v| v.map(|v| image(instance, v)));
        Some(best_in_energy(&error, [v, &hv?], d.zip(hd.as_ref()).map(|(d, hd)| [d, &hd[..]])))
    }

    fn direct_solution(&self, instance: &Instance) -> Option<Vec<f64>> {
        let shifted = shifted_matrix(&instance.A, instance.lambda);
        through_cholesky(&linalg::cholesky_r(&shifted).ok()?, &instance.b)
    }

    fn looks_at_ends(&self) -> bool {
        true
    }
}

impl Spd {
    /// ‖x − x*‖/‖x*‖ in the norm of A + λI; absolute if x* = 0.
    fn energy_error(&self, instance: &Instance, x: &[f64]) -> f64 {
        let whole = instance.remember(ENERGY, || energy(instance, &instance.x_star));
        let error = energy(instance, &linalg::sub(x, &instance.x_star));
        if whole == 0.0 { error } else { error / whole }
    }
}

/// The key of ‖x*‖ in the norm of A + λI among the numbers that an instance remembers.
const ENERGY: u64 = 0x656e_6572_6779;

/// (A + λI)v.
fn image(instance: &Instance, v: &[f64]) -> Vec<f64> {
    shifted(&instance.A, instance.lambda, v)
}

fn shifted(A: &Matrix, lambda: f64, v: &[f64]) -> Vec<f64> {
    let mut image = linalg::symmetric_mat_vec(A, v);
    image.iter_mut().zip(v).for_each(|(i, v)| *i += lambda * v);
    image
}

/// A + λI.
fn shifted_matrix(A: &Matrix, lambda: f64) -> Matrix {
    Matrix::from_fn(A.rows(), A.cols(), |i, j| A.get(i, j) + if i == j { lambda } else { 0.0 })
}

/// ‖v‖ in the norm of A + λI. Rounding may leave less than nothing where v is nearly in the kernel of A.
fn energy(instance: &Instance, v: &[f64]) -> f64 {
    let square = linalg::dot(v, &image(instance, v));
    if square < 0.0 { 0.0 } else { square.sqrt() }
}

fn through_cholesky(R: &Matrix, b: &[f64]) -> Option<Vec<f64>> {
    linalg::solve_upper(R, &linalg::solve_upper_transposed(R, b).ok()?).ok()
}

fn instance(A: Matrix, b: Vec<f64>, x: Vec<f64>, spectrum: Vec<f64>, lambda: f64) -> Instance {
    let mut instance = Instance::posed(&Spd, A, b, x, 0.0, spectrum).with_lambda(lambda);
    instance.symmetric = true;
    instance
}

static FAMILIES: [FamilyInfo; 2] = [
    FamilyInfo {
        name: "spd",
        doc: "symmetric positive definite, evenly spaced eigenvalues, condition 2 by default, λ = 0",
        numbers: &[],
        draw: |family, stream| {
            let law = SpectrumLaw::Even;
            let lambda = spectrum::draw(law, family.cols, family.condition, &stream.derive("spectrum", 0));
            Ok(drawn(&lambda, 0.0, stream))
        },
        ..DECAY
    },
    DECAY,
];

const DECAY: FamilyInfo = FamilyInfo {
    name: "spd-decay",
    doc: "symmetric positive semidefinite, eigenvalues that fall geometrically from 1, shifted by λ",
    task: &Spd,
    rows: 200,
    cols: 200,
    square: true,
    options: &[Choice::Condition],
    numbers: &[
        Number {
            name: "lambda",
            doc: "λ, relative to the largest eigenvalue",
            default: 1e-5,
            least: 0.0,
            most: 1.0,
        },
        Number {
            name: "decay",
            doc: "the share of n after which the eigenvalues have fallen to 1/κ",
            default: 0.1,
            least: 0.01,
            most: 1.0,
        },
    ],
    draw: |family, stream| draw_decaying(family, stream),
};

/// The condition number of the leading eigenvalues if none is asked for.
const CONDITION: f64 = 1e8;

fn draw_decaying(family: &Family, stream: &Stream) -> Result<Instance, FamilyError> {
    let number = |name| family.number(name).expect("a number of this family");
    let (kappa, lead) = (family.condition.unwrap_or(CONDITION), number("decay") * family.cols as f64);
    let lambda: Vec<f64> = (0..family.cols).map(|i| kappa.powf(-(i as f64) / lead)).collect();
    Ok(drawn(&lambda, number("lambda"), stream))
}

/// The problem with these eigenvalues and x* ~ N(0, I).
fn drawn(lambda: &[f64], shift: f64, stream: &Stream) -> Instance {
    let (A, _) = random_matrices::symmetric(lambda, stream);
    let x = stream.derive("solution", 0).normals(lambda.len());
    let b = shifted(&A, shift, &x);
    instance(A, b, x, lambda.to_vec(), shift)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decaying(n: usize) -> Instance {
        let family = Family { rows: n, cols: n, condition: Some(1e4), ..Family::named("spd-decay").unwrap() };
        family.draw(&Stream::new(2)).unwrap()
    }

    #[test]
    fn the_excess_is_the_error_in_the_norm_of_the_shifted_matrix() {
        let instance = decaying(9);
        let entry = |i, j| instance.A.get(i, j) + if i == j { instance.lambda } else { 0.0 };
        let H = Matrix::from_fn(9, 9, entry);
        let energy = |v: &[f64]| linalg::dot(v, &linalg::mat_vec(&H, v)).sqrt();
        let x = Stream::new(3).normals(9);
        let expected = energy(&linalg::sub(&x, &instance.x_star)) / energy(&instance.x_star);
        let (residual, excess) = instance.measure(&x);
        assert!((excess / expected - 1.0).abs() < 1e-12, "{excess} {expected}");
        let left = linalg::norm(&linalg::sub(&linalg::mat_vec(&H, &x), &instance.b)) / instance.norm_b();
        assert!((residual / left - 1.0).abs() < 1e-12, "{residual} {left}");
        assert_eq!(instance.measure_excess(&x), Some(excess));
        assert!((instance.measure(&[0.0; 9]).1 - 1.0).abs() < 1e-12);
        assert!(instance.measure(&Spd.direct_solution(&instance).unwrap()).1 < 1e-12);
        assert!(instance.measure(&[f64::NAN; 9]).1.is_nan());
    }

    /// The first step along the residual is that of steepest descent, rᵀr/rᵀHr.
    #[test]
    fn the_oracle_steps_to_the_least_energy() {
        let instance = decaying(9);
        let r = linalg::scale(-1.0, &instance.b);
        let (alpha, none) = Spd.best_step(&instance, &[0.0; 9], &r, None).unwrap();
        let expected = linalg::dot(&r, &r) / linalg::dot(&r, &image(&instance, &r));
        assert!((alpha / expected - 1.0).abs() < 1e-12 && none == 0.0, "{alpha} {expected}");
    }

    #[test]
    fn eigenvalues_fall_at_the_rate_asked_for() {
        let instance = decaying(20);
        // A tenth of 20 columns: 1e-4 at the third.
        assert!((instance.spectrum()[2] / 1e-4 - 1.0).abs() < 1e-12);
        assert_eq!(instance.lambda, 1e-5);
        assert_eq!(Family::named("spd").unwrap().draw(&Stream::new(1)).unwrap().lambda, 0.0);
    }

    #[test]
    fn data_must_be_symmetric_and_definite() {
        let pose = |rows: &[&[f64]]| Spd.pose(Matrix::from_rows(rows), vec![1.0; rows.len()]);
        let posed = pose(&[&[2.0, 1.0], &[1.0, 3.0]]).unwrap();
        assert!(linalg::norm(&linalg::sub(&posed.x_star, &[0.4, 0.2])) < 1e-15);
        // A semidefinite matrix has a solution once it is shifted: ((1 1; 1 1) + 2I)x = (1, 1)ᵀ.
        let singular = || Matrix::from_rows(&[&[1.0, 1.0], &[1.0, 1.0]]);
        assert!(Spd.pose(singular(), vec![1.0; 2]).is_err());
        let posed = Spd.pose_shifted(singular(), vec![1.0; 2], 2.0).unwrap();
        assert!(linalg::norm(&linalg::sub(&posed.x_star, &[0.25, 0.25])) < 1e-15 && posed.lambda == 2.0);
        assert!(matches!(pose(&[&[1.0, 2.0], &[0.0, 1.0]]), Err(InstanceError::NotSymmetric { .. })));
        assert!(matches!(pose(&[&[1.0, 2.0], &[2.0, 1.0]]), Err(InstanceError::Negative { .. })));
        assert!(matches!(pose(&[&[1.0], &[2.0]]), Err(InstanceError::NotSquare { .. })));
    }
}

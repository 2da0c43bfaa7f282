//! Linear systems: min ‖Ax − b‖, the paper's first task.
#![allow(non_snake_case)]

use super::family::{Choice, Family, FamilyInfo, FamilyKind};
use super::family_error::FamilyError;
use super::goal::Goal;
use super::instance::Instance;
use super::instance_error::InstanceError;
use super::outline::Outline;
use super::plane::best_combination;
use super::random_matrices::{symmetric_system, tall_system};
use super::solving::{Solving, Stopping};
use super::spectrum::SpectrumLaw;
use super::task::Task;
use crate::linalg::{self, Matrix};
use crate::program::TaskUnits;
use crate::rng::Stream;

/// Linear systems and least squares.
pub struct Linear;

impl Task for Linear {
    fn name(&self) -> &'static str {
        "linear"
    }

    fn doc(&self) -> &'static str {
        "solve Ax ≈ b: find x that minimizes ‖Ax − b‖"
    }

    fn families(&self) -> &'static [FamilyInfo] {
        &FAMILIES
    }

    fn measure(&self, instance: &Instance, x: &[f64]) -> (f64, f64) {
        if instance.attainable() > 0.0 {
            return instance.residual_and_excess(x);
        }
        // For a consistent system the two are equal.
        let residual = instance.residual(x);
        (residual, residual)
    }

    fn excess(&self, instance: &Instance, x: &[f64]) -> Option<f64> {
        Some(if instance.attainable() > 0.0 { instance.excess(x) } else { instance.residual(x) })
    }

    fn pose(&self, A: Matrix, b: Vec<f64>) -> Result<Instance, InstanceError> {
        Instance::from_data(A, b)
    }

    /// Data only have to be finite. A symmetric A is recognized, so that programs for symmetric systems can be used
    /// too.
    fn pose_unsolved(&self, A: Matrix, b: Vec<f64>) -> Result<Instance, InstanceError> {
        InstanceError::check_finite(&A, &b)?;
        let mut instance = Instance::unsolved(&Linear, A, b);
        instance.symmetric = !instance.A.is_in_file() && instance.A.is_symmetric();
        Ok(instance)
    }

    fn solving(&self) -> Solving {
        Solving {
            stopping: Stopping::Certificate,
            scales_columns: true,
            streams: true,
            averages: true,
            centres_target: true,
        }
    }

    fn goal(&self) -> Goal {
        Goal::Squares
    }

    fn outline(&self, family: &Family, stream: &Stream) -> Option<Result<Outline, FamilyError>> {
        law(family.kind).map(|law| tall_system(family, law, stream))
    }

    fn measures(&self) -> [&'static str; 2] {
        ["‖Ax − b‖/‖b‖", "‖A(x − x*)‖/‖b‖"]
    }

    fn units(&self) -> Option<TaskUnits> {
        Some(TaskUnits::LINEAR)
    }

    /// Minimizes ‖A(x − x*) − αAv + αγAd‖.
    fn best_step(&self, instance: &Instance, x: &[f64], v: &[f64], d: Option<&[f64]>) -> Option<(f64, f64)> {
        let image = |v: &[f64]| linalg::mat_vec(&instance.A, v);
        let error = image(&linalg::sub(x, &instance.x_star));
        Some(best_combination(&error, &image(v), d.map(image).as_deref()))
    }

    fn direct_solution(&self, instance: &Instance) -> Option<Vec<f64>> {
        Some(linalg::least_squares(&instance.A, &instance.b))
    }

    fn is_isometric(&self) -> bool {
        true
    }

    fn is_least_squares(&self) -> bool {
        true
    }

    fn looks_at_ends(&self) -> bool {
        true
    }
}

/// The families of linear systems.
static FAMILIES: [FamilyInfo; 4] = [
    FamilyInfo {
        name: "psd",
        doc: "symmetric positive definite, evenly spaced eigenvalues, condition 2",
        rows: 5,
        cols: 5,
        square: true,
        options: &[Choice::Condition, Choice::Scale],
        draw: symmetric_system,
        ..TALL
    },
    FamilyInfo { name: "low-cond", doc: "tall, singular values evenly spaced in [1, 2]", ..TALL },
    FamilyInfo { name: "mid-cond", doc: "tall, singular values are squares of standard normals", ..TALL },
    FamilyInfo { name: "high-cond", doc: "tall, singular values 1/i^10, condition about 1e6", ..TALL },
];

const TALL: FamilyInfo = FamilyInfo {
    name: "",
    doc: "",
    task: &Linear,
    rows: 10_000,
    cols: 50,
    square: false,
    options: &[Choice::Condition, Choice::Leverage, Choice::Right, Choice::Outside, Choice::Scale],
    numbers: &[],
    draw: |family, stream| {
        let law = law(family.kind).expect("a tall family has a law");
        tall_system(family, law, stream).map(|outline| outline.instance())
    },
};

/// The distribution of the singular values of a tall family.
fn law(kind: FamilyKind) -> Option<SpectrumLaw> {
    let laws = [
        (FamilyKind::LOW_COND, SpectrumLaw::Low),
        (FamilyKind::MID_COND, SpectrumLaw::Mid),
        (FamilyKind::HIGH_COND, SpectrumLaw::High),
    ];
    laws.into_iter().find(|(other, _)| *other == kind).map(|(_, law)| law)
}

impl FamilyKind {
    /// Symmetric positive definite, eigenvalues linearly spaced in [λmax/κ, λmax].
    pub const PSD: FamilyKind = FamilyKind(&FAMILIES[0]);
    /// Singular values linearly spaced in [1, 2].
    pub const LOW_COND: FamilyKind = FamilyKind(&FAMILIES[1]);
    /// Singular values are squares of standard normals.
    pub const MID_COND: FamilyKind = FamilyKind(&FAMILIES[2]);
    /// Singular values 1/i¹⁰.
    pub const HIGH_COND: FamilyKind = FamilyKind(&FAMILIES[3]);
}

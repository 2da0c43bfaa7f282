//! Linear systems: min ‖Ax − b‖, the paper's first task.
#![allow(non_snake_case)]

use super::draw::{symmetric_system, tall_system};
use super::family::{Choice, FamilyInfo, Kind};
use super::instance::{Instance, InstanceError};
use super::spectrum::Law;
use super::task::Task;
use crate::linalg::Matrix;

/// Linear systems and least squares.
pub struct Linear;

impl Task for Linear {
    fn name(&self) -> &'static str {
        "linear"
    }

    fn doc(&self) -> &'static str {
        "solve Ax ≈ b: find x that makes ‖Ax − b‖ least"
    }

    fn families(&self) -> &'static [FamilyInfo] {
        &FAMILIES
    }

    fn measure(&self, instance: &Instance, x: &[f64]) -> (f64, f64) {
        let residual = instance.residual(x);
        // For a consistent system they are one.
        (residual, if instance.attainable() == 0.0 { residual } else { instance.excess(x) })
    }

    fn pose(&self, A: Matrix, b: Vec<f64>) -> Result<Instance, InstanceError> {
        Instance::from_data(A, b)
    }

    fn measures(&self) -> [&'static str; 2] {
        ["‖Ax − b‖/‖b‖", "‖A(x − x*)‖/‖b‖"]
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
    FamilyInfo {
        name: "low-cond",
        doc: "tall, singular values evenly spaced in [1, 2]",
        draw: |family, stream| tall_system(family, Law::Low, stream),
        ..TALL
    },
    FamilyInfo {
        name: "mid-cond",
        doc: "tall, singular values are squares of standard normals",
        draw: |family, stream| tall_system(family, Law::Mid, stream),
        ..TALL
    },
    FamilyInfo {
        name: "high-cond",
        doc: "tall, singular values 1/i^10, condition about 1e6",
        draw: |family, stream| tall_system(family, Law::High, stream),
        ..TALL
    },
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
    draw: symmetric_system,
};

impl Kind {
    /// Symmetric positive definite, eigenvalues linearly spaced in [λmax/κ, λmax].
    pub const PSD: Kind = Kind(&FAMILIES[0]);
    /// Singular values linearly spaced in [1, 2].
    pub const LOW_COND: Kind = Kind(&FAMILIES[1]);
    /// Singular values are squares of standard normals.
    pub const MID_COND: Kind = Kind(&FAMILIES[2]);
    /// Singular values 1/i¹⁰.
    pub const HIGH_COND: Kind = Kind(&FAMILIES[3]);
}

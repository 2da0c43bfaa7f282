//! Families of logistic problems: random matrices with noisy or separable labels.
#![allow(non_snake_case)]

use super::fit::fit;
use super::{Forward, Logistic, entropy, fitted};
use crate::linalg::{self, Matrix};
use crate::problem::family::{Choice, Family, FamilyInfo, Number};
use crate::problem::family_error::FamilyError;
use crate::problem::instance::Instance;
use crate::problem::random_matrices::{self, Tall};
use crate::problem::spectrum::SpectrumLaw;
use crate::rng::Stream;

/// The norm of A, for which the step size 4/‖A‖² of gradient descent is 1.
const NORM: f64 = 2.0;

/// Why labels without noise give no problem.
pub const SEPARABLE: &str = "its labels are linearly separable; use more rows or more noise";

pub(super) const NOISE: Number =
    Number { name: "noise", doc: "σ of the noise in the labels", default: 1.0, least: 0.0, most: 1e6 };
const SEPARATION: Number = Number {
    name: "separation",
    doc: "distance of each class mean from the separating plane, in standard deviations",
    default: 5.0,
    least: 0.0,
    most: 1e6,
};

/// The families of the fit, then those of the forward pass.
pub static FAMILIES: [FamilyInfo; 3] = [
    FamilyInfo {
        name: "logistic",
        doc: "noisy labels, geometrically spaced singular values, condition 2 by default",
        task: &Logistic,
        rows: 5000,
        cols: 50,
        square: false,
        options: &[Choice::Condition, Choice::Leverage, Choice::Right, Choice::Scale],
        numbers: &[NOISE],
        draw: |family, stream| {
            let Drawn { A, b, sigma, .. } = drawn(family, stream)?;
            let x_star = fit(&A, &b).ok_or(FamilyError::NoSolution { kind: family.kind, why: SEPARABLE })?;
            Ok(fitted(A, b, x_star, sigma))
        },
    },
    FamilyInfo {
        name: "logistic-separable",
        doc: "two linearly separable Gaussian classes: the loss has no minimum, and the excess is the loss itself",
        task: &Logistic,
        rows: 10_000,
        cols: 100,
        square: false,
        options: &[],
        numbers: &[SEPARATION],
        draw: separable,
    },
    FamilyInfo {
        name: "logistic-forward",
        doc: "labels as in `logistic`, and weights to compute their probabilities with",
        task: &Forward,
        rows: 50,
        cols: 10,
        square: false,
        options: &[Choice::Condition, Choice::Leverage, Choice::Right, Choice::Scale],
        numbers: &[NOISE],
        draw: |family, stream| {
            let Drawn { A, b, sigma, weights } = drawn(family, stream)?;
            let own = linalg::sigmoids(&linalg::mat_vec(&A, &weights));
            let mut instance = Instance::posed(&Forward, A, b, weights.clone(), entropy(&own), sigma);
            instance.start = weights;
            Ok(instance)
        },
    },
];

pub(super) struct Drawn {
    pub A: Matrix,
    pub b: Vec<f64>,
    pub sigma: Vec<f64>,
    weights: Vec<f64>,
}

/// A = UΣVᵀ, w* with Aw* = √m·Uz/‖z‖, and labels sign(Aw* + ε).
pub(super) fn drawn(family: &Family, stream: &Stream) -> Result<Drawn, FamilyError> {
    let tall = random_matrices::tall(family, SpectrumLaw::Geometric, NORM, stream)?;
    let A = tall.matrix(family, stream);
    let Tall { core, sigma } = tall;
    let z = stream.derive("solution", 0).normals(family.cols);
    let length = (family.rows as f64).sqrt() / linalg::norm(&z);
    // A = U·coreᵀ, so w* solves coreᵀ·w* = z.
    let weights = linalg::solve(&core.transpose(), &linalg::scale(length, &z))
        .map_err(|_| FamilyError::NoSpectrum { kind: family.kind })?;
    let noise = family.number("noise").unwrap_or(NOISE.default);
    let epsilon = stream.derive("noise", 0).normals(family.rows);
    let margins = linalg::mat_vec(&A, &weights);
    let b = margins.iter().zip(&epsilon).map(|(z, e)| f64::from(z + noise * e > 0.0)).collect();
    Ok(Drawn { A, b, sigma, weights })
}

/// Rows y·s·u + N(0, I) with a unit vector u, scaled to ‖A‖₂ = 2.
fn separable(family: &Family, stream: &Stream) -> Result<Instance, FamilyError> {
    let (rows, cols) = (family.rows, family.cols);
    let separation = family.number("separation").unwrap_or(SEPARATION.default);
    let u = stream.derive("direction", 0).normals(cols);
    let u = linalg::scale(separation / linalg::norm(&u), &u);
    let (noise, signs) =
        (stream.derive("rows", 0).normals(rows * cols), stream.derive("labels", 0).signs(rows));
    let A = Matrix::from_fn(rows, cols, |i, j| signs[i] * u[j] + noise[i * cols + j]);
    let sigma = linalg::singular_values(&A).ok_or(FamilyError::NoSpectrum { kind: family.kind })?;
    let unit = NORM / sigma[0];
    let (A, sigma) = (A.map(|a| a * unit), linalg::scale(unit, &sigma));
    let b: Vec<f64> = signs.iter().map(|y| 0.5 * (1.0 + y)).collect();
    Ok(match fit(&A, &b) {
        // Classes with a small separation overlap, and then there is a minimum.
        Some(x_star) => fitted(A, b, x_star, sigma),
        None => Instance::posed(&Logistic, A, b, vec![0.0; cols], 0.0, sigma),
    })
}

//! Eigenvalue problems: find the leading eigenvector of a positive semidefinite A, the paper's third task.
//!
//! Instances are A = QΛQᵀ with a Haar-distributed Q and log-uniform eigenvalues, the ends fixed at λmax = 1 and
//! λmax/κ. A run starts from a random unit vector, and every iteration computes the next iterate. The loss is the
//! relative distance of the Rayleigh quotient from the largest eigenvalue,
//!
//! 1 − ρ(x)/λmax,  ρ(x) = xᵀAx / xᵀx
//!
//! and x must have unit length; the loss of any other x is 1.
#![allow(non_snake_case)]

use super::explore_defaults::ExploreDefaults;
use super::family::{Choice, Family, FamilyInfo};
use super::family_error::FamilyError;
use super::goal::Goal;
use super::instance::Instance;
use super::instance_error::InstanceError;
use super::random_matrices;
use super::spectrum::{self, SpectrumLaw};
use super::task::{History, PASS_PRICE, Task, Work};
use crate::linalg::{self, Matrix};
use crate::program::{EIGENVALUE_OPERATORS, Operator, Reg, RegSet, Update};
use crate::rng::Stream;

/// Tolerance for the unit length of x.
const UNIT: f64 = 1e-6;
/// Tolerance for the symmetry of the data, relative to the largest entry.
const SYMMETRIC: f64 = 1e-12;
/// Tolerance for negative eigenvalues, relative to the largest.
const POSITIVE: f64 = 1e-12;
/// Decades of the excess, below that of a random start, over which the accuracy term grows from 0 to 1.
const DECADES: f64 = 4.0;

/// The task of finding the leading eigenvector.
pub struct Eigenvalue;

impl Task for Eigenvalue {
    fn name(&self) -> &'static str {
        "eigenvalue"
    }

    fn doc(&self) -> &'static str {
        "find the unit vector x that maximizes xᵀAx: the leading eigenvector of A"
    }

    fn families(&self) -> &'static [FamilyInfo] {
        &FAMILIES
    }

    fn measure(&self, instance: &Instance, x: &[f64]) -> (f64, f64) {
        let length = linalg::norm(x);
        if length.is_nan() || (length - 1.0).abs() > UNIT {
            return (1.0, 1.0);
        }
        let largest = instance.spectrum()[0];
        if largest == 0.0 {
            return (0.0, 0.0);
        }
        // 1 − ρ/λ = (x − αx*)ᵀ(λI − A)(x − αx*)/λ for every α: no cancellation near x*.
        let x = linalg::scale(length.recip(), x);
        let alpha = linalg::dot(&x, &instance.x_star);
        let rest = linalg::sub(&x, &linalg::scale(alpha, &instance.x_star));
        let above = linalg::dot(&rest, &rest)
            - linalg::dot(&rest, &linalg::symmetric_mat_vec(&instance.A, &rest)) / largest;
        let gap = if above.is_nan() { above } else { above.max(0.0) };
        (gap, gap)
    }

    fn pose(&self, A: Matrix, b: Vec<f64>) -> Result<Instance, InstanceError> {
        let (rows, cols) = (A.rows(), A.cols());
        if rows != cols {
            return Err(InstanceError::NotSquare { rows, cols });
        }
        // There is no right-hand side; one that is given is ignored.
        InstanceError::check(&A, &vec![0.0; rows])?;
        drop(b);
        let (A, lambda, vectors) = semidefinite(A)?;
        Ok(instance(A, vectors.column(0).to_vec(), lambda, &Stream::new(0)))
    }

    /// ‖Ax − ρx‖/ρ, or 1 − ρ/λmax if larger: an eigenvector of another eigenvalue is not a solution.
    fn optimality(&self, instance: &Instance, x: &[f64]) -> Result<f64, &'static str> {
        let (gap, _) = self.measure(instance, x);
        let y = linalg::mat_vec(&instance.A, x);
        let rho = rayleigh(x, &y);
        let residual = linalg::norm(&linalg::sub(&y, &linalg::scale(rho, x)));
        // For A = 0 every vector is an eigenvector.
        Ok(if residual == 0.0 { gap } else { (residual / (rho.abs() * linalg::norm(x))).max(gap) })
    }

    fn optimality_name(&self) -> &'static str {
        "‖Ax − λx‖/λ"
    }

    fn figures(&self, instance: &Instance, x: &[f64]) -> Vec<(&'static str, f64)> {
        vec![("eigenvalue", rayleigh(x, &linalg::mat_vec(&instance.A, x)))]
    }

    fn goal(&self) -> Goal {
        Goal::Eigenvector
    }

    fn update(&self) -> Update {
        Update::Assign
    }

    fn inputs(&self) -> RegSet {
        [Reg::A, Reg::X, Reg::D, Reg::MU].into_iter().collect()
    }

    fn operators(&self) -> &'static [Operator] {
        EIGENVALUE_OPERATORS
    }

    fn measures(&self) -> [&'static str; 2] {
        ["1 − ρ(x)/λmax", "1 − ρ(x)/λmax"]
    }

    /// The excess relative to that of the random start, on a logarithmic scale.
    fn accuracy(&self, history: &History) -> Option<f64> {
        let (first, last) = history.ends();
        Some(if last == 0.0 { 1.0 } else { ((first / last).log10() / DECADES).clamp(0.0, 1.0) })
    }

    /// Flops plus the cost of reading A, between 1/64 of an iteration of power iteration and two of them.
    fn thrift(&self, work: &Work) -> Option<f64> {
        let entries = work.sizes.cols * work.sizes.cols;
        let plain = (2.0 + PASS_PRICE) * entries;
        Some(work.cheapness(work.flops + PASS_PRICE * entries * work.passes, plain / 64.0, 2.0 * plain))
    }

    fn weights(&self) -> [f64; 4] {
        [1.0, 0.0, 3.0, 0.0]
    }

    fn looks_at_ends(&self) -> bool {
        true
    }

    fn explore_defaults(&self) -> ExploreDefaults {
        ExploreDefaults { reference: "an eigendecomposition", ..ExploreDefaults::LINEAR }
    }

    /// A full eigendecomposition, about 9n³.
    fn direct(&self, _: f64, cols: f64) -> [f64; 2] {
        [9.0 * cols.powi(3), 1.0]
    }

    fn pass_price(&self) -> f64 {
        PASS_PRICE
    }
}

/// ρ(x) = xᵀAx/xᵀx, for y = Ax.
fn rayleigh(x: &[f64], y: &[f64]) -> f64 {
    linalg::dot(x, y) / linalg::dot(x, x)
}

/// A symmetric positive semidefinite matrix, exactly symmetric from here on, with its eigenvalues, largest first, and its
/// eigenvectors; or what is wrong with it.
pub(super) fn semidefinite(A: Matrix) -> Result<(Matrix, Vec<f64>, Matrix), InstanceError> {
    let (rows, cols) = (A.rows(), A.cols());
    if rows != cols {
        return Err(InstanceError::NotSquare { rows, cols });
    }
    let entries = || (0..rows).flat_map(|i| (0..i).map(move |j| (i, j)));
    let largest = A.row_major().iter().fold(0.0f64, |largest, a| largest.max(a.abs()));
    let differs = |&(i, j): &(usize, usize)| (A.get(i, j) - A.get(j, i)).abs() > SYMMETRIC * largest;
    if let Some((row, col)) = entries().find(differs) {
        let (value, mirrored) = (A.get(row, col), A.get(col, row));
        return Err(InstanceError::NotSymmetric { row, col, value, mirrored });
    }
    let (lambda, vectors) = linalg::symmetric_eigen(&A).ok_or(InstanceError::NoSolution)?;
    let least = lambda[cols - 1];
    if least < -POSITIVE * lambda[0].abs().max(least.abs()) {
        return Err(InstanceError::Negative { eigenvalue: least });
    }
    // Exactly symmetric from here on; of the eigenvectors this is the matrix already.
    let lower = || Matrix::from_fn(rows, cols, |i, j| A.get(i.max(j), i.min(j)));
    let A = if A.is_symmetric() { A } else { lower() };
    Ok((A, lambda, vectors))
}

static FAMILIES: [FamilyInfo; 1] = [FamilyInfo {
    name: "eigenvalue",
    doc: "symmetric positive definite, log-uniform eigenvalues, condition 2 by default",
    task: &Eigenvalue,
    rows: 50,
    cols: 50,
    square: true,
    options: &[Choice::Condition],
    numbers: &[],
    draw,
}];

fn draw(family: &Family, stream: &Stream) -> Result<Instance, FamilyError> {
    let lambda =
        spectrum::draw(SpectrumLaw::LogUniform, family.cols, family.condition, &stream.derive("spectrum", 0));
    let (A, Q) = random_matrices::symmetric(&lambda, stream);
    Ok(instance(A, Q.column(0).to_vec(), lambda, stream))
}

/// The problem with this leading eigenvector and spectrum, with a random start.
fn instance(A: Matrix, leading: Vec<f64>, spectrum: Vec<f64>, stream: &Stream) -> Instance {
    let (n, start) = (A.cols(), stream.derive("start", 0).normals(A.cols()));
    let mut instance = Instance::posed(&Eigenvalue, A, vec![0.0; n], leading, 0.0, spectrum);
    instance.start = linalg::scale(linalg::norm(&start).recip(), &start);
    instance.symmetric = true;
    instance
}

#[cfg(test)]
mod tests;

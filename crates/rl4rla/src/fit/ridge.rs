//! Ridge regression for one λ or many.

use super::failure::FitError;
use super::weighted::WeightedSystem;
use crate::problem::Linear;
use crate::solve::{Problem, RidgePath, ridge_path};
use std::time::Instant;

/// Ridge regression in the units of the data.
#[must_use]
#[derive(Clone, PartialEq, Debug)]
pub struct RidgeFit {
    /// The solutions; residuals are relative to the target as it was given.
    pub path: RidgePath,
    /// For every λ a coefficient for every column of the data, then the intercept.
    pub coefficients: Vec<Vec<f64>>,
    /// Seconds taken by the solver.
    pub seconds: f64,
}

/// Fits the first right-hand side for every λ, with one factorisation. A and b are taken out of the system; its columns
/// stay. An intercept is not penalised.
pub fn fit_ridge(weighted: &mut WeightedSystem, lambdas: &[f64]) -> Result<RidgeFit, FitError> {
    let (a, b) = weighted.take();
    let columns = &weighted.system.columns;
    if a.is_sparse() && columns.intercept {
        return Err(FitError::SparseIntercept);
    }
    let begun = Instant::now();
    let mut path = ridge_path(&Problem::new(&Linear, a, b), lambdas, columns.intercept)?;
    path.points.iter_mut().for_each(|point| point.residual *= weighted.shrunk);
    let seconds = begun.elapsed().as_secs_f64();
    let coefficients = path.points.iter().map(|point| columns.coefficients(&point.x)).collect();
    Ok(RidgeFit { path, coefficients, seconds })
}

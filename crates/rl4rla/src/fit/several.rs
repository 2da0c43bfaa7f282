//! Several right-hand sides.

use super::failure::FitError;
use super::weighted::WeightedSystem;
use crate::linalg::{Matrix, norm};
use crate::problem::Linear;
use crate::solve::{Problem, SeveralSolutions, SolveError, SolveOptions, Speeds, auto_several};
use std::time::Instant;

/// Solutions for several right-hand sides in the units of the data.
#[must_use]
#[derive(Clone, PartialEq, Debug)]
pub struct SeveralFits {
    /// The solutions; residuals are relative to the targets as they were given.
    pub solutions: SeveralSolutions,
    /// For every right-hand side a coefficient for every column of the data, then the intercept.
    pub coefficients: Vec<Vec<f64>>,
    /// Seconds taken by the solver.
    pub seconds: f64,
}

/// Fits all right-hand sides by least squares. A is taken out of the system; its columns stay.
pub fn fit_several(
    weighted: &mut WeightedSystem,
    options: &SolveOptions,
    speeds: Speeds,
) -> Result<SeveralFits, FitError> {
    let (a, _) = weighted.take();
    let targets = std::mem::take(&mut weighted.targets);
    let (columns, rows) = (&weighted.system.columns, a.rows());
    let weight = |i: usize| weighted.weights.as_ref().map_or(1.0, |weights| weights[i]);
    let all: f64 = (0..rows).map(weight).sum();
    let mean = |b: &Vec<f64>| match columns.intercept {
        true => b.iter().enumerate().map(|(i, b)| b * (weight(i) / all)).sum(),
        false => 0.0,
    };
    let means: Vec<f64> = targets.iter().map(mean).collect();
    // A is that of the weighted problem already.
    let right = Matrix::from_fn(rows, targets.len(), |i, j| (targets[j][i] - means[j]) * weight(i).sqrt());
    let shrunk = |j: usize| {
        let given = targets[j].iter().enumerate().map(|(i, b)| b * weight(i).sqrt());
        match norm(&given.collect::<Vec<f64>>()) {
            0.0 => 1.0,
            size => norm(right.column(j)) / size,
        }
    };
    let shrunk: Vec<f64> = (0..targets.len()).map(shrunk).collect();
    drop(targets);
    let begun = Instant::now();
    let problem = Problem::new(&Linear, a, vec![]).with_noise(columns.noise()).map_err(SolveError::Data)?;
    let mut solutions = auto_several(problem, &right, options, speeds)?;
    let seconds = begun.elapsed().as_secs_f64();
    solutions.residuals.iter_mut().zip(shrunk).for_each(|(residual, shrunk)| *residual *= shrunk);
    let each = solutions.x.iter().zip(&means);
    let coefficients = each.map(|(x, mean)| columns.for_target(*mean).coefficients(x)).collect();
    Ok(SeveralFits { solutions, coefficients, seconds })
}

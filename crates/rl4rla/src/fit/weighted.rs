//! Systems that are ready to be solved: weighted, or centred where there is an intercept.

use super::failure::FitError;
use crate::data::System;
use crate::linalg::norm;
use crate::problem::Task;
use std::fmt;

/// A system with weights and further right-hand sides.
pub struct WeightedSystem {
    /// The system; A and b are those of the weighted, centred problem.
    pub system: System,
    /// All right-hand sides as they were given, if there are several.
    pub(super) targets: Vec<Vec<f64>>,
    pub(super) weights: Option<Vec<f64>>,
    /// ‖b‖ as it was given, rows weighted.
    pub(super) size: f64,
    /// ‖b‖ of the system relative to it.
    pub(super) shrunk: f64,
}

impl WeightedSystem {
    /// The system for a task: rows multiplied by √w, or columns of mean 0 where there is an intercept. The target is
    /// centred too if there is only one and the task allows it.
    ///
    /// # Panics
    /// If there is not a weight for every row.
    pub fn new(
        system: System,
        further: Vec<Vec<f64>>,
        weights: Option<Vec<f64>>,
        task: &dyn Task,
    ) -> Result<WeightedSystem, FitError> {
        let several = !further.is_empty();
        // Several targets are centred and weighted where each has its own mean.
        let targets = match several {
            true => std::iter::once(system.b.clone()).chain(further).collect(),
            false => vec![],
        };
        let (system, size) = match &weights {
            Some(weights) => {
                let size = system.b.iter().zip(weights).map(|(b, w)| b * b * w).sum::<f64>().sqrt();
                (system.weighted(weights).ok_or(FitError::WeightsNeedMemory)?, size)
            }
            None => {
                let size = norm(&system.b);
                let centred = system.centred();
                let centres = task.solving().centres_target && !several;
                (if centres { centred.with_target_centred() } else { centred }, size)
            }
        };
        // Reported numbers are in units of the target as it was given.
        let shrunk = if size > 0.0 { norm(&system.b) / size } else { 1.0 };
        Ok(WeightedSystem { system, targets, weights, size, shrunk })
    }

    /// Whether there are several right-hand sides.
    pub fn is_several(&self) -> bool {
        !self.targets.is_empty()
    }

    /// ‖b‖ of the first right-hand side as it was given, rows weighted.
    pub fn size(&self) -> f64 {
        self.size
    }
}

/// What is wrong with weights.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum RowWeightError {
    /// There are not as many as rows.
    Count {
        /// Number of weights.
        found: usize,
        /// Number of rows.
        rows: usize,
    },
    /// One is negative or not finite.
    Value {
        /// Its index.
        row: usize,
        /// The weight.
        value: f64,
    },
    /// All are zero.
    Zero,
}

impl fmt::Display for RowWeightError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            RowWeightError::Count { found, rows } => write!(f, "{found} weights for {rows} rows"),
            RowWeightError::Value { row, value } => write!(f, "weight {} is {value}", row + 1),
            RowWeightError::Zero => f.write_str("all weights are zero"),
        }
    }
}

impl std::error::Error for RowWeightError {}

/// Checks that there is a weight for every row, none negative, not all zero.
pub fn check_weights(weights: &[f64], rows: usize) -> Result<(), RowWeightError> {
    if weights.len() != rows {
        return Err(RowWeightError::Count { found: weights.len(), rows });
    }
    if let Some(row) = weights.iter().position(|w| !(w.is_finite() && *w >= 0.0)) {
        return Err(RowWeightError::Value { row, value: weights[row] });
    }
    if weights.iter().all(|w| *w == 0.0) { Err(RowWeightError::Zero) } else { Ok(()) }
}

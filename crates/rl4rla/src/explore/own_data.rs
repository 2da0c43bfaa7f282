//! The programs of a hall of fame on the data that the problems of the search resemble.
#![allow(non_snake_case)]

use super::exploration::HallEntry;
use super::problem_set::{ProblemSet, RunEnding};
use super::spec::ExploreSpec;
use crate::execute::PreparedInstance;
use crate::linalg::{self, ColumnMap, Matrix};
use crate::problem::{Family, InstanceError, Linear, Task};
use crate::rng::Stream;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// What a program did on data, with the tunables that it was given on drawn problems.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct DataRun {
    /// How it ended.
    pub ending: RunEnding,
    /// The excess to reach: that of the search, or ten times that of Householder QR on the data if it is larger.
    pub tolerance: f64,
    /// Iterations made.
    pub iterations: usize,
    /// Passes over A that were made.
    pub passes: usize,
    /// The smallest ‖A(x − x*)‖/‖b‖, if it is finite.
    pub excess: Option<f64>,
    /// ‖Ax − b‖/‖b‖ there.
    pub residual: Option<f64>,
}

/// A linear system of a user.
pub struct OwnData {
    prepared: Arc<PreparedInstance>,
    /// The smallest possible ‖Ax − b‖/‖b‖.
    attainable: f64,
}

impl OwnData {
    /// The problem of A and b. Columns are scaled to norm 1, as for the estimate of the condition number, and then A to norm
    /// 1, as all drawn problems are: a step size suits both.
    pub fn new(A: Matrix, b: Vec<f64>) -> Result<OwnData, InstanceError> {
        let by_norms = |A: Matrix, norms| {
            let shift = vec![0.0; A.cols()];
            A.map_columns(ColumnMap::all(shift, norms))
        };
        let norms = linalg::column_norms(&A);
        let A = by_norms(A, norms);
        InstanceError::check(&A, &b)?;
        let spectrum = linalg::singular_values(&linalg::qr_r(&A)).ok_or(InstanceError::NoSolution)?;
        let largest = spectrum.first().copied().filter(|s| *s > 0.0).ok_or(InstanceError::NoSolution)?;
        let size = vec![largest; A.cols()];
        let instance = Linear.pose(by_norms(A, size), b)?;
        let attainable = instance.attainable();
        Ok(OwnData { prepared: Arc::new(PreparedInstance::new(instance)), attainable })
    }

    /// Runs a program on the data as on the final instances of the search.
    pub fn run(&self, spec: &ExploreSpec, entry: &HallEntry) -> DataRun {
        let shape = self.prepared.shape();
        let family = Family { rows: shape.rows, cols: shape.cols, ..spec.family };
        let stream = Stream::new(spec.seed).derive("own-data", 0);
        let problems = ProblemSet::posed(spec, vec![self.prepared.clone()], spec.settings(&family), &stream)
            .tuned(&entry.tunables);
        let run = problems.run_true(&entry.program, 0);
        let excess =
            Some(run.excess).filter(|excess| excess.is_finite() && run.ending != RunEnding::BrokeDown);
        DataRun {
            ending: run.ending,
            tolerance: problems.tolerance(0),
            iterations: run.iterations,
            passes: run.passes,
            excess,
            // The error A(x − x*) is orthogonal to the residual of x*.
            residual: excess.map(|excess| self.attainable.hypot(excess)),
        }
    }
}

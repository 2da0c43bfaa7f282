//! The user's data, and the task they pose a problem of.

use super::error::{SolveError, Unsupported};
use super::options::{RankDeficient, SolveOptions};
use crate::linalg::Matrix;
use crate::problem::{InstanceError, Linear, Stopping, Task};
use crate::program::Reg;

/// Data of a problem. They are checked by [`solve`](super::solve), not before.
#[derive(Clone, PartialEq, Debug)]
pub struct Problem {
    pub(super) task: &'static dyn Task,
    pub(super) matrix: Matrix,
    pub(super) b: Vec<f64>,
    pub(super) noise: Vec<f64>,
    pub(super) lambda: f64,
    pub(super) free: Vec<usize>,
}

impl Problem {
    /// The problem of a task on these data, with an empty b for tasks that need none. A should be made by
    /// [`Matrix::from_row_major`], or every product is sequential.
    #[allow(non_snake_case)]
    pub fn new(task: &'static dyn Task, A: Matrix, b: Vec<f64>) -> Problem {
        Problem { task, noise: vec![1.0; A.cols()], matrix: A, b, lambda: 0.0, free: vec![] }
    }

    /// Least squares, min ‖Ax − b‖, on numbers in memory: the entries of A row by row, and b. A `Vec` is taken as it
    /// is, a slice is copied once.
    ///
    /// ```
    /// use rl4rla::solve::Problem;
    /// assert!(Problem::from_rows(3, 1, [1.0, 2.0, 3.0], [2.0, 4.0, 6.0]).is_ok());
    /// let error = Problem::from_rows(3, 2, [1.0, 2.0, 3.0], [2.0, 4.0, 6.0]).unwrap_err();
    /// assert_eq!(error.to_string(), "A should be 6 numbers for this shape, got 3");
    /// ```
    pub fn from_rows(
        rows: usize,
        cols: usize,
        entries: impl Into<Vec<f64>>,
        b: impl Into<Vec<f64>>,
    ) -> Result<Problem, InstanceError> {
        let (entries, b) = (entries.into(), b.into());
        InstanceError::check_count("A", rows.saturating_mul(cols), entries.len())?;
        InstanceError::check_count("b", rows, b.len())?;
        Ok(Problem::new(&Linear, Matrix::from_row_major(rows, cols, entries), b))
    }

    /// The same data as a problem of another task.
    pub fn for_task(self, task: &'static dyn Task) -> Problem {
        Problem { task, ..self }
    }

    /// Sets the rounding error of each column, in units of ε times its length: more than 1 if something large was
    /// subtracted from it. It is used to decide which columns are dependent.
    pub fn with_noise(self, noise: Vec<f64>) -> Result<Problem, InstanceError> {
        InstanceError::check_count("the rounding of columns", self.matrix.cols(), noise.len())?;
        Ok(Problem { noise, ..self })
    }

    /// The same with this λ, for ridge regression and shifted systems; at least 0, and 0 otherwise.
    pub fn with_lambda(self, lambda: f64) -> Problem {
        Problem { lambda, ..self }
    }

    /// Exempts columns from λ, such as that of an intercept.
    ///
    /// ```
    /// use rl4rla::{linalg::Matrix, problem::RidgeLogistic, program::Entry, solve::{Problem, SolveOptions, solve}};
    /// // A column of zeros and an intercept: however large λ is, σ(x₂) = 3/4.
    /// let A = Matrix::from_row_major(4, 2, vec![0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0]);
    /// let problem = Problem::new(&RidgeLogistic, A, vec![1.0, 1.0, 0.0, 1.0]).with_lambda(100.0);
    /// let newton = &Entry::named("regularized-newton").unwrap().document;
    /// let solution = solve(newton, problem.with_free_columns(vec![1]), &SolveOptions::default()).unwrap();
    /// let x = solution.into_x().unwrap();
    /// assert!(x[0] == 0.0 && (x[1] - 3f64.ln()).abs() < 1e-9);
    /// ```
    pub fn with_free_columns(self, free: Vec<usize>) -> Problem {
        Problem { free, ..self }
    }

    /// An error if the options ask for something that the task does not support.
    pub(super) fn admits(&self, options: &SolveOptions) -> Result<(), SolveError> {
        let solving = self.task.solving();
        let refused = [
            (self.task.update().is_answer(), Unsupported::Answers),
            (self.matrix.is_in_file() && !solving.streams, Unsupported::File),
            (self.matrix.is_sparse() && !solving.streams, Unsupported::Sparse),
            (self.lambda != 0.0 && !self.task.inputs().contains(Reg::LAMBDA), Unsupported::Lambda),
            (
                self.lambda != 0.0 && !self.free.is_empty() && !solving.scales_columns,
                Unsupported::FreeColumns,
            ),
            (options.average && !solving.averages, Unsupported::Average),
            (
                options.rank_deficient != RankDeficient::Refuse && solving.stopping != Stopping::Certificate,
                Unsupported::RankDeficient,
            ),
        ];
        match refused.into_iter().find(|(refused, _)| *refused) {
            Some((_, what)) => Err(SolveError::Unsupported { task: self.task.name(), what }),
            None => Ok(()),
        }
    }
}

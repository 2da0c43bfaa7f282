//! Input and output of a baseline.
#![allow(non_snake_case)]

use super::error::BaselineError;
use crate::linalg::{self, Matrix};
use crate::rng::Stream;

/// The rank of a low-rank approximation if none is asked for.
const RANK: usize = 10;

/// A problem to solve: min ‖Ax − b‖, or the logistic fit of the labels b.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The matrix. If made by [`Matrix::from_row_major`], it is read by all threads of the pool.
    pub A: &'a Matrix,
    /// The right-hand side; labels 0 or 1 for logistic regression.
    pub b: &'a [f64],
    /// λ, for solvers of regularized or shifted problems; 0 by default.
    pub lambda: f64,
    /// The rank of a low-rank approximation; 10 for `None`, and always less than n.
    pub rank: Option<usize>,
    /// Tolerance; each solver documents what it compares, and has its own default for `None`.
    pub tolerance: Option<f64>,
    /// Iteration limit; each solver has its own default for `None`.
    pub iterations: Option<usize>,
    /// RNG stream.
    pub stream: Stream,
}

impl<'a> Request<'a> {
    /// The problem of these data with the solver's defaults.
    pub fn new(A: &'a Matrix, b: &'a [f64], stream: Stream) -> Request<'a> {
        Request { A, b, lambda: 0.0, rank: None, tolerance: None, iterations: None, stream }
    }

    /// The rank asked for, at least 1 and less than n.
    pub(super) fn rank_below(&self, n: usize) -> usize {
        self.rank.unwrap_or(RANK).clamp(1, (n - 1).max(1))
    }

    /// m and n; an error if A is empty or a number is not finite.
    pub(super) fn any_shape(&self) -> Result<(usize, usize), BaselineError> {
        let (rows, cols) = (self.A.rows(), self.A.cols());
        if rows == 0 || cols == 0 {
            return Err(BaselineError::Empty { rows, cols });
        }
        if self.b.len() != rows {
            return Err(BaselineError::Length { rows, length: self.b.len() });
        }
        if !self.A.is_finite() || !linalg::is_finite(self.b) {
            return Err(BaselineError::NotFinite);
        }
        Ok((rows, cols))
    }

    /// The same; also an error if A is wide.
    pub(super) fn tall(&self) -> Result<(usize, usize), BaselineError> {
        let (rows, cols) = self.any_shape()?;
        if rows < cols { Err(BaselineError::Wide { rows, cols }) } else { Ok((rows, cols)) }
    }

    /// n; an error if A is not square.
    pub(super) fn square(&self) -> Result<usize, BaselineError> {
        let (rows, cols) = self.any_shape()?;
        if rows == cols { Ok(cols) } else { Err(BaselineError::NotSquare { rows, cols }) }
    }

    /// The same for labels, which must be 0 or 1.
    pub(super) fn labelled(&self) -> Result<(usize, usize), BaselineError> {
        let shape = self.any_shape()?;
        match self.b.iter().position(|b| *b != 0.0 && *b != 1.0) {
            Some(row) => Err(BaselineError::Label { row, value: self.b[row] }),
            None => Ok(shape),
        }
    }
}

/// The result of a solver.
#[derive(Clone, PartialEq, Debug)]
pub struct BaselineSolution {
    /// The solution, every entry finite.
    pub x: Vec<f64>,
    /// Iterations made; 0 for a direct method.
    pub iterations: usize,
    /// Number of passes over A, partial ones as fractions.
    pub passes: f64,
    /// Whether the tolerance was reached; always true for direct methods.
    pub converged: bool,
}

impl BaselineSolution {
    /// A solution; an error if x is not finite.
    pub(super) fn new(
        x: Vec<f64>,
        iterations: usize,
        passes: f64,
        converged: bool,
    ) -> Result<BaselineSolution, BaselineError> {
        match linalg::is_finite(&x) {
            true => Ok(BaselineSolution { x, iterations, passes, converged }),
            false => Err(BaselineError::Diverged { iteration: iterations }),
        }
    }

    /// The solution of a direct method.
    pub(super) fn direct(x: Vec<f64>, passes: f64) -> Result<BaselineSolution, BaselineError> {
        match linalg::is_finite(&x) {
            true => Ok(BaselineSolution { x, iterations: 0, passes, converged: true }),
            false => Err(BaselineError::Numeric(linalg::NumericError::NotFinite)),
        }
    }
}

//! What a baseline is given, and what it gives.
#![allow(non_snake_case)]

use super::error::BaselineError;
use crate::linalg::{self, Matrix};
use crate::rng::Stream;

/// A problem to solve: min ‖Ax − b‖, or the logistic fit of the labels b.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The matrix. One made by [`Matrix::from_row_major`] is read by all threads of the pool.
    pub A: &'a Matrix,
    /// The right-hand side; labels 0 or 1 for logistic regression.
    pub b: &'a [f64],
    /// When to stop; each solver says what it compares, and has a tolerance of its own for `None`.
    pub tolerance: Option<f64>,
    /// The most iterations; each solver has a number of its own for `None`.
    pub iterations: Option<usize>,
    /// Where random numbers come from.
    pub stream: Stream,
}

impl<'a> Request<'a> {
    /// The problem of these data, solved as each solver sees fit.
    pub fn new(A: &'a Matrix, b: &'a [f64], stream: Stream) -> Request<'a> {
        Request { A, b, tolerance: None, iterations: None, stream }
    }

    /// m and n, if there is something to solve and every number is finite.
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

    /// The same, if A is not wide.
    pub(super) fn tall(&self) -> Result<(usize, usize), BaselineError> {
        let (rows, cols) = self.any_shape()?;
        if rows < cols { Err(BaselineError::Wide { rows, cols }) } else { Ok((rows, cols)) }
    }

    /// n, if A is square.
    pub(super) fn square(&self) -> Result<usize, BaselineError> {
        let (rows, cols) = self.any_shape()?;
        if rows == cols { Ok(cols) } else { Err(BaselineError::NotSquare { rows, cols }) }
    }

    /// The same for labels.
    pub(super) fn labelled(&self) -> Result<(usize, usize), BaselineError> {
        let shape = self.any_shape()?;
        match self.b.iter().position(|b| *b != 0.0 && *b != 1.0) {
            Some(row) => Err(BaselineError::Label { row, value: self.b[row] }),
            None => Ok(shape),
        }
    }
}

/// What a solver found.
#[derive(Clone, PartialEq, Debug)]
pub struct BaselineSolution {
    /// The solution, every entry finite.
    pub x: Vec<f64>,
    /// Iterations made; 0 for a direct method.
    pub iterations: usize,
    /// How many times all of A was read; a part for a part.
    pub passes: f64,
    /// Whether the tolerance was reached; a direct method has none to miss.
    pub converged: bool,
}

impl BaselineSolution {
    /// A solution, unless it is no point.
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

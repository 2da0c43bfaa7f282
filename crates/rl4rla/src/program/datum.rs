//! The value of a register while a program runs.

use crate::linalg::{self, Matrix};
use crate::rng::Discrete;
use std::sync::Arc;

/// A value. Copies are cheap: an iteration starts from the values after setup, which never change.
#[derive(Clone, Debug)]
pub enum Datum {
    /// A number.
    Scalar(f64),
    /// A vector.
    Vector(Arc<Vec<f64>>),
    /// A matrix.
    Matrix(Arc<Matrix>),
    /// Probabilities over rows.
    Weights(Arc<Discrete>),
}

impl From<f64> for Datum {
    fn from(number: f64) -> Datum {
        Datum::Scalar(number)
    }
}

impl From<Vec<f64>> for Datum {
    fn from(vector: Vec<f64>) -> Datum {
        Datum::Vector(Arc::new(vector))
    }
}

impl From<Matrix> for Datum {
    fn from(matrix: Matrix) -> Datum {
        Datum::Matrix(Arc::new(matrix))
    }
}

impl From<Discrete> for Datum {
    fn from(weights: Discrete) -> Datum {
        Datum::Weights(Arc::new(weights))
    }
}

impl Datum {
    /// Rows and columns; a vector is one column.
    pub fn shape(&self) -> (usize, usize) {
        match self {
            Datum::Scalar(_) => (1, 1),
            Datum::Vector(v) => (v.len(), 1),
            Datum::Matrix(m) => (m.rows(), m.cols()),
            Datum::Weights(w) => (w.len(), 1),
        }
    }

    /// Whether every entry is a finite number.
    pub fn is_finite(&self) -> bool {
        match self {
            Datum::Scalar(a) => a.is_finite(),
            Datum::Vector(v) => linalg::is_finite(v),
            Datum::Matrix(m) => m.is_finite(),
            Datum::Weights(_) => true,
        }
    }

    /// The number; the type checker guarantees that it is one.
    pub fn scalar(&self) -> f64 {
        match self {
            Datum::Scalar(a) => *a,
            other => unreachable!("typing promised a scalar, not {:?}", other.shape()),
        }
    }

    /// The vector; the type checker guarantees that it is one.
    pub fn vector(&self) -> &[f64] {
        match self {
            Datum::Vector(v) => v,
            other => unreachable!("typing promised a vector, not {:?}", other.shape()),
        }
    }

    /// The matrix; the type checker guarantees that it is one.
    pub fn matrix(&self) -> &Matrix {
        self.shared_matrix()
    }

    /// The matrix, to be kept.
    pub fn shared_matrix(&self) -> &Arc<Matrix> {
        match self {
            Datum::Matrix(m) => m,
            other => unreachable!("typing promised a matrix, not {:?}", other.shape()),
        }
    }

    /// The probabilities; the type checker guarantees that it holds some.
    pub fn weights(&self) -> &Arc<Discrete> {
        match self {
            Datum::Weights(w) => w,
            other => unreachable!("typing promised probabilities, not {:?}", other.shape()),
        }
    }
}

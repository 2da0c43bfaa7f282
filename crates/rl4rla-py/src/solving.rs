//! The command `solve` on arrays.

use crate::arrays::GivenMatrix;
use crate::failure::refused;
use crate::waiting::wait;
use numpy::{PyArray2, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rl4rla::data::System;
use rl4rla::fit::check_weights;
use rl4rla_cli::embedded::{GivenData, solve_in_memory};
use std::ffi::OsString;

/// What `solve` gives back: the JSON document, the exit code and a row of coefficients for every right-hand side or λ.
type Solved<'py> = (String, u8, Bound<'py, PyArray2<f64>>);

/// Solves for every column of `b`, with the arguments of the command.
#[pyfunction]
#[pyo3(signature = (arguments, matrix, b, names, weights, intercept, standardise, threads))]
#[allow(clippy::too_many_arguments)]
pub fn solve<'py>(
    py: Python<'py>,
    arguments: Vec<OsString>,
    matrix: GivenMatrix<'py>,
    b: PyReadonlyArray2<'py, f64>,
    names: Option<Vec<String>>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    intercept: bool,
    standardise: bool,
    threads: usize,
) -> PyResult<Solved<'py>> {
    let matrix = matrix.matrix()?;
    let (rows, cols) = (matrix.rows(), matrix.cols());
    if rows != b.shape()[0] {
        let message = format!("A has {rows} rows, but b has {}", b.shape()[0]);
        return Err(PyValueError::new_err(message));
    }
    if names.as_ref().is_some_and(|names| names.len() != cols) {
        return Err(PyValueError::new_err(format!("A has {cols} columns, but not as many names")));
    }
    let weights = weights.map(|weights| weights.as_array().to_vec());
    if let Some(weights) = &weights {
        check_weights(weights, rows).map_err(|error| PyValueError::new_err(error.to_string()))?;
    }
    let b = b.as_array();
    let mut targets = b.columns().into_iter().map(|column| column.to_vec());
    let Some(first) = targets.next() else {
        return Err(PyValueError::new_err("b should have at least one column"));
    };
    let further: Vec<Vec<f64>> = targets.collect();
    let work = move || {
        let system = System::in_memory(matrix, first, names.as_deref(), intercept, standardise);
        solve_in_memory(&arguments, GivenData { system, further, weights })
    };
    let (answer, found) = wait(py, threads, None, work)?.map_err(refused)?;
    let coefficients = PyArray2::from_vec2(py, &found)
        .map_err(|error| PyValueError::new_err(format!("coefficients of unequal number: {error}")))?;
    Ok((answer.json.to_string(), answer.code, coefficients))
}

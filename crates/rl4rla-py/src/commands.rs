//! Commands, with their results as the text of their JSON documents.

use crate::arrays::GivenMatrix;
use crate::failure::refused;
use crate::waiting::wait;
use numpy::PyReadonlyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rl4rla::data::System;
use rl4rla_cli::embedded;
use std::ffi::OsString;

/// Runs a command on the arguments that would be typed after `rl4rla`; its JSON document, and its exit code.
#[pyfunction]
#[pyo3(signature = (arguments, threads=0, progress=None))]
pub fn call(
    py: Python<'_>,
    arguments: Vec<OsString>,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<(String, u8)> {
    let answer = wait(py, threads, progress, move || embedded::call(&arguments))?.map_err(refused)?;
    Ok((answer.json.to_string(), answer.code))
}

/// The command `compare` on arrays.
#[pyfunction]
#[pyo3(signature = (arguments, matrix, b, intercept, standardise, progress=None))]
pub fn compare(
    py: Python<'_>,
    arguments: Vec<OsString>,
    matrix: GivenMatrix<'_>,
    b: PyReadonlyArray1<'_, f64>,
    intercept: bool,
    standardise: bool,
    progress: Option<Py<PyAny>>,
) -> PyResult<(String, u8)> {
    let system = system(&matrix, &b, None, intercept, standardise)?;
    let work = move || embedded::compare_in_memory(&arguments, system);
    let answer = wait(py, 0, progress, work)?.map_err(refused)?;
    Ok((answer.json.to_string(), answer.code))
}

/// The command `explore` for arrays.
#[pyfunction]
#[pyo3(signature = (arguments, matrix, b, names, intercept, standardise, threads=0, progress=None))]
#[allow(clippy::too_many_arguments)]
pub fn explore(
    py: Python<'_>,
    arguments: Vec<OsString>,
    matrix: GivenMatrix<'_>,
    b: PyReadonlyArray1<'_, f64>,
    names: Option<Vec<String>>,
    intercept: bool,
    standardise: bool,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<(String, u8)> {
    let system = system(&matrix, &b, names.as_deref(), intercept, standardise)?;
    let work = move || embedded::explore_in_memory(&arguments, system);
    let answer = wait(py, threads, progress, work)?.map_err(refused)?;
    Ok((answer.json.to_string(), answer.code))
}

/// The system of A and one right-hand side.
fn system(
    matrix: &GivenMatrix<'_>,
    b: &PyReadonlyArray1<'_, f64>,
    names: Option<&[String]>,
    intercept: bool,
    standardise: bool,
) -> PyResult<System> {
    let (matrix, b) = (matrix.matrix()?, b.as_array().to_vec());
    if matrix.rows() != b.len() {
        let message = format!("A has {} rows, but b has {} entries", matrix.rows(), b.len());
        return Err(PyValueError::new_err(message));
    }
    Ok(System::in_memory(matrix, b, names, intercept, standardise))
}

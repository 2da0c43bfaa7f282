//! Truncated singular value decompositions.

use crate::arrays::GivenMatrix;
use crate::waiting::wait;
use numpy::{PyArray1, PyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rl4rla::linalg::Matrix;
use rl4rla::solve::{SpectralOptions, truncated_svd as svd};

/// The k largest singular triplets, with what is known of their accuracy.
#[pyfunction]
#[pyo3(signature = (matrix, k, tolerance, passes, seed, threads))]
pub fn truncated_svd<'py>(
    py: Python<'py>,
    matrix: GivenMatrix<'py>,
    k: usize,
    tolerance: f64,
    passes: usize,
    seed: u64,
    threads: usize,
) -> PyResult<Bound<'py, PyDict>> {
    let matrix = matrix.matrix()?;
    let options = SpectralOptions { tolerance, passes, seed, ..SpectralOptions::default() };
    let found = wait(py, threads, None, move || svd(&matrix, k, &options))?
        .map_err(|error| PyValueError::new_err(error.to_string()))?;
    let result = PyDict::new(py);
    let columns = |matrix: &Matrix| {
        let rows: Vec<Vec<f64>> = (0..matrix.rows()).map(|i| matrix.row(i).to_vec()).collect();
        PyArray2::from_vec2(py, &rows).expect("rows of equal length")
    };
    let pairs = found.estimate();
    result.set_item("values", PyArray1::from_slice(py, &pairs.values))?;
    result.set_item("right", columns(&pairs.right))?;
    result.set_item("left", pairs.left.as_ref().map(columns))?;
    result.set_item("residuals", PyArray1::from_slice(py, &found.residuals))?;
    result.set_item("orthogonality", found.orthogonality)?;
    result.set_item("converged", found.is_converged())?;
    result.set_item("obstacle", found.obstacle.clone())?;
    result.set_item("passes", found.passes)?;
    result.set_item("method", found.method.words())?;
    Ok(result)
}

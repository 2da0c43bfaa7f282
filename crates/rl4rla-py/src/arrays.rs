//! Arrays of NumPy and SciPy as matrices of the library.

use numpy::{PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rl4rla::linalg::{Matrix, Sparse};
use std::sync::Arc;

/// The entries of an array that Python owns.
struct Lent {
    entries: *const f64,
    count: usize,
    _owner: Py<PyAny>,
}

// SAFETY: the memory is only read, and the owner is only dropped, which PyO3 defers to a thread that holds the GIL.
#[allow(unsafe_code)]
unsafe impl Send for Lent {}
// SAFETY: as above.
#[allow(unsafe_code)]
unsafe impl Sync for Lent {}

impl AsRef<[f64]> for Lent {
    #[allow(unsafe_code)]
    fn as_ref(&self) -> &[f64] {
        // SAFETY: the owner keeps the array alive, and NumPy never moves the memory of an array that is referred to.
        unsafe { std::slice::from_raw_parts(self.entries, self.count) }
    }
}

/// A matrix that reads an array in place, which must be C-contiguous.
pub fn dense(array: &PyReadonlyArray2<'_, f64>) -> PyResult<Matrix> {
    let [rows, cols] = [array.shape()[0], array.shape()[1]];
    let entries = array.as_slice().map_err(|_| PyValueError::new_err("the array should be C-contiguous"))?;
    let owner = array.as_any().clone().unbind();
    let lent = Lent { entries: entries.as_ptr(), count: entries.len(), _owner: owner };
    Ok(Matrix::from_lent_rows(rows, cols, Arc::new(lent)))
}

/// A sparse matrix by compressed rows, as SciPy keeps them: sorted columns, no duplicates.
pub fn sparse(
    (rows, cols): (usize, usize),
    starts: &PyReadonlyArray1<'_, i64>,
    columns: &PyReadonlyArray1<'_, i32>,
    values: &PyReadonlyArray1<'_, f64>,
) -> PyResult<Matrix> {
    let broken = || PyValueError::new_err("the sparse matrix is not a valid CSR matrix");
    let starts: Option<Vec<usize>> =
        starts.as_slice().map_err(|_| broken())?.iter().map(|start| usize::try_from(*start).ok()).collect();
    let columns: Option<Vec<u32>> =
        columns.as_slice().map_err(|_| broken())?.iter().map(|column| u32::try_from(*column).ok()).collect();
    let values = values.as_slice().map_err(|_| broken())?.to_vec();
    let (Some(starts), Some(columns)) = (starts, columns) else { return Err(broken()) };
    let sparse = Sparse::from_parts(rows, cols, starts, columns, values).ok_or_else(broken)?;
    Ok(Matrix::from_sparse(sparse))
}

/// The matrix that the package hands over: an array, or the shape and the parts of a sparse matrix.
#[derive(FromPyObject)]
pub enum GivenMatrix<'py> {
    /// A C-contiguous array.
    Dense(PyReadonlyArray2<'py, f64>),
    /// Shape, starts, columns and values.
    Sparse(
        (usize, usize),
        PyReadonlyArray1<'py, i64>,
        PyReadonlyArray1<'py, i32>,
        PyReadonlyArray1<'py, f64>,
    ),
}

impl GivenMatrix<'_> {
    /// The matrix of the library.
    pub fn matrix(&self) -> PyResult<Matrix> {
        match self {
            GivenMatrix::Dense(array) => dense(array),
            GivenMatrix::Sparse(shape, starts, columns, values) => sparse(*shape, starts, columns, values),
        }
    }
}

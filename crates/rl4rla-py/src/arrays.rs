//! Arrays of NumPy and SciPy as matrices of the library.

use numpy::{Element, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rl4rla::linalg::{Matrix, RowSource, Sparse};
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

/// A matrix that reads an array in place: as it is if it is C-contiguous, else part by part.
fn dense(array: &PyReadonlyArray2<'_, f64>) -> Matrix {
    // An F-contiguous array would be a slice too, in another order.
    let entries = match array.as_slice() {
        Ok(entries) if array.is_c_contiguous() => entries,
        _ => return strided(array),
    };
    let owner = array.as_any().clone().unbind();
    let lent = Lent { entries: entries.as_ptr(), count: entries.len(), _owner: owner };
    Matrix::from_lent_rows(array.shape()[0], array.shape()[1], Arc::new(lent))
}

/// A matrix that reads an array of any strides part by part.
fn strided<T: Element + Copy + Into<f64> + 'static>(array: &PyReadonlyArray2<'_, T>) -> Matrix {
    let [rows, cols] = [array.shape()[0], array.shape()[1]];
    let [down, across] = [array.strides()[0], array.strides()[1]];
    let (first, owner) = (array.data().cast_const(), array.as_any().clone().unbind());
    let source = StridedRows { first, cols, down, across, _owner: owner };
    Matrix::from_row_source(rows, cols, Arc::new(source))
}

/// Entries of an array that Python owns, at any distances.
struct StridedRows<T> {
    first: *const T,
    cols: usize,
    /// Bytes from a row to the next, and from a column to the next.
    down: isize,
    across: isize,
    _owner: Py<PyAny>,
}

// SAFETY: as for `Lent`.
#[allow(unsafe_code)]
unsafe impl<T> Send for StridedRows<T> {}
// SAFETY: as for `Lent`.
#[allow(unsafe_code)]
unsafe impl<T> Sync for StridedRows<T> {}

/// Rows read together, so that the cache lines of columns are used up.
const BAND: usize = 64;

impl<T: Copy + Into<f64>> RowSource for StridedRows<T> {
    fn read(&self, first: usize, rows: usize, into: &mut Vec<f64>) -> std::io::Result<()> {
        let begun = into.len();
        into.resize(begun + rows * self.cols, 0.0);
        for (band, block) in into[begun..].chunks_mut(BAND * self.cols).enumerate() {
            let top = first + band * BAND;
            for j in 0..self.cols {
                for (i, row) in block.chunks_exact_mut(self.cols).enumerate() {
                    let distance = (top + i) as isize * self.down + j as isize * self.across;
                    #[allow(unsafe_code)]
                    // SAFETY: row and column are within the shape for which NumPy has these strides, and the owner keeps
                    // the array alive.
                    let entry = unsafe { self.first.byte_offset(distance).read_unaligned() };
                    row[j] = entry.into();
                }
            }
        }
        Ok(())
    }
}

/// A sparse matrix by compressed rows, as SciPy keeps them: sorted columns, no duplicates.
fn sparse(
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
    /// An array.
    Dense(PyReadonlyArray2<'py, f64>),
    /// An array in single precision, which is widened as it is read.
    Single(PyReadonlyArray2<'py, f32>),
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
            GivenMatrix::Dense(array) => Ok(dense(array)),
            GivenMatrix::Single(array) => Ok(strided(array)),
            GivenMatrix::Sparse(shape, starts, columns, values) => sparse(*shape, starts, columns, values),
        }
    }
}

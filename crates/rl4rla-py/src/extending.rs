//! Operators, families, tasks and reward terms that are Python functions. They are slower than those of the library, and as deterministic as the
//! functions are.

mod family;
mod operator;
mod task;
mod term;

pub use family::register_family;
pub use operator::register_operator;
pub use task::register_task;
pub use term::register_term;

use numpy::{PyArray1, PyArrayMethods};
use pyo3::prelude::*;
use rl4rla_cli::embedded;
use std::sync::{Mutex, PoisonError};

/// The first exception of a function since the last look.
static EXCEPTION: Mutex<Option<PyErr>> = Mutex::new(None);

/// Takes the first exception that a function raised.
pub fn exception() -> Option<PyErr> {
    EXCEPTION.lock().unwrap_or_else(PoisonError::into_inner).take()
}

/// Calls Python from a thread of the library. An exception is kept for the caller of the library, and what runs is asked to
/// stop.
fn in_python<T>(call: impl FnOnce(Python<'_>) -> PyResult<T>) -> Option<T> {
    Python::attach(call)
        .map_err(|error| {
            EXCEPTION.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
            embedded::stop();
        })
        .ok()
}

/// A number or a vector that a function returned, of the length asked for.
fn vector(value: &Bound<'_, PyAny>, length: usize, what: &str) -> PyResult<Vec<f64>> {
    let numpy = value.py().import("numpy")?;
    // The conversion would drop imaginary parts with no more than a warning.
    if numpy.call_method1("iscomplexobj", (value,))?.is_truthy()? {
        let message = format!("{what} should return real numbers, got complex ones");
        return Err(pyo3::exceptions::PyValueError::new_err(message));
    }
    let array = numpy.call_method1("asarray", (value, "float64"))?;
    let array = array.call_method0("ravel")?;
    let array = array.cast::<PyArray1<f64>>().map_err(PyErr::from)?;
    let found: Vec<f64> = array.try_readonly()?.as_array().to_vec();
    if found.len() != length {
        let message = format!("{what} should return {length} numbers, got {}", found.len());
        return Err(pyo3::exceptions::PyValueError::new_err(message));
    }
    Ok(found)
}

/// A text that lives as long as the process, as names in registries do.
fn lasting(text: String) -> &'static str {
    Box::leak(text.into_boxed_str())
}

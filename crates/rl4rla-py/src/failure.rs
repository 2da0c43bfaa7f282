//! Errors of the library as exceptions of Python.

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use rl4rla_cli::embedded::CommandFailure;
use std::any::Any;

/// `ValueError` with the message of the command, and its suggestion in a second line.
pub fn refused(failure: CommandFailure) -> PyErr {
    match failure.advice {
        Some(advice) => PyValueError::new_err(format!("{}\ntry: {advice}", failure.message)),
        None => PyValueError::new_err(failure.message),
    }
}

/// `RuntimeError` for a panic of the library, which is a defect of it.
pub fn panicked(panic: Box<dyn Any + Send>) -> PyErr {
    let text = panic.downcast_ref::<&str>().map(|text| text.to_string());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
    PyRuntimeError::new_err(format!("internal error of rl4rla: {text}"))
}

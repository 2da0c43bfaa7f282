//! Reward terms that are Python functions.

use super::{in_python, lasting, vector};
use numpy::PyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rl4rla::reward::{RewardTerm, TermInput, register};
use std::sync::{Mutex, PoisonError};

static TERMS: Mutex<Vec<Py<PyAny>>> = Mutex::new(Vec::new());

/// One for every term that the library has room for; a term's row has plain functions without state.
static ROWS: [fn(&TermInput) -> f64; 4] = [compute::<0>, compute::<1>, compute::<2>, compute::<3>];

fn compute<const PLACE: usize>(input: &TermInput) -> f64 {
    let value = in_python(|py| {
        let function = TERMS.lock().unwrap_or_else(PoisonError::into_inner)[PLACE].clone_ref(py);
        let (history, work) = (input.history(), input.work());
        let array = |numbers: &[f64]| PyArray1::from_slice(py, numbers);
        let arguments = (array(history.losses), array(history.excesses), work.flops);
        let found = function.bind(py).call1(arguments)?;
        let value = vector(&found, 1, "a reward term")?[0];
        if value.is_nan() {
            return Err(PyValueError::new_err("a reward term should return a number from 0 to 1, got nan"));
        }
        Ok(value)
    });
    // The exception is told in the end.
    value.unwrap_or(0.0)
}

/// Registers a function of the losses, the excesses and the flops of a run as a reward term.
#[pyfunction]
pub fn register_term(key: String, function: Py<PyAny>, doc: String) -> PyResult<()> {
    let mut terms = TERMS.lock().unwrap_or_else(PoisonError::into_inner);
    let compute = *ROWS.get(terms.len()).ok_or_else(|| {
        PyValueError::new_err(format!("there is room for {} reward terms of Python only", ROWS.len()))
    })?;
    let key = lasting(key);
    let term = RewardTerm::new(key, key, lasting(doc), compute);
    register(Box::leak(Box::new(term))).map_err(|error| PyValueError::new_err(error.to_string()))?;
    terms.push(function);
    Ok(())
}

//! Tasks that are Python functions, each with one family of problems.
#![allow(non_snake_case)]

use super::family::{check_name, check_size, drawn};
use super::{in_python, lasting, vector};
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rl4rla::linalg::{self, Matrix};
use rl4rla::problem::{self, Family, FamilyError, FamilyInfo, Instance, InstanceError, Task};
use rl4rla::program::Update;
use rl4rla::rng::Stream;
use std::sync::{Mutex, OnceLock, PoisonError};

/// A task with its functions.
struct PythonTask {
    name: &'static str,
    doc: &'static str,
    draw: Py<PyAny>,
    solve: Py<PyAny>,
    loss: Py<PyAny>,
    update: Update,
    families: OnceLock<&'static [FamilyInfo]>,
}

static TASKS: Mutex<Vec<&'static PythonTask>> = Mutex::new(Vec::new());

/// The loss where a function failed: nothing is worse, and the exception is told in the end.
const FAILED: f64 = f64::INFINITY;

impl PythonTask {
    fn named(name: &str) -> Option<&'static PythonTask> {
        let tasks = TASKS.lock().unwrap_or_else(PoisonError::into_inner);
        tasks.iter().copied().find(|task| task.name == name)
    }

    fn loss(&self, A: &Matrix, b: &[f64], x: &[f64]) -> f64 {
        let loss = in_python(|py| {
            let found = self.loss.bind(py).call1((array(py, A)?, vector_of(py, b), vector_of(py, x)))?;
            Ok(vector(&found, 1, "loss")?[0])
        });
        loss.filter(|loss| loss.is_finite()).unwrap_or(FAILED)
    }
}

fn vector_of<'py>(py: Python<'py>, entries: &[f64]) -> Bound<'py, PyArray1<f64>> {
    PyArray1::from_slice(py, entries)
}

fn array<'py>(py: Python<'py>, A: &Matrix) -> PyResult<Bound<'py, PyArray2<f64>>> {
    PyArray1::from_slice(py, A.row_major()).reshape([A.rows(), A.cols()])
}

impl Task for PythonTask {
    fn name(&self) -> &'static str {
        self.name
    }

    fn doc(&self) -> &'static str {
        self.doc
    }

    fn families(&self) -> &'static [FamilyInfo] {
        self.families.get().copied().unwrap_or(&[])
    }

    fn measure(&self, instance: &Instance, x: &[f64]) -> (f64, f64) {
        let Instance { A, b, .. } = instance;
        let (loss, least) = (self.loss(A, b, x), instance.attainable());
        let begun = self.loss(A, b, &vec![0.0; A.cols()]) - least;
        // Relative to where runs begin.
        let excess = (loss - least).max(0.0) / if begun > 0.0 { begun } else { 1.0 };
        (loss, if excess.is_finite() { excess } else { 1e300 })
    }

    fn pose(&self, A: Matrix, b: Vec<f64>) -> Result<Instance, InstanceError> {
        InstanceError::check(&A, &b)?;
        let spectrum = linalg::singular_values(&linalg::qr_r(&A)).ok_or(InstanceError::NoSolution)?;
        let x = in_python(|py| {
            let found = self.solve.bind(py).call1((array(py, &A)?, vector_of(py, &b)))?;
            vector(&found, A.cols(), "solve")
        });
        let x = x.filter(|x| linalg::is_finite(x)).ok_or(InstanceError::NoSolution)?;
        let least = self.loss(&A, &b, &x);
        let task = PythonTask::named(self.name).ok_or(InstanceError::NoSolution)?;
        Ok(Instance::posed(task, A, b, x, least, spectrum))
    }

    fn update(&self) -> Update {
        self.update
    }

    fn measures(&self) -> [&'static str; 2] {
        ["loss", "(loss − loss*)/(loss at 0 − loss*)"]
    }

    /// Accuracy and cost count equally, as nothing else is known of the task.
    fn weights(&self) -> [f64; 4] {
        [1.0, 0.0, 1.0, 0.0]
    }
}

fn draw(family: &Family, stream: &Stream) -> Result<Instance, FamilyError> {
    let failed = |why| FamilyError::NoSolution { kind: family.kind, why };
    let task = PythonTask::named(family.kind.info().task.name()).ok_or(failed("its task is gone"))?;
    let (A, b) = drawn(&task.draw, family, stream)?;
    task.pose(A, b).map_err(|_| failed("its function `solve` found none"))
}

/// Registers a task and a family of the same name.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
pub fn register_task(
    name: String,
    doc: String,
    draw_with: Py<PyAny>,
    solve: Py<PyAny>,
    loss: Py<PyAny>,
    rows: usize,
    cols: usize,
    assign: bool,
) -> PyResult<()> {
    check_name("task", &name)?;
    check_size("task", rows, cols)?;
    let update = if assign { Update::Assign } else { Update::Subtract };
    let task: &'static PythonTask = Box::leak(Box::new(PythonTask {
        name: lasting(name),
        doc: lasting(doc),
        draw: draw_with,
        solve,
        loss,
        update,
        families: OnceLock::new(),
    }));
    let family = FamilyInfo {
        name: task.name,
        doc: task.doc,
        task,
        rows,
        cols,
        square: false,
        options: &[],
        numbers: &[],
        draw,
    };
    let families: &'static [FamilyInfo] = Box::leak(Box::new([family]));
    let _ = task.families.set(families);
    problem::register(task).map_err(|error| PyValueError::new_err(error.to_string()))?;
    TASKS.lock().unwrap_or_else(PoisonError::into_inner).push(task);
    Ok(())
}

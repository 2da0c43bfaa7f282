//! Families of a task of the library that are Python functions.
#![allow(non_snake_case)]

use super::{in_python, lasting, vector};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rl4rla::linalg::{self, Matrix};
use rl4rla::problem::{
    Choice, Family, FamilyError, FamilyInfo, Instance, Scale, Task, register_family as register, tasks,
};
use rl4rla::program::Reg;
use rl4rla::rng::Stream;
use std::sync::{Mutex, PoisonError};

/// The function of each family, by its name.
static DRAWS: Mutex<Vec<(&'static str, Py<PyAny>)>> = Mutex::new(Vec::new());

/// Calls a function `draw` for a problem of this family, with a generator that is seeded from the stream. What it raises is told
/// in the end.
pub fn drawn(
    function: &Py<PyAny>,
    family: &Family,
    stream: &Stream,
) -> Result<(Matrix, Vec<f64>), FamilyError> {
    let seed = stream.name()[..8].iter().fold(0_u64, |seed, byte| seed << 8 | u64::from(*byte));
    let drawn = in_python(|py| {
        let rng = py.import("numpy.random")?.call_method1("default_rng", (seed,))?;
        let found = function.bind(py).call1((rng, family.rows, family.cols))?;
        let (A, b): (Bound<'_, PyAny>, Bound<'_, PyAny>) =
            found.extract().map_err(|_| PyValueError::new_err("draw should return the pair (A, b)"))?;
        let entries = vector(&A, family.rows * family.cols, "draw, for A,")?;
        Ok((entries, vector(&b, family.rows, "draw, for b,")?))
    });
    let failed = FamilyError::NoSolution { kind: family.kind, why: "its function `draw` failed" };
    let (entries, b) = drawn.ok_or(failed)?;
    Ok((Matrix::from_fn(family.rows, family.cols, |i, j| entries[i * family.cols + j]), b))
}

fn draw(family: &Family, stream: &Stream) -> Result<Instance, FamilyError> {
    let info = family.kind.info();
    let failed = |why| FamilyError::NoSolution { kind: family.kind, why };
    let function = Python::attach(|py| {
        let draws = DRAWS.lock().unwrap_or_else(PoisonError::into_inner);
        draws.iter().find(|(name, _)| *name == info.name).map(|(_, function)| function.clone_ref(py))
    });
    let (A, b) = drawn(&function.ok_or(failed("its function is gone"))?, family, stream)?;
    let why = "its task has no solution for a problem that was drawn: numbers that are not finite, or dependent columns";
    let scaled = info.options.contains(&Choice::Scale) && family.scale == Scale::Unit;
    let largest = match scaled && A.is_finite() {
        true => linalg::singular_values(&A).and_then(|sigma| sigma.first().copied()),
        false => None,
    };
    let A = match largest {
        Some(largest) if largest > 0.0 => A.map(|entry| entry / largest),
        _ => A,
    };
    info.task.pose(A, b).map_err(|_| failed(why))
}

/// A name like my-family.
pub fn check_name(what: &str, name: &str) -> PyResult<()> {
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if !name.starts_with(|c: char| c.is_ascii_lowercase()) || !name.chars().all(fits) {
        let message = format!("the name of a {what} should be like my-{what}, got {name:?}");
        return Err(PyValueError::new_err(message));
    }
    Ok(())
}

/// Problems have at least as many rows as columns.
pub fn check_size(what: &str, rows: usize, cols: usize) -> PyResult<()> {
    if cols == 0 || rows < cols {
        let message = format!("a {what} needs at least one column, and as many rows");
        return Err(PyValueError::new_err(message));
    }
    Ok(())
}

/// Registers a family of a task of the library; the task solves what is drawn.
#[pyfunction]
pub fn register_family(
    name: String,
    doc: String,
    task: String,
    draw_with: Py<PyAny>,
    rows: usize,
    cols: usize,
) -> PyResult<()> {
    check_name("family", &name)?;
    check_size("family", rows, cols)?;
    // Tasks whose problems are tall, and given by A and b alone.
    let can = |task: &&'static dyn Task| {
        let inputs = task.inputs();
        let tall = task.families().iter().any(|row| !row.square);
        tall && inputs.contains(Reg::B) && !inputs.contains(Reg::LAMBDA) && !task.update().is_answer()
    };
    let Some(task) = tasks().filter(can).find(|known| known.name() == task) else {
        let known: Vec<&str> = tasks().filter(can).map(|known| known.name()).collect();
        let message = format!("families can be added to the tasks {}, and not to {task:?}", known.join(", "));
        return Err(PyValueError::new_err(message));
    };
    let scales = task.families().iter().any(|row| row.options.contains(&Choice::Scale));
    let info = FamilyInfo {
        name: lasting(name),
        doc: lasting(doc),
        task,
        rows,
        cols,
        square: false,
        options: if scales { &[Choice::Scale] } else { &[] },
        numbers: &[],
        draw,
    };
    let info: &'static FamilyInfo = Box::leak(Box::new(info));
    let mut draws = DRAWS.lock().unwrap_or_else(PoisonError::into_inner);
    register(info).map_err(|error| PyValueError::new_err(error.to_string()))?;
    draws.push((info.name, draw_with));
    Ok(())
}

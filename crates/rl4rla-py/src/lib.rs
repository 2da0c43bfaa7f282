//! The extension module of the Python package `rl4rla`: arrays in, results of the library out. What is computed, and the
//! words of errors, are those of the command.

mod arrays;
mod commands;
mod extending;
mod failure;
mod pool;
mod solving;
mod spectral;
mod waiting;

use pyo3::prelude::*;

/// Compiled part of the package `rl4rla`.
#[pymodule]
fn _rl4rla(module: &Bound<'_, PyModule>) -> PyResult<()> {
    pool::remember_process();
    module.add("__version__", rl4rla::VERSION)?;
    module.add_function(wrap_pyfunction!(commands::call, module)?)?;
    module.add_function(wrap_pyfunction!(commands::compare, module)?)?;
    module.add_function(wrap_pyfunction!(commands::explore, module)?)?;
    module.add_function(wrap_pyfunction!(extending::register_family, module)?)?;
    module.add_function(wrap_pyfunction!(extending::register_operator, module)?)?;
    module.add_function(wrap_pyfunction!(extending::register_task, module)?)?;
    module.add_function(wrap_pyfunction!(extending::register_term, module)?)?;
    module.add_function(wrap_pyfunction!(solving::solve, module)?)?;
    module.add_function(wrap_pyfunction!(spectral::truncated_svd, module)?)?;
    module.add_function(wrap_pyfunction!(waiting::free_memory, module)?)?;
    module.add_function(wrap_pyfunction!(waiting::threads, module)?)?;
    Ok(())
}

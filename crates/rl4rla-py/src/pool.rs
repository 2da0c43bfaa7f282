//! The threads that work uses.

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::process;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The most threads that may be asked for, as of the command.
const MOST: usize = 1024;

/// The process that has loaded the package.
static HOME: OnceLock<u32> = OnceLock::new();

/// The threads of a process that was forked from it.
static FORKED: Mutex<Option<(u32, Arc<ThreadPool>)>> = Mutex::new(None);

/// Remembers the process, as the package is loaded.
pub fn remember_process() {
    HOME.get_or_init(process::id);
}

/// So many threads, or `None` for the shared ones. A forked process has none of the threads that it was forked with: work
/// on the shared ones would wait for them, so it starts its own.
pub fn pool(threads: usize) -> PyResult<Option<Arc<ThreadPool>>> {
    let build = |count| {
        let pool = ThreadPoolBuilder::new().num_threads(count).build();
        pool.map(Arc::new).map_err(|error| PyRuntimeError::new_err(error.to_string()))
    };
    match threads {
        0 if HOME.get() == Some(&process::id()) => Ok(None),
        0 => {
            let mut forked = FORKED.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some((id, pool)) = forked.as_ref()
                && *id == process::id()
            {
                return Ok(Some(pool.clone()));
            }
            let pool = build(0)?;
            *forked = Some((process::id(), pool.clone()));
            Ok(Some(pool))
        }
        count if count <= MOST => build(count).map(Some),
        count => Err(PyValueError::new_err(format!("threads should be at most {MOST}, got {count}"))),
    }
}

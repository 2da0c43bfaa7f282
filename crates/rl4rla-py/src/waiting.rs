//! Work on another thread, while this one lets Python go on, listens for Ctrl-C and tells of progress.

use crate::extending::exception;
use crate::failure::panicked;
use crate::pool::pool;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use rl4rla_cli::embedded;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

/// Interval between looks at signals and progress.
const TICK: Duration = Duration::from_millis(50);

/// Time for a command to save its work after Ctrl-C; then it is left to end by itself.
const GRACE: Duration = Duration::from_millis(800);

/// Does work with so many threads, 0 for all, while Python goes on. `progress` is called with what is being done, as it
/// changes. After Ctrl-C, or an exception of `progress`, the work is asked to stop.
pub fn wait<T: Send + 'static>(
    py: Python<'_>,
    threads: usize,
    progress: Option<Py<PyAny>>,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    let pool = pool(threads)?;
    let (send, mut receive) = channel();
    let work = move || {
        // A panic is a value here: it must not cross into Python.
        let done = catch_unwind(AssertUnwindSafe(move || match pool {
            None => work(),
            Some(pool) => pool.install(work),
        }));
        // After a stop nobody receives the result.
        drop(send.send(done));
    };
    std::thread::Builder::new()
        .name("rl4rla".into())
        .spawn(work)
        .map_err(|error| PyRuntimeError::new_err(format!("there is no thread to work on: {error}")))?;
    let (mut told, mut pause) = (String::new(), Duration::from_millis(1));
    let done = loop {
        match py.detach(|| received(&mut receive, pause)) {
            Ok(done) => break done,
            Err(RecvTimeoutError::Disconnected) => {
                return Err(PyRuntimeError::new_err("the work has ended without a result"));
            }
            Err(RecvTimeoutError::Timeout) => pause = (2 * pause).min(TICK),
        }
        if let Err(exception) = look(py, progress.as_ref(), &mut told) {
            embedded::stop();
            // What was asked to stop has a little time to save its work.
            let _ = py.detach(|| received(&mut receive, GRACE));
            return Err(exception);
        }
    };
    // What a function of the user raised explains everything else.
    exception().map_or(Ok(()), Err)?;
    done.map_err(panicked)
}

/// Handles signals, and tells of progress if there is any.
fn look(py: Python<'_>, progress: Option<&Py<PyAny>>, told: &mut String) -> PyResult<()> {
    py.check_signals()?;
    let Some(progress) = progress else { return Ok(()) };
    let doing = embedded::doing();
    if doing != *told && !doing.is_empty() {
        progress.call1(py, (doing.as_str(),))?;
        *told = doing;
    }
    Ok(())
}

/// Waits for a result; the receiver is borrowed alone, so that it may be used without the GIL.
fn received<T>(receive: &mut Receiver<T>, pause: Duration) -> Result<T, RecvTimeoutError> {
    receive.recv_timeout(pause)
}

/// Number of threads that work uses by default.
#[pyfunction]
pub fn threads() -> usize {
    rayon::current_num_threads()
}

/// Bytes of memory that are free.
#[pyfunction]
pub fn free_memory() -> u64 {
    embedded::free_memory()
}

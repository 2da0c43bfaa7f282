//! Progress messages: what a command is currently doing.
//!
//! On a terminal, a line that changes in place and disappears. If standard error is a pipe or a file, one line after
//! two seconds and one every ten seconds from then on. Nothing with `--quiet`.

use crate::page::lines;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::{IsTerminal, Write};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Delay before anything is shown on a terminal.
const SOON: Duration = Duration::from_millis(300);
/// Delay before the first line in a file.
const FIRST: Duration = Duration::from_secs(2);
/// Interval between lines in a file.
const BETWEEN: Duration = Duration::from_secs(10);

/// Minimum interval between two updates by [`update`].
const REFRESH: Duration = Duration::from_millis(100);

static SHOWN: Mutex<Shown> = Mutex::new(Shown { what: String::new(), bar: None, updated: None, over: true });
static CHANGED: Condvar = Condvar::new();

struct Shown {
    what: String,
    /// The progress bar, once it is shown.
    bar: Option<ProgressBar>,
    /// Time of the last change by [`update`].
    updated: Option<Instant>,
    over: bool,
}

fn shown() -> MutexGuard<'static, Shown> {
    SHOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts the progress display; called once, before a command runs.
pub fn begin(quiet: bool) {
    if quiet {
        return;
    }
    shown().over = false;
    let terminal = std::io::stderr().is_terminal();
    let watch = move || if terminal { on_terminal() } else { in_file(Instant::now()) };
    // If no thread can be started, there is no progress display.
    let _ = std::thread::Builder::new().name("progress".into()).spawn(watch);
}

/// Starts to keep messages for [`current`], without displaying them.
pub fn begin_silently() {
    let mut shown = shown();
    (shown.over, shown.updated) = (false, None);
    shown.what.clear();
}

/// What is being done.
pub fn current() -> String {
    shown().what.clone()
}

/// Sets the current activity.
pub fn doing(what: impl Into<String>) {
    let mut shown = shown();
    shown.what = lines(&what.into());
    if let Some(bar) = &shown.bar {
        bar.set_message(shown.what.clone());
    }
}

/// The same for frequently changing messages, which are only formatted if they are shown.
pub fn update(what: impl FnOnce() -> String) {
    let due = |shown: &Shown| !shown.over && shown.updated.is_none_or(|at| at.elapsed() >= REFRESH);
    // If the lock is taken, a newer message is on its way.
    if SHOWN.try_lock().is_ok_and(|shown| due(&shown)) {
        doing(what());
        shown().updated = Some(Instant::now());
    }
}

/// Prints a line that stays, on a terminal.
pub fn done(what: impl AsRef<str>) {
    if let Some(bar) = &shown().bar {
        bar.println(lines(what.as_ref()));
    }
}

/// Ends the display, before the result is printed.
pub fn end() {
    let mut shown = shown();
    shown.over = true;
    if let Some(bar) = shown.bar.take() {
        bar.finish_and_clear();
    }
    CHANGED.notify_all();
}

/// Waits; `None` if the command ends before.
fn still_running(wait: Duration) -> Option<MutexGuard<'static, Shown>> {
    let waited = CHANGED.wait_timeout_while(shown(), wait, |shown| !shown.over);
    let (shown, _) = waited.unwrap_or_else(PoisonError::into_inner);
    (!shown.over).then_some(shown)
}

fn on_terminal() {
    if let Some(mut shown) = still_running(SOON) {
        let style = ProgressStyle::with_template("{spinner:.cyan} {wide_msg}").expect("a fixed template");
        let bar = ProgressBar::new_spinner().with_style(style).with_message(shown.what.clone());
        bar.enable_steady_tick(Duration::from_millis(120));
        shown.bar = Some(bar);
    }
}

fn in_file(begun: Instant) {
    let mut wait = FIRST;
    while let Some(shown) = still_running(wait) {
        let what = if shown.what.is_empty() { "working" } else { &shown.what };
        let line = format!("{what} · {:.0} s", begun.elapsed().as_secs_f64());
        // There may be no reader.
        let _ = writeln!(std::io::stderr(), "{line}");
        wait = BETWEEN;
    }
}

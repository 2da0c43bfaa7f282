//! Progress messages: what a command is currently doing.
//!
//! On a terminal, a line that changes in place and vanishes. Where standard error is a pipe or a file, one line after two
//! seconds and one every ten seconds from then on. Nothing with `--quiet`.

use crate::page::lines;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::{IsTerminal, Write};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A command that ends sooner shows nothing on a terminal.
const SOON: Duration = Duration::from_millis(300);
/// A command that ends sooner writes nothing to a file.
const FIRST: Duration = Duration::from_secs(2);
/// Between two lines in a file.
const BETWEEN: Duration = Duration::from_secs(10);

/// Between two changes of what is said by [`update`].
const REFRESH: Duration = Duration::from_millis(100);

static SHOWN: Mutex<Shown> = Mutex::new(Shown { what: String::new(), bar: None, updated: None, over: true });
static CHANGED: Condvar = Condvar::new();

struct Shown {
    what: String,
    /// The line on a terminal, once there is one.
    bar: Option<ProgressBar>,
    /// When [`update`] changed it last.
    updated: Option<Instant>,
    over: bool,
}

fn shown() -> MutexGuard<'static, Shown> {
    SHOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Begins to show signs of life; once, before a command runs.
pub fn begin(quiet: bool) {
    if quiet {
        return;
    }
    shown().over = false;
    let terminal = std::io::stderr().is_terminal();
    let watch = move || if terminal { on_terminal() } else { in_file(Instant::now()) };
    // Without a thread to spare there are no signs, and that is all.
    let _ = std::thread::Builder::new().name("progress".into()).spawn(watch);
}

/// Says what the command is doing now.
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
    // Whoever is busy here says something newer.
    if SHOWN.try_lock().is_ok_and(|shown| due(&shown)) {
        doing(what());
        shown().updated = Some(Instant::now());
    }
}

/// Says something that is done, in a line that stays, on a terminal.
pub fn done(what: impl AsRef<str>) {
    if let Some(bar) = &shown().bar {
        bar.println(lines(what.as_ref()));
    }
}

/// Ends it: from here on there is a result to show.
pub fn end() {
    let mut shown = shown();
    shown.over = true;
    if let Some(bar) = shown.bar.take() {
        bar.finish_and_clear();
    }
    CHANGED.notify_all();
}

/// Waits; none if the command has ended before.
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
        // Nobody may be listening.
        let _ = writeln!(std::io::stderr(), "{line}");
        wait = BETWEEN;
    }
}

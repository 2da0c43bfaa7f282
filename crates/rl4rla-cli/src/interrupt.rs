//! Interrupts. Ctrl-C, SIGTERM and SIGHUP end every command within two seconds, with exit code 130, one JSON document
//! that says so, and without leaving child processes or partial files behind.
//!
//! A command without anything to save ends at once. One that saves its work calls [`saving`]; it polls [`stopped`]
//! and ends in good order, and if it is too slow for that, committed work is as safe as after a kill. A second signal
//! ends either at once.

use crate::page::Page;
use crate::progress;
use rl4rla::experiment::Monitor;
use serde_json::json;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The exit code of a command that was interrupted, with its work saved.
pub const INTERRUPTED: u8 = 130;

/// Time allowed for a command to save its work, or to print its result.
const GRACE: Duration = Duration::from_millis(1500);

/// Time allowed for an interrupted command to clean up, and then to report: its output may have no reader.
const TIDYING: Duration = Duration::from_millis(500);
const SAYING: Duration = Duration::from_millis(300);

/// Polling interval of waiting threads.
const TICK: Duration = Duration::from_millis(20);

/// The same in milliseconds, for commands that need longer to save their work.
static PATIENCE: AtomicU64 = AtomicU64::new(0);

static STOP: AtomicBool = AtomicBool::new(false);

/// Whether the run that is worked on is told on standard error.
static TELLING: AtomicBool = AtomicBool::new(false);

/// Whether the result is being printed, by the command itself or by the thread that ends it.
static SPOKEN: AtomicBool = AtomicBool::new(false);

static LEFT: Mutex<Left> =
    Mutex::new(Left { json: false, words: None, folders: Vec::new(), children: Vec::new(), over: false });

/// What remains to be done when the process ends early.
struct Left {
    /// Whether JSON output is wanted.
    json: bool,
    /// The message about saved work, as JSON and text.
    words: Option<[String; 2]>,
    /// Temporary folders.
    folders: Vec<PathBuf>,
    /// Child processes, by id.
    children: Vec<u32>,
    /// Whether cleanup has started.
    over: bool,
}

fn left() -> MutexGuard<'static, Left> {
    LEFT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Locks the list for adding to it; never returns once cleanup has started, since additions would be missed.
fn adding() -> MutexGuard<'static, Left> {
    let left = left();
    if left.over {
        drop(left);
        wait_for_the_end();
    }
    left
}

fn wait_for_the_end() -> ! {
    loop {
        std::thread::park();
    }
}

/// Installs the signal handler; called once, first of all.
pub fn listen(json: bool) {
    left().json = json;
    leave_ignored();
    // A handler may be installed already; then that one is kept.
    let _ = ctrlc::set_handler(signalled);
}

/// What a signal does.
fn signalled() {
    if STOP.swap(true, Ordering::SeqCst) {
        end();
    }
    // On another thread, so that a second signal is received.
    std::thread::spawn(|| {
        if left().words.is_some() || SPOKEN.load(Ordering::SeqCst) {
            std::thread::sleep(GRACE.max(Duration::from_millis(PATIENCE.load(Ordering::SeqCst))));
        }
        end();
    });
}

/// Takes the end of standard input for a signal, and tells on standard error which run is worked on: for the server of the
/// live page, which may be killed, and whose runs should not go on without it.
pub fn stop_when_input_ends() {
    TELLING.store(true, Ordering::SeqCst);
    std::thread::spawn(|| {
        // Nothing is expected; an error is an end too.
        let _ = io::copy(&mut io::stdin(), &mut io::sink());
        signalled();
    });
}

/// Whether JSON output is wanted, which is then printed in all cases.
pub fn wants_json() -> bool {
    LEFT.try_lock().is_ok_and(|left| left.json)
}

/// Signals that the parent process chose to ignore, as `nohup` does, stay ignored.
#[cfg(unix)]
fn leave_ignored() {
    use nix::sys::signal::{SigSet, Signal};
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    let mut blocked = SigSet::empty();
    for signal in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP] {
        if ignored >> (signal as i32 - 1) & 1 == 1 {
            blocked.add(signal);
        }
    }
    // Threads started from here on inherit the mask.
    let _ = blocked.thread_block();
}

#[cfg(not(unix))]
fn leave_ignored() {}

/// Asks what polls [`stopped`] to stop, or no longer to.
pub fn ask_to_stop(stop: bool) {
    STOP.store(stop, Ordering::SeqCst);
}

/// Whether a stop was requested.
pub fn stopped() -> bool {
    STOP.load(Ordering::SeqCst)
}

/// The monitor of experiments run in a terminal: shows progress, and stops on signals.
pub struct Terminal;

impl Monitor for Terminal {
    fn doing(&self, what: &str) {
        progress::doing(what);
    }

    fn stopped(&self) -> bool {
        stopped()
    }
}

/// The page of an interrupted command whose runs are in the store.
pub fn resumable() -> Page {
    let text = "interrupted; repeat the command to continue\n".to_string();
    Page { json: json!({ "interrupted": true }), text, code: INTERRUPTED }
}

/// Sleeps, unless a stop is requested.
pub fn pause(duration: Duration) {
    let end = Instant::now() + duration;
    while !stopped() && Instant::now() < end {
        std::thread::sleep(TICK.min(end.saturating_duration_since(Instant::now())));
    }
}

/// The result of work that cannot be interrupted; `None` if a stop is requested before it is finished.
pub fn unless_stopped<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    let (send, receive) = std::sync::mpsc::channel();
    // After a stop nobody receives the result.
    std::thread::spawn(move || drop(send.send(work())));
    loop {
        match receive.recv_timeout(TICK) {
            Ok(done) => return Some(done),
            Err(std::sync::mpsc::RecvTimeoutError::Timeout) if !stopped() => {}
            Err(_) => return None,
        }
    }
}

/// From here on the command saves its work and polls for a stop; `page` is printed if it is interrupted.
pub fn saving(page: Page) {
    if let (true, Some(run)) = (TELLING.load(Ordering::SeqCst), page.json["run"].as_str()) {
        let _ = writeln!(io::stderr(), "run {run}");
    }
    let script = if page.is_nothing() { String::new() } else { page.json.to_string() };
    left().words = Some([script, page.text]);
}

/// Gives this command longer than others to save its work: a scheduler that ends it allows for that.
pub fn allow(grace: Duration) {
    PATIENCE.store(grace.as_millis() as u64, Ordering::SeqCst);
}

/// Called by a command that is about to print its result. Does not return if it was ended before.
pub fn finish() {
    if SPOKEN.swap(true, Ordering::SeqCst) {
        wait_for_the_end();
    }
}

/// Creates a folder that is removed however the command ends.
pub fn passing_folder(folder: &Path) -> io::Result<()> {
    let mut left = adding();
    fs::create_dir_all(folder)?;
    left.folders.push(folder.into());
    Ok(())
}

/// Runs another program, which is ended together with this one.
pub fn output(command: &mut Command) -> io::Result<Output> {
    let child = begin(command)?;
    let id = child.id();
    let output = child.wait_with_output();
    left().children.retain(|other| *other != id);
    output
}

/// The same for a program that may take this long; `None` if it was ended because it took longer.
pub fn output_within(command: &mut Command, limit: Duration) -> io::Result<Option<Output>> {
    let child = begin(command)?;
    let id = child.id();
    let (ended, waiting) = std::sync::mpsc::channel::<()>();
    let watch = std::thread::spawn(move || {
        let late = waiting.recv_timeout(limit) == Err(std::sync::mpsc::RecvTimeoutError::Timeout);
        if late {
            kill(id);
        }
        late
    });
    let output = child.wait_with_output();
    drop(ended);
    left().children.retain(|other| *other != id);
    let late = watch.join().unwrap_or(false);
    Ok(Some(output?).filter(|_| !late))
}

fn begin(command: &mut Command) -> io::Result<std::process::Child> {
    // In its own process group, so that its children can be ended as well.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut left = adding();
    let child = command.spawn()?;
    left.children.push(child.id());
    Ok(child)
}

/// Ends the process without leaving child processes or partial files behind.
fn end() -> ! {
    // A second signal does not cut off the message of the first.
    static ENDING: Mutex<()> = Mutex::new(());
    let _alone = ENDING.lock();
    // First of all: errors from here on, caused by removed files, must not be printed as a result.
    let spoken = SPOKEN.swap(true, Ordering::SeqCst);
    within(TIDYING, tidy);
    if !spoken {
        within(SAYING, progress::end);
        within(SAYING, say);
    }
    std::process::exit(i32::from(INTERRUPTED))
}

/// Does some work, waiting at most this long.
fn within(time: Duration, work: impl FnOnce() + Send + 'static) {
    let (done, waiting) = std::sync::mpsc::channel::<()>();
    let work = move || {
        work();
        drop(done);
    };
    // If no thread can be started, the work is skipped.
    let _ = std::thread::Builder::new().spawn(work);
    let _ = waiting.recv_timeout(time);
}

fn tidy() {
    let mut left = left();
    left.over = true;
    for child in left.children.drain(..) {
        kill(child);
    }
    rl4rla::data::discard_unfinished();
    left.folders.drain(..).for_each(|folder| remove(&folder));
}

/// Removes a folder that may still be in use.
fn remove(folder: &Path) {
    // After renaming, no more files can be added by its path.
    let away = folder.with_extension("removed");
    let folder = if fs::rename(folder, &away).is_ok() { &away } else { folder };
    // A process in it is ending, and may still add files until then.
    let end = Instant::now() + TIDYING;
    while fs::remove_dir_all(folder).is_err() && folder.exists() && Instant::now() < end {
        std::thread::sleep(TICK);
    }
}

/// Reports the interruption, and what was saved.
fn say() {
    let (json, words) = {
        let mut left = left();
        (left.json, left.words.take())
    };
    let mut out = io::stdout();
    let _ = match (json, words) {
        (true, None) => writeln!(out, "{}", json!({ "interrupted": true })),
        // The result was printed before.
        (_, Some([script, person])) if script.is_empty() && person.is_empty() => Ok(()),
        (true, Some([script, _])) => writeln!(out, "{script}"),
        (false, Some([_, person])) => writeln!(out, "{}", person.trim_end()),
        // There is no result, so nothing goes to standard output.
        (false, None) => writeln!(anstream::stderr(), "interrupted"),
    };
    let _ = out.flush();
}

#[cfg(unix)]
fn kill(child: u32) {
    use nix::sys::signal::{Signal, killpg};
    let _ = killpg(nix::unistd::Pid::from_raw(child as i32), Signal::SIGKILL);
}

#[cfg(not(unix))]
fn kill(_: u32) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_removed_though_someone_writes_into_it() {
        let folder = std::env::temp_dir().join(format!("rl4rla-interrupt-{}", std::process::id()));
        for _ in 0..20 {
            fs::create_dir_all(folder.join("deep")).unwrap();
            let begun = AtomicBool::new(false);
            std::thread::scope(|scope| {
                // It continues until its folder is gone.
                scope.spawn(|| {
                    let write = |i: u32| fs::write(folder.join(format!("deep/{}", i % 500)), "x").is_ok();
                    (0..200_000).take_while(|i| write(*i)).for_each(|_| begun.store(true, Ordering::SeqCst));
                });
                while !begun.load(Ordering::SeqCst) {
                    std::hint::spin_loop();
                }
                remove(&folder);
            });
            assert!(!folder.exists() && !folder.with_extension("removed").exists());
        }
    }

    #[test]
    fn what_does_not_end_is_not_waited_for() {
        let begin = Instant::now();
        within(Duration::from_millis(50), || wait_for_the_end());
        within(Duration::from_secs(60), || {});
        assert!(begin.elapsed() < Duration::from_secs(30));
    }
}

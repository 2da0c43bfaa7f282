//! Interrupts. Ctrl-C, a request to terminate and a hang-up end every command within two seconds, with exit code 130,
//! one JSON document that says so, no child left behind and no half of a file.
//!
//! A command that keeps nothing ends at once. One that saves its work says so with [`saving`]; it looks at [`stopped`]
//! and ends in good order, and if it is too slow for that, what was committed is as safe as when it is killed. A second
//! signal ends either at once.

use crate::page::Page;
use crate::progress;
use rl4rla::experiment::Monitor;
use serde_json::json;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The exit code of a command that was interrupted, with its work saved.
pub const INTERRUPTED: u8 = 130;

/// How long a command may take to save its work, or to print what it has found.
const GRACE: Duration = Duration::from_millis(1500);

/// How long an interrupted command may take to clean up, and then to say so: its output may have no reader.
const TIDYING: Duration = Duration::from_millis(500);
const SAYING: Duration = Duration::from_millis(300);

/// Polling interval of waiting threads.
const TICK: Duration = Duration::from_millis(20);

static STOP: AtomicBool = AtomicBool::new(false);

/// Whether someone has begun to print the result: the command itself, or the thread that ends it.
static SPOKEN: AtomicBool = AtomicBool::new(false);

static LEFT: Mutex<Left> =
    Mutex::new(Left { json: false, words: None, folders: Vec::new(), children: Vec::new(), over: false });

/// What is left to do when the process ends early.
struct Left {
    /// Whether a script listens.
    json: bool,
    /// What is said of work that is saved, for a script and for a person.
    words: Option<[String; 2]>,
    /// Folders for passing use.
    folders: Vec<PathBuf>,
    /// Processes that work for this one, by id.
    children: Vec<u32>,
    /// Whether it is being done.
    over: bool,
}

fn left() -> MutexGuard<'static, Left> {
    LEFT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The same for whoever adds to it: there is no return once nobody would do it.
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

/// Listens to signals; once, before anything else.
pub fn listen(json: bool) {
    left().json = json;
    leave_ignored();
    // Someone else may listen already; then theirs is the choice.
    let _ = ctrlc::set_handler(|| {
        if STOP.swap(true, Ordering::SeqCst) {
            end();
        }
        // Apart, so that a second signal is heard.
        std::thread::spawn(|| {
            if left().words.is_some() || SPOKEN.load(Ordering::SeqCst) {
                std::thread::sleep(GRACE);
            }
            end();
        });
    });
}

/// Whether a script listens, which wants a JSON document whatever happens.
pub fn wants_json() -> bool {
    LEFT.try_lock().is_ok_and(|left| left.json)
}

/// Signals that whoever started this process chose to ignore, as `nohup` does, stay ignored.
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
    // Every thread that is started from here on inherits it.
    let _ = blocked.thread_block();
}

#[cfg(not(unix))]
fn leave_ignored() {}

/// Whether someone asked to stop.
pub fn stopped() -> bool {
    STOP.load(Ordering::SeqCst)
}

/// The person at the terminal, who waits for an experiment: progress is shown there, and a signal asks to stop.
pub struct Terminal;

impl Monitor for Terminal {
    fn doing(&self, what: &str) {
        progress::doing(what);
    }

    fn stopped(&self) -> bool {
        stopped()
    }
}

/// What a command says that was interrupted with its runs in the store.
pub fn resumable() -> Page {
    let text = "interrupted; repeat the command to continue\n".to_string();
    Page { json: json!({ "interrupted": true }), text, code: INTERRUPTED }
}

/// Waits, unless someone asks to stop.
pub fn pause(duration: Duration) {
    let end = Instant::now() + duration;
    while !stopped() && Instant::now() < end {
        std::thread::sleep(TICK.min(end.saturating_duration_since(Instant::now())));
    }
}

/// The result of some work that cannot be interrupted, or none if someone asks to stop before it is there.
pub fn unless_stopped<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    let (send, receive) = std::sync::mpsc::channel();
    // Whoever gave up does not listen any more.
    std::thread::spawn(move || drop(send.send(work())));
    loop {
        match receive.recv_timeout(TICK) {
            Ok(done) => return Some(done),
            Err(std::sync::mpsc::RecvTimeoutError::Timeout) if !stopped() => {}
            Err(_) => return None,
        }
    }
}

/// From here on the command saves its work, looks whether it should stop, and says this of it if it is interrupted.
pub fn saving(page: Page) {
    left().words = Some([page.json.to_string(), page.text]);
}

/// The command has its result and is about to print it. Never returns to one that was ended before.
pub fn finish() {
    if SPOKEN.swap(true, Ordering::SeqCst) {
        wait_for_the_end();
    }
}

/// Makes a folder that is removed however the command ends.
pub fn passing_folder(folder: &Path) -> io::Result<()> {
    let mut left = adding();
    fs::create_dir_all(folder)?;
    left.folders.push(folder.into());
    Ok(())
}

/// Runs another program, which ends with this one.
pub fn output(command: &mut Command) -> io::Result<Output> {
    // With its own children in a group of its own, by which all of them can be ended.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = {
        let mut left = adding();
        let child = command.spawn()?;
        left.children.push(child.id());
        child
    };
    let id = child.id();
    let output = child.wait_with_output();
    left().children.retain(|other| *other != id);
    output
}

/// Ends the process: nothing goes on and nothing half is left behind.
fn end() -> ! {
    // A second signal does not cut off what the first one has to say.
    static ENDING: Mutex<()> = Mutex::new(());
    let _alone = ENDING.lock();
    // First of all: what fails from here on, because its files are gone, is nobody's result.
    let spoken = SPOKEN.swap(true, Ordering::SeqCst);
    within(TIDYING, tidy);
    if !spoken {
        within(SAYING, progress::end);
        within(SAYING, say);
    }
    std::process::exit(i32::from(INTERRUPTED))
}

/// Does something, for so long at most.
fn within(time: Duration, work: impl FnOnce() + Send + 'static) {
    let (done, waiting) = std::sync::mpsc::channel::<()>();
    let work = move || {
        work();
        drop(done);
    };
    // Without a thread to spare it is left undone.
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

/// Removes a folder in which someone may still be at work.
fn remove(folder: &Path) {
    // Under another name, nobody finds it to put more into it.
    let away = folder.with_extension("removed");
    let folder = if fs::rename(folder, &away).is_ok() { &away } else { folder };
    // Who works in it is ending, and may put something there until then.
    let end = Instant::now() + TIDYING;
    while fs::remove_dir_all(folder).is_err() && folder.exists() && Instant::now() < end {
        std::thread::sleep(TICK);
    }
}

/// Says that the command was interrupted, and what is saved.
fn say() {
    let (json, words) = {
        let mut left = left();
        (left.json, left.words.take())
    };
    let mut out = io::stdout();
    let _ = match (json, words) {
        (true, None) => writeln!(out, "{}", json!({ "interrupted": true })),
        (true, Some([script, _])) => writeln!(out, "{script}"),
        (false, Some([_, person])) => writeln!(out, "{}", person.trim_end()),
        // There is no result, and so nothing for whoever reads results.
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
                // It goes on until its folder is gone.
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

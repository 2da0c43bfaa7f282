//! Processes of this and other machines: whether one that a file names is still there.

use rl4rla::experiment::campaign::LocalProcess;
use std::fs;

/// This process, computing this many tasks at a time.
pub fn this(threads: u64) -> LocalProcess {
    let process = std::process::id();
    LocalProcess { host: host(), process, started: started(process), threads }
}

/// Whether a process is running; `None` if it is of another machine.
pub fn is_running(process: &LocalProcess) -> Option<bool> {
    (process.host == host()).then(|| match process.started {
        // The number alone may be that of a later process.
        Some(_) => started(process.process) == process.started,
        None => exists(process.process),
    })
}

/// Asks a process of this machine to stop.
#[cfg(unix)]
pub fn ask_to_stop(process: &LocalProcess) -> bool {
    use nix::sys::signal::{Signal, kill};
    kill(nix::unistd::Pid::from_raw(process.process as i32), Signal::SIGTERM).is_ok()
}

#[cfg(not(unix))]
pub fn ask_to_stop(_: &LocalProcess) -> bool {
    false
}

/// The name of this machine.
pub fn host() -> String {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").ok();
    let name = name.or_else(|| std::env::var("COMPUTERNAME").or_else(|_| std::env::var("HOSTNAME")).ok());
    name.map_or("unknown".into(), |name| name.trim().into())
}

/// When a process was started, in ticks since the machine was, where the system says so.
fn started(process: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name, in parentheses, may have spaces and parentheses itself. The next field is the third of all.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    // A process that has ended and that nobody has waited for.
    if fields.next()? == "Z" {
        return None;
    }
    fields.nth(18)?.parse().ok()
}

#[cfg(unix)]
fn exists(process: u32) -> bool {
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(process as i32), None).is_ok()
}

#[cfg(not(unix))]
fn exists(_: u32) -> bool {
    // Whoever takes over by mistake computes the same results.
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_told_from_others_with_its_number() {
        let own = this(1);
        assert_eq!(is_running(&own), Some(true));
        assert_eq!(is_running(&LocalProcess { host: "elsewhere".into(), ..own.clone() }), None);
        if let Some(started) = own.started {
            assert_eq!(is_running(&LocalProcess { started: Some(started + 1), ..own }), Some(false));
            let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
            let other = LocalProcess {
                process: child.id(),
                started: super::started(child.id()),
                host: host(),
                threads: 1,
            };
            assert_eq!(is_running(&other), Some(true));
            child.kill().unwrap();
            child.wait().unwrap();
            assert_eq!(is_running(&other), Some(false));
        }
    }
}

//! Processes of this and other machines: whether one that a file names is still there.

use rl4rla::experiment::campaign::Process;
use std::fs;

/// This process.
pub fn this() -> Process {
    let id = std::process::id();
    Process { host: host(), id, started: started(id) }
}

/// Whether a process is running; `None` if it is of another machine.
pub fn is_running(process: &Process) -> Option<bool> {
    (process.host == host()).then(|| match process.started {
        // The number alone may be that of a later process.
        Some(_) => started(process.id) == process.started,
        None => exists(process.id),
    })
}

/// Asks a process of this machine to stop; false if it cannot be told from others, or not be asked.
#[cfg(unix)]
pub fn ask_to_stop(process: &Process) -> bool {
    use nix::sys::signal::{Signal, kill};
    process.started.is_some() && kill(nix::unistd::Pid::from_raw(process.id as i32), Signal::SIGTERM).is_ok()
}

#[cfg(not(unix))]
pub fn ask_to_stop(_: &Process) -> bool {
    false
}

/// The name of this machine.
fn host() -> String {
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
        let own = this();
        assert_eq!(is_running(&own), Some(true));
        assert_eq!(is_running(&Process { host: "elsewhere".into(), ..own.clone() }), None);
        if let Some(started) = own.started {
            assert_eq!(is_running(&Process { started: Some(started + 1), ..own }), Some(false));
            let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
            let other = Process { id: child.id(), started: super::started(child.id()), host: host() };
            assert_eq!(is_running(&other), Some(true));
            child.kill().unwrap();
            child.wait().unwrap();
            assert_eq!(is_running(&other), Some(false));
        }
    }
}

//! Who holds a lock.

use std::fmt;

use super::clock::{now, utc};

/// Maximum length of a command in a lock file.
const MOST_COMMAND: usize = 200;

/// The process that holds a lock.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Holder {
    /// Process id.
    pub pid: u32,
    /// Host name, empty if unknown.
    pub host: String,
    /// When it took the lock, in seconds since 1970.
    pub since: i64,
    /// The command line.
    pub command: String,
}

impl Holder {
    /// The current process.
    pub(super) fn this() -> Holder {
        let host = std::fs::read_to_string("/proc/sys/kernel/hostname")
            .or_else(|_| std::env::var("HOSTNAME").or_else(|_| std::env::var("COMPUTERNAME")))
            .unwrap_or_default();
        let words: Vec<String> =
            std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
        // One line per field, whatever the arguments contain.
        let line = |text: &str| text.trim().replace(char::is_control, " ");
        let command = line(&words.join(" ")).chars().take(MOST_COMMAND).collect();
        Holder { pid: std::process::id(), host: line(&host), since: now(), command }
    }

    pub(super) fn to_text(&self) -> String {
        let Holder { pid, host, since, command } = self;
        format!("{pid}\n{host}\n{since}\n{command}\n")
    }

    pub(super) fn from_text(text: &str) -> Option<Holder> {
        let mut lines = text.lines();
        let pid = lines.next()?.parse().ok()?;
        let host = lines.next()?.to_string();
        let since = lines.next()?.parse().ok()?;
        Some(Holder { pid, host, since, command: lines.next()?.to_string() })
    }
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "process {}", self.pid)?;
        if !self.host.is_empty() {
            write!(f, " on {}", self.host)?;
        }
        write!(f, " since {} (`{}`)", utc(self.since), self.command)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_holder_survives_its_text() {
        let this = Holder::this();
        assert_eq!(Holder::from_text(&this.to_text()), Some(this));
        let holder = Holder { pid: 7, host: "a".into(), since: 0, command: "rl4rla discover x".into() };
        assert_eq!(holder.to_string(), "process 7 on a since 1970-01-01 00:00 UTC (`rl4rla discover x`)");
    }
}

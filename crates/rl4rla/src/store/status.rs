//! The status of a run.

use std::fmt;

/// The status of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    /// A process is working on it.
    Running,
    /// It was stopped or killed, and can be resumed.
    Interrupted,
    /// It has ended.
    Done {
        /// Whether all targets were found.
        found: bool,
    },
    /// It ended with an error.
    Failed,
}

impl Status {
    /// Name of the status.
    pub fn name(self) -> &'static str {
        match self {
            Status::Running => "running",
            Status::Interrupted => "interrupted",
            Status::Done { .. } => "done",
            Status::Failed => "failed",
        }
    }

    /// Whether the targets were found, once the run has ended.
    pub fn found(self) -> Option<bool> {
        if let Status::Done { found } = self { Some(found) } else { None }
    }

    /// The status in these columns, if they are valid.
    pub(super) fn from_columns(name: &str, found: Option<bool>) -> Option<Status> {
        match (name, found) {
            ("done", Some(found)) => Some(Status::Done { found }),
            (name, None) => {
                [Status::Running, Status::Interrupted, Status::Failed].into_iter().find(|s| s.name() == name)
            }
            _ => None,
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_survives_its_columns_and_nonsense_is_none() {
        let done = [true, false].map(|found| Status::Done { found });
        for status in [Status::Running, Status::Interrupted, Status::Failed].into_iter().chain(done) {
            assert_eq!(Status::from_columns(status.name(), status.found()), Some(status));
        }
        for (name, found) in [("done", None), ("running", Some(true)), ("", None), ("Done", Some(true))] {
            assert_eq!(Status::from_columns(name, found), None);
        }
    }
}

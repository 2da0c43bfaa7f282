//! What is wrong with a file.

use std::fmt;
use std::path::{Path, PathBuf};

/// A file that cannot be used, and why.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DataError {
    /// The file.
    pub path: PathBuf,
    /// The line, from 1 on, where there is one.
    pub line: Option<usize>,
    /// The field of that line, from 1 on.
    pub field: Option<usize>,
    /// What is wrong there.
    pub message: String,
    /// What to do about it.
    pub advice: String,
}

impl DataError {
    /// Something is wrong with the whole file.
    pub fn file(path: &Path, message: impl Into<String>, advice: impl Into<String>) -> DataError {
        DataError {
            path: path.into(),
            line: None,
            field: None,
            message: message.into(),
            advice: advice.into(),
        }
    }

    /// Something is wrong in a line.
    pub(super) fn at(
        path: &Path,
        line: usize,
        field: Option<usize>,
        message: String,
        advice: &str,
    ) -> DataError {
        DataError { path: path.into(), line: Some(line), field, message, advice: advice.into() }
    }
}

impl fmt::Display for DataError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}", self.path.display())?;
        if let Some(line) = self.line {
            write!(f, ", line {line}")?;
        }
        if let Some(field) = self.field {
            write!(f, ", field {field}")?;
        }
        write!(f, ": {}", self.message)
    }
}

impl std::error::Error for DataError {}

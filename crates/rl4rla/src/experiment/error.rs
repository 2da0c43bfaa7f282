//! Errors of experiments, with suggestions.

use std::fmt;

/// An error message with an optional suggestion.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ExperimentError {
    message: String,
    advice: Option<String>,
}

impl ExperimentError {
    /// An error with this message.
    pub fn new(message: impl Into<String>) -> ExperimentError {
        ExperimentError { message: message.into(), advice: None }
    }

    /// The same error with a suggestion.
    #[must_use]
    pub fn advise(self, advice: impl Into<String>) -> ExperimentError {
        ExperimentError { advice: Some(advice.into()), ..self }
    }

    /// The message.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The suggestion, if any.
    pub fn advice(&self) -> Option<&str> {
        self.advice.as_deref()
    }
}

/// The error for stored data that cannot be read.
pub fn unreadable(what: &str, why: &dyn fmt::Display) -> ExperimentError {
    ExperimentError::new(format!("{what} cannot be read: {why}"))
        .advise("`rl4rla list runs --check` checks the store for damage")
}

impl fmt::Display for ExperimentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ExperimentError {}

/// Converts errors of other modules, keeping their messages.
macro_rules! in_their_words {
    ($($error:ty),* $(,)?) => {
        $(impl From<$error> for ExperimentError {
            fn from(error: $error) -> ExperimentError {
                ExperimentError::new(error.to_string())
            }
        })*
    };
}

in_their_words![
    crate::curriculum::SpecError,
    crate::problem::FamilyError,
    crate::problem::InstanceError,
    crate::program::ParseError,
    crate::store::StoreError,
    rayon::ThreadPoolBuildError,
    std::io::Error,
];

//! Why an experiment could not be made, and what to do about it.

use std::fmt;

/// What is wrong, and what to do about it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ExperimentError {
    message: String,
    advice: Option<String>,
}

impl ExperimentError {
    /// What is wrong.
    pub fn new(message: impl Into<String>) -> ExperimentError {
        ExperimentError { message: message.into(), advice: None }
    }

    /// And what to do about it.
    #[must_use]
    pub fn advise(self, advice: impl Into<String>) -> ExperimentError {
        ExperimentError { advice: Some(advice.into()), ..self }
    }

    /// What is wrong, in words.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// What to do about it, if there is anything.
    pub fn advice(&self) -> Option<&str> {
        self.advice.as_deref()
    }
}

/// Something in the store that is not what was written there.
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

/// Errors of other stages, in their own words.
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

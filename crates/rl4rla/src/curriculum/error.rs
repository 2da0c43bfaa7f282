//! Errors in a curriculum, with their positions.

use std::fmt;

/// The first error in the text of a curriculum.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SpecError {
    /// Line, from 1.
    pub line: usize,
    /// The stage, such as ``stage `ls-gd` ``; empty outside the stages.
    pub place: String,
    /// The key with its tables, such as `reward.acc`; empty if there is none.
    pub key: String,
    /// What is wrong, and what was expected.
    pub message: String,
    /// A suggestion for fixing it.
    pub advice: Option<String>,
}

impl SpecError {
    /// The same error with a suggestion.
    pub(super) fn advise(self, advice: impl Into<String>) -> SpecError {
        SpecError { advice: Some(advice.into()), ..self }
    }

    /// The same error, suggesting the nearest of these names.
    pub(super) fn suggest<'a>(self, word: &str, names: impl IntoIterator<Item = &'a str>) -> SpecError {
        match crate::program::nearest(word, names) {
            Some(name) => self.advise(format!("did you mean `{name}`?")),
            None => self,
        }
    }
}

impl fmt::Display for SpecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}", self.line)?;
        if !self.place.is_empty() {
            write!(f, ", {}", self.place)?;
        }
        if !self.key.is_empty() {
            write!(f, ", key `{}`", self.key)?;
        }
        write!(f, ": {}", self.message)?;
        self.advice.iter().try_for_each(|advice| write!(f, "; {advice}"))
    }
}

impl std::error::Error for SpecError {}

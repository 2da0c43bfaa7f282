//! What is wrong with a curriculum, and where.

use std::fmt;

/// The first thing in a text that keeps it from being a curriculum.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SpecError {
    /// Line, from 1.
    pub line: usize,
    /// The stage it stands in, as words: ``stage `ls-gd` ``; empty outside the stages.
    pub place: String,
    /// The key, with the tables it stands in: `reward.acc`; empty where there is none.
    pub key: String,
    /// What is wrong, and what was expected.
    pub message: String,
    /// What to do about it.
    pub advice: Option<String>,
}

impl SpecError {
    /// The same error with a word on what to do.
    pub(super) fn advise(self, advice: impl Into<String>) -> SpecError {
        SpecError { advice: Some(advice.into()), ..self }
    }

    /// The same error, asking whether the nearest of these names was meant.
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

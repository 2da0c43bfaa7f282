//! Bad input: a message that users can act on, and exit code 2.

use crate::page::{error, lines, strong};
use rl4rla::experiment::ExperimentError;
use serde_json::{Value, json};
use std::any::Any;
use std::fmt;

/// The exit code for bad input or usage.
pub const BAD_INPUT: u8 = 2;

/// The reason why a command did not run.
#[derive(Debug)]
pub struct Failure {
    message: String,
    advice: Option<String>,
}

impl Failure {
    /// An error with this message.
    pub fn new(message: impl Into<String>) -> Failure {
        Failure { message: message.into(), advice: None }
    }

    /// The same error with a suggestion.
    pub fn advise(self, advice: impl Into<String>) -> Failure {
        Failure { advice: Some(advice.into()), ..self }
    }

    /// The same error with one more suggestion.
    pub fn or(self, advice: &str) -> Failure {
        let both = self.advice.as_ref().map_or(advice.into(), |first| format!("{first}; or {advice}"));
        self.advise(both)
    }

    /// A usage error: clap's first paragraph, and its tip or usage line.
    pub fn usage(error: &clap::Error) -> Failure {
        let text = error.to_string();
        let (what, rest) = text.split_once("\n\n").unwrap_or((&text, ""));
        let what: Vec<&str> = what.trim_start_matches("error: ").split_whitespace().collect();
        let advice = rest.lines().map(str::trim).find(|line| !line.is_empty());
        let advice = advice.map(|line| line.trim_start_matches("tip: ").to_string());
        Failure { message: what.join(" "), advice }
    }

    /// The message.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The same error, with a word on where it is.
    pub fn at(self, place: &str) -> Failure {
        Failure { message: format!("{place}: {}", self.message), ..self }
    }

    /// The message and the suggestion.
    pub fn into_words(self) -> (String, Option<String>) {
        (self.message, self.advice)
    }

    /// The error as JSON.
    pub fn json(&self) -> Value {
        json!({ "error": { "message": self.message, "advice": self.advice } })
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        // Messages contain names and texts from outside.
        write!(f, "{} {}", error("error:"), lines(&self.message))?;
        match &self.advice {
            Some(advice) => write!(f, "\n{} {}", strong("try:"), lines(advice)),
            None => Ok(()),
        }
    }
}

impl<E: std::error::Error + 'static> From<E> for Failure {
    fn from(error: E) -> Failure {
        // An experiment error has its own suggestion.
        let advice = (&error as &dyn Any).downcast_ref::<ExperimentError>().and_then(ExperimentError::advice);
        Failure { message: error.to_string(), advice: advice.map(str::to_string) }
    }
}

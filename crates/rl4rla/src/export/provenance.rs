//! Where an exported program comes from.

use super::names::identifier;

/// What is told of a program beside what it does.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Provenance {
    /// What it was asked for as; the exported function is called so, as far as a language allows.
    pub name: String,
    /// What the algorithm is known as.
    pub known: Option<String>,
    /// Where it was found: what, and which, such as `("catalogue entry", "ls-gd")` or `("run", "3f9a2c1d")`.
    pub origin: Vec<(String, String)>,
    /// The version of the program that exported it.
    pub version: String,
}

impl Provenance {
    /// The name as an identifier of every language.
    pub fn identifier(&self) -> String {
        identifier(&self.name)
    }

    /// Where it was found, in words.
    pub fn words(&self) -> String {
        let parts: Vec<String> = self.origin.iter().map(|(what, which)| format!("{what} {which}")).collect();
        parts.join(", ")
    }
}

//! Origin of an exported program.

use super::names::identifier;

/// Name, origin and version recorded in an exported file.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Provenance {
    /// The name it was requested by, from which the function name is made.
    pub name: String,
    /// Name of the known algorithm that it is, if any.
    pub known: Option<String>,
    /// Origin as pairs of kind and name, such as `("catalogue entry", "ls-gd")` or `("run", "3f9a2c1d")`.
    pub origin: Vec<(String, String)>,
    /// Version of rl4rla that exported it.
    pub version: String,
}

impl Provenance {
    /// The name as an identifier that is valid in every language.
    pub fn identifier(&self) -> String {
        identifier(&self.name)
    }

    /// The origin, in words.
    pub fn words(&self) -> String {
        let parts: Vec<String> = self.origin.iter().map(|(what, which)| format!("{what} {which}")).collect();
        parts.join(", ")
    }
}

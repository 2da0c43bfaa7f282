//! Where an exported program comes from.

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

/// Words that are no names in one of the languages.
const RESERVED: &str = "\
    abstract and as assert async await baremodule become begin box break catch class const continue \
    crate def del do dyn elif else elseif end enum except export extern false final finally fn for from \
    function gen global if impl import in is lambda let local loop macro main match mod module move mut \
    nonlocal not or override pass priv pub quote raise ref return self static struct super trait true \
    try type typeof unsafe unsized use using virtual where while with yield";

/// Names that exported files use themselves, and of what they call.
const TAKEN: &str = "\
    abs copy core countsketch dot driver exp faer fill gaussian inv inverse invert_upper lines min norm \
    numpy pinv probabilities rand rows_by run scipy size sjlt solve_triangular solve_upper \
    solve_upper_transposed sparse sqrt srht std subsample sum triangle vec zeros";

impl Provenance {
    /// The name as an identifier of every language.
    pub fn identifier(&self) -> String {
        let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' };
        let name: String = self.name.chars().map(plain).collect();
        let name = name.trim_matches('_');
        let free = ![RESERVED, TAKEN].iter().any(|words| words.split_whitespace().any(|word| word == name));
        // Registers and sizes have names of one or two letters.
        match name.chars().next() {
            Some(c) if c.is_ascii_alphabetic() && name.len() > 2 && free => name.into(),
            Some(_) => format!("program_{name}"),
            None => "program".into(),
        }
    }

    /// Where it was found, in words.
    pub fn words(&self) -> String {
        let parts: Vec<String> = self.origin.iter().map(|(what, which)| format!("{what} {which}")).collect();
        parts.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_identifiers() {
        let identifier = |name: &str| Provenance { name: name.into(), ..Provenance::default() }.identifier();
        assert_eq!(identifier("sketched-precond-gd"), "sketched_precond_gd");
        assert_eq!(
            ["3d", "for", "x", "", "Ünï 1", "numpy"].map(identifier),
            ["program_3d", "program_for", "program_x", "program", "n__1", "program_numpy"]
        );
    }
}

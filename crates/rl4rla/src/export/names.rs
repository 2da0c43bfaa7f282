//! Names of exported functions: identifiers that are free in every language.

use super::defaults::Parameter;
use super::language::Language;
use super::listing::last;
use crate::program::Reg;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// Words that writers use besides those of their templates; a test looks for missing ones.
const WRITTEN: &str = "\
    as_mat asarray cell cholesky densesolvecore eye for_size full invert_upper is_multiple_of iszero lambda llt lower mem nonlocal omega options replace side sjlt2 sjlt4 solve solve_triangular \
    solvers sparsearrays special symmetric trans unwrap uppertriangular x_last";

/// All reserved words of the languages and of exported files, in lower case.
static TAKEN: LazyLock<BTreeSet<String>> = LazyLock::new(|| {
    let texts = Language::all().flat_map(|language| language.words.iter().copied());
    let parameters = Parameter::ALL.map(Parameter::name);
    // Names of the values of registers, as written in tables.
    let values = Reg::all().flat_map(|reg| ["0", "t"].map(|mark| format!("{reg}_{mark}").to_lowercase()));
    texts.chain([WRITTEN]).chain(parameters).flat_map(words).map(str::to_lowercase).chain(values).collect()
});

/// The words of a text that could be identifiers.
pub fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

/// Maximum length of an identifier, so that it is a valid file name on every system.
const LONGEST: usize = 60;

/// The name as an identifier that is valid in every language and shadows neither a name of the language nor one
/// defined by an exported file.
pub fn identifier(name: &str) -> String {
    let letters = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' };
    let plain: String = name.chars().map(letters).collect();
    let parts: Vec<&str> = plain.split('_').filter(|part| !part.is_empty()).collect();
    let joined = parts.join("_");
    let name = joined[..joined.len().min(LONGEST)].trim_end_matches('_');
    // Names of one or two letters are registers and sizes.
    let free = name.len() > 2 && !TAKEN.contains(name) && !is_kept(name);
    match name.chars().next() {
        Some(c) if c.is_ascii_alphabetic() && free => name.into(),
        Some(_) => format!("program_{name}"),
        None => "exported_program".into(),
    }
}

/// Whether it could be a variable that keeps a value for the next iteration.
fn is_kept(name: &str) -> bool {
    let number = name.strip_prefix("last_").and_then(|number| number.parse().ok());
    number.is_some_and(|number| last(number) == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::execute::{Sampling, SketchKind};
    use crate::export::{Defaults, Export, Provenance};
    use crate::program::{CATALOGUE, Document};
    use proptest::prelude::*;

    #[test]
    fn names_become_identifiers() {
        assert_eq!(identifier("sketched-precond-gd"), "sketched_precond_gd");
        for (name, wanted) in [
            ("3d", "program_3d"),
            ("for", "program_for"),
            ("x", "program_x"),
            ("", "exported_program"),
            ("Ünï  1", "n_1"),
            ("решение", "exported_program"),
            ("numpy", "program_numpy"),
            ("sum", "program_sum"),
            ("print", "program_print"),
            ("dict", "program_dict"),
            ("Vec", "program_vec"),
            ("random", "program_random"),
            ("eigen", "program_eigen"),
            ("Draws", "program_draws"),
            ("line\u{7}\n\u{1b}[2J", "line_2j"),
            ("program", "program_program"),
            ("last_12", "program_last_12"),
            ("last_one", "last_one"),
        ] {
            assert_eq!(identifier(name), wanted, "{name:?}");
        }
        assert_eq!(identifier(&"ab-".repeat(500)).len(), 59);
    }

    /// Code without comments and doc strings.
    fn code(text: &str, sign: &str) -> String {
        let line = |line: &str| line.split(sign).next().unwrap_or_default().to_string() + "\n";
        let code: String = text.lines().map(line).collect();
        code.split("\"\"\"").step_by(2).collect()
    }

    /// Every exported text, for all settings that change it.
    fn exported(document: &Document, name: &str) -> Vec<(&'static str, String)> {
        let mut texts = Vec::new();
        for sketch in SketchKind::ALL {
            for sampling in Sampling::ALL {
                let defaults = Defaults { sketch, sampling, ..Defaults::default() };
                let provenance = Provenance { name: name.into(), ..Provenance::default() };
                let export =
                    Export::new(document, document.signature().unwrap(), defaults, provenance).unwrap();
                for (language, sign) in [("python", "#"), ("rust", "//"), ("julia", "#")] {
                    let text = export.write(Language::named(language).unwrap()).unwrap();
                    texts.push((language, code(&text, sign)));
                }
            }
        }
        texts
    }

    #[test]
    fn no_word_of_exported_code_is_free() {
        for entry in CATALOGUE.iter() {
            let own = identifier(entry.name);
            assert_eq!(own, entry.name.replace('-', "_"));
            for (language, text) in exported(&entry.document, entry.name) {
                for word in words(&text).filter(|word| *word != own) {
                    let lower = word.to_lowercase();
                    assert!(identifier(word) != lower, "{}, {language}: {word} is free", entry.name);
                }
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]
        #[test]
        fn whatever_the_name_it_is_an_identifier_and_hides_nothing(name in "(\\PC|\\p{Cc}|[a-z_]){0,12}") {
            let made = identifier(&name);
            prop_assert!(made.starts_with(|c: char| c.is_ascii_lowercase()), "{made}");
            prop_assert!(made.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_'));
            prop_assert!(!TAKEN.contains(&made) && made.len() > 2, "{made}");
            prop_assert_eq!(identifier(&made), made.clone());
        }
    }
}

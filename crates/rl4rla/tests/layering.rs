//! The source tree keeps its promises: stages use only stages before them, files stay short, and a library
//! does not print.

use std::fs;
use std::path::{Path, PathBuf};

/// The stages, each using only those to its left.
const PIPELINE: [&str; 21] = [
    "clock",
    "rng",
    "spread",
    "linalg",
    "data",
    "program",
    "problem",
    "execute",
    "solve",
    "export",
    "baseline",
    "reward",
    "equivalence",
    "analysis",
    "search",
    "discovery",
    "curriculum",
    "record",
    "store",
    "report",
    "experiment",
];

const MOST_LINES: usize = 450;

/// Code without comments; a `//` inside a string goes too, which hides nothing these rules look for.
fn code(text: &str) -> String {
    text.lines().map(|line| line.split("//").next().unwrap_or("")).collect::<Vec<_>>().join("\n")
}

/// The names that follow `prefix`: one identifier, or the first ones of every path in braces.
fn names_after(code: &str, prefix: &str) -> Vec<String> {
    let identifier = |text: &str| -> String {
        text.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
    };
    let mut names = Vec::new();
    for (at, _) in code.match_indices(prefix) {
        let rest = &code[at + prefix.len()..];
        let Some(list) = rest.strip_prefix('{') else {
            names.push(identifier(rest));
            continue;
        };
        let mut depth = 1;
        let mut start = 0;
        for (i, c) in list.char_indices() {
            match c {
                '{' => depth += 1,
                '}' => depth -= 1,
                _ => {}
            }
            if depth == 0 || (depth == 1 && c == ',') {
                names.push(identifier(&list[start..i]));
                start = i + 1;
            }
            if depth == 0 {
                break;
            }
        }
    }
    names
}

/// The stages to the right of `stage` that this source uses. `super::` reaches them too, from far enough up.
fn forbidden(stage: &str, source: &str) -> Vec<String> {
    let place = PIPELINE.iter().position(|s| *s == stage);
    let place = place.unwrap_or_else(|| panic!("`{stage}` is a new stage: give it a place in PIPELINE"));
    let code = code(source);
    let mut used = names_after(&code, "crate::");
    used.extend(names_after(&code, "super::"));
    used.retain(|name| PIPELINE[place + 1..].contains(&name.as_str()));
    used
}

/// The printing macros outside unit tests.
fn prints(source: &str) -> Vec<&'static str> {
    let code = code(source);
    let library = code.split("#[cfg(test)]\nmod tests {").next().unwrap_or("");
    // `eprintln!` contains `println!`: one finding is enough.
    ["println!", "print!", "dbg!"].into_iter().filter(|name| library.contains(name)).collect()
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut found: Vec<PathBuf> = entries
        .flat_map(|path| match path.is_dir() {
            true => sources(&path),
            false => vec![path],
        })
        .filter(|path| path.extension().is_some_and(|e| e == "rs"))
        .collect();
    found.sort();
    found
}

/// Every source file of the library: its path from the crate's root, and its text.
fn library() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let files: Vec<PathBuf> = sources(&root.join("src"));
    assert!(files.len() > 20, "the source tree was not found");
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).unwrap();
        (path.strip_prefix(root).unwrap().to_path_buf(), text)
    };
    files.into_iter().map(read).collect()
}

#[test]
fn every_stage_uses_only_stages_before_it() {
    let mut found = Vec::new();
    for (path, text) in library() {
        let stage = path.iter().nth(1).unwrap().to_str().unwrap().trim_end_matches(".rs");
        if stage != "lib" {
            found.extend(
                forbidden(stage, &text).into_iter().map(|used| format!("{}: {used}", path.display())),
            );
        }
    }
    assert!(found.is_empty(), "stages may use only those before them in {PIPELINE:?}: {found:#?}");
}

#[test]
fn no_file_is_too_long_to_read_at_once() {
    let long: Vec<String> = library()
        .into_iter()
        .filter(|(_, text)| text.lines().count() > MOST_LINES)
        .map(|(path, text)| format!("{}: {} lines", path.display(), text.lines().count()))
        .collect();
    assert!(long.is_empty(), "over {MOST_LINES} lines; split by what changes together: {long:#?}");
}

#[test]
fn the_library_does_not_print() {
    for (path, text) in library() {
        assert_eq!(prints(&text), [""; 0], "{}: return values and let the caller print", path.display());
    }
}

#[test]
fn planted_violations_are_caught() {
    assert_eq!(forbidden("program", "use crate::reward::Score;"), ["reward"]);
    assert_eq!(forbidden("rng", "use crate::{\n  rng::Stream,\n  linalg::{Matrix, add},\n};"), ["linalg"]);
    assert_eq!(forbidden("linalg", "fn f(x: &crate::execute::Trace) {}"), ["execute"]);
    assert_eq!(forbidden("program", "use super::super::problem::Family;"), ["problem"]);
    assert_eq!(forbidden("problem", "use crate::{rng, linalg::{self, Matrix}, program};"), [""; 0]);
    assert_eq!(
        forbidden("program", "/// See [`crate::reward`].\n// crate::execute\nuse crate::rng;"),
        [""; 0]
    );
    assert_eq!(prints("fn f() { eprintln!(\"x\") }"), ["println!"]);
    assert_eq!(prints("fn f() { dbg!(1); }"), ["dbg!"]);
    assert_eq!(prints("/// println!(\"x\")\nfn f() {}\n#[cfg(test)]\nmod tests {\n dbg!(1);\n}"), [""; 0]);
}

#[test]
#[should_panic(expected = "new stage")]
fn a_stage_without_a_place_is_noticed() {
    forbidden("somewhere", "");
}

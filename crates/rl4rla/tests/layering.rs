//! The source tree keeps its promises: stages use only stages before them, files stay short, the library does not print,
//! and the shell does not compute.

use std::fs;
use std::path::{Path, PathBuf};

/// The stages, each using only those to its left.
const PIPELINE: [&str; 20] = [
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
    "store",
    "report",
    "experiment",
];

/// The modules of the shell, each using only those to its left.
const SHELL: [&str; 15] = [
    "shell",
    "page",
    "progress",
    "failure",
    "interrupt",
    "memory",
    "args",
    "output",
    "curriculum",
    "data",
    "source",
    "shape",
    "request",
    "endpoint",
    "commands",
];

/// The stages that compute results.
const COMPUTING: [&str; 4] = ["execute", "reward", "analysis", "search"];

/// What the shell may use of them, and why.
const ALLOWED: [(&str, &[&str], &str); 8] = [
    ("execute", &["Sampling", "SketchKind", "Stop", "set_cache_limit"], "values of options"),
    (
        "execute",
        &["Fault", "Large", "self"],
        "data to be solved, and `execute::Failure`, beside the shell's own",
    ),
    (
        "reward",
        &["Charge", "Profile", "Protocol", "StepRule", "Unit", "Weights"],
        "how runs are measured, from options",
    ),
    ("reward", &["PAPER_GRID", "SOUND_GRID", "Auxiliary", "auxiliary"], "values of options"),
    ("reward", &["Evaluation", "Score"], "results that are shown"),
    ("analysis", &["Analysis", "Care", "Point", "Study"], "what is asked of an analysis"),
    ("analysis", &["Cell", "Decided", "Iteration", "Worst"], "results that are shown"),
    ("search", &["Backup", "Counters", "METHODS", "Method"], "values of options, and results that are shown"),
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

/// The stages to the right of `stage` in this order that this source uses. `super::` reaches them too, from far enough up.
fn forbidden(order: &[&str], stage: &str, source: &str) -> Vec<String> {
    let place = order.iter().position(|s| *s == stage);
    let place = place.unwrap_or_else(|| panic!("`{stage}` is a new stage: give it a place in {order:?}"));
    let code = code(source);
    let mut used = names_after(&code, "crate::");
    used.extend(names_after(&code, "super::"));
    used.retain(|name| order[place + 1..].contains(&name.as_str()));
    used
}

/// What this source of the shell uses of the stages that compute, and may not.
fn computing(source: &str) -> Vec<String> {
    let code = code(source);
    let mut used = Vec::new();
    for stage in COMPUTING {
        let allowed = |name: &str| ALLOWED.iter().any(|(of, names, _)| *of == stage && names.contains(&name));
        let path = format!("rl4rla::{stage}::");
        let names = names_after(&code, &path).into_iter().filter(|name| !name.is_empty());
        used.extend(names.filter(|name| !allowed(name)).map(|name| format!("{stage}::{name}")));
        // The stage itself, or one among others in braces, would open all of it.
        let named = names_after(&code, "rl4rla::").into_iter().filter(|name| name == stage).count();
        used.extend((named > code.matches(&path).count()).then(|| stage.to_string()));
    }
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
    files(Path::new(env!("CARGO_MANIFEST_DIR")))
}

/// The same of the shell.
fn shell() -> Vec<(PathBuf, String)> {
    files(&Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("rl4rla-cli"))
}

fn files(root: &Path) -> Vec<(PathBuf, String)> {
    let files: Vec<PathBuf> = sources(&root.join("src"));
    assert!(files.len() > 20, "the source tree was not found");
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).unwrap();
        (path.strip_prefix(root).unwrap().to_path_buf(), text)
    };
    files.into_iter().map(read).collect()
}

/// What files use of stages to their right.
fn against(order: &[&str], files: Vec<(PathBuf, String)>) -> Vec<String> {
    let mut found = Vec::new();
    for (path, text) in files {
        let stage = path.iter().nth(1).unwrap().to_str().unwrap().trim_end_matches(".rs");
        if !["lib", "main"].contains(&stage) {
            let used = forbidden(order, stage, &text);
            found.extend(used.into_iter().map(|used| format!("{}: {used}", path.display())));
        }
    }
    found
}

#[test]
fn every_stage_uses_only_stages_before_it() {
    let found = against(&PIPELINE, library());
    assert!(found.is_empty(), "stages may use only those before them in {PIPELINE:?}: {found:#?}");
    let found = against(&SHELL, shell());
    assert!(found.is_empty(), "modules of the shell may use only those before them in {SHELL:?}: {found:#?}");
}

#[test]
fn no_file_is_too_long_to_read_at_once() {
    let long: Vec<String> = library()
        .into_iter()
        .chain(shell())
        .filter(|(_, text)| text.lines().count() > MOST_LINES)
        .map(|(path, text)| format!("{}: {} lines", path.display(), text.lines().count()))
        .collect();
    assert!(long.is_empty(), "over {MOST_LINES} lines; split by what changes together: {long:#?}");
}

#[test]
fn the_shell_does_not_compute() {
    for (path, text) in shell() {
        assert_eq!(computing(&text), [""; 0], "{}: compute it in the library", path.display());
    }
}

#[test]
fn the_library_does_not_print() {
    for (path, text) in library() {
        assert_eq!(prints(&text), [""; 0], "{}: return values and let the caller print", path.display());
    }
}

#[test]
fn planted_violations_are_caught() {
    assert_eq!(forbidden(&PIPELINE, "program", "use crate::reward::Score;"), ["reward"]);
    assert_eq!(
        forbidden(&PIPELINE, "rng", "use crate::{\n  rng::Stream,\n  linalg::{Matrix, add},\n};"),
        ["linalg"]
    );
    assert_eq!(forbidden(&PIPELINE, "linalg", "fn f(x: &crate::execute::Trace) {}"), ["execute"]);
    assert_eq!(forbidden(&PIPELINE, "program", "use super::super::problem::Family;"), ["problem"]);
    assert_eq!(
        forbidden(&PIPELINE, "problem", "use crate::{rng, linalg::{self, Matrix}, program};"),
        [""; 0]
    );
    assert_eq!(
        forbidden(&PIPELINE, "program", "/// See [`crate::reward`].\n// crate::execute\nuse crate::rng;"),
        [""; 0]
    );
    assert_eq!(forbidden(&SHELL, "source", "use crate::commands::discover::wanted;"), ["commands"]);
    assert_eq!(computing("use rl4rla::reward::{Profile, score};"), ["reward::score"]);
    assert_eq!(computing("let x = rl4rla::execute::run(p);"), ["execute::run"]);
    assert_eq!(computing("use rl4rla::search;"), ["search"]);
    assert_eq!(computing("use rl4rla::{report, analysis::Study};"), ["analysis"]);
    assert_eq!(computing("use rl4rla::search::Method;\nuse rl4rla::experiment::draw;"), [""; 0]);
    assert_eq!(prints("fn f() { eprintln!(\"x\") }"), ["println!"]);
    assert_eq!(prints("fn f() { dbg!(1); }"), ["dbg!"]);
    assert_eq!(prints("/// println!(\"x\")\nfn f() {}\n#[cfg(test)]\nmod tests {\n dbg!(1);\n}"), [""; 0]);
}

#[test]
#[should_panic(expected = "new stage")]
fn a_stage_without_a_place_is_noticed() {
    forbidden(&PIPELINE, "somewhere", "");
}

//! The source tree keeps its promises: modules use what the graph of ARCHITECTURE.md says and nothing else, files stay
//! short, every public type has a name of its own, the library does not print, and the shell does not compute.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Which modules each module uses, directly.
type Graph = BTreeMap<String, BTreeSet<String>>;

/// The graph as ARCHITECTURE.md draws it: the layers from the lowest up, with their modules, and the arrows.
struct Drawing {
    layers: Vec<(String, Vec<String>)>,
    arrows: Graph,
}

impl Drawing {
    /// Reads the first Mermaid graph of a document.
    fn read(document: &str) -> Drawing {
        let graph = document.split("```mermaid").nth(1).expect("a Mermaid graph");
        let mut drawing = Drawing { layers: vec![], arrows: Graph::new() };
        for line in graph.lines().map(str::trim).take_while(|line| !line.starts_with("```")) {
            if let Some(layer) = line.strip_prefix("subgraph ") {
                drawing.layers.push((layer.into(), vec![]));
            } else if let Some((user, used)) = line.split_once(" --> ") {
                let used = used.split(" & ").map(String::from);
                drawing.arrows.entry(user.into()).or_default().extend(used);
            } else if let Some((_, modules)) = drawing.layers.last_mut().filter(|_| is_name(line)) {
                modules.push(line.into());
            }
        }
        drawing
    }

    fn of_the_document() -> Drawing {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../ARCHITECTURE.md");
        Drawing::read(&fs::read_to_string(path).unwrap())
    }

    fn modules(&self) -> impl Iterator<Item = &String> {
        self.layers.iter().flat_map(|(_, modules)| modules)
    }

    fn layer(&self, module: &str) -> usize {
        let place = self.layers.iter().position(|(_, modules)| modules.iter().any(|known| known == module));
        place.unwrap_or_else(|| panic!("`{module}` is in no layer: give it a place in ARCHITECTURE.md"))
    }
}

fn is_name(text: &str) -> bool {
    text != "end" && !text.is_empty() && text.chars().all(|c| c.is_ascii_lowercase() || c == '_')
}

/// Everything that arrows lead to from `module`.
fn reached(graph: &Graph, module: &str) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    let mut open: Vec<&str> = vec![module];
    while let Some(next) = open.pop() {
        for used in graph.get(next).into_iter().flatten() {
            if all.insert(used.clone()) {
                open.push(used);
            }
        }
    }
    all
}

/// The same graph without the arrows that others imply.
fn reduced(graph: &Graph) -> Graph {
    let implied = |used: &BTreeSet<String>| -> BTreeSet<String> {
        used.iter().flat_map(|other| reached(graph, other)).collect()
    };
    let row = |(user, used): (&String, &BTreeSet<String>)| (user.clone(), used - &implied(used));
    graph.iter().map(row).filter(|(_, used)| !used.is_empty()).collect()
}

/// The modules of the shell, each using only those to its left.
const SHELL: [&str; 18] = [
    "shell",
    "page",
    "progress",
    "failure",
    "interrupt",
    "memory",
    "local_process",
    "slurm",
    "args",
    "output",
    "curriculum",
    "data",
    "source",
    "shape",
    "request",
    "endpoint",
    "commands",
    "embedded",
];

/// The stages that compute results.
const COMPUTING: [&str; 4] = ["execute", "reward", "analysis", "search"];

/// What the shell may use of them, and why.
const ALLOWED: [(&str, &[&str], &str); 8] = [
    ("execute", &["Sampling", "SketchKind", "StoppingRule", "set_cache_limit"], "values of options"),
    ("execute", &["Fault", "Large", "RunFailure"], "data to be solved, and why that failed"),
    (
        "reward",
        &["Charge", "Profile", "Protocol", "StepRule", "TermIndex", "Unit", "Weights"],
        "how runs are measured, from options",
    ),
    ("reward", &["PAPER_GRID", "SOUND_GRID", "Auxiliary", "auxiliary"], "values of options"),
    ("reward", &["Evaluation", "Score"], "results that are shown"),
    ("analysis", &["Analysis", "Care", "StudyPoint", "Study"], "what is asked of an analysis"),
    ("analysis", &["MapCell", "Decided", "Iteration", "Worst"], "results that are shown"),
    (
        "search",
        &["Backup", "Counters", "METHODS", "Method", "MethodInfo"],
        "values of options, and results that are shown",
    ),
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

/// The modules among `known` that this source of `module` uses.
fn uses(module: &str, source: &str, known: &[&str]) -> BTreeSet<String> {
    let used = names_after(&code(source), "crate::");
    used.into_iter().filter(|name| name != module && known.contains(&name.as_str())).collect()
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

/// The types that this source shows to other files.
fn public_types(source: &str) -> Vec<String> {
    let named = |line: &str| {
        let shown = line.trim_start().strip_prefix("pub")?;
        let item = match shown.strip_prefix('(') {
            Some(scope) => scope.split_once(')')?.1,
            None => shown,
        };
        let (kind, rest) = item.strip_prefix(' ')?.split_once(' ')?;
        let name = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        ["struct", "enum", "trait", "type"].contains(&kind).then_some(name)
    };
    code(source).lines().filter_map(named).collect()
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

/// The same of the server of the live page.
fn server() -> Vec<(PathBuf, String)> {
    files(&Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("rl4rla-web"))
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

/// The module that a file of the library belongs to.
fn module(path: &Path) -> Option<String> {
    let name = path.iter().nth(1)?.to_str()?.trim_end_matches(".rs");
    (!["lib", "prelude"].contains(&name)).then(|| name.into())
}

#[test]
fn modules_use_what_the_drawing_says() {
    let drawing = Drawing::of_the_document();
    let files = library();
    let folders: BTreeSet<String> = files.iter().filter_map(|(path, _)| module(path)).collect();
    assert_eq!(drawing.modules().cloned().collect::<BTreeSet<_>>(), folders, "drawn, and in the tree");
    let known: Vec<&str> = folders.iter().map(String::as_str).collect();
    let mut graph = Graph::new();
    for (path, text) in &files {
        if let Some(module) = module(path) {
            graph.entry(module.clone()).or_default().extend(uses(&module, text, &known));
        }
    }
    for (user, used) in &graph {
        assert!(!reached(&graph, user).contains(user), "`{user}` uses itself by way of others");
        for used in used {
            let upward = drawing.layer(used) > drawing.layer(user);
            assert!(!upward, "`{user}` uses `{used}`, which is in a higher layer");
        }
    }
    // The digest of a build covers every module that a run of a curriculum uses.
    let build = include_str!("../build.rs").split("const UNUSED").nth(1).expect("the modules left out");
    let used = reached(&graph, "record");
    for module in &folders {
        let left_out = build.lines().next().unwrap().contains(&format!("\"{module}\""));
        assert_eq!(left_out, !used.contains(module) && module != "record", "`{module}` in build.rs");
    }
    assert_eq!(drawing.arrows, reduced(&graph), "the arrows of ARCHITECTURE.md, and those of the tree");
}

#[test]
fn modules_of_the_shell_use_only_those_before_them() {
    for (path, text) in shell() {
        let Some(module) = module(&path).filter(|module| module != "main") else { continue };
        let place = SHELL.iter().position(|known| *known == module);
        let place = place.unwrap_or_else(|| panic!("`{module}` is new: give it a place in {SHELL:?}"));
        assert_eq!(uses(&module, &text, &SHELL[place + 1..]), BTreeSet::new(), "{}", path.display());
    }
}

#[test]
fn no_file_is_too_long_to_read_at_once() {
    let long: Vec<String> = library()
        .into_iter()
        .chain(server())
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
fn neither_library_nor_server_prints() {
    for (path, text) in library().into_iter().chain(server()) {
        assert_eq!(prints(&text), [""; 0], "{}: return values and let the caller print", path.display());
    }
}

#[test]
fn public_type_names_are_unique() {
    let mut homes: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    // Templates are text of exported code, not modules.
    let modules = library().into_iter().chain(server()).chain(shell());
    let modules = modules.filter(|(path, _)| !path.iter().any(|p| p == "templates"));
    for (path, text) in modules {
        for name in public_types(&text) {
            homes.entry(name).or_default().push(path.clone());
        }
    }
    assert!(homes.contains_key("Program"), "the types were not found");
    homes.retain(|_, paths| paths.len() > 1);
    assert!(homes.is_empty(), "one name, one type: rename the less central ones of {homes:#?}");
}

#[test]
fn planted_violations_are_caught() {
    let known = ["rng", "linalg", "program", "problem", "execute", "reward"];
    let used = |module: &str, source: &str| uses(module, source, &known).into_iter().collect::<Vec<_>>();
    assert_eq!(used("program", "use crate::reward::Score;"), ["reward"]);
    assert_eq!(used("rng", "use crate::{\n  rng::Stream,\n  linalg::{Matrix, add},\n};"), ["linalg"]);
    assert_eq!(used("linalg", "fn f(x: &crate::execute::Trace) {}"), ["execute"]);
    assert_eq!(used("problem", "use crate::{rng, linalg::{self, Matrix}};"), ["linalg", "rng"]);
    assert_eq!(used("program", "/// See [`crate::reward`].\n// crate::execute\nuse crate::rng;"), ["rng"]);
    assert_eq!(computing("use rl4rla::reward::{Profile, score};"), ["reward::score"]);
    assert_eq!(computing("let x = rl4rla::execute::run(p);"), ["execute::run"]);
    assert_eq!(computing("use rl4rla::search;"), ["search"]);
    assert_eq!(computing("use rl4rla::{report, analysis::Study};"), ["analysis"]);
    assert_eq!(computing("use rl4rla::search::Method;\nuse rl4rla::experiment::draw;"), [""; 0]);
    let types =
        "pub struct Point;\n  pub(super) enum Law {}\nstruct Own;\n// pub type Gone = u8;\npub fn point() {}";
    assert_eq!(public_types(types), ["Point", "Law"]);
    assert_eq!(public_types("pub trait Rule: Sync {\npub type Map<K> = Vec<K>;"), ["Rule", "Map"]);
    assert_eq!(prints("fn f() { eprintln!(\"x\") }"), ["println!"]);
    assert_eq!(prints("fn f() { dbg!(1); }"), ["dbg!"]);
    assert_eq!(prints("/// println!(\"x\")\nfn f() {}\n#[cfg(test)]\nmod tests {\n dbg!(1);\n}"), [""; 0]);
}

#[test]
fn drawings_are_read_and_reduced() {
    let drawing = Drawing::read(
        "x\n```mermaid\ngraph BT\nsubgraph low\na\nb\nend\nsubgraph high\nc\nend\nc --> a & b\nb --> a\n```\nd --> e",
    );
    assert_eq!(drawing.modules().collect::<Vec<_>>(), ["a", "b", "c"]);
    assert_eq!((drawing.layer("b"), drawing.layer("c")), (0, 1));
    assert_eq!(reached(&drawing.arrows, "c").len(), 2);
    assert_eq!(reduced(&drawing.arrows)["c"], BTreeSet::from(["b".to_string()]));
}

#[test]
#[should_panic(expected = "in no layer")]
fn a_module_without_a_place_is_noticed() {
    Drawing::of_the_document().layer("somewhere");
}

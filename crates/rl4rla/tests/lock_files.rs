//! The Python package is built with the versions of the other crates, so that its results have the same bits.

use std::collections::{BTreeMap, BTreeSet};

/// Names and versions of the packages in a lock file.
fn versions(text: &str) -> BTreeMap<&str, BTreeSet<&str>> {
    let mut found: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for package in text.split("[[package]]").skip(1) {
        let field = |name: &str| {
            let line = package.lines().find_map(|line| line.strip_prefix(name));
            line.map(|value| value.trim_matches(['=', ' ', '"'])).expect("a name and a version")
        };
        found.entry(field("name")).or_default().insert(field("version"));
    }
    found
}

#[test]
fn both_lock_files_have_the_same_versions() {
    let read = |path: &str| {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../");
        std::fs::read_to_string(format!("{root}{path}")).unwrap()
    };
    let (all, python) = (read("Cargo.lock"), read("crates/rl4rla-py/Cargo.lock"));
    let (all, python) = (versions(&all), versions(&python));
    assert!(python.contains_key("faer") && python.contains_key("pyo3"), "the packages were not found");
    for (name, wanted) in &python {
        if let Some(known) = all.get(name) {
            let new: Vec<&&str> = wanted.difference(known).collect();
            assert!(new.is_empty(), "{name} {new:?} in crates/rl4rla-py/Cargo.lock: use {known:?}");
        }
    }
}

//! Drives the real command.
#![allow(dead_code)] // every test file uses its own part

use serde_json::Value;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};

/// What a command left behind.
#[derive(Debug)]
pub struct Said {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Said {
    /// Standard output as the one JSON document it promises to be.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error} in {self:?}"))
    }
}

/// The command with these arguments, colours as by default whatever the environment of the tests.
pub fn command(args: &[&str]) -> assert_cmd::Command {
    let mut command = assert_cmd::cargo::cargo_bin_cmd!("rl4rla");
    for variable in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"] {
        command.env_remove(variable);
    }
    command.args(args);
    command
}

/// Runs the command with these arguments. It may do anything but panic or be killed.
#[track_caller]
pub fn rl4rla(args: &[&str]) -> Said {
    said(command(args).output().expect("the command starts"))
}

/// What was said, and that it was said without a panic.
#[track_caller]
pub fn said(output: Output) -> Said {
    let text = |bytes| String::from_utf8(bytes).expect("output is UTF-8");
    let code = output.status.code().expect("the command was not killed");
    let said = Said { code, out: text(output.stdout), err: text(output.stderr) };
    assert!(!said.err.contains("panicked"), "{said:?}");
    said
}

/// Runs a command that must succeed, and reads its JSON.
#[track_caller]
pub fn json(args: &[&str]) -> Value {
    let said = rl4rla(&[args, &["--json"]].concat());
    assert_eq!(said.code, 0, "{args:?}: {said:?}");
    said.json()
}

/// Starts a run and waits until its first stage is done.
pub fn started(arguments: &[&str], store: &str, before: usize) -> Child {
    let mut child = Command::new(env!("CARGO_BIN_EXE_rl4rla"))
        .args(arguments)
        .args(["--store", store])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    while child.try_wait().unwrap().is_none() {
        // A store that is just being made cannot be read yet.
        let listed = said(command(&["list", "runs", "--json", "--store", store]).output().unwrap()).json();
        if listed["items"][before]["stages"].as_u64() >= Some(1) {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    child
}

/// The keys of a JSON object.
#[track_caller]
pub fn keys(object: &Value) -> Vec<&str> {
    object.as_object().expect("an object").keys().map(String::as_str).collect()
}

/// Whether an object has these keys.
#[track_caller]
pub fn assert_keys(object: &Value, expected: &[&str]) {
    for key in expected {
        assert!(object.get(key).is_some(), "no `{key}` in {object}");
    }
}

/// A store with two runs whose results begin with another character than they should. It is of the first format, which
/// has no checksums that would tell.
pub fn unreadable(first: u8) -> Vec<u8> {
    let (mut store, begin) = (include_bytes!("../faults/format1.store").to_vec(), b"{\"curriculum\":");
    let places = (0..store.len() - begin.len()).filter(|at| store[*at..].starts_with(begin));
    for place in places.collect::<Vec<_>>() {
        store[place] = first;
    }
    store
}

/// The runs of a store.
#[track_caller]
pub fn runs(store: &str) -> Vec<Value> {
    let mut listed = json(&["list", "runs", "--store", store]);
    std::mem::take(listed["items"].as_array_mut().expect("items is a list"))
}

/// A curriculum of two stages that takes milliseconds.
pub const SMALL: &str = r#"
title = "Two small steps"
[defaults]
instances = { search = 6, select = 4, report = 4 }
budget = 2000
open = ["iteration"]
registers = ["v1"]
step = 0.5
[[stage]]
name = "landweber"
edits = 2
family = { kind = "psd", rows = 5, condition = 2 }
target = "landweber"
[[stage]]
name = "ls-gd"
edits = 1
family = { kind = "low-cond", rows = 300, cols = 6 }
target = "ls-gd"
"#;

/// The same with a second stage whose target is far from the best program there is.
pub fn misguided() -> String {
    SMALL.replace("target = \"ls-gd\"", "target = \"iteration:\\n v1 = VEC_MAT_MUL(b, A)\"")
}

/// The same with a second stage that takes as long as it is told to.
pub fn lengthy(iterations: usize) -> String {
    SMALL
        .replace("edits = 1", &format!("edits = 2\niterations = {iterations}"))
        .replace("[\"v1\"]", "[\"v1\", \"v2\"]")
}

/// The names of what `list` lists.
#[track_caller]
pub fn names(what: &str) -> Vec<String> {
    let items = json(&["list", what]);
    let items = items["items"].as_array().expect("items is a list");
    items.iter().map(|item| item["name"].as_str().expect("an item has a name").to_string()).collect()
}

/// A path for a scratch file; names must differ from test to test, because tests run side by side.
pub fn scratch(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// Writes a scratch file and returns its path as an argument.
pub fn written(name: &str, contents: impl AsRef<[u8]>) -> String {
    let path = scratch(name);
    std::fs::write(&path, contents).expect("a scratch file can be written");
    path.to_str().expect("the path is UTF-8").to_string()
}

/// A path for a store that is not there yet, as an argument.
pub fn fresh(name: &str) -> String {
    // SQLite would take the write-ahead log of an earlier test for the new store's own.
    for suffix in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(scratch(&format!("{name}{suffix}")));
    }
    scratch(name).to_str().expect("the path is UTF-8").to_string()
}

/// A result without what names the run and what depends on the clock.
pub fn timeless(mut result: Value) -> Value {
    fn strip(value: &mut Value) {
        match value {
            Value::Object(fields) => {
                fields.retain(|key, _| {
                    !key.starts_with("seconds") && !["run", "replayed", "computed"].contains(&key.as_str())
                });
                fields.values_mut().for_each(strip);
            }
            Value::Array(items) => items.iter_mut().for_each(strip),
            _ => {}
        }
    }
    strip(&mut result);
    result
}

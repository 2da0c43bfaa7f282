//! Drives the real command.
#![allow(dead_code)] // every test file uses its own part

use serde_json::Value;
use std::path::PathBuf;
use std::process::Output;

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

//! Builds that may compute other numbers: they do nothing with a campaign, and change nothing.

use super::site::{SWEEP, Site};
use crate::common::{Said, said};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;

/// The command with another digest of its build.
fn another_build(site: &Site) -> PathBuf {
    let manifest = site.read("c/manifest.jsonl");
    let header: serde_json::Value = serde_json::from_str(manifest.lines().next().unwrap()).unwrap();
    let digest = header["campaign"]["build"]["digest"].as_str().unwrap().as_bytes();
    let mut program = fs::read(env!("CARGO_BIN_EXE_rl4rla")).unwrap();
    let places: Vec<usize> =
        (0..program.len() - digest.len()).filter(|at| program[*at..].starts_with(digest)).collect();
    assert!(!places.is_empty());
    places.iter().for_each(|at| program[*at] = if digest[0] == b'0' { b'1' } else { b'0' });
    let path = site.file("another-rl4rla");
    fs::write(&path, program).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

#[test]
fn another_build_computes_and_enters_nothing() {
    let site = Site::planned("another-build");
    site.json("campaign submit c --local 2");
    fs::remove_file(site.file("c/results/000000/000000003.found.json")).unwrap();
    let other = another_build(&site);
    let before = site.contents("c");
    let ask = |arguments: &str| -> Said {
        let mut command = Command::new(&other);
        command.args(arguments.split(' ')).args(["--json", "--store", "runs.db"]).current_dir(site.file(""));
        command.env("PATH", site.file("bin")).env("FAKE_SLURM", site.file("slurm"));
        said(command.output().unwrap())
    };
    for asked in [
        "campaign collect c",
        "campaign resume c",
        "campaign resume c --failed --set-aside --take-over --local 1",
        "campaign resume c --dry-run",
        "campaign worker c --submission 1 --chunk 0",
        &format!("{SWEEP} --campaign c"),
        &format!("{SWEEP} --campaign c --local 1"),
    ] {
        let said = ask(asked);
        assert_eq!(said.code, 2, "{asked}: {said:?}");
        assert!(said.err.contains("the campaign was planned by another build"), "{asked}: {said:?}");
    }
    assert!(!site.file("runs.db").exists());
    assert_eq!(site.contents("c"), before);
    // How it goes may be seen.
    let said = ask("campaign status c");
    assert_eq!((said.code, &said.json()["done"]), (0, &7.into()));
    site.json("campaign resume c --local 1");
    site.is_as_swept();
}

//! File systems that are full or cannot be written to: the file is named, and nothing is lost.

use super::site::{Site, process_of, until};
use crate::common::{Said, said};
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Runs a command where no file may have more than so many blocks of 512 bytes.
fn limited(site: &Site, blocks: u32, arguments: &str) -> Said {
    let command = site.command(arguments);
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$@\""), "sh"]);
    shell.arg(command.get_program()).args(command.get_args()).current_dir(site.file(""));
    for (name, value) in command.get_envs().filter_map(|(name, value)| Some((name, value?))) {
        shell.env(name, value);
    }
    said(shell.output().unwrap())
}

#[test]
fn files_that_may_not_grow() {
    let site = Site::new("limited");
    let fails = |arguments: &str, blocks: u32, words: &[&str]| {
        let said = limited(&site, blocks, &format!("{arguments} --json"));
        assert_eq!(said.code, 2, "{said:?}");
        let error = said.json()["error"].to_string();
        assert!(words.iter().all(|word| error.contains(word)), "{words:?} in {error}");
    };
    fails("campaign plan c.toml", 1, &["cannot write", "c/manifest.jsonl"]);
    assert!(site.names("c").is_empty());
    site.json("campaign plan c.toml");
    fails("campaign submit c --local 1", 0, &["cannot write", "c/submissions/0001.json"]);
    assert!(site.names("c/submissions").is_empty());
    fails(
        "campaign submit c --local 1",
        1,
        &[
            "cannot write",
            "c/results/000000/000000000.found.json",
            "finished tasks are kept",
            "campaign resume",
        ],
    );
    let files = |folder: &str| fs::read_dir(site.file(folder)).map_or(0, |files| files.count());
    assert_eq!(files("c/results/000000"), 0, "not even a part of a file");
    assert_eq!(site.json("campaign resume c --local 2")["complete"], true);
    let said = limited(&site, 1, "campaign collect c --json");
    assert_eq!(said.code, 2, "{said:?}");
    site.is_as_swept();
}

/// A small file system of its own, where this process may mount one.
struct Disk(PathBuf);

impl Disk {
    fn mount(site: &Site, folder: &str) -> Option<Disk> {
        fs::create_dir_all(site.file(folder)).unwrap();
        let disk = Disk(site.file(folder));
        disk.run("mount", &["-t", "tmpfs", "-o", "size=64k", "tmpfs"]).then_some(disk)
    }

    fn set(&self, options: &str) {
        assert!(self.run("mount", &["-o", &format!("remount,{options}")]), "{options}");
    }

    fn run(&self, program: &str, arguments: &[&str]) -> bool {
        let status = Command::new(program).args(arguments).arg(&self.0).stderr(Stdio::null()).status();
        status.is_ok_and(|status| status.success())
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        self.run("umount", &["-l"]);
    }
}

#[test]
fn a_full_file_system_is_waited_for() {
    let site = Site::new("full");
    let Some(disk) = Disk::mount(&site, "c") else {
        println!("skipped: no small file system can be mounted here");
        return;
    };
    site.write("c.toml", "[[sweep]]\ncurricula = [\"small.toml\"]\nmethods = [\"best\"]\nseeds = 40\n");
    site.json("campaign plan c.toml");
    let mut child = site.start("campaign submit c --local 2 --json");
    until("it begins", || process_of(&site, "c/submissions/0001.json") == child.id());
    // Until nothing has been added for a while: its results do not fit.
    let (mut before, mut since) = (0, 0);
    until("it is full", || {
        let now = site.results().len();
        since = if now == before { since + 1 } else { 0 };
        before = now;
        now > 0 && since > 30
    });
    assert!(child.try_wait().unwrap().is_none() && before < 40, "{before} results");
    disk.set("size=4m");
    let said = said(child.wait_with_output().unwrap());
    assert_eq!((said.code, &said.json()["complete"]), (0, &true.into()), "{said:?}");
    assert_eq!(site.json("campaign collect c")["entered"], 40);
    site.json("sweep small.toml --seeds 40 --store alone.db");
    assert_eq!(site.runs("runs.db"), site.runs("alone.db"));
}

#[test]
fn a_folder_that_can_only_be_read() {
    let site = Site::new("read-only");
    let Some(disk) = Disk::mount(&site, "c") else {
        println!("skipped: no small file system can be mounted here");
        return;
    };
    disk.set("ro");
    site.refused("campaign plan c.toml", &["cannot write", "c/manifest.jsonl", "Read-only", "permissions"]);
    disk.set("rw,size=4m");
    site.json("campaign plan c.toml");
    disk.set("ro");
    for step in ["submit c", "submit c --local 1", "resume c --local 1"] {
        let words = ["cannot write", "c/submissions/0001.json", "Read-only", "permissions"];
        site.refused(&format!("campaign {step}"), &words);
    }
    assert!(site.names("slurm/scripts").is_empty(), "no job is unknown");
    assert_eq!(site.json("campaign status c")["waiting"], 8);
    disk.set("rw");
    site.json("campaign submit c --local 2");
    disk.set("ro");
    // Looking and collecting write nothing there.
    site.is_as_swept();
}

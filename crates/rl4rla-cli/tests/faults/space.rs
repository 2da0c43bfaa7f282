//! Disks that are full, from the first write to the last: an error that says so, and nothing lost or wrong.

use super::tally::{Tally, is_long};
use crate::common::{SMALL, fresh, rl4rla, scratch, timeless, written};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Runs the command where no file may be larger than so many blocks.
fn limited(blocks: usize, arguments: &[&str]) -> Output {
    let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$@\"");
    Command::new("sh")
        .args(["-c", &script, "sh", env!("CARGO_BIN_EXE_rl4rla")])
        .args(arguments)
        .output()
        .expect("the command starts")
}

/// Counts a command that may have failed for want of space, and says whether it did not.
fn judge(output: &Output, what: &str, tally: &mut Tally) -> bool {
    let words = String::from_utf8_lossy(&output.stderr);
    tally.cases += 1;
    match output.status.code() {
        Some(2) if !words.contains("panicked") => false,
        Some(0) => true,
        code => {
            tally.panics.push(format!("{what}: {code:?} {words}"));
            false
        }
    }
}

/// One size after the other, until everything fits.
fn discover_at(
    size: &str,
    store: &str,
    output: &Output,
    expected: &serde_json::Value,
    tally: &mut Tally,
) -> bool {
    let done = judge(output, size, tally);
    if Path::new(store).exists() {
        let listed = rl4rla(&["list", "runs", "--check", "--json", "--store", store]);
        // A store whose tables did not fit is empty, and is never half of one.
        if listed.code != 0 {
            tally.wrong.push(format!("{size}: {listed:?}"));
        }
        if listed.code == 0 && !listed.json()["items"].as_array().unwrap().is_empty() {
            let resumed = rl4rla(&["resume", "LAST", "--json", "--store", store]);
            if timeless(resumed.json()) != *expected {
                tally.lost.push(format!("{size}: {resumed:?}"));
            }
        }
    }
    done
}

#[test]
fn files_that_may_not_grow() {
    let mut tally = Tally::new("a limit at every write: discover");
    let curriculum = written("limited.toml", SMALL);
    let asked = ["discover", &curriculum, "--json", "--store"];
    let expected = timeless(rl4rla(&[&asked[..], &[&fresh("limited-calm.db")]].concat()).json());
    let step = if !is_long() { 23 } else { 1 };
    for blocks in (0..).step_by(step) {
        let store = fresh("limited.db");
        let output = limited(blocks, &[&asked[..], &[&store]].concat());
        if discover_at(&format!("{blocks} blocks"), &store, &output, &expected, &mut tally) {
            break;
        }
    }
    tally.close();
}

#[test]
fn results_that_do_not_fit() {
    let mut tally = Tally::new("a limit at every write: --out");
    let line = |i: u32| format!("{},{},{}\n", i % 7, i % 11, i % 13);
    let data = written("limited.csv", "a,b,y\n".to_string() + &(0..2000).map(line).collect::<String>());
    let out = scratch("limited-out");
    let path = out.to_str().unwrap();
    let store = fresh("limited-report.db");
    rl4rla(&["discover", &written("limited-report.toml", SMALL), "--store", &store]);
    let asked: [&[&str]; 3] = [
        &[
            "solve",
            "precond-gd",
            "--matrix",
            &data,
            "--target",
            "y",
            "--predict",
            &data,
            "--predictions",
            path,
        ],
        &["export", "sketched-precond-gd", "--to", "python", "--out", path],
        &["report", "--store", &store, "--out", path],
    ];
    for asked in asked {
        let clear = || {
            let _ = (fs::remove_file(&out), fs::remove_dir_all(&out));
        };
        clear();
        assert_eq!(rl4rla(asked).code, 0, "{asked:?}");
        let whole = contents(&out);
        let step = if !is_long() { 7 } else { 1 };
        for blocks in (0..).step_by(step) {
            clear();
            let done = judge(&limited(blocks, asked), asked[0], &mut tally);
            // What is there is whole, and there is nothing else.
            let there = contents(&out);
            if there.iter().any(|file| !whole.contains(file)) || (done && there != whole) {
                tally.wrong.push(format!("{} with {blocks} blocks", asked[0]));
            }
            if done {
                break;
            }
        }
        clear();
    }
    tally.close();
}

/// A file, or all files of a folder, with their bytes.
fn contents(path: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut paths: Vec<PathBuf> = match fs::read_dir(path) {
        Ok(files) => files.map(|file| file.unwrap().path()).collect(),
        Err(_) => vec![path.into()],
    };
    paths.sort();
    paths.into_iter().filter_map(|path| Some((path.clone(), fs::read(path).ok()?))).collect()
}

/// A disk of a few pages, where the system lets us mount one.
struct Disk(PathBuf);

impl Disk {
    fn mount() -> Option<Disk> {
        let path = scratch("small-disk");
        fs::create_dir_all(&path).unwrap();
        let disk = Disk(path);
        let done = disk.run("mount", &["-t", "tmpfs", "-o", "size=4k", "tmpfs"]);
        done.then_some(disk)
    }

    fn resize(&self, kib: usize) {
        assert!(self.run("mount", &["-o", &format!("remount,size={kib}k")]));
    }

    fn run(&self, program: &str, arguments: &[&str]) -> bool {
        let status = Command::new(program).args(arguments).arg(&self.0).stderr(Stdio::null()).status();
        status.is_ok_and(|status| status.success())
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        self.run("umount", &[]);
    }
}

#[test]
fn a_disk_that_is_full() {
    let mut tally = Tally::new("ENOSPC at every write: discover");
    let Some(disk) = Disk::mount() else {
        println!("skipped: no small disk can be mounted here");
        return;
    };
    let curriculum = written("full.toml", SMALL);
    let store = disk.0.join("runs.db").to_str().unwrap().to_string();
    let asked = ["discover", &curriculum, "--json", "--store"];
    let expected = timeless(rl4rla(&[&asked[..], &[&fresh("full-calm.db")]].concat()).json());
    let step = if !is_long() { 92 } else { 4 };
    for kib in (4..).step_by(step) {
        for file in fs::read_dir(&disk.0).unwrap() {
            fs::remove_file(file.unwrap().path()).unwrap();
        }
        disk.resize(kib);
        let output = Command::new(env!("CARGO_BIN_EXE_rl4rla")).args(asked).arg(&store).output().unwrap();
        disk.resize(4096);
        if discover_at(&format!("{kib} KiB"), &store, &output, &expected, &mut tally) {
            break;
        }
    }
    tally.close();
}

#[cfg(target_os = "linux")]
#[test]
fn output_that_nobody_can_take() {
    let mut tally = Tally::new("standard output to a full disk");
    let store = fresh("full-output.db");
    rl4rla(&["discover", &written("full-output.toml", SMALL), "--store", &store]);
    let asked: [&[&str]; 6] = [
        &["list", "runs"],
        &["show", "run:LAST"],
        &["export", "run:LAST", "--to", "python"],
        &["equiv", "ls-gd", "run:LAST"],
        &["resume", "LAST"],
        &["list", "operators", "--json"],
    ];
    for asked in asked {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_rl4rla"));
        let output = command.args(asked).args(["--store", &store]).stdout(full).stderr(Stdio::piped());
        if judge(&output.spawn().unwrap().wait_with_output().unwrap(), asked[0], &mut tally) {
            tally.wrong.push(format!("{asked:?} ends as if it had been heard"));
        }
    }
    tally.close();
}

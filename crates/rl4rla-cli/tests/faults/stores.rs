//! Damaged stores, and stores in places where their reader may not write.

use super::tally::{Tally, cases};
use crate::common::{SMALL, command, fresh, json, rl4rla, written};
use rl4rla::rng::Stream;
use std::fs;
use std::process::Output;

const PAGE: usize = 4096;

/// A store with some finished runs, all in one file.
fn store(name: &str) -> String {
    let (curriculum, store) = (written(&format!("{name}.toml"), SMALL), fresh(&format!("{name}.db")));
    json(&["discover", &curriculum, "--store", &store]);
    json(&["discover", &curriculum, "--seed", "1", "--method", "mcgs-ucd", "--store", &store]);
    json(&["sweep", &curriculum, "--methods", "best", "--seeds", "2", "--seed", "5", "--store", &store]);
    store
}

/// Bytes damaged in one of the ways in which disks, networks and editors do it.
fn damaged(whole: &[u8], index: u64) -> Vec<u8> {
    let draws = Stream::new(15).derive("damage", index).uniforms(80);
    let below = |place: usize, bound: usize| (draws[place] * bound as f64) as usize;
    let (mut bytes, at) = (whole.to_vec(), below(0, whole.len()));
    match index % 5 {
        0 => bytes[at] ^= 1 << below(1, 8),
        1 => {
            let end = (at + 1 + below(1, 63)).min(whole.len());
            bytes[at..end].iter_mut().zip(&draws[2..]).for_each(|(byte, draw)| *byte = (draw * 256.0) as u8);
        }
        2 => {
            let size = [16, 512, PAGE][below(1, 3)].min(whole.len() - at);
            let from = below(2, whole.len() - size + 1);
            bytes[at..at + size].copy_from_slice(&whole[from..from + size]);
        }
        // One page in the place of another.
        3 => {
            let pages = whole.len() / PAGE;
            let (to, from) = (below(1, pages) * PAGE, below(2, pages) * PAGE);
            bytes[to..to + PAGE].copy_from_slice(&whole[from..from + PAGE]);
        }
        // A digit for another, as it would be in a number or a program.
        _ => {
            if let Some(place) = (at..whole.len()).find(|place| whole[*place].is_ascii_digit()) {
                bytes[place] = b'0' + below(1, 10) as u8;
            }
        }
    }
    bytes
}

#[test]
fn damaged_stores() {
    let mut tally = Tally::new("damaged stores");
    let source = store("damage");
    let whole = fs::read(&source).unwrap();
    let path = fresh("damaged.db");
    let asked: [&[&str]; 6] = [
        &["list", "runs"],
        &["list", "runs", "--check"],
        &["show", "run:LAST"],
        &["show", "run:LAST/landweber"],
        &["export", "run:LAST", "--to", "python"],
        &["resume", "LAST"],
    ];
    let ask = |asked: &[&str]| {
        command(&[asked, &["--json", "--store", &path]].concat()).output().expect("the command starts")
    };
    let told = |output: &Output| String::from_utf8_lossy(&output.stdout).into_owned();
    fs::write(&path, &whole).unwrap();
    let expected: Vec<Output> = asked.iter().map(|asked| ask(asked)).collect();
    let mut noticed = 0;
    let mut answers = 0;
    for index in 0..cases(25, 1000) as u64 {
        fresh("damaged.db");
        fs::write(&path, damaged(&whole, index)).unwrap();
        let mut refused = false;
        for (asked, right) in asked.iter().zip(&expected) {
            let found = ask(asked);
            let words = String::from_utf8_lossy(&found.stderr).into_owned();
            answers += 1;
            match found.status.code() {
                Some(2) => refused = true,
                code if code == right.status.code() && told(&found) == told(right) => {}
                Some(0..=1) => tally.wrong.push(format!("{index}: {asked:?} {}", told(&found))),
                code => tally.panics.push(format!("{index}: {asked:?} {code:?} {words}")),
            }
            if words.contains("panicked") {
                tally.panics.push(format!("{index}: {asked:?} {words}"));
            }
        }
        noticed += usize::from(refused);
        tally.cases += 1;
    }
    tally.remark =
        format!("{answers} answers; {noticed} stores refused by some command, the others answered as whole");
    tally.close();
}

#[test]
fn an_unreadable_stage_is_named_and_nothing_stands_in_for_it() {
    let path = store("unreadable");
    let mut bytes = fs::read(&path).unwrap();
    // The program of the last stage of a run, one letter changed: still a program, and another one.
    let (from, to) = (b"VEC_VEC_SUB", b"VEC_VEC_ADD");
    let places: Vec<usize> =
        (0..bytes.len() - from.len()).filter(|at| bytes[*at..].starts_with(from)).collect();
    assert!(!places.is_empty());
    for at in places {
        bytes[at..at + to.len()].copy_from_slice(to);
    }
    fs::write(&path, bytes).unwrap();
    for asked in
        [&["show", "run:LAST"][..], &["export", "run:LAST", "--to", "python"], &["list", "runs", "--check"]]
    {
        let said = rl4rla(&[asked, &["--store", &path]].concat());
        assert_eq!(said.code, 2, "{asked:?}: {said:?}");
        assert!(said.err.contains("checksum") && said.err.contains("run "), "{said:?}");
    }
}

#[test]
fn a_store_of_the_first_format_is_read_and_brought_up_to_date() {
    let old = include_bytes!("format1.store");
    let path = fresh("format1.db");
    fs::write(&path, old).unwrap();
    let runs = json(&["list", "runs", "--check", "--store", &path]);
    assert_eq!(runs["items"].as_array().unwrap().len(), 2);
    let shown = json(&["show", "run:LAST", "--store", &path]);
    assert_eq!(fs::read(&path).unwrap(), old, "reading changes nothing");
    json(&["discover", &written("format1.toml", SMALL), "--seed", "2", "--store", &path]);
    let now = json(&["list", "runs", "--check", "--store", &path]);
    assert_eq!(now["items"].as_array().unwrap()[..2], runs["items"].as_array().unwrap()[..]);
    let name = runs["items"][1]["run"].as_str().unwrap();
    let again = json(&["show", &format!("run:{name}"), "--store", &path]);
    assert_eq!(again["program"], shown["program"]);
}

#[test]
fn an_empty_store_is_said_to_be_unfinished() {
    let path = fresh("unfinished.db");
    fs::write(&path, "").unwrap();
    let said = rl4rla(&["list", "runs", "--store", &path]);
    assert!(said.code == 2 && said.err.contains("its creation was interrupted"), "{said:?}");
    json(&["discover", &written("unfinished.toml", SMALL), "--store", &path]);
}

/// As another user, who may not write where the store lies. Only root can play that.
#[cfg(target_os = "linux")]
#[test]
fn others_can_read_a_store_and_leave_nothing_that_locks_its_owner_out() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    use std::os::unix::process::CommandExt;
    const NOBODY: u32 = 65534;
    let folder = std::env::temp_dir().join(format!("rl4rla-others-{}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir(&folder).unwrap();
    if fs::metadata(&folder).unwrap().uid() != 0 {
        println!("skipped: only root can act as another user");
        return fs::remove_dir_all(&folder).unwrap();
    }
    let source = store("others");
    let (path, binary) = (folder.join("runs.db"), folder.join("rl4rla"));
    fs::copy(&source, &path).unwrap();
    // By another process: a file that this one has open for writing cannot be run, and any child may inherit it.
    let copy = std::process::Command::new("cp").arg(env!("CARGO_BIN_EXE_rl4rla")).arg(&binary).status();
    assert!(copy.unwrap().success());
    let names = || -> Vec<String> {
        let files = fs::read_dir(&folder).unwrap().map(|file| file.unwrap().file_name());
        let mut names: Vec<String> = files.map(|name| name.to_string_lossy().into_owned()).collect();
        names.sort();
        names
    };
    let before = names();
    for mode in [0o555, 0o777] {
        fs::set_permissions(&folder, fs::Permissions::from_mode(mode)).unwrap();
        let mut other = std::process::Command::new(&binary);
        other.args(["list", "runs", "--json", "--store"]).arg(&path).current_dir("/").uid(NOBODY).gid(NOBODY);
        let output = other.output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        assert_eq!(names(), before, "nothing is left behind");
    }
    // What a reader of an earlier version left, in the name of another user.
    for ending in ["-wal", "-shm"] {
        let left = folder.join(format!("runs.db{ending}"));
        fs::write(&left, "").unwrap();
        std::os::unix::fs::chown(&left, Some(NOBODY), Some(NOBODY)).unwrap();
    }
    std::os::unix::fs::chown(&path, Some(1), Some(1)).unwrap();
    let mut owner = std::process::Command::new(&binary);
    let curriculum = folder.join("small.toml");
    fs::write(&curriculum, SMALL).unwrap();
    owner
        .arg("discover")
        .arg(&curriculum)
        .args(["--json", "--store"])
        .arg(&path)
        .current_dir("/")
        .uid(1)
        .gid(1);
    let output = owner.output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    fs::remove_dir_all(&folder).unwrap();
}

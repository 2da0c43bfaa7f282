//! Curricula and stores that cannot be used: exit code 2, a message that names the place, and never a panic.

mod common;

use common::{SMALL, command, fresh, json, rl4rla, said, scratch, written};

/// Refuses, in words for a person and in one document for a script.
#[track_caller]
fn assert_refused(args: &[&str], expected: &[&str]) {
    let text = rl4rla(args);
    assert_eq!((text.code, text.out.as_str()), (2, ""), "{args:?}: {text:?}");
    let script = rl4rla(&[args, &["--json"]].concat());
    assert_eq!(script.code, 2, "{args:?}: {script:?}");
    let error = &script.json()["error"];
    let told = format!("{} {}", error["message"].as_str().unwrap(), error["advice"].as_str().unwrap_or(""));
    for part in expected {
        assert!(text.err.contains(part), "{args:?}: `{part}` is missing from\n{}", text.err);
        assert!(told.contains(part), "{args:?}: `{part}` is missing from\n{told}");
    }
}

/// The small curriculum with one thing changed is refused by every command that takes one.
#[track_caller]
fn assert_spoiled(name: &str, from: &str, to: &str, expected: &[&str]) {
    assert!(SMALL.contains(from), "{from}");
    let path = written(&format!("{name}.toml"), SMALL.replace(from, to));
    let store = fresh(&format!("{name}.db"));
    for command in ["discover", "sweep", "audit"] {
        assert_refused(&[command, &path, "--store", &store], &[&[path.as_str()], expected].concat());
    }
    assert!(!std::path::Path::new(&store).exists(), "a store is not made for nothing");
}

#[test]
fn keys_are_named_with_their_line() {
    assert_spoiled("missing", "edits = 1\n", "", &["line 14", "stage `ls-gd`", "key `edits`"]);
    assert_spoiled(
        "kind",
        "edits = 1",
        "edits = \"one\"",
        &["line 16", "stage `ls-gd`", "key `edits`", "one"],
    );
    let operator = "edits = 1\noperators = [\"VEC_MAT_MLU\"]";
    assert_spoiled("operator", "edits = 1", operator, &["line 17", "key `operators`", "`VEC_MAT_MUL`"]);
    assert_spoiled("budget", "budget = 2000", "budget = -5", &["line 5", "key `defaults.budget`", "-5"]);
    assert_spoiled(
        "stray",
        "step = 0.5",
        "stepp = 0.5",
        &["line 8", "key `defaults.stepp`", "did you mean `step`?"],
    );
    assert_spoiled("empty", "title = \"Two small steps\"", "", &["line 1", "key `title`"]);
    let unreachable = ["line 13", "stage `landweber`", "key `target`", "`edits` is 1"];
    assert_spoiled("unreachable", "edits = 2", "edits = 1", &unreachable);
}

#[test]
fn files_that_are_not_curricula() {
    let folder = scratch("folder.toml");
    std::fs::create_dir_all(&folder).unwrap();
    let cases = [
        (written("syntax.toml", "title = \"x\"\n[[stage]\n"), &["line 2"][..]),
        (written("nothing.toml", ""), &["`title`"]),
        (written("bytes.toml", [b't', 0xff, 0xfe]), &["byte 1 is not UTF-8"]),
        (written("huge.toml", vec![b'#'; 2 << 20]), &["too large"]),
        (written("deep.toml", format!("x = {}", "[".repeat(100_000))), &["line 1"]),
        (folder.to_str().unwrap().to_string(), &["not a plain file"]),
    ];
    for (path, expected) in cases {
        assert_refused(&["discover", &path], &[&[path.as_str()], expected].concat());
    }
    assert_refused(&["discover", "sketched-precond"], &["`sketched-precond-gd`", "rl4rla list curricula"]);
    assert_refused(&["audit", "no/such.toml"], &["no/such.toml", "rl4rla list curricula"]);
    assert_refused(&["sweep", ""], &["rl4rla list curricula"]);
}

#[test]
fn options_out_of_range() {
    let small = written("range.toml", SMALL);
    let store = fresh("range.db");
    for (options, expected) in [
        (["--method", "msct"], ["no method `msct`", "`mcts`"]),
        (["--method", "all the best"], ["`all the best`", "rl4rla list methods"]),
        (["--delta", "2"], ["--delta", "between 0 and 1"]),
        (["--delta", "nan"], ["--delta", "between 0 and 1"]),
        (["--budget", "0"], ["--budget", "0"]),
        (["--budget", "-5"], ["--budget", "-5"]),
        (["--exploration", "inf"], ["--exploration", "nonnegative"]),
        (["--merge", "fingerprints"], ["--merge", "`fingerprint`"]),
        (["--threads", "0"], ["--threads", "0"]),
        (["--seed", "x"], ["--seed", "x"]),
    ] {
        assert_refused(&[&["discover", &small, "--store", &store], &options[..]].concat(), &expected);
    }
    assert_refused(&["sweep", &small, "--methods", "best,msct", "--store", &store], &["`msct`", "`mcts`"]);
    assert_refused(&["sweep", &small, "--seeds", "0", "--store", &store], &["--seeds"]);
    assert_refused(&["list", "runz"], &["runz", "runs"]);
    assert!(!std::path::Path::new(&store).exists());
}

#[test]
fn stores_that_are_something_else() {
    let small = written("store.toml", SMALL);
    let folder = scratch("a-folder.db");
    std::fs::create_dir_all(&folder).unwrap();
    let text = written("text.db", "These are notes and no store.\n".repeat(100));
    // A store of a later format: SQLite keeps the number at byte 60 of the file.
    let real = fresh("real.db");
    json(&["discover", &small, "--store", &real]);
    let mut bytes = std::fs::read(&real).unwrap();
    let newer = written("newer.db", {
        bytes[60..64].copy_from_slice(&999u32.to_be_bytes());
        &bytes
    });
    let cut = written("cut.db", &bytes[..bytes.len() / 2]);
    let absent = scratch("no-such-folder").join("runs.db");
    for (store, expected) in [
        (folder.to_str().unwrap(), &["a-folder.db"][..]),
        (&text, &["text.db"]),
        (&newer, &["newer.db", "999"]),
        (&cut, &["cut.db"]),
        (absent.to_str().unwrap(), &["runs.db", "no such file or folder"]),
    ] {
        assert_refused(&["discover", &small, "--store", store], expected);
        assert_refused(&["sweep", &small, "--seeds", "1", "--store", store], expected);
        assert_refused(&["resume", "LAST", "--store", store], expected);
        assert_refused(&["show", "run:LAST", "--store", store], expected);
        if store != absent.to_str().unwrap() {
            assert_refused(&["list", "runs", "--check", "--store", store], expected);
        }
    }
    assert_eq!(std::fs::read(&text).unwrap().len(), 3000, "what is not ours is left alone");
    assert_eq!(json(&["list", "runs", "--check", "--store", &real])["items"].as_array().unwrap().len(), 1);
}

#[cfg(unix)]
#[test]
fn folders_that_may_not_be_written() {
    use std::os::unix::fs::PermissionsExt;
    let folder = scratch("locked");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o555)).unwrap();
    // Nothing is locked to an administrator.
    let open = std::fs::write(folder.join("probe"), "").is_ok();
    let store = folder.join("runs.db");
    let small = written("locked.toml", SMALL);
    if !open {
        assert_refused(&["discover", &small, "--store", store.to_str().unwrap()], &["runs.db", "permission"]);
    }
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn the_store_is_in_the_current_folder_unless_told_otherwise() {
    let folder = scratch("current");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    let small = written("current.toml", SMALL);
    let said = said(command(&["discover", &small]).current_dir(&folder).output().unwrap());
    assert!(said.code == 0 && folder.join("rl4rla.db").exists(), "{said:?}");
    assert!(said.out.contains("rl4rla resume ") && !said.out.contains("--store"), "{}", said.out);
}

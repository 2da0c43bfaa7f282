//! Where commands write: never over what they read.

use crate::common::{SMALL, fresh, json, rl4rla, scratch, written};
use std::fs;
use std::path::Path;

fn table(name: &str) -> String {
    let line = |i: u32| format!("{},{},{}\n", i % 7, i % 11, i % 13);
    written(name, "a,b,y\n".to_string() + &(0..60).map(line).collect::<String>())
}

/// All that `solve` takes but the output.
fn solve<'a>(data: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["solve", "precond-gd", "--matrix", data, "--target", "y"], more].concat()
}

#[test]
fn inputs_and_the_store_are_never_written_over() {
    let (data, other) = (table("guarded.csv"), table("guarded-test.csv"));
    let program = written("guarded.rla", fs::read("../rl4rla/programs/precond-gd.rla").unwrap());
    let store = fresh("guarded.db");
    json(&["discover", &written("guarded.toml", SMALL), "--store", &store]);
    let copies = |paths: &[&String]| paths.iter().map(|path| fs::read(path).unwrap()).collect::<Vec<_>>();
    let kept = [&data, &other, &program, &store];
    let before = copies(&kept);
    let [link, hard, lock] = ["guarded-link.csv", "guarded-hard.csv", "guarded.db.lock"]
        .map(|name| scratch(name).to_str().unwrap().to_string());
    for path in [&link, &hard] {
        let _ = fs::remove_file(path);
    }
    #[cfg(unix)]
    std::os::unix::fs::symlink(&data, &link).unwrap();
    fs::hard_link(&data, &hard).unwrap();
    let plot = data.replace(".csv", ".svg");
    let log = format!("{store}-wal");
    let around =
        format!("{}/../{}", scratch("").display(), scratch("").file_name().unwrap().to_string_lossy());
    let around = format!("{around}/guarded.csv");
    let predict = ["--predict", &other, "--predictions"];
    let cases: Vec<Vec<&str>> = vec![
        solve(&data, &["--out", &data]),
        solve(&data, &["--out", &link]),
        solve(&data, &["--out", &hard]),
        solve(&data, &["--out", &around]),
        solve(&data, &["--out", &store]),
        solve(&data, &["--out", &log]),
        solve(&data, &["--out", &lock]),
        solve(&data, &["--plot", &plot]),
        solve(&data, &[&predict[..], &[&other]].concat()),
        solve(&data, &[&predict[..], &[&data]].concat()),
        vec!["solve", &program, "--matrix", &data, "--target", "y", "--out", &program],
        vec!["export", &program, "--to", "json", "--out", &program],
        vec!["export", "ls-gd", "--to", "json", "--out", &store],
        vec![
            "discover",
            "block-kaczmarz",
            "--method",
            "islands",
            "--proposer",
            "http://127.0.0.1:9/",
            "--model",
            "m",
            "--transcript",
            &store,
        ],
    ];
    for asked in cases {
        let said = rl4rla(&[&asked[..], &["--store", &store]].concat());
        assert!(said.code == 2 && said.err.contains("would overwrite"), "{asked:?}: {said:?}");
        assert_eq!(copies(&kept), before, "{asked:?}");
    }
    let both = scratch("guarded-both.csv").to_str().unwrap().to_string();
    let twice = solve(&data, &["--out", &both, "--predict", &other, "--predictions", &both]);
    assert!(rl4rla(&twice).err.contains("would overwrite the file of --out"));
}

#[cfg(unix)]
#[test]
fn the_files_beside_a_store_are_not_written_over_by_whatever_links() {
    use std::os::unix::fs::symlink;
    let data = table("aliased.csv");
    let [store, alias, link] = ["aliased.db", "alias.db", "aliased-link"].map(fresh);
    json(&["discover", &written("aliased.toml", SMALL), "--store", &store]);
    symlink("aliased.db", &alias).unwrap();
    for ending in ["", "-wal", "-shm", "-journal", ".lock", ".new"] {
        let beside = format!("{store}{ending}");
        let _ = fs::remove_file(&link);
        symlink(format!("aliased.db{ending}"), &link).unwrap();
        let there = fs::read(&beside).ok();
        for (store, out) in [(&alias, &beside), (&alias, &link), (&store, &link)] {
            let said = rl4rla(&solve(&data, &["--out", out, "--store", store]));
            assert!(said.code == 2 && said.err.contains("overwrite the store"), "{beside}: {said:?}");
            assert_eq!(fs::read(&beside).ok(), there);
        }
    }
}

#[test]
fn a_transcript_is_not_added_to_something_else() {
    let file = table("no-transcript.csv");
    let rows: String = (0..400).map(|i| format!("{},{},{}\n", i % 7, i % 11, i % 13)).collect();
    fs::write(&file, "a,b,y\n".to_string() + &rows).unwrap();
    let text = format!(
        "title = \"My table\"\nstart = \"ls-gd\"\n[[stage]]\nname = \"faster\"\nedits = 1\nopen = [\"setup\"]\nregisters = [\"R1\"]\n\
         family = {{ kind = \"data\", file = {file:?}, target = \"y\", rows = 40 }}\n"
    );
    let (curriculum, store) = (written("no-transcript.toml", text), fresh("no-transcript.db"));
    let note = written("no-transcript.json", "{ \"answer\": 7 }\n");
    for path in [&file, &note] {
        let before = fs::read(path).unwrap();
        let asked = ["discover", &curriculum, "--method", "islands", "--proposer", "http://127.0.0.1:9/"];
        let said = rl4rla(&[&asked[..], &["--model", "m", "--transcript", path, "--store", &store]].concat());
        assert!(
            said.code == 2 && said.err.contains("is not a transcript and would be overwritten"),
            "{said:?}"
        );
        assert_eq!(fs::read(path).unwrap(), before);
        assert!(!Path::new(&store).exists(), "no run is begun");
    }
}

/// Nobody can make a file in `/proc`.
#[cfg(target_os = "linux")]
#[test]
fn a_place_that_cannot_be_written_to_is_told_before_the_work() {
    // What else is wrong is found later.
    let solve = ["solve", "precond-gd", "--matrix", "no-such-table.csv", "--target", "y"];
    let analyze = ["analyze", "ls-gd", "--tolerance", "5"];
    let (file, data) = (written("no-folder", "text"), table("no-place.csv"));
    let store = fresh("no-place.db");
    json(&["discover", &written("no-place.toml", SMALL), "--store", &store]);
    let cases: [(&[&str], &[&str]); 8] = [
        (&solve, &["--out", "/proc/x.csv"]),
        (&solve, &["--plot", "/proc/x.svg"]),
        (&solve, &["--predict", &data, "--predictions", "/proc/x.csv"]),
        (&analyze, &["--out", "/proc/x"]),
        (&analyze, &["--out", "/proc/x/y"]),
        (&analyze, &["--out", &file]),
        (&["reproduce", "table1"], &["--out", "/proc/x"]),
        (&["report", "--store", &store], &["--out", "/proc/x"]),
    ];
    for (asked, out) in cases {
        let said = rl4rla(&[asked, out].concat());
        assert!(said.code == 2 && said.err.contains("cannot write"), "{asked:?} {out:?}: {said:?}");
    }
    assert_eq!(fs::read_to_string(file).unwrap(), "text");
}

#[test]
fn what_cannot_be_written_is_said_before_the_work() {
    let data = table("early.csv");
    for (out, part) in [("no/such/folder/x.csv", "there is no folder"), (".", "is a folder")] {
        let said = rl4rla(&solve(&data, &["--out", out]));
        assert!(said.code == 2 && said.err.contains(part), "{said:?}");
    }
}

#[cfg(unix)]
#[test]
fn devices_pipes_and_links_are_written_through() {
    use std::os::unix::fs::FileTypeExt;
    let data = table("through.csv");
    let plain = scratch("through-plain.csv");
    json(&solve(&data, &["--out", plain.to_str().unwrap()]));
    let expected = fs::read_to_string(&plain).unwrap();
    assert_eq!(rl4rla(&solve(&data, &["--out", "/dev/null"])).code, 0);
    assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());
    let said = rl4rla(&solve(&data, &["--quiet", "--out", "/dev/stdout"]));
    assert!(
        said.code == 0 && said.out.starts_with(&expected.replace("\r\n", "\n"))
            || said.out.starts_with(&expected)
    );
    let said = rl4rla(&solve(&data, &["--json", "--out", "/dev/stdout"]));
    assert!(said.code == 2 && said.json()["error"]["message"].as_str().unwrap().contains("JSON"), "{said:?}");
    if Path::new("/dev/full").exists() {
        let said = rl4rla(&solve(&data, &["--out", "/dev/full"]));
        assert!(said.code == 2 && said.err.contains("/dev/full"), "{said:?}");
    }
    let (target, link) = (scratch("through-target.csv"), scratch("through-link.csv"));
    let _ = (fs::remove_file(&target), fs::remove_file(&link));
    std::os::unix::fs::symlink("through-target.csv", &link).unwrap();
    json(&solve(&data, &["--out", link.to_str().unwrap()]));
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::read_to_string(&target).unwrap(), expected);
}

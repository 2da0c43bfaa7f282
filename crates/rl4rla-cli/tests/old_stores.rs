//! A store that version 0.2.0 has left, of which nothing is lost: it is listed, shown and reported on. Its unfinished run is
//! left as it is, because this version computes other numbers.

mod common;

use common::{fresh, json, rl4rla, runs, scratch};
use rl4rla::record::Build;
use rl4rla::store::{NewRun, Store};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

const OLD: &[u8] = include_bytes!("fixtures/0.2.0.store");

/// Two runs by hand, one that was interrupted, a sweep, and one more.
const RUNS: [(&str, &str); 7] = [
    ("1478f350", "found"),
    ("fdbb1c17", "missed"),
    ("49110c8f", "interrupted"),
    ("a37f1731", "found"),
    ("5a6b9abb", "found"),
    ("e53a9979", "found"),
    ("93c76403", "missed"),
];

/// A copy of the store, as an argument.
fn copy(name: &str) -> String {
    let path = fresh(name);
    fs::write(&path, OLD).unwrap();
    path
}

#[test]
fn what_an_earlier_version_left_is_listed_and_shown_and_left_as_it_is() {
    let store = copy("old-list.db");
    let listed = json(&["list", "runs", "--check", "--store", &store]);
    let word = |item: &Value| match &item["found"] {
        Value::Bool(true) => "found",
        Value::Bool(false) => "missed",
        _ => "interrupted",
    };
    let items = listed["items"].as_array().unwrap();
    let told: Vec<(&str, &str)> =
        items.iter().map(|item| (item["run"].as_str().unwrap(), word(item))).collect();
    assert_eq!(told, RUNS);
    for (name, op) in
        [("run:1478f350", "VEC_MAT_MUL"), ("run:49110c8f", "VEC_VEC_SUB"), ("run:1478f350#1", "VEC_MAT_MUL")]
    {
        let shown = json(&["show", name, "--store", &store]);
        assert!(shown["program"].as_str().unwrap().contains(op), "{name}: {shown}");
    }
    let out = scratch("old-report");
    let report = json(&["report", "--out", out.to_str().unwrap(), "--store", &store]);
    assert_eq!((&report["runs"], &report["unfinished"]), (&json!(7), &json!(1)));
    let page = fs::read_to_string(out.join("index.html")).unwrap();
    for words in ["1478f350", "by version 0.2.0", "as far as landweber"] {
        assert!(page.contains(words), "{words}");
    }
    assert_eq!(fs::read(&store).unwrap(), OLD, "reading changes nothing");
}

#[test]
fn finished_runs_are_printed_again_as_they_were() {
    let store = copy("old-again.db");
    for (run, more, code, page) in [
        ("1478f350", &[][..], 0, include_str!("fixtures/0.2.0-found.txt")),
        ("fdbb1c17", &["--prefer", "speed"], 1, include_str!("fixtures/0.2.0-missed.txt")),
    ] {
        let said = rl4rla(&[&["resume", run, "--quiet", "--store", &store], more].concat());
        assert_eq!((said.code, said.out.as_str()), (code, page));
        let document = rl4rla(&[&["resume", run, "--json", "--store", &store], more].concat()).json();
        assert_eq!((&document["run"], &document["build"]), (&json!(run), &Value::Null));
        let preferred = if more.is_empty() { Value::Null } else { json!(format!("run:{run}#1")) };
        assert_eq!(document["preferred"]["source"], preferred);
    }
    assert_eq!(fs::read(&store).unwrap(), OLD, "nothing was computed again");
}

#[test]
fn an_interrupted_run_of_another_version_is_refused_and_left_as_it_is() {
    let store = copy("old-resume.db");
    let open = Store::open_read_only(Path::new(&store)).unwrap();
    let run = open.run(&open.find("49110c8f").unwrap()).unwrap();
    assert_eq!(run.build, Build { version: "0.2.0".into(), digest: None });
    drop(open);
    let said = rl4rla(&["resume", "49110c8f", "--store", &store]);
    assert_eq!(said.code, 2, "{said:?}");
    assert!(said.err.contains("another build") && said.err.contains("0.2.0"), "{said:?}");
    assert_eq!(runs(&store)[2]["status"].as_str(), Some("interrupted"));
}

#[test]
fn runs_of_another_build_are_neither_gone_on_with_nor_recalled() {
    let store = copy("old-builds.db");
    let spec = {
        let mut open = Store::open(Path::new(&store)).unwrap();
        let old = open.run(&open.find("49110c8f").unwrap()).unwrap();
        let build = &Build { digest: Some("0123456789abcdef".into()), ..Build::current() };
        let (curriculum, method, seed) = (&*old.row.curriculum, &*old.row.method, old.row.seed);
        let (spec, settings) = (&*old.spec, &*old.settings);
        open.begin(&NewRun { curriculum, method, seed, spec, settings, build }).unwrap();
        let swept = open.run(&open.find("a37f1731").unwrap()).unwrap();
        assert_eq!(swept.result.unwrap().unwrap().alone, Some(false));
        swept.spec
    };
    let said = rl4rla(&["resume", "LAST", "--store", &store]);
    assert_eq!(said.code, 2, "{said:?}");
    assert!(said.err.contains("another build") && said.err.contains("+0123456789abcdef"), "{said:?}");
    // The same sweep in a folder where its curriculum has the name it had.
    let folder = scratch("old-sweep");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("small.toml"), spec).unwrap();
    for _ in 0..2 {
        let sweep = ["sweep", "small.toml", "--seeds", "2", "--methods", "best,mcts", "--store", &store];
        let said = common::said(common::command(&sweep).current_dir(&folder).output().unwrap());
        assert_eq!(said.code, 0, "{said:?}");
        assert_eq!(runs(&store).len(), 8 + 4, "made once by this build, and then recalled");
    }
}

//! `report`: a page about the runs of a store.

mod common;

use common::{
    SMALL, assert_keys, fresh, json as answer, misguided, rl4rla, runs, scratch, unreadable, written,
};
use rl4rla::record::{Build, RunRecord, StageRecord};
use rl4rla::store::{NewRun, RunId, Store};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// A folder that is not there yet, as an argument.
fn folder(name: &str) -> String {
    let path = scratch(name);
    let _ = fs::remove_dir_all(&path);
    path.to_str().unwrap().to_string()
}

/// The files a report says it wrote, which must be all there are.
fn files(report: &Value, out: &str) -> Vec<String> {
    let files: Vec<String> =
        report["files"].as_array().unwrap().iter().map(|file| file.as_str().unwrap().to_string()).collect();
    let mut there: Vec<String> =
        fs::read_dir(out).unwrap().map(|entry| entry.unwrap().path().to_str().unwrap().to_string()).collect();
    let mut said = files.clone();
    there.sort();
    said.sort();
    assert_eq!(there, said);
    files
}

#[test]
fn a_report_has_everything_on_one_page_and_files_beside_it() {
    let (small, store, out) = (written("report.toml", SMALL), fresh("report.db"), folder("report"));
    answer(&["sweep", &small, "--methods", "best,mcts", "--seeds", "3", "--store", &store]);
    answer(&["discover", &small, "--seed", "7", "--store", &store]);
    let report = answer(&["report", "--out", &out, "--store", &store]);
    assert_keys(&report, &["files", "runs", "unfinished"]);
    assert_eq!((&report["runs"], &report["unfinished"]), (&7.into(), &0.into()));
    let files = files(&report, &out);
    assert!(files[0].ends_with("index.html"));
    let page = fs::read_to_string(&files[0]).unwrap();
    for section in ["summary", "curricula", "programs", "transitions", "search", "runs"] {
        assert!(page.contains(&format!("<section id=\"{section}\">")), "{section}");
    }
    // What was found, what speaks for it, and how often.
    for words in
        ["Aᵀ (A xₜ − b)", "4/4", "equal normal forms", "lead over the next candidate", "∅ → landweber"]
    {
        assert!(page.contains(words), "{words}");
    }
    assert!(
        page.contains("3 to 4 runs each, seeds 0, 1, 2, 7, drawn one by one"),
        "curves say of which runs they are"
    );
    for word in ["NaN", "<script", "http:", "https:"] {
        assert!(!page.contains(word), "{word}");
    }
    // Every link to a file leads to one.
    for name in page.split("href=\"").skip(1).map(|rest| rest.split('"').next().unwrap()) {
        assert!(name.starts_with('#') || Path::new(&out).join(name).exists(), "{name}");
    }
    for (name, head) in [("summary.csv", "curriculum,method,found,share"), ("runs.csv", "run,curriculum")] {
        let text = fs::read_to_string(Path::new(&out).join(name)).unwrap();
        assert!(text.starts_with(head), "{text}");
    }
    let histories = files.iter().filter(|file| file.contains("history-") && file.ends_with(".csv"));
    for history in histories {
        let text = fs::read_to_string(history).unwrap();
        assert!(text.lines().filter(|line| line.contains(",median,")).count() > 5, "{text}");
    }
    // The same store gives the same page.
    let again = folder("report-again");
    answer(&["report", "--out", &again, "--store", &store, "--threads", "1"]);
    assert_eq!(fs::read_to_string(Path::new(&again).join("index.html")).unwrap(), page);
}

#[test]
fn a_report_on_named_runs_is_about_these_alone() {
    let (store, out) = (fresh("report-named.db"), folder("report-named"));
    let (small, bad) = (written("report-named.toml", SMALL), written("report-bad.toml", misguided()));
    answer(&["sweep", &small, "--seeds", "2", "--store", &store]);
    assert_eq!(rl4rla(&["discover", &bad, "--store", &store]).code, 1);
    let last = runs(&store).pop().unwrap()["run"].as_str().unwrap().to_string();
    let report = answer(&["report", "LAST", &last, "--out", &out, "--store", &store]);
    assert_eq!(report["runs"], 1);
    let page = fs::read_to_string(&files(&report, &out)[0]).unwrap();
    assert!(page.contains("finding missed") && !page.contains("finding found"));
    assert!(page.contains(&last) && page.contains("0 of 1 finished run"));
    let said = rl4rla(&["report", "LAST", "--out", &out, "--store", &store]);
    assert!(said.code == 0 && said.out.contains("index.html"), "{said:?}");
}

#[test]
fn where_there_is_nothing_to_report_this_is_said() {
    let out = folder("report-nothing");
    let missing = rl4rla(&["report", "--out", &out, "--store", &fresh("report-missing.db")]);
    assert_eq!(missing.code, 2);
    assert!(missing.err.contains("no store") && missing.err.contains("discover"), "{missing:?}");
    let (small, store) = (written("report-empty.toml", SMALL), fresh("report-empty.db"));
    drop(Store::open(Path::new(&store)).unwrap());
    let empty = rl4rla(&["report", "--out", &out, "--store", &store]);
    assert!(empty.code == 2 && empty.err.contains("no runs"), "{empty:?}");
    answer(&["discover", &small, "--store", &store]);
    let unknown = rl4rla(&["report", "ffffffff", "--out", &out, "--store", &store]);
    assert_eq!(unknown.code, 2, "{unknown:?}");
    let foreign =
        rl4rla(&["report", "--out", &out, "--store", &written("report-text.db", "no store at all")]);
    assert_eq!(foreign.code, 2, "{foreign:?}");
    assert!(!Path::new(&out).exists(), "nothing was written");
    // A folder that cannot be: its parent is a file.
    let file = written("report-file", "");
    let blocked = rl4rla(&["report", "--out", &format!("{file}/inside"), "--store", &store]);
    assert!(blocked.code == 2 && blocked.err.contains("--out"), "{blocked:?}");
}

/// Begins a run by hand.
fn begin(store: &mut Store, seed: u64, spec: &str, version: &str) -> RunId {
    let (curriculum, method, build) = ("small", "best", &Build { version: version.into(), digest: None });
    store.begin(&NewRun { curriculum, method, seed, spec, settings: "{}", build }).unwrap()
}

const PROGRAM: &str = "iteration:\n  v1 = MAT_VEC_MUL(A, x)\n";

/// What a stage may have come to.
fn stage(name: &str, program: &str) -> StageRecord {
    let stage = json!({ "name": name, "found": true, "program": program, "equation": "x <b>&</b> y", "playouts": 5,
                        "evaluations": 9, "seconds": 0.1, "stop": "confident", "reward": 0.5, "reward_error": 0.1,
                        "instances": 4 });
    serde_json::from_value(stage).unwrap()
}

/// What a run may have come to.
fn result(found: bool, stages: &[StageRecord]) -> RunRecord {
    let run = json!({ "run": "", "curriculum": "small", "method": "best", "seed": 0, "found": found, "playouts": 5,
                      "evaluations": 9, "seconds": 0.1, "stages": stages });
    serde_json::from_value(run).unwrap()
}

#[test]
fn runs_that_are_not_done_or_of_another_version_are_told_apart() {
    let (path, out) = (fresh("report-odd.db"), folder("report-odd"));
    // Two results that make no sense here.
    fs::write(&path, unreadable(b'[')).unwrap();
    let mut store = Store::open(Path::new(&path)).unwrap();
    let done = begin(&mut store, 0, SMALL, "0.0.1");
    store.finish(&done, &result(true, &[stage("landweber", PROGRAM)])).unwrap();
    // One that came as far as its first stage, one that came nowhere, and one of a curriculum that makes no sense.
    let half = begin(&mut store, 1, SMALL, env!("CARGO_PKG_VERSION"));
    store.finish_stage(&half, 0, &stage("landweber", "no program")).unwrap();
    store.interrupted(&half).unwrap();
    begin(&mut store, 2, SMALL, env!("CARGO_PKG_VERSION"));
    let foreign = begin(&mut store, 3, "title = 5", "99.0.0");
    store.finish(&foreign, &result(false, &[])).unwrap();
    drop(store);
    let report = answer(&["report", "--out", &out, "--store", &path]);
    assert_eq!((&report["runs"], &report["unfinished"]), (&6.into(), &2.into()));
    let page = fs::read_to_string(&files(&report, &out)[0]).unwrap();
    for words in
        ["2 runs are unfinished", "cannot be read by this version", "version 0.0.1", "as far as landweber"]
    {
        assert!(page.contains(words), "{words}");
    }
    assert!(!page.contains("<b>&</b>"), "what a store holds is escaped");
}

#[test]
fn a_large_store_gives_a_page_of_sensible_size() {
    let (path, out) = (fresh("report-large.db"), folder("report-large"));
    let mut store = Store::open(Path::new(&path)).unwrap();
    let stages = [stage("landweber", PROGRAM), stage("ls-gd", PROGRAM)];
    for seed in 0..600 {
        // Fifty curricula, each a little different.
        let spec = format!("{SMALL}# {}", seed % 50);
        let run = begin(&mut store, seed, &spec, env!("CARGO_PKG_VERSION"));
        store.finish(&run, &result(seed % 7 != 0, &stages)).unwrap();
    }
    drop(store);
    let report = answer(&["report", "--out", &out, "--store", &path]);
    let files = files(&report, &out);
    assert!(files.len() < 300, "{}", files.len());
    assert!(fs::metadata(&files[0]).unwrap().len() < 2_000_000);
    let page = fs::read_to_string(&files[0]).unwrap();
    assert!(page.contains("of 600 runs") && page.contains("more are not"));
}

#[test]
fn printed_commands_can_be_typed_as_they_are() {
    let (store, out) = (fresh("report typed.db"), folder("report typed/r $(x)"));
    let empty = rl4rla(&["list", "runs", "--store", &store]);
    let begin = format!("`rl4rla discover sketched-precond-gd --store '{store}'`");
    assert!(empty.out.contains(&begin), "{empty:?}");
    let none = rl4rla(&["report", "--store", &store]);
    assert!(none.err.contains(&begin), "{none:?}");
    // The front of its first stage has something to choose from.
    let first = SMALL.rsplit_once("[[stage]]").unwrap().0;
    answer(&["discover", &written("report-typed.toml", first), "--store", &store]);
    let said = rl4rla(&["report", "--out", &out, "--store", &store]);
    assert!(said.out.contains(&format!("open '{out}/index.html' shows it")), "{said:?}");
    let page = fs::read_to_string(format!("{out}/index.html")).unwrap();
    let id = runs(&store)[0]["run"].as_str().unwrap().to_string();
    for command in ["resume RUN".to_string(), format!("show run:{id}#K")] {
        let shown = page.split(&format!("rl4rla {command}")).nth(1).expect("it is shown");
        assert!(shown.starts_with(" --store "), "{command}");
    }
}

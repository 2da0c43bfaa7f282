//! `reproduce`: items of the paper end to end, on as few seeds as it takes to see that they are made.

mod common;

use common::{assert_keys, fresh, json, rl4rla, runs, scratch, timeless, written};
use serde_json::Value;
use std::fs;
use std::process::{Command, Stdio};
use std::time::Duration;

fn folder(name: &str) -> String {
    let path = scratch(name);
    let _ = fs::remove_dir_all(&path);
    path.to_str().expect("the path is UTF-8").to_string()
}

#[test]
fn an_item_has_the_papers_values_beside_ours_and_files() {
    let (store, out) = (fresh("reproduce.db"), folder("reproduce"));
    let asked = ["reproduce", "table1", "reuse", "--seeds", "1", "--quick", "--store", &store, "--out", &out];
    let made = json(&asked);
    let rows = made["rows"].as_array().unwrap();
    rows.iter().for_each(|row| assert_keys(row, &["item", "what", "quantity", "paper", "ours", "count"]));
    let named = |what: &str| rows.iter().find(|row| row["what"] == what).unwrap();
    let landweber = named("landweber");
    assert_eq!(
        (&landweber["paper"], &landweber["ours"]),
        (&"Landweber iteration".into(), &"Landweber Iteration".into())
    );
    assert_eq!(named("precond-weighted-sgd")["paper"], "Leverage-Score Subsampling");
    for file in made["files"].as_array().unwrap() {
        assert!(fs::metadata(file.as_str().unwrap()).unwrap().len() > 0, "{file}");
    }
    let page = fs::read_to_string(format!("{out}/index.html")).unwrap();
    assert!(page.contains("Curriculum progression") && page.contains("MAT_VEC_MUL"));
    // Curves say of which runs they are, and of which search.
    assert!(page.contains("one run each, seed 0") && page.contains("mcgs-ucd, released"));
    for outside in ["<script", "<link", "src=\"http", "@import"] {
        assert!(!page.contains(outside), "{outside}");
    }
    let table = fs::read_to_string(format!("{out}/table1.csv")).unwrap();
    assert_eq!(table.lines().count(), 1 + 7, "{table}");
    // Asked again it computes nothing, and says the same.
    let count = runs(&store).len();
    assert_eq!(count, 1 + 3);
    assert_eq!(timeless(json(&asked)), timeless(made));
    assert_eq!(runs(&store).len(), count);
}

#[test]
fn the_winner_map_has_figures_and_what_was_measured() {
    let (store, out) = (fresh("reproduce-map.db"), folder("reproduce-map"));
    let made = json(&["reproduce", "winner-map", "--quick", "--store", &store, "--out", &out]);
    let files: Vec<&str> = made["files"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    for name in
        ["winner-map.svg", "winner-map-sizes.svg", "table-winner-map.csv", "winner-map.json", "winners.json"]
    {
        assert!(files.iter().any(|file| file.ends_with(name)), "{name} in {files:?}");
    }
    let read = |name: &str| -> Value {
        serde_json::from_str(&fs::read_to_string(format!("{out}/{name}")).unwrap()).unwrap()
    };
    let map = read("winner-map.json");
    assert_keys(&map, &["version", "seed", "grid", "contenders", "cells"]);
    let count = |axis: &str| map["grid"][axis].as_array().unwrap().len();
    let cells = count("kappas") * count("outsides") * count("leverages") * count("tolerances");
    assert_eq!(map["cells"].as_array().unwrap().len(), cells);
    let winners = read("winners.json");
    let winners = winners.as_array().unwrap();
    assert_eq!(winners.len(), cells * count("ratios") * count("cols") * count("prices"));
    for winner in winners {
        assert!(winner["program"].is_string() && winner["margin"].as_f64().unwrap() >= 1.0, "{winner}");
    }
    let table = fs::read_to_string(format!("{out}/table-winner-map.csv")).unwrap();
    assert!(table.contains("normal-equations"), "{table}");
    assert_eq!(runs(&store).len(), 0, "no searches were needed");
}

#[test]
fn what_cannot_be_reproduced_is_told_before_anything_runs() {
    let store = fresh("reproduce-bad.db");
    let refused = |args: &[&str]| {
        let said = rl4rla(&[&["reproduce"], args, &["--store", &store]].concat());
        assert_eq!(said.code, 2, "{said:?}");
        said.err
    };
    assert!(refused(&["tabel1"]).contains("`table1`"));
    let missing = refused(&["year", "--quick", "--data", "no-such-file.txt"]);
    assert!(missing.contains("no-such-file.txt") && missing.contains("UCI"), "{missing}");
    let short = written("year-short.txt", "2001,1.0,2.0\n");
    let wrong = refused(&["year", "--quick", "--data", &short]);
    assert!(wrong.contains("line 1") && wrong.contains("found 3 fields"), "{wrong}");
    let numbers = ",1.5".repeat(90);
    let late = written("year-late.txt", format!("2001{numbers}\n2012{numbers}\n"));
    let wrong = refused(&["year", "--quick", "--data", &late]);
    assert!(wrong.contains("line 2") && wrong.contains("from 1922 to 2011, found `2012`"), "{wrong}");
    let few = written("year-few.txt", format!("2001{numbers}\n1999{numbers}\n"));
    let wrong = refused(&["year", "--quick", "--data", &few]);
    assert!(wrong.contains("line 2") && wrong.contains("expected 515345 rows, found 2"), "{wrong}");
    assert!(wrong.contains("UCI"), "{wrong}");
    assert!(refused(&["table1", "--seeds", "0"]).contains("--seeds"));
    let file = written("reproduce-no-folder", "");
    assert!(refused(&["table1", "--quick", "--out", &file]).contains("reproduce-no-folder"));
}

/// Killed when some of its runs are done, it goes on to what an undisturbed one makes.
#[test]
fn a_killed_reproduction_goes_on() {
    let (store, out) = (fresh("reproduce-killed.db"), folder("reproduce-killed"));
    let asked = ["reproduce", "table1", "--seeds", "3", "--quick", "--store", &store, "--out", &out];
    let mut child = Command::new(env!("CARGO_BIN_EXE_rl4rla"))
        .args(asked)
        .args(["--threads", "1", "--json"])
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let done = || scratch("reproduce-killed.db").exists() && !runs(&store).is_empty();
    while child.try_wait().unwrap().is_none() && !done() {
        std::thread::sleep(Duration::from_millis(50));
    }
    let _ = child.kill();
    child.wait().unwrap();
    let rows = |made: Value| timeless(made)["rows"].clone();
    let resumed = rows(json(&asked));
    let whole = fresh("reproduce-whole.db");
    assert_eq!(
        rows(json(&["reproduce", "table1", "--seeds", "3", "--quick", "--store", &whole, "--out", &out])),
        resumed
    );
    // Of the run it was killed in, where it had begun one, a torso stays behind; no finished run is made twice.
    assert_eq!(runs(&store).iter().filter(|run| run["status"] == "done").count(), 3);
}

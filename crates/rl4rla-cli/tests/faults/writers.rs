//! Several runs at once in one store, one of them killed: each ends as if it had been alone.

use super::kills::CURRICULUM;
use crate::common::{fresh, lengthy, rl4rla, runs, said, timeless, written};
use serde_json::Value;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

fn started(arguments: &[&str], store: &str) -> Child {
    Command::new(env!("CARGO_BIN_EXE_rl4rla"))
        .args(arguments)
        .args(["--json", "--store", store])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts")
}

/// The run with this seed once it is as wanted, or the process ends.
fn awaited(child: &mut Child, store: &str, seed: u64, wanted: fn(&Value) -> bool) -> Value {
    loop {
        let over = child.try_wait().unwrap().is_some();
        let row = runs(store).into_iter().find(|row| row["seed"] == seed);
        match row {
            Some(row) if wanted(&row) || over => return row,
            None if over => panic!("there is no run with seed {seed}"),
            _ => std::thread::sleep(Duration::from_millis(10)),
        }
    }
}

#[test]
fn runs_of_several_processes_in_one_store() {
    const ENDLESS: u64 = 99;
    let (curriculum, slow) = (written("writers.toml", CURRICULUM), written("endless.toml", lengthy(100_000)));
    let (store, quiet) = (fresh("writers.db"), fresh("writers-quiet.db"));
    let seeds = ["0", "1", "2"];
    let asked = |seed| ["discover", &curriculum, "--method", "mcgs-ucd", "--threads", "1", "--seed", seed];
    // All of them find that there is no store yet.
    let mut endless =
        started(&["discover", &slow, "--method", "exhaustive", "--seed", "99", "--threads", "1"], &store);
    let mut children = seeds.map(|seed| started(&asked(seed), &store));
    let victim = awaited(&mut children[0], &store, 0, |row| row["evaluations"].as_u64() > Some(0));
    children[0].kill().unwrap();
    children[0].wait().unwrap();
    let victim = victim["run"].as_str().unwrap();
    let taken = awaited(&mut endless, &store, ENDLESS, |row| row["status"] == "running");
    let refused = rl4rla(&["resume", taken["run"].as_str().unwrap(), "--store", &store]);
    assert_eq!(refused.code, 2, "{refused:?}");
    for word in [&format!("process {}", endless.id()), "is being worked on", "wait for it or stop it"] {
        assert!(refused.err.contains(word), "{word}: {refused:?}");
    }
    let [_, one, other] = children;
    let resumed = rl4rla(&["resume", victim, "--threads", "1", "--json", "--store", &store]);
    let ended = [one, other].map(|child| said(child.wait_with_output().unwrap()));
    for (seed, found) in seeds.iter().zip([&resumed, &ended[0], &ended[1]]) {
        let alone = rl4rla(&[&asked(seed)[..], &["--json", "--store", &quiet]].concat());
        assert_eq!((found.code, timeless(found.json())), (alone.code, timeless(alone.json())), "seed {seed}");
    }
    let rows = rl4rla(&["list", "runs", "--check", "--json", "--store", &store]).json();
    let mut rows: Vec<(u64, String)> = (rows["items"].as_array().unwrap().iter())
        .map(|row| (row["seed"].as_u64().unwrap(), row["status"].as_str().unwrap().into()))
        .collect();
    rows.sort();
    let done = |seed: u64| (seed, "done".to_string());
    assert_eq!(rows, [done(0), done(1), done(2), (ENDLESS, "running".into())]);
    endless.kill().unwrap();
    endless.wait().unwrap();
    let row = runs(&store).into_iter().find(|row| row["seed"] == ENDLESS).unwrap();
    assert_eq!(row["status"], "interrupted");
}

#[test]
fn sweeps_of_several_processes_in_one_store() {
    let curriculum = written("sweepers.toml", crate::common::SMALL);
    let (store, quiet) = (fresh("sweepers.db"), fresh("sweepers-quiet.db"));
    let asked = ["sweep", &curriculum, "--methods", "best,mcgs-ucd", "--seeds", "3", "--threads", "1"];
    let children = [(); 2].map(|()| started(&asked, &store));
    let ended = children.map(|child| said(child.wait_with_output().unwrap()));
    let alone = rl4rla(&[&asked[..], &["--json", "--store", &quiet]].concat());
    for found in &ended {
        assert_eq!((found.code, timeless(found.json())), (alone.code, timeless(alone.json())));
    }
    assert_eq!(rl4rla(&["list", "runs", "--check", "--store", &store]).code, 0);
    let rows = runs(&store);
    // Both compute what neither finds there when it begins; each run has its own row.
    assert!((6..=12).contains(&rows.len()) && rows.iter().all(|row| row["status"] == "done"), "{rows:?}");
}

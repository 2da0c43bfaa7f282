//! Evolution through the command: budgets of evaluations, threads, and going on after an interruption.

mod common;

use common::{SMALL, fresh, json, names, rl4rla, runs, started, timeless, written};
use serde_json::Value;

const ASKED: [&str; 8] =
    ["discover", "sketched-precond-gd", "--method", "evolution", "--evaluations", "500", "--budget", "4000"];

fn discovered(arguments: &[&str], store: &str, more: &[&str]) -> Value {
    let said = rl4rla(&[arguments, &["--json", "--store", store], more].concat());
    assert!(said.code <= 1, "{said:?}");
    timeless(said.json())
}

#[test]
fn threads_change_nothing() {
    let [one, two] =
        ["1", "2"].map(|n| discovered(&ASKED, &fresh(&format!("evolution-{n}.db")), &["--threads", n]));
    assert_eq!(one, two);
    let stages = one["stages"].as_array().unwrap();
    // The final measurement of the best comes on top of the budget.
    assert!(stages.iter().all(|stage| stage["evaluations"].as_u64() < Some(500 + 512)), "{one}");
}

#[test]
fn an_interrupted_run_goes_on_to_the_same_result() {
    let calm = discovered(&ASKED, &fresh("evolution-calm.db"), &[]);
    let store = fresh("evolution-killed.db");
    let mut child = started(&ASKED, &store, 0);
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(discovered(&["resume", "LAST"], &store, &[]), calm);
}

#[test]
fn evaluations_are_part_of_what_a_sweep_asks_for() {
    let (small, store) = (written("budgets.toml", SMALL), fresh("budgets.db"));
    let sweep = |more: &[&str]| {
        let asked = ["sweep", &small, "--methods", "evolution,islands,random", "--seeds", "2", "--json"];
        let said = rl4rla(&[&asked[..], &["--store", &store, "--threads", "1"], more].concat());
        assert!(said.code <= 1, "{said:?}");
        (runs(&store).len(), said.json())
    };
    let (count, _) = sweep(&[]);
    let (more, few) = sweep(&["--evaluations", "20"]);
    assert_eq!((count, more), (6, 12), "other settings, other runs");
    assert_eq!(sweep(&["--evaluations", "20"]), (12, few));
    assert_eq!(sweep(&[]).0, 12);
    let zero = rl4rla(&["discover", &small, "--evaluations", "0", "--store", &store]);
    assert!(zero.code == 2 && zero.err.contains("--evaluations"), "{zero:?}");
    assert!(["evolution", "islands"].iter().all(|name| names("methods").contains(&name.to_string())));
    json(&["discover", &small, "--method", "islands", "--store", &store]);
}

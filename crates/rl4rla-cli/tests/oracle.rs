//! `--method oracle` and `--typed`: programs from the empty one, and programs that make sense in units.

mod common;

use common::{fresh, rl4rla, runs, timeless, written};
use serde_json::{Value, json};
use std::path::Path;
use std::process::{Command, Stdio};

/// Sketched preconditioning from nothing, in two stages of which the second does not need the first: what the first
/// asks for is not what its reward asks for.
const SMALL: &str = r#"
title = "Small"
[defaults]
registers = ["v1", "R1"]
operators = ["VEC_VEC_SUB", "MAT_VEC_MUL", "VEC_MAT_MUL", "HHQR", "MAT_INV", "SKETCH"]
setup-only = ["R1"]
family = { kind = "mid-cond", rows = 400, cols = 8 }
iterations = 64
step = [1.0, 0.8, 1.6]
sketch-factor = 20
reward = { profile = "tolerance", epsilon = 1e-10, rows = 1000000, cols = 500 }
instances = { search = 4, select = 3, report = 3 }
[[stage]]
name = "misnamed"
edits = 3
conditions = [2]
target = "setup:\n R1 = HHQR(A)\n R1 = MAT_INV(R1)\niteration:\n v1 = MAT_VEC_MUL(R1, x)\n"
[[stage]]
name = "sketched"
edits = 7
conditions = [1e2, 1e5]
target = '''
setup:
  R1 = SKETCH(A)
  R1 = HHQR(R1)
  R1 = MAT_INV(R1)
iteration:
  v1 = MAT_VEC_MUL(A, x)
  v1 = VEC_VEC_SUB(v1, b)
  v1 = VEC_MAT_MUL(v1, A)
  v1 = VEC_MAT_MUL(v1, R1)
  v1 = MAT_VEC_MUL(R1, v1)
'''
"#;

fn discovered(curriculum: &str, store: &str, options: &[&str]) -> Value {
    let asked = ["discover", curriculum, "--method", "oracle", "--json", "--store", store];
    let said = rl4rla(&[&asked, options].concat());
    assert!(said.code <= 1, "{said:?}");
    said.json()
}

#[test]
fn every_stage_is_a_search_of_its_own() {
    let (small, store) = (written("oracle.toml", SMALL), fresh("oracle.db"));
    let result = discovered(&small, &store, &["--threads", "1"]);
    let [missed, found] = [&result["stages"][0], &result["stages"][1]];
    // What is better than the target is said to be.
    assert_eq!((&missed["found"], &missed["matched"]), (&json!(false), &json!("ls-gd")));
    assert!(missed["target_reward"].as_f64().unwrap() < missed["reward"].as_f64().unwrap());
    assert_eq!((&found["found"], &found["stop"]), (&json!(true), &json!("exhausted")), "{found}");
    assert!(found.get("target_reward").is_none());
    assert!(found["evaluations"].as_u64().unwrap() > 100 && found["playouts"].as_u64().unwrap() > 100);
    let text = rl4rla(&["resume", "LAST", "--store", &store]).out;
    assert!(text.contains("better than the target, which has the reward"), "{text}");
    // Same bits with more threads, and what the store has of it.
    let again = discovered(&small, &fresh("oracle-2.db"), &["--threads", "2"]);
    let without_id = |mut value: Value| {
        value["run"] = Value::Null;
        timeless(value)
    };
    assert_eq!(without_id(again), without_id(result));
    let sweep =
        rl4rla(&["sweep", &small, "--methods", "oracle,exhaustive", "--seeds", "2", "--store", &store]);
    assert!(sweep.code == 0 && sweep.out.contains("0/2, 2 better"), "{sweep:?}");
}

#[test]
fn an_interrupted_run_is_resumed_with_the_same_result() {
    let small = written("oracle-resumed.toml", SMALL);
    let store = fresh("oracle-resumed.db");
    let mut child = Command::new(env!("CARGO_BIN_EXE_rl4rla"))
        .args(["discover", &small, "--method", "oracle", "--typed", "--no-hints", "--store", &store])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let begun = || Path::new(&store).exists() && !runs(&store).is_empty();
    while child.try_wait().unwrap().is_none() && !begun() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let _ = child.kill();
    let _ = child.wait();
    let resumed = rl4rla(&["resume", "LAST", "--json", "--store", &store]).json();
    let whole = discovered(&small, &fresh("oracle-whole.db"), &["--typed", "--no-hints"]);
    assert_eq!(timeless(resumed)["stages"], timeless(whole)["stages"]);
}

#[test]
fn evaluations_limit_it_too() {
    let (small, store) = (written("oracle-limit.toml", SMALL), fresh("oracle-limit.db"));
    let free = discovered(&small, &store, &[]);
    let limited = discovered(&small, &store, &["--evaluations", "60"]);
    let spent = |result: &Value| result["stages"][1]["evaluations"].as_u64().unwrap();
    // The final measurement of the five best is not limited.
    assert!(spent(&limited) <= 60 + 5 * 4 && spent(&free) > 100, "{} {}", spent(&limited), spent(&free));
}

#[test]
fn what_it_cannot_search_is_said() {
    let store = fresh("oracle-unsuitable.db");
    let result = discovered("newton-sketch", &store, &[]);
    assert_eq!((&result["found"], &result["stages"][0]["stop"]), (&json!(false), &json!("unsuitable")));
    let said = rl4rla(&["discover", "newton-sketch", "--typed", "--store", &store]);
    assert_eq!(said.code, 2, "{said:?}");
    assert!(said.err.contains("--typed is for linear systems"), "{said:?}");
    for command in ["sweep", "audit"] {
        let said = rl4rla(&[command, "newton-sketch", "--typed", "--store", &store]);
        assert!(said.code == 2 && said.err.contains("--typed is for linear systems"), "{said:?}");
    }
}

#[test]
fn fewer_programs_are_well_typed() {
    let (small, store) = (written("typed.toml", SMALL), fresh("typed.db"));
    let run = |options: &[&str]| {
        let asked =
            ["discover", &small, "--method", "exhaustive", "--from-targets", "--json", "--store", &store];
        rl4rla(&[&asked, options].concat()).json()
    };
    let [all, typed] = [run(&[]), run(&["--typed"])];
    let count = |result: &Value| result["stages"][0]["programs"].as_u64().unwrap();
    assert!(3 * count(&typed) < count(&all), "{} of {}", count(&typed), count(&all));
    assert_eq!(typed["stages"][0]["program"], all["stages"][0]["program"]);
    // The store says which runs were typed, and a sweep names them so.
    let sweep =
        rl4rla(&["sweep", &small, "--methods", "exhaustive", "--seeds", "1", "--typed", "--store", &store]);
    assert!(sweep.out.contains("exhaustive, typed"), "{sweep:?}");
}

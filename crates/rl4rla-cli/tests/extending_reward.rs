//! The example that brings a reward term of its own, and what commands say of it.
//!
//! This test is the example too (`common/example.rs`).

#[path = "../examples/reward_term.rs"]
mod reward_term;

mod common;

#[path = "common/example.rs"]
mod as_example;

use common::{Said, fresh, keys, rl4rla, said, timeless, written};
use rl4rla::reward::{RewardTerm, TermError, register};
use serde_json::Value;
use std::process::ExitCode;

fn main() -> ExitCode {
    let tests: &[(&str, fn())] = &[
        ("the_guide_shows_the_example", the_guide_shows_the_example),
        ("evaluate_weighs_and_shows_it", evaluate_weighs_and_shows_it),
        ("curricula_reward_it", curricula_reward_it),
        ("keys_of_results_are_no_keys_of_terms", keys_of_results_are_no_keys_of_terms),
    ];
    as_example::run(reward_term::main, tests)
}

/// The example with these arguments.
#[track_caller]
fn example(args: &[&str]) -> Said {
    said(as_example::command(args).output().expect("the example starts"))
}

/// The JSON of a command that must succeed.
#[track_caller]
fn json(args: &[&str]) -> Value {
    let said = example(&[args, &["--json"]].concat());
    assert_eq!(said.code, 0, "{args:?}: {said:?}");
    said.json()
}

fn the_guide_shows_the_example() {
    let guide = include_str!("../docs/extending.md");
    let shown = guide.split("```rust\n").find(|block| block.starts_with("pub static MONOTONE"));
    let block = shown.and_then(|block| block.split("```").next()).expect("the guide shows the row");
    assert!(include_str!("../examples/reward_term.rs").contains(block), "not in the example:\n{block}");
}

const EVALUATE: [&str; 8] = ["evaluate", "ls-gd", "--rows", "200", "--cols", "5", "--instances", "2"];

fn evaluate_weighs_and_shows_it() {
    let weighed = |weights| [&EVALUATE[..], &["--weights", weights]].concat();
    let report = json(&weighed("1,10,8,1,monotone=5"));
    assert_eq!(report["profile"]["sound"]["weights"]["monotone"], 5.0, "{report}");
    let number = |key: &str| report[key].as_f64().unwrap();
    let sum = number("acc") + 10.0 * number("decay") + 8.0 * number("comp") + number("cond");
    assert!(number("monotone") > 0.0, "{report}");
    assert!((number("reward") - (sum + 5.0 * number("monotone")) / 25.0).abs() < 1e-12, "{report}");
    assert_eq!(json(&weighed("monotone=5")), report, "the others are the task's");
    let text = example(&weighed("monotone=5")).out;
    assert!(text.contains("monotonicity") && text.contains("of iterations that came nearer"), "{text}");
    // Who does not ask for it does not see it.
    assert_eq!(json(&EVALUATE), rl4rla(&[&EVALUATE[..], &["--json"]].concat()).json());
    let help = example(&["evaluate", "--help"]).out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(help.contains("Weights of acc,decay,comp,cond,monotone=NUMBER"), "{help}");
    let wrong = example(&weighed("speed=5"));
    assert!(wrong.code == 2 && wrong.err.contains("acc, decay, comp, cond, monotone"), "{wrong:?}");
}

/// One stage, rewarded by the term among others.
fn curriculum(weight: &str) -> String {
    format!(
        "title = \"Gradient descent\"\n[[stage]]\nname = \"gradient\"\nedits = 3\nopen = [\"iteration\"]\n\
         operators = [\"MAT_VEC_MUL\", \"VEC_MAT_MUL\", \"VEC_VEC_SUB\"]\nregisters = [\"v1\"]\n\
         family = {{ kind = \"low-cond\", rows = 40, cols = 4 }}\n\
         instances = {{ search = 2, select = 2, report = 2 }}\n\
         reward = {{ profile = \"sound\"{weight} }}\ntarget = \"ls-gd\"\n"
    )
}

fn curricula_reward_it() {
    let (with, store) = (written("monotone.toml", curriculum(", monotone = 20")), fresh("monotone.db"));
    let run = json(&["discover", &with, "--store", &store]);
    let stage = &run["stages"][0];
    let number = |key: &str| stage[key].as_f64().unwrap();
    let sum = number("acc") + 10.0 * number("decay") + 8.0 * number("comp") + number("cond");
    assert!((number("reward") - (sum + 20.0 * number("monotone")) / 40.0).abs() < 1e-12, "{stage}");
    assert_eq!(json(&["resume", "LAST", "--store", &store]), run);
    let plain = written("monotone-plain.toml", curriculum(""));
    let usual = |said: Value| {
        let mut run = timeless(said);
        run["preferred"] = Value::Null;
        run
    };
    let without = json(&["discover", &plain, "--store", &fresh("monotone-plain.db")]);
    let others = rl4rla(&["discover", &plain, "--json", "--store", &fresh("monotone-other.db")]).json();
    assert_eq!(usual(without), usual(others));
}

fn keys_of_results_are_no_keys_of_terms() {
    let (plain, store) = (written("monotone-keys.toml", curriculum("")), fresh("monotone-keys.db"));
    let run = json(&["discover", &plain, "--store", &store]);
    for key in keys(&json(&EVALUATE)).into_iter().chain(keys(&run["stages"][0])) {
        let term = Box::leak(Box::new(RewardTerm::new(key.to_string().leak(), "", "", |_| 0.0)));
        assert_eq!(register(term), Err(TermError::Taken), "{key}");
    }
}

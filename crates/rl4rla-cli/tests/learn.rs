//! Learned policies through the command: training, use, and files that are refused.

mod common;

use common::{SMALL, fresh, json, rl4rla, timeless, written};
use serde_json::{Value, json as value};

/// A store with a few searches, and a policy fitted to them.
fn learned(name: &str) -> (String, String) {
    let (small, store) = (written(&format!("{name}.toml"), SMALL), fresh(&format!("{name}.db")));
    json(&["sweep", &small, "--methods", "best", "--seeds", "2", "--seed", "1000", "--store", &store]);
    let policy = written(&format!("{name}.json"), "");
    let told = json(&["learn", "--out", &policy, "--store", &store]);
    assert!(told["runs"] == 2 && told["skipped"] == value!([]), "{told}");
    let training = &told["training"];
    assert!(training["log_likelihood"].as_f64() > training["uniform"].as_f64(), "{told}");
    assert_eq!(training["lessons"][0]["seeds"], value!([1000, 1001]));
    (store, policy)
}

#[test]
fn a_policy_is_the_same_every_time_and_is_recorded_with_the_run() {
    let (store, policy) = learned("learned");
    let text = std::fs::read_to_string(&policy).unwrap();
    json(&["learn", "--out", &policy, "--store", &store]);
    assert_eq!(std::fs::read_to_string(&policy).unwrap(), text);
    let small = written("learned.toml", SMALL);
    let run = |more: &[&str]| {
        let asked = ["discover", &small, "--method", "mcgs-puct", "--json", "--store"];
        rl4rla(&[&asked[..], &[&fresh("learned-run.db")], more].concat())
    };
    let guided = run(&["--policy", &policy]);
    assert!(guided.code <= 1, "{guided:?}");
    assert!(guided.err.contains("was trained on"), "{guided:?}");
    let digest = serde_json::from_str::<Value>(&text).unwrap()["digest"].clone();
    assert_eq!(guided.json()["policy"], value!({ "digest": digest, "trained_here": true }));
    let plain = run(&[]);
    assert_eq!(timeless(plain.json()), timeless(run(&["--policy", "none"]).json()));
    assert!(plain.json()["policy"].is_null() && !plain.err.contains("trained"), "{plain:?}");
}

#[test]
fn what_a_curriculum_gives_away_is_left_out() {
    let (store, _) = learned("left-out");
    let small = written("left-out.toml", SMALL);
    let said = rl4rla(&["learn", "--without", &small, "--store", &store]);
    assert!(said.code == 2 && said.err.contains("no stage that found its target"), "{said:?}");
}

#[test]
fn files_that_are_no_policies_are_refused_with_the_reason() {
    let (_, policy) = learned("refused");
    let whole: Value = serde_json::from_str(&std::fs::read_to_string(&policy).unwrap()).unwrap();
    let with = |key: &str, new: Value| {
        let mut file = whole.clone();
        file[key] = new;
        file.to_string()
    };
    let mut weights = whole["weights"].clone();
    *weights.as_object_mut().unwrap().values_mut().next().unwrap() = value!(77.5);
    let infinite = with("weights", weights.clone()).replacen("77.5", "1e999", 1);
    let (small, store) = (written("refused.toml", SMALL), fresh("refused-run.db"));
    for (text, reason) in [
        (String::new(), "not a policy"),
        ("{}".into(), "not a policy"),
        (whole.to_string()[..300].to_string(), "not a policy"),
        (with("format", value!(2)), "its format is 2"),
        (with("weights", value!({})), "is empty"),
        (with("weights", weights), "it is damaged"),
        (with("digest", value!("0123456789abcdef")), "it is damaged"),
        (infinite, "not a policy: number out of range"),
    ] {
        let file = written("refused-policy.json", &text);
        let said =
            rl4rla(&["discover", &small, "--method", "evolution", "--policy", &file, "--store", &store]);
        assert!(
            said.code == 2 && said.err.contains(reason) && said.err.contains("rl4rla learn"),
            "{reason}: {said:?}"
        );
    }
    let said = rl4rla(&["discover", &small, "--method", "best", "--policy", &policy, "--store", &store]);
    assert!(said.code == 2 && said.err.contains("--policy applies to --method mcgs-puct"), "{said:?}");
    let said =
        rl4rla(&["discover", &small, "--method", "islands", "--policy", "no-such-file", "--store", &store]);
    assert!(said.code == 2 && said.err.contains("no-such-file"), "{said:?}");
}

//! `discover`, `resume`, and the programs that runs leave in a store.

mod common;

use common::{
    SMALL, assert_keys, fresh, json, lengthy, misguided, rl4rla, runs, said, started, timeless, written,
};
use serde_json::{Value, json};
use std::process::Command;

const TOP: [&str; 13] = [
    "run",
    "curriculum",
    "method",
    "seed",
    "found",
    "playouts",
    "evaluations",
    "programs",
    "seconds",
    "unique_states",
    "node_visits",
    "revisit_rate",
    "stages",
];

const STAGE: [&str; 10] = [
    "name",
    "found",
    "matched",
    "playouts",
    "seconds",
    "stop",
    "reward",
    "program",
    "equation",
    "candidates",
];

/// The JSON of a run with these options, found or not.
#[track_caller]
fn discovered(curriculum: &str, store: &str, options: &[&str]) -> Value {
    let said = rl4rla(&[&["discover", curriculum, "--json", "--store", store], options].concat());
    assert!(said.code <= 1, "{said:?}");
    let result = said.json();
    assert_eq!(result["found"] == true, said.code == 0, "the exit code says what was found");
    result
}

#[test]
fn a_result_holds_what_scripts_rely_on() {
    let (small, store) = (written("keys.toml", SMALL), fresh("keys.db"));
    let result = json(&["discover", &small, "--seed", "3", "--store", &store]);
    assert_keys(&result, &TOP);
    assert_eq!(
        (&result["curriculum"], &result["method"], &result["seed"]),
        (&json!(small), &json!("best"), &json!(3))
    );
    let stages = result["stages"].as_array().unwrap();
    assert_eq!(stages.len(), 2);
    for (stage, name) in stages.iter().zip(["landweber", "ls-gd"]) {
        assert_keys(stage, &STAGE);
        assert_eq!((&stage["name"], &stage["matched"]), (&json!(name), &json!(name)));
        assert_eq!((&stage["found"], &stage["stop"]), (&json!(true), &json!("confident")));
        assert!(stage["reward"].as_f64().unwrap() > 0.3);
    }
    for key in ["playouts", "evaluations", "programs", "unique_states", "node_visits"] {
        let sum: u64 = stages.iter().map(|stage| stage[key].as_u64().unwrap()).sum();
        assert_eq!(result[key], sum, "{key}");
    }
    let gradient =
        "iteration:\n  v1 = MAT_VEC_MUL(A, x)\n  v1 = VEC_VEC_SUB(v1, b)\n  v1 = VEC_MAT_MUL(v1, A)\n";
    assert_eq!(stages[1]["program"], gradient);
    let row = &runs(&store)[0];
    assert_eq!((&row["run"], &row["status"], &row["stages"]), (&result["run"], &json!("done"), &json!(2)));
}

#[test]
fn a_person_reads_equations_evidence_and_what_to_type_next() {
    let (small, store) = (written("read.toml", SMALL), fresh("read.db"));
    let said = rl4rla(&["discover", &small, "--store", &store]);
    assert_eq!((said.code, said.err.as_str()), (0, ""), "no spinner where nobody looks");
    let run = runs(&store)[0]["run"].as_str().unwrap().to_string();
    for part in [
        "Two small steps  found".to_string(),
        "├─ ✓ landweber  Landweber Iteration\n│    xₜ₊₁ = xₜ − η (A xₜ − b)\n".into(),
        "└─ ✓ ls-gd  Least Square Gradient Descent\n     xₜ₊₁ = xₜ − η Aᵀ (A xₜ − b)\n".into(),
        "+ v1 = MAT_VEC_MUL(A, x)   iteration\n".into(),
        " on 4 fresh instances, excess ".into(),
        "stopped: confident · ".into(),
        format!("rl4rla show run:{run} --store {store}"),
        format!("rl4rla resume {run} --store {store}"),
    ] {
        assert!(said.out.contains(&part), "`{part}` is missing from\n{}", said.out);
    }
    let quiet = rl4rla(&["discover", &small, "--quiet", "--store", &store]);
    assert!(!quiet.out.contains("rl4rla resume") && quiet.out.contains("✓"), "{}", quiet.out);
    assert!(said.out.lines().all(|line| line.trim_end() == line), "no trailing blanks");
}

#[test]
fn a_part_has_no_name_and_is_shown_at_work() {
    let part = r#"
title = "A part"
start = "ls-gd"
[[stage]]
name = "preconditioner"
edits = 2
open = ["setup"]
operators = ["MAT_TRANS_MAT_MUL", "MAT_INV"]
registers = ["R1"]
instances = { search = 4, select = 4, report = 4 }
family = { kind = "mid-cond", rows = 300, cols = 6 }
reward = { profile = "sound", acc = 0, decay = 0, comp = 1, cond = 2 }
keep = ["R1"]
target = """
setup:
  R1 = MAT_TRANS_MAT_MUL(A, A)
  R1 = MAT_INV(R1)
iteration:
  v1 = MAT_VEC_MUL(A, x)
  v1 = VEC_VEC_SUB(v1, b)
  v1 = VEC_MAT_MUL(v1, A)
  v1 = MAT_VEC_MUL(R1, v1)
"""
completed-by = "v1 = MAT_VEC_MUL(R1, v1)"
"#;
    let said = rl4rla(&["discover", &written("part.toml", part), "--store", &fresh("part.db")]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.out.contains("✓ preconditioner\n"), "{}", said.out);
    assert!(said.out.contains("(Aᵀ A)⁻¹ Aᵀ (A xₜ − b)"), "{}", said.out);
    assert!(said.out.contains("v1 = MAT_VEC_MUL(R1, v1)  is added by a later stage"), "{}", said.out);
}

#[test]
fn where_the_stable_form_is_asked_for_another_does_not_count() {
    let stage = r#"
title = "Forms"
start = "ls-gd"
[[stage]]
name = "precond-gd"
edits = 4
operators = ["MAT_TRANS_MAT_MUL", "MAT_MAT_TRANS_MUL", "HHQR", "MAT_INV", "MAT_VEC_MUL"]
setup-only = ["R1"]
family = { kind = "mid-cond", rows = 60, cols = 5, condition = 1e4, outside = 0.5 }
iterations = 5
step = 1.0
reward = { profile = "tolerance", epsilon = 1e-6 }
target = "precond-gd"
"#;
    let (any, store) = (written("any-form.toml", stage), fresh("forms.db"));
    let found = json(&["discover", &any, "--store", &store]);
    assert_eq!((&found["found"], &found["stages"][0]["stable"]), (&json!(true), &json!(false)));
    let form = found["stages"][0]["form"].as_str().unwrap().to_string();
    assert!(form.starts_with("Gram, loses digits from κ = 1e"), "{form}");
    assert_eq!(found["stages"][0]["reason"], json!(null));
    let swept = json(&["sweep", &any, "--methods", "best", "--seeds", "2", "--store", &store]);
    assert_eq!(swept["rows"][0]["forms"], json!({ form.as_str(): 2 }));
    assert_eq!(swept["rows"][1]["forms"], swept["rows"][0]["forms"]);
    assert!(
        rl4rla(&["sweep", &any, "--methods", "best", "--seeds", "2", "--store", &store]).out.contains(&form)
    );

    let stable = written("stable-form.toml", format!("{stage}stable = true\n"));
    let missed = rl4rla(&["discover", &stable, "--store", &fresh("stable-form.db"), "--json"]);
    assert_eq!(missed.code, 1, "{missed:?}");
    let missed = missed.json();
    let reason = missed["stages"][0]["reason"].as_str().unwrap();
    assert!(reason.contains("less accurate from κ = 1e") && reason.contains("stable form"), "{reason}");
    assert_eq!((&missed["found"], &missed["stages"][0]["found"]), (&json!(false), &json!(false)));
    assert_eq!(missed["stages"][0]["form"], form.as_str());
    let text = rl4rla(&["discover", &stable, "--store", &fresh("stable-form-text.db")]).out;
    assert!(text.contains(reason) && text.contains(&format!("form: {form}")), "{text}");

    let without = stage.replace("target = \"precond-gd\"", "stable = true");
    let refused = rl4rla(&["discover", &written("no-target.toml", without), "--store", &store]);
    assert!(refused.code == 2 && refused.err.contains("no `target`"), "{refused:?}");
}

#[test]
fn a_missed_target_is_exit_code_1() {
    let (curriculum, store) = (written("missed.toml", misguided()), fresh("missed.db"));
    let result = discovered(&curriculum, &store, &[]);
    assert_eq!((&result["found"], &result["stages"][0]["found"]), (&json!(false), &json!(true)));
    let missed = &result["stages"][1];
    assert_eq!((&missed["found"], &missed["matched"]), (&json!(false), &json!("ls-gd")));
    let said = rl4rla(&["discover", &curriculum, "--store", &store]);
    assert_eq!(said.code, 1);
    assert!(said.out.contains("✗ ls-gd  found Least Square Gradient Descent instead"), "{}", said.out);
    assert!(rl4rla(&["list", "runs", "--store", &store]).out.contains("not found"));
}

#[test]
fn threads_change_nothing() {
    let (small, store) = (written("threads.toml", SMALL), fresh("threads.db"));
    let mut results = Vec::new();
    for method in ["best", "mcgs-ucd", "mcts", "exhaustive", "random"] {
        let [one, two, eight] = ["1", "2", "8"]
            .map(|n| timeless(discovered(&small, &store, &["--method", method, "--threads", n])));
        assert_eq!(one["method"], method);
        assert!(one == two && two == eight, "{method}");
        results.push(one["playouts"].clone());
    }
    results.dedup();
    assert_eq!(results.len(), 5, "every method searches in its own way");
}

#[test]
fn options_reach_the_search() {
    let (small, store) = (written("options.toml", SMALL), fresh("options.db"));
    let usual = discovered(&small, &store, &["--method", "mcts"]);
    let short = discovered(&small, &store, &["--method", "mcts", "--budget", "1"]);
    let first = &short["stages"][0];
    assert_eq!((&first["stop"], &first["playouts"]), (&json!("budget"), &json!(1)));
    // Fewer programs are different in behaviour than in form.
    let merged = discovered(&small, &store, &["--method", "exhaustive", "--merge", "fingerprint"]);
    let apart = discovered(&small, &store, &["--method", "exhaustive"]);
    assert!(merged["found"] == true && merged["programs"].as_u64() < apart["programs"].as_u64());
    // Setup is open, and has a register to write.
    let roomy = written("roomy.toml", SMALL.replace("[\"v1\"]", "[\"v1\", \"R1\"]"));
    let [hinted, hintless] = [&[][..], &["--no-hints"]]
        .map(|hints| discovered(&roomy, &store, &[&["--method", "exhaustive"], hints].concat()));
    assert!(hintless["found"] == true && hintless["programs"].as_u64() > hinted["programs"].as_u64());
    let released = discovered(&small, &store, &["--method", "mcts", "--released"]);
    assert!(released["found"] == true && released["playouts"] != usual["playouts"]);
    let curious = discovered(&small, &store, &["--method", "mcts", "--exploration", "3"]);
    assert_ne!(curious["node_visits"], usual["node_visits"]);
    let other = discovered(&small, &store, &["--method", "mcts", "--seed", "18446744073709551615"]);
    assert_ne!(other["stages"][0]["reward"], usual["stages"][0]["reward"]);
    assert_eq!(runs(&store).last().unwrap()["seed"], u64::MAX);
}

#[test]
fn runs_are_programs() {
    let (small, store) = (written("programs.toml", SMALL), fresh("programs.db"));
    let result = discovered(&small, &store, &[]);
    let run = result["run"].as_str().unwrap();
    let [last, first] = [format!("run:{run}"), format!("run:{}/landweber", &run[..5])];
    for (asked, stage) in [(&last, 1), (&"run:LAST".to_string(), 1), (&first, 0)] {
        let shown = json(&["show", asked, "--store", &store]);
        assert_eq!(shown["program"], result["stages"][stage]["program"], "{asked}");
        let scored = json(&["evaluate", asked, "--store", &store, "--instances", "2", "--rows", "50"]);
        assert_eq!(scored["program"], shown["program"], "{asked}");
    }
    for (name, code) in [("ls-gd", 0), ("precond-gd", 1)] {
        assert_eq!(rl4rla(&["equiv", name, &last, "--store", &store]).code, code, "{name}");
    }
    let text = rl4rla(&["show", &first, "--store", &store]).out;
    assert!(text.contains(&format!("landweber, discovered by run {run}")), "{text}");
}

#[test]
fn a_finished_run_is_printed_again_and_left_alone() {
    let (small, store) = (written("again.toml", misguided()), fresh("again.db"));
    let result = discovered(&small, &store, &["--method", "mcgs-ucd"]);
    let before = runs(&store);
    for name in [result["run"].as_str().unwrap(), "LAST", "last"] {
        let said = rl4rla(&["resume", name, "--json", "--store", &store]);
        assert_eq!((said.code, said.json()), (1, result.clone()), "the same code, the same document");
    }
    let text = rl4rla(&["resume", "LAST", "--store", &store]);
    assert!(text.out.contains("✗ ls-gd"), "{text:?}");
    assert_eq!(runs(&store), before);
}

#[test]
fn ctrl_c_saves_the_work_and_resuming_ends_it() {
    let (slow, store) = (written("ctrl-c.toml", lengthy(8000)), fresh("ctrl-c.db"));
    // A run that ends before the signal comes proves nothing; the next one is asked.
    for seed in 0..50 {
        let number = seed.to_string();
        let asked = ["discover", &slow, "--method", "exhaustive", "--seed", &number];
        let child = started(&asked, &store, seed);
        let signal = Command::new("kill").args(["-INT", &child.id().to_string()]).output().unwrap();
        let said = said(child.wait_with_output().unwrap());
        if said.code != 130 {
            assert!(said.code <= 1, "{said:?} {signal:?}");
            continue;
        }
        let row = runs(&store).pop().unwrap();
        assert_eq!((&row["status"], &row["found"]), (&json!("interrupted"), &Value::Null));
        let run = row["run"].as_str().unwrap();
        assert!(said.out.contains(&format!("rl4rla resume {run} --store {store}")), "{said:?}");
        // What is done can be read already, what is not cannot.
        assert_eq!(rl4rla(&["show", &format!("run:{run}/landweber"), "--store", &store]).code, 0);
        let early = rl4rla(&["show", &format!("run:{run}/ls-gd"), "--store", &store]);
        assert!(early.code == 2 && early.err.contains("one of landweber"), "{early:?}");
        let resumed = rl4rla(&["resume", run, "--json", "--store", &store]);
        let calm = rl4rla(&[&asked[..], &["--json", "--store", &fresh("ctrl-c-calm.db")]].concat());
        assert_eq!((resumed.code, timeless(resumed.json())), (calm.code, timeless(calm.json())));
        assert_eq!(runs(&store).pop().unwrap()["status"], "done");
        return;
    }
    panic!("no run could be interrupted");
}

#[test]
fn an_interrupted_sweep_keeps_its_finished_runs() {
    let (slow, store) = (written("sweep-int.toml", lengthy(2000)), fresh("sweep-int.db"));
    // Seeds enough for hours: the signal comes before the end.
    let child = started(&["sweep", &slow, "--seeds", "100000", "--threads", "1"], &store, 0);
    Command::new("kill").args(["-INT", &child.id().to_string()]).output().unwrap();
    let said = said(child.wait_with_output().unwrap());
    assert_eq!(said.code, 130, "{said:?}");
    let done = runs(&store).len();
    assert!(said.out.contains("repeat the command to continue") && done >= 1, "{said:?}");
    json(&["sweep", &slow, "--seeds", &done.to_string(), "--store", &store]);
    assert_eq!(runs(&store).len(), done, "nothing was left to do");
}

#[test]
fn a_store_has_many_writers_and_a_run_has_one() {
    let (endless, small) = (written("held.toml", lengthy(100_000)), written("second.toml", SMALL));
    let store = fresh("held.db");
    let mut child = started(&["discover", &endless], &store, 0);
    for command in ["discover", "sweep"] {
        let said = rl4rla(&[command, &small, "--store", &store]);
        assert_eq!(said.code, 0, "{said:?}");
    }
    let first = runs(&store)[0].clone();
    assert_eq!(first["status"], "running");
    let refused = rl4rla(&["resume", first["run"].as_str().unwrap(), "--store", &store]);
    assert_eq!(refused.code, 2, "{refused:?}");
    for part in ["held.db", &child.id().to_string(), "wait for it or stop it"] {
        assert!(refused.err.contains(part), "`{part}` is missing from {}", refused.err);
    }
    assert_eq!(rl4rla(&["show", "run:LAST/landweber", "--store", &store]).code, 0);
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(runs(&store)[0]["status"], "interrupted");
    assert_eq!(rl4rla(&["discover", &small, "--store", &store]).code, 0);
}

/// Whoever waits behind a pipe sees that something goes on.
#[test]
fn a_long_command_shows_a_sign_of_life() {
    use std::io::{BufRead, BufReader};
    let curriculum = written(
        "life.toml",
        // Longer than anyone waits, on any machine.
        common::lengthy(100_000).replace("edits = 2\niterations", "edits = 4\niterations"),
    );
    let store = fresh("life.db");
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_rl4rla"))
        .args(["discover", &curriculum, "--json", "--store", &store])
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(line.starts_with("stage ") && line.trim_end().ends_with(" s"), "{line:?}");
}

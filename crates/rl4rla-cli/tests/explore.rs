//! `explore`: a hall of fame, kept in the store like every run.

mod common;

use common::{assert_keys, fresh, json, rl4rla, runs, timeless};
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Stdio};

/// A quick exploration that finds conjugate gradients.
const QUICK: [&str; 12] = [
    "explore",
    "--without-matrices",
    "--kappa",
    "10",
    "--edits",
    "3",
    "--cols",
    "100",
    "--held-out",
    "2",
    "--hall=2",
    "--evolve=300",
];

#[test]
fn conjugate_gradients_lead_the_hall_of_fame() {
    let store = fresh("explore.db");
    let explored = json(&[&QUICK[..], &["--store", &store]].concat());
    assert_keys(&explored, &["run", "seconds", "evaluations", "hall", "rivals", "request"]);
    let best = &explored["hall"][0];
    assert_keys(
        best,
        &[
            "program", "matched", "nearest", "equation", "reward", "passes", "flops", "reached", "runs",
            "step", "limits", "beats",
        ],
    );
    assert_keys(&best["limits"][0], &["what", "works", "fails", "how", "excess"]);
    let kappa = &best["limits"][0];
    assert_eq!(kappa["what"], "kappa");
    assert!(kappa["works"].as_f64().unwrap() >= 10.0, "{kappa}");
    assert!(kappa["fails"].as_f64().unwrap() <= 1e4, "conjugate gradients are slow there: {kappa}");
    let qr = &best["beats"][0];
    assert_keys(qr, &["solver", "reached", "runs", "passes", "flops", "ratio"]);
    assert_eq!((qr["solver"].as_str(), qr["passes"].as_f64()), (Some("qr"), Some(1.0)));
    let ratio = qr["flops"].as_f64().unwrap() / best["flops"].as_f64().unwrap();
    assert!((qr["ratio"].as_f64().unwrap() / ratio - 1.0).abs() < 1e-12, "{qr}");
    assert_eq!((best["matched"].as_str(), best["reached"].as_u64()), (Some("cgls"), Some(2)));
    assert_eq!(best["passes"].as_f64().unwrap(), 3.0 * best["iterations"].as_f64().unwrap());
    let rival = |name: &str| {
        let rows = explored["rivals"].as_array().unwrap();
        rows.iter().find(|row| row["name"] == name).unwrap_or_else(|| panic!("{name} in {rows:?}")).clone()
    };
    assert_eq!(rival("cgls")["iterations"], best["iterations"], "the textbook's program takes as many");
    // The store knows the run, and other commands its program.
    assert_eq!(runs(&store).len(), 1);
    let shown = json(&["show", "run:LAST", "--store", &store]);
    assert_eq!(shown["program"], best["program"]);
    let again = json(&["resume", "LAST", "--store", &store]);
    assert_eq!(timeless(again), timeless(explored.clone()));
    // The result does not depend on the number of threads.
    let alone = json(&[&QUICK[..], &["--threads", "1", "--store", &fresh("explore-alone.db")]].concat());
    assert_eq!(alone["hall"], explored["hall"]);
    let text = rl4rla(&["resume", "LAST", "--store", &store]);
    assert!(text.out.contains("#1") && text.out.contains("cgls"), "{text:?}");
    let folder = common::scratch("explore-report");
    let report = rl4rla(&["report", "--store", &store, "--out", folder.to_str().unwrap()]);
    assert_eq!(report.code, 0, "{report:?}");
}

#[test]
fn an_interrupted_exploration_is_resumed_with_the_same_result() {
    let store = fresh("explore-interrupted.db");
    let asked = ["explore", "--kappa", "10,100", "--held-out", "1", "--hall", "2", "--edits", "6", "--json"];
    let mut child = Command::new(env!("CARGO_BIN_EXE_rl4rla"))
        .args(asked)
        .args(["--store", &store])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // Killed as soon as it is in the store.
    let begun = || Path::new(&store).exists() && !runs(&store).is_empty();
    while child.try_wait().unwrap().is_none() && !begun() {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let _ = child.kill();
    let _ = child.wait();
    let resumed = json(&["resume", "LAST", "--store", &store]);
    let whole = json(&[&asked[..9], &["--store", &fresh("explore-whole.db")]].concat());
    assert_eq!(resumed["hall"], whole["hall"]);
}

#[test]
fn bad_requests_are_refused_with_advice() {
    let store = fresh("explore-bad.db");
    let cases: [(&[&str], &str); 15] = [
        (&["--family", "mid-kond"], "there is no family `mid-kond`"),
        (&["--family", "logistic-forward"], "which cannot be explored"),
        (&["--family", "logistic-separable"], "logistic-separable"),
        (&["--task", "logistic", "--family", "mid-cond"], "has the task linear, not `logistic`"),
        (&["--family", "logistic", "--edits", "11"], "--edits is a number from 1 to 10"),
        (&["--kappa", "0.5"], "--kappa takes numbers of at least 1"),
        (&["--kappa", "nan"], "--kappa takes numbers"),
        (&["--tolerance", "0"], "--tolerance is a number between 0 and 1"),
        (&["--operators", "MAT_VEC_MULL"], "`MAT_VEC_MULL` is not an operator"),
        (&["--edits", "0"], "--edits is a number from 1 to 8"),
        (&["--sketch-factor", "0.5"], "--sketch-factor"),
        (&["--family", "spd", "--sketch-factor", "2"], "between 0.01 and 1"),
        (&["--hall", "0"], "at least 1"),
        (&["--outside", "1.5"], "outside"),
        (&["--rows", "10", "--cols", "9"], "too small"),
    ];
    for (arguments, wanted) in cases {
        let said = rl4rla(&[&["explore", "--json", "--store", &store], arguments].concat());
        assert_eq!(said.code, 2, "{arguments:?}: {said:?}");
        let error: Value = said.json()["error"].clone();
        let message = error["message"].as_str().unwrap();
        assert!(message.contains(wanted), "{arguments:?}: {message}");
        assert!(!error["advice"].as_str().unwrap_or("").is_empty(), "{arguments:?}");
    }
    assert!(!Path::new(&store).exists(), "nothing was begun");
}

#[test]
fn what_cannot_reach_the_tolerance_is_said_with_exit_code_1() {
    let asked = [
        "explore",
        "--operators",
        "MAT_VEC_MUL,VEC_VEC_SUB",
        "--kappa",
        "10",
        "--edits",
        "3",
        "--held-out",
        "1",
    ];
    let said = rl4rla(&[&asked[..], &["--store", &fresh("explore-none.db")]].concat());
    assert_eq!(said.code, 1, "{said:?}");
    assert!(said.out.contains("no program reached the tolerance"), "{said:?}");
}

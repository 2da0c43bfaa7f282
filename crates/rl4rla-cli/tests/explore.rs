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
    assert_eq!((best["matched"].as_str(), best["reached"].as_u64()), (Some("cgls-recurred"), Some(2)));
    // Two products with A an iteration, and one more every k iterations, where the residual is refreshed.
    let every = best["every"].as_u64().expect("the residual is recurred");
    let taken = [0, 1].map(|i| best["iterations_range"][i].as_u64().unwrap());
    let passes = taken.map(|t| (2 * t + t.div_ceil(every)) as f64);
    assert_eq!(best["passes"].as_f64().unwrap(), (passes[0] + passes[1]) / 2.0);
    let rival = |name: &str| {
        let rows = explored["rivals"].as_array().unwrap();
        rows.iter().find(|row| row["name"] == name).unwrap_or_else(|| panic!("{name} in {rows:?}")).clone()
    };
    assert_eq!(
        rival("cgls-recurred")["iterations"],
        best["iterations"],
        "the textbook's program takes as many"
    );
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

/// Starts an exploration and ends it with this signal as soon as so many of its numbers are in the store.
fn interrupted(asked: &[&str], store: &str, numbers: u64, signal: &str) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_rl4rla"))
        .args(asked)
        .args(["--store", store])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let logged = || {
        Path::new(&store).exists()
            && runs(store).first().is_some_and(|run| run["evaluations"].as_u64() >= Some(numbers))
    };
    while child.try_wait().unwrap().is_none() && !logged() {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    assert!(child.try_wait().unwrap().is_none(), "it ended before {numbers} were in the store");
    let sent = Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    child.wait().unwrap();
}

#[test]
fn an_interrupted_exploration_is_resumed_with_the_same_result() {
    let asked = ["explore", "--kappa", "10,100", "--held-out", "1", "--hall", "2", "--edits", "6"];
    let asked = [&asked[..], &["--evolve", "3000"]].concat();
    let whole = json(&[&asked[..], &["--store", &fresh("explore-whole.db")]].concat());
    assert_eq!(whole["replayed"], 0);
    // While directions are scored; then again later, by the resumed run, on another number of threads.
    let store = fresh("explore-interrupted.db");
    interrupted(&asked, &store, 1, "-KILL");
    let before = runs(&store)[0]["evaluations"].as_u64().unwrap();
    interrupted(&["resume", "LAST", "--threads", "1"], &store, before + 2000, "-INT");
    let logged = runs(&store)[0]["evaluations"].as_u64().unwrap();
    let resumed = json(&["resume", "LAST", "--store", &store]);
    assert_eq!(timeless(resumed.clone()), timeless(whole.clone()));
    // A result has at most six numbers, but for the formulas of a direction.
    let replayed = resumed["replayed"].as_u64().unwrap();
    assert!(replayed >= logged / 8, "{replayed} results of {logged} numbers");
    // What was replayed was not computed.
    let computed = |explored: &Value| explored["computed"].as_u64().unwrap();
    assert_eq!(replayed + computed(&resumed), computed(&whole));
    assert_eq!(runs(&store)[0]["evaluations"], 0, "the log of a run that has ended is deleted");
}

#[test]
fn bad_requests_are_refused_with_advice() {
    let store = fresh("explore-bad.db");
    let cases: [(&[&str], &str); 21] = [
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
        (&["--rank", "5"], "--rank is not an option of the family mid-cond"),
        (&["--family", "spd", "--lambda", "0.1"], "--lambda is not an option of the family spd"),
        (&["--family", "ridge", "--lambda", "-1"], "--lambda is a number between 0 and 1"),
        (&["--family", "spd-decay", "--decay", "nan"], "--decay is a number between 0.01 and 1"),
        (&["--family", "low-rank", "--rank", "0"], "--rank is a number between 1 and 1000"),
        (&["--family", "low-rank", "--rank", "90"], "--rank is at most 79"),
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
fn an_approximation_of_the_rank_asked_for_beats_classical_solvers() {
    let asked = ["explore", "--family", "low-rank", "--rank", "6", "--decay", "0.3", "--tolerance", "0.2"];
    let asked = [&asked[..], &["--edits", "6", "--cols", "100", "--held-out", "1"]].concat();
    let explored = json(&[&asked[..], &["--store", &fresh("explore-rank.db")]].concat());
    assert_eq!(explored["request"]["numbers"]["rank"], 6.0);
    let best = &explored["hall"][0];
    // Twice the rank, as a multiple of the columns.
    assert!((best["sketch_factor"].as_f64().unwrap() - 0.12).abs() < 1e-12, "{best}");
    assert_eq!(best["batch"], Value::Null);
    let beats = best["beats"].as_array().unwrap();
    let names: Vec<&str> = beats.iter().map(|solver| solver["solver"].as_str().unwrap()).collect();
    assert_eq!(names, ["truncated-svd", "randomized-svd", "block-krylov", "subspace-iteration"]);
    assert!(beats[0]["ratio"].as_f64().unwrap() > 1.0, "a sketch is cheaper than a decomposition: {beats:?}");
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

/// A table of 400 rows and 10 columns of different lengths, with noise in y.
fn table(name: &str) -> String {
    let header: Vec<String> = (0..10).map(|j| format!("c{j}")).collect();
    let mut text = header.join(",") + ",y\n";
    for i in 0..400 {
        let entry =
            |j: usize| (1 + j * j) as f64 * ((i * i) as f64 * 0.37 + (i * j) as f64 * 1.71 + j as f64).sin();
        let cells: Vec<String> = (0..10).map(|j| entry(j).to_string()).collect();
        let y = entry(0) - entry(3) + 0.2 * (2.9 * f64::from(i as u32)).sin();
        text += &format!("{},{y}\n", cells.join(","));
    }
    common::written(name, &text)
}

#[test]
fn a_search_for_data_runs_on_problems_like_them_and_then_on_them() {
    let store = fresh("explore-data.db");
    let data = table("explore-data.csv");
    let line =
        ["explore", "--matrix", &data, "--target", "y", "--without-matrices", "--edits", "3", "--hall=2"];
    let line = [&line[..], &["--held-out", "2", "--evolve=0", "--store", &store]].concat();
    let explored = json(&line);
    let request = &explored["request"];
    assert_eq!((request["rows"].as_u64(), request["cols"].as_u64()), (Some(400), Some(10)));
    assert!(explored["searched_on"].as_str().unwrap().starts_with("drawn problems of the data's size"));
    // `advise` estimates the same.
    let advised = json(&["advise", "--matrix", &data, "--target", "y", "--default-rates"]);
    let estimated = &advised["estimated"];
    assert_eq!(request["kappas"][0], estimated["kappa"]);
    assert_eq!((&request["outside"], &request["leverage"]), (&estimated["outside"], &estimated["leverage"]));
    let on_data = &explored["hall"][0]["on_data"];
    assert_keys(on_data, &["ending", "tolerance", "iterations", "passes", "excess", "residual"]);
    assert_eq!(on_data["ending"], "reached");
    assert!(on_data["excess"].as_f64().unwrap() <= on_data["tolerance"].as_f64().unwrap());
    // The residual is that of the solution of least squares.
    let solved = json(&["solve", "qr", "--matrix", &data, "--target", "y"]);
    let [one, other] = [&on_data["residual"], &solved["relative_residual"]].map(|r| r.as_f64().unwrap());
    assert!((one / other - 1.0).abs() < 1e-8, "{one} and {other}");
    // What was measured on the data is kept with the run, and told.
    let again = json(&["resume", "LAST", "--store", &store]);
    assert_eq!(again["hall"], explored["hall"]);
    let text = rl4rla(&["resume", "LAST", "--store", &store]).out;
    assert!(text.contains("explore-data.csv itself") && text.contains("reached the tolerance"), "{text}");
}

#[test]
fn a_search_for_data_refuses_what_it_cannot_use() {
    let data = table("explore-refused.csv");
    for (words, told) in [
        (&["--target", "y", "--family", "mid-cond"][..], "--family"),
        (&["--target", "y", "--rows", "1000"], "--rows"),
        (&[], "no right-hand side"),
        (&["--target", "z"], "z"),
        (&["--target", "y", "--tolerance", "2"], "--tolerance"),
    ] {
        let refused = rl4rla(&[&["explore", "--matrix", &data][..], words].concat());
        assert_eq!(refused.code, 2, "{words:?}: {refused:?}");
        assert!(refused.err.contains(told), "{words:?}: {refused:?}");
    }
    for words in [
        &["explore", "--family", "mid-cond", "--intercept"][..],
        &["advise", "--rows", "99", "--cols", "9", "--dense"],
    ] {
        let refused = rl4rla(words);
        assert!(refused.code == 2 && refused.err.contains("no --matrix is given"), "{words:?}: {refused:?}");
    }
    let few = common::written("explore-few.csv", "a,b,y\n1,2,3\n4,5,7\n7,8,8\n2,1,1\n0,3,1\n");
    let refused = rl4rla(&["explore", "--matrix", &few, "--target", "y"]);
    assert!(refused.code == 2 && refused.err.contains("too small to need an iteration"), "{refused:?}");
}

//! `solve`: the user's own files, end to end.

mod common;

use common::{assert_keys, json, rl4rla, scratch, written};
use serde_json::Value;
use std::fs;

/// A small regression: y = 2·a − 3·b + 0.5·c + 7, with a little noise that no column explains.
fn table() -> String {
    let mut text = "a,b,c,y\n".to_string();
    for i in 0..200 {
        let t = i as f64;
        let (a, b, c) = ((0.7 * t).sin(), (0.3 * t).cos() * 100.0, (i % 5) as f64);
        let noise = if i % 2 == 0 { 1e-3 } else { -1e-3 };
        text += &format!("{a},{b},{c},{}\n", 2.0 * a - 3.0 * b + 0.5 * c + 7.0 + noise);
    }
    text
}

fn value(solved: &Value, name: &str) -> f64 {
    let all = solved["coefficients"].as_array().unwrap();
    all.iter().find(|entry| entry["name"] == name).unwrap()["value"].as_f64().unwrap()
}

#[test]
fn a_table_is_solved_in_its_own_units() {
    let file = written("solve.csv", table());
    for program in ["precond-gd", "sketched-precond-gd"] {
        for extra in [&[][..], &["--standardise"]] {
            let args =
                [&["solve", program, "--matrix", &file, "--target", "y", "--intercept"], extra].concat();
            let solved = json(&args);
            assert_keys(
                &solved,
                &["relative_residual", "iterations", "seconds", "flops", "rows", "cols", "step"],
            );
            assert_eq!((&solved["rows"], &solved["cols"]), (&200.into(), &4.into()));
            for (name, wanted) in [("a", 2.0), ("b", -3.0), ("c", 0.5), ("(intercept)", 7.0)] {
                let found = value(&solved, name);
                assert!((found - wanted).abs() < 1e-3, "{program} {name}: {found}");
            }
            assert!(solved["relative_residual"].as_f64().unwrap() < 1e-4, "{solved}");
        }
    }
}

#[test]
fn files_are_written_and_read_again() {
    let file = written("solve-out.csv", table());
    let path = |name: &str| scratch(name).to_str().unwrap().to_string();
    let (out, npy, plot) = (path("x.csv"), path("x.npy"), path("course.svg"));
    let predictions = path("predictions.csv");
    let base = ["solve", "sketched-precond-gd", "--matrix", &file, "--target", "y", "--intercept"];
    let args = ["--out", &out, "--plot", &plot, "--predict", &file, "--predictions", &predictions];
    let standardised = json(&[&base[..], &args, &["--standardise"]].concat());
    let solved = json(&[&base[..], &args].concat());
    let rmse = |solved: &Value| solved["predicted"]["rmse"].as_f64().unwrap();
    assert!(
        (rmse(&standardised) / rmse(&solved) - 1.0).abs() < 1e-6,
        "{} {}",
        rmse(&standardised),
        rmse(&solved)
    );
    let text = fs::read_to_string(&out).unwrap();
    assert!(text.lines().nth(1).unwrap().starts_with("a,") && text.lines().count() == 5, "{text}");
    assert!(fs::read_to_string(&plot).unwrap().contains("<svg"));
    assert_eq!(fs::read_to_string(&predictions).unwrap().lines().count(), 201);
    assert!((rmse(&solved) - 1e-3).abs() < 1e-4, "{}", solved["predicted"]);
    assert_eq!(solved["predicted"]["rows"], 200);
    // The residual of every iterate is there where a plot is asked for.
    assert!(solved["residuals"].as_array().unwrap().iter().all(Value::is_number));
    json(&[&base[..], &["--out", &npy]].concat());
    // What was written can be a right-hand side again.
    let square = written("solve-square.csv", "1,0,0,0\n0,2,0,0\n0,0,4,0\n0,0,0,8\n");
    let back = json(&["solve", "precond-gd", "--matrix", &square, "--rhs", &npy]);
    assert!((value(&back, "2") - value(&solved, "b") / 2.0).abs() < 1e-9);
}

#[test]
fn data_that_do_not_fit_are_read_from_disk_to_the_same_bits() {
    let file = written("solve-disk.csv", table());
    let base = ["solve", "sketched-precond-gd", "--matrix", &file, "--target", "y"];
    let (memory, disk) = (json(&base), json(&[&base[..], &["--max-memory", "6K"]].concat()));
    assert_eq!((&memory["in_file"], &disk["in_file"]), (&false.into(), &true.into()));
    for key in ["coefficients", "relative_residual", "step", "iterations"] {
        assert_eq!(memory[key], disk[key], "{key}");
    }
    let refused = rl4rla(&[&base[..], &["--max-memory", "6K", "--sketch", "srht"]].concat());
    assert!(refused.code == 2 && refused.err.contains("--max-memory"), "{refused:?}");
}

#[test]
fn threads_and_seeds_do_what_they_say() {
    let file = written("solve-threads.csv", table());
    let base = ["solve", "precond-weighted-sgd", "--matrix", &file, "--target", "y"];
    let run = |extra: &[&str]| json(&[&base[..], extra].concat());
    let one = run(&["--threads", "1"]);
    assert_eq!(one["coefficients"], run(&["--threads", "2"])["coefficients"]);
    assert_ne!(one["coefficients"], run(&["--seed", "1"])["coefficients"]);
    // The noise of samples cancels in the mean.
    let noisy = run(&[])["relative_residual"].as_f64().unwrap();
    let mean = run(&["--average"])["relative_residual"].as_f64().unwrap();
    assert!(mean <= noisy, "{mean} {noisy}");
}

#[test]
fn other_tasks_are_solved_by_their_programs() {
    let mut logistic = "u,v,label\n".to_string();
    for i in 0..300 {
        let (u, v) = ((1.3 * i as f64).sin(), (0.37 * i as f64).cos());
        // Every seventh is turned round, so that no line separates them.
        let label = if (u - v > 0.0) == (i % 7 != 0) { 1 } else { -1 };
        logistic += &format!("{u},{v},{label}\n");
    }
    let file = written("solve-logistic.csv", &logistic);
    let args = ["solve", "newton", "--matrix", &file, "--target", "label", "--iterations", "8"];
    let solved = json(&args);
    assert!(value(&solved, "u") > 0.5 && value(&solved, "v") < -0.5, "{solved}");
    assert!(solved["relative_residual"].is_null() && solved["loss"].is_number());
    let square = written("solve-eigen.csv", "2,1,0\n1,3,1\n0,1,4\n");
    let solved = json(&["solve", "power-iteration", "--matrix", &square, "--iterations", "200"]);
    assert!(solved["loss"].as_f64().unwrap() < 1e-10, "{solved}");
    let refused = rl4rla(&[&args[..], &["--predict", &file]].concat());
    assert!(refused.code == 2 && refused.err.contains("--predict"), "{refused:?}");
    let refused = rl4rla(&["solve", "logistic-forward", "--matrix", &file, "--target", "label"]);
    assert_eq!(refused.code, 2);
}

#[test]
fn bad_data_are_refused_by_their_place() {
    let refused = |args: &[&str], words: &[&str]| {
        let said = rl4rla(&[&["solve", "precond-gd"], args].concat());
        assert_eq!(said.code, 2, "{said:?}");
        for word in words {
            assert!(said.err.contains(word), "{word}: {}", said.err);
        }
    };
    let file = written("solve-good.csv", table());
    let hole = written("solve-hole.csv", "a,b,y\n1,2,3\n4,,6\n7,8,9\n1,1,1\n");
    let word = written("solve-word.csv", "a,b,y\n1,2,3\n4,red,6\n7,8,9\n");
    let wide = written("solve-wide.csv", "1,2,3\n4,5,6\n");
    let empty = written("solve-empty.csv", "");
    let long = written("solve-long.csv", "1\n2\n3\n");
    refused(&["--matrix", "no-such.csv", "--target", "y"], &["no-such.csv"]);
    refused(&["--matrix", &file], &["--target"]);
    refused(&["--matrix", &file, "--target", "z"], &["no column `z`", "a, b, c, y"]);
    refused(&["--matrix", &file, "--target", "9"], &["no column 9", "1 to 4"]);
    refused(&["--matrix", &hole, "--target", "y"], &["line 3", "`b`", "--drop-missing"]);
    refused(&["--matrix", &word, "--target", "y"], &["line 3", "red"]);
    refused(&["--matrix", &wide, "--target", "1", "--intercept"], &["more columns than rows"]);
    refused(&["--matrix", &empty, "--target", "1"], &["solve-empty.csv"]);
    refused(&["--matrix", &file, "--rhs", &long], &["200 rows", "has 3"]);
    refused(&["--matrix", &file, "--target", "y", "--step", "fast"], &["--step"]);
    refused(&["--matrix", &file, "--target", "y", "--predict", &long], &["1 columns", "solve-long.csv"]);
    refused(&[], &["--matrix"]);
    let kept = json(&["solve", "precond-gd", "--matrix", &hole, "--target", "y", "--drop-missing"]);
    assert_eq!((&kept["rows"], &kept["dropped"]), (&3.into(), &1.into()));
}

#[test]
fn what_is_no_solution_is_told() {
    // The third column is the sum of the others.
    let mut text = "a,b,c,y\n".to_string();
    for i in 0..80 {
        let (a, b) = ((0.7 * i as f64).sin(), (0.3 * i as f64).cos());
        text += &format!("{a},{b},{},{}\n", a + b, (1.9 * i as f64).sin());
    }
    let file = written("solve-dependent.csv", &text);
    let base = ["solve", "ls-gd", "--matrix", &file, "--target", "y"];
    let diverged = rl4rla(&[&base[..], &["--step", "1", "--json"]].concat());
    assert_eq!(diverged.code, 1, "{diverged:?}");
    assert!(
        diverged.out.contains("\"converged\":false") && diverged.out.contains("it diverges"),
        "{diverged:?}"
    );
    // Gradient descent needs no independent columns.
    assert_eq!(json(&base)["converged"], true);
    let short = rl4rla(&[&base[..], &["--iterations", "3"]].concat());
    assert!(short.code == 0 && short.out.contains("is not reached"), "{short:?}");
}

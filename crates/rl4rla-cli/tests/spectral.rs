//! `solve --eigenpairs` and `solve --svd`: the user's own files, end to end.

mod common;

use common::{assert_keys, json, rl4rla, scratch, written};
use serde_json::Value;
use std::fs;

/// Eigenvalues −5, 3 and 1.
const SYMMETRIC: &str = "2,1,0\n1,2,0\n0,0,-5\n";

/// A diagonal matrix with the entries 1, 2, … n.
fn diagonal(n: usize) -> String {
    let entries: String = (1..=n).map(|i| format!("{i} {i} {i}\n")).collect();
    format!("%%MatrixMarket matrix coordinate real symmetric\n{n} {n} {n}\n{entries}")
}

fn numbers(values: &Value) -> Vec<f64> {
    values.as_array().unwrap().iter().map(|value| value.as_f64().unwrap()).collect()
}

#[track_caller]
fn assert_close(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    let size = expected.iter().fold(0.0_f64, |size, value| size.max(value.abs()));
    assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() <= 1e-10 * size), "{found:?}");
}

#[test]
fn eigenpairs_and_their_files() {
    let file = written("spectral-small.csv", SYMMETRIC);
    let (out, vectors) = (scratch("spectral-values.csv"), scratch("spectral-vectors.csv"));
    let (out, vectors) = (out.to_str().unwrap(), vectors.to_str().unwrap());
    let found = json(&["solve", "--eigenpairs", "2", "--matrix", &file, "--out", out, "--vectors", vectors]);
    assert_keys(&found, &["values", "residuals", "converged", "seconds", "passes", "rows", "cols"]);
    assert_keys(&found, &["program", "method", "orthogonality", "files"]);
    assert_close(&numbers(&found["values"]), &[-5.0, 3.0]);
    assert_eq!(fs::read_to_string(out).unwrap().lines().next(), Some("number,value"));
    let text = fs::read_to_string(vectors).unwrap();
    let row = |line: &str| line.split(',').map(|entry| entry.parse().unwrap()).collect::<Vec<f64>>();
    let columns: Vec<Vec<f64>> = text.lines().skip(1).map(row).collect();
    let half = 0.5_f64.sqrt();
    for (found, expected) in columns.iter().zip([[0.0, half], [0.0, half], [1.0, 0.0]]) {
        assert_close(found, &expected);
    }
    for (which, expected) in [("largest", [3.0, 1.0]), ("smallest", [-5.0, 1.0])] {
        let found = json(&["solve", "--eigenpairs", "2", "--which", which, "--matrix", &file]);
        assert_close(&numbers(&found["values"]), &expected);
    }
}

#[test]
fn a_large_matrix_takes_the_iteration_and_a_limit_is_told() {
    let file = written("spectral-large.mtx", diagonal(2100));
    let base = ["solve", "--eigenpairs", "2", "--matrix", &file];
    let found = json(&base);
    assert_close(&numbers(&found["values"]), &[2100.0, 2099.0]);
    assert_eq!((&found["program"], &found["converged"]), (&"block-krylov".into(), &true.into()));
    for quiet in [&["--json"][..], &["-q"], &[]] {
        let said = rl4rla(&[&base[..], &["--iterations", "4"], quiet].concat());
        assert_eq!(said.code, 1, "{said:?}");
        assert!(format!("{}{}", said.out, said.err).contains("Not converged: 2 of 2 residuals"), "{said:?}");
    }
}

#[test]
fn singular_values_of_a_wide_table() {
    let file = written("spectral-wide.csv", "3,0,0\n0,0,-4\n");
    let left = scratch("spectral-left.npy");
    let found = json(&["solve", "--svd", "2", "--matrix", &file, "--left-vectors", left.to_str().unwrap()]);
    assert_close(&numbers(&found["values"]), &[4.0, 3.0]);
    assert_eq!((&found["rows"], &found["cols"]), (&2.into(), &3.into()));
    assert!(fs::read(&left).unwrap().starts_with(b"\x93NUMPY"));
}

#[test]
fn bad_requests_are_refused() {
    let small = written("spectral-bad.csv", SYMMETRIC);
    let skew = written("spectral-skew.csv", "2,1,0\n3,2,0\n0,0,-5\n");
    let tall = written("spectral-tall.csv", "1,2\n3,4\n5,6\n");
    for (arguments, reason) in [
        (&["--eigenpairs", "2", "--matrix", &skew][..], "row 1, column `2` of A is 1"),
        (&["--eigenpairs", "2", "--matrix", &tall], "must be square"),
        (&["--svd", "4", "--matrix", &small], "--svd from 1 to 3"),
        (&["--svd", "2", "--matrix", &small, "--tolerance", "2"], "--tolerance"),
        (&["--svd", "2", "--matrix", &small, "--tolerance", "nan"], "--tolerance"),
        // What would have no effect is refused too.
        (&["--svd", "2", "--matrix", &small, "--which", "smallest"], "--which"),
        (&["--eigenpairs", "2", "--matrix", &small, "--left-vectors", "u.npy"], "--left-vectors"),
        (&["--eigenpairs", "2", "--matrix", &small, "--step", "1"], "--step"),
        (&["--svd", "2", "--matrix", &small, "--sketch-factor", "4"], "--sketch-factor"),
        (&["--eigenpairs", "2", "--svd", "2", "--matrix", &small], "cannot be used with"),
        (&["precond-gd", "--svd", "2", "--matrix", &small], "cannot be used with"),
        (&["precond-gd", "--matrix", &small, "--vectors", "v.npy"], "--vectors"),
        (&["--svd", "2"], "--matrix"),
    ] {
        let said = rl4rla(&[&["solve"], arguments].concat());
        assert_eq!(said.code, 2, "{arguments:?}: {said:?}");
        assert!(said.err.contains(reason), "{arguments:?}: {said:?}");
    }
}

#[test]
fn threads_do_not_show() {
    let file = written("spectral-threads.mtx", diagonal(700));
    let of = |threads: &str| {
        let found = json(&["solve", "--eigenpairs", "3", "--matrix", &file, "--threads", threads]);
        (found["values"].clone(), found["residuals"].clone(), found["passes"].clone())
    };
    assert_eq!(of("1"), of("2"));
}

//! The example that brings a task of its own: its numbers, and every command on it.
//!
//! This test is the example too (`common/example.rs`).
#![allow(non_snake_case)]

#[path = "../examples/nnls.rs"]
mod nnls;

mod common;

#[path = "common/example.rs"]
mod as_example;

use as_example::command;
use common::{Said, fresh, said, timeless, written};
use nnls::{CURRICULUM, Nnls, solve};
use rl4rla::execute::PreparedInstance;
use rl4rla::linalg::{self, Matrix};
use rl4rla::problem::{Family, Task, register};
use rl4rla::program::Entry;
use rl4rla::reward::{Profile, Protocol, StepRule, Weights, reward, score};
use rl4rla::rng::Stream;
use serde_json::Value;
use std::process::{ExitCode, Stdio};
use std::time::Duration;

fn main() -> ExitCode {
    let tests: &[(&str, fn())] = &[
        ("names_are_taken_once", names_are_taken_once),
        ("the_reference_solution_is_one", the_reference_solution_is_one),
        ("the_excess_is_what_is_left_to_gain", the_excess_is_what_is_left_to_gain),
        ("reduced_coordinates_change_nothing", reduced_coordinates_change_nothing),
        ("the_guide_shows_the_example", the_guide_shows_the_example),
        ("its_own_discovery_finds_projected_gradient", its_own_discovery_finds_projected_gradient),
        ("every_command_knows_the_task", every_command_knows_the_task),
        ("runs_are_kept_and_resumed", runs_are_kept_and_resumed),
    ];
    as_example::run(nnls::main, tests)
}

/// Runs it.
#[track_caller]
fn example(args: &[&str]) -> Said {
    said(command(args).output().expect("the example starts"))
}

/// The JSON of a command that must succeed.
#[track_caller]
fn json(args: &[&str]) -> Value {
    let said = example(&[args, &["--json"]].concat());
    assert_eq!(said.code, 0, "{args:?}: {said:?}");
    said.json()
}

fn names_are_taken_once() {
    assert_eq!(register(&Nnls), Ok(()));
    let again = register(&Nnls).unwrap_err().to_string();
    assert!(again.contains("`nnls` is taken"), "{again}");
}

/// A problem of any shape, its columns of very different lengths.
fn random(seed: u64) -> (Matrix, Vec<f64>) {
    let stream = Stream::new(seed).derive("nnls", 0);
    let (m, n) = (4 + seed as usize % 9, 1 + seed as usize % 4);
    let (normals, lengths) =
        (stream.derive("matrix", 0).normals(m * n), stream.derive("lengths", 0).normals(n));
    let A = Matrix::from_fn(m, n, |i, j| normals[i * n + j] * (3.0 * lengths[j]).exp());
    (A, stream.derive("right", 0).normals(m))
}

/// The least ‖Ax − b‖ over x ≥ 0, by trying every set of entries that may differ from 0.
fn by_trying_everything(A: &Matrix, b: &[f64]) -> f64 {
    let n = A.cols();
    let residual = |set: usize| {
        let columns: Vec<usize> = (0..n).filter(|j| set >> j & 1 == 1).collect();
        let part = Matrix::from_fn(A.rows(), columns.len(), |i, j| A.get(i, columns[j]));
        let x = linalg::least_squares(&part, b);
        let rest = linalg::sub(&linalg::mat_vec(&part, &x), b);
        x.iter().all(|x| *x >= 0.0).then(|| linalg::norm(&rest))
    };
    (0..1 << n).filter_map(residual).fold(f64::INFINITY, f64::min)
}

fn the_reference_solution_is_one() {
    let mut bound = 0;
    for seed in 0..500 {
        let (A, b) = random(seed);
        let x = solve(&A, &b).unwrap_or_else(|| panic!("seed {seed}"));
        let rest = linalg::sub(&linalg::mat_vec(&A, &x), &b);
        let g = linalg::vec_mat(&rest, &A);
        for j in 0..A.cols() {
            let rounding = 1e-12 * linalg::norm(A.column(j)) * linalg::norm(&b);
            assert!(x[j] >= 0.0 && g[j] >= -rounding, "seed {seed}: {x:?} {g:?}");
            assert!(x[j] == 0.0 || g[j] <= rounding, "seed {seed}: {x:?} {g:?}");
            bound += usize::from(x[j] == 0.0);
        }
        let least = by_trying_everything(&A, &b);
        assert!((linalg::norm(&rest) - least).abs() <= 1e-12 * linalg::norm(&b), "seed {seed}");
    }
    assert!(bound > 200, "the constraint matters");
    let zero = Nnls.pose(Matrix::identity(3), vec![0.0; 3]).unwrap();
    assert_eq!((&zero.x_star[..], zero.measure(&[0.0; 3])), (&[0.0; 3][..], (0.0, 0.0)));
}

fn the_excess_is_what_is_left_to_gain() {
    let (family, mut bound) = (Family::named("nnls").unwrap(), 0);
    for seed in 0..20 {
        let instance = family.draw(&Stream::new(seed)).unwrap();
        assert!((instance.spectrum()[0] - 1.0).abs() < 1e-12 && (instance.condition() - 3.0).abs() < 1e-12);
        assert!(instance.x_star.iter().any(|x| *x > 0.0), "seed {seed}");
        bound += usize::from(instance.x_star.contains(&0.0));
        let x: Vec<f64> = Stream::new(seed).derive("x", 0).normals(10).iter().map(|x| x.abs()).collect();
        let (loss, excess) = instance.measure(&x);
        let least = instance.attainable();
        assert!((loss * loss - least * least - excess * excess).abs() < 1e-12, "seed {seed}");
        assert!(instance.measure(&instance.x_star).1 < 1e-14, "seed {seed}");
        // Far below where the difference of the two squares would be rounding alone.
        let near: Vec<f64> = instance.x_star.iter().map(|x| x * (1.0 + 1e-11)).collect();
        let (_, excess) = instance.measure(&near);
        assert!((1e-12..1e-10).contains(&excess), "seed {seed}: {excess}");
        assert_eq!(instance.measure(&[-1e-300; 10]), (1.0, 1.0));
        assert_eq!(instance.measure(&[f64::NAN; 10]), (1.0, 1.0));
    }
    assert!(bound >= 15, "the constraint matters");
}

fn reduced_coordinates_change_nothing() {
    let program = &Entry::named("projected-gradient").unwrap().document.program;
    let weights = Weights::of(&Nnls);
    let protocol = Protocol::new(Profile::Sound { weights, condition_only: false }, StepRule::Fixed(1.5));
    for seed in 0..5 {
        let prepared =
            PreparedInstance::new(Family::named("nnls").unwrap().draw(&Stream::new(seed)).unwrap());
        let fast = reward(program, &prepared, &protocol, &Stream::new(0));
        let full = score(program, &prepared.instance(), &protocol, &Stream::new(0)).reward;
        assert!(full > 0.1 && (full - fast).abs() < 1e-9, "seed {seed}: {full} {fast}");
    }
}

fn the_guide_shows_the_example() {
    let plain = |text: &str| text.lines().map(str::trim).collect::<Vec<_>>().join("\n");
    let (guide, code) = (include_str!("../docs/new-task.md"), include_str!("../examples/nnls.rs"));
    let blocks = guide.split("```").skip(1).step_by(2);
    let shown: Vec<&str> =
        blocks.filter_map(|b| b.strip_prefix("rust\n").or(b.strip_prefix("toml\n"))).collect();
    assert!(shown.len() > 5);
    for block in shown {
        assert!(plain(code).contains(&plain(block)), "not in the example:\n{block}");
    }
}

fn its_own_discovery_finds_projected_gradient() {
    let Said { code, out, err } = example(&[]);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    assert!(out.starts_with("xₜ₊₁ = max(xₜ − η Aᵀ (A xₜ − b), 0)\n"), "{out}");
    assert!(out.contains("this is projected-gradient; reward 0."), "{out}");
}

fn every_command_knows_the_task() {
    let shown = json(&["show", "projected-gradient"]);
    assert_eq!((&shown["matched"], &shown["update"]), (&"projected-gradient".into(), &"assign".into()));
    assert_eq!(shown["latex"], "x_{t+1} = \\max(x_t - \\eta A^\\top (A x_t - b), 0)");
    let mean = json(&["evaluate", "projected-gradient", "--kappa", "2", "--iterations", "100"]);
    assert!(mean["excess"].as_f64().is_some_and(|excess| excess < 1e-6), "{mean}");
    for what in ["families", "operators", "programs"] {
        let listed = json(&["list", what])["items"].to_string();
        assert!(listed.contains("nnls") || listed.contains("VEC_POSITIVE"), "{what}");
    }
    // The step may be taken earlier, and then it is the same; without it, or projected before it, it is not.
    let program = |name: &str, code: &str| {
        let head =
            "family: nnls\nupdate: assign\niteration:\n v1 = MAT_VEC_MUL(A, x)\n v1 = VEC_VEC_SUB(v1, b)\n";
        written(&format!("nnls-{name}.rla"), format!("{head}{code}"))
    };
    let early = " v1 = SCALAR_VEC_MUL(eta, v1)\n v1 = VEC_MAT_MUL(v1, A)\n";
    let alike = program("early", &format!("{early} v1 = VEC_VEC_SUB(x, v1)\n v1 = VEC_POSITIVE(v1)\n"));
    let plain = program("plain", &format!("{early} v1 = VEC_VEC_SUB(x, v1)\n"));
    let inside = program("inside", &format!("{early} v1 = VEC_POSITIVE(v1)\n v1 = VEC_VEC_SUB(x, v1)\n"));
    for (other, code) in [(&alike, 0), (&plain, 1), (&inside, 1)] {
        let said = example(&["equiv", "projected-gradient", other]);
        assert_eq!(said.code, code, "{other}: {said:?}");
    }
    assert_eq!(json(&["show", &alike])["matched"], "projected-gradient");
    // A task that says nothing of its own is solved until the excess over its reference solution is small.
    let row = |i: i32| {
        let [p, q, r] = [0.7, 1.9, 3.1].map(|f| (f * f64::from(i)).sin());
        format!("{p},{q},{r},{}\n", p - 0.5 * q + 0.2 * (5.3 * f64::from(i)).cos())
    };
    let table = written("nnls.csv", (0..80).map(row).collect::<String>());
    let base = ["solve", "projected-gradient", "--matrix", &table, "--target", "4"];
    let solved = json(&base);
    assert!(solved["converged"] == true && solved["optimality"].as_f64().unwrap() <= 1e-10, "{solved}");
    assert_eq!(solved["coefficients"][1]["value"], 0.0, "{solved}");
    assert_eq!(example(&[&base[..], &["--iterations", "1"]].concat()).code, 1);
    let audited = json(&["audit", &written("nnls-audit.toml", CURRICULUM), "--seeds", "2"]);
    assert_eq!(audited["stages"][0]["target_rank"], 1, "{audited}");
}

fn runs_are_kept_and_resumed() {
    let (curriculum, store) = (written("nnls.toml", CURRICULUM), fresh("nnls.db"));
    let run = json(&["discover", &curriculum, "--store", &store]);
    assert_eq!(run["found"], true, "{run}");
    // Killed at any moment, or too early to have begun, it ends the same.
    let killed = fresh("nnls-killed.db");
    let mut child = command(&["discover", &curriculum, "--store", &killed]);
    let mut child = child.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the example starts");
    std::thread::sleep(Duration::from_millis(300));
    child.kill().and_then(|()| child.wait()).expect("it can be stopped");
    let begun = json(&["list", "runs", "--store", &killed])["items"] != Value::Array(vec![]);
    let again = if begun { ["resume", "LAST"] } else { ["discover", &curriculum] };
    assert_eq!(timeless(json(&[&again[..], &["--store", &killed]].concat())), timeless(run.clone()));
    // A run that is done is resumed to its result.
    assert_eq!(json(&["resume", "LAST", "--store", &store]), run);
    assert_eq!(json(&["show", "run:LAST", "--store", &store])["matched"], "projected-gradient");
    let swept = json(&["sweep", &curriculum, "--seeds", "2", "--store", &store]);
    assert_eq!(swept["rows"][0]["successes"], 2, "{swept}");
}

//! Commands inside another program: their documents are those that are printed, and nothing ends the process.

use rl4rla::data::System;
use rl4rla::linalg::Matrix;
use rl4rla_cli::embedded::{CommandFailure, GivenData, call, compare_in_memory, solve_in_memory};
use std::ffi::OsString;
use std::process::Command;

fn words(words: &[&str]) -> Vec<OsString> {
    words.iter().map(OsString::from).collect()
}

fn system() -> System {
    let matrix = Matrix::from_row_major(4, 1, vec![0.0, 1.0, 2.0, 3.0]);
    System::in_memory(matrix, vec![5.0, 7.0, 9.0, 11.0], None, true, false)
}

#[test]
fn documents_are_those_that_are_printed() {
    for line in [&["show", "newton"][..], &["equiv", "ls-gd", "landweber"], &["list", "operators"]] {
        let printed = Command::new(env!("CARGO_BIN_EXE_rl4rla")).args(line).arg("--json").output().unwrap();
        let answer = call(&words(line)).unwrap();
        let document: serde_json::Value = serde_json::from_slice(&printed.stdout).unwrap();
        assert_eq!((answer.json, Some(i32::from(answer.code))), (document, printed.status.code()));
    }
}

#[test]
fn programs_and_curricula_may_be_given_as_text() {
    let text = "iteration:\n v1 = MAT_VEC_MUL(A, x)\n v1 = VEC_VEC_SUB(v1, b)\n v1 = VEC_MAT_MUL(v1, A)\n";
    assert_eq!(call(&words(&["show", text])).unwrap().json["matched"], "ls-gd");
    let CommandFailure { message, advice } =
        call(&words(&["show", "iteration:\n v1 = NO(A)\n"])).err().unwrap();
    assert!(message.starts_with("the program, line 2") && advice.is_some(), "{message}");
    let failure = call(&words(&["audit", "title = \"x\"\nstages = 3\n"])).err().unwrap();
    assert!(failure.message.starts_with("the curriculum, "), "{}", failure.message);
}

#[test]
fn bad_arguments_are_errors() {
    for line in [&["nothing"][..], &["--help"], &["show"], &["show", "--shape", "round", "ls-gd"], &[]] {
        assert!(!call(&words(line)).err().unwrap().message.is_empty());
    }
    let given = GivenData { system: system(), further: vec![], weights: None };
    assert!(solve_in_memory(&words(&["show", "ls-gd"]), given).is_err());
}

#[test]
fn data_in_memory_are_solved_and_compared() {
    let given = || GivenData { system: system(), further: vec![], weights: None };
    let (answer, found) =
        solve_in_memory(&words(&["solve", "--matrix", "A", "--intercept"]), given()).unwrap();
    assert_eq!((answer.code, &answer.json["cols"]), (0, &serde_json::json!(2)));
    assert!((found[0][0] - 2.0).abs() < 1e-14 && (found[0][1] - 5.0).abs() < 1e-14);
    let compared =
        compare_in_memory(&words(&["compare", "--matrix", "A", "--baselines", "qr,lsqr"]), system());
    assert_eq!(compared.unwrap().json["rows"].as_array().unwrap().len(), 2);
}

//! Parquet and Arrow files: solved to the same bits as an NPY file with the same numbers, or refused with the reason.

mod common;

use common::{json, rl4rla, written};
use serde_json::Value;

/// The path of a file of pandas's or NumPy's.
fn fixture(name: &str) -> String {
    format!("{}/../rl4rla/tests/fixtures/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// The bits of all coefficients.
fn coefficients(solved: &Value) -> Vec<u64> {
    let all = solved["coefficients"].as_array().unwrap();
    all.iter().map(|entry| entry["value"].as_f64().unwrap().to_bits()).collect()
}

#[test]
fn tables_by_columns_are_solved_like_arrays() {
    let (parquet, feather) = (fixture("regression.parquet"), fixture("regression.feather"));
    let weights =
        written("columnar-weights.csv", (0..100).map(|i| format!("{}\n", 1 + i % 3)).collect::<String>());
    for extra in ["--intercept", "--standardise", "--weights"] {
        let solve = |file: &str, target: &str, weights: &str| {
            let args = ["solve", "--matrix", file, "--target", target, "--intercept", extra, weights];
            let count = match extra {
                "--intercept" => 6,
                "--standardise" => 7,
                _ => 8,
            };
            json(&args[..count])
        };
        let wanted = coefficients(&solve(&fixture("regression.npy"), "4", &weights));
        assert_eq!(wanted.len(), 4);
        for file in [&parquet, &feather] {
            let solved = solve(file, "y", &fixture("weights.parquet"));
            assert_eq!(coefficients(&solved), wanted, "{file} {extra:?}");
            assert_eq!(solved["coefficients"][0]["name"], "a", "{file}");
        }
    }
    let out = written("columnar-predictions.csv", "");
    let args = ["solve", "--matrix", &parquet, "--target", "y", "--intercept"];
    let more = ["--predict", &feather, "--predictions", &out];
    let done = rl4rla(&[&args[..], &more].concat());
    assert_eq!(done.code, 0, "{done:?}");
    let predicted = std::fs::read_to_string(&out).unwrap();
    assert_eq!(predicted.lines().count(), 101, "{predicted}");
}

#[test]
fn tables_that_are_not_all_numbers_are_refused_by_column_and_row() {
    for (name, said) in [
        ("text.parquet", "text.parquet, column 2 (`city`): expected numbers, found text"),
        ("missing.feather", "missing.feather, row 2, column 2 (`b`): the value is missing"),
        ("empty.parquet", "empty.parquet: the table has no rows"),
    ] {
        let refused = rl4rla(&["solve", "--matrix", &fixture(name), "--target", "a"]);
        assert!(refused.code == 2 && refused.err.contains(said), "{refused:?}");
    }
    let cut = written("columnar-cut.parquet", &std::fs::read(fixture("regression.parquet")).unwrap()[..2000]);
    let refused = rl4rla(&["solve", "--matrix", &cut, "--target", "y"]);
    let said = "the file is damaged: its end is missing";
    assert!(
        refused.code == 2 && refused.err.contains(said) && !refused.err.contains("panicked"),
        "{refused:?}"
    );
}

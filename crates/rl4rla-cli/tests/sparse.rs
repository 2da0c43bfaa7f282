//! Sparse Matrix Market files: solved like dense ones, or refused with the reason.

mod common;

use common::{json, rl4rla, written};
use serde_json::Value;

const ROWS: usize = 30_000;
const COLS: usize = 40;

/// One entry in twenty, in no regular place.
fn entry(i: usize, j: usize) -> Option<f64> {
    let mixed = (i * COLS + j + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20;
    (mixed % 20 == 7).then_some((mixed % 1013) as f64 / 100.0 - 5.0)
}

/// A file, column by column, whose last column is 2·(column 1) − 3·(column 2) + 4 and a bit more; labels 0 and 1 if asked.
fn file(name: &str, labels: bool) -> String {
    let (mut text, mut count) = (String::new(), 0);
    for (j, i) in (0..COLS).flat_map(|j| (0..ROWS).map(move |i| (j, i))) {
        let line = || 2.0 * entry(i, 0).unwrap_or(0.0) - 3.0 * entry(i, 1).unwrap_or(0.0) + 4.0;
        let value = match (j + 1 < COLS, labels) {
            (true, _) => entry(i, j),
            (false, true) => Some((i % 2) as f64),
            (false, false) => Some(line() + (i % 7) as f64 / 10.0),
        };
        if let Some(value) = value {
            text += &format!("{} {} {value}\n", i + 1, j + 1);
            count += 1;
        }
    }
    written(name, format!("%%MatrixMarket matrix coordinate real general\n{ROWS} {COLS} {count}\n{text}"))
}

fn coefficients(solved: &Value) -> Vec<f64> {
    let all = solved["coefficients"].as_array().unwrap();
    all.iter().map(|entry| entry["value"].as_f64().unwrap()).collect()
}

#[test]
fn a_sparse_file_gives_what_the_dense_one_gives() {
    let file = file("sparse.mtx", false);
    for program in ["sketched-precond-gd", "cgls-recurred", "adaptive-momentum", "precond-gd"] {
        for extra in [&[][..], &["--intercept"], &["--intercept", "--standardise"]] {
            let args = [&["solve", program, "--matrix", &file, "--target", "40"], extra].concat();
            // The dense matrix takes 9.6 MB, and would be read from disk.
            let solved = json(&[&args[..], &["--max-memory", "2M"]].concat());
            let dense = json(&[&args[..], &["--dense"]].concat());
            assert_eq!((&solved["converged"], &solved["in_file"]), (&true.into(), &false.into()));
            assert!(solved["nonzeros"].as_u64().unwrap() > 50_000 && dense["nonzeros"].is_null());
            let (found, expected) = (coefficients(&solved), coefficients(&dense));
            assert_eq!(found.len(), expected.len());
            for (a, b) in found.iter().zip(&expected) {
                assert!((a - b).abs() < 1e-8, "{program} {extra:?}: {a} {b}");
            }
        }
    }
    let said = rl4rla(&["solve", "precond-gd", "--matrix", &file, "--target", "40"]);
    assert!(said.out.contains("30000×39, sparse with 5"), "{}", said.out);
}

#[test]
fn what_needs_all_entries_is_refused_with_the_way_out() {
    let file = file("sparse-refused.mtx", true);
    let base = ["--matrix", &file, "--target", "40"];
    let refused = |args: &[&str]| {
        let said = rl4rla(&[args, &base].concat());
        assert_eq!(said.code, 2, "{said:?}");
        assert!(said.err.contains("sparse") && said.err.contains("--dense"), "{}", said.err);
    };
    refused(&["solve", "sketched-precond-gd", "--sketch", "srht"]);
    refused(&["solve", "newton"]);
    refused(&["compare", "newton"]);
    let solved =
        json(&[&["solve", "sketched-precond-gd", "--sketch", "srht", "--dense"], &base[..]].concat());
    assert_eq!(solved["converged"], true);
    let small = rl4rla(&[&["solve", "precond-gd", "--max-memory", "500k"], &base[..]].concat());
    assert!(small.code == 2 && small.err.contains("a sparse matrix of 30,000×40"), "{}", small.err);
}

#[test]
fn sparse_files_are_compared_and_advised_on() {
    let file = file("sparse-compared.mtx", false);
    let base = ["--matrix", &file, "--target", "40"];
    let names = "qr,lsqr,cgls,blendenpik,fossils,kaczmarz";
    let said = rl4rla(&[&["compare", "sketched-precond-gd", "--baselines", names], &base[..]].concat());
    assert_eq!(said.code, 0, "{said:?}");
    assert!(
        said.out.contains("fossils") && said.out.contains("this method needs all of A in memory"),
        "{said:?}"
    );
    assert_eq!(rl4rla(&[&["advise"], &base[..]].concat()).code, 0);
}

//! `rl4rla solve` without a program: the choice, baselines, ridge paths, weights, several targets, wide systems.

mod common;

use common::{json, rl4rla, written};
use rl4rla::rng::Stream;

/// Rows `a,b,c,y` with y = 1 + a − 2b + 3c and noise of this size.
fn table(name: &str, rows: usize, noise: f64) -> String {
    let numbers = Stream::new(7).normals(4 * rows);
    let line = |row: &[f64]| {
        let [a, b, c] = [row[0] + 5.0, 10.0 * row[1], row[2] - 0.5];
        format!("{a},{b},{c},{}\n", 1.0 + a - 2.0 * b + 3.0 * c + noise * row[3])
    };
    written(name, &("a,b,c,y\n".to_string() + &numbers.chunks_exact(4).map(line).collect::<String>()))
}

fn coefficients(found: &serde_json::Value) -> Vec<f64> {
    let all = found["coefficients"].as_array().unwrap();
    all.iter().map(|one| one["value"].as_f64().unwrap()).collect()
}

fn assert_close(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len(), "{found:?}");
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() <= tolerance * expected.abs().max(1.0), "{found} {expected}");
    }
}

#[test]
fn a_program_is_chosen_and_the_choice_explained() {
    let file = table("auto.csv", 2000, 0.5);
    let data = ["solve", "--matrix", &file, "--target", "y", "--intercept"];
    let found = json(&data);
    assert_eq!((&found["program"], &found["converged"]), (&"gram-refinement".into(), &true.into()));
    assert!(found["backward_error"].as_f64().unwrap() < 1e-15 && found["digits"].as_u64().unwrap() >= 12);
    assert!(found["reason"].as_str().unwrap().contains("sample of rows"), "{found}");
    // A baseline and every other candidate agree.
    let qr = json(&[&["solve", "qr"][..], &data[1..]].concat());
    assert_eq!((&qr["program"], &qr["converged"]), (&"qr".into(), &true.into()));
    assert_close(&coefficients(&found), &coefficients(&qr), 1e-11);
    let explained = json(&[&data[..], &["--explain"]].concat());
    let others = explained["alternatives"].as_array().unwrap();
    assert_eq!(others.len(), 4);
    assert!(
        others.iter().all(|row| row["backward_error"].as_f64().is_some_and(|error| error < 1e-15)),
        "{others:?}"
    );
    assert_eq!(coefficients(&explained), coefficients(&found));
    let text = rl4rla(&[&data[..], &["--explain"]].concat());
    assert!(text.out.contains("predicted") && text.out.contains("qr-refinement"), "{}", text.out);
}

#[test]
fn threads_and_calibration_leave_the_bits_alone() {
    let file = table("auto-threads.csv", 3000, 0.5);
    let data = ["solve", "--matrix", &file, "--target", "y"];
    let one = json(&[&data[..], &["--threads", "1"]].concat());
    let three = json(&[&data[..], &["--threads", "3"]].concat());
    assert_eq!(coefficients(&one), coefficients(&three));
    let store = written("calibrated.db", "");
    let told = json(&["calibrate", "--store", &store]);
    assert!(told["gram"].as_f64().unwrap() > 0.0);
    let calibrated = json(&[&data[..], &["--store", &store]].concat());
    if calibrated["program"] == one["program"] {
        assert_eq!(coefficients(&calibrated), coefficients(&one));
    }
    std::fs::write(store.replace(".db", ".calibration.json"), "{").unwrap();
    let bad = rl4rla(&[&data[..], &["--store", &store]].concat());
    assert_eq!(bad.code, 2);
    assert!(bad.err.contains("calibration.json") && bad.err.contains("rl4rla calibrate"), "{}", bad.err);
}

#[test]
fn hard_systems_get_a_stable_program_or_minimum_norm() {
    // Powers of numbers in [0, 1]: κ grows by about six per column.
    let row = |i: usize| (0..12).map(|j| format!("{:e},", (i as f64 / 600.0).powi(j))).collect::<String>();
    let line = |i: usize| format!("{}{}\n", row(i), (i as f64).sin());
    let powers = written("powers.csv", (0..=600).map(line).collect::<String>());
    let found = json(&["solve", "--matrix", &powers, "--target", "13"]);
    assert_ne!(found["program"], "gram-refinement");
    assert!(found["converged"] == true && found["backward_error"].as_f64().unwrap() < 2e-15, "{found}");
    let twice = written("twice.csv", "a,b,y\n1,2,1\n2,4,3\n3,6,2\n4,8,5\n");
    let found = json(&["solve", "--matrix", &twice, "--target", "y"]);
    assert_eq!((&found["rank"], &found["converged"]), (&1.into(), &true.into()));
    // x ∝ (1, 2), the direction of minimum norm.
    let x = coefficients(&found);
    assert!((x[1] - 2.0 * x[0]).abs() < 1e-14, "{x:?}");
    let refused = rl4rla(&["solve", "--matrix", &twice, "--target", "y", "--rank-deficient", "refuse"]);
    assert!(refused.code == 2 && refused.err.contains("linearly dependent"), "{}", refused.err);
    let wide = written("wide.csv", "3,4,25\n");
    let found = json(&["solve", "--matrix", &wide, "--target", "3"]);
    assert_eq!(found["program"], "minimum-norm");
    assert_close(&coefficients(&found), &[3.0, 4.0], 1e-14);
}

#[test]
fn ridge_regression_leaves_the_intercept_alone() {
    let file = table("ridge.csv", 300, 0.1);
    let data = ["solve", "--matrix", &file, "--target", "y", "--intercept"];
    let plain = coefficients(&json(&data));
    let path = json(&[&data[..], &["--lambda-path", "1e-9:1e9:7"]].concat());
    let points = path["path"].as_array().unwrap();
    assert_eq!(points.len(), 7);
    assert_close(&coefficients(&points[0]), &plain, 1e-6);
    let strong = coefficients(&points[6]);
    assert!(strong[..3].iter().all(|x| x.abs() < 1e-3), "{strong:?}");
    // What is left is the mean of the target, about 1 + 5 − 1.5.
    assert!((strong[3] - 4.5).abs() < 5.0, "{strong:?}");
    let one = json(&[&data[..], &["--lambda", "1e-9"]].concat());
    assert_close(&coefficients(&one["path"][0]), &coefficients(&points[0]), 1e-12);
    for bad in ["1:2", "0:1:5", "1:2:1", "a:b:c"] {
        let refused = rl4rla(&[&data[..], &["--lambda-path", bad]].concat());
        assert!(refused.code == 2 && refused.err.contains("FIRST:LAST:COUNT"), "{bad}: {}", refused.err);
    }
}

#[test]
fn weights_count_rows() {
    let rows = "a,y\n1,1\n2,3\n3,2\n5,4\n";
    let twice = written("twice-rows.csv", &(rows.to_string() + "3,2\n5,4\n"));
    let (file, weights) = (written("weighted.csv", rows), written("weights.csv", "1\n1\n2\n2\n"));
    for intercept in [&["--intercept"][..], &[]] {
        let expected = json(&[&["solve", "--matrix", &twice, "--target", "y"], intercept].concat());
        let data =
            [&["solve", "--matrix", &file, "--target", "y", "--weights", &weights], intercept].concat();
        let found = json(&data);
        assert_close(&coefficients(&found), &coefficients(&expected), 1e-13);
        let residual = |found: &serde_json::Value| found["relative_residual"].as_f64().unwrap();
        assert!((residual(&found) - residual(&expected)).abs() < 1e-13);
    }
    for (bad, why) in
        [("1\n2\n", "a column of 4"), ("1\n1\n-1\n1\n", "weight 3 is -1"), ("0\n0\n0\n0\n", "all weights")]
    {
        let weights = written("bad-weights.csv", bad);
        let refused = rl4rla(&["solve", "--matrix", &file, "--target", "y", "--weights", &weights]);
        assert!(refused.code == 2 && refused.err.contains(why), "{}", refused.err);
    }
}

#[test]
fn several_right_hand_sides_are_solved_together() {
    let a: String = (0..40).map(|i| format!("{},{}\n", (i as f64).sin(), (i as f64).cos())).collect();
    let b: String = (0..40).map(|i| format!("{},{},{}\n", i, 2 * i + 1, (i * i) % 7)).collect();
    let (a, b) = (written("several-a.csv", &a), written("several-b.csv", &b));
    let out = written("several-out.csv", "");
    let found = json(&["solve", "--matrix", &a, "--rhs", &b, "--intercept", "--out", &out]);
    assert_eq!((&found["right_hand_sides"], &found["converged"]), (&3.into(), &true.into()));
    let column = |j: usize| -> String {
        let read = std::fs::read_to_string(&b).unwrap();
        read.lines().map(|line| line.split(',').nth(j).unwrap().to_string() + "\n").collect()
    };
    for j in 0..3 {
        let alone = written("several-one.csv", column(j));
        let one = json(&["solve", "--matrix", &a, "--rhs", &alone, "--intercept"]);
        let together = &found["solutions"][j];
        assert_close(&coefficients(together), &coefficients(&one), 1e-12);
        let residual = |found: &serde_json::Value| found["relative_residual"].as_f64().unwrap();
        assert!((residual(together) - residual(&one)).abs() < 1e-12);
    }
    assert!(std::fs::read_to_string(&out).unwrap().starts_with("name,b1,b2,b3"));
    let refused = rl4rla(&["solve", "precond-gd", "--matrix", &a, "--rhs", &b]);
    assert!(refused.code == 2 && refused.err.contains("one column"), "{}", refused.err);
    let short = written("several-short.csv", "1,2\n3,4\n");
    let refused = rl4rla(&["solve", "--matrix", &a, "--rhs", &short]);
    assert!(refused.code == 2 && refused.err.contains("40 rows"), "{}", refused.err);
}

#[test]
fn a_summary_has_the_standard_errors_of_the_textbook() {
    // Slope 1.4 and intercept 0: residuals 0.6, −0.8, −0.2, 0.4, σ² = 1.2/2, Σ(a − ā)² = 5.
    let file = written("line.csv", "a,y\n1,2\n2,2\n3,4\n4,6\n");
    let found = json(&["solve", "--matrix", &file, "--target", "y", "--intercept", "--summary"]);
    let summary = &found["summary"];
    let error = |j: usize| summary["coefficients"][j]["standard_error"].as_f64().unwrap();
    let sigma = 0.6_f64.sqrt();
    assert_close(
        &[error(0), error(1)],
        &[sigma / 5f64.sqrt(), sigma * (0.25 + 6.25 / 5.0_f64).sqrt()],
        1e-12,
    );
    assert_close(&[summary["r_squared"].as_f64().unwrap()], &[1.0 - 1.2 / 11.0], 1e-12);
    let text = rl4rla(&["solve", "--matrix", &file, "--target", "y", "--intercept", "--summary"]).out;
    assert!(text.contains("standard error") && text.contains("R² 0.890909"), "{text}");
}

#[test]
fn logistic_regression_needs_no_program_either() {
    let file = written("labels.csv", "a,y\n0,0\n1,0\n2,1\n3,0\n4,1\n5,1\n");
    let found = json(&["solve", "--task", "logistic", "--matrix", &file, "--target", "y", "--intercept"]);
    assert_eq!((&found["program"], &found["converged"]), (&"newton".into(), &true.into()));
    let penalised = ["solve", "--task", "logistic", "--matrix", &file, "--target", "y", "--lambda", "1"];
    assert_eq!(json(&penalised)["program"], "regularized-newton");
}

#[test]
fn weights_apply_to_every_right_hand_side() {
    let numbers = Stream::new(9).normals(40 * 5);
    let rows = || numbers.chunks_exact(5);
    let lines = |line: &dyn Fn(&[f64]) -> String| rows().map(line).collect::<String>();
    let a = written("several-weights-a.csv", lines(&|row| format!("{},{}\n", row[0], row[1])));
    let both = written("several-weights-b.csv", lines(&|row| format!("{},{}\n", row[2], row[3] + 2.0)));
    let weights = written("several-weights-w.csv", lines(&|row| format!("{}\n", row[4] * row[4])));
    for extra in [&[][..], &["--intercept"]] {
        let together = [&["solve", "--matrix", &a, "--rhs", &both, "--weights", &weights], extra].concat();
        let together = json(&together);
        for (j, column) in [2, 3].into_iter().enumerate() {
            let shift = if column == 3 { 2.0 } else { 0.0 };
            let one = written("several-weights-one.csv", lines(&|row| format!("{}\n", row[column] + shift)));
            let alone =
                json(&[&["solve", "--matrix", &a, "--rhs", &one, "--weights", &weights], extra].concat());
            let found = &together["solutions"][j];
            assert_close(&coefficients(found), &coefficients(&alone), 1e-12);
            let residual = |found: &serde_json::Value| found["relative_residual"].as_f64().unwrap();
            assert!((residual(found) - residual(&alone)).abs() < 1e-12, "{found} {alone}");
        }
    }
    for (extra, said) in [(["--lambda", "1"], "penalty"), (["--summary", "-q"], "--summary")] {
        let refused = rl4rla(&[&["solve", "--matrix", &a, "--rhs", &both], &extra[..]].concat());
        assert!(refused.code == 2 && refused.err.contains(said), "{refused:?}");
    }
}

#[test]
fn statistics_need_rows_that_count() {
    let file = table("freedom.csv", 60, 0.5);
    let weight = |rows: usize| (0..60).map(|i| if i < rows { "1\n" } else { "0\n" }).collect::<String>();
    let weights = written("freedom-weights.csv", weight(20));
    let summary = |extra: &[&str]| {
        let data = ["solve", "--matrix", &file, "--target", "y", "--intercept", "--summary"];
        json(&[&data[..], extra].concat())["summary"].clone()
    };
    assert_eq!(summary(&["--weights", &weights])["degrees_of_freedom"], 16);
    let few = table("freedom-few.csv", 4, 0.5);
    let refused = rl4rla(&["solve", "--matrix", &few, "--target", "y", "--intercept", "--summary"]);
    assert!(refused.code == 2 && refused.err.contains("more rows than coefficients"), "{refused:?}");
}

#[test]
fn wide_sparse_data_and_wide_files_do_not_panic() {
    let entries: String =
        (0..900).map(|k| format!("{} {} {}\n", k % 300 + 1, (k * 37) % 4000 + 1, 1.0 + k as f64)).collect();
    let head = "%%MatrixMarket matrix coordinate real general\n300 4000 900\n";
    let sparse = written("wide-sparse.mtx", format!("{head}{entries}"));
    let b = written("wide-sparse-b.csv", (0..300).map(|i| format!("{i}\n")).collect::<String>());
    let found = json(&["solve", "--matrix", &sparse, "--rhs", &b]);
    assert!(found["relative_residual"].as_f64().unwrap() < 1e-10, "{}", found["relative_residual"]);
    let numbers = Stream::new(3).normals(130 * 1000);
    let line = |row: &[f64]| row.iter().map(f64::to_string).collect::<Vec<_>>().join(",") + "\n";
    let wide = written("wide-file.csv", numbers.chunks_exact(1000).map(line).collect::<String>());
    let b = written("wide-file-b.csv", (0..130).map(|i| format!("{i}\n")).collect::<String>());
    let refused = rl4rla(&["solve", "--matrix", &wide, "--rhs", &b, "--max-memory", "1M"]);
    assert!(refused.code == 2 && refused.err.contains("memory"), "{refused:?}");
}

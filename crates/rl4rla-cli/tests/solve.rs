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

/// The path of a file of NumPy's or SciPy's.
fn archive(name: &str) -> String {
    format!("{}/../rl4rla/tests/fixtures/{name}", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn arrays_of_an_npz_file_are_both_sides_of_a_system() {
    let (sparse, both, unclear) = (archive("csr.npz"), archive("stored.npz"), archive("unclear.npz"));
    // A = (0, 1.5, 0; 0, 0, 0; 2, 0, −3; 0, 4, 0), of rank 2, and b = (1, −2, 3.5, 0).
    let solved = json(&["solve", "--matrix", &sparse, "--rhs", &both, "--rank-deficient", "min-norm"]);
    assert_eq!((&solved["rows"], &solved["cols"]), (&4.into(), &3.into()), "{solved}");
    let x = [3.5 * 2.0 / 13.0, 1.5 / 18.25, -3.5 * 3.0 / 13.0];
    for (name, wanted) in ["1", "2", "3"].into_iter().zip(x) {
        let found = value(&solved, name);
        assert!((found - wanted).abs() < 1e-9, "{name}: {found} instead of {wanted}");
    }
    let refuse = |args: &[&str], said: &str| {
        let refused = rl4rla(args);
        assert!(refused.code == 2 && refused.err.contains(said), "{refused:?}");
    };
    refuse(&["solve", "--matrix", &unclear, "--rhs", &both], "--member NAME");
    refuse(&["solve", "--matrix", &both, "--member", "Z", "--rhs", &both], "`A` (4×3)");
    refuse(&["solve", "--matrix", &both, "--member", "names", "--rhs", &both], "stored.npz[names]");
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
            assert_keys(&solved, &["program", "converged", "backward_error", "rank", "kappa", "excess"]);
            assert!(solved["backward_error"].as_f64().unwrap() < 1e-9, "{solved}");
            assert_eq!((&solved["converged"], &solved["rank"]), (&true.into(), &4.into()));
            assert_eq!((&solved["rows"], &solved["cols"]), (&200.into(), &4.into()));
            for (name, wanted) in [("a", 2.0), ("b", -3.0), ("c", 0.5), ("(intercept)", 7.0)] {
                let found = value(&solved, name);
                assert!((found - wanted).abs() < 1e-3, "{program} {name}: {found}");
            }
            assert!(solved["relative_residual"].as_f64().unwrap() < 1e-4, "{solved}");
        }
    }
}

/// λ as in textbooks: one column of ones, b = (2, 4), (AᵀA + λ)x = Aᵀb.
#[test]
fn lambda_is_that_of_the_users_problem() {
    let file = written("solve-ridge.csv", "a,y\n1,2\n1,4\n");
    let base = ["solve", "ridge-cg", "--matrix", &file, "--target", "y", "--step", "1"];
    for (lambda, wanted) in [("0", 3.0), ("1", 2.0), ("4", 1.0)] {
        let solved = json(&[&base[..], &["--lambda", lambda]].concat());
        assert!((value(&solved, "a") - wanted).abs() < 1e-9, "{lambda}: {solved}");
        assert_eq!(solved["lambda"].as_f64(), lambda.parse().ok());
    }
    for (arguments, wanted) in [
        ([&base[..], &["--lambda", "-1"]].concat(), "--lambda must be at least 0 and finite, got -1"),
        ([&base[..], &["--lambda", "inf"]].concat(), "--lambda must be at least 0 and finite"),
        (
            vec!["solve", "cgls", "--matrix", &file, "--target", "y", "--lambda", "1"],
            "--lambda is for programs with λ, such as ridge-cg, shifted-cg and regularized-newton",
        ),
    ] {
        let said = rl4rla(&arguments);
        assert!(said.code == 2 && said.err.contains(wanted), "{said:?}");
    }
    let symmetric = written("solve-spd.csv", "a,b,y\n1,1,1\n1,1,1\n");
    let solved = json(&[
        "solve",
        "shifted-cg",
        "--matrix",
        &symmetric,
        "--target",
        "y",
        "--lambda",
        "2",
        "--step",
        "1",
    ]);
    assert!((value(&solved, "a") - 0.25).abs() < 1e-9, "{solved}");
}

#[test]
fn files_are_written_and_read_again() {
    let file = written("solve-out.csv", table());
    let path = |name: &str| scratch(name).to_str().unwrap().to_string();
    let (out, npy, plot) = (path("x.csv"), path("x.npy"), path("history.svg"));
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
    // Samples do not reach the tolerance.
    let run = |extra: &[&str]| {
        let said = rl4rla(&[&base[..], extra, &["--json"]].concat());
        assert_eq!(said.code, 1, "{said:?}");
        said.json()
    };
    let one = run(&["--threads", "1"]);
    assert_eq!(one["coefficients"], run(&["--threads", "2"])["coefficients"]);
    assert_ne!(one["coefficients"], run(&["--seed", "1"])["coefficients"]);
    // The noise of samples cancels in the mean.
    let noisy = run(&[])["relative_residual"].as_f64().unwrap();
    let mean = run(&["--average"])["relative_residual"].as_f64().unwrap();
    assert!(mean <= noisy, "{mean} {noisy}");
}

/// Two columns and labels, of which every seventh is turned round, so that no line separates them.
fn labelled(labels: [&str; 2], turned: bool) -> String {
    let mut text = "u,v,label\n".to_string();
    for i in 0..300 {
        let (u, v) = ((1.3 * i as f64).sin(), (0.37 * i as f64).cos());
        let positive = (u - v > 0.0) == (i % 7 != 0 || !turned);
        text += &format!("{u},{v},{}\n", labels[usize::from(positive)]);
    }
    text
}

#[test]
fn logistic_regression_is_solved_until_it_is_good() {
    let mut found = vec![];
    for (labels, program) in [
        (["-1", "1"], "newton"),
        (["0", "1"], "newton"),
        (["1", "2.5"], "newton-sketch"),
        (["0", "1"], "logistic-gd"),
    ] {
        let file = written("solve-logistic.csv", labelled(labels, true));
        let solved = json(&["solve", program, "--matrix", &file, "--target", "label", "--predict", &file]);
        assert_eq!((&solved["converged"], &solved["obstacle"]), (&true.into(), &Value::Null), "{solved}");
        assert!(solved["optimality"].as_f64().unwrap() <= 1e-10, "{solved}");
        assert!(solved["iterations"].as_u64().unwrap() < 100, "{solved}");
        assert!(solved["relative_residual"].is_null() && solved["loss"].as_f64().unwrap() < 0.69);
        assert_eq!(solved["classes"]["positive"].as_f64(), labels[1].parse().ok());
        let predicted = &solved["predicted"];
        assert!(predicted["accuracy"].as_f64().unwrap() > 0.8, "{predicted}");
        let gap = predicted["log_loss"].as_f64().unwrap() - solved["loss"].as_f64().unwrap();
        assert!(gap.abs() < 1e-12, "{solved}");
        found.push([value(&solved, "u"), value(&solved, "v")]);
    }
    assert!(found[0][0] > 0.5 && found[0][1] < -0.5, "{found:?}");
    for other in &found {
        assert!((0..2).all(|j| (other[j] - found[0][j]).abs() < 1e-7), "{found:?}");
    }
    // With a tolerance that asks for little, little is done.
    let file = written("solve-logistic.csv", labelled(["0", "1"], true));
    let base = ["solve", "logistic-gd", "--matrix", &file, "--target", "label"];
    let loose = json(&[&base[..], &["--tolerance", "1e-2"]].concat());
    assert!(loose["iterations"].as_u64().unwrap() < 20 && loose["converged"] == true, "{loose}");
    let probabilities = scratch("probabilities.csv").to_str().unwrap().to_string();
    json(&[&base[..], &["--predict", &file, "--predictions", &probabilities]].concat());
    let text = fs::read_to_string(&probabilities).unwrap();
    assert_eq!(text.lines().next(), Some("probability"));
    assert!(text.lines().skip(1).all(|line| (0.0..=1.0).contains(&line.parse::<f64>().unwrap())));
}

#[test]
fn logistic_regression_without_a_solution_is_told() {
    let separable = written("solve-separable.csv", labelled(["0", "1"], false));
    for program in ["newton", "logistic-gd"] {
        let said = rl4rla(&["solve", program, "--matrix", &separable, "--target", "label", "-q"]);
        assert_eq!(said.code, 1, "{said:?}");
        assert!(said.err.contains("Not converged: the labels are linearly separable"), "{said:?}");
    }
    let good = written("solve-logistic-2.csv", labelled(["0", "1"], true));
    let base = ["solve", "logistic-gd", "--matrix", &good, "--target", "label"];
    let short = rl4rla(&[&base[..], &["--iterations", "2", "-q"]].concat());
    assert!(short.code == 1 && short.err.contains("Not converged"), "{short:?}");
    let wild = rl4rla(&[&base[..], &["--step", "10", "--iterations", "20", "--json"]].concat());
    assert_eq!((wild.code, &wild.json()["converged"]), (1, &false.into()), "{wild:?}");
    // Where all iterations are asked for, a solution is one to rounding.
    let all = ["--tolerance", "0", "--iterations"];
    assert_eq!(rl4rla(&[&base[..], &all, &["5"]].concat()).code, 1);
    let made =
        json(&["solve", "newton", "--matrix", &good, "--target", "label", all[0], all[1], all[2], "15"]);
    assert_eq!((&made["iterations"], &made["converged"]), (&15.into(), &true.into()), "{made}");
    for (labels, words) in [
        (labelled(["1", "1"], true), &["all labels are 1"][..]),
        (labelled(["0", "1"], true) + "1,1,2\n", &["is 2, in addition to 0 and 1"]),
        (
            labelled(["0", "1"], true)
                .lines()
                .map(|line| line.replacen(',', ",7,", 1) + "\n")
                .collect::<String>(),
            &["column `w`", "combination"],
        ),
    ] {
        let file = written("solve-labels.csv", labels.replacen("u,7,v", "u,w,v", 1));
        let said = rl4rla(&["solve", "newton", "--matrix", &file, "--target", "label", "--intercept"]);
        assert_eq!(said.code, 2, "{said:?}");
        assert!(words.iter().all(|word| said.err.contains(word)), "{}", said.err);
    }
}

/// The gradient of the cross-entropy for the data of [`labelled`], by column and for the intercept.
fn logistic_slope(text: &str, solved: &Value) -> [f64; 3] {
    let [x, y, c] = ["u", "v", "(intercept)"].map(|name| value(solved, name));
    let mut slope = [0.0; 3];
    for line in text.lines().skip(1) {
        let row: Vec<f64> = line.split(',').map(|cell| cell.parse().unwrap()).collect();
        let misfit = 1.0 / (1.0 + (-(x * row[0] + y * row[1] + c)).exp()) - f64::from(row[2] > 0.0);
        slope.iter_mut().zip([row[0], row[1], 1.0]).for_each(|(slope, entry)| *slope += misfit * entry);
    }
    slope
}

/// The same data with the first column moved away from 0, so that the intercept matters.
fn moved(text: &str) -> String {
    let (head, rows) = text.split_once('\n').unwrap();
    let row = |line: &str| {
        let (first, rest) = line.split_once(',').unwrap();
        format!("{},{rest}\n", first.parse::<f64>().unwrap() + 3.0)
    };
    format!("{head}\n{}", rows.lines().map(row).collect::<String>())
}

/// At the minimum the slope of the loss is −λ times the coefficient, and 0 for the intercept.
#[test]
fn a_penalty_on_logistic_regression_leaves_the_intercept_alone() {
    for (separable, lambda) in [(false, 0.3), (false, 40.0), (true, 2.0)] {
        let text = moved(&labelled(["-1", "1"], !separable));
        let file = written("solve-penalty.csv", &text);
        let number = lambda.to_string();
        for program in ["regularized-newton", "regularized-newton-sketch"] {
            let base = ["solve", program, "--matrix", &file, "--target", "label", "--intercept"];
            let base = [&base[..], &["--lambda", &number]].concat();
            let solved = json(&base);
            assert_eq!((&solved["converged"], &solved["lambda"]), (&true.into(), &lambda.into()), "{solved}");
            let slope = logistic_slope(&text, &solved);
            for (slope, name) in slope.iter().zip(["u", "v"]) {
                assert!((slope + lambda * value(&solved, name)).abs() < 1e-5, "{program} {lambda} {slope}");
            }
            assert!(slope[2].abs() < 1e-6, "{program} {lambda} {slope:?}");
            // In units of standard deviations, the penalty is on other coefficients.
            let scaled = json(&[&base[..], &["--standardise"]].concat());
            let slope = logistic_slope(&text, &scaled);
            assert!(slope[2].abs() < 1e-6, "{program} {lambda} {slope:?}");
            for (j, name) in ["u", "v"].into_iter().enumerate() {
                let column = || text.lines().skip(1).map(|line| line.split(',').nth(j).unwrap());
                let entries: Vec<f64> = column().map(|cell| cell.parse().unwrap()).collect();
                let count = entries.len() as f64;
                let mean = entries.iter().sum::<f64>() / count;
                let variance = entries.iter().map(|entry| (entry - mean).powi(2)).sum::<f64>() / count;
                let left = slope[j] + lambda * variance * value(&scaled, name);
                assert!(left.abs() < 1e-5, "{program} {lambda} {left}");
            }
        }
    }
    // Without λ, labels that can be separated have no fit.
    let file = written("solve-separable-2.csv", labelled(["0", "1"], false));
    let said = rl4rla(&["solve", "regularized-newton", "--matrix", &file, "--target", "label", "-q"]);
    assert!(said.code == 1 && said.err.contains("linearly separable"), "{said:?}");
    let said = rl4rla(&["solve", "newton", "--matrix", &file, "--target", "label", "--lambda", "1"]);
    assert!(said.code == 2 && said.err.contains("--lambda is for programs with λ"), "{said:?}");
}

#[test]
fn eigenvalues_are_told_and_checked() {
    let square = written("solve-eigen.csv", "2,1,0\n1,3,1\n0,1,4\n");
    let solved = json(&["solve", "power-iteration", "--matrix", &square]);
    // The roots of −λ³ + 9λ² − 24λ + 18 are 3 and 3 ± √3.
    let eigenvalue = solved["figures"]["eigenvalue"].as_f64().unwrap();
    assert!((eigenvalue - (3.0 + 3f64.sqrt())).abs() < 1e-9, "{solved}");
    assert!(solved["converged"] == true && solved["iterations"].as_u64().unwrap() < 100, "{solved}");
    assert!(rl4rla(&["solve", "power-iteration", "--matrix", &square]).out.contains("4.73205080"));
    let sketched = ["solve", "sketched-power-iteration", "--matrix", &square, "--sketch-factor", "0.7"];
    let said = rl4rla(&[&sketched[..], &["-q"]].concat());
    assert!(said.code == 1 && said.err.contains("Not converged"), "{said:?}");
    let refused = rl4rla(&["solve", "power-iteration", "--matrix", &square, "--predict", &square]);
    assert!(refused.code == 2 && refused.err.contains("--predict"), "{refused:?}");
    let refused = rl4rla(&["solve", "logistic-forward", "--matrix", &square, "--target", "1"]);
    assert_eq!(refused.code, 2);
}

#[test]
fn programs_of_no_known_task_are_refused() {
    let file = written("solve-task.csv", table());
    for (name, text, words) in [
        ("unknown.rla", "family: logistics\niteration:\n v1 = VEC_MAT_MUL(b, A)\n", "`family: logistic`"),
        ("assigned.rla", "update: assign\niteration:\n v1 = VEC_MAT_MUL(b, A)\n", "x ← v1"),
    ] {
        let program = written(name, text);
        let refused = rl4rla(&["solve", &program, "--matrix", &file, "--target", "y"]);
        assert!(refused.code == 2 && refused.err.contains(words), "{refused:?}");
    }
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

/// y over a, b and a column that follows from them, and a class of two.
fn dependent() -> String {
    let mut text = "age,height,age2,left,right,y\n".to_string();
    for i in 0..80 {
        let (age, height) = (20.0 + f64::from(i * 7 % 53), 150.0 + (0.3 * f64::from(i)).cos() * 30.0);
        let left = f64::from(i % 2);
        let y = 0.5 * age + 0.1 * height + 3.0 * left + (1.9 * f64::from(i)).sin();
        text += &format!("{age},{height},{},{left},{},{y}\n", 2.0 * age, 1.0 - left);
    }
    text
}

#[test]
fn dependent_columns_are_named_and_never_explode() {
    let file = written("solve-dependent.csv", dependent());
    for program in ["precond-gd", "sketched-precond-gd", "sketched-precond-gd-gram", "ls-gd"] {
        for extra in [&[][..], &["--standardise"]] {
            let base =
                [&["solve", program, "--matrix", &file, "--target", "y", "--intercept"], extra].concat();
            let refused = rl4rla(&base);
            assert_eq!(refused.code, 2, "{refused:?}");
            for words in ["`age2` depends on `age`", "`right` depends on `left`", "--rank-deficient drop"] {
                assert!(refused.err.contains(words), "{words}: {}", refused.err);
            }
            let run = |how| json(&[&base[..], &["--rank-deficient", how]].concat());
            let (dropped, shortest) = (run("drop"), run("min-norm"));
            assert_eq!((&dropped["rank"], &dropped["cols"]), (&4.into(), &6.into()));
            assert_eq!(dropped["dependent"][0]["column"], "age2");
            assert_eq!((value(&dropped, "age2"), value(&dropped, "right")), (0.0, 0.0));
            let same = |key: &str| (dropped[key].as_f64().unwrap(), shortest[key].as_f64().unwrap());
            let (one, other) = same("relative_residual");
            assert!((one - other).abs() < 1e-9, "{one} {other}");
            // age and 2·age share what is age's; the norm is that of the units in which it was solved.
            let (age, age2) = (value(&shortest, "age"), value(&shortest, "age2"));
            assert!((age + 2.0 * age2 - value(&dropped, "age")).abs() < 1e-8, "{age} {age2}");
            let share = if extra.is_empty() { 2.0 * age } else { 0.5 * age };
            assert!((age2 - share).abs() < 1e-8, "{age} {age2}");
            let (left, right) = (value(&shortest, "left"), value(&shortest, "right"));
            assert!((left + right).abs() < 1e-8 && (left - 1.5).abs() < 0.5, "{left} {right}");
        }
    }
    // Without an intercept the two classes say something, and only age2 does not.
    let refused = rl4rla(&["solve", "precond-gd", "--matrix", &file, "--target", "y"]);
    assert!(refused.code == 2 && refused.err.contains("rank 4 of 5"), "{}", refused.err);
}

#[test]
fn warnings_stay_whatever_the_flags() {
    let file = written("solve-warn.csv", table());
    let out = scratch("solve-warn-x.csv");
    let out = out.to_str().unwrap();
    let base = ["solve", "ls-gd", "--matrix", &file, "--target", "y", "--intercept", "--iterations", "3"];
    for flags in [&[][..], &["-q"], &["--json"], &["-q", "--json"], &["-q", "--out", out]] {
        let short = rl4rla(&[&base[..], flags].concat());
        assert_eq!(short.code, 1, "{short:?}");
        let told = if flags.is_empty() { &short.out } else { &short.err };
        assert!(told.contains("Not converged") && told.contains("--iterations"), "{flags:?}: {short:?}");
    }
    assert!(fs::read_to_string(out).unwrap().starts_with("name,value"));
    // What is worse than x = 0 is not written at all.
    let none = scratch("solve-warn-none.csv");
    let _ = fs::remove_file(&none);
    let wild = ["--step", "100", "--iterations", "4", "--json", "--out", none.to_str().unwrap()];
    let wild = rl4rla(&[&base[..7], &wild].concat());
    assert!(wild.code == 1 && wild.err.contains("worse than x = 0") && !none.exists(), "{wild:?}");
    assert_eq!(wild.json()["coefficients"].as_array().map(Vec::len), Some(0));
    let refused = rl4rla(&[&base[..7], &["--tolerance", "1"]].concat());
    assert!(refused.code == 2 && refused.err.contains("less than 1"), "{refused:?}");
}

#[test]
fn passes_are_counted_as_evaluate_counts_them() {
    let file = written("solve-passes.csv", table());
    let base = ["solve", "ls-gd", "--matrix", &file, "--target", "y", "--iterations", "5", "--step", "0.1"];
    let solved = rl4rla(&[&base[..], &["--json", "--tolerance", "0"]].concat()).json();
    // A·x and Aᵀ·r, five times; what was read in one go, and to measure, is distinguished.
    assert_eq!((&solved["iterations"], &solved["passes"]), (&5.into(), &10.0.into()));
    assert!(solved["reads"].as_u64().unwrap() >= 7, "{solved}");
}

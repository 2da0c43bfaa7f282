//! `rl4rla compare`: what it reports, that residuals repeat themselves, and what it refuses.

mod common;

use common::{assert_keys, json, names, rl4rla, timeless, written};
use serde_json::Value;

/// A problem that takes milliseconds.
const SMALL: [&str; 10] =
    ["--family", "mid-cond", "--rows", "300", "--cols", "10", "--repeats", "2", "--kappa", "1e3"];

#[track_caller]
fn small(what: &[&str], options: &[&str]) -> Value {
    json(&[&["compare"], what, &SMALL[..], options].concat())
}

#[track_caller]
fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is not a number"))
}

#[track_caller]
fn row<'a>(report: &'a Value, solver: &str) -> &'a Value {
    let rows = report["rows"].as_array().expect("rows is a list");
    rows.iter().find(|row| row["solver"] == solver).unwrap_or_else(|| panic!("no {solver} in {report}"))
}

#[test]
fn every_baseline_of_the_task_has_a_row() {
    let report = small(&["sketched-precond-gd"], &["--baselines", "all", "--outside", "0.3"]);
    let listed = json(&["list", "baselines"]);
    let linear = listed["items"].as_array().unwrap().iter().filter(|item| item["task"] == "linear");
    assert_eq!(report["rows"].as_array().unwrap().len(), 1 + linear.count());
    let keys = ["solver", "kind", "relative_residual", "excess", "seconds", "seconds_min", "seconds_max"];
    for row in report["rows"].as_array().unwrap() {
        assert_keys(row, &[&keys[..], &["repeats", "iterations", "passes", "step", "failure"]].concat());
        assert_eq!(row["repeats"], 2);
        match row["solver"].as_str().unwrap() {
            // For square systems only.
            "jacobi" => {
                assert!(row["failure"].as_str().unwrap().contains("square") && row["seconds"].is_null())
            }
            _ => {
                let [least, middle, most] =
                    ["seconds_min", "seconds", "seconds_max"].map(|key| number(&row[key]));
                assert!(least > 0.0 && least <= middle && middle <= most, "{row}");
            }
        }
    }
    assert_eq!(row(&report, "sketched-precond-gd")["kind"], "program");
    assert_eq!(row(&report, "qr")["kind"], "baseline");
    // What QR reaches, the sketched solvers reach too; 0.3 of b is outside for everyone.
    for solver in ["qr", "svd", "normal-equations", "blendenpik", "lsrn", "iterative-sketching", "fossils"] {
        let row = row(&report, solver);
        assert!(number(&row["excess"]) < 1e-11, "{row}");
        assert!((0.2..0.5).contains(&number(&row["relative_residual"])), "{row}");
    }
}

#[test]
fn rows_are_ordered_by_accuracy_and_failures_come_last() {
    let report = small(&["ls-gd"], &["--baselines", "all", "--iterations", "5"]);
    let rows = report["rows"].as_array().unwrap();
    let decade = |row: &Value| row["excess"].as_f64().map_or(99, |e| e.max(1e-10).log10().floor() as i32);
    assert!(rows.is_sorted_by_key(decade), "{report}");
    // Among equally accurate ones the fastest is first.
    let seconds = |row: &Value| number(&row["seconds"]);
    for equals in rows.chunk_by(|a, b| decade(a) == decade(b)).filter(|equals| decade(&equals[0]) < 99) {
        assert!(equals.is_sorted_by(|a, b| seconds(a) <= seconds(b)), "{report}");
    }
    assert_eq!(rows.last().unwrap()["solver"], "jacobi");
    let text = rl4rla(&[&["compare", "--baselines", "qr,kaczmarz"], &SMALL[..]].concat()).out;
    assert!(text.find(" qr ").unwrap() < text.find(" kaczmarz ").unwrap(), "{text}");
}

#[test]
fn residuals_are_the_same_every_time_and_at_any_number_of_threads() {
    let report = |options: &[&str]| {
        let mut report =
            timeless(small(&["precond-weighted-sgd"], &[&["--baselines", "all"], options].concat()));
        report["threads"] = Value::Null;
        // Solvers of one decade are ordered by time.
        report["rows"].as_array_mut().unwrap().sort_by_key(|row| row["solver"].to_string());
        report
    };
    let first = report(&[]);
    assert_eq!(report(&["--threads", "1"]), first);
    assert_eq!(report(&["--threads", "3"]), first);
    assert_ne!(report(&["--seed", "1"])["rows"], first["rows"]);
}

#[test]
fn a_program_has_the_residual_that_evaluate_reports() {
    let run = ["--iterations", "12", "--step", "0.5"];
    let compared = small(&["ls-gd"], &[&run[..], &["--stop", "0"]].concat());
    let size =
        ["--family", "mid-cond", "--rows", "300", "--cols", "10", "--kappa", "1e3", "--instances", "1"];
    let evaluated = json(&[&["evaluate", "ls-gd"], &size[..], &run].concat());
    let row = row(&compared, "ls-gd");
    let (own, other) = (number(&row["relative_residual"]), number(&evaluated["residual"]));
    assert!((own / other - 1.0).abs() < 1e-12, "{own} against {other}");
    assert_eq!((&row["iterations"], &row["step"]), (&Value::from(12), &Value::from(0.5)));
}

#[test]
fn the_normal_equations_lose_where_sketched_solvers_do_not() {
    let options = ["--baselines", "normal-equations,qr,fossils,blendenpik", "--outside", "0.1"];
    let size = ["--family", "high-cond", "--rows", "2000", "--cols", "20", "--repeats", "1"];
    let at = |kappa: &str| json(&[&["compare"], &options[..], &size, &["--kappa", kappa]].concat());
    let excess = |report: &Value, solver: &str| number(&row(report, solver)["excess"]);
    let mild = at("1e7");
    assert!(excess(&mild, "normal-equations") > 1e3 * excess(&mild, "qr"), "{mild}");
    assert!(excess(&mild, "fossils") < 1e3 * excess(&mild, "qr"), "{mild}");
    let hard = at("1e10");
    let reason = &row(&hard, "normal-equations")["failure"];
    assert!(reason.as_str().is_some_and(|reason| reason.contains("not positive definite")), "{hard}");
    assert!(excess(&hard, "fossils") < 1e-6 && excess(&hard, "blendenpik") < 1e-6, "{hard}");
}

#[test]
fn logistic_regression_has_its_own_baselines() {
    let size = ["--family", "logistic", "--rows", "400", "--cols", "5", "--repeats", "1"];
    let report = json(&[&["compare", "newton", "--baselines", "all", "--step", "1"], &size[..]].concat());
    let solvers: Vec<&str> =
        report["rows"].as_array().unwrap().iter().map(|row| row["solver"].as_str().unwrap()).collect();
    assert_eq!(solvers.len(), 3, "{report}");
    for solver in ["newton", "newton-direct", "lbfgs"] {
        assert!(number(&row(&report, solver)["excess"]) < 1e-10, "{report}");
    }
}

#[test]
fn low_rank_approximations_are_compared_with_their_solvers() {
    let asked = ["compare", "block-krylov", "--baselines", "all", "--family", "low-rank", "--with", "rank=5"];
    let report = json(
        &[&asked[..], &["--rows", "200", "--cols", "60", "--repeats", "1", "--sketch-factor", "0.2"]]
            .concat(),
    );
    let excess = |solver: &str| {
        let rows = report["rows"].as_array().unwrap();
        let row = rows.iter().find(|row| row["solver"] == solver && row["kind"] != "program");
        number(&row.unwrap_or_else(|| panic!("{solver} in {report}"))["excess"])
    };
    assert_eq!(report["rows"].as_array().unwrap().len(), 5, "{report}");
    assert!(excess("truncated-svd") < 1e-10 && excess("block-krylov") < 0.05, "{report}");
    assert!(excess("randomized-svd") > excess("block-krylov"), "{report}");
}

#[test]
fn several_instances_share_a_row() {
    let report = small(&[], &["--baselines", "qr", "--instances", "3"]);
    assert_eq!((report["rows"].as_array().unwrap().len(), &report["instances"]), (1, &Value::from(3)));
}

#[test]
fn the_baselines_are_listed_with_what_a_reader_needs() {
    assert_eq!(names("baselines").len(), 25);
    for item in json(&["list", "baselines"])["items"].as_array().unwrap() {
        assert_keys(item, &["name", "group", "doc", "reference", "randomized", "task"]);
    }
    let help = rl4rla(&["compare", "--help"]).out;
    assert!(help.contains("\n  rl4rla compare --baselines all"), "{help}");
}

#[test]
fn all_failing_is_exit_code_1() {
    let args = [&["compare", "--baselines", "jacobi"], &SMALL[..]].concat();
    let said = rl4rla(&args);
    assert_eq!(said.code, 1, "{said:?}");
    assert!(said.out.contains("jacobi failed:") && said.out.contains("square systems"), "{said:?}");
}

#[test]
fn bad_input_is_refused() {
    let square = written("compare-square.rla", "iteration:\n  v1 = MAT_VEC_MUL(A, x)\n");
    let cases: [(&[&str], &[&str]); 9] = [
        (&[], &["nothing to compare", "--baselines all"]),
        (&["--baselines", "all"], &["no family", "--family mid-cond"]),
        (
            &["--baselines", "fosils", "--family", "mid-cond"],
            &["no baseline `fosils`", "`fossils`", "list baselines"],
        ),
        (&["--baselines", "lbfgs", "--family", "mid-cond"], &["lbfgs", "logistic", "--family logistic"]),
        (&["--baselines", "all", "--family", "eigenvalue"], &["no baseline", "eigenvalue"]),
        (&["ls-dg"], &["no program `ls-dg`", "`ls-gd`"]),
        (&["landweber", "--family", "mid-cond"], &["landweber", "--family psd"]),
        (&["ls-gd", "--step", "-1"], &["--step", "positive"]),
        (&["ls-gd", "--stop", "-1"], &["--stop", "1e-14"]),
    ];
    for (args, expected) in cases {
        let said = rl4rla(&[&["compare"], args].concat());
        assert_eq!((said.code, said.out.as_str()), (2, ""), "{args:?}: {said:?}");
        for part in expected {
            assert!(said.err.contains(part), "{args:?}: `{part}` is missing from\n{}", said.err);
        }
        let document = rl4rla(&[&["compare"], args, &["--json"]].concat()).json();
        assert!(document["error"]["advice"].is_string(), "{args:?}: {document}");
    }
    let said = rl4rla(&["compare", &square, "--family", "mid-cond"]);
    assert_eq!(said.code, 2, "{said:?}");
    assert!(said.err.contains("does not fit family mid-cond"), "{said:?}");
}

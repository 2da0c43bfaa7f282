//! `rl4rla analyze`: what it reports, that its worst case can be seen again, and that theory comes out.

mod common;

use common::{assert_keys, json, names, rl4rla, scratch};
use serde_json::Value;

/// What takes a second or less.
const TINY: [&str; 3] = ["--quick", "--replicates", "2"];
/// And few iterations.
const SHORT: [&str; 2] = ["--iterations", "15"];

#[track_caller]
fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is not a number"))
}

/// A small analysis on `mid-cond`.
#[track_caller]
fn small(program: &str, options: &[&str]) -> Value {
    let problem = ["analyze", program, "--family", "mid-cond", "--rows", "400", "--cols", "6"];
    json(&[&problem[..], &TINY, options].concat())
}

#[track_caller]
fn assert_complete(report: &Value) {
    assert_keys(report, &["contraction", "step_range", "flops", "map", "worst", "iterations", "precision"]);
    for row in report["contraction"].as_array().unwrap() {
        assert_keys(row, &["kappa", "computed", "measured", "failed"]);
    }
    assert_keys(&report["step_range"], &["found", "used", "low", "high", "best", "rows"]);
    assert_keys(&report["flops"], &["setup", "iteration", "total", "rivals"]);
    for cell in report["map"].as_array().unwrap() {
        let keys = ["kappa", "leverage", "aspect", "noise", "excess", "low", "high", "failed", "count"];
        assert_keys(cell, &keys);
    }
    assert_keys(&report["worst"], &["name", "why", "point", "excess", "typical", "command", "evidence"]);
}

#[test]
fn every_program_is_analysed() {
    for name in names("programs") {
        let size: &[&str] = match json(&["show", &name])["family"].as_str().unwrap() {
            "psd" | "eigenvalue" | "spd" | "spd-decay" => &["--rows", "6"],
            _ => &["--rows", "200", "--cols", "5", "--batch", "20"],
        };
        let args = [&["analyze", &name], &TINY[..], &SHORT, size].concat();
        assert_complete(&json(&args));
        let text = rl4rla(&args).out;
        assert!(text.contains("Worst case") && text.contains("Cost"), "{name}: {text}");
        let command = |line: &&str| line.contains("rl4rla evaluate ") || line.contains("rl4rla analyze ");
        let lines = text.lines().filter(|line| !command(line));
        let widest = lines.map(|line| line.chars().count()).max();
        assert!(widest <= Some(100), "{name}: {widest:?} in {text}");
    }
}

#[test]
fn theory_comes_out() {
    let row = |report: &Value| report["contraction"][0].clone();
    let gradient = small("ls-gd", &["--kappa", "5", "--step", "1"]);
    let radius = |row: &Value| number(&row["computed"]["radius"]["value"]);
    assert!(
        (radius(&row(&gradient)) - (1.0 - 1.0 / 25.0)).abs() < 1e-10,
        "max |1 − ησ²| with σ from 1/5 to 1"
    );
    let measured = number(&row(&gradient)["measured"]["value"]);
    assert!((measured - 0.96).abs() < 0.01, "{measured}");
    assert!((number(&gradient["step_range"]["high"]) - 2.0).abs() < 1e-9);
    assert!((number(&gradient["step_range"]["best"]) - 2.0 / (1.0 + 0.04)).abs() < 1e-9);
    let exact = small("precond-gd", &["--kappa", "100", "--step", "0.7"]);
    assert!((radius(&row(&exact)) - 0.3).abs() < 1e-9, "|1 − η|");
    let wait = &exact["iterations"][0];
    // ln 10⁻⁶/ln 0.3 = 11.5.
    assert_eq!((number(&wait["predicted"]["value"]), number(&wait["observed"]["value"])), (12.0, 12.0));
    let sketched = small("sketched-precond-gd", &["--kappa", "1e4", "--step", "0.67"]);
    let bound = (1.0f64 - 0.67 / (1.0 - 0.125f64.sqrt() - 0.1).powi(2)).abs();
    assert!(radius(&row(&sketched)) < bound, "{} {bound}", row(&sketched));
    assert_eq!(sketched["iteration"]["multiplier"], "R⁻¹ R⁻ᵀ Aᵀ");
}

#[test]
fn row_norm_sampling_is_broken_named_and_seen_again() {
    let report = small("precond-weighted-sgd", &["--step", "0.67"]);
    let worst = &report["worst"];
    assert_eq!(worst["name"], "row-norm sampling misses coherent rows", "{worst}");
    assert_seen_again(worst);
    assert_eq!(worst["mildest"]["point"]["family"]["leverage"], "coherent", "{worst}");
    assert_seen_again(&worst["mildest"]);
}

/// The map has shapes that leave no room for a sketch, where this program diverges.
#[test]
fn nothing_on_the_page_is_worse_than_the_worst_case() {
    for program in ["sketched-precond-gd", "precond-weighted-sgd", "ls-gd"] {
        let report = small(program, &["--step", "0.67"]);
        let worst = &report["worst"];
        let cells = report["map"].as_array().unwrap();
        let ends = cells.iter().flat_map(|cell| [&cell["excess"], &cell["high"]]).filter_map(Value::as_f64);
        let most = ends.fold(0.0, f64::max);
        match worst["excess"].as_f64() {
            Some(excess) => {
                assert!(excess >= most, "{program}: {most:e} {worst}");
                assert!(cells.iter().all(|cell| cell["failed"] == 0), "{program}: a failure is worse");
            }
            None => assert!(worst["failure"].is_string(), "{program}: {worst}"),
        }
        assert!(most < 10.0 || worst["broke"] == true, "{program}: {most:e} {worst}");
        assert_seen_again(worst);
    }
}

#[test]
fn an_analysis_is_made_again_by_its_command_and_has_one_id() {
    let options = ["--kappa", "10,1e3", "--batch", "30", "--seed", "5"];
    let report = small("precond-weighted-sgd", &options);
    let command = report["command"].as_str().unwrap();
    let words: Vec<&str> = command.split(' ').skip(1).chain(["--json"]).collect();
    assert_eq!(rl4rla(&words).json(), report, "{command}");
    let id = report["id"].as_str().unwrap();
    assert!(id.len() == 16 && id.chars().all(|c| c.is_ascii_hexdigit()), "{id}");
    let text = rl4rla(&words[..words.len() - 1]).out;
    assert!(text.contains(id) && text.contains(command), "{text}");
    // The same program under another name is the same question; another seed is another.
    let file = scratch("analyze-id.rla");
    let shown = json(&["show", "precond-weighted-sgd"]);
    std::fs::write(&file, shown["program"].as_str().unwrap()).unwrap();
    assert_eq!(small(file.to_str().unwrap(), &options)["id"], id);
    let other = ["--kappa", "10,1e3", "--batch", "30", "--seed", "6"];
    assert_ne!(small("precond-weighted-sgd", &other)["id"], id);
}

#[test]
fn worst_cases_are_seen_again_to_the_last_bit() {
    for program in ["ls-gd", "subsampled-ls-gd", "sketched-precond-gd-factored", "sgd"] {
        assert_seen_again(
            &small(program, &["--sketch-factor", "4", "--batch", "30", "--iterations", "15"])["worst"],
        );
    }
    let logistic =
        json(&[&["analyze", "newton-sketch", "--rows", "300", "--cols", "4"], &TINY[..], &SHORT].concat());
    assert_seen_again(&logistic["worst"]);
}

/// Runs the command of a worst case, and finds the same excess or failure.
#[track_caller]
fn assert_seen_again(worst: &Value) {
    let command = worst["command"].as_str().unwrap();
    let words: Vec<&str> = command.split(' ').skip(1).chain(["--json"]).collect();
    let seen = rl4rla(&words).json();
    assert_eq!(seen["excess"], worst["excess"], "{command}");
    assert_eq!(seen["runs"][0]["failure"], worst["failure"], "{command}");
}

#[test]
fn threads_and_repetition_change_nothing() {
    let with = |threads| small("precond-weighted-sgd", &["--threads", threads]);
    assert_eq!(with("1"), with("2"));
}

#[test]
fn the_page_has_its_figures() {
    let folder = scratch("analyze-page");
    let _ = std::fs::remove_dir_all(&folder);
    let report = small("sketched-precond-gd", &["--out", folder.to_str().unwrap()]);
    assert!(report["files"].as_array().unwrap().len() > 8);
    for file in
        ["index.html", "map.svg", "map.csv", "speed.svg", "contraction.csv", "precision.csv", "map-cells.csv"]
    {
        assert!(folder.join(file).is_file(), "{file}");
    }
    let page = std::fs::read_to_string(folder.join("index.html")).unwrap();
    assert!(page.contains("Robustness map") && page.contains("rl4rla evaluate sketched-precond-gd"));
    let map = std::fs::read_to_string(folder.join("map.csv")).unwrap();
    // Three leverages, two noises, two shapes, three condition numbers.
    assert_eq!(map.lines().count(), 1 + 3 * 2 * 2 * 3);
}

#[test]
fn bad_input_is_refused_with_advice() {
    for (args, word) in [
        (&["analyze", "ls-gd", "--tolerance", "2"][..], "below 1"),
        (&["analyze", "ls-gd", "--tolerance", "0"], "positive"),
        (&["analyze", "ls-gd", "--step", "-1"], "--step"),
        (&["analyze", "ls-gd", "--sketch-factor", "0"], "--sketch-factor"),
        (&["analyze", "landweber", "--family", "mid-cond"], "--family psd"),
        (&["analyze", "no-such-program"], "no program"),
        (&["analyze", "ls-gd", "--kappa", "0.5"], "--kappa"),
        (&["analyze", "ls-gd", "--replicates", "1"], "replicates"),
        (&["analyze", "ls-gd", "--leverage", "odd"], "coherent"),
        (&["analyze", "ls-gd", "--quick", "--rows", "60", "--cols", "3", "--out", "/dev/null/x"], "--out"),
    ] {
        let said = rl4rla(args);
        assert_eq!((said.code, said.out.as_str()), (2, ""), "{args:?}: {said:?}");
        assert!(said.err.contains(word), "{args:?}: {}", said.err);
    }
}

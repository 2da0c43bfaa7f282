//! `advise`, end to end: from sizes, from files, and from what is neither.

mod common;

use common::{assert_keys, json, rl4rla, scratch};
use serde_json::Value;
use std::fs;

/// Advice with fixed rates, so that nothing depends on the machine.
fn advice(args: &[&str]) -> Value {
    json(&[&["advise", "--default-rates"], args].concat())
}

/// Nothing beats the choice, and its name can be looked up.
fn assert_consistent(advice: &Value) {
    assert_keys(
        advice,
        &["program", "reason", "alternatives", "tunables", "margin", "extrapolates", "seconds", "rates"],
    );
    let seconds = advice["seconds"].as_f64().unwrap();
    let alternatives = advice["alternatives"].as_array().unwrap();
    assert!(!alternatives.is_empty(), "{advice}");
    for other in alternatives {
        assert!(other["seconds"].as_f64().unwrap() >= seconds, "{other} beats {advice}");
        assert!(other["program"].is_string());
    }
    let name = advice["program"].as_str().unwrap();
    if advice["direct"] == true {
        let listed = json(&["list", "baselines"]);
        assert!(listed["items"].as_array().unwrap().iter().any(|item| item["name"] == name), "{name}");
    } else {
        assert_eq!(rl4rla(&["show", name]).code, 0, "{name}");
        assert!(advice["tunables"]["step"].as_f64().unwrap() > 0.0);
    }
}

#[test]
fn sizes_are_enough_and_assumptions_are_told() {
    let bare = advice(&["--rows", "1e6", "--cols", "500"]);
    assert_consistent(&bare);
    assert_eq!(bare["assumed"].as_array().unwrap().len(), 3);
    assert_eq!((&bare["extrapolates"], &bare["rates"]["source"]), (&false.into(), &"default".into()));
    let given = advice(&[
        "--rows",
        "1e6",
        "--cols",
        "500",
        "--kappa",
        "1e6",
        "--outside",
        "0.7",
        "--leverage",
        "low",
        "--price",
        "20",
    ]);
    assert!(given["assumed"].as_array().unwrap().is_empty());
    // The defaults are these numbers, and 20 is the price at the default rates.
    assert_eq!((&given["program"], &given["seconds"]), (&bare["program"], &bare["seconds"]));
    let said = rl4rla(&["advise", "--rows", "1e6", "--cols", "500", "--default-rates"]);
    assert_eq!(said.code, 0);
    let name = bare["program"].as_str().unwrap();
    assert!(
        said.out.starts_with(name) && said.out.contains("(assumed)") && said.out.contains("default rates"),
        "{said:?}"
    );
}

#[test]
fn digits_and_conditions_decide() {
    // κ² is beyond 1/ε: the normal equations do not solve this.
    let hard = advice(&["--rows", "1e6", "--cols", "100", "--kappa", "1e10", "--tolerance", "1e-12"]);
    assert_consistent(&hard);
    assert!(hard["unreached"].as_array().unwrap().contains(&"normal-equations".into()), "{hard}");
    let easy = advice(&["--rows", "1e6", "--cols", "100", "--kappa", "10", "--tolerance", "1e-4"]);
    assert!(!easy["unreached"].as_array().unwrap().contains(&"normal-equations".into()), "{easy}");
}

#[test]
fn extrapolation_is_told_with_its_reasons() {
    let far = advice(&["--rows", "50", "--cols", "10", "--kappa", "1e13", "--tolerance", "0.5"]);
    assert_consistent(&far);
    assert_eq!(far["extrapolates"], true);
    let reasons = far["extrapolation"].to_string();
    for what in ["κ is", "m/n is", "n is 10", "the tolerance is"] {
        assert!(reasons.contains(what), "{what} in {reasons}");
    }
    let said = rl4rla(&["advise", "--rows", "50", "--cols", "10", "--quiet"]);
    assert!(said.code == 0 && said.out.contains("extrapolated:"), "{said:?}");
}

#[test]
fn rates_are_measured_unless_told_otherwise() {
    let measured = json(&["advise", "--rows", "1e6", "--cols", "100"]);
    assert_consistent(&measured);
    assert_eq!(measured["rates"]["source"], "measured");
    let [flops, bytes] = ["flops", "bytes"].map(|rate| measured["rates"][rate].as_f64().unwrap());
    let price = measured["problem"]["price"].as_f64().unwrap();
    assert!((price - 4.0 * flops / bytes).abs() <= 1e-9 * price);
}

/// A table of `rows` rows with columns a, b, c and a target y that is 0.1 off a combination of them.
fn table(name: &str, rows: usize) -> String {
    let mut text = String::from("a,b,c,y\n");
    let mut state = 1_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / (1_u64 << 31) as f64 - 0.5
    };
    for _ in 0..rows {
        let [a, b, c, noise] = [next(), next(), next(), next()];
        text += &format!("{a},{b},{},{}\n", a + 1e-3 * c, 2.0 * a - b + c + 0.1 * noise);
    }
    let path = scratch(name);
    fs::write(&path, text).unwrap();
    path.to_str().unwrap().into()
}

#[test]
fn a_file_tells_its_size_condition_leverage_and_noise() {
    let path = table("advise.csv", 400);
    let found = advice(&["--matrix", &path, "--target", "y"]);
    assert_consistent(&found);
    let problem = &found["problem"];
    assert_eq!((&problem["rows"], &problem["cols"]), (&400.into(), &3.into()));
    // The third column is the first up to a thousandth: κ is about 2000.
    let kappa = problem["kappa"].as_f64().unwrap();
    assert!((700.0..6000.0).contains(&kappa), "{kappa}");
    assert_eq!(problem["leverage"], "low");
    let outside = problem["outside"].as_f64().unwrap();
    assert!((0.01..0.2).contains(&outside), "{outside}");
    assert!(
        found["next"].as_str().unwrap().contains(&path) && found["assumed"].as_array().unwrap().is_empty()
    );
    // Options come before estimates, and without a target the weight outside is assumed.
    let told = advice(&["--matrix", &path, "--kappa", "1e9", "--leverage", "high"]);
    assert_eq!((&told["problem"]["kappa"], &told["problem"]["leverage"]), (&1e9.into(), &"high".into()));
    assert_eq!(told["assumed"], serde_json::json!(["outside"]));
    assert_eq!(told["problem"]["cols"], 4);
}

#[test]
fn bad_input_is_named_and_answered() {
    let refused = |args: &[&str], words: &[&str]| {
        let said = rl4rla(&[&["advise"], args].concat());
        assert_eq!(said.code, 2, "{args:?}: {said:?}");
        for word in words {
            assert!(said.err.contains(word), "{args:?}: {word} in {said:?}");
        }
        let said = rl4rla(&[&["advise", "--json"], args].concat());
        assert!(said.json()["error"]["message"].is_string(), "{args:?}: {said:?}");
    };
    let size = ["--rows", "1000", "--cols", "10"];
    let with = |more: &[&'static str]| [&size[..], more].concat();
    refused(&[], &["--rows", "--matrix FILE"]);
    refused(&["--rows", "1000"], &["--cols"]);
    refused(&["--rows", "10", "--cols", "1000"], &["10×1000"]);
    refused(&["--rows", "0", "--cols", "0"], &["0×0"]);
    refused(&["--rows", "-5", "--cols", "2"], &["--rows"]);
    refused(&["--rows", "1e99", "--cols", "2"], &["--rows", "too large"]);
    refused(&with(&["--kappa", "0.5"]), &["--kappa", "at least 1"]);
    refused(&with(&["--kappa", "nan"]), &["--kappa"]);
    refused(&with(&["--kappa", "inf"]), &["--kappa"]);
    refused(&with(&["--kappa", "-3"]), &["--kappa"]);
    refused(&with(&["--kappa", "x"]), &["--kappa"]);
    refused(&with(&["--outside", "1"]), &["--outside"]);
    refused(&with(&["--tolerance", "0"]), &["--tolerance"]);
    refused(&with(&["--tolerance", "-1e-8"]), &["--tolerance"]);
    refused(&with(&["--price", "-1"]), &["--price"]);
    refused(&with(&["--leverage", "huge"]), &["--leverage", "coherent"]);
    let path = table("advise-bad.csv", 30);
    refused(&["--matrix", &path, "--rows", "10"], &["--rows", "--matrix"]);
    refused(&["--matrix", "no-such-file.csv"], &["no-such-file.csv"]);
    refused(&["--matrix", &path, "--target", "nothing"], &["nothing"]);
    // Options are checked before the file is read.
    refused(&["--matrix", "no-such-file.csv", "--kappa", "0"], &["--kappa"]);
    let file = |name: &str, text: &str| {
        let path = scratch(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_string()
    };
    let dependent = file("advise-dependent.csv", "1,2\n2,4\n3,6\n4,8\n");
    refused(&["--matrix", &dependent], &["advise-dependent.csv", "dependent", "--rank-deficient drop"]);
    let zero = file("advise-zero.csv", "1,0\n2,0\n3,0\n");
    refused(&["--matrix", &zero], &["advise-zero.csv", "column 2 is zero"]);
    let wide = file("advise-wide.csv", "1,2,3\n4,5,7\n");
    refused(&["--matrix", &wide], &["advise-wide.csv", "2 rows and 3 columns"]);
    let huge = file("advise-huge.csv", "1e308,1\n1e308,2\n1e308,1\n");
    refused(&["--matrix", &huge], &["advise-huge.csv", "too large"]);
    refused(&["--matrix", &file("advise-empty.csv", "")], &["advise-empty.csv"]);
}

#[test]
fn help_has_examples_and_a_document() {
    let said = rl4rla(&["advise", "--help"]);
    assert!(said.out.contains("Examples:") && said.out.contains("--tolerance"), "{said:?}");
    let document = rl4rla(&["help", "advise"]);
    assert!(document.code == 0 && document.out.contains("When not to trust it"), "{document:?}");
}

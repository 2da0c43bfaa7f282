//! `rl4rla evaluate`: what it reports, that it repeats itself, and what its options do.

mod common;

use common::{json, names, rl4rla, written};
use serde_json::Value;

/// A problem that takes milliseconds.
const SMALL: [&str; 6] = ["--rows", "300", "--cols", "10", "--instances", "2"];

/// Evaluates a program on small instances of `mid-cond`.
#[track_caller]
fn small(program: &str, options: &[&str]) -> Value {
    json(&[&["evaluate", program, "--family", "mid-cond"], &SMALL[..], options].concat())
}

#[track_caller]
fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is not a number"))
}

/// Holds a report to the contract: the keys a script relies on, with their types and lengths.
#[track_caller]
fn assert_complete(report: &Value, instances: usize, iterations: usize) {
    for key in ["reward", "acc", "decay", "comp", "cond", "residual", "flops"] {
        assert!(number(&report[key]).is_finite(), "{key} of {report}");
    }
    // Shares of 1, up to rounding.
    for key in ["reward", "acc", "decay", "comp", "cond"] {
        assert!((0.0..=1.0 + 1e-12).contains(&number(&report[key])), "{key} of {report}");
    }
    let history = report["history"].as_array().expect("history is a list");
    assert_eq!(history.len(), iterations + 1);
    if LINEAR.contains(&report["family"]["kind"].as_str().unwrap()) {
        let warm = report["program"].as_str().unwrap().contains(" x = ");
        let at_zero = number(&history[0]) == 1.0;
        assert!(warm || at_zero, "x starts at 0, where the residual is b, unless setup writes it");
    }
    assert_eq!(history.last(), Some(&report["residual"]));
    assert!(number(&report["flops"]) > 0.0);
    assert_eq!(report["runs"].as_array().unwrap().len(), instances);
    assert_eq!(report["failures"], 0);
}

/// The families of linear systems, the square one first.
const LINEAR: [&str; 4] = ["psd", "low-cond", "mid-cond", "high-cond"];

#[test]
fn every_program_that_fits_is_scored_at_full_size() {
    let items = json(&["list", "programs"]);
    let tall = |item: &&Value| LINEAR[1..].contains(&item["family"].as_str().unwrap());
    for name in
        items["items"].as_array().unwrap().iter().filter(tall).map(|item| item["name"].as_str().unwrap())
    {
        let size = ["--family", "mid-cond", "--rows", "10000", "--cols", "50", "--instances", "1"];
        let report = json(&[&["evaluate", name], &size[..]].concat());
        assert_complete(&report, 1, 10);
    }
}

#[test]
fn every_program_runs_on_its_own_family_without_options() {
    for name in names("programs") {
        // The size is the family's, so that a square family stays square.
        assert_complete(&json(&["evaluate", &name, "--instances", "1"]), 1, 10);
    }
}

#[test]
fn a_program_for_square_systems_is_refused_on_tall_ones() {
    let said = rl4rla(&["evaluate", "landweber", "--family", "mid-cond"]);
    assert_eq!((said.code, said.out.as_str()), (2, ""));
    assert!(said.err.contains("does not fit family mid-cond"), "{}", said.err);
    assert!(said.err.contains("--family psd"), "{}", said.err);
    assert_complete(&json(&["evaluate", "landweber", "--family", "psd"]), 5, 10);
}

#[test]
fn the_text_and_the_json_tell_the_same_reward() {
    let args = [&["evaluate", "ls-gd", "--family", "mid-cond"], &SMALL[..]].concat();
    let (text, report) = (rl4rla(&args).out, json(&args));
    let reward = text.lines().find(|line| line.trim_start().starts_with("reward")).expect("a reward");
    let shown: f64 = reward.split_whitespace().nth(1).unwrap().parse().unwrap();
    assert!((shown - number(&report["reward"])).abs() < 1e-4, "{reward} against {}", report["reward"]);
}

#[test]
fn the_bytes_are_the_same_at_any_number_of_threads_and_every_time() {
    // A program with a sketch and a sample draws the most random numbers; more instances than threads take turns.
    let size = ["--family", "mid-cond", "--rows", "300", "--cols", "10", "--instances", "11"];
    let args = [&["evaluate", "precond-weighted-sgd", "--json"], &size[..]].concat();
    let bytes = |options: &[&str]| rl4rla(&[&args[..], options].concat()).out;
    let first = bytes(&["--threads", "1"]);
    for options in [&["--threads", "1"][..], &["--threads", "2"], &["--threads", "8"], &[]] {
        assert_eq!(bytes(options), first, "{options:?}");
    }
    assert_eq!(bytes(&["--seed", "0"]), first, "0 is the default seed");
}

#[test]
fn another_seed_means_other_numbers() {
    let (zero, one) = (small("ls-gd", &[]), small("ls-gd", &["--seed", "1"]));
    assert_ne!(zero["history"], one["history"]);
    assert_ne!(zero["reward"], one["reward"]);
}

#[test]
fn sketched_preconditioning_does_not_feel_the_condition_number() {
    let kappas = ["10", "1e2", "1e4", "1e6", "1e8"];
    let options =
        ["--kappa", &kappas.join(","), "--instances", "10", "--iterations", "30", "--outside", "0.3"];
    let size = ["--family", "mid-cond", "--rows", "10000", "--cols", "50"];
    let runs = |program| {
        let report = json(&[&["evaluate", program], &size[..], &options].concat());
        let runs = report["runs"].as_array().unwrap().clone();
        assert_eq!(runs.len(), 10);
        // How far each run stayed above the best residual, and from the best fit.
        let gap = |run: &Value| number(&run["residual"]) - number(&run["attainable"]);
        runs.iter().map(|run| (number(&run["kappa"]), gap(run), number(&run["excess"]))).collect::<Vec<_>>()
    };
    for (i, (kappa, gap, excess)) in runs("sketched-precond-gd").into_iter().enumerate() {
        let asked: f64 = kappas[i % kappas.len()].parse().unwrap();
        assert!((kappa / asked - 1.0).abs() < 1e-6, "condition numbers take turns: {kappa} for {asked}");
        assert!(gap <= 1e-5 && excess <= 1e-5, "κ = {kappa}: {gap} above attainable, excess {excess}");
    }
    for (kappa, gap, excess) in runs("ls-gd") {
        assert!(gap > 1e-5 && excess > 1e-5, "κ = {kappa}: {gap} above attainable, excess {excess}");
    }
}

#[test]
fn iterations_are_as_many_as_asked_for() {
    for iterations in [1, 3, 25] {
        assert_complete(&small("ls-gd", &["--iterations", &iterations.to_string()]), 2, iterations);
    }
    assert_complete(&small("ls-gd", &["--profile", "tolerance"]), 2, 100);
}

#[test]
fn steps_are_chosen_from_those_given() {
    let fixed = small("ls-gd", &["--step", "0.25"]);
    assert_eq!(fixed["step"], 0.25);
    // Gradient descent on ‖A‖ = 1 is faster with η = 1 than with less.
    assert_eq!(small("ls-gd", &["--step", "0.1,1,0.25"])["step"], 1.0);
}

#[test]
fn every_option_is_accepted_and_every_profile_rewards() {
    let cases: [&[&str]; 22] = [
        &["--profile", "sound"],
        &["--profile", "paper"],
        &["--profile", "paper", "--ungated"],
        &["--profile", "tolerance", "--tolerance", "0.5"],
        &["--profile", "tolerance", "--unit", "flops"],
        &["--profile", "tolerance", "--unit", "passes"],
        &["--profile", "tolerance", "--charge", "1000000x500"],
        &["--weights", "1,0,0,0"],
        &["--condition-only"],
        &["--sketch", "sjlt"],
        &["--sketch", "gaussian"],
        &["--sketch", "countsketch"],
        &["--sketch", "srht"],
        &["--sketch-factor", "20"],
        &["--sampling", "unbiased"],
        &["--sampling", "released"],
        &["--leverage", "high"],
        &["--right", "gauss"],
        &["--right", "student-t"],
        &["--right", "scaled-rows"],
        &["--scale", "raw"],
        &["--outside", "0.5", "--kappa", "1e3"],
    ];
    for options in cases {
        let iterations = if options.contains(&"tolerance") { 100 } else { 10 };
        for program in ["sketched-precond-gd", "precond-weighted-sgd"] {
            assert_complete(&small(program, options), 2, iterations);
        }
    }
}

#[test]
fn options_change_what_they_are_about() {
    // The program, options that should matter, and the key that should move.
    let cases: [(&str, &[&str], &str); 12] = [
        ("sketched-precond-gd", &["--sketch", "gaussian"], "history"),
        ("sketched-precond-gd", &["--sketch", "countsketch"], "history"),
        ("sketched-precond-gd", &["--sketch", "srht"], "history"),
        ("sketched-precond-gd", &["--sketch-factor", "20"], "flops"),
        ("precond-weighted-sgd", &["--sampling", "released"], "history"),
        ("sgd", &["--batch", "20"], "flops"),
        ("ls-gd", &["--leverage", "high"], "history"),
        ("ls-gd", &["--right", "student-t"], "history"),
        ("ls-gd", &["--right", "scaled-rows"], "history"),
        ("ls-gd", &["--outside", "0.3"], "attainable"),
        ("ls-gd", &["--kappa", "1e5"], "history"),
        ("ls-gd", &["--profile", "paper"], "reward"),
    ];
    for (program, options, key) in cases {
        assert_ne!(small(program, options)[key], small(program, &[])[key], "{program} {options:?}");
    }
}

#[test]
fn weights_decide_which_term_is_rewarded() {
    for (weights, term) in
        [("1,0,0,0", "acc"), ("0,1,0,0", "decay"), ("0,0,1,0", "comp"), ("0,0,0,1", "cond")]
    {
        let report = small("sketched-precond-gd", &["--weights", weights]);
        let (reward, term) = (number(&report["reward"]), number(&report[term]));
        assert!((reward - term).abs() < 1e-12, "--weights {weights}: {reward} against {term}");
    }
    let report = small("sketched-precond-gd", &["--condition-only"]);
    assert!((number(&report["reward"]) - number(&report["cond"])).abs() < 1e-12, "{report}");
}

#[test]
fn work_to_a_tolerance_counts_what_it_is_told_to() {
    let reward = |options: &[&str]| {
        let args = [&["--profile", "tolerance", "--kappa", "1e4"], options].concat();
        let report = small("sketched-precond-gd", &args);
        assert!(report["runs"].as_array().unwrap().iter().all(|run| run["reached"].is_u64()), "{report}");
        number(&report["reward"])
    };
    let base = reward(&[]);
    assert_eq!(reward(&["--charge", "300x10"]), base, "the size that runs is the default");
    assert_eq!(reward(&["--tolerance", "1e-6"]), base, "and so is this tolerance");
    assert!(reward(&["--tolerance", "1e-2"]) > base, "less accuracy is less work");
    assert_ne!(reward(&["--charge", "1000000x500"]), base);
    assert_ne!(reward(&["--unit", "passes"]), base);
}

/// What a stage found under the sampling of the released code is not measured under another one.
#[test]
fn the_auxiliary_reward_of_a_stage_follows_its_protocol() {
    let stage = ["--curriculum", "paper/subsampled-ls-gd", "--stage", "subsampled-ls-gd"];
    let args =
        [&["evaluate", "subsampled-ls-gd", "--auxiliary", "ht", "--instances", "1"], &stage[..]].concat();
    let reward = number(&json(&args)["auxiliary"]["ht"]);
    assert!(reward > 0.2, "{reward}");
}

#[test]
fn the_auxiliary_reward_is_reported_beside_the_reward() {
    assert_eq!(small("ls-gd", &[])["auxiliary"], Value::Null);
    let report =
        json(&[&["evaluate", "ls-gd", "--auxiliary", "non_ht"], &SMALL[..4], &["--instances", "1"]].concat());
    assert!((0.0..=1.0).contains(&number(&report["auxiliary"]["non_ht"])), "{report}");
}

#[test]
fn a_program_that_fails_everywhere_ends_with_exit_code_1() {
    // A sketch with fewer rows than columns has a singular R.
    let singular = "setup:
  R1 = SKETCH(A)
  R1 = HHQR(R1)
  R1 = MAT_INV(R1)
iteration:
  v1 = VEC_MAT_MUL(b, A)
  v1 = MAT_VEC_MUL(R1, v1)
";
    let singular = written("singular.rla", singular);
    let cases: [(&str, &[&str], &str); 2] = [
        (&singular, &["--sketch-factor", "0.1"], "R1 = MAT_INV(R1)"),
        ("ls-gd", &["--step", "1e200", "--iterations", "20"], "infinite or not a number"),
    ];
    for (program, options, cause) in cases {
        let args = [&["evaluate", program, "--family", "mid-cond"], &SMALL[..], options].concat();
        let text = rl4rla(&args);
        assert_eq!((text.code, text.err.as_str()), (1, ""));
        assert!(text.out.contains("failed on 2 of 2 instances") && text.out.contains(cause), "{}", text.out);

        let said = rl4rla(&[&args[..], &["--json"]].concat());
        assert_eq!(said.code, 1);
        let report = said.json();
        assert_eq!((&report["failures"], number(&report["reward"])), (&Value::from(2), 0.0));
        assert_eq!(
            (&report["residual"], report["history"].as_array().map(Vec::len)),
            (&Value::Null, Some(0))
        );
        for run in report["runs"].as_array().unwrap() {
            assert!(run["failure"].as_str().is_some_and(|failure| failure.contains(cause)), "{run}");
        }
    }
}

#[test]
fn a_sketch_is_never_taller_than_the_data() {
    let whole = small("sketched-precond-gd", &["--sketch-factor", "30"]);
    assert_eq!(small("sketched-precond-gd", &["--sketch-factor", "1e300"])["flops"], whole["flops"]);
}

#[test]
fn one_number_is_enough_for_a_square_family() {
    let report = json(&["evaluate", "landweber", "--rows", "8"]);
    assert_eq!((&report["family"]["rows"], &report["family"]["cols"]), (&Value::from(8), &Value::from(8)));
}

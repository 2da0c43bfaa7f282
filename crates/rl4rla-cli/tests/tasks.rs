//! Every command on tasks beyond linear systems.

mod common;

use common::{fresh, json, rl4rla, timeless, written};

/// The first two stages of Newton Sketch, small.
const LOGISTIC: &str = r#"
title = "Small logistic regression"
[defaults]
instances = { search = 6, select = 4, report = 4 }
step = 1.0
registers = ["v1", "v2", "R1"]
open = ["iteration"]
merge = "fingerprint"
operators = ["VEC_VEC_SUB", "MAT_VEC_MUL", "VEC_MAT_MUL", "VEC_SIGMOID", "VEC_DSIGMOID", "VEC_MAT_SCALE", "MAT_GRAM", "MAT_VEC_SOLVE"]
[[stage]]
name = "forward"
edits = 2
iterations = 1
family = { kind = "logistic-forward" }
target = "logistic-forward"
[[stage]]
name = "logistic-gd"
edits = 2
family = { kind = "logistic", rows = 300, cols = 5, noise = 0.8 }
reward = { profile = "sound", acc = 1, comp = 0.25 }
target = "logistic-gd"
"#;

const EIGEN: &str = r#"
title = "Small eigenvalue problem"
[[stage]]
name = "power-iteration"
edits = 2
open = ["iteration"]
registers = ["v1"]
operators = ["VEC_VEC_ADD", "VEC_VEC_SUB", "MAT_VEC_MUL", "VEC_NORMALIZE"]
family = { kind = "eigenvalue", cols = 6, condition = 5 }
target = "power-iteration"
"#;

#[test]
fn discover_resume_sweep_and_audit() {
    let (logistic, eigen, store) =
        (written("logistic.toml", LOGISTIC), written("eigen.toml", EIGEN), fresh("tasks.db"));
    for (curriculum, last) in [(&logistic, "logistic-gd"), (&eigen, "power-iteration")] {
        let found = json(&["discover", curriculum, "--store", &store]);
        assert_eq!(found["found"], true, "{found}");
        assert_eq!(found["stages"].as_array().unwrap().last().unwrap()["matched"], last);
        let run = found["run"].as_str().unwrap();
        let again = json(&["resume", run, "--store", &store]);
        assert_eq!(timeless(again), timeless(found.clone()));
        let one = json(&["discover", curriculum, "--store", &fresh("tasks-1.db"), "--threads", "1"]);
        assert_eq!(timeless(one), timeless(found.clone()));
        // What was found is shown, compared and scored as what it is.
        let argument = format!("run:{run}");
        assert_eq!(json(&["show", &argument, "--store", &store])["matched"], last);
        assert_eq!(json(&["equiv", &argument, last, "--store", &store])["equivalent"], true);
        let evaluated = json(&["evaluate", &argument, "--store", &store, "--instances", "2"]);
        assert!(evaluated["reward"].as_f64().unwrap() > 0.0, "{evaluated}");
    }
    let swept =
        json(&["sweep", &eigen, "--methods", "best,mcgs-ucd,exhaustive", "--seeds", "3", "--store", &store]);
    for row in swept["rows"].as_array().unwrap() {
        assert_eq!(row["successes"], 3, "{row}");
    }
    assert_eq!(json(&["audit", &eigen])["stages"][0]["target_rank"], 1);
}

#[test]
fn catalogue_programs_are_scored_on_their_own_family() {
    for (name, better_than) in
        [("logistic-forward", 0.9), ("logistic-gd", 0.3), ("newton", 0.6), ("power-iteration", 0.1)]
    {
        let size: &[&str] =
            if name == "power-iteration" { &["--cols", "8"] } else { &["--rows", "400", "--cols", "5"] };
        let scored = json(&[&["evaluate", name, "--step", "1", "--instances", "3"], size].concat());
        assert!(scored["reward"].as_f64().unwrap() > better_than, "{name}: {scored}");
        assert_eq!(scored["failures"], 0);
    }
    let stage = json(&[
        "evaluate",
        "newton",
        "--curriculum",
        "newton-sketch",
        "--stage",
        "newton",
        "--instances",
        "1",
    ]);
    assert!(stage["acc"].as_f64().unwrap() > 0.99, "{stage}");
    let tolerance =
        ["--profile", "tolerance", "--rows", "400", "--cols", "5", "--step", "1", "--instances", "2"];
    assert!(json(&[&["evaluate", "newton"], &tolerance[..]].concat())["reward"].as_f64().unwrap() > 0.4);
}

#[test]
fn equations_and_updates_are_shown() {
    let shown = json(&["show", "sketched-power-iteration"]);
    assert_eq!((shown["update"].as_str(), shown["geometry"].as_str()), (Some("assign"), Some("symmetric")));
    assert_eq!(json(&["show", "logistic-forward"])["equation"], "y = σ(A x)");
    // A file of one's own says what becomes of its result.
    let mine = written(
        "mine-power.rla",
        "update: assign\niteration:\n v1 = MAT_VEC_MUL(A, x)\n v1 = VEC_NORMALIZE(v1)\n",
    );
    assert_eq!(json(&["show", &mine])["matched"], "power-iteration");
}

#[test]
fn what_cannot_be_is_refused_with_a_way_out() {
    for (args, words) in [
        (&["evaluate", "newton", "--with", "noise=-1"][..], "noise must be from 0 to"),
        (&["evaluate", "newton", "--with", "nose=1"], "--with noise=VALUE"),
        (&["evaluate", "newton", "--with", "noise"], "expected NAME=VALUE"),
        (&["evaluate", "newton", "--with", "noise=much"], "expected a number"),
        (
            &["evaluate", "newton", "--rows", "40", "--cols", "3", "--with", "noise=0"],
            "its labels are linearly separable",
        ),
        (&["evaluate", "newton", "--outside", "0.5"], "outside"),
        (&["evaluate", "newton", "--profile", "paper"], "for linear systems"),
        (&["evaluate", "newton", "--condition-only"], "linear system"),
        (&["evaluate", "newton", "--auxiliary", "ht"], "--auxiliary is a reward on linear systems"),
        (&["evaluate", "power-iteration", "--leverage", "high"], "no option `leverage`"),
        (&["evaluate", "power-iteration", "--family", "psd"], "--family eigenvalue, which it is made for"),
        (&["evaluate", "landweber", "--family", "eigenvalue"], "but family eigenvalue needs x ← v1"),
        (&["evaluate", "logistic-gd", "--family", "logistic-forward"], "needs y = v1"),
        (&["equiv", "power-iteration", "landweber"], "they cannot be compared"),
    ] {
        let said = rl4rla(args);
        assert_eq!(said.code, 2, "{args:?}: {said:?}");
        assert!(said.err.contains(words) && said.out.is_empty(), "{args:?}: {}", said.err);
    }
    for (change, words) in [
        (("noise = 0.8", "noises = 0.8"), "did you mean `noise`"),
        (("noise = 0.8", "noise = -2"), "noise must be from 0 to"),
        (("profile = \"sound\", acc = 1, comp = 0.25", "profile = \"paper\""), "for linear systems"),
        (("\"VEC_SIGMOID\", ", "\"VEC_SIGMOD\", "), "did you mean `VEC_SIGMOID`"),
        (("kind = \"logistic-forward\"", "kind = \"logistics\""), "did you mean `logistic`"),
    ] {
        let text = LOGISTIC.replace(change.0, change.1);
        let said = rl4rla(&["discover", &written("bad-task.toml", &text), "--store", &fresh("bad-task.db")]);
        assert!(said.code == 2 && said.err.contains(words), "{change:?}: {}", said.err);
    }
}

#[test]
fn one_column_is_enough() {
    for (name, size) in
        [("power-iteration", &["--cols", "1"][..]), ("newton", &["--rows", "50", "--cols", "1"])]
    {
        let one = json(&[&["evaluate", name, "--step", "1", "--instances", "2"], size].concat());
        assert!(one["excess"].as_f64().unwrap() < 1e-9, "{name}: {one}");
    }
}

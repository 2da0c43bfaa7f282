//! `sweep`, `audit`, scoring as a stage does, and the lists of curricula, methods and runs.

mod common;

use common::{
    SMALL, assert_keys, fresh, json, keys, lengthy, misguided, names, rl4rla, runs, scratch, timeless,
    written,
};
use serde_json::{Value, json};

const ROW: [&str; 8] = [
    "curriculum",
    "transition",
    "method",
    "seeds",
    "successes",
    "playouts_mean",
    "playouts_median",
    "seconds_mean",
];

#[test]
fn a_sweep_counts_successes_and_remembers() {
    let (small, store) = (written("sweep.toml", SMALL), fresh("sweep.db"));
    let asked = ["sweep", &small, "--methods", "best,mcts", "--seeds", "3", "--store", &store];
    let swept = json(&asked);
    let rows = swept["rows"].as_array().unwrap();
    let places: Vec<(&str, &str)> = rows
        .iter()
        .map(|row| (row["method"].as_str().unwrap(), row["transition"].as_str().unwrap()))
        .collect();
    let transitions = ["∅ → landweber", "landweber → ls-gd", "total"];
    let expected: Vec<(&str, &str)> =
        ["best", "mcts"].into_iter().flat_map(|method| transitions.map(|t| (method, t))).collect();
    assert_eq!(places, expected);
    for row in rows {
        assert_keys(row, &ROW);
        assert_eq!((&row["seeds"], &row["successes"]), (&json!(3), &json!(3)));
    }
    // A sweep is its runs, one for each seed.
    let playouts = |seed: &str| {
        let run = json(&["discover", &small, "--seed", seed, "--store", &fresh("sweep-single.db")]);
        run["playouts"].as_f64().unwrap()
    };
    let mut singles = ["0", "1", "2"].map(playouts);
    singles.sort_by(f64::total_cmp);
    assert_eq!(rows[2]["playouts_median"], singles[1]);
    assert!((rows[2]["playouts_mean"].as_f64().unwrap() - singles.iter().sum::<f64>() / 3.0).abs() < 1e-9);
    // Asked again it computes nothing: even the times are the old ones.
    assert_eq!(runs(&store).len(), 6);
    assert_eq!(json(&asked), swept);
    assert_eq!(runs(&store).len(), 6);
    // More seeds add to it, and other settings are another sweep.
    json(&["sweep", &small, "--seeds", "4", "--store", &store]);
    assert_eq!(runs(&store).len(), 7);
    json(&["sweep", &small, "--seeds", "1", "--delta", "0.1", "--store", &store]);
    assert_eq!(runs(&store).len(), 8);
    let one = timeless(json(&[&asked[..], &["--threads", "1"]].concat()));
    assert_eq!(one, timeless(swept));
}

#[test]
fn a_sweep_may_begin_at_any_seed() {
    let (small, store) = (written("sweep-from.toml", SMALL), fresh("sweep-from.db"));
    let from = |first: &str, store: &str| {
        json(&["sweep", &small, "--methods", "mcts", "--seed", first, "--seeds", "2", "--store", store])
    };
    json(&["sweep", &small, "--methods", "mcts", "--seeds", "3", "--store", &store]);
    // Seed 2 is known, seed 3 is not.
    let remembered = from("2", &store);
    assert_eq!(runs(&store).len(), 4);
    assert_eq!(timeless(remembered.clone()), timeless(from("2", &fresh("sweep-from-2.db"))));
    assert_ne!(timeless(remembered), timeless(from("0", &store)));
    from(&u64::MAX.to_string(), &store);
}

#[test]
fn a_sweep_that_ran_is_a_success_whatever_it_counts() {
    let (bad, good) = (written("sweep-bad.toml", misguided()), written("sweep-good.toml", SMALL));
    let asked = ["sweep", &good, &bad, "--seeds", "2", "--store", &fresh("sweep-missed.db")];
    let said = rl4rla(&[&asked[..], &["--json"]].concat());
    assert_eq!(said.code, 0, "{said:?}");
    let found: Vec<(u64, u64)> = said.json()["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (row["successes"].as_u64().unwrap(), row["seeds"].as_u64().unwrap()))
        .collect();
    assert_eq!(found, [(2, 2), (2, 2), (2, 2), (2, 2), (0, 2), (0, 2)]);
    let text = rl4rla(&asked);
    assert_eq!((text.code, text.err.as_str()), (0, ""));
    assert!(text.out.contains("landweber → ls-gd  best    0/2, 2 better"), "{}", text.out);
}

#[test]
fn swept_runs_are_programs_and_names_may_be_ambiguous() {
    let (small, store) = (written("many.toml", SMALL), fresh("many.db"));
    // Sixteen digits and seventeen runs: two begin alike.
    json(&["sweep", &small, "--seeds", "17", "--store", &store]);
    let ids: Vec<String> = runs(&store).iter().map(|run| run["run"].as_str().unwrap().to_string()).collect();
    let alike = |digit: &char| ids.iter().filter(|id| id.starts_with(*digit)).count() > 1;
    let digit = "0123456789abcdef".chars().find(alike).unwrap().to_string();
    for arguments in [["resume".into(), digit.clone()], ["show".into(), format!("run:{digit}")]] {
        let said = rl4rla(&[&arguments[0], &arguments[1], "--store", &store]);
        assert_eq!(said.code, 2);
        assert!(said.err.contains("may be any of") && said.err.contains("more characters"), "{}", said.err);
    }
    let shown = json(&["show", &format!("run:{}/ls-gd", ids[4]), "--store", &store]);
    assert_eq!(shown["program"], json(&["show", "ls-gd"])["program"]);
    let again = json(&["resume", &ids[4], "--store", &store]);
    assert_eq!((&again["run"], &again["found"]), (&json!(ids[4]), &json!(true)));
}

#[test]
fn runs_and_stages_that_are_not_there() {
    let (small, store) = (written("absent.toml", SMALL), fresh("absent.db"));
    let run = json(&["discover", &small, "--store", &store])["run"].as_str().unwrap().to_string();
    let none = scratch("none.db");
    let _ = std::fs::remove_file(&none);
    let none = none.to_str().unwrap();
    let unknown = if run.starts_with("00") { "11" } else { "00" };
    for (arguments, parts) in [
        (["resume", unknown, "--store", &store], [unknown, &run]),
        (["show", &format!("run:{unknown}"), "--store", &store], [unknown, &run]),
        (["evaluate", "run:", "--store", &store], ["no run ``", &run]),
        (["show", &format!("run:{run}/ls-dg"), "--store", &store], ["`ls-dg`", "landweber, ls-gd"]),
        (["resume", "LAST", "--store", none], ["none.db", "start a run"]),
        (["show", "run:LAST", "--store", none], ["none.db", "start a run"]),
    ] {
        let said = rl4rla(&arguments);
        assert_eq!((said.code, said.out.as_str()), (2, ""), "{arguments:?}");
        assert!(parts.iter().all(|part| said.err.contains(part)), "{arguments:?}: {}", said.err);
    }
    assert!(!std::path::Path::new(none).exists(), "looking makes no store");
}

#[test]
fn an_audit_says_whether_the_target_is_best() {
    let (good, bad) = (written("audit.toml", SMALL), written("audit-bad.toml", misguided()));
    let audited = json(&["audit", &good, "--seeds", "2"]);
    let stages = audited["stages"].as_array().unwrap();
    assert_eq!(stages.len(), 2);
    for stage in stages {
        assert_keys(stage, &["name", "programs", "classes", "target_rank", "margin", "least_margin"]);
        assert_eq!((&stage["target_rank"], &stage["complete"]), (&json!(1), &json!(true)));
        assert!(stage["margin"].as_f64().unwrap() > 0.1, "{stage}");
        assert!(stage["classes"].as_u64() <= stage["programs"].as_u64());
    }
    assert_eq!(json(&["audit", &good, "--seeds", "2", "--threads", "1"]), audited);
    let said = rl4rla(&["audit", &bad, "--json"]);
    let second = &said.json()["stages"][1];
    assert_eq!((said.code, &second["target_rank"]), (1, &json!(2)));
    assert!(second["margin"].as_f64().unwrap() < 0.0);
    assert!(rl4rla(&["audit", &bad]).out.contains("not every target is the best"));
    // Cut short it proves nothing.
    let short = rl4rla(&["audit", &good, "--budget", "3", "--json"]);
    assert_eq!((short.code, &short.json()["stages"][0]["complete"]), (1, &json!(false)));
    assert_eq!(rl4rla(&["audit", &good, "--seed", "18446744073709551615", "--seeds", "2"]).code, 0);
}

#[test]
fn a_program_is_scored_as_a_stage_scores_it() {
    let (small, store) = (written("score.toml", SMALL), fresh("score.db"));
    let result = json(&["discover", &small, "--store", &store]);
    let staged = ["evaluate", "run:LAST", "--curriculum", &small, "--stage", "ls-gd", "--store", &store];
    let scored = json(&[&staged[..], &["--instances", "4"]].concat());
    let plain = json(&["evaluate", "ls-gd", "--rows", "50", "--cols", "5"]);
    assert_eq!(keys(&scored), keys(&plain));
    // The same program on the same final instances: the same number, up to rounding in other coordinates.
    let reward = |value: &Value| value["reward"].as_f64().unwrap();
    assert!((reward(&scored) - reward(&result["stages"][1])).abs() < 1e-12);
    assert_eq!((&scored["family"]["rows"], &scored["step"]), (&json!(300), &json!(0.5)));
    let refuse = |arguments: &[&str], parts: &[&str]| {
        let said = rl4rla(arguments);
        assert_eq!(said.code, 2, "{arguments:?}: {said:?}");
        assert!(parts.iter().all(|part| said.err.contains(part)), "{arguments:?}: {}", said.err);
    };
    for option in [["--family", "low-cond"], ["--kappa", "10"], ["--step", "1"], ["--unit", "passes"]] {
        refuse(&[&staged[..], &option].concat(), &["cannot be used with", option[0]]);
    }
    let wrong = ["evaluate", "ls-gd", "--curriculum", &small, "--stage", "ls-dg"];
    refuse(&wrong, &["no stage `ls-dg`", "landweber", "ls-gd"]);
    refuse(&wrong[..4], &["--stage"]);
    refuse(&["evaluate", "ls-gd", "--stage", "ls-gd"], &["--curriculum"]);
    let misfit = ["evaluate", "landweber", "--curriculum", &small, "--stage", "ls-gd"];
    refuse(&misfit, &["landweber does not fit family low-cond"]);
    let huge = lengthy(10).replace("rows = 300", "rows = 1000000");
    let huge = written("score-huge.toml", huge);
    let many = ["evaluate", "ls-gd", "--curriculum", &huge, "--stage", "ls-gd", "--instances", "100000"];
    refuse(&many, &["GiB", "--instances"]);
}

#[test]
fn curricula_methods_and_runs_are_listed() {
    let curricula = names("curricula");
    for name in [
        "precond-weighted-sgd",
        "block-kaczmarz",
        "subsampled-ls-gd",
        "subsampled-precond-gd",
        "sketched-precond-gd",
    ] {
        assert!(curricula.iter().any(|other| other == name), "{name}");
    }
    let item = json(&["list", "curricula"])["items"][0].take();
    assert_keys(&item, &["name", "title", "about", "reference", "stages"]);
    let methods = names("methods");
    let expected = [
        "best",
        "mcgs-ucd",
        "mcgs-uct",
        "mcgs-puct",
        "mcts",
        "exhaustive",
        "evolution",
        "islands",
        "random",
        "oracle",
    ];
    assert_eq!(methods, expected);
    let (small, store) = (written("listed.toml", SMALL), fresh("listed.db"));
    json(&["discover", &small, "--method", "mcts", "--seed", "7", "--store", &store]);
    let checked = json(&["list", "runs", "--check", "--store", &store]);
    let run = &checked["items"][0];
    assert_keys(run, &["run", "curriculum", "status", "created", "seconds", "playouts", "evaluations"]);
    let shown = (&run["method"], &run["seed"], &run["found"], &run["stages"]);
    assert_eq!(shown, (&json!("mcts"), &json!(7), &json!(true), &json!(2)));
    let text = rl4rla(&["list", "runs", "--store", &store]).out;
    assert!(text.contains("status") && text.contains("found"), "{text}");
}

#[test]
fn a_store_that_is_not_there_holds_no_runs() {
    let store = fresh("nowhere.db");
    assert_eq!(json(&["list", "runs", "--store", &store]), json!({ "items": Vec::<Value>::new() }));
    assert!(rl4rla(&["list", "runs", "--store", &store]).out.contains("no runs"));
    assert!(!std::path::Path::new(&store).exists());
}

#[test]
fn options_of_monte_carlo_searches_are_refused_elsewhere() {
    let store = fresh("monte-carlo.db");
    for (flags, named) in [
        (&["--skip-closed"][..], "--skip-closed"),
        (&["--return-to-root"], "--return-to-root"),
        (&["--backup", "printed"], "--backup"),
    ] {
        let said =
            rl4rla(&[&["sweep", "subsampled-ls-gd", "--methods", "best", "--store", &store], flags].concat());
        assert!(said.code == 2 && said.err.contains(named) && said.err.contains("mcgs-ucd"), "{said:?}");
    }
    let said = rl4rla(&[
        "sweep",
        "subsampled-ls-gd",
        "--methods",
        "mcgs-ucd",
        "--backup",
        "nonsense",
        "--store",
        &store,
    ]);
    assert!(said.code == 2 && said.err.contains("idempotent"), "{said:?}");
}

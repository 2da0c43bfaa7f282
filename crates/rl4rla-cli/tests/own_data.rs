//! Searching for an algorithm for one's own table, and choosing from the front.

mod common;

use common::{fresh, json, rl4rla, runs, timeless, written};
use rl4rla::store::{NewRun, Store};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// A table of 400 rows whose first column is a thousand times the others.
fn table(name: &str, shift: f64) -> String {
    let mut text = "p,q,r,y\n".to_string();
    for i in 0..400 {
        let t = i as f64 + shift;
        let (p, q, r) = (1000.0 * (0.61 * t).sin(), (1.7 * t).cos(), (0.37 * t * t).sin());
        text += &format!("{p},{q},{r},{}\n", 0.002 * p + q - r + 0.1 * (2.9 * t).sin());
    }
    written(name, &text)
}

/// A curriculum without a target that draws from a table.
fn curriculum(name: &str, file: &str) -> String {
    let text = format!(
        "title = \"My table\"\nstart = \"ls-gd\"\n[[stage]]\nname = \"faster\"\nedits = 3\nopen = [\"setup\"]\n\
         operators = [\"HHQR\", \"MAT_INV\", \"MAT_MAT_TRANS_MUL\", \"SKETCH\"]\nregisters = [\"R1\"]\nbudget = 4000\n\
         keep = [\"R1\"]\nreward = {{ profile = \"sound\", condition-only = true }}\n\
         family = {{ kind = \"data\", file = {file:?}, target = \"y\", rows = 60, held-out = 0.3 }}\n\
         instances = {{ search = 6, select = 4, report = 4 }}\n"
    );
    written(name, &text)
}

#[test]
fn a_search_can_aim_at_a_table() {
    let file = table("own.csv", 0.0);
    let curriculum = curriculum("own.toml", &file);
    let store = fresh("own.db");
    let found = json(&["discover", &curriculum, "--store", &store, "--prefer", "stability"]);
    // Without a target whatever is best is right.
    assert_eq!(found["found"], true);
    let stage = &found["stages"][0];
    assert!(stage["program"].as_str().unwrap().contains("HHQR"), "{stage}");
    let again = json(&["resume", "LAST", "--store", &store]);
    assert_eq!(timeless(again)["stages"], timeless(found.clone())["stages"]);
    // The same seed at one thread, in another store.
    let other = fresh("own-other.db");
    let one = json(&["discover", &curriculum, "--store", &other, "--threads", "1", "--prefer", "stability"]);
    let plain = |mut value: Value| {
        value["run"].take();
        value["preferred"]["source"].take();
        timeless(value)
    };
    assert_eq!(plain(one), plain(found));
}

#[test]
fn a_run_belongs_to_its_data() {
    let file = table("own-changed.csv", 0.0);
    let curriculum = curriculum("own-changed.toml", &file);
    let store = fresh("own-changed.db");
    let sweep = ["sweep", &curriculum, "--seeds", "1", "--store", &store];
    json(&sweep);
    json(&sweep);
    assert_eq!(runs(&store).len(), 1, "what is done is recalled");
    fs::write(&file, fs::read_to_string(table("own-changed-2.csv", 0.5)).unwrap()).unwrap();
    let again = rl4rla(&["resume", "LAST", "--store", &store]);
    assert!(again.code == 0 && again.out.contains("solve run:"), "what is done needs no data: {again:?}");
    let mut begun = Store::open(Path::new(&store)).unwrap();
    let run = begun.run(&begun.runs().unwrap()[0].id).unwrap();
    let (curriculum, method, seed) = (&*run.row.curriculum, &*run.row.method, run.row.seed);
    let (spec, settings, build) = (&*run.spec, &*run.settings, &run.build);
    begun.begin(&NewRun { curriculum, method, seed, spec, settings, build }).unwrap();
    drop(begun);
    let refused = rl4rla(&["resume", "LAST", "--store", &store]);
    assert!(refused.code == 2 && refused.err.contains("the file has changed"), "{refused:?}");
    assert!(!refused.err.contains("version"), "{refused:?}");
    json(&sweep);
    assert_eq!(runs(&store).len(), 3, "other data are another run");
}

#[test]
fn a_bad_table_is_told_with_its_line_in_the_curriculum() {
    let missing = curriculum("own-missing.toml", "no-such-table.csv");
    let refused = rl4rla(&["discover", &missing, "--store", &fresh("own-bad.db")]);
    assert_eq!(refused.code, 2);
    assert!(refused.err.contains("line 12") && refused.err.contains("no-such-table.csv"), "{}", refused.err);
    let hole = written("own-hole.csv", "p,q,r,y\n1,2,3,4\n1,,3,4\n");
    let refused = rl4rla(&["discover", &curriculum("own-hole.toml", &hole), "--store", &fresh("own-bad.db")]);
    assert!(refused.err.contains("line 3") && refused.err.contains("`q`"), "{}", refused.err);
}

#[test]
fn the_front_can_be_chosen_from_and_used() {
    let store = fresh("front.db");
    let base = ["discover", "subsampled-precond-gd", "--store", &store];
    let found = json(&[&base[..], &["--prefer", "speed"]].concat());
    let front = found["stages"].as_array().unwrap().last().unwrap()["front"].as_array().unwrap().clone();
    assert!(front.len() > 1, "{front:?}");
    let number = |offer: &Value, key: &str| offer[key].as_f64().unwrap();
    for (i, one) in front.iter().enumerate() {
        assert_eq!(one["place"], i + 1);
        let better = |other: &&Value| {
            ["excess", "flops", "condition"].iter().all(|key| number(other, key) < 0.5 * number(one, key))
        };
        assert!(!front.iter().any(|other| better(&other)), "{one}");
    }
    let cheapest = front.iter().map(|offer| number(offer, "flops")).fold(f64::INFINITY, f64::min);
    assert_eq!(number(&found["preferred"], "flops"), cheapest);
    let accurate = json(&["resume", "LAST", "--store", &store, "--prefer", "accuracy"]);
    assert_eq!(accurate["preferred"]["place"], 1);
    let shown = json(&["show", "run:LAST#1", "--store", &store]);
    assert_eq!(shown["program"], accurate["preferred"]["program"]);
    let beyond = rl4rla(&["show", "run:LAST#99", "--store", &store]);
    assert!(beyond.code == 2 && beyond.err.contains("#99"), "{beyond:?}");
    let refused = rl4rla(&[&base[..], &["--prefer", "beauty"]].concat());
    assert!(refused.code == 2 && refused.err.contains("--prefer"), "{refused:?}");
}

/// A table of 400 rows with a category that a few of them have.
fn rare(name: &str, few: usize) -> String {
    let mut text = "p,q,rare,y\n".to_string();
    for i in 0..400 {
        let t = i as f64;
        let (p, q, rare) = ((0.61 * t).sin(), (1.7 * t).cos(), u8::from((i * 37) % 400 < few));
        text += &format!("{p},{q},{rare},{}\n", p - q + f64::from(rare) + 0.3 * (2.9 * t).sin());
    }
    written(name, &text)
}

#[test]
fn samples_that_miss_a_category_are_drawn_again_or_refused() {
    let toml = curriculum("own-rare.toml", &rare("own-rare.csv", 20));
    let asked = ["evaluate", "precond-gd", "--curriculum", &toml, "--stage", "faster", "--instances", "16"];
    let scored = json(&asked);
    assert_eq!(scored["failures"], 0, "{scored}");
    for run in scored["runs"].as_array().unwrap() {
        assert!(run["kappa"].as_f64().unwrap() < 1e3, "{run}");
    }
    let never = curriculum("own-never.toml", &rare("own-never.csv", 1));
    for command in [&["discover"][..], &["evaluate", "precond-gd", "--stage", "faster", "--curriculum"]] {
        let refused = rl4rla(&[command, &[&never, "--store", &fresh("own-never.db")]].concat());
        assert_eq!(refused.code, 2, "{refused:?}");
        assert!(
            refused.err.contains("line 12") && refused.err.contains("Column `rare` is 0"),
            "{}",
            refused.err
        );
    }
}

#[test]
fn a_residual_and_the_least_there_is_come_from_the_same_instances() {
    // A sample of a problem's rows may miss the category, and then there is no preconditioner.
    let toml = curriculum("own-same.toml", &rare("own-same.csv", 20));
    let text = fs::read_to_string(&toml).unwrap().replace("edits = 3", "edits = 3\nbatch = 16");
    let toml = written("own-same.toml", &text);
    let asked = [
        "evaluate",
        "subsampled-precond-gd",
        "--curriculum",
        &toml,
        "--stage",
        "faster",
        "--instances",
        "12",
    ];
    let scored = json(&asked);
    let runs = scored["runs"].as_array().unwrap();
    let mut least: Vec<f64> = runs
        .iter()
        .filter(|run| run["failure"].is_null())
        .map(|run| run["attainable"].as_f64().unwrap())
        .collect();
    least.sort_by(f64::total_cmp);
    assert!(least.len() > 1 && least.len() < runs.len(), "{} of {} ran", least.len(), runs.len());
    let middle = 0.5 * (least[(least.len() - 1) / 2] + least[least.len() / 2]);
    assert!((scored["attainable"].as_f64().unwrap() - middle).abs() < 1e-12, "{scored}");
    assert!(scored["residual"].as_f64().unwrap() >= middle - 1e-12, "{scored}");
}

#[test]
fn a_table_is_not_searched_for_another_task() {
    let file = table("own-task.csv", 0.0);
    let toml = curriculum("own-task.toml", &file);
    let text = fs::read_to_string(&toml).unwrap();
    for (name, changed) in [
        ("own-task-start.toml", text.replace("start = \"ls-gd\"", "start = \"logistic-gd\"")),
        ("own-task-target.toml", text.replace("edits = 3", "edits = 3\ntarget = \"newton\"")),
    ] {
        let refused = rl4rla(&["discover", &written(name, &changed), "--store", &fresh("own-task.db")]);
        assert_eq!(refused.code, 2, "{refused:?}");
        assert!(refused.err.contains("`linear`") && refused.err.contains("`logistic`"), "{}", refused.err);
    }
}

//! Campaigns on one machine: as a sweep, however often it is interrupted and whoever else computes.

use super::site::{Site, process_of, signal, until};
use crate::common::{Said, said};
use serde_json::json;

/// Many tasks: a second or two on one core.
const MANY: &str = "[[sweep]]\ncurricula = [\"small.toml\"]\nmethods = [\"best\"]\nseeds = SEEDS\n";

/// A campaign of so many seeds.
fn many(name: &str, seeds: usize) -> Site {
    let site = Site::new(name);
    site.write("c.toml", &MANY.replace("SEEDS", &seeds.to_string()));
    site.json("campaign plan c.toml");
    site
}

/// Whether the store has what a sweep of so many seeds enters into its own.
#[track_caller]
fn is_as_swept(site: &Site, seeds: usize) {
    assert_eq!(site.json("campaign collect c")["complete"], true);
    site.json(&format!("sweep small.toml --seeds {seeds} --store alone.db"));
    assert_eq!(site.runs("runs.db"), site.runs("alone.db"));
    assert_eq!(site.runs("runs.db").len(), seeds);
}

/// Interrupts `submit --local 2` when a few results are there; the number of seeds, and what it said.
fn interrupted(name: &str, how: &str) -> (Site, usize, std::process::Output) {
    // A machine that is too fast gets more to do.
    for seeds in [60, 600, 6000] {
        let site = many(name, seeds);
        let child = site.start("campaign submit c --local 2 --json");
        until("there are results", || site.results().len() >= 5);
        signal(child.id(), how);
        let output = child.wait_with_output().unwrap();
        if site.results().len() < seeds {
            return (site, seeds, output);
        }
    }
    panic!("it cannot be interrupted");
}

#[test]
fn a_campaign_on_one_machine_has_the_runs_of_a_sweep() {
    let site = Site::planned("local");
    let submitted = site.json("campaign submit c --local 2");
    assert_eq!((&submitted["complete"], &submitted["submissions"][0]["on"]), (&json!(true), &json!("local")));
    assert!(site.names("slurm/scripts").is_empty());
    site.refused("campaign submit c --local 2", &["were handed out before", "rl4rla campaign resume c"]);
    site.is_as_swept();
}

#[test]
fn an_interrupted_one_is_resumed() {
    let (site, seeds, output) = interrupted("interrupted", "TERM");
    let said = said(output);
    assert_eq!(said.code, 130, "{said:?}");
    let told = said.json();
    assert_eq!((&told["interrupted"], &told["running"]), (&json!(true), &json!(0)), "{told}");
    let before = site.results();
    assert_eq!(told["done"], before.len());
    assert_eq!(told["lost"], seeds - before.len());
    let resumed = site.json("campaign resume c --local 2");
    assert_eq!((&resumed["complete"], &resumed["found"]), (&json!(true), &json!(seeds)));
    is_as_swept(&site, seeds);
}

#[test]
fn an_interrupted_one_says_how_to_continue() {
    let site = many("interrupted-words", 600);
    let child = site.start("campaign submit c --local 1");
    until("there are results", || site.results().len() >= 5);
    signal(child.id(), "INT");
    let said = said(child.wait_with_output().unwrap());
    if said.code == 130 {
        assert!(
            said.out.contains("interrupted") && said.out.contains("rl4rla campaign resume c"),
            "{said:?}"
        );
    } else {
        assert_eq!((said.code, site.results().len()), (0, 600), "it was faster");
    }
}

#[test]
fn one_that_was_killed_is_resumed() {
    let (site, seeds, output) = interrupted("killed", "KILL");
    assert_eq!(output.status.code(), None);
    let status = site.json("campaign status c");
    assert_eq!((&status["running"], &status["lost"]), (&json!(0), &json!(seeds - site.results().len())));
    assert_eq!(site.json("campaign resume c --local 2")["complete"], true);
    is_as_swept(&site, seeds);
}

#[test]
fn two_processes_may_compute_the_same_tasks() {
    let seeds = 60;
    let site = many("twice", seeds);
    let first = site.start("campaign submit c --local 1 --json");
    until("it begins", || process_of(&site, "c/submissions/0001.json") == first.id());
    let second = site.start("campaign resume c --take-over --local 1 --json");
    // Whoever comes first waits for nobody; tasks that the other one has are not its business.
    for child in [first, second] {
        let said = said(child.wait_with_output().unwrap());
        assert_eq!(said.code, 0, "{said:?}");
    }
    assert_eq!(site.results().len(), seeds);
    is_as_swept(&site, seeds);
}

/// An exploration that ends with an error: its labels are separable, so that its loss has no minimum.
const SEPARABLE: &str = "explore --family logistic --rows 20 --cols 10 --kappa 2 --edits 2 --evolve 0 --held-out 1 --hall 1 \
                         --without-matrices";

#[test]
fn tasks_that_fail_are_told_and_only_computed_again_if_that_is_asked_for() {
    let site = Site::new("fails");
    site.write(
        "c.toml",
        "[[explore]]\nfamily = \"logistic\"\nrows = 20\ncols = 10\nkappa = 2\nedits = 2\nevolve = 0\nheld-out = 1\n\
         hall = 1\nwithout-matrices = true\n[[sweep]]\ncurricula = [\"small.toml\"]\nmethods = [\"best\"]\nseeds = 3\n",
    );
    site.json("campaign plan c.toml");
    let numbers = |said: &Said| ["done", "failed", "lost"].map(|key| said.json()[key].as_u64().unwrap());
    let said = site.run("campaign submit c --local 1 --json");
    assert_eq!((said.code, numbers(&said)), (1, [3, 1, 0]), "the others go on: {said:?}");
    let status = site.json("campaign status c");
    let failure = &status["failures"][0];
    assert!(failure["what"].as_str().unwrap().starts_with("explore logistic"), "{failure}");
    assert!(failure["reason"].as_str().unwrap().contains("linearly separable"), "{failure}");
    let text = site.run("campaign status c").out;
    assert!(text.contains("1 failed") && text.contains("linearly separable"), "{text}");
    assert!(text.contains("`rl4rla campaign resume c --failed --local 1`"), "{text}");
    let said = site.run("campaign collect c --json");
    assert_eq!((said.code, numbers(&said), &said.json()["entered"]), (1, [3, 1, 0], &json!(3)));
    assert_eq!(site.runs("runs.db").len(), 3);
    let before = site.contents("c");
    assert_eq!(site.json("campaign resume c --local 1")["failed"], 1);
    assert_eq!(site.contents("c"), before, "nothing is computed");
    site.cluster("scontrol", "fail");
    site.refused("campaign resume c --failed", &["`scontrol` failed", "--local N"]);
    let dry = site.json("campaign resume c --failed --dry-run");
    assert!(dry["scripts"][0].as_str().unwrap().contains("#SBATCH --array=0-0"), "{dry}");
    assert_eq!(site.contents("c"), before, "the failure is kept until its task is handed out");
    let said = site.run("campaign resume c --failed --local 1 --json");
    assert_eq!((said.code, numbers(&said)), (1, [3, 1, 0]), "it fails again: {said:?}");
    assert_eq!(site.submissions("c").len(), 2);
    for _ in 0..2 {
        let words =
            ["1 of 1 tasks failed", "linearly separable", "rl4rla campaign resume d --failed --local 1"];
        site.refused(&format!("{SEPARABLE} --campaign d --local 1"), &words);
    }
}

#[test]
fn a_worker_is_told_what_it_computes() {
    let site = Site::planned("worker");
    site.cluster("sbatch", "queue");
    site.json("campaign submit c");
    let worked = |chunk: u64| site.json(&format!("campaign worker c --submission 1 --chunk {chunk}"));
    let told = |had, computed| json!({ "tasks": 2, "done": 2, "running": 0, "failed": 0, "lost": 0, "had": had, "computed": computed });
    assert_eq!(worked(2), told(0, 2));
    assert_eq!(worked(2), told(2, 0));
    assert_eq!(site.results(), ["000000004.found.json", "000000005.found.json"]);
    site.refused(
        "campaign worker c --submission 1 --chunk 4",
        &["submission 1 has no chunk 4", "from 0 to 3"],
    );
    assert!(!site.file("runs.db").exists(), "workers need no store");
}

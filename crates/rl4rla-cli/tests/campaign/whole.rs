//! A campaign from the plan to the store, with a Slurm that does what it should.

use super::site::{SWEEP, Site, until};
use crate::common::{said, timeless};
use serde_json::json;
use std::fs;
use std::process::Command;

#[test]
fn a_campaign_by_slurm_has_the_runs_of_a_sweep_on_one_machine() {
    let site = Site::new("whole");
    let planned = site.json("campaign plan c.toml");
    assert_eq!(
        (&planned["tasks"], &planned["waiting"], &planned["assumed"]),
        (&json!(8), &json!(8), &json!(2))
    );
    assert_eq!(site.names("c"), ["manifest.jsonl"]);
    let text = site.run("campaign status c").out;
    assert!(text.contains("0 of 8 tasks done") && text.contains("`rl4rla campaign submit c`"), "{text}");

    let submitted = site.json("campaign submit c");
    assert_eq!(submitted["submission"], json!({ "number": 1, "chunks": 4, "jobs": ["1"] }));
    let status = site.json("campaign status c --wait");
    let [submission] = &status["submissions"].as_array().unwrap()[..] else { panic!("{status}") };
    assert_eq!(
        (&status["complete"], &status["found"], &submission["active"]),
        (&json!(true), &json!(8), &json!(0))
    );
    assert_eq!(
        (&submission["on"], &status["lost"], &status["notes"]),
        (&json!("slurm"), &json!(0), &json!([]))
    );
    // Every job has its own log, which says what came of it.
    assert_eq!(site.names("c/logs"), [0, 1, 2, 3].map(|job| format!("0001-0-{job}.log")));
    let log = site.read("c/logs/0001-0-3.log");
    assert!(
        log.contains("chunk 3 of submission 1: 2 tasks computed, 0 of them failed; 0 had results"),
        "{log}"
    );
    let text = site.run("campaign status c").out;
    assert!(
        text.contains("8 of 8 tasks done") && text.contains("campaign collect c --store runs.db"),
        "{text}"
    );

    let collected = site.json("campaign collect c");
    assert_eq!((&collected["entered"], &collected["present"]), (&json!(8), &json!(0)));
    let again = site.json("campaign collect c");
    assert_eq!((&again["entered"], &again["present"]), (&json!(0), &json!(8)));
    site.is_as_swept();
    // So are the results, one by one.
    for run in site.runs("runs.db") {
        let shown =
            |store: &str| site.json(&format!("resume {} --store {store}", run["run"].as_str().unwrap()));
        assert_eq!(timeless(shown("runs.db")), timeless(shown("alone.db")));
    }

    // Nothing is left to hand out, and nothing is handed out twice.
    let before = site.contents("c");
    site.refused("campaign submit c", &["the tasks of c were handed out before", "rl4rla campaign resume c"]);
    assert_eq!(site.json("campaign resume c")["complete"], true);
    assert_eq!(site.json("campaign resume c --local 2")["complete"], true);
    assert_eq!(site.json("campaign cancel c")["cancelled"], 0);
    assert_eq!(site.contents("c"), before);
    // A plan that is made now knows how long its tasks take.
    assert_eq!(site.json("campaign plan c.toml --folder later")["assumed"], 0);
}

#[test]
fn what_is_there_already_is_collected_while_the_rest_waits() {
    let site = Site::planned("partly");
    site.cluster("sbatch", "queue");
    site.json("campaign submit c");
    let status = site.json("campaign status c");
    assert_eq!((&status["waiting"], &status["submissions"][0]["active"]), (&json!(8), &json!(4)));
    // The first of the jobs.
    fs::rename(site.file("slurm/queue"), site.file("slurm/held")).unwrap();
    fs::create_dir(site.file("slurm/queue")).unwrap();
    let first = site.names("slurm/held").remove(0);
    fs::rename(site.file(&format!("slurm/held/{first}")), site.file(&format!("slurm/queue/{first}")))
        .unwrap();
    site.start_jobs();
    until("the job ends", || site.names("slurm/queue").is_empty());
    for job in site.names("slurm/held") {
        fs::rename(site.file(&format!("slurm/held/{job}")), site.file(&format!("slurm/queue/{job}")))
            .unwrap();
    }
    for (entered, present) in [(2, 0), (0, 2)] {
        let said = site.run("campaign collect c --json");
        let collected = said.json();
        assert_eq!(said.code, 1, "tasks are missing");
        let numbers =
            ["entered", "present", "missing", "waiting"].map(|key| collected[key].as_u64().unwrap());
        assert_eq!(numbers, [entered, present, 6, 6]);
    }
    // Who resumes leaves alone what waits in the queue.
    assert_eq!(site.json("campaign resume c")["submissions"].as_array().unwrap().len(), 1);
    site.start_jobs();
    site.json("campaign status c --wait");
    assert_eq!(site.json("campaign collect c")["entered"], 6);
    site.is_as_swept();
}

#[test]
fn folders_may_have_any_name() {
    let site = Site::new("names");
    let folder = "my data/50% of it's";
    let run = |words: &[&str]| {
        let said = said(site.command("campaign --json").args(words).output().unwrap());
        assert_eq!(said.code, 0, "{words:?}: {said:?}");
        said.json()
    };
    run(&["plan", "c.toml", "--folder", folder]);
    run(&["submit", folder]);
    assert_eq!(run(&["status", folder, "--wait"])["complete"], true);
    assert_eq!(run(&["collect", folder])["entered"], 8);
    // The command that is advised can be pasted into a shell.
    let text = said(site.command("campaign status").arg(folder).output().unwrap()).out;
    let advised = text.lines().last().unwrap().split('`').nth(1).unwrap().to_string();
    let rl4rla = env!("CARGO_BIN_EXE_rl4rla");
    let typed = Command::new("sh")
        .args(["-c", &advised.replacen("rl4rla", rl4rla, 1)])
        .current_dir(site.file(""))
        .env("PATH", format!("{}:/usr/bin:/bin", site.file("bin").display()))
        .env("FAKE_SLURM", site.file("slurm"))
        .output();
    assert_eq!(said(typed.unwrap()).code, 0, "{advised}");
}

#[test]
fn a_command_does_all_of_it_with_slurm() {
    let site = Site::new("sweep-by-slurm");
    let alone = timeless(site.json(&format!("{SWEEP} --store alone.db")));
    let asked = format!("{SWEEP} --campaign c");
    assert_eq!(timeless(site.json(&asked)), alone);
    assert_eq!(site.runs("runs.db"), site.runs("alone.db"));
    // Repeated it hands out nothing; with another store it only collects.
    let before = site.contents("c");
    assert_eq!(timeless(site.json(&asked)), alone);
    assert_eq!(timeless(site.json(&format!("{asked} --store other.db"))), alone);
    assert_eq!(site.contents("c"), before);
    assert_eq!(site.runs("other.db"), site.runs("alone.db"));
}

//! Cancelling: jobs in a queue, jobs that run, processes of this machine.

use super::site::{SWEEP, Site, has_worked, process_of, until};
use crate::common::{lengthy, said};
use serde_json::json;

/// A campaign of two tasks, in two chunks, of seconds each.
fn long(name: &str) -> Site {
    let site = Site::new(name);
    site.write("long.toml", &lengthy(30_000));
    site.write(
        "c.toml",
        "[jobs]\nchunks = 2\n[[sweep]]\ncurricula = [\"long.toml\"]\nmethods = [\"exhaustive\"]\nseeds = 2\n",
    );
    site.json("campaign plan c.toml");
    site
}

#[test]
fn jobs_in_the_queue_leave_it() {
    let site = Site::planned("cancel-queue");
    site.cluster("longest", "3");
    site.cluster("sbatch", "queue");
    site.json("campaign submit c");
    site.cluster("scancel", "fail");
    site.refused("campaign cancel c", &["`scancel` failed", "Unable to contact slurm controller"]);
    site.cluster("scancel", "");
    let cancelled = site.json("campaign cancel c");
    assert_eq!((&cancelled["cancelled"], &cancelled["lost"]), (&json!(1), &json!(8)));
    assert!(site.names("slurm/queue").is_empty(), "both arrays are cancelled");
    // Other jobs are not: the names are those of this campaign.
    assert_eq!(site.read("slurm/cancelled").lines().count(), 2);
    assert_eq!(site.json("campaign cancel c")["cancelled"], 0);
    site.cluster("sbatch", "");
    site.json("campaign resume c");
    assert_eq!(site.json("campaign status c --wait")["complete"], true);
    site.is_as_swept();
}

#[test]
fn jobs_that_run_save_their_work() {
    let site = long("cancel-running");
    site.json("campaign submit c");
    for job in [0, 1] {
        let file =
            site.names("slurm/queue").into_iter().find(|name| name.ends_with(&format!(":{job}"))).unwrap();
        let process =
            || std::fs::read_to_string(site.file(&format!("slurm/processes/{file}"))).unwrap_or_default();
        until("a job starts", || process().ends_with('\n'));
        has_worked(process().trim().parse().unwrap(), 20);
    }
    let cancelled = site.json("campaign cancel c");
    assert_eq!(
        (&cancelled["cancelled"], &cancelled["lost"], &cancelled["done"]),
        (&json!(1), &json!(2), &json!(0))
    );
    let tasks: Vec<String> = site.names("c/checkpoints").iter().map(|name| name[..9].to_string()).collect();
    assert_eq!(tasks, ["000000000", "000000001"], "what was computed is kept");
    // Who goes on ends as if nothing had happened, and leaves no checkpoint.
    assert_eq!(site.json("campaign resume c --local 2")["complete"], true);
    assert_eq!(site.names("c/checkpoints"), [""; 0]);
    site.json("campaign collect c");
    site.json("sweep long.toml --methods exhaustive --seeds 2 --store alone.db");
    assert_eq!(site.runs("runs.db"), site.runs("alone.db"));
}

#[test]
fn a_process_of_this_machine_is_asked_to_stop() {
    let site = long("cancel-local");
    let child = site.start("campaign submit c --local 1 --json");
    until("it begins", || process_of(&site, "c/submissions/0001.json") == child.id());
    has_worked(child.id(), 20);
    let running = site.json("campaign status c");
    assert_eq!((&running["running"], &running["submissions"][0]["on"]), (&json!(2), &json!("local")));
    // Nobody else is handed what it has, and the machine needs no Slurm.
    assert_eq!(site.json("campaign resume c --local 1")["submissions"].as_array().unwrap().len(), 1);
    let waiter = std::thread::spawn(move || said(child.wait_with_output().unwrap()));
    let cancelled = site.json("campaign cancel c");
    assert_eq!((&cancelled["cancelled"], &cancelled["lost"]), (&json!(1), &json!(2)));
    assert_eq!(waiter.join().unwrap().code, 130);
    assert_eq!(site.names("c/checkpoints").len(), 1);
}

#[test]
fn a_process_of_another_machine_is_left_alone() {
    let site = Site::planned("cancel-elsewhere");
    site.json("campaign submit c --local 1");
    let text = site.read("c/submissions/0001.json");
    let submission: serde_json::Value = serde_json::from_str(&text).unwrap();
    let host = submission["process"]["host"].as_str().unwrap();
    site.write("c/submissions/0001.json", &text.replace(&format!("{host:?}"), "\"elsewhere\""));
    std::fs::remove_dir_all(site.file("c/results")).unwrap();
    std::fs::remove_file(site.file("c/submissions/0001.ended")).unwrap();
    // It counts as at work until somebody says that it is not; nobody waits for that.
    for asked in ["campaign cancel c", "campaign status c --wait", "campaign resume c --local 1"] {
        let status = site.json(asked);
        assert_eq!(
            (&status["waiting"], &status["lost"], &status["seconds_left"]),
            (&json!(8), &json!(0), &json!(null))
        );
        let notes = status["notes"].to_string();
        assert!(
            notes.contains("on elsewhere still computes submission 1") && notes.contains("--take-over"),
            "{notes}"
        );
    }
    let words =
        ["on elsewhere still computes submission 1", "rl4rla campaign resume c --take-over --local 1"];
    site.refused(&format!("{SWEEP} --campaign c --local 1"), &words);
    assert_eq!(site.json("campaign resume c --local 1 --take-over")["complete"], true);
    site.is_as_swept();
}

#[test]
fn who_waits_hands_out_nothing_that_was_cancelled() {
    let site = Site::new("cancel-waited-for");
    site.cluster("sbatch", "queue");
    let child = site.start(&format!("{SWEEP} --campaign c --json"));
    until("it waits", || !site.names("slurm/queue").is_empty() && site.asked() > 2);
    let cancelled = site.json("campaign cancel c");
    assert_eq!((&cancelled["cancelled"], &cancelled["lost"]), (&json!(1), &json!(8)));
    let said = said(child.wait_with_output().unwrap());
    assert_eq!((said.code, &said.json()["interrupted"]), (130, &json!(true)), "{said:?}");
    assert_eq!(site.names("c/submissions"), ["0001.cancelled", "0001.ended", "0001.json"]);
    // Whoever repeats the command wants it.
    site.cluster("sbatch", "");
    site.json(&format!("{SWEEP} --campaign c"));
    site.is_as_swept();
}

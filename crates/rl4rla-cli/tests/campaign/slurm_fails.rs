//! Slurm that is not there, fails, does not answer, or loses jobs: a word on what is wrong, and nothing lost or done twice.

use super::site::{SWEEP, Site, signal, until};
use crate::common::said;
use serde_json::json;

/// A campaign whose jobs wait in the queue, in arrays of two.
fn queued(name: &str) -> Site {
    let site = Site::planned(name);
    site.cluster("longest", "2");
    site.cluster("sbatch", "queue");
    site.json("campaign submit c");
    site
}

#[test]
fn a_machine_without_slurm() {
    let mut site = Site::planned("no-slurm");
    site.has_slurm(false);
    let missing = ["Slurm is not installed here: there is no `scontrol`", "--local N"];
    site.refused("campaign submit c", &missing);
    site.refused(&format!("{SWEEP} --campaign d"), &missing);
    assert_eq!(site.names("c"), ["manifest.jsonl"], "nothing is handed out");
    let said = site.run("campaign submit c --dry-run");
    assert_eq!(said.code, 0);
    assert!(said.out.contains("no `scontrol`") && said.out.contains("#SBATCH --array=0-3"), "{}", said.out);
    // Jobs were submitted elsewhere: here nobody can tell what became of them.
    site.has_slurm(true);
    site.cluster("sbatch", "queue");
    site.json("campaign submit c");
    site.has_slurm(false);
    for asked in ["campaign status c", "campaign status c --wait"] {
        let status = site.json(asked);
        assert_eq!((&status["waiting"], &status["lost"]), (&json!(8), &json!(0)));
        let note = status["notes"][0].as_str().unwrap();
        assert!(note.contains("there is no `squeue`") && note.contains("counted as waiting"), "{note}");
    }
    site.refused("campaign resume c --local 2", &["there is no `squeue`", "--take-over"]);
    site.refused("campaign cancel c", &["there is no `squeue`"]);
    let words = ["there is no `squeue`", "rl4rla campaign resume c --take-over"];
    site.refused(&format!("{SWEEP} --campaign c --local 2"), &words);
    assert_eq!(site.json("campaign resume c --take-over --local 2")["complete"], true);
    site.is_as_swept();
}

#[test]
fn a_second_array_that_is_refused() {
    let site = Site::planned("half-way");
    site.cluster("longest", "2");
    site.cluster("sbatch", "once");
    let words = [
        "1 of 2 job arrays were submitted, then: `sbatch` failed",
        "Invalid account",
        "rl4rla campaign resume c",
    ];
    site.refused("campaign submit c", &words);
    let status = site.json("campaign status c");
    assert_eq!((&status["waiting"], &status["lost"]), (&json!(4), &json!(4)));
    site.refused("campaign submit c", &["were handed out before"]);
    site.refused("campaign resume c", &["0 of 2 job arrays were submitted", "Invalid account"]);
    // Only what is in nobody's hands is handed out again.
    site.cluster("sbatch", "queue");
    site.json("campaign resume c");
    assert!(site.read("c/submissions/0003.json").contains("\"chunks\":[[[4,1]],[[5,1]],[[6,1]],[[7,1]]]"));
    assert_eq!(site.names("slurm/queue").len(), 2 + 4);
    site.start_jobs();
    assert_eq!(site.json("campaign status c --wait")["complete"], true);
    site.is_as_swept();
}

#[test]
fn submitting_that_does_not_answer() {
    let mut site = Site::planned("hangs");
    site.patience(2);
    site.cluster("sbatch", "hang");
    let words = [
        "0 of 1 job arrays were submitted",
        "`sbatch` did not answer within 2 s",
        "rl4rla campaign resume c",
    ];
    site.refused("campaign submit c", &words);
    site.patience(60);
    assert_eq!(site.json("campaign status c")["lost"], 8);
    site.cluster("sbatch", "queue");
    site.json("campaign resume c");
    assert_eq!(site.names("slurm/queue").len(), 4);
    site.start_jobs();
    assert_eq!(site.json("campaign status c --wait")["complete"], true);
    site.is_as_swept();
}

#[test]
fn jobs_that_got_through_though_submitting_did_not_answer() {
    let mut site = Site::planned("hangs-after");
    site.patience(2);
    site.cluster("sbatch", "hang-after");
    let submitted = site.json("campaign submit c");
    assert_eq!(submitted["submission"], json!({ "number": 1, "chunks": 4, "jobs": [] }));
    site.patience(60);
    site.cluster("sbatch", "queue");
    let resumed = site.json("campaign resume c");
    assert_eq!((resumed["submissions"].as_array().unwrap().len(), &resumed["waiting"]), (1, &json!(8)));
    assert_eq!(site.names("slurm/scripts").len(), 1, "they are not handed out twice");
    site.start_jobs();
    assert_eq!(site.json("campaign status c --wait")["complete"], true);
    site.is_as_swept();
}

#[test]
fn a_queue_that_cannot_be_seen() {
    let site = queued("blind");
    site.cluster("squeue", "fail");
    let status = site.json("campaign status c");
    assert_eq!((&status["waiting"], &status["lost"]), (&json!(8), &json!(0)));
    let note = status["notes"][0].as_str().unwrap();
    assert!(
        note.contains("Unable to contact slurm controller") && note.contains("counted as waiting"),
        "{note}"
    );
    for asked in ["resume c", "resume c --local 2", "cancel c"] {
        site.refused(
            &format!("campaign {asked}"),
            &["Unable to contact slurm controller", "nothing is lost"],
        );
    }
    assert_eq!(site.submissions("c").len(), 1);
    assert_eq!(site.json("campaign resume c --take-over --local 2")["complete"], true);
    // All is done: what is in the queue does not matter any more.
    assert_eq!(site.json("campaign status c --wait")["notes"], json!([]));
    site.is_as_swept();
    // Jobs that begin now find results, and change nothing.
    site.cluster("squeue", "");
    let before = site.contents("c/results");
    site.start_jobs();
    until("the jobs end", || site.names("slurm/queue").is_empty());
    assert!(site.read("c/logs/0001-0-0.log").contains("0 tasks computed, 0 of them failed; 2 had results"));
    assert_eq!(site.contents("c/results"), before);
}

#[test]
fn waiting_outlasts_a_queue_that_cannot_be_seen_for_a_while() {
    let site = queued("blind-for-a-while");
    site.cluster("squeue", "fail");
    let waiting = site.start("campaign status c --wait --json");
    let swept = site.start(&format!("{SWEEP} --campaign c --json"));
    until("both have asked in vain", || site.asked() >= 3);
    site.cluster("squeue", "");
    site.start_jobs();
    for child in [waiting, swept] {
        let said = said(child.wait_with_output().unwrap());
        assert_eq!(said.code, 0, "{said:?}");
    }
    assert_eq!(site.submissions("c").len(), 1);
    site.is_as_swept();
}

#[test]
fn jobs_that_end_without_results() {
    let site = Site::planned("lost");
    site.cluster("sbatch", "lose");
    site.json("campaign submit c");
    site.write("c/logs/0001-0-1.log", "working\n\nslurmstepd: error: Detected 1 oom-kill event\n");
    let status = site.json("campaign status c");
    assert_eq!((&status["lost"], &status["waiting"]), (&json!(8), &json!(0)));
    assert!(status["notes"][0].as_str().unwrap().contains("oom-kill"), "{status}");
    let text = site.run("campaign status c").out;
    assert!(text.contains("8 lost") && text.contains("`rl4rla campaign resume c`"), "{text}");
    let said = site.run("campaign collect c --json");
    assert_eq!((said.code, &said.json()["missing"]), (1, &json!(8)));
    // A command that hands out again what was lost gives up when that changes nothing.
    site.refused(
        &format!("{SWEEP} --campaign c"),
        &["8 tasks were handed out", "without a result", "c/logs"],
    );
    site.cluster("sbatch", "queue");
    site.json("campaign resume c");
    site.start_jobs();
    assert_eq!(site.json("campaign status c --wait")["complete"], true);
    site.is_as_swept();
}

#[test]
fn why_jobs_wait() {
    let site = queued("waits");
    for job in site.names("slurm/queue") {
        site.write(&format!("slurm/queue/{job}"), "PENDING|AssocMaxJobsLimit\n");
    }
    let status = site.json("campaign status c");
    assert_eq!(status["notes"], json!(["4 jobs waiting in the queue: AssocMaxJobsLimit"]));
}

#[test]
fn variables_of_slurm_change_nothing() {
    let site = Site::planned("variables");
    site.cluster("sbatch", "queue");
    let ask = |arguments: &str| {
        let mut command = site.command(&format!("{arguments} --json"));
        command.envs([("SBATCH_JOB_NAME", "mine"), ("SBATCH_WAIT", "1"), ("SQUEUE_STATES", "RUNNING")]);
        said(command.output().unwrap())
    };
    for asked in ["campaign submit c", "campaign status c", "campaign resume c"] {
        let said = ask(asked);
        assert_eq!(
            (said.code, &said.json()["waiting"], &said.json()["lost"]),
            (0, &json!(8), &json!(0)),
            "{said:?}"
        );
    }
    assert_eq!(site.names("c/submissions"), ["0001.ended", "0001.json"]);
}

#[test]
fn what_is_about_to_be_submitted_is_in_somebodys_hands() {
    let site = Site::planned("submitting");
    site.cluster("longest", "2");
    site.cluster("sbatch", "hold");
    let begin = || {
        let child = site.start("campaign submit c --json");
        until("the tasks are on record", || site.file("c/submissions/0001.json").exists());
        child
    };
    let child = begin();
    for asked in ["status c", "resume c", "resume c --local 1"] {
        let status = site.json(&format!("campaign {asked}"));
        assert_eq!((&status["waiting"], &status["lost"]), (&json!(8), &json!(0)), "{asked}");
    }
    assert_eq!(site.names("c/submissions"), ["0001.json"]);
    // Whoever was killed submits nothing any more.
    signal(child.id(), "KILL");
    child.wait_with_output().unwrap();
    assert_eq!(site.json("campaign status c")["lost"], 8);
    std::fs::remove_file(site.file("c/submissions/0001.json")).unwrap();
    let child = begin();
    site.write("slurm/released", "");
    assert_eq!(said(child.wait_with_output().unwrap()).code, 0);
    assert_eq!(site.json("campaign status c --wait")["complete"], true);
    site.is_as_swept();
}

#[test]
fn folders_that_scripts_cannot_name() {
    let site = Site::new("unusual");
    for folder in ["back\\slash", "line\nbreak"] {
        let run = |words: &[&str]| said(site.command("campaign --json").args(words).output().unwrap());
        assert_eq!(run(&["plan", "c.toml", "--folder", folder]).code, 0);
        let refused = run(&["submit", folder]);
        assert_eq!(refused.code, 2);
        assert!(refused.err.contains("unusual characters"), "{refused:?}");
        assert_eq!(site.names(folder), ["manifest.jsonl"], "nothing is handed out");
        assert_eq!(run(&["submit", folder, "--local", "2"]).code, 0);
    }
}

//! Commands computed as campaigns: what they print is what they print without.

use super::site::{SWEEP, Site, signal, until};
use crate::common::{misguided, said, timeless};
use serde_json::json;

#[test]
fn a_sweep_prints_the_same_rows() {
    let site = Site::new("sweep-local");
    let alone = timeless(site.json(&format!("{SWEEP} --store alone.db")));
    let asked = format!("{SWEEP} --campaign c --local 2");
    assert_eq!(timeless(site.json(&asked)), alone);
    assert_eq!(site.runs("runs.db"), site.runs("alone.db"));
    let before = site.contents("c");
    assert_eq!(timeless(site.json(&asked)), alone);
    assert_eq!(site.contents("c"), before, "repeated it does nothing");
    // The steps of a campaign work with it.
    let status = site.json("campaign status c");
    assert_eq!(
        (&status["title"], &status["complete"]),
        (&json!("sweep small.toml and others"), &json!(true))
    );
    // Another command in this folder is another campaign.
    for other in [
        "sweep small.toml --methods best --seeds 4",
        "sweep small.toml --methods best,mcts --seeds 5",
        "sweep small.toml --methods best,mcts --seeds 4 --seed 1",
        "sweep small.toml --methods best,mcts --seeds 4 --delta 0.1",
        "audit small.toml",
    ] {
        let words = ["has another campaign, sweep small.toml and others", "another folder"];
        site.refused(&format!("{other} --campaign c --local 2"), &words);
    }
    site.refused(&format!("{SWEEP} --local 2"), &["--campaign"]);
    site.refused(&format!("{SWEEP} --campaign d --local 0"), &["--local"]);
    assert_eq!(site.contents("c"), before);
    assert!(!site.file("d").exists());
}

#[test]
fn an_interrupted_command_is_repeated_to_continue() {
    let site = Site::new("sweep-interrupted");
    // A machine that is too fast gets more to do.
    let interrupted = [60, 600, 6000].into_iter().find_map(|seeds| {
        let asked = format!("sweep small.toml --seeds {seeds} --campaign c");
        let _ = std::fs::remove_dir_all(site.file("c"));
        let child = site.start(&format!("{asked} --local 2 --json"));
        until("there are results", || site.results().len() >= 5);
        signal(child.id(), "TERM");
        let said = said(child.wait_with_output().unwrap());
        (site.results().len() < seeds).then_some((asked, seeds, said))
    });
    let (asked, seeds, said) = interrupted.expect("it is interrupted");
    assert_eq!((said.code, said.json()), (130, json!({ "interrupted": true })));
    assert!(site.runs("runs.db").is_empty(), "runs enter together");
    let rows = site.json(&format!("{asked} --local 2"))["rows"].clone();
    let alone = site.json(&format!("sweep small.toml --seeds {seeds} --store alone.db"))["rows"].clone();
    assert_eq!(timeless(rows), timeless(alone));
    assert_eq!(site.runs("runs.db"), site.runs("alone.db"));
}

#[test]
fn a_command_that_waits_for_slurm_may_be_interrupted() {
    let site = Site::new("sweep-waiting");
    site.cluster("sbatch", "queue");
    let asked = format!("{SWEEP} --campaign c");
    for _ in 0..2 {
        let asked_before = site.asked();
        let child = site.start(&asked);
        until("it waits", || site.asked() > asked_before);
        signal(child.id(), "INT");
        let said = said(child.wait_with_output().unwrap());
        assert_eq!(said.code, 130, "{said:?}");
        assert!(
            said.out.contains("Repeat the command") && said.out.contains("campaign cancel c"),
            "{said:?}"
        );
    }
    assert_eq!(site.names("slurm/scripts").len(), 1, "jobs go on, and nothing is handed out twice");
    site.start_jobs();
    site.json(&asked);
    site.is_as_swept();
}

#[test]
fn an_audit_prints_the_same_stages() {
    let site = Site::new("audit");
    site.write("bad.toml", &misguided());
    for (curriculum, folder, code) in [("small.toml", "good", 0), ("bad.toml", "bad", 1)] {
        let alone = site.run(&format!("audit {curriculum} --seeds 3 --json"));
        let asked = format!("audit {curriculum} --seeds 3 --campaign {folder} --local 2 --json");
        for _ in 0..2 {
            let as_campaign = site.run(&asked);
            assert_eq!((as_campaign.code, alone.code), (code, code), "{as_campaign:?}");
            assert_eq!(as_campaign.json(), alone.json());
        }
        assert_eq!(site.submissions(folder).len(), 1);
        let collected = site.run(&format!("campaign collect {folder} --json")).json();
        assert_eq!(collected["audits"], json!([alone.json()]));
    }
}

#[test]
fn explorations_are_counted_over_seeds() {
    let site = Site::new("explore");
    let asked = "explore --family low-rank-fast --rows 60 --cols 30 --rank 3 --held-out 1 --hall 1 --evolve 0 --edits 5 \
                 --tolerance 1e-2";
    site.refused(&format!("{asked} --seeds 2"), &["--seeds", "--campaign FOLDER"]);
    let many = site.run(&format!("{asked} --seeds 2 --campaign c --local 2 --json"));
    let alone = |seed: u64| site.run(&format!("{asked} --seed {seed} --store alone.db --json"));
    let alone = [0, 1].map(alone);
    assert_eq!(many.code, i32::from(alone.iter().any(|said| said.code != 0)), "{many:?}");
    assert_eq!(site.runs("runs.db"), site.runs("alone.db"));
    assert_eq!(site.run(&format!("{asked} --seeds 2 --campaign c --local 2 --json")).json(), many.json());
    assert_eq!(site.submissions("c").len(), 1);
    // One seed prints what it prints without a campaign.
    let mut single = timeless(site.run(&format!("{asked} --campaign single --local 2 --json")).json());
    let mut expected = timeless(alone[0].json());
    for result in [&mut single, &mut expected] {
        result["cost"]["seconds"].take();
    }
    assert_eq!(single, expected);
    let data = "explore --matrix small.toml --target y --campaign d --local 2";
    site.refused(data, &["campaigns explore drawn problems"]);
}

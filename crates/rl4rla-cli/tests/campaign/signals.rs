//! Signals to those who compute: their work is saved, and they say so.

use super::site::{Site, has_worked, signal, until};
use crate::common::{lengthy, said};
use serde_json::json;

#[test]
fn a_worker_that_is_ended_saves_its_work() {
    let site = Site::new("worker-ended");
    site.write("long.toml", &lengthy(20_000));
    site.write("c.toml", "[[sweep]]\ncurricula = [\"long.toml\"]\nmethods = [\"exhaustive\"]\nseeds = 1\n");
    site.json("campaign plan c.toml");
    site.cluster("sbatch", "queue");
    site.json("campaign submit c");
    let asked = "campaign worker c --submission 1 --chunk 0 --json";
    let mut checkpoints = 0;
    for name in ["TERM", "INT"] {
        let child = site.start(asked);
        has_worked(child.id(), 20);
        signal(child.id(), name);
        let said = said(child.wait_with_output().unwrap());
        let told = said.json();
        assert_eq!(
            (said.code, &told["interrupted"], &told["lost"]),
            (130, &json!(true), &json!(1)),
            "{said:?}"
        );
        assert_eq!(told["resume"], "rl4rla campaign resume c");
        let there = site.names("c/checkpoints");
        assert!(
            there.len() > checkpoints && there.iter().all(|name| name.starts_with("000000000.")),
            "{there:?}"
        );
        checkpoints = there.len();
    }
    let child = site.start(asked);
    has_worked(child.id(), 20);
    signal(child.id(), "KILL");
    child.wait_with_output().unwrap();
    assert!(site.names("c/checkpoints").len() >= checkpoints, "what was saved stays");
    // Slurm runs the job again, which goes on from there.
    assert_eq!(
        site.run(asked).json(),
        json!({ "tasks": 1, "done": 1, "running": 0, "failed": 0, "lost": 0, "had": 0, "computed": 1 })
    );
    assert_eq!(site.names("c/checkpoints"), [""; 0]);
    site.json("campaign collect c");
    site.json("sweep long.toml --methods exhaustive --seeds 1 --store alone.db");
    assert_eq!(site.runs("runs.db"), site.runs("alone.db"));
}

#[test]
fn who_waits_may_stop_waiting() {
    let site = Site::planned("wait-ended");
    site.cluster("sbatch", "queue");
    site.json("campaign submit c");
    let asked = site.asked();
    let child = site.start("campaign status c --wait --json");
    until("it waits", || site.asked() > asked);
    signal(child.id(), "TERM");
    let said = said(child.wait_with_output().unwrap());
    assert_eq!((said.code, &said.json()["interrupted"]), (130, &json!(true)), "{said:?}");
    assert_eq!(site.names("slurm/queue").len(), 4, "jobs go on");
}

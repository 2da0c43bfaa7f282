//! A run that is killed at any moment and resumed gives the result of the uninterrupted one, bit for bit.
//!
//! `scripts/kill-resume` runs this with 200 kills.

mod common;

use common::{fresh, json, rl4rla, timeless, written};
use rl4rla::rng::Stream;
use serde_json::Value;
use std::process::{Command, Stdio};
use std::time::Duration;

/// Cheap to draw and dear to search: the log is committed every second and after every stage, so that kills find it
/// empty, partly filled and complete.
const CURRICULUM: &str = r#"
title = "Killed over and over"
[defaults]
instances = { search = 24, select = 8, report = 8 }
budget = 6000
edits = 2
open = ["iteration"]
registers = ["v1", "v2"]
step = 0.5
[[stage]]
name = "landweber"
iterations = 100
family = { kind = "psd", rows = 20, condition = 2 }
target = "landweber"
[[stage]]
name = "ls-gd"
iterations = 2500
family = { kind = "low-cond", rows = 400, cols = 20 }
target = "ls-gd"
"#;

/// The run that was begun after this many others, if it was.
fn begun(store: &str, before: usize) -> Option<Value> {
    let mut runs = json(&["list", "runs", "--check", "--store", store]);
    runs["items"].as_array_mut()?.get_mut(before).map(Value::take)
}

#[test]
fn killed_runs_end_as_uninterrupted_ones() {
    let kills: u64 = std::env::var("RL4RLA_KILLS").map_or(12, |kills| kills.parse().expect("a number"));
    let curriculum = written("killed.toml", CURRICULUM);
    let (store, calm) = (fresh("killed.db"), fresh("calm.db"));
    let (mut done, mut seed) = (0, 0u64);
    while done < kills {
        let method = ["mcgs-ucd", "best", "exhaustive"][seed as usize % 3];
        let number = seed.to_string();
        let asked = ["discover", &curriculum, "--method", method, "--seed", &number, "--threads", "2"];
        let expected = rl4rla(&[&asked[..], &["--json", "--store", &calm]].concat());
        let before = json(&["list", "runs", "--store", &store])["items"].as_array().unwrap().len();
        let (mut run, mut committed, mut stuck) = (String::new(), 0, 0.0);
        for attempt in 0.. {
            let arguments = match run.as_str() {
                "" => [&asked[..], &["--store", &store]].concat(),
                run => vec!["resume", run, "--threads", "2", "--store", &store],
            };
            // Whoever is killed too early to get anything done is given longer: a slow machine comes to the end as well.
            let pause =
                (0.05 + 0.4 * Stream::new(seed).derive("pause", attempt).uniforms(1)[0]) * (1.0 + stuck);
            let ended = killed_after(&arguments, Duration::from_secs_f64(pause));
            // Killed before the run was even begun: ask again.
            let Some(row) = begun(&store, before) else { continue };
            run = row["run"].as_str().unwrap().to_string();
            let now = row["evaluations"].as_u64().unwrap();
            assert!(now >= committed, "{committed} evaluations were committed, {now} are left");
            stuck = if now > committed { 0.0 } else { stuck + 1.0 };
            committed = now;
            if ended || row["status"] == "done" {
                break;
            }
            // Only a kill amid the work tells something: some of it is saved, and some is left to do.
            done += u64::from(committed > 0);
        }
        let result = rl4rla(&["resume", &run, "--json", "--store", &store]);
        assert_eq!(result.code, expected.code);
        assert_eq!(timeless(result.json()), timeless(expected.json()), "seed {seed}, method {method}");
        seed += 1;
    }
    println!("{done} kills over {seed} runs: every result as uninterrupted, nothing committed was lost");
}

/// Starts the command and kills it after a while; says whether it came to its end before that.
fn killed_after(arguments: &[&str], pause: Duration) -> bool {
    let mut child = Command::new(env!("CARGO_BIN_EXE_rl4rla"))
        .args(arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the command starts");
    std::thread::sleep(pause);
    if child.try_wait().expect("a child can be asked").is_some() {
        return true;
    }
    child.kill().expect("a child can be killed");
    child.wait().expect("a child can be waited for");
    false
}

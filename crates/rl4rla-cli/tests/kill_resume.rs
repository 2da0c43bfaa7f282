//! A run that is killed at any moment and resumed gives the result of the uninterrupted one, bit for bit.
//!
//! `scripts/kill-resume` runs this with 200 kills.

mod common;

use common::{command, json, said, scratch, written};
use rl4rla::rng::Stream;
use serde_json::Value;
use std::process::{Command, Stdio};
use std::time::Duration;

/// Long enough to be hit in many places, short enough for every day.
const CURRICULUM: &str = r#"
title = "Killed over and over"
[defaults]
instances = { search = 24, select = 8, report = 8 }
budget = 6000
[[stage]]
name = "landweber"
edits = 2
open = ["iteration"]
family = { kind = "psd", rows = 8 }
step = 1.0
reward = { profile = "sound", acc = 1, decay = 10, comp = 8, cond = 1 }
target = "landweber"
[[stage]]
name = "ls-gd"
edits = 2
family = { kind = "low-cond", rows = 3000, cols = 40 }
step = 1.0
reward = { profile = "sound", acc = 1, decay = 10, comp = 8, cond = 1 }
target = "ls-gd"
"#;

/// A result without what names the run and what depends on the clock.
fn timeless(mut result: Value) -> Value {
    fn strip(value: &mut Value) {
        match value {
            Value::Object(fields) => {
                fields.retain(|key, _| key != "seconds" && key != "run");
                fields.values_mut().for_each(strip);
            }
            Value::Array(items) => items.iter_mut().for_each(strip),
            _ => {}
        }
    }
    strip(&mut result);
    result
}

fn evaluations(store: &str, run: &str) -> u64 {
    let runs = json(&["list", "runs", "--check", "--store", store]);
    let rows = runs["items"].as_array().unwrap();
    let row = rows.iter().find(|row| row["run"] == run).expect("the run is in the store");
    row["evaluations"].as_u64().unwrap()
}

#[test]
fn killed_runs_end_as_uninterrupted_ones() {
    let kills: u64 = std::env::var("RL4RLA_KILLS").map_or(12, |kills| kills.parse().expect("a number"));
    let curriculum = written("killed.toml", CURRICULUM);
    let (store, calm) = (scratch("killed.db"), scratch("calm.db"));
    for path in [&store, &calm] {
        let _ = std::fs::remove_file(path);
    }
    let (store, calm) = (store.to_str().unwrap(), calm.to_str().unwrap());
    let (mut done, mut seed) = (0, 0u64);
    while done < kills {
        let method = ["mcgs-ucd", "best", "exhaustive"][seed as usize % 3];
        let asked =
            ["discover", &curriculum, "--method", method, "--seed", &seed.to_string(), "--threads", "2"]
                .map(str::to_string);
        let asked: Vec<&str> = asked.iter().map(String::as_str).collect();
        let expected = said(command(&[&asked[..], &["--json", "--store", calm]].concat()).output().unwrap());
        let before = json(&["list", "runs", "--store", store])["items"].as_array().unwrap().len();
        let mut arguments = [&asked[..], &["--store", store]].concat();
        let (mut run, mut committed) = (String::new(), 0);
        for attempt in 0.. {
            let pause = Stream::new(seed).derive("pause", attempt).uniforms(1)[0];
            let ended = killed_after(&arguments, Duration::from_secs_f64(0.02 + 0.6 * pause));
            let runs = json(&["list", "runs", "--store", store]);
            match runs["items"].as_array().unwrap().get(before) {
                Some(row) => run = row["run"].as_str().unwrap().to_string(),
                // Killed before the run was even begun: ask again.
                None => continue,
            }
            let now = evaluations(store, &run);
            assert!(now >= committed, "{committed} evaluations were committed, {now} are left");
            committed = now;
            if ended {
                break;
            }
            done += 1;
            arguments = vec!["resume", &run, "--store", store];
        }
        let result = said(command(&["resume", &run, "--json", "--store", store]).output().unwrap());
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

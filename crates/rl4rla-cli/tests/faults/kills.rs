//! Commands killed at random moments: what was committed stays, and what is done again ends as if nothing had happened.

use super::tally::{Tally, cases, is_long};
use crate::common::{SMALL, fresh, rl4rla, scratch, timeless, written};
use rl4rla::rng::Stream;
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Cheap to draw and dear to search: the log is committed every second and after every stage, so that kills find it
/// empty, partly filled and complete.
pub const CURRICULUM: &str = r#"
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

/// A number between 0 and 1 for this moment of this test.
fn chance(what: &str, index: u64) -> f64 {
    Stream::new(15).derive(what, index).uniforms(1)[0]
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

/// The runs of a store that may not be there yet; everything in it is read.
fn sound(store: &str, tally: &mut Tally) -> Vec<Value> {
    let said = rl4rla(&["list", "runs", "--check", "--json", "--store", store]);
    if said.code != 0 {
        tally.wrong.push(format!("{said:?}"));
        return vec![];
    }
    said.json()["items"].as_array().cloned().unwrap_or_default()
}

/// How long a command takes, and what it says.
fn calm(arguments: &[&str]) -> (Duration, i32, Value) {
    let begin = Instant::now();
    let said = rl4rla(&[arguments, &["--json"]].concat());
    (begin.elapsed(), said.code, timeless(said.json()))
}

#[test]
fn discover_and_resume() {
    let mut tally = Tally::new("kill -9 in discover and resume");
    let kills = cases(6, 400);
    let curriculum = written("killed.toml", CURRICULUM);
    let (store, quiet) = (fresh("killed.db"), fresh("calm.db"));
    let mut seed = 0u64;
    while tally.cases < kills {
        let method = ["mcgs-ucd", "best", "exhaustive"][seed as usize % 3];
        let number = seed.to_string();
        let asked = ["discover", &curriculum, "--method", method, "--seed", &number, "--threads", "2"];
        let expected = rl4rla(&[&asked[..], &["--json", "--store", &quiet]].concat());
        let before = sound(&store, &mut tally).len();
        let (mut run, mut committed, mut stuck) = (String::new(), 0, 0.0);
        for attempt in 0.. {
            let arguments = match run.as_str() {
                "" => [&asked[..], &["--store", &store]].concat(),
                run => vec!["resume", run, "--threads", "2", "--store", &store],
            };
            // Whoever is killed too early to get anything done is given longer: a slow machine comes to the end as well.
            let pause = (0.005 + 0.4 * chance("pause", 1000 * seed + attempt)) * (1.0 + stuck);
            let ended = killed_after(&arguments, Duration::from_secs_f64(pause));
            tally.cases += usize::from(!ended);
            // Killed before the run was even begun: ask again.
            let Some(row) = sound(&store, &mut tally).get(before).cloned() else {
                stuck += 1.0;
                continue;
            };
            run = row["run"].as_str().unwrap().to_string();
            let now = row["evaluations"].as_u64().unwrap();
            if now < committed {
                tally.lost.push(format!("{committed} evaluations were committed, {now} are left"));
            }
            stuck = if now > committed { 0.0 } else { stuck + 1.0 };
            committed = now;
            if ended || row["status"] == "done" {
                break;
            }
        }
        let result = rl4rla(&["resume", &run, "--json", "--store", &store]);
        if (result.code, timeless(result.json())) != (expected.code, timeless(expected.json())) {
            tally.wrong.push(format!("seed {seed}, method {method}"));
        }
        seed += 1;
    }
    tally.remark = format!("{seed} runs, each resumed to the uninterrupted result, bit for bit");
    tally.close();
}

#[test]
fn sweep() {
    let mut tally = Tally::new("kill -9 in sweep");
    let kills = cases(8, 200);
    let curriculum = written("killed-sweep.toml", SMALL);
    let asked = ["sweep", &curriculum, "--methods", "best,mcgs-ucd", "--seeds", "3", "--store"];
    let (time, code, expected) = calm(&[&asked[..], &[&fresh("calm-sweep.db")]].concat());
    let (mut index, mut stuck) = (0, 0);
    let mut store = fresh("killed-sweep-0.db");
    while tally.cases < kills {
        index += 1;
        let pause = time.mul_f64(1.2 * chance("sweep", index) * f64::from(1 + stuck));
        let before = sound(&store, &mut tally).len();
        let ended = killed_after(&[&asked[..], &[&store]].concat(), pause);
        tally.cases += usize::from(!ended);
        let rows = sound(&store, &mut tally);
        stuck = if rows.len() > before { 0 } else { stuck + 1 };
        if rows.len() < before {
            tally.lost.push(format!("{before} runs were there, {} are left", rows.len()));
        }
        // A run that was not finished leaves nothing, and none is there twice.
        let mut seen: Vec<String> =
            rows.iter().map(|row| format!("{} {}", row["method"], row["seed"])).collect();
        seen.sort();
        seen.dedup();
        if seen.len() < rows.len() || rows.iter().any(|row| row["status"] != "done") {
            tally.wrong.push(format!("{rows:?}"));
        }
        if ended {
            if calm(&[&asked[..], &[&store]].concat()).1 != code || rows.len() != 6 {
                tally.wrong.push(format!("{rows:?}"));
            }
            let (_, _, result) = calm(&[&asked[..], &[&store]].concat());
            if result != expected {
                tally.wrong.push(format!("{result} instead of {expected}"));
            }
            store = fresh(&format!("killed-sweep-{index}.db"));
        }
    }
    tally.close();
}

#[test]
fn reproduce() {
    let mut tally = Tally::new("kill -9 in reproduce");
    if !is_long() {
        return; // Half a minute for each item, and nothing that `sweep` does not do.
    }
    let kills = cases(0, 200);
    let (store, out) = (fresh("killed-reproduce.db"), scratch("killed-reproduce"));
    let _ = std::fs::remove_dir_all(&out);
    let out = out.to_str().unwrap();
    let asked = ["reproduce", "table1", "--seeds", "1", "--quick", "--out", out, "--store", &store];
    // From nothing, and then with everything in the store, where there is only the page to make.
    let mut index = 0;
    let mut time = Duration::from_secs(4);
    let mut expected: Option<Value> = None;
    while tally.cases < kills {
        index += 1;
        let ended = killed_after(&asked, time.mul_f64(1.2 * chance("reproduce", index)));
        tally.cases += usize::from(!ended);
        if sound(&store, &mut tally).iter().any(|row| row["status"] != "done") {
            tally.wrong.push("a run that is not done".into());
        }
        whole_page(Path::new(out), &mut tally);
        if ended || expected.is_some() || index % 20 == 0 {
            let (took, _, result) = calm(&asked);
            let rows = result["rows"].clone();
            if *expected.get_or_insert(rows.clone()) != rows {
                tally.wrong.push(format!("{rows}"));
            }
            time = took;
        }
    }
    tally.close();
}

/// A page is there as a whole or not at all, and so is everything beside it.
fn whole_page(folder: &Path, tally: &mut Tally) {
    let Ok(files) = std::fs::read_dir(folder) else { return };
    for file in files.map(|file| file.unwrap().path()) {
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        let ending = file.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        let end = match ending {
            "html" => "</html>",
            "svg" => "</svg>",
            "csv" => "\n",
            _ => continue,
        };
        if !text.trim_end_matches(['\n', ' ']).ends_with(end.trim_end()) {
            tally.wrong.push(format!("half of {}", file.display()));
        }
    }
}

#[test]
fn solve_out() {
    let mut tally = Tally::new("kill -9 in solve --out");
    let kills = cases(10, 400);
    let line = |i: u64| format!("{},{},{}\n", chance("a", i), chance("b", i), chance("c", i));
    let data = written("killed-data.csv", "a,b,y\n".to_string() + &(0..20_000).map(line).collect::<String>());
    let path = scratch("killed-predictions.csv");
    let out = path.to_str().unwrap();
    let asked =
        ["solve", "precond-gd", "--matrix", &data, "--target", "y", "--predict", &data, "--predictions", out];
    let (time, _, _) = calm(&asked);
    let new = std::fs::read(&path).unwrap();
    let old = b"what was there before\n".to_vec();
    let mut kept = 0;
    for index in 0.. {
        if tally.cases >= kills {
            break;
        }
        std::fs::write(&path, &old).unwrap();
        let ended = killed_after(&asked, time.mul_f64(1.1 * chance("solve", index)));
        tally.cases += usize::from(!ended);
        let found = std::fs::read(&path).unwrap_or_default();
        kept += usize::from(found == old);
        if found != new && (found != old || ended) {
            tally.wrong.push(format!("{} bytes, neither the old file nor the new one", found.len()));
        }
    }
    tally.remark = format!("{kept} times the old file, else the new one");
    tally.close();
    for file in std::fs::read_dir(scratch("")).unwrap().map(|file| file.unwrap().path()) {
        if file.extension().is_some_and(|ending| ending == "part") {
            let _ = std::fs::remove_file(file);
        }
    }
}

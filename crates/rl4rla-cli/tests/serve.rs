//! The live page's server as the command runs it: runs are started, watched, stopped, killed with it, and resumed.
#![cfg(unix)]

mod common;

use common::{SMALL, fresh, json, lengthy, rl4rla, runs, timeless, written};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A server, killed when the test is over.
struct Served {
    process: Child,
    port: u16,
    token: String,
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Served {
    fn begin(arguments: &[&str]) -> Served {
        let mut process = Command::new(env!("CARGO_BIN_EXE_rl4rla"))
            .args(arguments)
            .stdout(Stdio::piped())
            .spawn()
            .expect("the command starts");
        let mut first = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut first).unwrap();
        let url = match serde_json::from_str::<Value>(&first) {
            Ok(document) => document["url"].as_str().unwrap().to_string(),
            Err(_) => first.trim().to_string(),
        };
        let (address, token) = url.split_once("/#token=").unwrap_or((url.trim_end_matches('/'), ""));
        let port = address.rsplit(':').next().unwrap().parse().unwrap();
        Served { process, port, token: token.into() }
    }

    /// A request as the page sends it: its status and its answer.
    fn ask(&self, method: &str, path: &str, body: &Value) -> (u16, Value) {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
            self.port,
            self.token,
            body.len()
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
        let (_, content) = answer.split_once("\r\n\r\n").unwrap();
        (status, serde_json::from_str(content).unwrap_or_default())
    }

    #[track_caller]
    fn get(&self, path: &str) -> Value {
        let (status, answer) = self.ask("GET", path, &Value::Null);
        assert_eq!(status, 200, "{path}: {answer}");
        answer
    }

    #[track_caller]
    fn post(&self, path: &str, body: &Value) -> Value {
        let (status, answer) = self.ask("POST", path, body);
        assert!((200..300).contains(&status), "{path}: {status} {answer}");
        answer
    }

    /// The row of the only run with this seed, once it is as wanted.
    #[track_caller]
    fn awaited(&self, seed: u64, wanted: impl Fn(&Value) -> bool) -> Value {
        let patience = Instant::now() + Duration::from_secs(120);
        loop {
            let list = self.get("/api/runs");
            let rows = list["items"].as_array().unwrap();
            match rows.iter().find(|row| row["seed"] == seed) {
                Some(row) if wanted(row) => return row.clone(),
                row => assert!(Instant::now() < patience, "{row:?}"),
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

fn discover(toml: &str, seed: u64) -> Value {
    json!({ "kind": "discover", "toml": toml, "method": "mcgs-ucd", "seed": seed, "threads": 1 })
}

/// What a run came to, without its name, its id and its times.
fn outcome(mut record: Value) -> Value {
    for key in ["run", "curriculum", "build"] {
        record.as_object_mut().unwrap().remove(key);
    }
    timeless(record)
}

#[test]
fn the_first_line_is_the_address() {
    let store = fresh("serve-address.db");
    for arguments in [&["serve", "--store", &store][..], &["serve", "--json", "--store", &store]] {
        let mut server = Served::begin(arguments);
        assert_eq!(server.token.len(), 32);
        assert_eq!(server.get("/api/about")["counts"]["all"], 0, "a store that is not there yet has no runs");
        let signal = nix::sys::signal::Signal::SIGINT;
        nix::sys::signal::kill(nix::unistd::Pid::from_raw(server.process.id() as i32), signal).unwrap();
        assert_eq!(server.process.wait().unwrap().code(), Some(130));
    }
    let read_only = Served::begin(&["serve", "--read-only", "--store", &store]);
    assert_eq!(
        (read_only.token.as_str(), read_only.get("/api/about")["read_only"].clone()),
        ("", json!(true))
    );
    let taken = rl4rla(&["serve", "--port", &read_only.port.to_string(), "--store", &store]);
    assert_eq!(taken.code, 2, "{taken:?}");
    assert!(taken.err.contains("cannot listen on port") && taken.err.contains("--port 0"), "{taken:?}");
}

#[test]
fn campaigns_are_those_that_were_named() {
    let store = fresh("serve-campaigns.db");
    let none = Served::begin(&["serve", "--store", &store]);
    assert_eq!(
        (none.get("/api/campaigns"), none.get("/api/about")["campaigns"].clone()),
        (json!([]), json!(0))
    );
    let named = ["serve", "--campaign", "no-campaign", "--campaign=--help", "--store", &store];
    let server = Served::begin(&named);
    assert_eq!(server.get("/api/about")["campaigns"], 2);
    let here = std::env::current_dir().unwrap();
    let listed = server.get("/api/campaigns");
    for (place, folder) in ["no-campaign", "--help"].into_iter().enumerate() {
        let item = &listed[place];
        let folder = here.join(folder);
        assert_eq!((&item["place"], item["folder"].as_str()), (&json!(place), folder.to_str()), "{item}");
        // In the words of the command.
        assert!(item["error"]["message"].as_str().is_some_and(|text| text.len() > 5), "{item}");
    }
}

#[test]
fn a_run_of_the_page_is_that_of_the_command() {
    let (store, quiet) = (fresh("serve-run.db"), fresh("serve-run-quiet.db"));
    let server = Served::begin(&["serve", "--store", &store]);
    server.post("/api/runs", &discover(SMALL, 3));
    let row = server.awaited(3, |row| row["status"] == "done");
    assert_eq!(row["curriculum"], "Two small steps");
    let id = row["id"].as_str().unwrap();
    let whole = server.get(&format!("/api/runs/{id}"));
    let file = written("serve-run.toml", SMALL);
    let alone = json(&["discover", &file, "--method", "mcgs-ucd", "--seed", "3", "--store", &quiet]);
    assert_eq!(outcome(whole["record"].clone()), outcome(alone));
    // What the page shows of it.
    let curves = server.get(&format!("/api/runs/{id}/curves"));
    let leader = &curves["stages"][0]["leaders"][0];
    assert!(leader["equation"].is_string() && leader["terms"]["acc"].is_number(), "{curves}");
    let graph = server.get(&format!("/api/runs/{id}/graph?stage=0"));
    assert_eq!((graph["complete"].clone(), graph["parent"][0].clone()), (json!(true), json!(-1)));
    let node = server.get(&format!("/api/runs/{id}/graph/0?stage=0"));
    assert!(!node["children"].as_array().unwrap().is_empty());
    let found = server.get(&format!("/api/program?of=run:{id}/ls-gd"));
    assert_eq!(
        (found["matched"].clone(), found["listing"][0]["section"].clone()),
        (json!("ls-gd"), json!("iteration"))
    );
    // Marks, and a deletion that is undone.
    let marked =
        server.ask("PUT", &format!("/api/runs/{id}/marks"), &json!({ "tags": ["<b>"], "note": "<i>" }));
    assert_eq!((marked.0, &marked.1["tags"]), (200, &json!(["<b>"])));
    server.post(&format!("/api/runs/{id}/delete"), &json!({}));
    assert_eq!(runs(&store).len(), 0);
    assert_eq!(server.get("/api/runs?deleted=1")["matching"], 1);
    server.post(&format!("/api/runs/{id}/restore"), &json!({}));
    assert_eq!(runs(&store)[0]["note"], "<i>");
    // A request that the command refuses comes back in its words.
    let (status, refused) = server.ask("POST", "/api/runs", &discover("title = 3\n", 0));
    assert_eq!(
        (status, refused["error"].clone()),
        (422, json!("line 1, key `title`: expected a string, got 3"))
    );
}

#[test]
fn runs_are_stopped_killed_with_the_server_and_resumed() {
    let (store, quiet) = (fresh("serve-kill.db"), fresh("serve-kill-quiet.db"));
    let slow = lengthy(60_000);
    let busy = |row: &Value| row["status"] == "running" && row["evaluations"].as_u64() > Some(0);
    let server = Served::begin(&["serve", "--store", &store]);
    // Two at once; one is stopped.
    server.post("/api/runs", &discover(&slow, 1));
    server.post("/api/runs", &discover(&slow, 2));
    let [first, second] = [1, 2].map(|seed| server.awaited(seed, busy)["id"].as_str().unwrap().to_string());
    let marks = format!("/api/runs/{second}/marks");
    assert_eq!(server.ask("PUT", &marks, &json!({ "tags": ["watched"], "note": "" })).0, 200);
    server.post(&format!("/api/runs/{first}/stop"), &json!({}));
    server.awaited(1, |row| row["status"] == "interrupted");
    assert_eq!(server.ask("POST", &format!("/api/runs/{first}/stop"), &json!({})).0, 409, "it is over");
    assert!(server.awaited(2, |_| true)["status"] == "running", "the other goes on");
    // A server that is killed takes its runs with it, and nothing is lost.
    drop(server);
    let server = Served::begin(&["serve", "--store", &store]);
    server.awaited(2, |row| row["status"] == "interrupted");
    assert_eq!(rl4rla(&["list", "runs", "--check", "--store", &store]).code, 0);
    for id in [&first, &second] {
        server.post(&format!("/api/runs/{id}/resume"), &json!({}));
    }
    let file = written("serve-kill.toml", &slow);
    for (seed, id) in [(1, &first), (2, &second)] {
        server.awaited(seed, |row| row["status"] == "done");
        let arguments = [
            "discover",
            &file,
            "--method",
            "mcgs-ucd",
            "--seed",
            &seed.to_string(),
            "--json",
            "--store",
            &quiet,
        ];
        let alone = rl4rla(&arguments).json();
        let whole = server.get(&format!("/api/runs/{id}"));
        assert_eq!(outcome(whole["record"].clone()), outcome(alone), "seed {seed}");
    }
}

#[test]
fn a_live_page_comes_with_a_search() {
    let (store, file) = (fresh("serve-live.db"), written("serve-live.toml", SMALL));
    let said = rl4rla(&["discover", &file, "--live", "--json", "--store", &store]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.err.lines().any(|line| line.starts_with("http://127.0.0.1:")), "{said:?}");
    assert!(said.json()["found"].as_bool().unwrap());
}

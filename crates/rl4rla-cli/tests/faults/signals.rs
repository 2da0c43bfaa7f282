//! Signals: every command ends soon, with exit code 130, and says that it was interrupted.

use super::tally::{Tally, cases, is_long};
use crate::common::{fresh, lengthy, said, scratch, written};
use rl4rla::rng::Stream;
use serde_json::json;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Ctrl-C, a request to terminate, a hang-up: names and numbers.
const SIGNALS: [(&str, u32); 3] = [("INT", 2), ("TERM", 15), ("HUP", 1)];

fn started(arguments: &[String], store: &str, wrapper: &[&str]) -> Child {
    let mut words: Vec<&str> = wrapper.to_vec();
    words.push(env!("CARGO_BIN_EXE_rl4rla"));
    Command::new(words[0])
        .args(&words[1..])
        .args(arguments)
        .args(["--json", "--store", store])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts")
}

/// Waits until a process listens to a signal, where the system tells; a signal before that just ends it.
fn listens(child: &mut Child, signal: u32) {
    let status = format!("/proc/{}/status", child.id());
    while child.try_wait().unwrap().is_none() {
        let Ok(status) = fs::read_to_string(&status) else {
            return std::thread::sleep(Duration::from_millis(500));
        };
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap_or("0");
        if u64::from_str_radix(caught.trim(), 16).unwrap_or(0) >> (signal - 1) & 1 == 1 {
            return;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn send(child: &Child, signal: &str) {
    Command::new("kill").args([format!("-{signal}"), child.id().to_string()]).output().unwrap();
}

/// An endpoint that takes every question and never answers.
fn silent_endpoint() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1/chat/completions", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        let open: Vec<_> = listener.incoming().collect();
        drop(open);
    });
    url
}

/// Every command, with something to do for hours where there is such a thing.
fn commands() -> Vec<(&'static str, bool, Vec<String>)> {
    let line = |i: u64| format!("{},{}\n", Stream::new(1).derive("x", i).uniforms(1)[0], i % 7);
    let data = written("signals.csv", "a,y\n".to_string() + &(0..5000).map(line).collect::<String>());
    let (slow, url) = (written("signals.toml", lengthy(100_000)), silent_endpoint());
    let out = scratch("signals-out");
    let words = |text: &str| -> Vec<String> {
        let text = text.replace("DATA", &data).replace("SLOW", &slow).replace("URL", &url);
        text.replace("OUT", out.to_str().unwrap()).split(' ').map(str::to_string).collect()
    };
    let row = |name, long, text: &str| (name, long, words(text));
    vec![
        row("discover", true, "discover SLOW --method exhaustive"),
        row(
            "discover --proposer",
            true,
            "discover SLOW --method islands --proposer URL --model m --timeout 600",
        ),
        row("sweep", true, "sweep SLOW --methods exhaustive --seeds 1000"),
        row("audit", true, "audit SLOW --seeds 1000"),
        row("reproduce", true, "reproduce table2 --out OUT"),
        row("reproduce baselines", true, "reproduce baselines --out OUT"),
        row("evaluate", true, "evaluate ls-gd --family mid-cond --iterations 1000000 --instances 100"),
        row("analyze", true, "analyze sketched-precond-gd --replicates 200"),
        row("compare", true, "compare --baselines all --family mid-cond --rows 1e5 --repeats 1000"),
        row(
            "solve",
            true,
            "solve precond-weighted-sgd --matrix DATA --target y --tolerance 0 --iterations 1000000",
        ),
        row("list", false, "list operators"),
        row("show", false, "show sketched-precond-gd"),
        row("equiv", false, "equiv sketched-precond-gd sketched-precond-gd-factored"),
        row("export", false, "export all --to latex"),
        row("report", false, "report --out OUT"),
        row("resume", false, "resume LAST"),
    ]
}

#[test]
fn every_signal_in_every_command() {
    let mut tally = Tally::new("every signal in every command");
    let (mut slowest, mut late) = (("", 0.0), 0);
    let rounds = cases(1, 4) as u64;
    for (number, (name, long, arguments)) in commands().into_iter().enumerate() {
        for (place, (signal, bit)) in SIGNALS.into_iter().enumerate() {
            // The short form has one signal for each command.
            if !is_long() && place != number % 3 {
                continue;
            }
            for round in 0..rounds {
                let store = fresh(&format!("signal-{number}-{signal}-{round}.db"));
                let mut child = started(&arguments, &store, &["env"]);
                listens(&mut child, bit);
                let wait = Stream::new(15).derive(name, round).uniforms(1)[0];
                std::thread::sleep(Duration::from_secs_f64(if long { 0.3 * wait } else { 0.0 }));
                send(&child, signal);
                let begin = Instant::now();
                let said = said(child.wait_with_output().unwrap());
                let seconds = begin.elapsed().as_secs_f64();
                tally.cases += 1;
                late += usize::from(seconds > 2.0);
                if seconds > slowest.1 {
                    slowest = (name, seconds);
                }
                let told: serde_json::Value = serde_json::from_str(&said.out).unwrap_or_default();
                let interrupted = said.code == 130 && told["interrupted"] == json!(true);
                if !interrupted && (long || said.code > 2 || !told.is_object()) {
                    tally.wrong.push(format!("{name} {signal}: {said:?}"));
                }
            }
        }
    }
    tally.remark = format!("slowest: {} with {:.1} s; {late} took more than 2 s", slowest.0, slowest.1);
    tally.close();
}

/// A pipe that holds all it can, and its other end, which nobody reads.
fn full_pipe() -> (std::io::PipeReader, std::io::PipeWriter) {
    let (reader, writer) = std::io::pipe().unwrap();
    let mut filling = writer.try_clone().unwrap();
    std::thread::spawn(move || while filling.write_all(&[b'x'; 4096]).is_ok() {});
    (reader, writer)
}

#[test]
fn a_command_ends_though_nobody_reads_what_it_says() {
    let slow = written("unread.toml", lengthy(100_000));
    let command = |name: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rl4rla"));
        command.args(["audit", &slow, "--seeds", "1000", "--json", "--store", &fresh(name)]);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command
    };
    let ((_one, out), (_other, err)) = (full_pipe(), full_pipe());
    let children = [
        command("unread-out.db").stdout(out).spawn().unwrap(),
        command("unread-err.db").stderr(err).spawn().unwrap(),
    ];
    // By then there is a sign of life to be written.
    std::thread::sleep(Duration::from_millis(2500));
    for mut child in children {
        send(&child, "TERM");
        let begin = Instant::now();
        let ended = loop {
            match child.try_wait().unwrap() {
                None if begin.elapsed() < Duration::from_secs(20) => {
                    std::thread::sleep(Duration::from_millis(10))
                }
                ended => break ended,
            }
        };
        let _ = child.kill();
        assert_eq!(ended.and_then(|status| status.code()), Some(130));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn what_is_ignored_stays_ignored() {
    // As under nohup: a hang-up is nothing to such a process, and a request to terminate is.
    let slow = written("nohup.toml", lengthy(100_000));
    let arguments: Vec<String> = ["audit", &slow, "--seeds", "1000"].map(String::from).to_vec();
    let mut child = started(&arguments, &fresh("nohup.db"), &["sh", "-c", "trap '' HUP; exec \"$@\"", "sh"]);
    listens(&mut child, 15);
    send(&child, "HUP");
    std::thread::sleep(Duration::from_millis(300));
    assert!(child.try_wait().unwrap().is_none(), "it goes on");
    send(&child, "TERM");
    assert_eq!(said(child.wait_with_output().unwrap()).code, 130);
}

#[cfg(target_os = "linux")]
#[test]
fn nothing_goes_on_after_the_end_and_nothing_is_left() {
    use std::os::unix::fs::PermissionsExt;
    // A Python that never answers, and says which process it is.
    let (tools, told) = (scratch("slow-python"), scratch("slow-python.pid"));
    let _ = fs::remove_file(&told);
    fs::create_dir_all(&tools).unwrap();
    let python = tools.join("python3");
    fs::write(&python, format!("#!/bin/sh\necho $$ > {}\nsleep 1000\n", told.display())).unwrap();
    fs::set_permissions(&python, fs::Permissions::from_mode(0o755)).unwrap();
    let folder = scratch("signal-temporary");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    let path = format!("{}:{}", tools.display(), std::env::var("PATH").unwrap_or_default());
    let mut child = Command::new(env!("CARGO_BIN_EXE_rl4rla"))
        .args(["export", "ls-gd", "--to", "python", "--check", "--json"])
        .env("PATH", path)
        .env("TMPDIR", &folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let python = loop {
        let text = fs::read_to_string(&told).unwrap_or_default();
        if let Ok(number) = text.trim().parse::<u32>() {
            break number;
        }
        assert!(child.try_wait().unwrap().is_none(), "it waits for Python");
        std::thread::sleep(Duration::from_millis(10));
    };
    send(&child, "TERM");
    let mut out = String::new();
    child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
    assert_eq!((child.wait().unwrap().code(), out.trim()), (Some(130), "{\"interrupted\":true}"));
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0, "its folder is gone");
    // Whoever inherits a process that has ended reaps it in its own time.
    let gone =
        || fs::read_to_string(format!("/proc/{python}/stat")).map_or(true, |stat| stat.contains(") Z "));
    while !gone() {
        std::thread::sleep(Duration::from_millis(10));
    }
}

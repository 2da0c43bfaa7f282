//! `--proposer`: islands that ask an endpoint, here a stand-in on this machine.

mod common;

use common::{SMALL, Said, command, fresh, runs, said, scratch, timeless, written};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What the stand-in does with a question.
enum Reply {
    /// Says this.
    Says(String),
    /// Answers with this status.
    Status(u16),
    /// Answers with this status and this body.
    Refuses(u16, String),
    /// Sends this body.
    Raw(Vec<u8>),
    /// Says nothing for so long.
    Slow(Duration),
}

/// An endpoint that answers every question, told its number and its prompt. It ends with the process.
struct Standin {
    address: SocketAddr,
    asked: Arc<AtomicUsize>,
    heads: Arc<Mutex<Vec<String>>>,
}

impl Standin {
    fn new(reply: impl Fn(usize, &str) -> Reply + Send + Sync + 'static) -> Standin {
        Standin::at("127.0.0.1:0", reply)
    }

    fn at(address: &str, reply: impl Fn(usize, &str) -> Reply + Send + Sync + 'static) -> Standin {
        let listener = TcpListener::bind(address).unwrap();
        let (asked, heads) = (Arc::new(AtomicUsize::new(0)), Arc::new(Mutex::new(Vec::new())));
        let standin = Standin { address: listener.local_addr().unwrap(), asked, heads };
        let (asked, heads, reply) = (standin.asked.clone(), standin.heads.clone(), Arc::new(reply));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (asked, heads, reply) = (asked.clone(), heads.clone(), reply.clone());
                std::thread::spawn(move || {
                    let Some((head, prompt)) = question(&stream) else { return };
                    heads.lock().unwrap().push(head);
                    let answer = reply(asked.fetch_add(1, Ordering::SeqCst), &prompt);
                    respond(&stream, answer);
                });
            }
        });
        standin
    }

    fn url(&self) -> String {
        format!("http://{}/v1/chat/completions", self.address)
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

/// The head of a request, and the prompt in its body.
fn question(stream: &TcpStream) -> Option<(String, String)> {
    let (mut reader, mut head) = (BufReader::new(stream), String::new());
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).ok()? == 0 {
            return None;
        }
    }
    let length = head.to_lowercase().split_once("content-length:")?.1.lines().next()?.trim().parse().ok()?;
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let body: Value = serde_json::from_slice(&body).ok()?;
    Some((head, body["messages"][0]["content"].as_str()?.to_string()))
}

fn respond(mut stream: &TcpStream, reply: Reply) {
    let (status, body) = match reply {
        Reply::Says(text) => {
            (200, json!({ "choices": [{ "message": { "content": text } }] }).to_string().into_bytes())
        }
        Reply::Status(status) => (status, b"no".to_vec()),
        Reply::Refuses(status, body) => (status, body.into_bytes()),
        Reply::Raw(body) => (200, body),
        Reply::Slow(time) => {
            std::thread::sleep(time);
            return;
        }
    };
    let head = format!("HTTP/1.1 {status} X\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&body));
}

/// The right program for either stage of the small curriculum.
fn right(prompt: &str) -> Reply {
    let landweber = "iteration:\n  v1 = MAT_VEC_MUL(A, x)\n  v1 = VEC_VEC_SUB(v1, b)\n";
    let gradient = if prompt.contains("at most 1 more") { "  v1 = VEC_MAT_MUL(v1, A)\n" } else { "" };
    Reply::Says(format!("```rla\n{landweber}{gradient}```"))
}

/// Runs a command that may ask, without the proxies of whoever runs the tests.
fn rl4rla(arguments: &[&str]) -> Said {
    let mut command = command(arguments);
    for name in ["http_proxy", "https_proxy", "all_proxy"] {
        command.env_remove(name).env_remove(name.to_uppercase());
    }
    said(command.env("STANDIN_KEY", "open/sesame").output().unwrap())
}

/// Runs the small curriculum with an endpoint, in a store of its own.
fn discovered(name: &str, url: &str, more: &[&str]) -> (Said, String) {
    let (small, store) = (written(&format!("{name}.toml"), SMALL), fresh(&format!("{name}.db")));
    let _ = std::fs::remove_file(scratch(&format!("{name}.transcript.jsonl")));
    (again(&small, &store, url, more), store)
}

fn again(curriculum: &str, store: &str, url: &str, more: &[&str]) -> Said {
    let asked = ["discover", curriculum, "--method", "islands", "--proposer", url];
    let model = ["--model", "stand-in", "--key-env", "STANDIN_KEY", "--json", "--store", store];
    let budget = if more.contains(&"--budget") { &[][..] } else { &["--budget", "40"] };
    rl4rla(&[&asked[..], &model, budget, more].concat())
}

#[test]
fn an_endpoint_proposes_and_its_answers_are_kept() {
    let standin = Standin::new(|_, prompt| right(prompt));
    let (said, store) = discovered("asked", &standin.url(), &[]);
    let result = said.json();
    assert_eq!((said.code, &result["found"]), (0, &json!(true)), "{said:?}");
    // The root and ten walks come from the grammar, all else was asked for.
    assert_eq!(standin.asked(), 2 * 29);
    assert_eq!(result["proposer"], json!({ "model": "stand-in", "answers": 58, "bad": 0 }));
    let heads = standin.heads.lock().unwrap();
    assert!(heads.iter().all(|head| head.to_lowercase().contains("authorization: bearer open/sesame")));
    drop(heads);
    // The same run again, and the page of the first one, ask nobody, wherever they would have to.
    let small = written("asked.toml", SMALL);
    let repeated = again(&small, &store, &standin.url(), &["--threads", "1"]);
    assert_eq!(timeless(repeated.json()), timeless(result.clone()));
    let page = rl4rla(&["resume", result["run"].as_str().unwrap(), "--store", &store]);
    assert!(
        page.code == 0 && page.out.contains("stand-in gave 58 answers, 0 of them not valid programs"),
        "{page:?}"
    );
    assert_eq!(standin.asked(), 2 * 29);
    let transcript = std::fs::read_to_string(scratch("asked.transcript.jsonl")).unwrap();
    assert!(!transcript.contains("sesame"), "the key is nobody's business");
}

#[test]
fn questions_are_counted_even_if_the_answers_repeat() {
    let standin = Standin::new(|_, prompt| right(prompt));
    let (said, _) = discovered("repeats", &standin.url(), &["--budget", "4000", "--evaluations", "60"]);
    assert!(said.code <= 1, "{said:?}");
    let stages = said.json()["stages"].as_array().unwrap().len();
    assert!(standin.asked() > 0 && standin.asked() <= 60 * stages, "{} questions", standin.asked());
    // Founders of the islands have their share of the evaluations; all that is left may be asked for.
    let evaluations = said.json()["evaluations"].as_u64().unwrap();
    assert!(evaluations + standin.asked() as u64 >= 60, "{evaluations} and {}", standin.asked());
}

#[test]
fn the_key_is_shown_to_nobody_even_if_it_is_repeated() {
    let echo = |_: usize, _: &str| Reply::Says("your key is open/sesame".into());
    let (said, store) = discovered("echo", &Standin::new(echo).url(), &[]);
    let transcript = std::fs::read_to_string(scratch("echo.transcript.jsonl")).unwrap();
    assert!(transcript.contains("your key is [key]") && !transcript.contains("sesame"), "{transcript}");
    let database = std::fs::read(&store).unwrap();
    assert!(!database.windows(6).any(|bytes| bytes == b"sesame") && !format!("{said:?}").contains("sesame"));
    // Refusals are repeated to the user; a part of the key would do as much harm as all of it.
    let ways = ["open/sesame", r"open\/sesame", r"open\u002fsesame", r"\u006fpen\\\/sesame"];
    for (padding, key) in [0, 195].into_iter().flat_map(|padding| ways.map(|key| (padding, key))) {
        let body = format!("{}bad key {key}", " .".repeat(padding));
        let refusal = Standin::new(move |_, _| Reply::Refuses(401, body.clone()));
        let (said, _) = discovered("refusal", &refusal.url(), &[]);
        assert!(said.code == 2 && said.err.contains("status 401"), "{said:?}");
        assert!(
            ["open", "sesa"].iter().all(|part| !said.err.contains(part) && !said.out.contains(part)),
            "{said:?}"
        );
    }
}

#[test]
fn bad_answers_are_counted_and_passed_over() {
    let standin = Standin::new(|number, _| match number % 8 {
        0 => Reply::Raw(b"\xff\xfe{".to_vec()),
        1 => Reply::Says("I cannot do that.".into()),
        2 => Reply::Says("iteration:\n  v1 = MAT_VEC_MUL(A, nothing)\n".into()),
        3 => Reply::Says("setup:\n  R1 = HHQR(A)\n".into()),
        4 => Reply::Says(format!("iteration:\n{}", "  v1 = VEC_VEC_ADD(v1, v1)\n".repeat(1000))),
        5 => Reply::Raw(vec![b' '; 3 << 20]),
        6 => Reply::Says(String::new()),
        _ => Reply::Raw(b"[]".to_vec()),
    });
    let (said, _) = discovered("bad", &standin.url(), &["--budget", "1000"]);
    let result = said.json();
    assert!(said.code <= 1, "{said:?}");
    let stages = result["stages"].as_array().unwrap();
    assert!(stages.iter().all(|stage| stage["stop"] == "budget" && stage["playouts"] == 61), "{result}");
    let all = 50 * stages.len();
    assert_eq!(result["proposer"], json!({ "model": "stand-in", "answers": all, "bad": all }));
}

#[test]
fn trouble_that_passes_is_waited_for() {
    let standin = Standin::new(|number, prompt| match number {
        0 => Reply::Status(500),
        1 => Reply::Status(429),
        2 => Reply::Slow(Duration::from_secs(5)),
        _ => right(prompt),
    });
    let (said, _) = discovered("passing", &standin.url(), &["--timeout", "1"]);
    assert_eq!((said.code, &said.json()["proposer"]["bad"]), (0, &json!(0)), "{said:?}");
}

#[test]
fn without_an_endpoint_the_run_waits() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let url = format!("http://{free}/v1/chat/completions");
    let (said, store) = discovered("refused", &url, &[]);
    assert_eq!(said.code, 2, "{said:?}");
    assert!(said.err.contains("cannot be reached") && said.err.contains("rl4rla resume"), "{said:?}");
    assert_eq!(runs(&store)[0]["status"], "interrupted");
    // As soon as someone is there, it goes on to where it would have come.
    let standin = Standin::at(&free, |_, prompt| right(prompt));
    let resumed = rl4rla(&["resume", "LAST", "--json", "--store", &store]);
    let calm = again(&written("refused.toml", SMALL), &fresh("calm.db"), &standin.url(), &[]);
    assert_eq!((resumed.code, timeless(resumed.json())), (0, timeless(calm.json())));
    let other = Standin::new(|_, _| Reply::Status(401));
    let (said, _) = discovered("unauthorised", &other.url(), &[]);
    assert!(said.code == 2 && said.err.contains("status 401") && other.asked() == 1, "{said:?}");
}

#[test]
fn only_islands_ask() {
    let small = written("who.toml", SMALL);
    for (arguments, says) in [
        (vec!["--method", "best", "--proposer", "http://x", "--model", "m"], "--method islands"),
        (vec!["--method", "islands", "--proposer", "http://x"], "--model"),
        (vec!["--method", "islands", "--model", "m"], "--proposer"),
        (
            vec!["--method", "islands", "--proposer", "http://x", "--model", "m", "--temperature", "nan"],
            "--temperature",
        ),
    ] {
        let said = rl4rla(&[&["discover", &small, "--store", &fresh("who.db")], &arguments[..]].concat());
        assert!(said.code == 2 && said.err.contains(says), "{said:?}");
    }
}

#[test]
#[cfg(not(feature = "tls"))]
fn an_https_proposer_is_refused_without_tls() {
    let (said, store) = discovered("encrypted", "https://127.0.0.1:9/v1/chat/completions", &[]);
    assert_eq!(said.code, 2, "{said:?}");
    assert!(said.err.contains("has no TLS") && said.err.contains("--features tls"), "{said:?}");
    assert!(!std::path::Path::new(&store).exists(), "no run is started");
}

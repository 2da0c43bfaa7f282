//! Runs that were started from the page: each is a process of its own, which ends when this one does.
//!
//! A process that has to stop finds its standard input closed. That happens too when the server is killed, so no run goes
//! on unseen, and everything it has computed is in the store.

use crate::command::refusal;
use crate::error::ApiError;
use crate::events::Events;
use crate::server::ServerSettings;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::process::{Child, ChildStdin, Command};

/// Runs at a time.
const MOST: usize = 16;

/// The line by which a process tells which run it works on.
const RUN: &str = "run ";

/// The runs that this server has started.
pub struct Jobs {
    command: PathBuf,
    store: PathBuf,
    events: Events,
    jobs: Mutex<BTreeMap<u64, Job>>,
}

/// A process.
struct Job {
    /// The run it works on, once it has told.
    run: Option<String>,
    /// Closing it stops the process.
    input: Option<ChildStdin>,
    /// Why it failed, once it has.
    failure: Option<String>,
    over: bool,
}

impl Jobs {
    /// None yet.
    pub fn new(settings: &ServerSettings, events: Events) -> Arc<Jobs> {
        let ServerSettings { command, store, .. } = settings.clone();
        Arc::new(Jobs { command, store, events, jobs: Mutex::default() })
    }

    fn jobs(&self) -> MutexGuard<'_, BTreeMap<u64, Job>> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a process of this server works on a run.
    pub fn works_on(&self, run: &str) -> bool {
        self.jobs().values().any(|job| !job.over && job.run.as_deref() == Some(run))
    }

    /// Why the last process that worked on a run failed, if it did.
    pub fn failure_of(&self, run: &str) -> Option<String> {
        let jobs = self.jobs();
        let last = jobs.values().rev().find(|job| job.run.as_deref() == Some(run));
        last.and_then(|job| job.failure.clone())
    }

    /// Starts a command that works on a run; returns its number.
    pub fn start(self: &Arc<Jobs>, words: &[OsString]) -> Result<u64, ApiError> {
        let mut jobs = self.jobs();
        if jobs.values().filter(|job| !job.over).count() >= MOST {
            return Err(
                ApiError::conflict(format!("{MOST} runs go on already")).advise("stop one of them first")
            );
        }
        let mut child = Command::new(&self.command)
            .arg("--json")
            .args(["--quiet", "--until-input-ends", "--store"])
            .arg(&self.store)
            .args(words)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| ApiError::inside(format!("the command cannot be started: {error}")))?;
        let number = jobs.last_key_value().map_or(1, |(last, _)| last + 1);
        let input = child.stdin.take();
        jobs.insert(number, Job { run: None, input, failure: None, over: false });
        drop(jobs);
        self.tell(number, "started", None);
        let all = self.clone();
        tokio::spawn(async move {
            let failure = all.follow(number, child).await;
            all.ended(number, failure);
        });
        Ok(number)
    }

    /// Reads what a process says until it ends; why it failed, if it did.
    async fn follow(&self, number: u64, mut child: Child) -> Option<(String, Option<String>)> {
        let (out, err) = (child.stdout.take(), child.stderr.take());
        let document = async {
            let mut text = String::new();
            if let Some(mut out) = out {
                // What cannot be read is no document.
                let _ = out.read_to_string(&mut text).await;
            }
            serde_json::from_str::<Value>(&text).unwrap_or_default()
        };
        let remarks = async {
            let mut lines = BufReader::new(err?).lines();
            let mut last = None;
            while let Ok(Some(line)) = lines.next_line().await {
                match line.strip_prefix(RUN) {
                    Some(run) => self.began(number, run.trim()),
                    None => last = Some(line),
                }
            }
            last
        };
        let (document, remark) = tokio::join!(document, remarks);
        let status = child.wait().await;
        let (message, advice) = refusal(&document);
        match status.map(|status| status.code()) {
            // 1: the answer is no; 130: interrupted, and saved.
            Ok(Some(0 | 1 | 130)) => None,
            Ok(code) => {
                let ended = || match code {
                    Some(code) => format!("the command ended with exit code {code}"),
                    None => "the command was killed; what it had computed is saved".into(),
                };
                Some((message.or(remark).unwrap_or_else(ended), advice))
            }
            Err(error) => Some((error.to_string(), None)),
        }
    }

    fn began(&self, number: u64, run: &str) {
        if let Some(job) = self.jobs().get_mut(&number) {
            job.run = Some(run.into());
        }
        self.tell(number, "running", None);
    }

    fn ended(&self, number: u64, failure: Option<(String, Option<String>)>) {
        if let Some(job) = self.jobs().get_mut(&number) {
            (job.over, job.input) = (true, None);
            job.failure = failure.as_ref().map(|(message, _)| message.clone());
        }
        self.tell(number, if failure.is_some() { "failed" } else { "ended" }, failure);
    }

    fn tell(&self, number: u64, state: &str, failure: Option<(String, Option<String>)>) {
        let run = self.jobs().get(&number).and_then(|job| job.run.clone());
        let (error, advice) = failure.map_or((None, None), |(message, advice)| (Some(message), advice));
        self.events.tell(
            "job",
            &json!({ "job": number, "state": state, "run": run, "error": error, "advice": advice }),
        );
    }

    /// Asks the process that works on a run to save its work and end; false if it is none of ours.
    pub fn stop(&self, run: &str) -> bool {
        let mut jobs = self.jobs();
        let job = jobs.values_mut().find(|job| !job.over && job.run.as_deref() == Some(run));
        job.is_some_and(|job| {
            job.input = None;
            true
        })
    }

    /// Stops all processes, and waits for them.
    pub async fn stop_all(&self, longest: Duration) {
        self.jobs().values_mut().for_each(|job| job.input = None);
        let end = Instant::now() + longest;
        while Instant::now() < end && self.jobs().values().any(|job| !job.over) {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

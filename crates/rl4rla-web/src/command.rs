//! Questions that the command answers: each is a process, so that one that takes too long can be ended.

use crate::error::ApiError;
use crate::server::ServerSettings;
use serde_json::Value;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use tokio::process::Command;
use tokio::sync::Semaphore;
use tokio::time::timeout;

/// How long a question may take.
const LONGEST: Duration = Duration::from_secs(100);

/// Most bytes of an argument: the system has a limit too.
const ARGUMENT: usize = 100_000;

/// The command.
pub struct Commands {
    command: PathBuf,
    store: PathBuf,
    places: Semaphore,
}

impl Commands {
    /// The command of this server, asked so many questions at a time; others wait.
    pub fn new(settings: &ServerSettings, together: usize) -> Commands {
        let ServerSettings { command, store, .. } = settings.clone();
        Commands { command, store, places: Semaphore::new(together) }
    }

    /// Runs a command with options, and with what follows them, which is never taken for an option: the document that it
    /// prints, also if its answer is no.
    pub async fn ask(&self, options: &[&str], rest: &[&str]) -> Result<Value, ApiError> {
        if rest.iter().any(|word| word.len() > ARGUMENT || word.contains('\0')) {
            return Err(ApiError::bad("the text is too long, or no text"));
        }
        let rest: Vec<&OsStr> = rest.iter().map(OsStr::new).collect();
        self.answer(options, &rest).await
    }

    /// The same about a folder, whose name may be no text.
    pub async fn ask_about(&self, options: &[&str], folder: &Path) -> Result<Value, ApiError> {
        self.answer(options, &[folder.as_os_str()]).await
    }

    async fn answer(&self, options: &[&str], rest: &[&OsStr]) -> Result<Value, ApiError> {
        let failed = |error: std::io::Error| ApiError::inside(format!("the command cannot be run: {error}"));
        let _place = self.places.acquire().await.map_err(|_| ApiError::inside("the server ends"))?;
        let output = Command::new(&self.command)
            .args(options)
            .args(["--json", "--quiet", "--store"])
            .arg(&self.store)
            .arg("--")
            .args(rest)
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .output();
        let Ok(output) = timeout(LONGEST, output).await else {
            let message = format!("this took more than {} s", LONGEST.as_secs());
            return Err(ApiError::refused(message, Some("the same command in a terminal".into())));
        };
        let output = output.map_err(failed)?;
        let text = String::from_utf8_lossy(&output.stdout);
        match (output.status.code(), serde_json::from_str::<Value>(&text)) {
            (Some(0 | 1), Ok(document)) => Ok(document),
            (Some(2), Ok(document)) => {
                let (message, advice) = refusal(&document);
                Err(ApiError::refused(message.unwrap_or_default(), advice))
            }
            // Exports are text.
            (Some(0 | 1), Err(_)) => Ok(Value::String(text.into_owned())),
            _ => Err(ApiError::inside(last_line(&output.stderr))),
        }
    }
}

/// What is wrong and what to do, in the words of a command that was refused.
pub fn refusal(document: &Value) -> (Option<String>, Option<String>) {
    let word = |key: &str| document["error"][key].as_str().map(String::from);
    (word("message"), word("advice"))
}

fn last_line(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    text.lines().last().map_or("the command was ended".into(), String::from)
}

/// Words of a command line.
pub fn words(words: &[&str]) -> Vec<OsString> {
    words.iter().map(|word| OsStr::new(word).into()).collect()
}

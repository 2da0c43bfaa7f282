//! The transcript: every question with its answer, a line of JSON each.

use crate::failure::Failure;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Questions and answers of all runs that share a file. Runs with different seeds have answers of their own, and so has a
/// question put a second time in a run.
pub struct Transcript {
    path: PathBuf,
    seed: u64,
    answers: HashMap<(String, u64), String>,
    /// Opened when there is something to write.
    file: Option<File>,
}

impl Transcript {
    /// Reads what was said to runs with this seed. A line that is none, because its writer was killed, is passed over.
    pub fn open(path: PathBuf, seed: u64) -> Result<Transcript, Failure> {
        let bytes = match std::fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(trouble(&path, &error)),
        };
        let read = |line: &[u8]| {
            let line: Value = serde_json::from_slice(line).ok()?;
            let answer = line["answer"].as_str().filter(|_| line["seed"] == seed)?.to_string();
            Some(((line["question"].to_string(), line["time"].as_u64()?), answer))
        };
        let answers = bytes.split(|&byte| byte == b'\n').filter_map(read).collect();
        Ok(Transcript { path, seed, answers, file: None })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What was answered when this was asked for this time in a run, counted from 0.
    pub fn answer(&self, question: &str, time: u64) -> Option<&String> {
        self.answers.get(&(question.to_string(), time))
    }

    /// Writes down an answer, before anyone uses it.
    pub fn add(&mut self, question: &Value, time: u64, answer: &str) -> Result<(), Failure> {
        let line = json!({ "seed": self.seed, "question": question, "time": time, "answer": answer });
        self.write(&line.to_string()).map_err(|error| trouble(&self.path, &error))?;
        self.answers.insert((question.to_string(), time), answer.to_string());
        Ok(())
    }

    fn write(&mut self, line: &str) -> io::Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            None => {
                let mut file = OpenOptions::new().create(true).append(true).open(&self.path)?;
                // The last line may have been cut off.
                file.write_all(b"\n")?;
                self.file.insert(file)
            }
        };
        file.write_all(format!("{line}\n").as_bytes())
    }
}

fn trouble(path: &Path, error: &io::Error) -> Failure {
    Failure::new(format!("the transcript {}: {error}", path.display())).advise("--transcript FILE")
}

//! The transcript: every question with its answer, one line of JSON each.

use crate::failure::Failure;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Questions and answers of all runs that share a file. Answers are separate for each seed, and for repeated
/// questions within a run.
pub struct Transcript {
    path: PathBuf,
    seed: u64,
    answers: HashMap<(String, u64), String>,
    /// Opened on the first write.
    file: Option<File>,
}

impl Transcript {
    /// Reads the answers for this seed. An incomplete line, left by a killed process, is skipped. A file with only
    /// other lines is something else, such as the table of a curriculum, and is rejected.
    pub fn open(path: PathBuf, seed: u64) -> Result<Transcript, Failure> {
        let bytes = match std::fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(trouble(&path, &error)),
        };
        let read = |line: &[u8]| {
            let line: Value = serde_json::from_slice(line).ok()?;
            let answer = line["answer"].as_str()?.to_string();
            Some((line["seed"].clone(), (line["question"].to_string(), line["time"].as_u64()?), answer))
        };
        let lines = || bytes.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
        let said: Vec<_> = lines().filter_map(read).collect();
        // An incomplete line starts like a complete one.
        let half = |line: &[u8]| line.starts_with(b"{") && serde_json::from_slice::<Value>(line).is_err();
        if said.is_empty() && lines().any(|line| !line.is_empty() && !half(line)) {
            let message = format!("{} is not a transcript and would be overwritten", path.display());
            return Err(Failure::new(message).advise("--transcript with another path"));
        }
        let answers = said.into_iter().filter(|(of, ..)| *of == seed).map(|(_, put, answer)| (put, answer));
        Ok(Transcript { path, seed, answers: answers.collect(), file: None })
    }

    /// Whether it has no answer for this seed.
    pub fn is_empty(&self) -> bool {
        self.answers.is_empty()
    }

    /// The answer to this question when asked for the given time in a run, counted from 0.
    pub fn answer(&self, question: &str, time: u64) -> Option<&String> {
        self.answers.get(&(question.to_string(), time))
    }

    /// Writes an answer before it is used.
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
                // The last line may be incomplete.
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

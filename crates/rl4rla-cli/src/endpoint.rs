//! A proposer behind an OpenAI-compatible chat-completions endpoint, for `--method islands --proposer URL`.
//!
//! Every answer is written to a transcript, and questions answered there are not asked again: with the transcript a
//! run is a function of its seed, and can be repeated and resumed without the endpoint.

mod prompt;
mod redact;
mod transcript;

use crate::failure::Failure;
use crate::interrupt::{pause, stopped, unless_stopped};
use rl4rla::discovery::{Commission, Proposer};
use rl4rla::experiment::ProposerSettings;
use rl4rla::program::{Document, MAX_BYTES, Program, Update};
use rl4rla::record::ProposerRecord;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;
use transcript::Transcript;

/// Number of attempts per question before the endpoint counts as unreachable.
const TRIES: u32 = 5;

/// Delay before the second attempt; it doubles from then on.
const WAIT: Duration = Duration::from_millis(250);

/// Shorter keys are not secret, and redacting them would garble messages.
const SHORTEST_KEY: usize = 4;

/// The endpoint with its transcript.
pub struct Endpoint {
    agent: ureq::Agent,
    proposer: ProposerSettings,
    key: Option<String>,
    transcript: Transcript,
    /// How often each question was asked in this run.
    put: HashMap<String, u64>,
    answers: u64,
    bad: u64,
    failure: Option<Failure>,
}

impl Endpoint {
    /// Reads the transcript, by default next to the store; the endpoint is not contacted yet.
    pub fn new(proposer: &ProposerSettings, store: &Path, seed: u64) -> Result<Endpoint, Failure> {
        let config = ureq::Agent::config_builder()
            .timeout_global(Some(Duration::from_secs(proposer.timeout)))
            .http_status_as_error(false)
            .user_agent(format!("rl4rla/{}", rl4rla::VERSION));
        let beside = || store.with_extension("transcript.jsonl");
        let endpoint = Endpoint {
            agent: config.build().into(),
            key: std::env::var(&proposer.key_env).ok().filter(|key| !key.is_empty()),
            transcript: Transcript::open(proposer.transcript.clone().unwrap_or_else(beside), seed)?,
            proposer: proposer.clone(),
            put: HashMap::new(),
            answers: 0,
            bad: 0,
            failure: None,
        };
        // With a transcript all answers may be known; without one the first question needs the endpoint.
        if endpoint.transcript.is_empty() {
            endpoint.connectable()?;
        }
        Ok(endpoint)
    }

    /// Rejects a URL that this build cannot connect to.
    fn connectable(&self) -> Result<(), Failure> {
        if cfg!(feature = "tls") || !self.proposer.url.starts_with("https://") {
            return Ok(());
        }
        let message = "this build has no TLS, which an https:// proposer needs";
        let advice =
            "install rl4rla with `--features tls`, or give the http:// address of a proposer on this machine";
        Err(Failure::new(message).advise(advice))
    }

    /// The error that stopped it, if any.
    pub fn failure(&mut self) -> Option<Failure> {
        self.failure.take()
    }

    /// Its statistics.
    pub fn record(&self) -> ProposerRecord {
        ProposerRecord { model: self.proposer.model.clone(), answers: self.answers, bad: self.bad }
    }

    /// The answer to a question, from the transcript or from the endpoint.
    fn answer(&mut self, question: &Value) -> Result<String, Failure> {
        let text = question.to_string();
        let put = self.put.entry(text.clone()).or_default();
        let time = *put;
        *put += 1;
        if let Some(answer) = self.transcript.answer(&text, time) {
            return Ok(answer.clone());
        }
        let answer = self.fetch(&text)?;
        self.transcript.add(question, time, &answer)?;
        Ok(answer)
    }

    /// Asks until there is an answer. A malformed answer becomes an empty one.
    fn fetch(&self, question: &str) -> Result<String, Failure> {
        self.connectable()?;
        let mut trouble = String::new();
        for attempt in 0..TRIES {
            if attempt > 0 {
                pause(WAIT * 2u32.pow(attempt - 1));
            }
            let (request, question) = (self.request(), question.to_string());
            let Some(answered) = unless_stopped(move || post(request, &question)) else { break };
            match answered {
                Ok((200..300, text)) => return Ok(self.redacted(&content(&text).unwrap_or_default())),
                Ok((status @ (429 | 500..600), _)) => trouble = format!("it answers with status {status}"),
                Ok((status, text)) => {
                    let text: String = text.trim().chars().filter(|c| !c.is_control()).collect();
                    // Redacted before truncation, so that no part of the key is left.
                    let said: String = self.redacted(&text).chars().take(200).collect();
                    let message = format!("{} answers with status {status}: {said}", self.proposer.url);
                    return Err(Failure::new(message));
                }
                Err(ureq::Error::BodyExceedsLimit(_)) => return Ok(String::new()),
                Err(error) => trouble = self.redacted(&error.to_string()),
            }
        }
        Err(Failure::new(format!("{} cannot be reached: {trouble}", self.proposer.url)))
    }

    /// The text without the API key: some endpoints echo requests, and answers are stored and shown.
    fn redacted(&self, said: &str) -> String {
        match self.key.as_deref().filter(|key| key.len() >= SHORTEST_KEY) {
            Some(key) => redact::without(key, said),
            None => said.into(),
        }
    }

    fn request(&self) -> Request {
        let request = self.agent.post(&self.proposer.url).content_type("application/json");
        match &self.key {
            Some(key) => request.header("authorization", format!("Bearer {key}")),
            None => request,
        }
    }
}

type Request = ureq::RequestBuilder<ureq::typestate::WithBody>;

fn post(request: Request, question: &str) -> Result<(u16, String), ureq::Error> {
    let mut response = request.send(question)?;
    let body = response.body_mut().with_config().limit(MAX_BYTES as u64).read_to_vec()?;
    Ok((response.status().as_u16(), String::from_utf8_lossy(&body).into_owned()))
}

/// The message in a completion.
fn content(completion: &str) -> Option<String> {
    let completion: Value = serde_json::from_str(completion).ok()?;
    Some(completion["choices"][0]["message"]["content"].as_str()?.to_string())
}

/// The program in an answer, in a code fence or not.
fn program(answer: &str, update: Update) -> Option<Program> {
    let fenced = answer.split("```").nth(1).and_then(|block| block.split_once('\n'));
    let document: Document = fenced.map_or(answer, |(_, block)| block).parse().ok()?;
    // A header without an update means that of the stage.
    let meant = document.update == update || document.update == Update::default();
    meant.then_some(document.program)
}

impl Proposer for Endpoint {
    fn write(&mut self, commission: &Commission) -> Option<Vec<Program>> {
        let question = json!({
            "model": self.proposer.model,
            "temperature": self.proposer.temperature,
            "messages": [{ "role": "user", "content": prompt::text(commission) }],
        });
        match self.answer(&question) {
            Ok(answer) => {
                self.answers += 1;
                let program = program(&answer, commission.stage.grammar.signature.update);
                self.bad += u64::from(program.is_none());
                Some(program.into_iter().collect())
            }
            Err(failure) => {
                // After an interrupt there is no error to report.
                self.failure = (!stopped()).then_some(failure);
                None
            }
        }
    }

    fn refused(&mut self, _: &Program) {
        self.bad += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_found_in_answers() {
        let plain = "iteration:\n  v1 = VEC_VEC_ADD(x, b)\n";
        let read = |answer: &str| program(answer, Update::Subtract);
        assert_eq!(read(plain), plain.parse().ok());
        assert_eq!(read(&format!("Sure!\n```rla\n{plain}```\nThat is it.")), plain.parse().ok());
        for bad in
            ["Sure!", "```", "``````", "```rla", "update: assign\niteration:\n", "iteration:\n  v1 = \u{0}"]
        {
            assert_eq!(read(bad), None, "{bad}");
        }
        assert!(program(plain, Update::Assign).is_some());
    }

    #[test]
    fn completions_may_be_anything() {
        let good = r#"{"choices":[{"message":{"content":"x"}}]}"#;
        assert_eq!(content(good).as_deref(), Some("x"));
        for bad in ["", "[]", "{}", r#"{"choices":[]}"#, r#"{"choices":[{"message":{"content":null}}]}"#] {
            assert_eq!(content(bad), None, "{bad}");
        }
    }
}

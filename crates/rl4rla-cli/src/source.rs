//! A PROGRAM argument: a catalogue name or a path to a `.rla` file.

use crate::failure::Failure;
use rl4rla::program::{CATALOGUE, Document, Entry, MAX_BYTES, Section, nearest};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// A program with the name it was asked for.
pub struct Source {
    /// As typed.
    pub name: String,
    /// The program and what is known of it.
    pub document: Document,
}

impl Source {
    /// Finds a program.
    pub fn find(name: &str) -> Result<Source, Failure> {
        let document = match Entry::named(name) {
            Some(entry) => entry.document.clone(),
            None => read(name)?,
        };
        Ok(Source { name: name.into(), document })
    }

    /// Its title, or else the name it was asked for.
    pub fn title(&self) -> &str {
        if self.document.title.is_empty() { &self.name } else { &self.document.title }
    }
}

fn read(name: &str) -> Result<Document, Failure> {
    let path = Path::new(name);
    if !path.exists() {
        let names: Vec<&str> = CATALOGUE.iter().map(|entry| entry.name).collect();
        let failure =
            Failure::new(format!("there is no program `{name}`: no such catalogue name, and no such file"));
        return Err(match nearest(name, names.iter().copied()) {
            Some(meant) => failure.advise(format!("`{meant}`; `rl4rla list programs` shows all")),
            None => failure.advise("`rl4rla list programs` shows the names; a path to a .rla file works too"),
        });
    }
    let unreadable = |error: std::io::Error| {
        Failure::new(format!("cannot read {name}: {error}")).advise("check the permissions of the file")
    };
    // Asked before opening, because opening a pipe waits for a writer.
    if !path.metadata().map_err(unreadable)?.is_file() {
        let what = if path.is_dir() { "a folder" } else { "not a plain file" };
        return Err(Failure::new(format!("{name} is {what}")).advise("a path to a .rla file"));
    }
    // One byte more than allowed is enough to know; a huge file is never read.
    let mut bytes = Vec::new();
    File::open(path)
        .map_err(unreadable)?
        .take(MAX_BYTES as u64 + 1)
        .read_to_end(&mut bytes)
        .map_err(unreadable)?;
    if bytes.len() > MAX_BYTES {
        return Err(Failure::new(format!(
            "{name} is larger than {} KiB; no program is that long",
            MAX_BYTES >> 10
        ))
        .advise("check that this is a .rla program and not data"));
    }
    let example = "a .rla program is plain text; `rl4rla show ls-gd` prints one";
    let text = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Failure::new(format!("{name} is not text: byte {at} is not UTF-8")).advise(example)
    })?;
    // Control characters would reach the terminal with the title.
    if let Some(at) = text.find(|c: char| c.is_control() && !c.is_whitespace()) {
        let message = format!("{name} is not text: byte {at} is a control character");
        return Err(Failure::new(message).advise(example));
    }
    let document: Document = text.parse().map_err(|error| {
        Failure::new(format!("{name}, {error}")).advise("`rl4rla show ls-gd` prints a program")
    })?;
    if Section::BOTH.into_iter().all(|section| document.program.section(section).is_empty()) {
        return Err(Failure::new(format!("{name} holds no instructions")).advise(example));
    }
    Ok(document)
}

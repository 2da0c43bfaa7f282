//! A PROGRAM argument: a catalogue name, a path to a `.rla` file, a run in the store, or the text of a program.

use crate::args::again;
use crate::failure::Failure;
use rl4rla::curriculum::Curriculum;
use rl4rla::problem::Family;
use rl4rla::program::{Document, Entry, MAX_BYTES, Section, nearest};
use rl4rla::record::StageRecord;
use rl4rla::reward::Protocol;
use rl4rla::store::{RunId, Store};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// The name of a program that was given as text, with a line break in it.
const GIVEN: &str = "the program";

/// A program with the name it was requested by.
pub struct NamedProgram {
    /// As typed, converted to text.
    pub name: String,
    /// As typed, byte for byte.
    pub typed: OsString,
    /// The program and its file header.
    pub document: Document,
    /// Its origin.
    pub origin: ProgramOrigin,
}

/// The origin of a program.
#[derive(Default)]
pub struct ProgramOrigin {
    /// Kinds and names from the outside in, such as `("run", "3f9a2c1d")` and `("stage", "ls-gd")`.
    pub parts: Vec<(&'static str, String)>,
    /// The protocol of the stage that discovered it.
    pub protocol: Option<Protocol>,
    /// Whether it is a user's file.
    pub file: bool,
}

impl ProgramOrigin {
    fn of(what: &'static str, which: &str) -> ProgramOrigin {
        ProgramOrigin { parts: vec![(what, which.into())], ..ProgramOrigin::default() }
    }
}

impl NamedProgram {
    /// Finds a program; runs are looked up in `store`.
    pub fn find(typed: impl AsRef<OsStr>, store: &Path) -> Result<NamedProgram, Failure> {
        let typed = typed.as_ref();
        let name = &*typed.to_string_lossy();
        if name.contains('\n') {
            let (name, document) = (GIVEN, parsed(GIVEN, name)?);
            let origin = ProgramOrigin::of("text", name);
            return Ok(NamedProgram { name: name.into(), typed: typed.into(), document, origin });
        }
        let (document, origin) = match (Entry::named(name), name.strip_prefix("run:")) {
            (Some(entry), _) => (entry.document.clone(), ProgramOrigin::of("catalogue entry", name)),
            (None, Some(run)) => discovered(run, store)?,
            (None, None) => (
                read(name, Path::new(typed))?,
                ProgramOrigin { file: true, ..ProgramOrigin::of("file", name) },
            ),
        };
        Ok(NamedProgram { name: name.into(), typed: typed.into(), document, origin })
    }

    /// The argument as typed, with the id of the run in place of `last` and the like, which change their meaning.
    pub fn lasting(&self) -> OsString {
        let run = self.origin.parts.iter().find(|(what, _)| *what == "run").map(|(_, id)| id);
        let (Some(run), Some(rest)) = (run, self.name.strip_prefix("run:")) else {
            return self.typed.clone();
        };
        let which = rest.find(['/', '#']).map_or("", |end| &rest[end..]);
        format!("run:{run}{which}").into()
    }

    /// The file it was read from, if any.
    pub fn file(&self) -> Option<&Path> {
        self.origin.file.then_some(Path::new(&self.typed))
    }

    /// Its title, or else the name it was requested by.
    pub fn title(&self) -> &str {
        if self.document.title.is_empty() { &self.name } else { &self.document.title }
    }
}

/// The run with this id or prefix of an id, or the last one.
pub fn wanted(store: &Store, name: &str) -> Result<RunId, Failure> {
    if name.eq_ignore_ascii_case("last")
        && let Some(row) = store.runs()?.pop()
    {
        return Ok(row.id);
    }
    Ok(store.find(name)?)
}

/// The program that a run discovered, in its last stage or in the one named.
fn discovered(name: &str, path: &Path) -> Result<(Document, ProgramOrigin), Failure> {
    let store = Store::open_read_only(path)?;
    let (name, offered) = name.split_once('#').map_or((name, None), |(name, place)| (name, Some(place)));
    let (id, stage) = name.split_once('/').map_or((name, None), |(id, stage)| (id, Some(stage)));
    let id = wanted(&store, id)?;
    let stages = store.stages(&id)?;
    let names: Vec<&str> = stages.iter().map(|stage| stage.name.as_str()).collect();
    let place = match stage {
        None => names.len().checked_sub(1),
        Some(wanted) => names.iter().position(|name| *name == wanted),
    };
    let Some(place) = place else {
        let failure = match stage {
            Some(stage) => Failure::new(format!("run {id} has no finished stage `{stage}`")),
            None => Failure::new(format!("run {id} has not finished a stage yet")),
        };
        return Err(match names.is_empty() {
            true => failure.advise(again(&format!("resume {id}"), path)),
            false => failure.advise(format!("one of {}", names.join(", "))),
        });
    };
    let wanted = wanted_of(&stages[place], offered).map_err(|why| {
        Failure::new(format!("stage {} of run {id} {why}", names[place])).advise(format!("run:{id}"))
    })?;
    let mut document: Document = wanted
        .parse()
        .map_err(|error| Failure::new(format!("run {id} holds a program that cannot be read: {error}")))?;
    let which = offered.map_or(String::new(), |place| format!(" #{place}"));
    document.title = format!("{}{which}, discovered by run {id}", names[place]);
    let run = store.run(&id)?;
    let parts = vec![
        ("run", id.to_string()),
        ("curriculum", run.row.curriculum.clone()),
        ("stage", names[place].into()),
        ("method", run.row.method.clone()),
        ("seed", run.row.seed.to_string()),
    ];
    let mut origin = ProgramOrigin { parts, ..ProgramOrigin::default() };
    if let Ok(curriculum) = Curriculum::outline(&run.row.curriculum, &run.spec)
        && let Some((stage, _)) = curriculum.stages.get(place)
    {
        let family = stage.families[0].kind.info().name;
        // The family of a user's table has no name that other commands know.
        document.family = if Family::named(family).is_some() { family.into() } else { String::new() };
        document.update = stage.grammar.signature.update;
        origin.protocol = Some(stage.protocol.clone());
    }
    Ok((document, origin))
}

/// The chosen program of a stage, or one of its Pareto front by its number, from 1.
fn wanted_of<'a>(stage: &'a StageRecord, offered: Option<&str>) -> Result<&'a str, String> {
    let Some(offered) = offered else {
        return stage.program.as_deref().ok_or_else(|| "found no program".into());
    };
    let place = offered.parse::<usize>().ok().and_then(|place| stage.front.get(place.checked_sub(1)?));
    place.map(|entry| entry.program.as_str()).ok_or_else(|| match stage.front.len() {
        0 => "has no Pareto front".into(),
        count => format!("has no #{offered} on its Pareto front, only #1 to #{count}"),
    })
}

fn read(name: &str, path: &Path) -> Result<Document, Failure> {
    if !path.exists() {
        let names: Vec<&str> = Entry::known().map(|entry| entry.name).collect();
        let failure = Failure::new(format!("no program `{name}`: neither a catalogue name nor a file"));
        return Err(match nearest(name, names.iter().copied()) {
            Some(meant) => failure.advise(format!("`{meant}`; `rl4rla list programs` shows all")),
            None => failure.advise("`rl4rla list programs` shows the names; a path to a .rla file works too"),
        });
    }
    let unreadable = |error: std::io::Error| {
        Failure::new(format!("cannot read {name}: {error}")).advise("check the permissions of the file")
    };
    // Checked before opening, because opening a pipe would block until it has a writer.
    if !path.metadata().map_err(unreadable)?.is_file() {
        let what = if path.is_dir() { "a folder" } else { "not a plain file" };
        return Err(Failure::new(format!("{name} is {what}")).advise("a path to a .rla file"));
    }
    // One byte more than allowed is enough to know; a huge file is never read completely.
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
    parsed(name, &text)
}

/// The program with this text.
fn parsed(name: &str, text: &str) -> Result<Document, Failure> {
    let example = "a .rla program is plain text; `rl4rla show ls-gd` prints one";
    // Control characters would reach the terminal with the title.
    if let Some(at) = text.find(|c: char| c.is_control() && !c.is_whitespace()) {
        let message = format!("{name} is not text: byte {at} is a control character");
        return Err(Failure::new(message).advise(example));
    }
    let document: Document = text.parse().map_err(|error| {
        Failure::new(format!("{name}, {error}")).advise("`rl4rla show ls-gd` prints a program")
    })?;
    if Section::BOTH.into_iter().all(|section| document.program.section(section).is_empty()) {
        return Err(Failure::new(format!("{name} contains no instructions")).advise(example));
    }
    Ok(document)
}

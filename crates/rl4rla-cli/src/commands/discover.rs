//! `rl4rla discover` and `rl4rla resume`.

pub mod live;
pub mod present;

use crate::args::{Discover, Resume, Searching, Shared};
use crate::curriculum;
use crate::failure::Failure;
use crate::page::Page;
use live::Live;
use present::{Meta, page};
use rl4rla::curriculum::{Curriculum, Discovery, discover};
use rl4rla::discovery::{Approach, Known};
use rl4rla::program::nearest;
use rl4rla::search::{METHODS, Method};
use rl4rla::store::{NewRun, Recorder, RunId, Status, Store, known};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::Path;

/// The exit code of a run that was interrupted with its work saved.
pub const INTERRUPTED: u8 = 130;

/// What a run was asked for besides curriculum, method and seed, as the store keeps it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Settings {
    approach: Approach,
    hints: bool,
}

/// A method by name.
pub fn method(name: &str) -> Result<Method, Failure> {
    Method::named(name).ok_or_else(|| {
        let failure = Failure::new(format!("there is no method `{name}`"));
        match nearest(name, METHODS.iter().map(|row| row.name)) {
            Some(meant) => failure.advise(format!("--method {meant}; `rl4rla list methods` shows all")),
            None => failure.advise("`rl4rla list methods` shows all"),
        }
    })
}

/// How stages are to be searched.
pub fn settings(searching: &Searching, method: Method) -> Result<Settings, Failure> {
    let Searching { budget, merge, exploration, released, patient, delta, no_hints } = *searching;
    if !(delta > 0.0 && delta < 1.0) {
        let message = format!("--delta is a probability between 0 and 1, got {delta}");
        return Err(Failure::new(message).advise("--delta 0.05"));
    }
    if exploration.is_some_and(|c| !(c >= 0.0 && c.is_finite())) {
        return Err(Failure::new("--exploration takes a number from 0 on").advise("--exploration 0.5"));
    }
    let approach = Approach { merge, released, patient, budget, exploration, delta, ..Approach::new(method) };
    Ok(Settings { approach, hints: !no_hints })
}

impl Settings {
    /// The curriculum as these settings read it.
    pub fn apply(&self, curriculum: Curriculum) -> Curriculum {
        if self.hints { curriculum } else { curriculum.without_hints() }
    }

    /// How its stages are searched.
    pub fn approach(&self) -> &Approach {
        &self.approach
    }

    /// As the store keeps them.
    pub fn json(&self) -> String {
        serde_json::to_string(self).expect("settings are plain data")
    }
}

/// Discovers an algorithm.
pub fn run(args: &Discover, shared: &Shared) -> Result<Page, Failure> {
    args.threads.apply()?;
    let settings = settings(&args.searching, method(&args.method)?)?;
    let curriculum = curriculum::find(&args.curriculum)?;
    let mut store = Store::open(&shared.store)?;
    let run = store.begin(&NewRun {
        curriculum: &curriculum.name,
        method: settings.approach.method.name(),
        seed: args.seed,
        spec: &curriculum.text,
        settings: &settings.json(),
        version: env!("CARGO_PKG_VERSION"),
    })?;
    go_on(&mut store, &run, curriculum, &settings, args.seed, shared)
}

/// Goes on with a run, or prints again what came of it.
pub fn resume(args: &Resume, shared: &Shared) -> Result<Page, Failure> {
    args.threads.apply()?;
    // A store that is not there is not made just to say that the run is not in it.
    drop(Store::open_read_only(&shared.store)?);
    let mut store = Store::open(&shared.store)?;
    let id = wanted(&store, &args.run)?;
    let run = store.run(&id)?;
    let foreign = |error: String| {
        Failure::new(format!("run {id} in {} cannot be read: {error}", shared.store.display()))
            .advise(format!("it was made by version {}; use that version", run.version))
    };
    let settings: Settings = serde_json::from_str(&run.settings).map_err(|e| foreign(e.to_string()))?;
    let curriculum =
        Curriculum::parse(&run.row.curriculum, &run.spec).map_err(|error| foreign(error.to_string()))?;
    if run.version != env!("CARGO_PKG_VERSION") {
        let message = format!("run {id} was begun by version {}", run.version);
        return Err(Failure::new(message).advise("that version, because another may compute other numbers"));
    }
    store.resume(&id)?;
    go_on(&mut store, &id, curriculum, &settings, run.row.seed, shared)
}

/// The run of this id, this beginning of an id, or the last.
pub fn wanted(store: &Store, name: &str) -> Result<RunId, Failure> {
    if name.eq_ignore_ascii_case("last")
        && let Some(row) = store.runs()?.pop()
    {
        return Ok(row.id);
    }
    Ok(store.find(name)?)
}

fn go_on(
    store: &mut Store,
    run: &RunId,
    curriculum: Curriculum,
    settings: &Settings,
    seed: u64,
    shared: &Shared,
) -> Result<Page, Failure> {
    let curriculum = settings.apply(curriculum);
    let known: Known = known(store, run)?;
    let path = store.path().to_path_buf();
    let mut live = Live::new(Recorder::new(store, run.clone(), &known), &curriculum, shared);
    let outcome = discover(&curriculum, &settings.approach, seed, &known, &mut live);
    live.close()?;
    let discovery = outcome.map_err(|error| {
        Failure::new(format!("{}: {error}", curriculum.name)).advise("another --seed, or another family")
    })?;
    store.add_seconds(run, discovery.seconds())?;
    if discovery.interrupted {
        store.interrupted(run)?;
        return Ok(interrupted(run, &path, &discovery));
    }
    let meta = Meta { run: run.as_str(), method: settings.approach.method.name(), seed };
    let page = page(&curriculum, &discovery, &meta);
    store.finish(run, Status::Done { found: discovery.found }, &page.json.to_string())?;
    Ok(page)
}

/// What to say when a run was interrupted.
fn interrupted(run: &RunId, store: &Path, discovery: &Discovery) -> Page {
    let place = match store == Path::new("rl4rla.db") {
        true => String::new(),
        false => format!(" --store {}", store.display()),
    };
    let command = format!("rl4rla resume {run}{place}");
    let done = discovery.stages.len();
    Page {
        json: serde_json::json!({ "run": run.as_str(), "interrupted": true, "resume": command, "found": Value::Null }),
        text: format!("interrupted after {done} stages; everything computed is saved\n  {command}\n"),
        code: INTERRUPTED,
    }
}

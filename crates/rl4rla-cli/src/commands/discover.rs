//! `rl4rla discover` and `rl4rla resume`.

pub mod front;
pub mod live;
pub mod present;

use crate::args::{Discover, Proposing, Resume, Searching, Shared};
use crate::curriculum;
use crate::endpoint::{Endpoint, Proposer};
use crate::failure::Failure;
use crate::interrupt::{self, INTERRUPTED};
use crate::output::Outputs;
use crate::page::Page;
use crate::source::unreadable;
use front::preference;
use live::Live;
use present::{Meta, page};
use rl4rla::curriculum::{Curriculum, Discovery, discover_with};
use rl4rla::discovery::{Approach, Author, Known, Preference, Problems};
use rl4rla::program::nearest;
use rl4rla::search::{METHODS, Method};
use rl4rla::store::{NewRun, Recorder, RunId, Status, Store, known};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::path::Path;
use std::time::Instant;

/// What a run was asked for besides curriculum, method and seed, as the store keeps it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Settings {
    approach: Approach,
    hints: bool,
    /// Who proposes programs, if not the grammar.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    proposer: Option<Proposer>,
}

/// A method by name.
pub fn method(name: &str) -> Result<Method, Failure> {
    Method::named(name).ok_or_else(|| {
        let failure = Failure::new(format!("there is no method `{name}`"));
        match nearest(name, METHODS.iter().map(|row| row.name)) {
            Some(meant) => failure.advise(format!("`{meant}`; `rl4rla list methods` shows all")),
            None => failure.advise("`rl4rla list methods` shows all"),
        }
    })
}

/// How stages are to be searched.
pub fn settings(searching: &Searching, method: Method) -> Result<Settings, Failure> {
    let Searching { budget, evaluations, merge, exploration, released, patient, delta, no_hints, .. } =
        *searching;
    let Searching { backup, skip_closed, return_to_root, budget_per_decision, fresh, from_targets, .. } =
        *searching;
    let Searching { run_evaluations, run_playouts, .. } = *searching;
    if !(delta > 0.0 && delta < 1.0) {
        let message = format!("--delta is a probability between 0 and 1, got {delta}");
        return Err(Failure::new(message).advise("--delta 0.05"));
    }
    if exploration.is_some_and(|c| !(c >= 0.0 && c.is_finite())) {
        return Err(
            Failure::new("--exploration takes a finite nonnegative number").advise("--exploration 0.5")
        );
    }
    if !method.is_monte_carlo() {
        let given = [
            (backup.is_some(), "--backup"),
            (skip_closed, "--skip-closed"),
            (return_to_root, "--return-to-root"),
        ];
        if let Some((_, flag)) = given.into_iter().find(|(given, _)| *given) {
            let message = format!("{flag} applies to Monte Carlo searches, not to {}", method.name());
            return Err(Failure::new(message).advise("--method mcgs-ucd, mcgs-uct, mcgs-puct or mcts"));
        }
    }
    let approach = Approach {
        method,
        merge,
        released,
        patient,
        backup,
        skip_closed,
        return_to_root,
        budget_per_decision,
        fresh,
        from_targets,
        budget,
        evaluations,
        run_evaluations,
        run_playouts,
        exploration,
        delta,
    };
    Ok(Settings { approach, hints: !no_hints, proposer: None })
}

/// Who is to be asked for programs.
fn proposer(proposing: &Proposing, method: Method) -> Result<Option<Proposer>, Failure> {
    let Proposing { proposer, model, key_env, temperature, timeout, transcript } = proposing;
    let (Some(url), Some(model)) = (proposer.clone(), model.clone()) else { return Ok(None) };
    if method != Method::Islands {
        let message = format!("--proposer applies to --method islands, not to {}", method.name());
        return Err(Failure::new(message).advise("--method islands"));
    }
    if !(*temperature >= 0.0 && temperature.is_finite()) {
        return Err(Failure::new("--temperature takes a finite nonnegative number").advise("--temperature 1"));
    }
    let rest = ["http://", "https://"].iter().find_map(|scheme| url.strip_prefix(scheme));
    if rest.is_none_or(|rest| rest.contains(['@', '?', '#']) || rest.contains(char::is_whitespace)) {
        // It is kept in the store and shown in messages.
        let message = "--proposer takes a URL that begins with http:// or https:// and has no user name, key or query in it";
        return Err(Failure::new(message).advise("the key in an environment variable, named by --key-env"));
    }
    if transcript.as_ref().is_some_and(|transcript| transcript.to_str().is_none()) {
        let message = "--transcript takes a UTF-8 path, because the store keeps it with the run";
        return Err(Failure::new(message).advise("another --transcript"));
    }
    let (key_env, transcript) = (key_env.clone(), transcript.clone());
    Ok(Some(Proposer { url, model, key_env, temperature: *temperature, timeout: *timeout, transcript }))
}

impl Settings {
    /// Stages as they are, searched this way.
    pub fn new(approach: Approach) -> Settings {
        Settings { approach, hints: true, proposer: None }
    }

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
    let mut settings = settings(&args.searching, method(&args.method)?)?;
    settings.proposer = proposer(&args.proposing, settings.approach.method)?;
    let preference = args.prefer.as_deref().map(preference).transpose()?;
    let curriculum = curriculum::find(&args.curriculum)?;
    if let Some(transcript) = &args.proposing.transcript {
        let file = Some(Path::new(&args.curriculum)).filter(|path| path.is_file());
        let mut outputs = Outputs::new(shared).reads("the curriculum", file);
        match transcript.exists() {
            // It is added to, for which its folder need not be written to.
            true => outputs.claims("--transcript", transcript)?,
            false => outputs.writes("--transcript", transcript)?,
        }
    }
    if let Some(proposer) = &settings.proposer {
        // A file that is no transcript is refused before a run is begun.
        Endpoint::new(proposer, &shared.store, args.seed, true)?;
    }
    let mut store = Store::open(&shared.store)?;
    let run = store.begin(&NewRun {
        curriculum: &curriculum.name,
        method: settings.approach.method.name(),
        seed: args.seed,
        spec: &curriculum.text,
        settings: &settings.json(),
        version: env!("CARGO_PKG_VERSION"),
    })?;
    let curriculum = settings.apply(curriculum);
    let task = Task { id: run, curriculum, settings, seed: args.seed, preference };
    task.go_on(&mut store, shared)
}

/// Goes on with a run, or prints again what came of it.
pub fn resume(args: &Resume, shared: &Shared) -> Result<Page, Failure> {
    args.threads.apply()?;
    // A store that is not there is not made just to say that the run is not in it.
    let store = Store::open_read_only(&shared.store)?;
    let id = wanted(&store, &args.run)?;
    let run = store.run(&id)?;
    if run.version != env!("CARGO_PKG_VERSION") {
        let message = format!("run {id} was started by version {}", run.version);
        return Err(
            Failure::new(message).advise("that version, because another may compute different numbers")
        );
    }
    let settings: Settings =
        serde_json::from_str(&run.settings).map_err(|error| unreadable(&format!("run {id}"), &error))?;
    let curriculum = Curriculum::parse(&run.row.curriculum, &run.spec).map_err(|error| {
        let failure =
            Failure::new(format!("run {id} in {} cannot be resumed: {error}", shared.store.display()));
        // Where there is something else to do about it, the error says so.
        if error.advice.is_some() { failure } else { failure.advise("start a new run") }
    })?;
    let preference = args.prefer.as_deref().map(preference).transpose()?;
    let curriculum = settings.apply(curriculum);
    let task = Task { id, curriculum, settings, seed: run.row.seed, preference };
    if let Some(result) = &run.result {
        return task.show_again(&store, result, shared);
    }
    drop(store);
    let mut store = Store::open(&shared.store)?;
    store.resume(&task.id)?;
    task.go_on(&mut store, shared)
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

/// A run with all it was asked to do.
struct Task {
    id: RunId,
    curriculum: Curriculum,
    settings: Settings,
    seed: u64,
    preference: Option<Preference>,
}

impl Task {
    /// Works on it, from what is in the store, until it ends or is interrupted.
    fn go_on(&self, store: &mut Store, shared: &Shared) -> Result<Page, Failure> {
        interrupt::saving(self.interrupted(shared));
        let (start, known) = (Instant::now(), known(store, &self.id)?);
        let recorder = Recorder::new(store, self.id.clone(), &known);
        let mut endpoint = self.endpoint(shared, true)?;
        let discovery = self.discover(&known, Some(recorder), endpoint.as_mut())?;
        store.add_seconds(&self.id, start.elapsed().as_secs_f64())?;
        if let Some(failure) = endpoint.as_mut().and_then(Endpoint::failure) {
            store.interrupted(&self.id)?;
            let command = shared.again(&format!("resume {}", self.id));
            return Err(failure.advise(format!("`{command}` continues once the endpoint responds")));
        }
        if discovery.interrupted {
            store.interrupted(&self.id)?;
            return Ok(self.interrupted(shared));
        }
        let page = self.page(&discovery, endpoint.as_ref(), shared);
        store.finish(&self.id, Status::Done { found: discovery.found }, &page.json.to_string())?;
        Ok(page)
    }

    /// What is said when it is interrupted.
    fn interrupted(&self, shared: &Shared) -> Page {
        let command = shared.again(&format!("resume {}", self.id));
        Page {
            json: json!({ "run": self.id.as_str(), "interrupted": true, "resume": command, "found": null }),
            text: format!("interrupted; everything computed is saved. To continue:\n  {command}\n"),
            code: INTERRUPTED,
        }
    }

    /// Prints what came of it; the store is left as it is.
    fn show_again(&self, store: &Store, result: &str, shared: &Shared) -> Result<Page, Failure> {
        let mut endpoint = self.endpoint(shared, false)?;
        let discovery = self.discover(&known(store, &self.id)?, None, endpoint.as_mut())?;
        if let Some(failure) = endpoint.as_mut().and_then(Endpoint::failure) {
            return Err(failure);
        }
        if discovery.interrupted {
            let json = json!({ "run": self.id.as_str(), "interrupted": true });
            let text = "interrupted; the run had already finished\n".into();
            return Ok(Page { json, text, code: INTERRUPTED });
        }
        let page = self.page(&discovery, endpoint.as_ref(), shared);
        let mut json: Map<String, Value> = serde_json::from_str(result)
            .map_err(|error| unreadable(&format!("the result of run {}", self.id), &error))?;
        json.insert("preferred".into(), page.json["preferred"].clone());
        Ok(Page { json: json.into(), ..page })
    }

    /// Whom islands ask, if anyone; only what was said already if it is not `open`.
    fn endpoint(&self, shared: &Shared, open: bool) -> Result<Option<Endpoint>, Failure> {
        self.settings
            .proposer
            .as_ref()
            .map(|proposer| Endpoint::new(proposer, &shared.store, self.seed, open))
            .transpose()
    }

    fn page(&self, discovery: &Discovery, endpoint: Option<&Endpoint>, shared: &Shared) -> Page {
        let mut page = page(&self.curriculum, discovery, &self.meta(), shared);
        if let Some(endpoint) = endpoint {
            page.json["proposer"] = endpoint.json();
            page.text = format!("{}\n{}\n", page.text.trim_end(), endpoint.remark());
        }
        page
    }

    fn discover(
        &self,
        known: &Known,
        recorder: Option<Recorder>,
        endpoint: Option<&mut Endpoint>,
    ) -> Result<Discovery, Failure> {
        let mut live = Live::new(recorder, &self.curriculum, &self.settings.approach);
        let author = endpoint.map(|endpoint| endpoint as &mut dyn Author);
        let (curriculum, approach) = (&self.curriculum, &self.settings.approach);
        let problems = Problems::default();
        let outcome = discover_with(curriculum, approach, self.seed, known, &problems, author, &mut live);
        live.close()?;
        outcome.map_err(|error| {
            let name = &self.curriculum.name;
            Failure::new(format!("{name}: {error}")).advise("another --seed, or another family")
        })
    }

    fn meta(&self) -> Meta<'_> {
        let (method, preference) = (self.settings.approach.method.name(), self.preference);
        Meta { run: self.id.as_str(), method, seed: self.seed, preference }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_of_older_runs_are_read_and_written_as_they_were() {
        let text = r#"{"approach":{"method":"best","merge":null,"released":false,"patient":false,"budget":null,"exploration":null,"delta":0.05},"hints":true}"#;
        let settings: Settings = serde_json::from_str(text).unwrap();
        assert_eq!((settings.json().as_str(), settings.approach.evaluations), (text, None));
    }
}

//! `rl4rla discover` and `rl4rla resume`.

pub mod front;
pub mod live;
mod policy;
pub mod present;

use crate::args::{Discover, Proposing, Resume, Searching, Shared};
use crate::commands::explore;
#[cfg(feature = "serve")]
use crate::commands::serve;
use crate::curriculum;
use crate::endpoint::Endpoint;
use crate::failure::Failure;
use crate::interrupt::{self, INTERRUPTED};
use crate::output::Outputs;
use crate::page::Page;
use crate::source::wanted;
use front::preference;
use live::Live;
use present::page;
use rl4rla::curriculum::{Curriculum, Discovery, SpecError, discover};
use rl4rla::discovery::{Approach, Context, Known, Preference, Proposer};
use rl4rla::experiment::{
    BegunRun, BegunRunError, ExperimentError, ProposerSettings, SearchSettings, same_build, unreadable,
};
use rl4rla::explore::ExploreRequest;
use rl4rla::program::nearest;
use rl4rla::record::{Build, EXPLORE, RunRecord};
use rl4rla::search::{METHODS, Method, MethodInfo};
use rl4rla::store::{NewRun, Recorder, RunId, Store, known};
use serde_json::json;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

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

/// The option that selects one of these methods, for messages.
fn methods(chosen: fn(&MethodInfo) -> bool) -> String {
    let names: Vec<&str> = METHODS.iter().filter(|row| chosen(row)).map(|row| row.name).collect();
    let names = names.split_last().map_or(String::new(), |(last, others)| match others.is_empty() {
        true => last.to_string(),
        false => format!("{} or {last}", others.join(", ")),
    });
    format!("--method {names}")
}

/// The search settings.
pub fn settings(searching: &Searching, method: Method) -> Result<SearchSettings, Failure> {
    let Searching { budget, evaluations, merge, exploration, released, patient, delta, no_hints, .. } =
        *searching;
    let Searching { backup, skip_closed, return_to_root, budget_per_decision, fresh, from_targets, .. } =
        *searching;
    let Searching { run_evaluations, run_playouts, typed, .. } = *searching;
    if !(delta > 0.0 && delta < 1.0) {
        let message = format!("--delta is a probability between 0 and 1, got {delta}");
        return Err(Failure::new(message).advise("--delta 0.05"));
    }
    if exploration.is_some_and(|c| !(c >= 0.0 && c.is_finite())) {
        return Err(
            Failure::new("--exploration takes a finite nonnegative number").advise("--exploration 0.5")
        );
    }
    if method.info().monte_carlo().is_none() {
        let given = [
            (backup.is_some(), "--backup"),
            (skip_closed, "--skip-closed"),
            (return_to_root, "--return-to-root"),
        ];
        if let Some((_, flag)) = given.into_iter().find(|(given, _)| *given) {
            let message = format!("{flag} applies to Monte Carlo searches, not to {}", method.name());
            return Err(Failure::new(message).advise(methods(|row| row.monte_carlo().is_some())));
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
    Ok(SearchSettings { approach, hints: !no_hints, typed, proposer: None, policy: None })
}

/// The same for a curriculum, with the learned policy, if any.
pub fn settings_for(
    curriculum: &Curriculum,
    searching: &Searching,
    method: Method,
) -> Result<SearchSettings, Failure> {
    let settings = settings(searching, method)?;
    let Some(policy) = policy::read(&searching.policy)? else { return Ok(settings) };
    if !method.info().takes_policy() {
        let those = methods(MethodInfo::takes_policy);
        let message = format!("--policy applies to {those}, not to {}", method.name());
        return Err(Failure::new(message).advise(those));
    }
    let policy = policy.settings(curriculum);
    if policy.trained_here {
        policy::warn(&curriculum.name);
    }
    Ok(SearchSettings { policy: Some(policy), ..settings })
}

/// The external proposer, if any.
fn proposer(proposing: &Proposing, method: Method) -> Result<Option<ProposerSettings>, Failure> {
    let Proposing { proposer, model, key_env, temperature, timeout, transcript } = proposing;
    let (Some(url), Some(model)) = (proposer.clone(), model.clone()) else { return Ok(None) };
    if !method.info().takes_proposer() {
        let those = methods(MethodInfo::takes_proposer);
        let message = format!("--proposer applies to {those}, not to {}", method.name());
        return Err(Failure::new(message).advise(those));
    }
    if !(*temperature >= 0.0 && temperature.is_finite()) {
        return Err(Failure::new("--temperature takes a finite nonnegative number").advise("--temperature 1"));
    }
    let rest = ["http://", "https://"].iter().find_map(|scheme| url.strip_prefix(scheme));
    if rest.is_none_or(|rest| rest.contains(['@', '?', '#']) || rest.contains(char::is_whitespace)) {
        // The URL is kept in the store and shown in messages, so it must not contain secrets.
        let message = "--proposer takes a URL that begins with http:// or https:// and has no user name, key or query in it";
        return Err(Failure::new(message).advise("the key in an environment variable, named by --key-env"));
    }
    if transcript.as_ref().is_some_and(|transcript| transcript.to_str().is_none()) {
        let message = "--transcript takes a UTF-8 path, because the store keeps it with the run";
        return Err(Failure::new(message).advise("another --transcript"));
    }
    let (key_env, transcript) = (key_env.clone(), transcript.clone());
    Ok(Some(ProposerSettings {
        url,
        model,
        key_env,
        temperature: *temperature,
        timeout: *timeout,
        transcript,
    }))
}

/// Discovers an algorithm, with a live page if one is wanted.
pub fn run(args: &Discover, shared: &Shared) -> Result<Page, Failure> {
    args.threads.apply()?;
    #[cfg(feature = "serve")]
    if args.live {
        return serve::alongside(shared, || discovered(args, shared));
    }
    discovered(args, shared)
}

fn discovered(args: &Discover, shared: &Shared) -> Result<Page, Failure> {
    let method = method(&args.method)?;
    // Options are checked before files are read.
    settings(&args.searching, method)?;
    let proposer = proposer(&args.proposing, method)?;
    let preference = args.prefer.as_deref().map(preference).transpose()?;
    let curriculum = curriculum::find(&args.curriculum)?;
    curriculum::permits(&curriculum, args.searching.typed)?;
    let settings = SearchSettings { proposer, ..settings_for(&curriculum, &args.searching, method)? };
    if let Some(transcript) = &args.proposing.transcript {
        let file = Some(Path::new(&args.curriculum)).filter(|path| path.is_file());
        let mut outputs = Outputs::new(shared).reads("the curriculum", file);
        match transcript.exists() {
            // Appending needs no write permission for its folder.
            true => outputs.claims("--transcript", transcript)?,
            false => outputs.writes("--transcript", transcript)?,
        }
    }
    if let Some(proposer) = &settings.proposer {
        // A file that is not a transcript is rejected before a run is begun.
        Endpoint::new(proposer, &shared.store, args.seed)?;
    }
    let mut store = Store::open(&shared.store)?;
    let run = store.begin(&NewRun {
        curriculum: &curriculum.name,
        method: settings.approach.method.name(),
        seed: args.seed,
        spec: &curriculum.text,
        settings: &settings.json(),
        build: &Build::current(),
    })?;
    let curriculum = settings.apply(curriculum);
    let task = Task { id: run, curriculum, settings, seed: args.seed, preference };
    task.go_on(&mut store, shared)
}

/// Resumes a run, or reloads a finished one.
pub fn resume(args: &Resume, shared: &Shared) -> Result<Page, Failure> {
    args.threads.apply()?;
    let preference = args.prefer.as_deref().map(preference).transpose()?;
    // A missing store is not created just to report that the run is not in it.
    let store = Store::open_read_only(&shared.store)?;
    let id = wanted(&store, &args.run)?;
    let run = store.run(&id)?;
    let unusable = |what: &str, error: SpecError| {
        let failure = Failure::new(format!("run {id} in {} cannot {what}: {error}", shared.store.display()));
        // If the error has its own suggestion, that is kept.
        if error.advice.is_some() { failure } else { failure.advise("start a new run") }
    };
    let result = run.result.clone()?;
    if run.row.curriculum == EXPLORE {
        let request: ExploreRequest =
            serde_json::from_str(&run.settings).map_err(|error| unreadable(&format!("run {id}"), &error))?;
        if let Some(record) = result {
            return Ok(explore::page(&record, &request, shared));
        }
        same_build(&run).map_err(ExperimentError::from)?;
        drop(store);
        let mut store = Store::open(&shared.store)?;
        store.resume(&id)?;
        return explore::go_on(&id, &request, None, &mut store, shared);
    }
    if let Some(record) = result {
        let curriculum = Curriculum::outline(&run.row.curriculum, &run.spec)
            .map_err(|error| unusable("be shown", error))?;
        return Ok(page(&record.preferring(preference.as_ref()), &curriculum, shared));
    }
    let begun = BegunRun::read(&run).map_err(|error| match error {
        BegunRunError::Curriculum(error) => unusable("go on", error),
        other => ExperimentError::from(other).into(),
    })?;
    let BegunRun { curriculum, settings, seed } = begun;
    let task = Task { id, curriculum, settings, seed, preference };
    drop(store);
    let mut store = Store::open(&shared.store)?;
    store.resume(&task.id)?;
    task.go_on(&mut store, shared)
}

/// A run with its settings.
struct Task {
    id: RunId,
    curriculum: Curriculum,
    settings: SearchSettings,
    seed: u64,
    preference: Option<Preference>,
}

impl Task {
    /// Runs it, starting from what is in the store, until it ends or is interrupted.
    fn go_on(&self, store: &mut Store, shared: &Shared) -> Result<Page, Failure> {
        interrupt::saving(self.interrupted(shared));
        let (start, known) = (Instant::now(), Arc::new(known(store, &self.id)?));
        let (curriculum, approach) = (&self.curriculum, &self.settings.approach);
        let recorder = Recorder::new(store, self.id.clone(), &known, curriculum, approach)?;
        let proposer = self.settings.proposer.as_ref();
        let mut endpoint =
            proposer.map(|proposer| Endpoint::new(proposer, &shared.store, self.seed)).transpose()?;
        let discovery = self.discover(&known, recorder, endpoint.as_mut())?;
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
        let method = self.settings.approach.method.name();
        let record = RunRecord {
            proposer: endpoint.as_ref().map(Endpoint::record),
            policy: self.settings.policy_record(),
            ..RunRecord::new(self.id.as_str(), &self.curriculum, method, self.seed, &discovery)
                .preferring(self.preference.as_ref())
        };
        store.finish(&self.id, &record)?;
        Ok(page(&record, &self.curriculum, shared))
    }

    /// The page printed if it is interrupted.
    fn interrupted(&self, shared: &Shared) -> Page {
        let command = shared.again(&format!("resume {}", self.id));
        Page {
            json: json!({ "run": self.id.as_str(), "interrupted": true, "resume": command, "found": null }),
            text: format!("interrupted; everything computed is saved. To continue:\n  {command}\n"),
            code: INTERRUPTED,
        }
    }

    fn discover(
        &self,
        known: &Arc<Known>,
        recorder: Recorder,
        endpoint: Option<&mut Endpoint>,
    ) -> Result<Discovery, Failure> {
        let mut live = Live::new(recorder, &self.curriculum, &self.settings.approach);
        let proposer = endpoint.map(|endpoint| endpoint as &mut dyn Proposer);
        let mut context = Context {
            known: known.clone(),
            proposer,
            policy: self.settings.policy(),
            observer: Some(&mut live),
            ..Context::default()
        };
        let outcome = discover(&self.curriculum, &self.settings.approach, self.seed, &mut context);
        live.close()?;
        outcome.map_err(|error| {
            let name = &self.curriculum.name;
            Failure::new(format!("{name}: {error}")).advise("another --seed, or another family")
        })
    }
}

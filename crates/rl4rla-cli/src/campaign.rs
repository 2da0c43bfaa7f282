//! Campaigns: one curriculum searched one way by many seeds, each seed once, kept in the store as they end.

use crate::commands::discover::Settings;
use crate::commands::discover::present::{Meta, document};
use crate::failure::Failure;
use crate::interrupt::{INTERRUPTED, stopped};
use crate::label::{label, limits};
use crate::page::Page;
use crate::progress;
use crate::source::unreadable;
use rl4rla::curriculum::{Curriculum, Follow, StageResult, discover_among};
use rl4rla::discovery::{Known, Observe, Problems, Progress};
use rl4rla::store::{NewRun, Sample, Sampler, Status, Store};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::fmt;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// One curriculum searched one way, by many seeds.
pub struct Campaign {
    /// What is searched.
    pub curriculum: Curriculum,
    /// How.
    pub settings: Settings,
    /// The first seed; the others follow it.
    pub first_seed: u64,
    /// Whether every run computes all it needs itself, for the sake of the times it tells; otherwise runs with one seed
    /// share what they have computed, and the first one pays.
    pub alone: bool,
    /// The results, by seed from the first on.
    pub results: Vec<Option<Value>>,
}

impl Campaign {
    /// A campaign of which nothing is done.
    pub fn new(curriculum: Curriculum, settings: Settings, first_seed: u64, seeds: u64) -> Campaign {
        Campaign { curriculum, settings, first_seed, alone: false, results: vec![None; seeds as usize] }
    }

    /// The name of its method.
    pub fn method(&self) -> &'static str {
        self.settings.approach().method.name()
    }

    /// Its method with the settings and limits it runs under.
    pub fn label(&self) -> String {
        let settings: Value = serde_json::from_str(&self.settings.json()).unwrap_or_default();
        label(self.method(), limits(&self.curriculum.name, &settings))
    }

    /// The results there are.
    pub fn done(&self) -> impl Iterator<Item = &Value> {
        self.results.iter().flatten()
    }

    /// How many runs there are to be.
    pub fn count(&self) -> usize {
        self.results.len()
    }

    fn seed(&self, place: usize) -> u64 {
        self.first_seed.wrapping_add(place as u64)
    }

    fn new_run<'a>(&'a self, settings: &'a str, place: usize) -> NewRun<'a> {
        NewRun {
            curriculum: &self.curriculum.name,
            method: self.method(),
            seed: self.seed(place),
            spec: &self.curriculum.text,
            settings,
            version: env!("CARGO_PKG_VERSION"),
        }
    }

    fn missing(&self) -> impl Iterator<Item = usize> {
        (0..self.results.len()).filter(|&place| self.results[place].is_none())
    }
}

/// All cores there are.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Does what is missing, and takes from the store what was done before. Says no if it was interrupted.
pub fn run(campaigns: &mut [Campaign], store: &mut Store, threads: usize) -> Result<bool, Failure> {
    recall(store, campaigns)?;
    work(campaigns, store, threads)
}

/// What a command says whose campaigns were interrupted.
pub fn interrupted() -> Page {
    let text = "interrupted; repeat the command to continue\n".to_string();
    Page { json: json!({ "interrupted": true }), text, code: INTERRUPTED }
}

/// How far the campaigns are, and how long they will take.
struct Pace {
    /// Runs done since the command began.
    done: usize,
    /// Runs there were to do.
    total: usize,
    /// Seconds left, if that can be told.
    left: Option<f64>,
}

impl fmt::Display for Pace {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{} of {} runs", self.done, self.total)?;
        match self.left {
            Some(seconds) if seconds >= 90.0 => write!(f, " · about {:.0} min left", seconds / 60.0),
            Some(seconds) => write!(f, " · about {seconds:.0} s left"),
            None => Ok(()),
        }
    }
}

/// What runs have cost, by campaign: their times differ by a factor of a thousand.
struct Costs {
    /// Seconds and number of runs.
    spent: Vec<(f64, usize)>,
    missing: Vec<usize>,
    begin: Instant,
    total: usize,
}

impl Costs {
    fn of(campaigns: &[Campaign]) -> Costs {
        let spent = |campaign: &Campaign| {
            let seconds = campaign.done().filter_map(|result| result["seconds"].as_f64());
            (seconds.sum(), campaign.done().count())
        };
        let missing: Vec<usize> = campaigns.iter().map(|campaign| campaign.missing().count()).collect();
        let total = missing.iter().sum();
        Costs { spent: campaigns.iter().map(spent).collect(), missing, begin: Instant::now(), total }
    }

    fn add(&mut self, campaign: usize, seconds: f64, threads: usize) -> Pace {
        self.spent[campaign].0 += seconds;
        self.spent[campaign].1 += 1;
        self.missing[campaign] -= 1;
        let mean = |(seconds, count): (f64, usize)| (count > 0).then(|| seconds / count as f64);
        let known: Option<Vec<f64>> = (self.spent.iter().zip(&self.missing))
            .filter(|(_, missing)| **missing > 0)
            .map(|(&spent, &missing)| Some(mean(spent)? * missing as f64))
            .collect();
        let done = self.total - self.missing.iter().sum::<usize>();
        let rate = self.begin.elapsed().as_secs_f64() / done as f64;
        // Until every campaign has had a run, all runs are taken for equal.
        let left = known
            .map_or(rate * (self.total - done) as f64, |costs| costs.iter().sum::<f64>() / threads as f64);
        Pace { done, total: self.total, left: (done > 1).then_some(left) }
    }
}

/// The key of a result that says whether its run computed all it needed itself.
const ALONE: &str = "alone";

/// Takes from the store what was done before, by the same version with the same settings.
pub fn recall(store: &Store, campaigns: &mut [Campaign]) -> Result<(), Failure> {
    let mut done: HashMap<(String, String), Vec<_>> = HashMap::new();
    for row in store.runs()?.into_iter().filter(|row| row.status.found().is_some()) {
        done.entry((row.curriculum.clone(), row.method.clone())).or_default().push(row);
    }
    for campaign in campaigns {
        let settings = campaign.settings.json();
        let key = (campaign.curriculum.name.clone(), campaign.method().to_string());
        for row in done.get(&key).into_iter().flatten() {
            let place = row.seed.wrapping_sub(campaign.first_seed) as usize;
            if place >= campaign.results.len() {
                continue;
            }
            let run = store.run(&row.id)?;
            let asked = campaign.new_run(&settings, place);
            let same =
                (&*run.spec, &*run.settings, &*run.version) == (asked.spec, asked.settings, asked.version);
            if same {
                let result = run.result.map(|result| serde_json::from_str::<Value>(&result)).transpose();
                let result = result.map_err(|error| unreadable(&format!("run {}", row.id), &error))?;
                // Who wants times does not take those of runs that others helped.
                let fit =
                    |result: &Value| result.is_object() && (!campaign.alone || result[ALONE] == json!(true));
                let result = result.filter(fit);
                if result.is_some() {
                    campaign.results[place] = result;
                }
            }
        }
    }
    Ok(())
}

/// Runs what is missing, each run on one thread; says no if it was interrupted.
fn work(campaigns: &mut [Campaign], store: &mut Store, threads: usize) -> Result<bool, Failure> {
    let missing =
        |(c, campaign): (usize, &Campaign)| campaign.missing().map(move |s| (c, s)).collect::<Vec<_>>();
    let mut runs: Vec<(usize, usize)> = campaigns.iter().enumerate().flat_map(missing).collect();
    // Runs with one seed share their instances: one thread does them all, as long as there are enough seeds.
    runs.sort_by_key(|&(c, s)| (campaigns[c].seed(s), c));
    let by_seed: Vec<&[(usize, usize)]> =
        runs.chunk_by(|a, b| campaigns[a.0].seed(a.1) == campaigns[b.0].seed(b.1)).collect();
    let jobs = if by_seed.len() < threads { runs.chunks(1).collect() } else { by_seed };
    progress::doing(format!("searching · {} runs", runs.len()));
    let next = AtomicUsize::new(0);
    let shared = Mutex::new((store, Costs::of(campaigns), Vec::new(), None));
    let worker = || {
        // A pool of its own keeps a run to one thread: runs are many, and their memory is large.
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().map_err(Failure::from);
        let finish = |c: usize, s: usize, result| {
            let mut shared = shared.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            let (store, costs, results, failure) = &mut *shared;
            match save(store, &campaigns[c], s, result) {
                Ok(result) => {
                    let pace = costs.add(c, result["seconds"].as_f64().unwrap_or_default(), threads);
                    progress::doing(format!("searching · {pace}"));
                    results.push((c, s, result));
                }
                Err(error) => *failure = Some(error),
            }
            failure.is_none()
        };
        while let Some(job) = jobs.get(next.fetch_add(1, Ordering::SeqCst)) {
            let problems = Problems::default();
            for &(c, s) in *job {
                let own = campaigns[c].alone.then(Problems::default);
                let result = match &pool {
                    Ok(pool) => pool.install(|| one(&campaigns[c], s, own.as_ref().unwrap_or(&problems))),
                    Err(error) => Err(Failure::new(error.to_string())),
                };
                let result = match result {
                    Ok(None) => return,
                    Ok(Some(done)) => Ok(done),
                    Err(error) => Err(error),
                };
                if !finish(c, s, result) {
                    return;
                }
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..threads.min(jobs.len()) {
            scope.spawn(worker);
        }
    });
    let (_, _, results, failure) = shared.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    if let Some(failure) = failure {
        return Err(failure);
    }
    let complete = results.len() == runs.len();
    for (c, s, result) in results {
        campaigns[c].results[s] = Some(result);
    }
    Ok(complete)
}

/// Goes on until someone asks to stop, and keeps the curves.
struct Watcher {
    sampler: Sampler,
    samples: Vec<Sample>,
}

/// Points of a curve for every factor of e: campaigns have many runs.
const POINTS: u64 = 20;

impl Observe for Watcher {
    fn goes_on(&mut self, progress: &Progress) -> bool {
        self.samples.extend(self.sampler.take(progress));
        !stopped()
    }
}

impl Follow for Watcher {
    fn begins(&mut self, _number: usize) {
        self.sampler.take_next();
    }

    fn ended(&mut self, number: usize, result: &StageResult) {
        self.samples.extend(self.sampler.take_last(number, result));
    }
}

/// A finished run with the curves of its search.
type Finished = (Value, Vec<Sample>);

/// One run; none if it was interrupted.
fn one(campaign: &Campaign, place: usize, problems: &Problems) -> Result<Option<Finished>, Failure> {
    let seed = campaign.seed(place);
    let curriculum = campaign.settings.apply(campaign.curriculum.clone());
    let approach = campaign.settings.approach();
    let mut watcher = Watcher { sampler: Sampler::new(POINTS), samples: Vec::new() };
    let discovery = discover_among(&curriculum, approach, seed, &Known::default(), problems, &mut watcher)?;
    let meta = Meta { run: "", method: approach.method.name(), seed, preference: None };
    Ok((!discovery.interrupted).then(|| (document(&curriculum, &discovery, &meta), watcher.samples)))
}

/// Writes a result into the store, under an id of its own.
fn save(
    store: &mut Store,
    campaign: &Campaign,
    place: usize,
    finished: Result<Finished, Failure>,
) -> Result<Value, Failure> {
    let (mut result, samples) = finished?;
    let settings = campaign.settings.json();
    // Whoever is killed here leaves the whole run or nothing of it.
    store.together(|store| {
        let run = store.begin(&campaign.new_run(&settings, place))?;
        result["run"] = json!(run.as_str());
        result[ALONE] = json!(campaign.alone);
        for sample in &samples {
            store.sample(&run, sample)?;
        }
        for (number, stage) in result["stages"].as_array().into_iter().flatten().enumerate() {
            let seconds = stage["seconds"].as_f64().unwrap_or_default();
            store.finish_stage(&run, number as u32, &stage.to_string(), seconds)?;
        }
        store.add_seconds(&run, result["seconds"].as_f64().unwrap_or_default())?;
        let found = result["found"] == json!(true);
        store.finish(&run, Status::Done { found }, &result.to_string())?;
        Ok(result)
    })
}

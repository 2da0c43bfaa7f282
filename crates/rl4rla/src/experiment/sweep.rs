//! Sweeps: one curriculum searched with one method by many seeds; each run is saved to the store when it ends.

use super::error::ExperimentError;
use super::label::{label, limits};
use super::monitor::Monitor;
use super::settings::SearchSettings;
use crate::curriculum::{Curriculum, StageResult, discover};
use crate::discovery::{Context, Known, Observer, Problems, Progress, RewardKey};
use crate::record::{Build, RunRecord};
use crate::store::{NewRun, RunId, Sample, Sampler, Store, StoreError, now};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// One curriculum searched with one method by many seeds.
#[derive(Clone, Debug)]
pub struct Sweep {
    /// The curriculum.
    pub curriculum: Curriculum,
    /// Search settings.
    pub settings: SearchSettings,
    /// The first seed; the others follow it.
    pub first_seed: u64,
    /// Whether every run computes everything itself, so that its times are meaningful; otherwise runs with the same
    /// seed share caches, and the first one bears the cost.
    pub alone: bool,
    /// The results, in the order of seeds.
    pub results: Vec<Option<RunRecord>>,
}

impl Sweep {
    /// A sweep without results.
    pub fn new(curriculum: Curriculum, settings: SearchSettings, first_seed: u64, seeds: u64) -> Sweep {
        Sweep { curriculum, settings, first_seed, alone: false, results: vec![None; seeds as usize] }
    }

    /// Name of its method.
    pub fn method(&self) -> &'static str {
        self.settings.approach().method.name()
    }

    /// The method with its settings and limits.
    pub fn label(&self) -> String {
        let settings: Value = serde_json::from_str(&self.settings.json()).unwrap_or_default();
        label(self.method(), limits(&self.curriculum.name, &settings))
    }

    /// The results so far.
    pub fn done(&self) -> impl Iterator<Item = &RunRecord> {
        self.results.iter().flatten()
    }

    /// Total number of runs.
    pub fn count(&self) -> usize {
        self.results.len()
    }

    fn seed(&self, place: usize) -> u64 {
        self.first_seed.wrapping_add(place as u64)
    }

    fn new_run<'a>(&'a self, settings: &'a str, build: &'a Build, place: usize) -> NewRun<'a> {
        NewRun {
            curriculum: &self.curriculum.name,
            method: self.method(),
            seed: self.seed(place),
            spec: &self.curriculum.text,
            settings,
            build,
        }
    }

    fn missing(&self) -> impl Iterator<Item = usize> {
        (0..self.results.len()).filter(|&place| self.results[place].is_none())
    }
}

/// Number of available cores.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Reloads earlier runs from the store and computes the missing ones. Returns false if it was interrupted.
pub fn run(
    sweeps: &mut [Sweep],
    store: &mut Store,
    threads: usize,
    monitor: &dyn Monitor,
) -> Result<bool, ExperimentError> {
    recall(store, sweeps)?;
    work(sweeps, store, threads, monitor)
}

/// Progress of the sweeps, with an estimate of the remaining time.
struct Pace {
    /// Runs finished since the command started.
    done: usize,
    /// Number of runs to do.
    total: usize,
    /// Estimated seconds left, if known.
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

/// Durations of the runs by sweep: they differ by a factor of a thousand.
struct Costs {
    /// Total seconds and number of runs.
    spent: Vec<(f64, usize)>,
    missing: Vec<usize>,
    begin: Instant,
    total: usize,
}

impl Costs {
    fn of(sweeps: &[Sweep]) -> Costs {
        let spent =
            |sweep: &Sweep| (sweep.done().map(|record| record.cost.seconds).sum(), sweep.done().count());
        let missing: Vec<usize> = sweeps.iter().map(|sweep| sweep.missing().count()).collect();
        let total = missing.iter().sum();
        Costs { spent: sweeps.iter().map(spent).collect(), missing, begin: Instant::now(), total }
    }

    fn add(&mut self, sweep: usize, seconds: f64, threads: usize) -> Pace {
        self.spent[sweep].0 += seconds;
        self.spent[sweep].1 += 1;
        self.missing[sweep] -= 1;
        let mean = |(seconds, count): (f64, usize)| (count > 0).then(|| seconds / count as f64);
        let known: Option<Vec<f64>> = (self.spent.iter().zip(&self.missing))
            .filter(|(_, missing)| **missing > 0)
            .map(|(&spent, &missing)| Some(mean(spent)? * missing as f64))
            .collect();
        let done = self.total - self.missing.iter().sum::<usize>();
        let rate = self.begin.elapsed().as_secs_f64() / done as f64;
        // Until every sweep has finished a run, all runs are assumed to take equally long.
        let left = known
            .map_or(rate * (self.total - done) as f64, |costs| costs.iter().sum::<f64>() / threads as f64);
        Pace { done, total: self.total, left: (done > 1).then_some(left) }
    }
}

/// Reloads earlier runs of the same build with the same settings from the store.
pub fn recall(store: &Store, sweeps: &mut [Sweep]) -> Result<(), ExperimentError> {
    let build = Build::current();
    let mut done: HashMap<(String, String), Vec<_>> = HashMap::new();
    for row in store.runs()?.into_iter().filter(|row| row.status.found().is_some()) {
        done.entry((row.curriculum.clone(), row.method.clone())).or_default().push(row);
    }
    for sweep in sweeps {
        let settings = sweep.settings.json();
        let key = (sweep.curriculum.name.clone(), sweep.method().to_string());
        for row in done.get(&key).into_iter().flatten() {
            let place = row.seed.wrapping_sub(sweep.first_seed) as usize;
            if place >= sweep.results.len() {
                continue;
            }
            let run = store.run(&row.id)?;
            let asked = sweep.new_run(&settings, &build, place);
            if (&*run.spec, &*run.settings, &run.build) == (asked.spec, asked.settings, asked.build) {
                // If times matter, runs that shared caches are not reloaded.
                let fit = |record: &RunRecord| !sweep.alone || record.alone == Some(true);
                if let Some(record) = run.result?.filter(fit) {
                    sweep.results[place] = Some(record);
                }
            }
        }
    }
    Ok(())
}

/// Computes the missing runs, each on one thread; returns false if interrupted.
fn work(
    sweeps: &mut [Sweep],
    store: &mut Store,
    threads: usize,
    monitor: &dyn Monitor,
) -> Result<bool, ExperimentError> {
    let missing = |(c, sweep): (usize, &Sweep)| sweep.missing().map(move |s| (c, s)).collect::<Vec<_>>();
    let mut runs: Vec<(usize, usize)> = sweeps.iter().enumerate().flat_map(missing).collect();
    // Runs with the same seed share their instances: one thread computes them all, if there are enough seeds.
    runs.sort_by_key(|&(c, s)| (sweeps[c].seed(s), c));
    let by_seed: Vec<&[(usize, usize)]> =
        runs.chunk_by(|a, b| sweeps[a.0].seed(a.1) == sweeps[b.0].seed(b.1)).collect();
    let jobs = if by_seed.len() < threads { runs.chunks(1).collect() } else { by_seed };
    monitor.doing(&format!("searching · {} runs", runs.len()));
    let next = AtomicUsize::new(0);
    let shared = Mutex::new((store, Costs::of(sweeps), Vec::new(), None));
    let worker = || {
        // A pool of one thread per run: there are many runs, and each needs much memory.
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().map_err(ExperimentError::from);
        let finish = |c: usize, s: usize, result| {
            let mut shared = shared.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            let (store, costs, results, failure) = &mut *shared;
            match save(store, &sweeps[c], s, result) {
                Ok(result) => {
                    let pace = costs.add(c, result.cost.seconds, threads);
                    monitor.doing(&format!("searching · {pace}"));
                    results.push((c, s, result));
                }
                Err(error) => *failure = Some(error),
            }
            failure.is_none()
        };
        while let Some(job) = jobs.get(next.fetch_add(1, Ordering::SeqCst)) {
            let problems = Arc::<Problems>::default();
            for &(c, s) in *job {
                let own = sweeps[c].alone.then(Arc::<Problems>::default);
                let result = match &pool {
                    Ok(pool) => {
                        let (seed, problems) = (sweeps[c].seed(s), own.as_ref().unwrap_or(&problems));
                        pool.install(|| one(&sweeps[c], seed, problems, None, monitor))
                    }
                    Err(error) => Err(ExperimentError::new(error.to_string())),
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
        sweeps[c].results[s] = Some(result);
    }
    Ok(complete)
}

/// The log of the rewards of a run, from which it is resumed.
pub(super) trait RewardLog {
    /// The rewards that earlier attempts have computed.
    fn known(&self) -> Arc<Known>;

    /// A reward was computed, or taken from the log.
    fn computed(&self, reward: RewardKey, value: f64);
}

/// Observer that stops on request and collects the learning curves.
struct Watcher<'a> {
    monitor: &'a dyn Monitor,
    /// The log of its rewards, if it is to be resumed in the middle.
    log: Option<&'a dyn RewardLog>,
    sampler: Sampler,
    samples: Vec<Sample>,
}

/// Points of a learning curve per factor of e; few, because sweeps have many runs.
const POINTS: u64 = 20;

impl Observer for Watcher<'_> {
    fn evaluated(&mut self, reward: RewardKey, value: f64) {
        self.log.iter().for_each(|log| log.computed(reward, value));
    }

    fn continues(&mut self, progress: &Progress) -> bool {
        self.samples.extend(self.sampler.take(progress));
        !self.monitor.stopped()
    }

    fn begins(&mut self, _number: usize) {
        self.sampler.take_next();
    }

    fn ended(&mut self, number: usize, result: &StageResult) {
        self.samples.extend(self.sampler.take_last(number, result));
    }
}

/// A run that has ended, with its learning curves.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct FinishedRun {
    /// When it began, in seconds since 1970.
    pub began: i64,
    /// Its record, without an id.
    pub record: RunRecord,
    /// Points of its learning curves.
    pub samples: Vec<Sample>,
}

impl FinishedRun {
    /// Enters it into a store; `alone` says of runs of a sweep whether they shared no caches.
    pub(super) fn admit(
        self,
        store: &mut Store,
        new: &NewRun,
        alone: Option<bool>,
    ) -> Result<RunRecord, StoreError> {
        let record = |id: &RunId| RunRecord { run: id.to_string(), alone, ..self.record };
        store.admit(new, self.began, &self.samples, record)
    }
}

/// Computes the run of a sweep with this seed; `None` if it was interrupted.
pub(super) fn one(
    sweep: &Sweep,
    seed: u64,
    problems: &Arc<Problems>,
    log: Option<&dyn RewardLog>,
    monitor: &dyn Monitor,
) -> Result<Option<FinishedRun>, ExperimentError> {
    let began = now();
    let curriculum = sweep.settings.apply(sweep.curriculum.clone());
    let approach = sweep.settings.approach();
    let mut watcher = Watcher { monitor, log, sampler: Sampler::new(POINTS), samples: Vec::new() };
    let mut context = Context {
        problems: problems.clone(),
        known: log.map(RewardLog::known).unwrap_or_default(),
        policy: sweep.settings.policy(),
        observer: Some(&mut watcher),
        ..Context::default()
    };
    let discovery = discover(&curriculum, approach, seed, &mut context)?;
    let record = || RunRecord {
        policy: sweep.settings.policy_record(),
        ..RunRecord::new("", &curriculum, approach.method.name(), seed, &discovery)
    };
    let samples = watcher.samples;
    Ok((!discovery.interrupted).then(|| FinishedRun { began, record: record(), samples }))
}

/// Writes a result to the store under a new id.
fn save(
    store: &mut Store,
    sweep: &Sweep,
    place: usize,
    finished: Result<FinishedRun, ExperimentError>,
) -> Result<RunRecord, ExperimentError> {
    let finished = finished?;
    let (settings, build) = (sweep.settings.json(), Build::current());
    let new = sweep.new_run(&settings, &build, place);
    // One transaction: a killed process leaves the whole run or nothing of it.
    store.together(|store| Ok(finished.admit(store, &new, Some(sweep.alone))?))
}

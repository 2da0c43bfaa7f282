//! `rl4rla sweep`.

use crate::args::{Shared, Sweep};
use crate::commands::discover::live::{listen, spinner, stopped};
use crate::commands::discover::present::{Meta, document};
use crate::commands::discover::{INTERRUPTED, Settings, method, settings};
use crate::curriculum;
use crate::failure::Failure;
use crate::page::{Page, accent, duration, faint, ledger, strong};
use indicatif::ProgressBar;
use rl4rla::curriculum::{Curriculum, Follow, discover_among};
use rl4rla::discovery::{Known, Observe, Problems, Progress};
use rl4rla::store::{NewRun, Status, Store};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// One curriculum searched one way, by many seeds.
struct Campaign {
    curriculum: Curriculum,
    settings: Settings,
    first_seed: u64,
    /// The results, by seed from the first on.
    results: Vec<Option<Value>>,
}

impl Campaign {
    fn seed(&self, place: usize) -> u64 {
        self.first_seed.wrapping_add(place as u64)
    }

    fn new_run<'a>(&'a self, settings: &'a str, place: usize) -> NewRun<'a> {
        NewRun {
            curriculum: &self.curriculum.name,
            method: self.settings.approach().method.name(),
            seed: self.seed(place),
            spec: &self.curriculum.text,
            settings,
            version: env!("CARGO_PKG_VERSION"),
        }
    }
}

/// Goes on until someone asks to stop.
struct Patience;

impl Observe for Patience {
    fn goes_on(&mut self, _: &Progress) -> bool {
        !stopped()
    }
}

impl Follow for Patience {}

/// Runs every curriculum with every method and every seed.
pub fn run(args: &Sweep, shared: &Shared) -> Result<Page, Failure> {
    let mut campaigns = Vec::new();
    for name in &args.curricula {
        for way in &args.methods {
            let settings = settings(&args.searching, method(way)?)?;
            let curriculum = curriculum::find(name)?;
            let results = vec![None; args.seeds as usize];
            campaigns.push(Campaign { curriculum, settings, first_seed: args.seed, results });
        }
    }
    listen();
    let mut store = Store::open(&shared.store)?;
    recall(&store, &mut campaigns)?;
    let threads = args.threads.threads.map_or_else(cores, |threads| threads as usize);
    let bar = spinner(shared);
    let complete = work(&mut campaigns, &mut store, threads, &bar)?;
    bar.finish_and_clear();
    if !complete {
        let text = "interrupted; the same command goes on from here\n".to_string();
        return Ok(Page { json: json!({ "interrupted": true }), text, code: INTERRUPTED });
    }
    let rows: Vec<Row> = campaigns.iter().flat_map(rows).collect();
    let good = rows.iter().all(|row| row.successes == row.seeds);
    let json = json!({ "rows": rows.iter().map(Row::json).collect::<Vec<_>>() });
    let head = ["transition", "method", "found", "playouts", "median", "programs", "evaluations", "time"];
    let mut text = String::new();
    for group in rows.chunk_by(|a, b| a.curriculum == b.curriculum) {
        let table = ledger(&head, group.iter().map(Row::cells), 2..8);
        text += &format!("{}\n{table}\n", strong(&group[0].curriculum));
    }
    if !shared.quiet {
        text += &faint("means over the runs that reached the stage; median of their playouts");
    }
    Ok(Page { json, text, code: u8::from(!good) })
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Takes from the store what was done before, by the same version with the same settings.
fn recall(store: &Store, campaigns: &mut [Campaign]) -> Result<(), Failure> {
    let mut done: HashMap<(String, String), Vec<_>> = HashMap::new();
    for row in store.runs()?.into_iter().filter(|row| row.status.found().is_some()) {
        done.entry((row.curriculum.clone(), row.method.clone())).or_default().push(row);
    }
    for campaign in campaigns {
        let settings = campaign.settings.json();
        let key = (campaign.curriculum.name.clone(), campaign.settings.approach().method.name().to_string());
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
                campaign.results[place] = run.result.and_then(|result| serde_json::from_str(&result).ok());
            }
        }
    }
    Ok(())
}

/// Runs what is missing, each run on one thread; says no if it was interrupted.
fn work(
    campaigns: &mut [Campaign],
    store: &mut Store,
    threads: usize,
    bar: &ProgressBar,
) -> Result<bool, Failure> {
    let missing = |(c, campaign): (usize, &Campaign)| -> Vec<(usize, usize)> {
        (0..campaign.results.len()).filter(|&s| campaign.results[s].is_none()).map(|s| (c, s)).collect()
    };
    let mut runs: Vec<(usize, usize)> = campaigns.iter().enumerate().flat_map(missing).collect();
    // Runs with one seed share their instances: one thread does them all, as long as there are enough seeds.
    runs.sort_by_key(|&(c, s)| (s, c));
    let by_seed: Vec<&[(usize, usize)]> = runs.chunk_by(|a, b| a.1 == b.1).collect();
    let jobs = if by_seed.len() < threads { runs.chunks(1).collect() } else { by_seed };
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let shared = Mutex::new((store, Vec::new(), None));
    let worker = || {
        // A pool of its own keeps a run to one thread: runs are many, and their memory is large.
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().map_err(Failure::from);
        let finish = |c: usize, s: usize, result| {
            let mut shared = shared.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            let (store, results, failure) = &mut *shared;
            match save(store, &campaigns[c], s, result) {
                Ok(result) => results.push((c, s, result)),
                Err(error) => *failure = Some(error),
            }
            failure.is_none()
        };
        while let Some(job) = jobs.get(next.fetch_add(1, Ordering::SeqCst)) {
            let problems = Problems::default();
            for &(c, s) in *job {
                let result = match &pool {
                    Ok(pool) => pool.install(|| one(&campaigns[c], s, &problems)),
                    Err(error) => Err(Failure::new(error.to_string())),
                };
                if matches!(result, Ok(None)) || !finish(c, s, result) {
                    return;
                }
                let count = done.fetch_add(1, Ordering::SeqCst) + 1;
                bar.set_message(format!("{count} of {} runs", runs.len()));
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..threads.min(jobs.len()) {
            scope.spawn(worker);
        }
    });
    let (_, results, failure) = shared.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    if let Some(failure) = failure {
        return Err(failure);
    }
    let complete = results.len() == runs.len();
    for (c, s, result) in results {
        campaigns[c].results[s] = Some(result);
    }
    Ok(complete)
}

/// One run; none if it was interrupted.
fn one(campaign: &Campaign, place: usize, problems: &Problems) -> Result<Option<Value>, Failure> {
    let seed = campaign.seed(place);
    let curriculum = campaign.settings.apply(campaign.curriculum.clone());
    let approach = campaign.settings.approach();
    let discovery = discover_among(&curriculum, approach, seed, &Known::default(), problems, &mut Patience)?;
    let meta = Meta { run: "", method: approach.method.name(), seed };
    Ok((!discovery.interrupted).then(|| document(&curriculum, &discovery, &meta)))
}

/// Writes a result into the store, under an id of its own.
fn save(
    store: &mut Store,
    campaign: &Campaign,
    place: usize,
    result: Result<Option<Value>, Failure>,
) -> Result<Value, Failure> {
    let mut result = result?.expect("an interrupted run is not saved");
    let settings = campaign.settings.json();
    let run = store.begin(&campaign.new_run(&settings, place))?;
    result["run"] = json!(run.as_str());
    for (number, stage) in result["stages"].as_array().into_iter().flatten().enumerate() {
        let seconds = stage["seconds"].as_f64().unwrap_or_default();
        store.finish_stage(&run, number as u32, &stage.to_string(), seconds)?;
    }
    store.add_seconds(&run, result["seconds"].as_f64().unwrap_or_default())?;
    let found = result["found"] == json!(true);
    store.finish(&run, Status::Done { found }, &result.to_string())?;
    Ok(result)
}

/// One transition, or all of them together.
struct Row {
    curriculum: String,
    transition: String,
    method: &'static str,
    seeds: usize,
    successes: usize,
    playouts: Vec<f64>,
    evaluations: Vec<f64>,
    programs: Vec<f64>,
    seconds: Vec<f64>,
    revisit_rates: Vec<f64>,
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// A quantile, linear between the order statistics.
fn quantile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let place = share * (sorted.len() - 1) as f64;
    let (low, high) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
    low + (high - low) * place.fract()
}

/// The rows of a campaign: a stage counts the runs that reached it, the last row all of them.
fn rows(campaign: &Campaign) -> Vec<Row> {
    let results: Vec<&Value> = campaign.results.iter().flatten().collect();
    let row = |transition: String, parts: Vec<&Value>| {
        let numbers =
            |key: &str| -> Vec<f64> { parts.iter().filter_map(|part| part[key].as_f64()).collect() };
        Row {
            curriculum: campaign.curriculum.name.clone(),
            transition,
            method: campaign.settings.approach().method.name(),
            seeds: parts.len(),
            successes: parts.iter().filter(|part| part["found"] == json!(true)).count(),
            playouts: numbers("playouts"),
            evaluations: numbers("evaluations"),
            programs: numbers("programs"),
            seconds: numbers("seconds"),
            revisit_rates: numbers("revisit_rate"),
        }
    };
    let stages = &campaign.curriculum.stages;
    let mut from = if campaign.curriculum.start.is_empty() { "∅" } else { "start" };
    let mut rows = Vec::new();
    for (number, (stage, _)) in stages.iter().enumerate() {
        let reached: Vec<&Value> = results.iter().filter_map(|result| result["stages"].get(number)).collect();
        if !reached.is_empty() {
            rows.push(row(format!("{from} → {}", stage.name), reached));
        }
        from = &stage.name;
    }
    rows.push(row("total".into(), results));
    rows
}

impl Row {
    fn json(&self) -> Value {
        json!({
            "curriculum": self.curriculum,
            "transition": self.transition,
            "method": self.method,
            "seeds": self.seeds,
            "successes": self.successes,
            "playouts_mean": mean(&self.playouts),
            "playouts_median": quantile(&self.playouts, 0.5),
            "playouts_iqr": quantile(&self.playouts, 0.75) - quantile(&self.playouts, 0.25),
            "evaluations_mean": mean(&self.evaluations),
            "programs_mean": mean(&self.programs),
            "seconds_mean": mean(&self.seconds),
            "revisit_rate_mean": mean(&self.revisit_rates),
        })
    }

    fn cells(&self) -> Vec<String> {
        vec![
            accent(&self.transition),
            self.method.into(),
            format!("{}/{}", self.successes, self.seeds),
            format!("{:.0}", mean(&self.playouts)),
            format!("{:.0}", quantile(&self.playouts, 0.5)),
            format!("{:.0}", mean(&self.programs)),
            format!("{:.0}", mean(&self.evaluations)),
            duration(mean(&self.seconds)),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_lie_between_order_statistics() {
        assert_eq!(quantile(&[3.0, 1.0, 2.0], 0.5), 2.0);
        assert_eq!(quantile(&[1.0, 2.0], 0.5), 1.5);
        assert_eq!(quantile(&[4.0], 0.25), 4.0);
    }
}

//! End-to-end seconds of every curriculum, split: `cargo bench --bench curricula [-- NAME...]`. One seed, one thread, the
//! median of five runs.
//!
//! `-- --guard` compares the stages with those recorded in `curricula.txt` and fails if the evaluations or the seconds of
//! one have grown by a quarter; `-- --record` records them. Seconds are in units of kernels that are measured beside
//! every run, so that a record made on one machine serves on another.

use rl4rla::clock::{self, WorkPhase};
use rl4rla::curriculum::{BUILTIN, Curriculum, Discovery, discover};
use rl4rla::discovery::{Approach, Context};
use rl4rla::linalg::{Matrix, gram, inverse, mat_vec, vec_mat};
use rl4rla::rng::Stream;
use rl4rla::search::Method;
use std::collections::BTreeMap;
use std::hint::black_box;
use std::process::ExitCode;
use std::time::Instant;
use std::{env, fs};

/// How many times each curriculum is run.
const RUNS: usize = 5;

/// The growth that fails.
const WORSE: f64 = 1.25;

/// Stages below this many units are not compared by time: they are over before a clock tells much.
const SHORT: f64 = 20.0;

/// The record, one stage a line: curriculum, stage, evaluations, units.
const RECORD: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/curricula.txt");

/// Evaluations and time, in units, of stages by curriculum and name.
type Stages = BTreeMap<(String, String), (u64, f64)>;

/// The seconds of one unit: what a search is made of, from drawing an instance to a small inverse.
fn unit() -> f64 {
    let normals = Stream::new(1).normals(10_050 * 50);
    let tall = Matrix::from_fn(10_000, 50, |i, j| normals[50 * i + j]);
    let small = Matrix::from_fn(50, 50, |i, j| normals[500_000 + 50 * i + j]);
    let (x, v) = (vec![1.0; 50], vec![1.0; 10_000]);
    let once = || {
        let start = Instant::now();
        black_box(Stream::new(2).normals(100_000));
        black_box((gram(&tall), mat_vec(&tall, &x), vec_mat(&v, &tall)));
        (0..10).for_each(|_| drop(black_box(inverse(&small))));
        start.elapsed().as_secs_f64()
    };
    (0..20).map(|_| once()).fold(f64::INFINITY, f64::min)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Runs a curriculum, prints its line and returns its stages.
fn measure(name: &str, pool: &rayon::ThreadPool) -> Stages {
    let curriculum = Curriculum::named(name).expect("built in").expect("well written");
    let approach = Approach::new(Method::Best);
    let (mut totals, mut parts, mut stages) = (vec![], vec![vec![]; WorkPhase::ALL.len()], Vec::new());
    let mut last: Option<Discovery> = None;
    for _ in 0..RUNS {
        let unit = unit();
        clock::start();
        let start = Instant::now();
        let run = || discover(&curriculum, &approach, 0, &mut Context::default());
        let discovery = pool.install(run).expect("its families can be drawn");
        totals.push(start.elapsed().as_secs_f64());
        parts.iter_mut().zip(WorkPhase::ALL).for_each(|(of, part)| of.push(clock::spent(part).as_secs_f64()));
        stages.push(discovery.stages.iter().map(|stage| stage.seconds / unit).collect::<Vec<f64>>());
        last = Some(discovery);
    }
    let discovery = last.expect("there are runs");
    let parts = parts.into_iter().zip(WorkPhase::ALL);
    let parts: Vec<String> =
        parts.map(|(seconds, part)| format!("{} {:.2}", part.name(), median(seconds))).collect();
    println!(
        "{name}: {:.2} s ({}), {} evaluations, found: {}",
        median(totals),
        parts.join(", "),
        discovery.counters().evaluations,
        discovery.found
    );
    let units = |i: usize| median(stages.iter().map(|run| run[i]).collect());
    let row = |(i, stage): (usize, &rl4rla::discovery::StageResult)| {
        ((name.to_string(), stage.name.clone()), (stage.attempt.counters.evaluations, units(i)))
    };
    discovery.stages.iter().enumerate().map(row).collect()
}

/// The stages recorded.
fn recorded() -> Stages {
    let text = fs::read_to_string(RECORD).unwrap_or_else(|error| panic!("{RECORD}: {error}"));
    let row = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [curriculum, stage, evaluations, units] = words[..] else {
            panic!("{RECORD}: expected four words: {line}")
        };
        let key = (curriculum.to_string(), stage.to_string());
        (key, (evaluations.parse().expect("a count"), units.parse().expect("a number")))
    };
    text.lines().filter(|line| !line.starts_with('#')).map(row).collect()
}

/// Prints what has become worse; returns whether nothing has.
fn compare(now: &Stages, before: &Stages) -> bool {
    let mut good = true;
    for ((curriculum, stage), (evaluations, units)) in now {
        let Some((known, usual)) = before.get(&(curriculum.clone(), stage.clone())) else {
            println!("{curriculum}/{stage} is not in the record");
            continue;
        };
        let more = *evaluations as f64 > WORSE * *known as f64;
        let slower = *units > WORSE * usual.max(SHORT);
        if more || slower {
            println!(
                "worse: {curriculum}/{stage}: {evaluations} evaluations in {units:.0} units, recorded {known} in {usual:.0}"
            );
            good = false;
        }
    }
    good
}

fn main() -> ExitCode {
    let args: Vec<String> = env::args().skip(1).collect();
    let names: Vec<&str> = args.iter().filter(|arg| !arg.starts_with('-')).map(String::as_str).collect();
    // Those in folders are variants.
    let usual = || BUILTIN.iter().map(|(name, _)| *name).filter(|name| !name.contains('/')).collect();
    let names: Vec<&str> = if names.is_empty() { usual() } else { names };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
    let mut stages = Stages::new();
    names.into_iter().for_each(|name| stages.append(&mut measure(name, &pool)));
    if args.iter().any(|arg| arg == "--record") {
        let line = |((curriculum, stage), (evaluations, units)): (&(String, String), &(u64, f64))| {
            format!("{curriculum} {stage} {evaluations} {units:.1}\n")
        };
        let head = "# curriculum, stage, evaluations, time in units of benches/curricula.rs\n";
        fs::write(RECORD, head.to_string() + &stages.iter().map(line).collect::<String>()).expect("a file");
    }
    let good = !args.iter().any(|arg| arg == "--guard") || compare(&stages, &recorded());
    if good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

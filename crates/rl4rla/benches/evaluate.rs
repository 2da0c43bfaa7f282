//! Rewards per second on the candidates of real stages, reduced and full: `cargo bench --bench evaluate`.
//!
//! Each line is one stage: the programs that a few random walks through its moves meet, on two of its instances.

use rl4rla::curriculum::Curriculum;
use rl4rla::discovery::Stage;
use rl4rla::execute::{PreparedInstance, RunSettings, run};
use rl4rla::linalg::dot;
use rl4rla::problem::{Family, InstanceSet};
use rl4rla::program::{Entry, Program};
use rl4rla::reward::{Protocol, reward, score};
use rl4rla::rng::Stream;
use std::collections::BTreeMap;
use std::hint::black_box;
use std::time::Instant;

/// Curriculum, number of the stage, the program it starts from, and whether candidates may draw.
const STAGES: [(&str, usize, &str, bool); 6] = [
    ("precond-weighted-sgd", 3, "ls-gd", false),
    ("precond-weighted-sgd", 4, "precond-gd", false),
    ("precond-weighted-sgd", 4, "precond-gd", true),
    ("precond-weighted-sgd", 6, "sketched-precond-sgd", true),
    ("block-kaczmarz", 2, "ls-gd", true),
    ("block-kaczmarz", 3, "sgd", true),
];

/// The finished programs met by random walks through a stage's moves.
fn candidates(stage: &Stage, start: &Program, draws: bool, count: usize) -> Vec<Program> {
    let mut found = BTreeMap::new();
    for walk in 0..20 * count as u64 {
        let mut program = stage.grammar.state(start).program().clone();
        let stream = Stream::new(walk).uniforms(stage.edits);
        for (i, u) in stream.iter().enumerate() {
            let legal = stage.grammar.legal(&program, stage.edits - i);
            let Some(chosen) = legal.get((u * legal.len() as f64) as usize) else { break };
            program = stage.grammar.state(&chosen.apply(&program)).program().clone();
        }
        let finished = stage.grammar.finish(&program);
        let drawing = finished.program().instructions().any(|(_, _, ins)| ins.op.draws());
        if stage.grammar.is_well_shaped(&program) && (draws || !drawing) {
            found.insert(finished.id(), finished.program().clone());
        }
        if found.len() == count {
            break;
        }
    }
    found.into_values().collect()
}

/// Seconds for one of many.
fn seconds_each<T>(work: &[T], mut one: impl FnMut(&T)) -> f64 {
    let start = Instant::now();
    work.iter().for_each(&mut one);
    start.elapsed().as_secs_f64() / work.len() as f64
}

/// The least microseconds of a reward over some rounds, once everything shared is there.
fn microseconds(pairs: &[(&Program, &PreparedInstance)], protocol: &Protocol) -> f64 {
    let stream = Stream::new(3);
    let round = || {
        seconds_each(pairs, |(program, instance)| {
            black_box(reward(program, instance, protocol, &stream));
        })
    };
    round();
    (0..5).map(|_| round()).fold(f64::INFINITY, f64::min) * 1e6
}

fn stage(name: &str, number: usize) -> Stage {
    Curriculum::named(name).expect("built in").expect("well written").stages.swap_remove(number).0
}

fn main() {
    println!("rewards of candidates, one thread");
    for (name, number, start, draws) in STAGES {
        let stage = stage(name, number);
        let start = &Entry::named(start).expect("a name").document.program;
        let programs = candidates(&stage, start, draws, 200);
        let streams = [0, 1].map(|i| InstanceSet::Search.stream(1, i));
        let prepared =
            streams.map(|stream| PreparedInstance::draw(&stage.families[0], &stream).expect("can be drawn"));
        let stream = Stream::new(3);
        let pairs: Vec<(&Program, &PreparedInstance)> = prepared
            .iter()
            .flat_map(|instance| programs.iter().map(move |program| (program, instance)))
            .collect();
        let first = seconds_each(&pairs, |(program, instance)| {
            black_box(reward(program, instance, &stage.protocol, &stream));
        });
        let reduced = microseconds(&pairs, &stage.protocol);
        let some: Vec<_> = pairs.iter().take(programs.len()).step_by(programs.len() / 20 + 1).collect();
        some[0].1.instance();
        let full = 1e6
            * seconds_each(&some, |(program, instance)| {
                black_box(score(program, &instance.instance(), &stage.protocol, &stream));
            });
        println!(
            "{name}/{}{}, {} programs, T = {}: first {:.0} µs, then {reduced:.1} µs ({:.0}/s); full executor {full:.0} µs, {:.0} times as long",
            stage.name,
            if draws { "" } else { ", no draws" },
            programs.len(),
            stage.protocol.iterations,
            first * 1e6,
            1e6 / reduced,
            full / reduced,
        );
    }
    full_executor();
    growth();
}

/// A run of gradient descent by the full executor against reading A as often as it must: twice an iteration, and once
/// for the residual.
fn full_executor() {
    let family = Family::named("low-cond").expect("a family");
    let instance = family.draw(&Stream::new(1)).expect("can be drawn");
    let program = &Entry::named("ls-gd").expect("a name").document.program;
    let settings = RunSettings::for_size(family.rows, family.cols);
    let array = vec![1.0; family.rows * family.cols];
    let least = |work: &mut dyn FnMut()| {
        (0..20).map(|_| seconds_each(&[()], |()| work())).fold(f64::INFINITY, f64::min)
    };
    let read = least(&mut || {
        black_box(dot(black_box(&array), black_box(&array)));
    });
    let run = least(&mut || {
        black_box(run(program, &instance, &settings, &Stream::new(2)).expect("runs"));
    });
    let passes = 3 * settings.iterations + 1;
    println!(
        "full executor, ls-gd, 10000 × 50, T = 10: {:.0} µs; reading A {passes} times {:.0} µs; {:.2} times the limit",
        run * 1e6,
        passes as f64 * read * 1e6,
        run / (passes as f64 * read)
    );
}

/// How a reward's cost grows with m, n, T and the length of programs, where nothing is drawn.
fn growth() {
    let base = stage("precond-weighted-sgd", 3);
    let start = &Entry::named("ls-gd").expect("a name").document.program;
    let programs = candidates(&base, start, false, 40);
    let cost = |rows: usize, cols: usize, iterations: usize, programs: &[Program]| {
        let family = Family { rows, cols, ..base.families[0] };
        let prepared = PreparedInstance::draw(&family, &Stream::new(1)).expect("can be drawn");
        let protocol = Protocol { iterations, ..base.protocol.clone() };
        let pairs: Vec<_> = programs.iter().map(|program| (program, &prepared)).collect();
        microseconds(&pairs, &protocol)
    };
    for rows in [1_000, 10_000, 100_000, 1_000_000] {
        println!("m = {rows}, n = 50, T = 10: {:.1} µs", cost(rows, 50, 10, &programs));
    }
    for cols in [10, 25, 50, 100, 200] {
        println!("m = 10000, n = {cols}, T = 10: {:.1} µs", cost(10_000, cols, 10, &programs));
    }
    for iterations in [1, 10, 100, 1000] {
        println!("m = 10000, n = 50, T = {iterations}: {:.1} µs", cost(10_000, 50, iterations, &programs));
    }
    for name in ["ls-gd", "precond-gd", "sketched-precond-gd"] {
        let program = Entry::named(name).expect("a name").document.program.clone();
        let length = program.len();
        println!(
            "{name}, {length} instructions, m = 10000, n = 50, T = 10: {:.1} µs",
            cost(10_000, 50, 10, &[program])
        );
    }
}

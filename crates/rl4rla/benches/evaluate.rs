//! Rewards per second on the candidates of real stages, reduced and full: `cargo bench --bench evaluate`.
//!
//! Each line is one stage: the programs that a few random walks through its moves meet, on two of its instances.

use rl4rla::curriculum::Curriculum;
use rl4rla::discovery::Stage;
use rl4rla::execute::Prepared;
use rl4rla::linalg::mat_vec;
use rl4rla::problem::InstanceSet;
use rl4rla::program::{Entry, Program};
use rl4rla::reward::{reward, score};
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
        let luck = Stream::new(walk).uniforms(stage.edits);
        for (i, u) in luck.iter().enumerate() {
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

fn main() {
    println!(
        "stage, programs, T: reduced µs (per second), full µs, ratio, full against reading A for it alone"
    );
    for (name, number, start, draws) in STAGES {
        let curriculum = Curriculum::named(name).expect("built in").expect("well written");
        let stage = &curriculum.stages[number].0;
        let start = &Entry::named(start).expect("a name").document.program;
        let programs = candidates(stage, start, draws, 200);
        let streams = [0, 1].map(|i| InstanceSet::Search.stream(1, i));
        let prepared =
            streams.map(|stream| Prepared::draw(&stage.families[0], &stream).expect("can be drawn"));
        let luck = Stream::new(3);
        let pairs: Vec<(&Program, &Prepared)> = prepared
            .iter()
            .flat_map(|instance| programs.iter().map(move |program| (program, instance)))
            .collect();
        // What the rows of a sample and a sketch cost is told apart by doing it all once before.
        let cold = seconds_each(&pairs, |(program, instance)| {
            black_box(reward(program, instance, &stage.protocol, &luck));
        });
        let warm = (0..3)
            .map(|_| {
                seconds_each(&pairs, |(program, instance)| {
                    black_box(reward(program, instance, &stage.protocol, &luck));
                })
            })
            .fold(f64::INFINITY, f64::min);
        prepared[0].instance();
        let some: Vec<_> = pairs.iter().take(programs.len()).step_by(10).collect();
        let full = seconds_each(&some, |(program, instance)| {
            black_box(score(program, instance.instance(), &stage.protocol, &luck));
        });
        let (a, x) = (&prepared[0].instance().A, vec![1.0; stage.families[0].cols]);
        let pass = seconds_each(&[(); 50], |()| {
            black_box(mat_vec(a, black_box(&x)));
        });
        println!(
            "{name}/{}{}, {} programs, T = {}: {:.1} µs cold, {:.1} µs ({:.0}/s), {:.0} µs, {:.0}×, pass over A {:.1} µs",
            stage.name,
            if draws { "" } else { " (deterministic)" },
            programs.len(),
            stage.protocol.iterations,
            cold * 1e6,
            warm * 1e6,
            1.0 / warm,
            full * 1e6,
            full / warm,
            pass * 1e6,
        );
    }
}

//! How long a run takes on the true matrices and in reduced coordinates: `cargo bench --bench execute`.

use criterion::{Criterion, criterion_group, criterion_main};
use rl4rla::execute::{PreparedInstance, RunSettings, run, run_prepared};
use rl4rla::problem::Family;
use rl4rla::program::Entry;
use rl4rla::reward::{Profile, Protocol, SOUND_GRID, StepRule, reward};
use rl4rla::rng::Stream;

const PROGRAMS: [&str; 5] =
    ["ls-gd", "sketched-precond-gd", "sketched-precond-gd-gram", "precond-gd", "precond-weighted-sgd"];

fn bench(c: &mut Criterion) {
    let stream = Stream::new(2);
    for (rows, cols, iterations) in [(10_000, 50, 10), (1000, 20, 30)] {
        let family = Family { rows, cols, outside: 0.1, ..Family::named("mid-cond").expect("a family") };
        let prepared = PreparedInstance::new(family.draw(&Stream::new(1)).expect("can be drawn"));
        let settings = RunSettings { iterations, ..RunSettings::for_size(rows, cols) };
        let mut protocol = Protocol::new(Profile::sound(), StepRule::Best(SOUND_GRID.to_vec()));
        protocol.iterations = iterations;
        for name in PROGRAMS {
            let program = &Entry::named(name).expect("a name").document.program;
            let label = |what: &str| format!("{what}/{rows}x{cols}/T={iterations}/{name}");
            c.bench_function(&label("full"), |b| {
                b.iter(|| run(program, &prepared.instance(), &settings, &stream));
            });
            c.bench_function(&label("reduced"), |b| {
                b.iter(|| run_prepared(program, &prepared, &settings, &stream));
            });
            c.bench_function(&label("reward of eight steps"), |b| {
                b.iter(|| reward(program, &prepared, &protocol, &stream));
            });
        }
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(10)
        .warm_up_time(std::time::Duration::from_millis(300))
        .measurement_time(std::time::Duration::from_secs(1))
        .without_plots();
    targets = bench
}
criterion_main!(benches);

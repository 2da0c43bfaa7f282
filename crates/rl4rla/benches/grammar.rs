//! How long it takes to list the legal edits: `cargo bench --bench grammar`.

use criterion::{Criterion, criterion_group, criterion_main};
use rl4rla::program::{Entry, Geometry, Grammar, Reg, RegSet};
use std::hint::black_box;

fn bench(c: &mut Criterion) {
    let program = |name: &str| &Entry::named(name).expect("a name").document.program;
    let small: RegSet = [Reg::A, Reg::B, Reg::X, Reg::V1, Reg::R1].into_iter().collect();
    for (registers, set) in [("five registers", small), ("all registers", RegSet::all())] {
        let grammar = Grammar { registers: set, ..Grammar::full(Geometry::Tall) };
        for name in ["ls-gd", "precond-gd"] {
            for remaining in 1..=3 {
                let label = format!("legal/{registers}/{name}/{remaining} edits left");
                c.bench_function(&label, |b| b.iter(|| grammar.legal(black_box(program(name)), remaining)));
            }
        }
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(10).without_plots();
    targets = bench
}
criterion_main!(benches);

//! How long it takes to know what a program is: `cargo bench --bench equivalence`.

use criterion::{Criterion, criterion_group, criterion_main};
use rl4rla::equivalence::{Normal, fingerprint};
use rl4rla::program::{CATALOGUE, Canonical, LiveOut};

fn bench(c: &mut Criterion) {
    for entry in CATALOGUE.iter() {
        let (program, geometry) = (&entry.document.program, entry.signature());
        let name = entry.name;
        c.bench_function(&format!("canonical/{name}"), |b| {
            b.iter(|| Canonical::new(program, LiveOut::Finished));
        });
        c.bench_function(&format!("normal form/{name}"), |b| b.iter(|| Normal::of(program, geometry)));
        c.bench_function(&format!("fingerprint/{name}"), |b| {
            b.iter(|| fingerprint(program, geometry, LiveOut::PARTIAL));
        });
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20).without_plots();
    targets = bench
}
criterion_main!(benches);

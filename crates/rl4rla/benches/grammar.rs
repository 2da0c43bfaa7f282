//! How long it takes to list the legal edits: `cargo bench --bench grammar`.

use criterion::{Criterion, criterion_group, criterion_main};
use rl4rla::program::{Entry, Geometry, Grammar, Program, Reg, RegSet, Section};
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

/// States in the middle of a search for what to do in the iteration: some fit, some need repairs.
const DRAFTS: [(&str, &str); 4] = [
    (
        "fits, 5 instructions",
        "setup:\n R1 = SKETCH(A)\n R1 = HHQR(R1)\niteration:\n v1 = MAT_VEC_MUL(A, x)\n \
         v1 = VEC_VEC_SUB(v1, b)\n v1 = VEC_MAT_MUL(v1, A)\n",
    ),
    (
        "fits, 8 instructions",
        "setup:\n R1 = SKETCH(A)\n R1 = HHQR(R1)\n R1 = MAT_INV(R1)\niteration:\n v1 = MAT_VEC_MUL(A, x)\n \
         v1 = VEC_VEC_SUB(v1, b)\n v1 = VEC_MAT_MUL(v1, A)\n v1 = VEC_MAT_MUL(v1, R1)\n \
         v1 = MAT_VEC_MUL(R1, v1)\n",
    ),
    ("needs a repair, 2 instructions", "iteration:\n v1 = MAT_VEC_MUL(A, x)\n v1 = VEC_VEC_SUB(v1, b)\n"),
    (
        "needs a repair, 6 instructions",
        "setup:\n R1 = SKETCH(A)\niteration:\n v2 = MAT_VEC_MUL(R1, x)\n v2 = VEC_MAT_MUL(v2, R1)\n \
         v1 = MAT_VEC_MUL(A, x)\n v1 = VEC_VEC_SUB(v1, b)\n v1 = TRIANGULAR_SOLVE(R1, v1)\n",
    ),
];

fn bench_iteration(c: &mut Criterion) {
    let registers: RegSet =
        ["A", "b", "x", "eta", "v1", "v2", "R1"].into_iter().filter_map(Reg::named).collect();
    let grammar = Grammar { registers, open: vec![Section::Iteration], ..Grammar::full(Geometry::Tall) };
    for (name, text) in DRAFTS {
        let draft: Program = text.parse().expect("a program");
        let draft = grammar.state(&draft);
        for remaining in 1..=4 {
            let label = format!("legal/iteration/{name}/{remaining} edits left");
            c.bench_function(&label, |b| b.iter(|| grammar.legal(black_box(draft.program()), remaining)));
        }
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(10).without_plots();
    targets = bench, bench_iteration
}
criterion_main!(benches);

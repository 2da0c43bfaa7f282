//! Large data: the same runs as on the true matrices, up to rounding, with few passes over A and any number of threads.

use rayon::prelude::*;
use rl4rla::execute::*;
use rl4rla::linalg::{Matrix, Sparse, norm, sub};
use rl4rla::problem::{Family, Instance, Linear, Task};
use rl4rla::program::{Document, Entry, Geometry, Program, Update};
use rl4rla::rng::Stream;

fn problem(rows: usize, cols: usize, seed: u64) -> (Instance, Instance) {
    let family =
        Family { rows, cols, outside: 0.3, condition: Some(30.0), ..Family::named("mid-cond").unwrap() };
    let instance = family.draw(&Stream::new(seed)).unwrap();
    let a = Matrix::from_row_major(rows, cols, instance.A.row_major().to_vec());
    let large = Linear.pose_unsolved(a, instance.b.clone()).unwrap();
    (instance, large)
}

/// Every named program for tall linear systems.
fn programs() -> Vec<&'static Entry> {
    let tall = |entry: &&Entry| entry.signature() == Geometry::Tall.into() && is_linear(&entry.document);
    let found: Vec<&Entry> = Entry::known().filter(tall).collect();
    assert!(found.len() >= 10, "{}", found.len());
    found
}

fn is_linear(document: &Document) -> bool {
    document.update == Update::Subtract
        && document.program.instructions().all(|(_, _, instruction)| instruction.op.is_core())
}

fn settings(rows: usize, cols: usize, sketch: SketchKind, sampling: Sampling) -> RunSettings {
    let (sketch_rows, batch) = (6 * cols, 2 * cols);
    RunSettings {
        iterations: 6,
        step: 0.3,
        sketch,
        sketch_rows,
        batch,
        sampling,
        ..RunSettings::for_size(rows, cols)
    }
}

/// The largest deviation of a residual that both know, and of x.
fn deviation(full: &Trace, large: &Trace) -> f64 {
    assert_eq!(full.residuals.len(), large.residuals.len());
    let known = full.residuals.iter().zip(&large.residuals).filter(|(_, large)| !large.is_nan());
    let residual = known.map(|(a, b)| (a - b).abs() / a).fold(0.0, f64::max);
    residual.max(norm(&sub(&full.x, &large.x)) / norm(&full.x))
}

#[test]
fn every_named_program_gives_what_it_gives_on_the_true_matrices() {
    let mut cases = Vec::new();
    for (rows, cols) in [(60, 6), (300, 12), (2500, 11)] {
        for (turn, sketch) in SketchKind::ALL.into_iter().enumerate() {
            for entry in programs() {
                cases.push((rows, cols, sketch, Sampling::ALL[turn % 2], entry));
            }
        }
    }
    cases.into_par_iter().for_each(|(rows, cols, sketch, sampling, entry)| {
        let (instance, large) = problem(rows, cols, 3);
        let (settings, stream) = (settings(rows, cols, sketch, sampling), Stream::new(4));
        let full = run(&entry.document.program, &instance, &settings, &stream);
        let found = run_large(&entry.document.program, &large, &settings, &stream, StoppingRule::default());
        match (full, found) {
            (Ok(full), Ok(found)) => {
                // A diverging run of a few steps may grow its rounding errors by a few digits.
                let error = deviation(&full, &found);
                assert!(error < 1e-8, "{} {sketch} {rows}×{cols}: {error:e}", entry.name);
            }
            (Err(full), Err(found)) => assert_eq!((full.step, full.fault), (found.step, found.fault)),
            (full, found) => panic!("{}: {full:?} {found:?}", entry.name),
        }
    });
}

#[test]
fn every_sketch_by_rows_is_the_same_sketch() {
    for kind in SketchKind::ALL {
        for (m, n, s) in [(1, 1, 1), (1, 3, 5), (40, 3, 9), (700, 20, 90), (700, 0, 9), (50, 3, 0)] {
            let entries = Stream::new(5).normals(m * n);
            let rows = Matrix::from_row_major(m, n, entries);
            let columns = rows.transpose().transpose();
            let sketch = Sketch::draw(kind, s, m, &Stream::new(6));
            let (by_rows, by_columns) = (sketch.apply(&rows), sketch.apply(&columns));
            assert_eq!((by_rows.rows(), by_rows.cols()), (s, n));
            let error = norm(&sub(by_rows.row_major(), by_columns.row_major()));
            assert!(error <= 1e-14 * norm(columns.row_major()), "{kind} {m}×{n}: {error:e}");
        }
    }
}

#[test]
fn threads_do_not_show() {
    let (_, large) = problem(3000, 70, 7);
    for entry in programs() {
        for sketch in SketchKind::ALL {
            let settings = settings(3000, 70, sketch, Sampling::Unbiased);
            let trace = |threads| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                let run = || {
                    run_large(
                        &entry.document.program,
                        &large,
                        &settings,
                        &Stream::new(8),
                        StoppingRule::default(),
                    )
                };
                let Trace { x, residuals, passes, .. } = pool.install(run).unwrap();
                let bits = |v: Vec<f64>| v.into_iter().map(f64::to_bits).collect::<Vec<_>>();
                (bits(x), bits(residuals), passes)
            };
            let one = trace(1);
            assert!([2, 8].into_iter().all(|threads| trace(threads) == one), "{} {sketch}", entry.name);
        }
    }
}

#[test]
fn an_iteration_reads_the_data_once() {
    let (_, large) = problem(200, 5, 9);
    let run = |name: &str, iterations: usize| {
        let program = &Entry::named(name).unwrap().document.program;
        let settings = RunSettings { iterations, step: 0.1, ..RunSettings::for_size(200, 5) };
        run_large(program, &large, &settings, &Stream::new(1), StoppingRule::default()).unwrap()
    };
    for t in [0, 1, 7] {
        // The last residual is a pass of its own.
        assert_eq!(run("ls-gd", t).passes, t + 1);
        assert_eq!(run("sketched-precond-gd", t).passes, t + 2);
        assert_eq!(run("precond-gd", t).passes, t + 2);
        assert_eq!(run("precond-weighted-sgd", t).passes, 3);
        assert_eq!(run("sgd", t).passes, 1);
    }
    // What no pass shows is not measured.
    let residuals = run("sgd", 4).residuals;
    assert!(residuals[..4].iter().all(|r| r.is_nan()) && residuals[4].is_finite());
}

#[test]
fn the_sign_of_the_residual_is_kept() {
    let (instance, large) = problem(200, 5, 10);
    let text = "iteration:\n v3 = MAT_VEC_MUL(A, x)\n v2 = VEC_VEC_SUB(b, v3)\n v1 = VEC_MAT_MUL(v2, A)\n \
                v3 = MAT_VEC_MUL(A, v1)\n v3 = VEC_MAT_MUL(v3, A)\n v1 = VEC_VEC_SUB(v3, v1)\n";
    let program: Program = text.parse().unwrap();
    let settings = RunSettings { iterations: 3, step: 0.01, ..RunSettings::for_size(200, 5) };
    let full = run(&program, &instance, &settings, &Stream::new(1)).unwrap();
    let found = run_large(&program, &large, &settings, &Stream::new(1), StoppingRule::default()).unwrap();
    assert!(deviation(&full, &found) < 1e-12);
    assert_eq!(found.passes, 2 * 3 + 1);
}

#[test]
fn a_run_stops_when_nothing_is_left_to_gain() {
    let (instance, large) = problem(2000, 10, 11);
    let program = &Entry::named("sketched-precond-gd").unwrap().document.program;
    let settings =
        RunSettings { iterations: 400, step: 0.75, sketch_rows: 120, ..RunSettings::for_size(2000, 10) };
    let run = |stop| run_large(program, &large, &settings, &Stream::new(12), stop).unwrap();
    assert_eq!(run(StoppingRule::default()).residuals.len(), 401);
    let trace = run(StoppingRule { gradient: 1e-11, ..StoppingRule::default() });
    assert!((10..60).contains(&trace.residuals.len()), "{}", trace.residuals.len());
    assert!(instance.excess(&trace.x) < 1e-9 * instance.attainable());
    let still = run(StoppingRule { residual: 1e-6, ..StoppingRule::default() });
    assert!(still.residuals.len() < trace.residuals.len());
    assert!((still.residuals.last().unwrap() / instance.attainable() - 1.0).abs() < 1e-5);
}

#[test]
fn a_square_system_is_run_too() {
    let (n, entries) = (12, Stream::new(13).normals(12 * 12));
    let a = |i: usize, j: usize| entries[12 * i + j] / 10.0 + if i == j { 1.0 } else { 0.0 };
    let columns = Matrix::from_fn(n, n, a);
    let b = Stream::new(14).normals(n);
    let large =
        Linear.pose_unsolved(Matrix::from_row_major(n, n, columns.row_major().to_vec()), b.clone()).unwrap();
    let instance = Instance::from_data(columns, b).unwrap();
    // v1 is A·x at the end: no pass may swallow it.
    let text = "iteration:\n v1 = MAT_VEC_MUL(A, x)\n v2 = VEC_VEC_SUB(v1, b)\n v2 = VEC_MAT_MUL(v2, A)\n \
                m1 = SCALAR_VEC_MUL(eta, v2)\n v1 = VEC_VEC_ADD(v1, m1)\n";
    for text in
        [text, "iteration:\n v1 = MAT_VEC_MUL(A, x)\n v2 = VEC_VEC_SUB(v1, b)\n m1 = VEC_MAT_MUL(v2, A)\n"]
    {
        let program: Program = text.parse().unwrap();
        let settings = RunSettings { iterations: 5, step: 0.1, ..RunSettings::for_size(n, n) };
        let full = run(&program, &instance, &settings, &Stream::new(1)).unwrap();
        let found = run_large(&program, &large, &settings, &Stream::new(1), StoppingRule::default()).unwrap();
        let error = norm(&sub(&full.x, &found.x));
        assert!(error <= 1e-12 * norm(&full.x), "{error:e}");
    }
}

#[test]
fn divergence_and_bad_data_are_errors() {
    let (_, large) = problem(200, 5, 15);
    let program = &Entry::named("ls-gd").unwrap().document.program;
    let settings = RunSettings { iterations: 4000, step: 1e9, ..RunSettings::for_size(200, 5) };
    let failure =
        run_large(program, &large, &settings, &Stream::new(1), StoppingRule::default()).unwrap_err();
    assert_eq!(failure.fault, Fault::NotFinite);
    assert!(failure.residuals.len() > 2 && failure.residuals.iter().all(|r| r.is_finite()));
    let not_a_number = Matrix::from_row_major(2, 1, vec![1.0, f64::NAN]);
    assert!(Linear.pose_unsolved(not_a_number, vec![1.0, 1.0]).is_err());
    // An m×m result is refused before anything runs.
    let (_, large) = problem(12_000, 3, 16);
    let outer: Program =
        "setup:\n R1 = MAT_MAT_TRANS_MUL(A, A)\niteration:\n v1 = SCALAR_VEC_MUL(eta, x)\n".parse().unwrap();
    let settings = RunSettings::for_size(12_000, 3);
    let failure = run_large(&outer, &large, &settings, &Stream::new(1), StoppingRule::default()).unwrap_err();
    assert!(matches!(failure.fault, Fault::TooLarge { .. } | Fault::TooCostly { .. }), "{failure}");
}

/// A file of these entries, gone when nobody reads it any more.
fn file_of(a: &Matrix, name: &str) -> std::fs::File {
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let bytes: Vec<u8> = a.row_major().iter().flat_map(|entry| entry.to_le_bytes()).collect();
    std::fs::write(&path, bytes).unwrap();
    std::fs::File::open(path).unwrap()
}

#[test]
fn data_in_a_file_give_the_same_bits() {
    // More than is held at once.
    let (rows, cols) = (90_000, 50);
    let entries = Stream::new(21).normals(rows * cols);
    let b = Stream::new(22).normals(rows);
    let memory = Linear.pose_unsolved(Matrix::from_row_major(rows, cols, entries), b.clone()).unwrap();
    let file = file_of(&memory.A, "large-in-a-file");
    let file = Linear.pose_unsolved(Matrix::in_file(file, rows, cols).unwrap(), b).unwrap();
    let bits =
        |trace: Trace| -> Vec<u64> { trace.x.iter().chain(&trace.residuals).map(|x| x.to_bits()).collect() };
    for entry in programs() {
        let name = entry.name;
        let settings =
            RunSettings { iterations: 3, ..settings(rows, cols, SketchKind::Sjlt, Sampling::Unbiased) };
        let run = |large| {
            run_large(&entry.document.program, large, &settings, &Stream::new(23), StoppingRule::default())
        };
        match (run(&memory), run(&file)) {
            (Ok(memory), Ok(file)) => assert!(bits(memory) == bits(file), "{name}"),
            (memory, Err(failure)) => {
                assert!(failure.fault == Fault::NotInMemory || memory.is_err(), "{name}: {failure}")
            }
            (memory, file) => panic!("{name}: {memory:?} {file:?}"),
        }
    }
    let gram = rl4rla::linalg::gram(&file.A);
    assert_eq!(gram, rl4rla::linalg::gram(&memory.A));
}

#[test]
fn sparse_data_give_what_dense_ones_give() {
    let (rows, cols) = (6000, 12);
    let values = Stream::new(31).normals(rows * cols);
    let stored = (0..rows * cols).filter(|at| (at * 7919 + at / cols).is_multiple_of(5));
    let entries = stored.map(|at| (at / cols, at % cols, values[at])).collect();
    let sparse = Matrix::from_sparse(Sparse::from_entries(rows, cols, entries).unwrap());
    let b = Stream::new(32).normals(rows);
    let dense = Linear.pose_unsolved(sparse.clone().to_dense(), b.clone()).unwrap();
    let sparse = Linear.pose_unsolved(sparse, b).unwrap();
    let mut refused = 0;
    for (entry, kind) in programs().into_iter().flat_map(|entry| SketchKind::ALL.map(|kind| (entry, kind))) {
        let settings = RunSettings { step: 1e-4, ..settings(rows, cols, kind, Sampling::Unbiased) };
        let run = |large| {
            run_large(&entry.document.program, large, &settings, &Stream::new(33), StoppingRule::default())
        };
        match (run(&dense), run(&sparse)) {
            (Ok(dense), Ok(sparse)) => {
                let gap = deviation(&dense, &sparse);
                assert!(gap < 1e-10, "{} with {kind:?}: {gap:e}", entry.name);
            }
            (dense, Err(failure)) => {
                refused += 1;
                let told = (failure.step, &failure.fault) == (FailurePoint::Check, &Fault::NotInMemory);
                assert!(told || dense.is_err(), "{}: {failure}", entry.name);
            }
            (dense, sparse) => panic!("{}: {dense:?} {sparse:?}", entry.name),
        }
    }
    assert!(refused > 0);
}

#[test]
fn what_needs_the_whole_is_refused_and_a_lost_file_is_told() {
    let a = Matrix::from_row_major(40, 2, Stream::new(1).normals(80));
    let file = file_of(&a, "large-lost");
    assert!(Matrix::in_file(file_of(&a, "large-short"), 41, 2).is_err());
    let a = Matrix::in_file(file, 40, 2).unwrap();
    let large = Linear.pose_unsolved(a, vec![1.0; 40]).unwrap();
    let settings = RunSettings { sketch: SketchKind::Srht, ..RunSettings::for_size(40, 2) };
    let program = &Entry::named("sketched-precond-gd").unwrap().document.program;
    let failure =
        run_large(program, &large, &settings, &Stream::new(2), StoppingRule::default()).unwrap_err();
    assert_eq!((failure.step, failure.fault), (FailurePoint::Check, Fault::NotInMemory));
    assert!(large.A.read_failure().is_none());
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("large-lost");
    std::fs::OpenOptions::new().write(true).open(path).unwrap().set_len(100).unwrap();
    let settings = RunSettings::for_size(40, 2);
    let failure =
        run_large(program, &large, &settings, &Stream::new(2), StoppingRule::default()).unwrap_err();
    assert_eq!(failure.fault, Fault::NotFinite);
    assert!(large.A.read_failure().unwrap().starts_with("rows 0 to 39"));
}

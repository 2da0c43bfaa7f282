//! Execution: no program can make it panic, tidying a program changes no bit of its run, and hand-computed answers.

mod common;

use common::*;
use rayon::prelude::*;
use rl4rla::execute::{FailurePoint, Fault, RunSettings, Sampling, SketchKind, Trace, run};
use rl4rla::linalg::{self, Matrix};
use rl4rla::problem::{Family, Instance};
use rl4rla::program::*;
use rl4rla::reward::{Profile, Protocol, SOUND_GRID, Score, StepRule, draws, evaluate, score};
use rl4rla::rng::Stream;
use std::collections::BTreeSet;

fn noise(rows: usize, cols: usize, seed: u64) -> Matrix {
    let entries = Stream::new(seed).normals(rows * cols);
    Matrix::from_fn(rows, cols, |i, j| entries[i * cols + j])
}

/// One instance of each geometry, in the order of `GEOMETRIES`; the tall one has no exact solution.
fn instances() -> [Instance; 3] {
    let tall = Instance::from_data(noise(12, 4, 1), Stream::new(2).normals(12)).unwrap();
    let square = Instance::from_data(noise(5, 5, 3), Stream::new(4).normals(5)).unwrap();
    let mut family = Family::named("psd").unwrap();
    (family.rows, family.cols) = (5, 5);
    let symmetric = family.draw(&Stream::new(5)).unwrap();
    let all = [tall, square, symmetric];
    assert_eq!(all.each_ref().map(Instance::geometry), GEOMETRIES);
    assert!(all[0].attainable() > 0.1);
    all
}

/// Small sizes, and every kind of sketch and sampling in turn.
fn settings(instance: &Instance, turn: usize) -> RunSettings {
    RunSettings {
        iterations: 3,
        step: 0.5,
        sketch: SketchKind::ALL[turn % 4],
        sketch_rows: 6,
        batch: 3,
        sampling: Sampling::ALL[turn / 4 % 2],
        ..RunSettings::for_size(instance.rows(), instance.cols())
    }
}

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|v| v.to_bits()).collect()
}

#[test]
fn a_hundred_thousand_programs_run_or_fail_with_a_reason() {
    let instances = instances();
    let chunk = |chunk: u64| {
        let mut dice = Dice::new(chunk);
        let (mut ran, mut used) = (0, BTreeSet::new());
        for turn in 0..500 {
            let instance = &instances[turn % 3];
            let length = 1 + dice.below(8);
            let program = well_shaped(&mut dice, instance.geometry(), length);
            match run(&program, instance, &settings(instance, turn), &Stream::new(chunk)) {
                Ok(Trace { residuals, excesses, x, .. }) => {
                    let finite = residuals.iter().chain(&excesses).chain(&x).all(|v| v.is_finite());
                    assert!(finite && residuals.len() == 4 && excesses.len() == 4, "{program}");
                    ran += 1;
                    used.extend(program.instructions().map(|(_, _, i)| i.op));
                }
                Err(failure) => {
                    assert!(!failure.to_string().is_empty());
                    assert_ne!(failure.step, FailurePoint::Check, "{failure}\n{program}");
                    assert!(failure.residuals.iter().all(|r| r.is_finite()), "{program}");
                }
            }
        }
        (ran, used)
    };
    let results: Vec<(usize, BTreeSet<Op>)> = (0..200_u64).into_par_iter().map(chunk).collect();
    let ran: usize = results.iter().map(|(ran, _)| ran).sum();
    let used: BTreeSet<Op> = results.into_iter().flat_map(|(_, used)| used).collect();
    assert!(ran > 80_000, "only {ran} of 100,000 programs ran to the end");
    assert_eq!(used.len(), operators().count());
}

#[test]
fn tidying_a_program_changes_no_bit_of_its_run() {
    let instances = instances();
    let compare = |seed: u64| {
        let mut dice = Dice::new(seed);
        let instance = &instances[seed as usize % 3];
        let shape = instance.geometry();
        let settings = settings(instance, seed as usize);
        let length = 2 + dice.below(8);
        let plain = well_shaped(&mut dice, shape, length);
        let untidy = with_dead_code(&mut dice, &plain, shape);
        let untidy = shuffled(&mut dice, &untidy);
        let tidy = Canonical::new(&untidy, LiveOut::Finished);
        let stream = Stream::new(seed);
        let live = run(tidy.program(), instance, &settings, &stream);
        for other in [&plain, &untidy] {
            match (run(other, instance, &settings, &stream), &live) {
                (Ok(a), Ok(b)) => {
                    assert_eq!(bits(&a.residuals), bits(&b.residuals), "{other}\n{tidy:?}");
                    assert_eq!((bits(&a.x), bits(&a.excesses)), (bits(&b.x), bits(&b.excesses)));
                }
                // Dead code may fail; what is live may not fail on its own.
                (Ok(_), Err(failure)) => panic!("{failure}\n{other}\n{tidy:?}"),
                (Err(_), _) => return 0,
            }
        }
        usize::from(tidy.program().len() < untidy.len())
    };
    let tidied: usize = (0..10_000_u64).into_par_iter().map(compare).sum();
    assert!(tidied > 5_000, "only {tidied} programs had dead code and ran");
}

#[test]
fn rewards_are_the_same_at_any_number_of_threads_and_in_any_order() {
    let mut family = Family::named("mid-cond").unwrap();
    (family.rows, family.cols, family.condition) = (60, 4, Some(100.0));
    let instances: Vec<Instance> = (0..9).map(|i| family.draw(&Stream::new(i)).unwrap()).collect();
    let mut protocol = Protocol::new(Profile::sound(), StepRule::Best(SOUND_GRID.to_vec()));
    protocol.batch = 8;
    let fingerprint = |s: &Score| {
        let residuals = s.outcome.as_ref().map(|trace| bits(&trace.residuals)).unwrap_or_default();
        (s.reward.to_bits(), s.step.to_bits(), s.flops.to_bits(), residuals)
    };
    for entry in CATALOGUE.iter().filter(|entry| entry.signature() == Geometry::Tall.into()) {
        let program = &entry.document.program;
        let at = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let scores = pool.install(|| evaluate(program, &instances, &protocol, 7)).scores;
            scores.iter().map(fingerprint).collect::<Vec<_>>()
        };
        let alone = at(1);
        assert_eq!(alone, at(8), "{}", entry.name);
        for (i, instance) in instances.iter().enumerate().rev() {
            let again = score(program, instance, &protocol, &draws(7, i as u64, 0));
            assert_eq!(fingerprint(&again), alone[i], "{}", entry.name);
        }
        assert!(alone.iter().any(|(reward, ..)| f64::from_bits(*reward) > 0.0), "{}", entry.name);
    }
}

/// Runs a program of the test's own on the tall instance, where it must not fail.
fn trace(text: &str, iterations: usize, step: f64) -> (Trace, Instance) {
    let [instance, ..] = instances();
    let settings = RunSettings { iterations, step, ..settings(&instance, 0) };
    let trace = run(&parse(text), &instance, &settings, &Stream::new(1));
    (trace.unwrap_or_else(|failure| panic!("{failure}\n{text}")), instance)
}

fn assert_close(found: &[f64], expected: &[f64], what: &str) {
    let scale = linalg::norm(expected).max(1.0);
    let error = linalg::norm(&linalg::sub(found, expected));
    assert!(error <= 1e-12 * scale, "{what}: {found:?} is not {expected:?}");
}

fn gradient(instance: &Instance, x: &[f64]) -> Vec<f64> {
    linalg::vec_mat(&linalg::sub(&linalg::mat_vec(&instance.A, x), &instance.b), &instance.A)
}

const GRADIENT: &str =
    "iteration:\n v1 = MAT_VEC_MUL(A, x)\n v1 = VEC_VEC_SUB(v1, b)\n v1 = VEC_MAT_MUL(v1, A)\n";

#[test]
fn momentum_is_carried_from_one_iteration_to_the_next() {
    let text = format!(
        "{GRADIENT} v3 = SCALAR_VEC_MUL(eta, m1)\n v1 = VEC_VEC_ADD(v1, v3)\n m1 = SCALAR_VEC_MUL(eta, v1)\n m2 = VEC_VEC_ADD(m2, v1)\n"
    );
    let (steps, eta) = (20, 0.05);
    let (trace, instance) = trace(&text, steps, eta);
    let (mut x, mut memory) = (vec![0.0; 4], vec![0.0; 4]);
    for _ in 0..steps {
        let direction = linalg::add(&gradient(&instance, &x), &linalg::scale(eta, &memory));
        memory = linalg::scale(eta, &direction);
        x = linalg::sub(&x, &linalg::scale(eta, &direction));
    }
    assert_close(&trace.x, &x, "heavy ball");
}

#[test]
fn an_exact_line_search_is_steepest_descent() {
    let text = format!(
        "{GRADIENT} v2 = MAT_VEC_MUL(A, v1)\n a1 = VEC_VEC_DOT(v1, v1)\n a2 = VEC_VEC_DOT(v2, v2)\n a1 = SCALAR_DIV(a1, a2)\n v1 = SCALAR_VEC_MUL(a1, v1)\n"
    );
    let (trace, instance) = trace(&text, 15, 1.0);
    let mut x = vec![0.0; 4];
    for t in 0..15 {
        let g = gradient(&instance, &x);
        let along = linalg::mat_vec(&instance.A, &g);
        let length = linalg::dot(&g, &g) / linalg::dot(&along, &along);
        x = linalg::sub(&x, &linalg::scale(length, &g));
        assert!((trace.excesses[t + 1] - instance.excess(&x)).abs() <= 1e-12);
    }
    assert_close(&trace.x, &x, "steepest descent");
}

#[test]
fn scratch_registers_start_every_iteration_from_what_setup_left() {
    // v2 and A change after they are read; if either change survived, the steps would differ.
    let text = "setup:\n v2 = VEC_MAT_MUL(b, A)\niteration:\n v1 = VEC_MAT_MUL(b, A)\n v1 = VEC_VEC_ADD(v1, v2)\n v2 = VEC_VEC_ADD(v2, v1)\n A, b = SUBSAMPLING(p1)\n";
    let (trace, instance) = trace(text, 7, 0.5);
    let step = linalg::vec_mat(&instance.b, &instance.A);
    assert_close(&trace.x, &linalg::scale(-7.0, &step), "constant steps");
    // Carried registers do not: 1 + 2 + … + 7 steps.
    let text = "setup:\n v2 = VEC_MAT_MUL(b, A)\niteration:\n m1 = VEC_VEC_ADD(m1, v2)\n v1 = SCALAR_VEC_MUL(eta, m1)\n";
    assert_close(&self::trace(text, 7, 1.0).0.x, &linalg::scale(-28.0, &step), "growing steps");
}

#[test]
fn what_would_cost_too_much_is_refused_before_it_runs() {
    let (rows, cols) = (20_000, 10);
    let instance = Instance::from_data(noise(rows, cols, 6), vec![1.0; rows]).unwrap();
    let settings = RunSettings::for_size(rows, cols);
    let text = "setup:\n R1 = MAT_MAT_TRANS_MUL(A, A)\niteration:\n v1 = MAT_VEC_MUL(R1, b)\n v1 = VEC_MAT_MUL(v1, A)\n";
    let wide = "setup:\n R1 = HHQR(A)\n R1 = MAT_MAT_TRANS_MUL(R1, A)\n R1 = HHQR(R1)\niteration:\n v1 = VEC_MAT_MUL(b, A)\n";
    for (text, costly) in [(text, "MAT_MAT_TRANS_MUL(A, A)"), (wide, "HHQR(R1)")] {
        let failure = run(&parse(text), &instance, &settings, &Stream::new(0)).unwrap_err();
        assert_eq!(failure.step, FailurePoint::Check);
        assert!(failure.operation.contains(costly), "{failure}");
        assert!(matches!(failure.fault, Fault::TooCostly { .. } | Fault::TooLarge { .. }), "{failure}");
    }
}

#[test]
fn a_value_that_is_not_finite_stops_the_run_where_it_arises() {
    // x/‖x‖ at x = 0 is part of nothing that reaches x.
    let text = "iteration:\n v2 = VEC_NORMALIZE(x)\n v1 = VEC_MAT_MUL(b, A)\n";
    let [instance, ..] = instances();
    let failure = run(&parse(text), &instance, &settings(&instance, 0), &Stream::new(0)).unwrap_err();
    assert_eq!((failure.step, &failure.fault), (FailurePoint::Iteration(1), &Fault::NotFinite));
    assert_eq!((failure.operation.as_str(), failure.residuals.len()), ("v2 = VEC_NORMALIZE(x)", 1));
}

/// Every operator on A = [3 3; 0 2; 4 4] and b = (1, 1, 1), where Aᵀb = c = (7, 9) and R = [5 5; 0 2].
/// One step of size 1 from x = 0 makes x = −v1.
#[test]
fn every_operator_gives_the_answer_found_by_hand() {
    let a = Matrix::from_rows(&[&[3.0, 3.0], &[0.0, 2.0], &[4.0, 4.0]]);
    let instance = Instance::from_data(a, vec![1.0; 3]).unwrap();
    let c = "setup:\n v2 = VEC_MAT_MUL(b, A)\n";
    let (gram, inverse, [u, v]) = ([400.0, 436.0], [-0.22, 0.5], [7.0, 9.0]);
    let answers: [(&str, &str, [f64; 2]); 20] = [
        ("VEC_MAT_MUL", "iteration:\n v1 = VEC_MAT_MUL(b, A)", [u, v]),
        ("VEC_VEC_ADD", "iteration:\n v1 = VEC_VEC_ADD(v2, v2)", [2.0 * u, 2.0 * v]),
        ("VEC_VEC_SUB", "iteration:\n v1 = VEC_VEC_SUB(x, v2)", [-u, -v]),
        (
            "VEC_VEC_DOT",
            " a1 = VEC_VEC_DOT(b, b)\niteration:\n v1 = SCALAR_VEC_MUL(a1, v2)",
            [3.0 * u, 3.0 * v],
        ),
        ("SCALAR_VEC_MUL", "iteration:\n v1 = SCALAR_VEC_MUL(eta, v2)", [u, v]),
        (
            "SCALAR_DIV",
            " a1 = VEC_VEC_DOT(b, b)\n a2 = SCALAR_DIV(eta, a1)\niteration:\n v1 = SCALAR_VEC_MUL(a2, v2)",
            [u / 3.0, v / 3.0],
        ),
        ("MAT_VEC_MUL", "iteration:\n v3 = MAT_VEC_MUL(A, v2)\n v1 = VEC_MAT_MUL(v3, A)", gram),
        (
            "MAT_MAT_MUL",
            " R1 = MAT_TRANS_MAT_MUL(A, A)\n R2 = MAT_MAT_MUL(A, R1)\niteration:\n v1 = VEC_MAT_MUL(b, R2)",
            gram,
        ),
        (
            "MAT_MAT_TRANS_MUL",
            " R1 = MAT_MAT_TRANS_MUL(A, A)\n v3 = MAT_VEC_MUL(R1, b)\niteration:\n v1 = VEC_MAT_MUL(v3, A)",
            gram,
        ),
        // R·Aᵀ·b = R·c.
        (
            "MAT_MAT_TRANS_MUL",
            " R1 = HHQR(A)\n R2 = MAT_MAT_TRANS_MUL(R1, A)\niteration:\n v1 = MAT_VEC_MUL(R2, b)",
            [80.0, 18.0],
        ),
        ("MAT_TRANS_MAT_MUL", " R1 = MAT_TRANS_MAT_MUL(A, A)\niteration:\n v1 = MAT_VEC_MUL(R1, v2)", gram),
        (
            "MAT_INV",
            " R1 = MAT_TRANS_MAT_MUL(A, A)\n R1 = MAT_INV(R1)\niteration:\n v1 = MAT_VEC_MUL(R1, v2)",
            inverse,
        ),
        // A·Aᵀ is singular: Aᵀ·(A·Aᵀ)⁺·b = A⁺b, the same solution.
        (
            "MAT_INV",
            " R1 = MAT_MAT_TRANS_MUL(A, A)\n R1 = MAT_INV(R1)\n v3 = MAT_VEC_MUL(R1, b)\niteration:\n v1 = VEC_MAT_MUL(v3, A)",
            inverse,
        ),
        ("TRIANGULAR_SOLVE", " R1 = HHQR(A)\niteration:\n v1 = TRIANGULAR_SOLVE(R1, v2)", [-3.1, 4.5]),
        ("TRIANGULAR_SOLVE", " R1 = HHQR(A)\niteration:\n v1 = TRIANGULAR_SOLVE(v2, R1)", [1.4, 1.0]),
        ("HHQR", " R1 = HHQR(A)\niteration:\n v1 = MAT_VEC_MUL(R1, v2)", [80.0, 18.0]),
        // Four of four Hadamard rows: S is orthogonal, and (SA)ᵀ(Sb) = Aᵀb.
        ("SKETCH", "iteration:\n v3 = SKETCH(b)\n R1 = SKETCH(A)\n v1 = VEC_MAT_MUL(v3, R1)", [u, v]),
        // Three of three rows without replacement: a permutation.
        ("SUBSAMPLING", "iteration:\n A, b = SUBSAMPLING(p1)\n v1 = VEC_MAT_MUL(b, A)", [u, v]),
        // No row is zero, so that all three have a chance; the test below looks at the probabilities.
        (
            "LEVERAGE_SCORE",
            " p1 = LEVERAGE_SCORE(A)\niteration:\n A, b = SUBSAMPLING(p1)\n v1 = VEC_MAT_MUL(b, A)",
            [u, v],
        ),
        ("DO_NOTHING", "iteration:\n v1 = VEC_MAT_MUL(b, A)\n DO_NOTHING()", [u, v]),
    ];
    let settings = RunSettings {
        iterations: 1,
        step: 1.0,
        sketch: SketchKind::Srht,
        sketch_rows: 4,
        batch: 3,
        sampling: Sampling::Released,
        ..RunSettings::for_size(3, 2)
    };
    for (name, text, v1) in &answers {
        assert!(text.contains(name));
        let trace = run(&parse(&format!("{c}{text}\n")), &instance, &settings, &Stream::new(3)).unwrap();
        assert_close(&trace.x, &v1.map(|v| -v), text);
    }
    let covered: BTreeSet<&str> = answers.iter().map(|(name, ..)| *name).collect();
    assert_eq!(covered.len(), OPERATORS.len(), "an operator has no answer");
}

/// One row drawn by its squared norm and scaled to be unbiased has the norm of all of A, whichever it is.
#[test]
fn leverage_scores_are_squared_row_norms() {
    let a = Matrix::from_rows(&[&[3.0, 3.0], &[0.0, 2.0], &[4.0, 4.0]]);
    let instance = Instance::from_data(a, vec![1.0; 3]).unwrap();
    let text = "setup:\n v2 = VEC_MAT_MUL(b, A)\n p1 = LEVERAGE_SCORE(A)\niteration:\n A, b = SUBSAMPLING(p1)\n R1 = MAT_MAT_TRANS_MUL(A, A)\n v3 = MAT_VEC_MUL(R1, b)\n a1 = VEC_VEC_DOT(v3, b)\n a2 = VEC_VEC_DOT(b, b)\n a1 = SCALAR_DIV(a1, a2)\n v1 = SCALAR_VEC_MUL(a1, v2)\n";
    let settings = RunSettings { iterations: 1, batch: 1, ..RunSettings::for_size(3, 2) };
    for seed in 0..20 {
        let trace = run(&parse(text), &instance, &settings, &Stream::new(seed)).unwrap();
        assert_close(&trace.x, &[-54.0 * 7.0, -54.0 * 9.0], "‖A‖² = 54");
    }
}

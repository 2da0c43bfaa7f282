//! What an iteration knows of the one before it (`d`, `PREVIOUS`), where a run starts, and division by zero.

mod common;

use common::*;
use rl4rla::execute::{
    Precision, PreparedInstance, RunSettings, StoppingRule, Trace, record, run, run_large, run_prepared,
    snapshots, step_from,
};
use rl4rla::linalg::{self, Matrix};
use rl4rla::problem::{Family, Instance, Linear, Task};
use rl4rla::program::*;
use rl4rla::rng::Stream;

const GRADIENT: &str = " v2 = MAT_VEC_MUL(A, x)\n v2 = VEC_VEC_SUB(v2, b)\n v2 = VEC_MAT_MUL(v2, A)\n";

fn instance() -> Instance {
    let family = Family { rows: 40, cols: 4, outside: 0.3, ..Family::named("low-cond").unwrap() };
    family.draw(&Stream::new(1)).unwrap()
}

fn settings() -> RunSettings {
    RunSettings { iterations: 6, step: 0.4, mu: 0.3, ..RunSettings::for_size(40, 4) }
}

fn traced(text: &str) -> Trace {
    run(&parse(text), &instance(), &settings(), &Stream::new(2)).unwrap()
}

fn iteration(lines: &str) -> String {
    format!("iteration:\n{GRADIENT}{lines}")
}

/// A setup that starts at (Aᵀb)·η, the result of the first step from zero.
fn warm(iteration: &str) -> String {
    format!("setup:\n v3 = VEC_MAT_MUL(b, A)\n x = SCALAR_VEC_MUL(eta, v3)\n{iteration}")
}

#[test]
fn the_last_step_is_known_and_is_zero_at_first() {
    // Heavy ball: x ← x − η·g + μ·d, by hand.
    let momentum =
        iteration(" a1 = SCALAR_DIV(mu, eta)\n v3 = SCALAR_VEC_MUL(a1, d)\n v1 = VEC_VEC_SUB(v2, v3)\n");
    let (instance, settings) = (instance(), settings());
    let (mut x, mut d) = (vec![0.0; 4], vec![0.0; 4]);
    for _ in 0..settings.iterations {
        let r = linalg::sub(&linalg::mat_vec(&instance.A, &x), &instance.b);
        let g = linalg::vec_mat(&r, &instance.A);
        let v3 = linalg::scale(settings.mu / settings.step, &d);
        let next = linalg::sub(&x, &linalg::scale(settings.step, &linalg::sub(&g, &v3)));
        (d, x) = (linalg::sub(&next, &x), next);
    }
    let trace = traced(&momentum);
    assert!(linalg::norm(&linalg::sub(&trace.x, &x)) < 1e-13 * linalg::norm(&x));
    // The same by what x was, and by a carried register.
    let looked_back = momentum.replace(
        "v3 = SCALAR_VEC_MUL(a1, d)",
        "v3 = PREVIOUS(x)\n v3 = VEC_VEC_SUB(x, v3)\n v3 = SCALAR_VEC_MUL(a1, v3)",
    );
    assert_eq!(traced(&looked_back).x, trace.x);
    let carried = momentum.replace("(a1, d)", "(a1, m2)").replace(" v1 =", " m1 =")
        + " m2 = SCALAR_VEC_MUL(eta, m1)\n v1 = VEC_VEC_SUB(m1, m1)\n v1 = VEC_VEC_ADD(v1, m1)\n v3 = VEC_VEC_SUB(v1, v1)\n m2 = VEC_VEC_SUB(v3, m2)\n";
    assert!(linalg::norm(&linalg::sub(&traced(&carried).x, &x)) < 1e-13 * linalg::norm(&x));
}

#[test]
fn every_previous_has_a_place_of_its_own() {
    // Two of the same operand, one of a previous value, one of a scalar; v1 sums the gradients of three iterations.
    let sum = iteration(
        " v3 = PREVIOUS(v2)\n v1 = VEC_VEC_ADD(v2, v3)\n v3 = PREVIOUS(v2)\n v3 = PREVIOUS(v3)\n \
         v1 = VEC_VEC_ADD(v1, v3)\n a1 = VEC_VEC_DOT(v2, v2)\n a2 = PREVIOUS(a1)\n a1 = SCALAR_DIV(a2, a1)\n \
         v1 = SCALAR_VEC_MUL(a1, v1)\n",
    );
    let (instance, settings) = (instance(), RunSettings { step: 0.1, ..settings() });
    let (mut x, mut gs): (_, Vec<Vec<f64>>) = (vec![0.0; 4], vec![]);
    for _ in 0..settings.iterations {
        let r = linalg::sub(&linalg::mat_vec(&instance.A, &x), &instance.b);
        gs.push(linalg::vec_mat(&r, &instance.A));
        let ago = |k: usize| &gs[gs.len().saturating_sub(1 + k)];
        let v1 = linalg::add(&linalg::add(ago(0), ago(1)), ago(2));
        let a1 = linalg::dot(ago(1), ago(1)) / linalg::dot(ago(0), ago(0));
        x = linalg::sub(&x, &linalg::scale(settings.step * a1, &v1));
    }
    let found = run(&parse(&sum), &instance, &settings, &Stream::new(2)).unwrap().x;
    assert!(linalg::norm(&linalg::sub(&found, &x)) < 1e-12 * linalg::norm(&x), "{found:?} {x:?}");
}

#[test]
fn a_run_starts_from_the_x_that_setup_leaves() {
    let plain = iteration(" v1 = SCALAR_VEC_MUL(eta, v2)\n v1 = VEC_VEC_ADD(v1, d)\n");
    let still = run(
        &parse(&warm(&plain)),
        &instance(),
        &RunSettings { iterations: 0, ..settings() },
        &Stream::new(2),
    );
    let start = still.unwrap();
    let expected = linalg::scale(0.4, &linalg::vec_mat(&instance().b, &instance().A));
    assert_eq!((start.x, start.residuals.len()), (expected.clone(), 1));
    assert_eq!(start.residuals[0], instance().measure(&expected).0);
    // From there the iteration is what it is from that point: d is zero again.
    let once = RunSettings { iterations: 1, ..settings() };
    let warm_once = run(&parse(&warm(&plain)), &instance(), &once, &Stream::new(2)).unwrap();
    let moved = step_from(&parse(&plain), &instance(), &once, [expected.clone()], &Stream::new(2)).unwrap();
    assert_eq!(warm_once.x, moved[0]);
    // `step_from` moves a warm run too, and reading x in setup gives what was written.
    let elsewhere = step_from(&parse(&warm(&plain)), &instance(), &once, [vec![1.0; 4]], &Stream::new(2));
    assert_eq!(
        elsewhere.unwrap(),
        step_from(&parse(&plain), &instance(), &once, [vec![1.0; 4]], &Stream::new(2)).unwrap()
    );
    let twice = warm(&plain).replace("iteration:", " x = VEC_VEC_ADD(x, x)\niteration:");
    let doubled =
        run(&parse(&twice), &instance(), &RunSettings { iterations: 0, ..settings() }, &Stream::new(2));
    assert_eq!(doubled.unwrap().x, linalg::scale(2.0, &expected));
}

#[test]
fn a_start_beyond_all_bounds_is_a_failure_of_setup() {
    let squares = " a1 = VEC_VEC_DOT(v3, v3)\n v3 = SCALAR_VEC_MUL(a1, v3)\n".repeat(5);
    let far = format!(
        "setup:\n v3 = VEC_MAT_MUL(b, A)\n{squares} x = SCALAR_VEC_MUL(eta, v3)\niteration:\n v1 = SCALAR_VEC_MUL(eta, x)\n"
    );
    let mut large = instance();
    large.b.iter_mut().for_each(|b| *b *= 1e3);
    let failed = run(&parse(&far), &large, &settings(), &Stream::new(2));
    assert!(failed.is_err_and(|failure| failure.to_string().contains("setup")));
}

#[test]
fn division_by_zero_is_zero() {
    let scaled = |divisor: &str| {
        iteration(&format!(
            " a1 = {divisor}\n a1 = SCALAR_DIV(eta, a1)\n v3 = SCALAR_VEC_MUL(a1, v2)\n v1 = VEC_VEC_ADD(v2, v3)\n"
        ))
    };
    let gradient = iteration(" v3 = VEC_VEC_SUB(v2, v2)\n v1 = VEC_VEC_ADD(v2, v3)\n");
    // x = 0 is where a run starts.
    let at_zero = |text: &str| {
        let once = RunSettings { iterations: 1, ..settings() };
        run(&parse(text), &instance(), &once, &Stream::new(2)).unwrap().x
    };
    for divisor in ["VEC_VEC_DOT(x, x)", "VEC_VEC_DOT(d, d)"] {
        assert_eq!(at_zero(&scaled(divisor)), at_zero(&gradient));
        assert_ne!(traced(&scaled(divisor)).x, traced(&gradient).x);
    }
}

/// Programs that carry state in every way, and start warm.
fn all() -> Vec<Program> {
    let looking = iteration(
        " v3 = MAT_VEC_MUL(A, x)\n v3 = VEC_VEC_SUB(v3, b)\n v1 = PREVIOUS(v3)\n v3 = VEC_VEC_SUB(v3, v1)\n \
         a1 = VEC_VEC_DOT(v3, v3)\n a1 = SCALAR_DIV(mu, a1)\n v3 = SCALAR_VEC_MUL(a1, d)\n v1 = VEC_VEC_SUB(v2, v3)\n",
    );
    let sketched = iteration(
        " R1 = SKETCH(A)\n v3 = SKETCH(b)\n v1 = PREVIOUS(v3)\n v3 = VEC_VEC_SUB(v3, v1)\n v3 = VEC_MAT_MUL(v3, R1)\n \
         v3 = SCALAR_VEC_MUL(mu, v3)\n v1 = VEC_VEC_SUB(v2, v3)\n",
    );
    [looking.clone(), warm(&looking), sketched].iter().map(|text| parse(text)).collect()
}

fn close(one: &[f64], other: &[f64]) -> bool {
    one.len() == other.len() && one.iter().zip(other).all(|(a, b)| (a - b).abs() <= 1e-11 * a.abs().max(1e-3))
}

#[test]
fn all_ways_to_run_agree() {
    let (instance, settings, stream) = (instance(), settings(), Stream::new(2));
    let prepared = PreparedInstance::new(instance.clone());
    let large = {
        let (m, n) = (instance.rows(), instance.cols());
        Linear
            .pose_unsolved(Matrix::from_row_major(m, n, instance.A.row_major().to_vec()), instance.b.clone())
            .unwrap()
    };
    for program in all() {
        let truth = run(&program, &instance, &settings, &stream).unwrap();
        // Twice, so that values shared between runs are used.
        for _ in 0..2 {
            let reduced = run_prepared(&program, &prepared, &settings, &stream).unwrap();
            assert!(close(&reduced.residuals, &truth.residuals), "{program}{:?}", reduced.residuals);
            assert!(close(&reduced.x, &truth.x));
        }
        let other = RunSettings { mu: 0.2, ..settings.clone() };
        let fresh = run(&program, &instance, &other, &stream).unwrap();
        assert_ne!(fresh.x, truth.x);
        assert!(close(&run_prepared(&program, &prepared, &other, &stream).unwrap().x, &fresh.x));
        let recorded = record(&program, &instance, &settings, &stream).unwrap();
        assert_eq!(recorded.residuals, truth.residuals);
        let taken = snapshots(&program, &instance, Update::Subtract, &settings, None, &stream);
        let Some(Datum::Vector(x)) = &taken[settings.iterations][Reg::X.index()] else { panic!("no x") };
        assert_eq!(**x, truth.x);
        let passed = run_large(&program, &large, &settings, &stream, StoppingRule::default()).unwrap();
        assert!(close(&passed.x, &truth.x), "{program}");
        let single = RunSettings { precision: Precision::Single, ..settings.clone() };
        let rounded = run(&program, &instance, &single, &stream).unwrap();
        assert!(rounded.x.iter().all(|&x| f64::from(x as f32) == x) && rounded.x != truth.x);
        assert!(linalg::norm(&linalg::sub(&rounded.x, &truth.x)) < 1e-3 * linalg::norm(&truth.x));
    }
}

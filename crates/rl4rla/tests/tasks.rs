//! What the catalogue's programs do on the tasks beyond linear systems, at the paper's sizes.

use rayon::prelude::*;
use rl4rla::execute::{RunSettings, SketchKind, Trace, run};
use rl4rla::linalg;
use rl4rla::problem::{Family, Instance};
use rl4rla::program::{Canonical, Entry, LiveOut, Model, Program, ProgramCost};
use rl4rla::rng::Stream;

fn program(name: &str) -> &'static Program {
    &Entry::named(name).unwrap().document.program
}

fn traced(name: &str, instance: &Instance, settings: &RunSettings) -> Trace {
    run(program(name), instance, settings, &Stream::new(9)).unwrap()
}

/// The first iteration whose excess is at most `level`.
fn reached(trace: &Trace, level: f64) -> usize {
    trace.excesses.iter().position(|excess| *excess <= level).expect("it is reached")
}

fn logistic(seed: u64) -> Instance {
    let family = Family { condition: Some(1e3), ..Family::named("logistic").unwrap() };
    assert_eq!((family.rows, family.cols), (5000, 50));
    family.draw(&Stream::new(seed)).unwrap()
}

fn settings() -> RunSettings {
    RunSettings { sketch: SketchKind::CountSketch, ..RunSettings::for_size(5000, 50) }
}

/// Newton: 10⁻¹⁰ within ten iterations. Newton Sketch: 10⁻⁶ in as many, at less than a third of the flops.
#[test]
fn newton_is_exact_and_its_sketch_is_cheap() {
    let flops = |name: &str| {
        let live = Canonical::new(program(name), LiveOut::Finished);
        let signature = Entry::named(name).unwrap().signature();
        ProgramCost::of(&live, signature, Model::True).unwrap().flops(&settings().sizes(5000, 50), 10)
    };
    assert!(3.0 * flops("newton-sketch") < flops("newton"));
    (0..8u64).into_par_iter().for_each(|seed| {
        let instance = logistic(seed);
        let newton = traced("newton", &instance, &settings());
        assert!(reached(&newton, 1e-10) <= 6, "seed {seed}: {:?}", newton.excesses);
        let sketched = traced("newton-sketch", &instance, &settings());
        assert!(reached(&sketched, 1e-6) <= 10, "seed {seed}: {:?}", sketched.excesses);
        let gradient = traced("logistic-gd", &instance, &settings());
        assert!(gradient.excesses[10] > 0.1, "seed {seed}: {:?}", gradient.excesses);
    });
}

/// A sketch drawn once and kept leaves a gap that no iteration closes as fast as fresh ones do.
#[test]
fn every_iteration_draws_a_sketch_of_its_own() {
    let instance = logistic(0);
    let fresh = traced("newton-sketch", &instance, &settings()).excesses[10];
    // With the curvature of the start, sketched once.
    let kept: Program = "setup:\n v2 = MAT_VEC_MUL(A, x)\n v2 = VEC_SIGMOID(v2)\n v2 = VEC_DSIGMOID(v2)\n \
         R1 = VEC_MAT_SCALE(v2, A)\n R1 = SKETCH(R1)\n R1 = MAT_GRAM(R1)\niteration:\n v1 = MAT_VEC_MUL(A, x)\n \
         v1 = VEC_SIGMOID(v1)\n v1 = VEC_VEC_SUB(v1, b)\n v1 = VEC_MAT_MUL(v1, A)\n v1 = MAT_VEC_SOLVE(R1, v1)\n"
        .parse()
        .unwrap();
    let kept = run(&kept, &instance, &settings(), &Stream::new(9)).unwrap().excesses[10];
    assert!(kept > 100.0 * fresh, "{kept} against {fresh}");
}

/// With eigenvalue gap q = λ₂/λ₁, the angle to the leading eigenvector falls by q each iteration, the Rayleigh gap by q².
#[test]
fn power_iteration_converges_at_the_rate_of_the_gap() {
    let instance = Family::named("eigenvalue").unwrap().sized(Some(5), None).draw(&Stream::new(3)).unwrap();
    let lambda = instance.spectrum();
    let rate = (lambda[1] / lambda[0]).powi(2);
    let settings = RunSettings { iterations: 60, ..RunSettings::for_size(5, 5) };
    let gaps = traced("power-iteration", &instance, &settings).excesses;
    let seen = (gaps[60] / gaps[40]).powf(1.0 / 20.0);
    assert!((seen / rate - 1.0).abs() < 0.05, "{seen} and not {rate}");
}

/// What the documentation says of sketched power iteration: ahead at one pass, behind at equal iterations.
#[test]
fn a_sketch_pays_when_passes_cost() {
    let family =
        Family { condition: Some(100.0), ..Family::named("eigenvalue").unwrap() }.sized(Some(500), None);
    let settings = RunSettings { iterations: 10, sketch_rows: 250, ..RunSettings::for_size(500, 500) };
    let gaps: Vec<[f64; 3]> = (0..4u64)
        .into_par_iter()
        .map(|seed| {
            let instance = family.draw(&Stream::new(seed)).unwrap();
            let plain = traced("power-iteration", &instance, &settings).excesses;
            [plain[1], plain[10], traced("sketched-power-iteration", &instance, &settings).excesses[10]]
        })
        .collect();
    let [one_pass, plain, sketched] = [0, 1, 2].map(|i| gaps.iter().map(|gap| gap[i]).sum::<f64>() / 4.0);
    assert!(sketched < 0.6 * one_pass, "one pass each: {sketched} against {one_pass}");
    assert!(plain < sketched, "ten iterations each: {plain} against {sketched}");
}

/// The answer of a forward pass is compared with the model's own probabilities.
#[test]
fn a_forward_pass_is_exact() {
    let instance = Family::named("logistic-forward").unwrap().draw(&Stream::new(1)).unwrap();
    let trace = traced(
        "logistic-forward",
        &instance,
        &RunSettings { iterations: 1, ..RunSettings::for_size(50, 10) },
    );
    assert_eq!(trace.x.len(), 50);
    assert!(trace.excesses[1] < 1e-15 && trace.excesses[0] > 0.01);
    let z = linalg::mat_vec(&instance.A, &instance.start);
    assert!(trace.x.iter().zip(z).all(|(p, z)| (p - 1.0 / (1.0 + (-z).exp())).abs() < 1e-15));
}

//! Every catalogue program behaves as its theory says.

use rl4rla::execute::{FailurePoint, Fault, RunSettings, SketchKind, Trace, run};
use rl4rla::linalg::{Svd, add, dot, least_squares, mat_vec, norm, qr_r, scale, sub, svd_of_square, vec_mat};
use rl4rla::problem::{Family, Instance, Leverage};
use rl4rla::program::{Entry, Program};
use rl4rla::rng::Stream;

fn program(name: &str) -> &'static Program {
    &Entry::named(name).expect("a catalogue name").document.program
}

fn family(name: &str, rows: usize, cols: usize) -> Family {
    Family { rows, cols, ..Family::named(name).expect("a family name") }
}

fn draw(family: &Family, seed: u64) -> Instance {
    family.draw(&Stream::new(seed)).expect("a drawable family")
}

fn settings(instance: &Instance, iterations: usize, step: f64) -> RunSettings {
    RunSettings { iterations, step, ..RunSettings::for_size(instance.rows(), instance.cols()) }
}

fn go(name: &str, instance: &Instance, settings: &RunSettings) -> Trace {
    run(program(name), instance, settings, &Stream::new(7))
        .unwrap_or_else(|failure| panic!("{name}: {failure}"))
}

fn last(history: &[f64]) -> f64 {
    *history.last().expect("a history holds the start")
}

/// The factor by which the excess shrinks per iteration, by a log-linear fit, and how well the line fits (R²).
fn contraction(excesses: &[f64]) -> (f64, f64) {
    // The fit stops where rounding takes over.
    let logs: Vec<f64> = excesses.iter().take_while(|e| **e > 1e-11).map(|e| e.ln()).collect();
    let count = logs.len() as f64;
    let (mean_t, mean_y) = ((count - 1.0) / 2.0, logs.iter().sum::<f64>() / count);
    let (mut ty, mut tt, mut yy) = (0.0, 0.0, 0.0);
    for (t, y) in logs.iter().enumerate() {
        let (dt, dy) = (t as f64 - mean_t, y - mean_y);
        (ty, tt, yy) = (ty + dt * dy, tt + dt * dt, yy + dy * dy);
    }
    ((ty / tt).exp(), ty * ty / (tt * yy))
}

#[test]
fn landweber_contracts_by_one_minus_one_over_kappa() {
    for (kappa, seed) in [(2.0, 1), (5.0, 2), (20.0, 3)] {
        let instance = draw(&Family { condition: Some(kappa), ..family("psd", 6, 6) }, seed);
        let trace = go("landweber", &instance, &settings(&instance, 40, 1.0));
        for pair in trace.residuals.windows(2).filter(|pair| pair[0] > 1e-13) {
            assert!(pair[1] <= (1.0 - 1.0 / kappa) * pair[0] + 1e-14, "κ = {kappa}: {pair:?}");
        }
    }
}

#[test]
fn landweber_is_refused_on_rectangular_input_before_anything_runs() {
    let instance = draw(&family("low-cond", 20, 4), 1);
    let failure =
        run(program("landweber"), &instance, &settings(&instance, 5, 1.0), &Stream::new(0)).unwrap_err();
    assert_eq!(failure.step, FailurePoint::Check);
    assert!(matches!(failure.fault, Fault::Shape(_)), "{failure}");
    assert!(failure.residuals.is_empty());
}

#[test]
fn gradient_descent_contracts_by_one_minus_one_over_kappa_squared_and_no_faster() {
    for kappa in [2.0f64, 10.0, 50.0] {
        let instance = draw(&Family { condition: Some(kappa), ..family("low-cond", 400, 8) }, 4);
        let trace = go("ls-gd", &instance, &settings(&instance, 400, 1.0));
        let bound = 1.0 - kappa.powi(-2);
        for pair in trace.excesses.windows(2).filter(|pair| pair[0] > 1e-13) {
            assert!(pair[1] <= bound * pair[0] + 1e-14, "κ = {kappa}: {pair:?}");
        }
        // In the end the slowest direction is all that is left.
        let tail: Vec<f64> = trace.excesses.iter().copied().skip(20).filter(|e| *e > 1e-12).collect();
        let (rate, _) = contraction(&tail[tail.len() / 2..]);
        assert!(rate > bound - 0.05, "κ = {kappa}: rate {rate}");
    }
}

#[test]
fn a_perfect_preconditioner_solves_in_one_step() {
    for kappa in [1e2, 1e5] {
        let instance =
            draw(&Family { condition: Some(kappa), outside: 0.3, ..family("mid-cond", 500, 10) }, 5);
        let trace = go("precond-gd", &instance, &settings(&instance, 1, 1.0));
        // Applying an explicit inverse costs κ² in precision.
        assert!(last(&trace.excesses) < 1e-15 * kappa * kappa, "κ = {kappa}: {:e}", last(&trace.excesses));
    }
}

#[test]
fn sketched_preconditioning_contracts_independently_of_kappa() {
    // For s = 8n, δ = √(1/8): the spectrum fills [1/(1+δ)², 1/(1−δ)²], and at η = 2/3 the worst factor is
    // max(|1 − η/(1+δ)²|, |1 − η/(1−δ)²|) = 0.64 in the limit of large n; finite n needs some room.
    let names = ["sketched-precond-gd", "sketched-precond-gd-factored", "sketched-precond-gd-gram"];
    for name in names {
        let mut rates = Vec::new();
        for kappa in [10.0, 1e3, 1e6] {
            let family = Family { condition: Some(kappa), outside: 0.2, ..family("mid-cond", 3000, 30) };
            let trace = go(name, &draw(&family, 6), &settings(&draw(&family, 6), 30, 2.0 / 3.0));
            let (rate, fit) = contraction(&trace.excesses);
            assert!(fit > 0.95, "{name} at κ = {kappa}: R² = {fit}");
            assert!(rate < 0.72, "{name} at κ = {kappa}: rate {rate}");
            rates.push(rate);
        }
        let spread = rates.iter().fold(0.0f64, |s, r| s.max((r - rates[0]).abs()));
        assert!(spread < 0.05, "{name}: rates {rates:?} should not depend on κ");
    }
}

#[test]
fn the_three_preconditioners_are_one_method_until_rounding_parts_them() {
    let at = |name: &str, kappa: f64| {
        let family = Family { condition: Some(kappa), ..family("mid-cond", 1500, 20) };
        let instance = draw(&family, 8);
        let settings = settings(&instance, 60, 2.0 / 3.0);
        run(program(name), &instance, &settings, &Stream::new(7)).map_or(f64::INFINITY, |t| last(&t.excesses))
    };
    let early = |name: &str| {
        let instance = draw(&Family { condition: Some(100.0), ..family("mid-cond", 1500, 20) }, 8);
        go(name, &instance, &settings(&instance, 10, 2.0 / 3.0)).excesses
    };
    let explicit = early("sketched-precond-gd");
    for other in ["sketched-precond-gd-factored", "sketched-precond-gd-gram"] {
        for (a, b) in explicit.iter().zip(early(other)) {
            assert!((a - b).abs() < 1e-9, "{other}: {a} and {b}");
        }
    }
    // Beyond 1/√ε the factored form still gives all digits; the explicit inverse diverges; the Gram matrix is
    // numerically singular, and its pseudo-inverse gives up the directions it cannot see.
    let factored = at("sketched-precond-gd-factored", 1e10);
    assert!(factored < 1e-11, "{factored:e}");
    assert!(at("sketched-precond-gd", 1e10) > 1.0);
    assert!(at("sketched-precond-gd-gram", 1e10) > 100.0 * factored);
}

#[test]
fn stochastic_gradients_converge_on_consistent_systems_and_hover_otherwise() {
    let consistent = draw(&family("low-cond", 2000, 10), 9);
    let noisy = draw(&Family { outside: 0.3, ..family("low-cond", 2000, 10) }, 9);
    let at = |instance: &Instance| last(&go("sgd", instance, &settings(instance, 300, 0.5)).excesses);
    assert!(at(&consistent) < 1e-8, "{:e}", at(&consistent));
    assert!(at(&noisy) > 1e-3, "{:e}", at(&noisy));
}

#[test]
fn row_norm_sampling_works_where_uniform_sampling_misses_the_rows_that_matter() {
    for seed in 0..5 {
        let family =
            Family { leverage: Leverage::High, condition: Some(10.0), ..family("mid-cond", 2000, 10) };
        let instance = draw(&family, seed);
        let at = |name: &str| {
            let outcome = run(program(name), &instance, &settings(&instance, 200, 0.2), &Stream::new(7));
            outcome.map_or(f64::INFINITY, |trace| last(&trace.excesses))
        };
        let (weighted, uniform) = (at("precond-weighted-sgd"), at("sketched-precond-sgd"));
        assert!(weighted < 1e-3, "seed {seed}: weighted {weighted:e}");
        assert!(uniform > 10.0 * weighted, "seed {seed}: uniform {uniform:e}, weighted {weighted:e}");
    }
}

#[test]
fn block_kaczmarz_with_blocks_below_n_approaches_the_solution_of_consistent_systems() {
    let instance = draw(&Family { condition: Some(20.0), ..family("mid-cond", 600, 20) }, 10);
    let error = |iterations: usize| {
        let settings = RunSettings { batch: 8, ..settings(&instance, iterations, 1.0) };
        norm(&sub(&go("block-kaczmarz", &instance, &settings).x, &instance.x_star))
    };
    // η = 1 is an orthogonal projection onto a set that holds the solution: the error never grows.
    let errors: Vec<f64> = (0..40).map(error).collect();
    for pair in errors.windows(2) {
        assert!(pair[1] <= pair[0] * (1.0 + 1e-12), "{pair:?}");
    }
    assert!(error(400) < 0.05 * errors[0], "{:e} from {:e}", error(400), errors[0]);

    let inconsistent =
        draw(&Family { outside: 0.3, condition: Some(20.0), ..family("mid-cond", 600, 20) }, 10);
    let settings = RunSettings { batch: 8, ..settings(&inconsistent, 400, 1.0) };
    assert!(last(&go("block-kaczmarz", &inconsistent, &settings).excesses) > 0.01);
}

#[test]
fn sketch_and_solve_reaches_the_solution_of_the_sample() {
    let gap = |outside: f64, name: &str, step: f64| {
        let instance = draw(&Family { outside, condition: Some(3.0), ..family("low-cond", 4000, 10) }, 11);
        let settings = RunSettings { batch: 400, ..settings(&instance, 300, step) };
        let trace = go(name, &instance, &settings);
        (last(&trace.excesses), instance.attainable())
    };
    for (name, step) in [("subsampled-ls-gd", 1.0), ("subsampled-precond-gd", 1.0)] {
        let (excess, _) = gap(0.0, name, step);
        assert!(excess < 1e-9, "{name} on a consistent system: {excess:e}");
        // Otherwise the sample's solution misses by about √(n/k) of the attainable residual.
        let (excess, attainable) = gap(0.3, name, step);
        let expected = attainable * (10.0f64 / 400.0).sqrt();
        assert!((0.4..2.5).contains(&(excess / expected)), "{name}: {excess:e}, expected about {expected:e}");
    }
}

#[test]
fn subsampled_preconditioning_solves_its_sample_in_one_step() {
    let instance = draw(&Family { condition: Some(1e4), outside: 0.1, ..family("mid-cond", 2000, 10) }, 12);
    let trace = go("subsampled-precond-gd", &instance, &settings(&instance, 3, 1.0));
    assert!((trace.residuals[1] - trace.residuals[3]).abs() < 1e-6 * trace.residuals[1]);
}

#[test]
fn a_sample_smaller_than_n_cannot_precondition_and_says_so() {
    let instance = draw(&family("mid-cond", 200, 10), 13);
    let settings = RunSettings { batch: 5, ..settings(&instance, 3, 1.0) };
    let failure = run(program("subsampled-precond-gd"), &instance, &settings, &Stream::new(0)).unwrap_err();
    assert_eq!((failure.step, failure.operation.as_str()), (FailurePoint::Setup, "R1 = MAT_INV(R1)"));
    assert!(matches!(failure.fault, Fault::Numeric(_)), "{failure}");
    assert_eq!(failure.shapes, [(10, 10)]);
}

/// Systems of 100 columns, with most of b outside the range of A, and a Gaussian sketch of 400 rows.
fn sketched_four_times(kappa: f64) -> (Instance, RunSettings) {
    let family = Family { condition: Some(kappa), outside: 0.7, ..family("mid-cond", 2000, 100) };
    let instance = draw(&family, 31);
    let settings = RunSettings {
        sketch: SketchKind::Gaussian,
        sketch_rows: 400,
        mu: 0.25,
        ..settings(&instance, 120, 1.0)
    };
    (instance, settings)
}

/// The iterations until the excess is below 1e-10.
fn iterations_to_ten_digits(name: &str, kappa: f64, step: f64) -> usize {
    let (instance, settings) = sketched_four_times(kappa);
    let trace = go(name, &instance, &RunSettings { step, ..settings });
    let reached = trace.excesses.iter().position(|&excess| excess <= 1e-10);
    reached.unwrap_or_else(|| panic!("{name} at κ = {kappa}: {:?}", trace.excesses))
}

#[test]
fn methods_that_look_back_are_fast_at_any_condition_number() {
    // η = (1 − n/s)² where the step is fixed.
    let eta = 0.75f64.powi(2);
    // The best step of the same preconditioner without a memory.
    let plain = iterations_to_ten_digits("sketched-precond-gd-factored", 10.0, 0.45);
    for (name, step, expected) in [
        ("sketched-pcg", 1.0, 26..32),
        ("sketched-pcg-warm", 1.0, 26..32),
        ("sketched-pcg-recurred", 1.0, 26..32),
        ("adaptive-momentum", eta, 29..36),
        ("adaptive-momentum-t", 0.4, 36..46),
        ("heavy-ball", eta, 30..36),
    ] {
        let [easy, hard] = [10.0, 1e6].map(|kappa| iterations_to_ten_digits(name, kappa, step));
        assert!(expected.contains(&easy) && easy.abs_diff(hard) <= 2, "{name}: {easy} and {hard}");
        assert!(plain > 3 * hard / 2, "{name}: {hard}, without a memory {plain}");
    }
}

/// The backward error of x relative to ‖A‖_F, as estimated by Karlson and Waldén:
/// ‖(AᵀA + (‖r‖/‖x‖)²I)^(−½) Aᵀr‖/‖x‖.
fn backward_error(instance: &Instance, x: &[f64]) -> f64 {
    let (a, r) = (&instance.A, sub(&mat_vec(&instance.A, x), &instance.b));
    let Svd { sigma, V, .. } = svd_of_square(&qr_r(a)).expect("a finite matrix");
    let shift = norm(&r) / norm(x);
    let gradient = vec_mat(&vec_mat(&r, a), &V);
    let scaled: Vec<f64> = gradient.iter().zip(&sigma).map(|(g, s)| g / s.hypot(shift)).collect();
    norm(&scaled) / norm(x) / norm(&sigma)
}

/// Refinement makes sketched preconditioning backward stable, where momentum alone loses digits to κ.
#[test]
fn refinement_has_the_backward_error_of_a_direct_solver() {
    for kappa in [1e4, 1e8, 1e11] {
        let family = Family { condition: Some(kappa), outside: 0.7, ..family("mid-cond", 2000, 40) };
        let instance = draw(&family, 33);
        // η = (1 − n/s)² and μ = n/s for s = 12n.
        let sketch = (SketchKind::Gaussian, 12 * 40, (11.0f64 / 12.0).powi(2), 1.0 / 12.0);
        let settings = RunSettings {
            sketch: sketch.0,
            sketch_rows: sketch.1,
            mu: sketch.3,
            every: 20,
            ..settings(&instance, 60, sketch.2)
        };
        let error = |name: &str| backward_error(&instance, &go(name, &instance, &settings).x);
        let direct = backward_error(&instance, &least_squares(&instance.A, &instance.b));
        let (refined, plain) = (error("sketched-refinement"), error("heavy-ball"));
        assert!(refined < 10.0 * direct.max(1e-16), "κ = {kappa:e}: {refined:e}, QR {direct:e}");
        assert!(kappa < 1e6 || plain > 100.0 * refined, "κ = {kappa:e}: {plain:e} and {refined:e}");
    }
}

#[test]
fn sketch_and_solve_is_a_start_with_an_error_of_the_size_of_the_residual() {
    let (instance, settings) = sketched_four_times(1e4);
    let warm = go("sketched-pcg-warm", &instance, &settings);
    let best = instance.measure(&instance.x_star).0;
    // E‖A(x − x*)‖² = n/(s − n − 1)·‖Ax* − b‖² for Gaussian sketches: a ratio of √(100/299) = 0.578.
    let ratio = warm.excesses[0] / best;
    assert!((0.5..0.66).contains(&ratio), "{ratio}");
}

#[test]
fn conjugate_gradients_end_after_as_many_iterations_as_there_are_columns() {
    let instance = draw(&Family { condition: Some(3.0), outside: 0.5, ..family("low-cond", 300, 8) }, 32);
    let history = |name: &str| go(name, &instance, &settings(&instance, 60, 1.0)).excesses;
    let cgls = history("cgls");
    assert!(cgls[7] > 1e-5 && cgls[8] < 1e-12, "{:e} then {:e}", cgls[7], cgls[8]);
    // The iterates are those of the classical recurrence.
    let (a, b) = (&instance.A, &instance.b);
    let mut r: Vec<f64> = b.clone();
    let mut s = vec_mat(&r, a);
    let (mut p, mut gamma) = (s.clone(), dot(&s, &s));
    let mut x = vec![0.0; 8];
    for t in 1..=7 {
        let q = mat_vec(a, &p);
        let alpha = gamma / dot(&q, &q);
        x = add(&x, &scale(alpha, &p));
        r = sub(&r, &scale(alpha, &q));
        s = vec_mat(&r, a);
        let next = dot(&s, &s);
        p = add(&s, &scale(next / gamma, &p));
        gamma = next;
        for name in ["cgls", "cgls-recurred"] {
            let ours = go(name, &instance, &settings(&instance, t, 1.0)).x;
            assert!(norm(&sub(&ours, &x)) < 1e-10 * norm(&x), "{name}, iteration {t}");
        }
    }
    // Steepest descent contracts by (κ² − 1)/(κ² + 1) or better; the delayed step of Barzilai and Borwein is no
    // descent method, but faster in the end.
    let (steepest, delayed) = (history("steepest-descent"), history("barzilai-borwein"));
    let rate = (9.0 - 1.0) / (9.0 + 1.0);
    assert!(steepest.windows(2).all(|pair| pair[1] <= rate * pair[0] + 1e-14));
    assert!(delayed.windows(2).any(|pair| pair[1] > pair[0]));
    assert!(delayed[60] < 1e-3 * steepest[60], "{:e} and {:e}", delayed[60], steepest[60]);
    assert_eq!(delayed[1], steepest[1]);
}

/// The smallest number of iterations after which a run of a program has come to this excess.
fn iterations_to(name: &str, instance: &Instance, settings: &RunSettings, excess: f64) -> usize {
    let trace = go(name, instance, settings);
    let reached = trace.excesses.iter().position(|e| *e <= excess);
    reached.unwrap_or_else(|| panic!("{name}: {:e}", last(&trace.excesses)))
}

/// Eigenvalues above λ are seen as one, so that their number and size do not matter.
#[test]
fn a_nystrom_preconditioner_takes_the_leading_eigenvalues_away() {
    for (condition, seed) in [(1e4, 1), (1e8, 2), (1e12, 3)] {
        let instance = draw(&Family { condition: Some(condition), ..family("spd-decay", 200, 200) }, seed);
        let [plain, preconditioned] = [("shifted-cg", 900), ("nystrom-pcg", 30)].map(|(name, iterations)| {
            let settings = RunSettings { sketch_rows: 40, ..settings(&instance, iterations, 1.0) };
            iterations_to(name, &instance, &settings, 1e-9)
        });
        assert!(
            preconditioned <= 25 && 3 * preconditioned < plain,
            "κ = {condition}: {preconditioned} {plain}"
        );
    }
}

/// At any condition number and any λ, as with least squares.
#[test]
fn a_sketched_ridge_preconditioner_makes_the_condition_number_irrelevant() {
    for (condition, lambda) in [(1e2, 1e-2), (1e6, 1e-8), (1e10, 1e-16), (1e6, 0.0)] {
        let family = Family { condition: Some(condition), ..family("ridge", 2000, 20) };
        let instance = draw(&family.with_number("lambda", lambda).unwrap(), 4);
        let settings = RunSettings { sketch_rows: 160, ..settings(&instance, 60, 1.0) };
        let taken = iterations_to("sketched-ridge-pcg", &instance, &settings, 1e-9);
        assert!(taken <= 25, "κ = {condition}, λ = {lambda}: {taken}");
    }
}

/// A problem without a matrix to approximate is solved by its shift, and a singular factor is an error.
#[test]
fn preconditioners_with_a_shift_meet_degenerate_problems() {
    let zero = draw(&Family { condition: Some(1e300), ..family("spd-decay", 30, 30) }, 1);
    let quick = RunSettings { sketch_rows: 10, ..settings(&zero, 12, 1.0) };
    assert!(go("nystrom-pcg", &zero, &quick).excesses.iter().any(|e| *e < 1e-9));
    let text = "setup:\n R1 = SKETCH(A)\n R1 = SHIFTED_QR(R1, lambda)\niteration:\n v1 = VEC_MAT_MUL(b, A)\n \
                v1 = TRIANGULAR_SOLVE(v1, R1)\n";
    let instance = draw(&family("ridge", 60, 5).with_number("lambda", 0.0).unwrap(), 2);
    let few = RunSettings { sketch_rows: 3, ..settings(&instance, 2, 1.0) };
    let failure = run(&text.parse().unwrap(), &instance, &few, &Stream::new(1)).unwrap_err();
    assert!(matches!(failure.fault, Fault::Numeric(_) | Fault::NotFinite), "{failure}");
}

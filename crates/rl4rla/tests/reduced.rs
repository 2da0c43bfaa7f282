//! Reduced coordinates: the same runs as on the true matrices, up to rounding, and the same rewards.

mod common;

use common::*;
use rayon::prelude::*;
use rl4rla::equivalence::solves_systems;
use rl4rla::execute::{
    PreparedInstance, RunFailure, RunSettings, Sampling, SketchKind, Trace, run, run_prepared,
};
use rl4rla::linalg::{self, Matrix};
use rl4rla::problem::{Family, Instance, Leverage};
use rl4rla::program::*;
use rl4rla::reward::*;
use rl4rla::rng::Stream;

type Outcome = Result<Trace, RunFailure>;

fn family(rows: usize, cols: usize, condition: f64, outside: f64, leverage: Leverage) -> Family {
    let named = Family::named("mid-cond").unwrap();
    Family { rows, cols, outside, leverage, condition: Some(condition), ..named }
}

/// Every combination of size, leverage and distance of b from the range of A, for one condition number.
fn families(condition: f64) -> Vec<Family> {
    let mut all = Vec::new();
    for (rows, cols) in [(60, 6), (300, 12)] {
        for outside in [0.0, 0.3] {
            for leverage in [Leverage::Low, Leverage::High] {
                all.push(family(rows, cols, condition, outside, leverage));
            }
        }
    }
    all
}

/// An instance given by its data, and the same before its rows are drawn.
fn both(family: &Family, seed: u64) -> [PreparedInstance; 2] {
    let stream = Stream::new(seed);
    [PreparedInstance::new(family.draw(&stream).unwrap()), PreparedInstance::draw(family, &stream).unwrap()]
}

/// Sketches and samples larger and smaller than n + 1, of every kind in turn.
fn settings(instance: &Instance, turn: usize) -> RunSettings {
    let (rows, cols) = (instance.rows(), instance.cols());
    RunSettings {
        iterations: 5,
        step: [0.37, 1.0][turn % 2],
        sketch: SketchKind::ALL[turn / 2 % 4],
        sketch_rows: [4 * cols, cols + 1, cols - 2][turn / 8 % 3],
        mu: 0.6,
        batch: [2 * cols, cols / 2][turn / 24 % 2],
        sampling: Sampling::ALL[turn / 48 % 2],
        ..RunSettings::for_size(rows, cols)
    }
}

/// The largest deviation of a residual, relative to the largest residual so far, or to a tenth of ‖b‖: a warm start
/// may be a solution up to rounding.
fn deviation(a: &[f64], b: &[f64]) -> f64 {
    let mut largest = 0.1f64;
    let pairs = a.iter().zip(b).map(|(a, b)| {
        largest = largest.max(a.abs());
        (a - b).abs() / largest
    });
    pairs.fold(0.0, f64::max)
}

fn compare(full: &Outcome, reduced: &Outcome) -> f64 {
    match (full, reduced) {
        (Ok(full), Ok(reduced)) => {
            assert_eq!(full.residuals.len(), reduced.residuals.len());
            assert_eq!(full.preconditioner.is_some(), reduced.preconditioner.is_some());
            deviation(&full.residuals, &reduced.residuals).max(deviation(&full.excesses, &reduced.excesses))
        }
        (Err(full), Err(reduced)) => {
            let place = |f: &RunFailure| (f.step, f.operation.clone(), f.shapes.clone());
            if place(full) == place(reduced) {
                deviation(&full.residuals, &reduced.residuals)
            } else {
                f64::INFINITY
            }
        }
        _ => f64::INFINITY,
    }
}

/// A random program that is likely to move: chance alone, or chance put into a named method, whose last instructions
/// may be replaced.
fn candidate(seed: u64) -> Program {
    let mut dice = Dice::new(seed);
    let length = 2 + dice.below(9);
    if dice.one_in(4) {
        return well_shaped(&mut dice, Geometry::Tall, length);
    }
    let named: Vec<&Entry> = tall_entries().collect();
    let mut program = dice.pick(&named).document.program.clone();
    for _ in 0..length {
        let section = dice.section();
        grow(&mut dice, &mut program, section, Geometry::Tall);
    }
    // A new last word: whatever makes a direction out of what is there.
    let vectors: Vec<Op> = operators().filter(|op| op.forms[0].result.kind() == Some(Kind::Vector)).collect();
    for _ in 0..100 {
        let last = Instruction { target: Some(Reg::V1), ..plausible(&mut dice, &vectors, RegSet::all()) };
        program.iteration.push(last);
        if check(&program, Geometry::Tall).is_ok() {
            return program;
        }
        program.iteration.pop();
    }
    if check(&program, Geometry::Tall).is_ok() {
        program
    } else {
        well_shaped(&mut dice, Geometry::Tall, length)
    }
}

/// The instance with noise of a few units in the last place: of every entry, and of the largest entry.
///
/// What no computation can be blamed for, and what none can be that is backward stable.
fn blurred(instance: &Instance) -> [Instance; 2] {
    let (rows, cols) = (instance.rows(), instance.cols());
    let noise = Stream::new(99).normals(rows * cols);
    let largest = instance.A.row_major().iter().fold(0.0f64, |largest, a| largest.max(a.abs()));
    [0.0, 1.0].map(|share| {
        let entry = |i: usize, j: usize| {
            let a = instance.A.get(i, j);
            a + 1e-15 * noise[i * cols + j] * (share * largest + (1.0 - share) * a)
        };
        Instance::from_data(Matrix::from_fn(rows, cols, entry), instance.b.clone()).unwrap()
    })
}

#[test]
fn random_programs_run_alike() {
    // For each of sixteen families: 100,000 in all.
    const PROGRAMS: u64 = 6250;
    let (mut moved, mut deviating, mut unexplained, mut all) = (0, 0, Vec::new(), 0);
    for family in [10.0, 1e4].into_iter().flat_map(families) {
        let prepared = both(&family, 3);
        let instance = &prepared[0].instance();
        let blurred = blurred(instance);
        let one = |seed: u64| {
            let (program, settings, stream) =
                (candidate(seed), settings(instance, seed as usize), Stream::new(seed));
            let full = run(&program, instance, &settings, &stream);
            let reduced = run_prepared(&program, &prepared[seed as usize % 2], &settings, &stream);
            let apart = compare(&full, &reduced);
            let deviates = apart > 1e-6;
            // Rounding may be amplified, but then by the program: the last bits of A matter as much.
            let sensitive = || {
                let moved = |other| compare(&full, &run(&program, other, &settings, &stream));
                blurred.iter().any(|other| apart <= 1e3 * moved(other))
            };
            let why = (deviates && !sensitive()).then(|| format!("{apart:e} on {family:?}\n{program}"));
            let moves = full.is_ok_and(|trace| trace.x.iter().any(|&x| x != 0.0));
            (moves, deviates, why)
        };
        for (moves, deviates, why) in (0..PROGRAMS).into_par_iter().map(one).collect::<Vec<_>>() {
            moved += usize::from(moves);
            deviating += usize::from(deviates);
            unexplained.extend(why);
            all += 1;
        }
    }
    assert!(moved * 7 > all, "only {moved} of {all} programs left the origin");
    // Conjugate directions amplify rounding errors once there is nothing else left.
    assert!(deviating * 50 < all, "{deviating} of {all} programs deviate");
    // Where a factor is singular its last pivot is noise, or zero, whatever the data are blurred by.
    assert!(unexplained.len() * 20_000 <= all, "{} of {all}: {unexplained:#?}", unexplained.len());
}

/// Random programs are charged for the passes over A that they make, refreshes included, and besides only for reading
/// matrices of their own that are as tall as A.
#[test]
fn charged_passes_are_executed_passes() {
    let instance = families(10.0)[0].draw(&Stream::new(3)).unwrap();
    let (rows, cols, iterations) = (instance.rows(), instance.cols(), 5);
    let settings = RunSettings { iterations, every: 2, step: 0.3, ..RunSettings::for_size(rows, cols) };
    let is_other_tall = |arg: &Arg| match arg.ty {
        Type::Matrix(rows, cols, _) => arg.reg != Reg::A && [rows, cols].contains(&Dim::Rows),
        _ => false,
    };
    let compared = (0..4000).into_par_iter().filter(|&seed| {
        let live = Canonical::new(&candidate(seed), LiveOut::Finished);
        // Which part of A a sample reads is a matter of chance.
        if live.program().instructions().any(|(_, _, instruction)| instruction.op.samples()) {
            return false;
        }
        let Ok(trace) = run(live.program(), &instance, &settings, &Stream::new(seed)) else { return false };
        let cost = ProgramCost::of(&live, Geometry::Tall, Model::True).unwrap();
        let (made, charged) = (trace.passes as f64, cost.passes(&settings.sizes(rows, cols), iterations));
        let typed = check(live.program(), Geometry::Tall).unwrap();
        let alike = !typed.iter().any(|typed| typed.args.iter().any(is_other_tall));
        let agree = if alike { made == charged } else { made < charged };
        assert!(agree, "{made} passes made, {charged} charged\n{}", live.program());
        alike
    });
    assert!(compared.count() > 1000);
}

fn tall_entries() -> impl Iterator<Item = &'static Entry> {
    // Of linear systems: others have operators that see true rows.
    CATALOGUE
        .iter()
        .filter(|entry| entry.signature() == Geometry::Tall.into())
        .filter(|entry| solves_systems(&entry.document.program, entry.signature()))
}

#[test]
fn named_programs_agree_to_rounding() {
    for (family, prepared) in families(10.0).into_iter().flat_map(|f| both(&f, 4).map(|p| (f, p))) {
        let (rows, cols) = (family.rows, family.cols);
        for (turn, sketch) in SketchKind::ALL.into_iter().enumerate() {
            let sampling = Sampling::ALL[turn % 2];
            let settings =
                RunSettings { step: 0.5, batch: 30, sketch, sampling, ..RunSettings::for_size(rows, cols) };
            for entry in tall_entries() {
                let program = &entry.document.program;
                let full = run(program, &prepared.instance(), &settings, &Stream::new(5));
                let reduced = run_prepared(program, &prepared, &settings, &Stream::new(5));
                let apart = compare(&full, &reduced);
                assert!(full.is_ok() && apart < 1e-9, "{}: {apart:e} on {family:?}", entry.name);
                let [x, y] = [full, reduced].map(|outcome| outcome.unwrap());
                let close = |a: &[f64], b: &[f64]| linalg::norm(&linalg::sub(a, b)) <= 1e-9 * linalg::norm(a);
                assert!(close(&x.x, &y.x), "{}", entry.name);
                if let (Some(p), Some(q)) = (x.preconditioner, y.preconditioner) {
                    assert!(close(p.row_major(), q.row_major()), "{}", entry.name);
                }
            }
        }
    }
}

fn bits(outcome: &Outcome) -> Result<Vec<u64>, &RunFailure> {
    let trace = outcome.as_ref()?;
    Ok(trace.x.iter().chain(&trace.residuals).chain(&trace.excesses).map(|v| v.to_bits()).collect())
}

#[test]
fn samples_are_the_same_rows() {
    // x is a function of the sampled rows alone, and so equal to the last bit if they are the same.
    let one = "iteration:\n A, b = SUBSAMPLING(p1)\n v1 = VEC_MAT_MUL(b, A)\n";
    let two = "iteration:\n A, b = SUBSAMPLING(p1)\n R1 = MAT_TRANS_MAT_MUL(A, A)\n v1 = VEC_MAT_MUL(b, A)\n v1 = MAT_VEC_MUL(R1, v1)\n";
    let again = "setup:\n p1 = LEVERAGE_SCORE(A)\n A, b = SUBSAMPLING(p1)\n p1 = LEVERAGE_SCORE(A)\niteration:\n A, b = SUBSAMPLING(p1)\n v1 = VEC_MAT_MUL(b, A)\n";
    let by_norm = format!("setup:\n p1 = LEVERAGE_SCORE(A)\n{one}");
    for leverage in [Leverage::Low, Leverage::High] {
        let prepared = both(&family(80, 5, 10.0, 0.3, leverage), 6);
        for (sampling, prepared) in
            Sampling::ALL.into_iter().flat_map(|s| prepared.each_ref().map(|p| (s, p)))
        {
            let settings = RunSettings { sampling, batch: 7, ..RunSettings::for_size(80, 5) };
            for text in [one, two, again, &by_norm] {
                let program = parse(text);
                let full = run(&program, &prepared.instance(), &settings, &Stream::new(7)).unwrap();
                for _ in 0..2 {
                    let reduced = run_prepared(&program, prepared, &settings, &Stream::new(7)).unwrap();
                    assert_eq!(full.x, reduced.x, "{text}");
                    assert!(deviation(&full.residuals, &reduced.residuals) < 1e-13);
                }
            }
        }
    }
}

#[test]
fn what_needs_true_rows_runs_on_them() {
    let step = "v1 = MAT_VEC_MUL(A, x)\n v1 = VEC_VEC_SUB(v1, b)\n";
    let prepared =
        PreparedInstance::new(family(30, 4, 10.0, 0.3, Leverage::Low).draw(&Stream::new(8)).unwrap());
    let settings = RunSettings { batch: 6, ..RunSettings::for_size(30, 4) };
    for text in [
        format!(
            "setup:\n R1 = MAT_MAT_TRANS_MUL(A, A)\n R1 = MAT_INV(R1)\niteration:\n {step} v1 = MAT_VEC_MUL(R1, v1)\n v1 = VEC_MAT_MUL(v1, A)\n"
        ),
        format!(
            "setup:\n R1 = MAT_MAT_TRANS_MUL(A, A)\n R1 = HHQR(R1)\niteration:\n {step} v1 = MAT_VEC_MUL(R1, v1)\n v1 = VEC_MAT_MUL(v1, A)\n"
        ),
        format!(
            "setup:\n R1 = HHQR(A)\n R1 = MAT_MAT_MUL(A, R1)\n p1 = LEVERAGE_SCORE(R1)\niteration:\n A, b = SUBSAMPLING(p1)\n {step} v1 = VEC_MAT_MUL(v1, A)\n"
        ),
    ] {
        let program = parse(&text);
        let full = run(&program, &prepared.instance(), &settings, &Stream::new(9));
        let reduced = run_prepared(&program, &prepared, &settings, &Stream::new(9));
        assert!(full.is_ok());
        assert_eq!(bits(&full), bits(&reduced), "{text}");
    }
    // Too little to gain: square, symmetric, and one row more than columns.
    let noise = |rows: usize| Stream::new(10).normals(rows * 4);
    let data = |rows: usize| {
        let entries = noise(rows);
        Instance::from_data(Matrix::from_fn(rows, 4, |i, j| entries[i * 4 + j]), noise(rows)[..rows].to_vec())
    };
    let psd = Family { rows: 4, cols: 4, ..Family::named("psd").unwrap() };
    for instance in [data(4).unwrap(), data(5).unwrap(), psd.draw(&Stream::new(1)).unwrap()] {
        let (rows, prepared) = (instance.rows(), PreparedInstance::new(instance));
        let settings = RunSettings { step: 0.1, ..RunSettings::for_size(rows, 4) };
        for entry in tall_entries() {
            let program = &entry.document.program;
            let full = run(program, &prepared.instance(), &settings, &Stream::new(9));
            assert_eq!(bits(&full), bits(&run_prepared(program, &prepared, &settings, &Stream::new(9))));
        }
    }
}

#[test]
fn sketches_are_reduced_only_where_nothing_looks_at_their_rows() {
    let gradient = "v1 = MAT_VEC_MUL(A, x)\n v1 = VEC_VEC_SUB(v1, b)\n";
    let prepared =
        PreparedInstance::new(family(60, 4, 10.0, 0.3, Leverage::Low).draw(&Stream::new(8)).unwrap());
    for text in [
        // The sketches of setup and iteration meet.
        "setup:\n R1 = SKETCH(A)\niteration:\n R2 = SKETCH(A)\n R2 = MAT_TRANS_MAT_MUL(R1, R2)\n v1 = VEC_MAT_MUL(b, A)\n v1 = MAT_VEC_MUL(R2, v1)\n".to_string(),
        // One sketch, of vectors and of matrices other than the data.
        format!("iteration:\n {gradient} v1 = SKETCH(v1)\n R1 = HHQR(A)\n R1 = MAT_MAT_MUL(A, R1)\n R1 = SKETCH(R1)\n v1 = VEC_MAT_MUL(v1, R1)\n"),
        "setup:\n R1 = SKETCH(A)\n v1 = SKETCH(b)\n v2 = VEC_MAT_MUL(v1, R1)\niteration:\n v1 = MAT_VEC_MUL(R1, x)\n v1 = VEC_MAT_MUL(v1, R1)\n v1 = VEC_VEC_SUB(v1, v2)\n".to_string(),
        // Inverses and factors along the rows of a sketch.
        "setup:\n R1 = SKETCH(A)\n v3 = SKETCH(b)\n R2 = MAT_MAT_TRANS_MUL(R1, R1)\n R2 = MAT_INV(R2)\n v3 = MAT_VEC_MUL(R2, v3)\niteration:\n v1 = VEC_MAT_MUL(v3, R1)\n".to_string(),
        "setup:\n R1 = SKETCH(A)\n v3 = SKETCH(b)\n R2 = MAT_MAT_TRANS_MUL(A, R1)\n R2 = MAT_MAT_TRANS_MUL(R1, A)\n R3 = MAT_MAT_MUL(R2, A)\n R2 = MAT_MAT_TRANS_MUL(A, A)\niteration:\n v1 = VEC_MAT_MUL(v3, R3)\n".to_string(),
        "setup:\n R1 = SKETCH(A)\n v3 = SKETCH(b)\n R2 = MAT_TRANS_MAT_MUL(R1, R1)\n R2 = MAT_MAT_TRANS_MUL(R2, R1)\n R3 = HHQR(R2)\n v3 = MAT_VEC_MUL(R3, v3)\niteration:\n v1 = VEC_MAT_MUL(v3, R1)\n".to_string(),
    ] {
        let program = parse(&text);
        for sketch_rows in [3, 4, 5, 6, 20] {
            let settings = RunSettings { sketch_rows, step: 0.3, batch: 6, ..RunSettings::for_size(60, 4) };
            let full = run(&program, &prepared.instance(), &settings, &Stream::new(9));
            let reduced = run_prepared(&program, &prepared, &settings, &Stream::new(9));
            let apart = compare(&full, &reduced);
            assert!(full.is_ok_and(|t| t.x[0] != 0.0) && apart < 1e-9, "{apart:e}, s = {sketch_rows}\n{text}");
        }
    }
}

#[test]
fn what_is_refused_is_refused_at_the_true_size() {
    let prepared =
        PreparedInstance::new(family(900, 4, 10.0, 0.0, Leverage::Low).draw(&Stream::new(8)).unwrap());
    let settings = RunSettings::for_size(900, 4);
    for text in [
        "setup:\n R1 = MAT_MAT_TRANS_MUL(A, A)\n R1 = MAT_INV(R1)\niteration:\n v1 = SCALAR_VEC_MUL(eta, x)\n",
        "setup:\n R1 = MAT_MAT_TRANS_MUL(A, A)\n R2 = MAT_MAT_MUL(R1, R1)\niteration:\n v1 = SCALAR_VEC_MUL(eta, x)\n",
        "iteration:\n v1 = MAT_VEC_MUL(A, x)\n",
    ] {
        let full = run(&parse(text), &prepared.instance(), &settings, &Stream::new(9)).unwrap_err();
        let reduced = run_prepared(&parse(text), &prepared, &settings, &Stream::new(9)).unwrap_err();
        assert_eq!(full, reduced);
    }
    let long = RunSettings { iterations: usize::MAX, ..settings };
    let program = &Entry::named("ls-gd").unwrap().document.program;
    let full = run(program, &prepared.instance(), &long, &Stream::new(9)).unwrap_err();
    assert_eq!(full, run_prepared(program, &prepared, &long, &Stream::new(9)).unwrap_err());
}

#[test]
fn what_is_remembered_changes_no_bit() {
    let instance = family(120, 4, 10.0, 0.3, Leverage::Low).draw(&Stream::new(11)).unwrap();
    let fresh = "iteration:\n R1 = SKETCH(A)\n v1 = SKETCH(b)\n v1 = VEC_MAT_MUL(v1, R1)\n";
    let sampled = "iteration:\n A, b = SUBSAMPLING(p1)\n v1 = VEC_MAT_MUL(b, A)\n";
    let both = "setup:\n R1 = SKETCH(A)\niteration:\n R2 = SKETCH(A)\n R2 = MAT_TRANS_MAT_MUL(R1, R2)\n v1 = VEC_MAT_MUL(b, A)\n v1 = MAT_VEC_MUL(R2, v1)\n";
    let programs = [fresh, sampled, both].map(parse);
    // More iterations than sketches are kept.
    let settings = RunSettings { iterations: 600, step: 1e-3, batch: 9, ..RunSettings::for_size(120, 4) };
    let cold = |program: &Program, seed: u64| {
        let prepared = PreparedInstance::new(instance.clone());
        run_prepared(program, &prepared, &settings, &Stream::new(seed))
    };
    let shared = PreparedInstance::new(instance.clone());
    let jobs: Vec<(usize, u64)> = (0..18).map(|i| (i % 3, i as u64 % 2)).collect();
    let warm: Vec<Outcome> = jobs
        .par_iter()
        .map(|&(i, seed)| run_prepared(&programs[i], &shared, &settings, &Stream::new(seed)))
        .collect();
    for (&(i, seed), warm) in jobs.iter().zip(&warm) {
        assert!(warm.is_ok());
        assert_eq!(bits(warm), bits(&cold(&programs[i], seed)), "{}", programs[i]);
    }
}

fn protocols() -> Vec<Protocol> {
    let weights = Weights::new(1.0, 10.0, 8.0, 1.0);
    let charge = |unit| Charge { unit, rows: 100_000, cols: 100 };
    let profiles = [
        Profile::paper(),
        Profile::Paper { weights, ungated: true, condition_only: false },
        Profile::Paper { weights, ungated: false, condition_only: true },
        Profile::sound(),
        Profile::Sound { weights, condition_only: true },
        Profile::Sound { weights: Weights::new(1.0, 1.0, 0.0, 0.0), condition_only: false },
        Profile::Tolerance { epsilon: 1e-2, charge: charge(Unit::Flops) },
        Profile::Tolerance { epsilon: 1e-4, charge: charge(Unit::Passes) },
    ];
    let rules = [StepRule::Best(SOUND_GRID.to_vec()), StepRule::Fixed(0.5)];
    let protocol = |profile: &Profile, rule: &StepRule| {
        let mut protocol = Protocol::new(profile.clone(), rule.clone());
        (protocol.batch, protocol.iterations) = (40, 20);
        protocol
    };
    profiles.iter().flat_map(|profile| rules.iter().map(move |rule| protocol(profile, rule))).collect()
}

#[test]
fn rewards_are_those_of_the_score() {
    let mut earned = vec![false; protocols().len()];
    for (condition, outside) in [(10.0, 0.3), (1e3, 0.0)] {
        let family = family(400, 8, condition, outside, Leverage::High);
        let prepared = PreparedInstance::new(family.draw(&Stream::new(12)).unwrap());
        for (protocol, earned) in protocols().iter().zip(&mut earned) {
            // Once a program that looks back has converged, its momentum is a quotient of rounding errors.
            let steady = |entry: &&Entry| {
                !entry.document.program.iteration.iter().any(|ins| ins.reads().contains(Reg::D))
            };
            for entry in tall_entries().filter(steady) {
                let program = &entry.document.program;
                let full = score(program, &prepared.instance(), protocol, &Stream::new(13)).reward;
                let fast = reward(program, &prepared, protocol, &Stream::new(13));
                assert!((full - fast).abs() < 1e-6, "{}: {fast}, not {full}, by {protocol:?}", entry.name);
                *earned |= full > 0.1;
            }
        }
    }
    assert!(earned.iter().all(|&earned| earned), "{earned:?}");
}

#[test]
fn rewards_of_random_programs_are_those_of_the_score() {
    const PROGRAMS: u64 = 400;
    let prepared =
        PreparedInstance::new(family(100, 6, 10.0, 0.3, Leverage::Low).draw(&Stream::new(14)).unwrap());
    let protocols = protocols();
    let deviating: usize = (0..PROGRAMS)
        .into_par_iter()
        .map(|seed| {
            let (program, stream) = (candidate(seed), Stream::new(seed));
            let deviates = |protocol: &&Protocol| {
                let full = score(&program, &prepared.instance(), protocol, &stream).reward;
                (full - reward(&program, &prepared, protocol, &stream)).abs() > 1e-6
            };
            protocols.iter().filter(deviates).count()
        })
        .sum();
    // The gates of some profiles can tip by rounding.
    let all = PROGRAMS as usize * protocols.len();
    assert!(deviating * 1000 < all, "{deviating} of {all} rewards deviate");
}

#[test]
fn a_run_that_fails_after_the_tolerance_earns_nothing() {
    // Columns of the identity: with η = 1 the first step solves, the gradient is exactly 0, and has no direction.
    let identity = Matrix::from_fn(6, 2, |i, j| if i == j { 1.0 } else { 0.0 });
    let prepared =
        PreparedInstance::new(Instance::from_data(identity, vec![1.0, 2.0, 0.0, 1.0, 0.0, 0.0]).unwrap());
    let program = parse(
        "iteration:\n v1 = MAT_VEC_MUL(A, x)\n v1 = VEC_VEC_SUB(v1, b)\n v1 = VEC_MAT_MUL(v1, A)\n v2 = VEC_NORMALIZE(v1)\n v2 = VEC_VEC_SUB(v2, v2)\n v1 = VEC_VEC_ADD(v1, v2)\n",
    );
    let charge = Charge { unit: Unit::Passes, rows: 100, cols: 10 };
    let profile = Profile::Tolerance { epsilon: 1e-2, charge };
    let earned = |steps: &[f64]| {
        let protocol = Protocol::new(profile.clone(), StepRule::Best(steps.to_vec()));
        let full = score(&program, &prepared.instance(), &protocol, &Stream::new(0));
        let fast = reward(&program, &prepared, &protocol, &Stream::new(0));
        assert!((full.reward - fast).abs() < 1e-12, "{fast}, not {}", full.reward);
        full.reached
    };
    assert_eq!(earned(&[1.0]), None);
    assert_eq!(earned(&[0.5]), Some(7));
    assert_eq!(earned(&[0.5, 1.0, 0.7]), Some(4));
    assert_eq!(earned(&[1.0, 0.1, 0.5]), Some(7));
}

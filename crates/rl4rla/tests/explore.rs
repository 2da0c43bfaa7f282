//! Exploration: what is found from nothing, and that its accounts are right.

use rl4rla::equivalence::catalogue_name;
use rl4rla::execute::{RunSettings, run};
use rl4rla::explore::{ExploreSpec, NoLog, ResultLog, SearchPart, explore};
use rl4rla::problem::{Family, FamilyKind};
use rl4rla::program::{
    Canonical, DataUnit, Entry, Geometry, LiveOut, Model, Program, ProgramCost, Signature, Update,
    unit_of_step,
};
use rl4rla::rng::Stream;
use std::collections::{HashMap, HashSet};
use std::sync::Mutex;

fn least_squares() -> ExploreSpec {
    let family = Family { rows: 100_000, cols: 200, outside: 0.7, ..Family::new(FamilyKind::MID_COND) };
    ExploreSpec { held_out: 1, hall: 3, evolve: 300, ..ExploreSpec::new(family) }
}

/// Small problems: enough to find conjugate gradients, quickly.
fn without_matrices(seed: u64) -> ExploreSpec {
    ExploreSpec {
        operators: ExploreSpec::operators(false),
        conditions: vec![10.0],
        edits: 3,
        search_cols: 40,
        seed,
        ..least_squares()
    }
}

fn hall(spec: &ExploreSpec) -> Vec<(Program, f64, usize)> {
    let explored = explore(spec, &NoLog, &|_| true).unwrap().unwrap();
    explored.hall.iter().map(|e| (e.program.clone(), e.held_out.reward, e.held_out.reached)).collect()
}

#[test]
fn conjugate_gradients_are_found_from_nothing() {
    for seed in 0..3 {
        let hall = hall(&without_matrices(seed));
        assert_eq!(catalogue_name(&hall[0].0, Geometry::Tall), Some("cgls-recurred"), "{}", hall[0].0);
        assert_eq!(hall[0].2, 1, "seed {seed}");
    }
}

#[test]
fn sketched_conjugate_gradients_or_better_are_found_from_nothing() {
    let spec = ExploreSpec { conditions: vec![10.0, 1e6], search_cols: 40, ..least_squares() };
    let hall = hall(&spec);
    let names: Vec<_> = hall.iter().map(|(program, ..)| catalogue_name(program, Geometry::Tall)).collect();
    let wanted =
        ["adaptive-momentum", "sketched-pcg", "sketched-pcg-warm", "sketched-pcg-recurred"].map(Some);
    assert!(names.iter().any(|name| wanted.contains(name)), "{names:?}\n{}", hall[0].0);
    // The normal equations have 2/3.
    assert!(hall[0].1 > 0.75, "{}", hall[0].1);
}

/// Small problems, of one condition number.
fn logistic(edits: usize, seed: u64) -> ExploreSpec {
    let family = Family { rows: 100_000, cols: 200, ..Family::named("logistic").unwrap() };
    let sketch = (Some(rl4rla::execute::SketchKind::CountSketch), Some(12.0));
    ExploreSpec {
        conditions: vec![1e3],
        edits,
        search_cols: 10,
        fixed_sketch: sketch.0,
        fixed_factor: sketch.1,
        held_out: 1,
        hall: 3,
        evolve: 0,
        seed,
        ..ExploreSpec::new(family)
    }
}

#[test]
fn newtons_method_with_a_sketch_is_found_from_nothing() {
    let spec = logistic(9, 0);
    let hall = hall(&spec);
    let names: Vec<_> =
        hall.iter().map(|(program, ..)| catalogue_name(program, spec.family.signature())).collect();
    assert!(names.contains(&Some("newton-sketch")), "{names:?}\n{}", hall[0].0);
    assert_eq!(hall[0].2, 1, "{}", hall[0].0);
}

#[test]
fn random_draws_in_iterations_do_not_depend_on_the_threads() {
    let spec = logistic(9, 1);
    let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let two = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    assert_eq!(alone.install(|| hall(&spec)), two.install(|| hall(&spec)));
}

#[test]
fn an_exploration_is_a_pure_function_of_its_spec() {
    let spec = without_matrices(5);
    let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    assert_eq!(alone.install(|| hall(&spec)), hall(&spec));
}

#[test]
fn an_exploration_stops_when_asked() {
    let calls = std::sync::atomic::AtomicUsize::new(0);
    let goes_on = |_: &str| calls.fetch_add(1, std::sync::atomic::Ordering::Relaxed) < 2;
    assert!(explore(&without_matrices(0), &NoLog, &goes_on).unwrap().is_none());
}

/// The passes that a program is charged are those it makes.
#[test]
fn charged_passes_are_executed_passes() {
    let (rows, cols, iterations) = (200, 8, 5);
    let family = Family { rows, cols, outside: 0.5, ..Family::new(FamilyKind::LOW_COND) };
    let instance = family.draw(&Stream::new(1)).unwrap();
    let settings = RunSettings { iterations, step: 0.3, every: 2, ..RunSettings::for_size(rows, cols) };
    let found = hall(&without_matrices(1));
    let refreshes = |program: &Program| program.instructions().any(|(_, _, ins)| ins.op.refreshes());
    assert!(found.iter().any(|(program, ..)| refreshes(program)), "a residual is recurred");
    let found = found.iter().map(|(program, ..)| program);
    let linear = Signature::new(Geometry::Tall, Update::Subtract);
    let known =
        Entry::known().filter(|entry| entry.signature() == linear && entry.document.family.ends_with("cond"));
    for program in known.map(|entry| &entry.document.program).chain(found) {
        if program.instructions().any(|(_, _, instruction)| instruction.op.samples()) {
            continue;
        }
        let live = Canonical::new(program, LiveOut::Finished);
        let cost = ProgramCost::of(&live, Geometry::Tall, Model::True).unwrap();
        let charged = cost.passes(&settings.sizes(rows, cols), iterations);
        let trace = run(live.program(), &instance, &settings, &Stream::new(2)).unwrap();
        assert_eq!(trace.passes as f64, charged, "{program}");
    }
}

/// Steps without units are what makes a program independent of the scales of its data.
#[test]
fn found_programs_have_no_unit_to_choose() {
    for (program, ..) in hall(&without_matrices(2)) {
        assert_eq!(unit_of_step(&program, Geometry::Tall.into()), Ok(DataUnit::NONE), "{program}");
    }
}

/// Rounding errors of size κ·u·‖b⊥‖ show in rotated coordinates as they do on the original matrices, and are hidden
/// where b⊥ has an axis of its own.
#[test]
fn the_floor_is_seen_in_rotated_coordinates() {
    use rl4rla::execute::{PreparedInstance, run_prepared};
    let program = &Entry::named("sketched-pcg").unwrap().document.program;
    let family = Family {
        rows: 1200,
        cols: 40,
        outside: 0.9,
        condition: Some(1e8),
        ..Family::new(FamilyKind::MID_COND)
    };
    let settings = RunSettings { iterations: 60, ..RunSettings::for_size(1200, 40) };
    let least = |excesses: &[f64]| excesses.iter().copied().fold(f64::INFINITY, f64::min);
    let (mut hidden, mut shown, mut on_truth) = (0.0, 0.0, 0.0);
    for seed in 0..4 {
        let stream = Stream::new(seed);
        let prepared = PreparedInstance::draw(&family, &stream).unwrap();
        let rotated = PreparedInstance::draw_rotated(&family, &stream).unwrap();
        let reduced =
            |prepared| least(&run_prepared(program, prepared, &settings, &stream).unwrap().excesses);
        hidden += reduced(&prepared).log10() / 4.0;
        shown += reduced(&rotated).log10() / 4.0;
        on_truth +=
            least(&run(program, &prepared.instance(), &settings, &stream).unwrap().excesses).log10() / 4.0;
    }
    assert!((shown - on_truth).abs() < 1.0, "rotated 1e{shown:.1}, true 1e{on_truth:.1}");
    assert!(hidden < shown - 1.0, "unrotated 1e{hidden:.1}, rotated 1e{shown:.1}");
}

/// A small exploration of a family of another task, without matrices.
fn small(family: &str, edits: usize, seed: u64) -> ExploreSpec {
    let family = Family::named(family).unwrap();
    let (rows, cols) = if family.kind.info().square { (1000, 1000) } else { (100_000, 200) };
    let family = Family { rows, cols, outside: if rows > cols { 0.7 } else { 0.0 }, ..family };
    ExploreSpec {
        operators: ExploreSpec::operators(false),
        conditions: vec![10.0],
        edits,
        search_cols: 40,
        final_cols: 60,
        held_out: 1,
        hall: 3,
        evolve: 0,
        seed,
        ..ExploreSpec::new(family)
    }
}

#[test]
fn other_tasks_have_conjugate_gradients_of_their_own() {
    for (family, edits, wanted) in [("spd", 3, "spd-cg-recurred"), ("ridge", 5, "ridge-cg")] {
        let spec = small(family, edits, 0);
        let found = hall(&spec);
        let name = catalogue_name(&found[0].0, spec.family.signature());
        assert_eq!((name, found[0].2), (Some(wanted), 1), "{}", found[0].0);
        let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        assert_eq!(alone.install(|| hall(&spec)), found, "{family}");
    }
}

/// With all operators, where a preconditioner pays: a fast decay, and a large condition number. On problems as small as
/// these it pays only if products with A are not saved by recurrences.
#[test]
fn preconditioners_with_a_shift_are_found_from_nothing() {
    for (family, cols, condition, wanted) in
        [("spd-decay", 100, 1e8, "NYSTROM"), ("ridge", 30, 1e4, "SHIFTED_QR")]
    {
        let spec = small(family, 5, 100);
        let operators = ExploreSpec::operators_for(spec.family.kind.info().task, true);
        let (search_cols, final_cols, without) = (cols, cols, vec![SearchPart::Recurrence]);
        let conditions = vec![condition];
        let spec = ExploreSpec { operators, conditions, search_cols, final_cols, without, ..spec };
        let found = hall(&spec);
        assert!(found[0].0.to_string().contains(wanted) && found[0].2 == 1, "{}", found[0].0);
    }
}

/// Programs of the catalogue are well-typed in the units of their tasks, and solve its problems.
#[test]
fn programs_of_other_tasks_have_units_and_converge() {
    let none = Ok(DataUnit::NONE);
    for (name, unit, iterations) in [
        ("spd-cg", none, 60),
        ("shifted-cg", none, 200),
        ("ridge-cg", none, 60),
        ("sketched-ridge-pcg", none, 40),
        ("ridge-adaptive-momentum", none, 60),
        ("nystrom-pcg", none, 40),
        ("spd-cg-recurred", none, 60),
        ("sketched-ridge-pcg-recurred", none, 40),
        ("nystrom-pcg-recurred", none, 40),
        ("ridge-gd", Ok(DataUnit { a: -2, b: 0 }), 4000),
    ] {
        let document = &Entry::named(name).unwrap().document;
        let family = Family::named(&document.family).unwrap();
        let (rows, cols) = if family.kind.info().square { (40, 40) } else { (400, 10) };
        let family = Family { rows, cols, condition: Some(10.0), ..family };
        let units = family.kind.info().task.units().unwrap();
        assert_eq!(units.of_step(&document.program, family.signature()), unit, "{name}");
        let instance = family.draw(&Stream::new(1)).unwrap();
        let settings = RunSettings { iterations, step: 1.0, ..RunSettings::for_size(rows, cols) };
        let trace = run(&document.program, &instance, &settings, &Stream::new(2)).unwrap();
        let least = trace.excesses.iter().copied().fold(f64::INFINITY, f64::min);
        assert!(least < 1e-6, "{name}: {least:e}");
    }
}

/// Small problems of low rank: enough for the range finders to differ.
fn answers(family: &str, tolerance: f64) -> ExploreSpec {
    let family = Family { rows: 100_000, cols: 100, ..Family::named(family).unwrap() };
    let operators = ExploreSpec::operators_for(family.kind.info().task, true);
    ExploreSpec { operators, tolerance, held_out: 2, hall: 3, edits: 6, ..ExploreSpec::new(family) }
}

#[test]
fn block_krylov_is_found_from_nothing() {
    let spec = answers("low-rank", 0.05);
    let hall = hall(&spec);
    let name = catalogue_name(&hall[0].0, spec.family.signature());
    assert_eq!(name, Some("block-krylov"), "{}", hall[0].0);
    assert_eq!(hall[0].2, 2);
    let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let names = |hall: &[(Program, f64, usize)]| format!("{hall:?}");
    let again = alone.install(|| explore(&spec, &NoLog, &|_| true).unwrap().unwrap());
    let again: Vec<(Program, f64, usize)> =
        again.hall.iter().map(|e| (e.program.clone(), e.held_out.reward, e.held_out.reached)).collect();
    assert_eq!(names(&again), names(&hall));
}

#[test]
fn eigenvalue_methods_are_found_from_nothing() {
    let all = ExploreSpec { conditions: vec![10.0], edits: 4, ..answers("eigenvalue", 1e-6) };
    let family = Family { rows: 60, cols: 60, ..all.family };
    let plain = ExploreSpec {
        operators: ExploreSpec::operators_for(family.kind.info().task, false),
        family,
        edits: 2,
        ..all.clone()
    };
    let signature = family.signature();
    let found = |spec: &ExploreSpec| explore(spec, &NoLog, &|_| true).unwrap().unwrap().hall;
    let (power, krylov) = (found(&plain), found(&ExploreSpec { family, ..all }));
    assert_eq!(catalogue_name(&power[0].program, signature), Some("power-iteration"));
    assert!(krylov[0].program.to_string().contains("RAYLEIGH_RITZ"), "{}", krylov[0].program);
    let passes = |hall: &[rl4rla::explore::HallEntry]| hall[0].held_out.passes.unwrap();
    assert!(passes(&krylov) < 0.5 * passes(&power), "{} {}", passes(&krylov), passes(&power));
}

#[test]
fn more_passes_find_more() {
    let settings = RunSettings {
        sketch: rl4rla::execute::SketchKind::Gaussian,
        sketch_rows: 6,
        iterations: 1,
        ..RunSettings::for_size(60, 20)
    };
    let family = Family { rows: 60, cols: 20, ..Family::named("low-rank").unwrap() };
    let family = family.with_number("rank", 4.0).unwrap().with_number("decay", 0.5).unwrap();
    let instance = family.draw(&Stream::new(7)).unwrap();
    let excess = |text: &str| {
        let program: Program = text.parse().unwrap();
        let trace = run(&program, &instance, &settings, &Stream::new(1)).unwrap();
        (trace.excesses[1], trace.passes)
    };
    let range = "setup:\n R1 = SKETCH(A)\n R1 = MAT_ORTH(R1)\n v1 = MAT_ROWS(R1)\n";
    let krylov = "setup:\n R1 = SKETCH(A)\n R2 = MAT_MAT_TRANS_MUL(R1, A)\n R2 = MAT_MAT_MUL(R2, A)\n \
                  R1 = MAT_STACK(R1, R2)\n R1 = MAT_ORTH(R1)\n v1 = MAT_ROWS(R1)\n";
    let ((one, first), (more, second)) = (excess(range), excess(krylov));
    assert_eq!((first, second), (1, 3));
    assert!(one > 0.1 && more < 0.5 * one, "{one} {more}");
}

/// A log in memory: what an earlier attempt has left, and what is computed, in the order of its end.
#[derive(Default)]
struct MemoryLog {
    known: HashMap<u128, Vec<f64>>,
    computed: Mutex<Vec<(u128, Vec<f64>)>>,
}

impl ResultLog for MemoryLog {
    fn known(&self, key: u128) -> Option<Vec<f64>> {
        self.known.get(&key).cloned()
    }

    fn computed(&self, key: u128, numbers: &[f64]) {
        self.computed.lock().unwrap().push((key, numbers.to_vec()));
    }
}

/// Wherever an exploration is interrupted, it continues: with the same result, and nothing in the log is computed again.
#[test]
fn an_exploration_goes_on_from_any_part_of_its_log() {
    let small = ExploreSpec { evolve: 400, hall: 2, held_out: 1, ..without_matrices(3) };
    let family = Family { rows: 60, cols: 60, ..Family::named("eigenvalue").unwrap() };
    let eigen = ExploreSpec { family, conditions: vec![10.0], edits: 3, ..answers("eigenvalue", 1e-6) };
    for spec in [small, eigen] {
        let explored = |log: &MemoryLog| {
            let found = explore(&spec, log, &|_| true).unwrap().unwrap();
            format!("{:?} {:?} {} {}", found.hall, found.rivals, found.values, found.runs)
        };
        let first = MemoryLog::default();
        let whole = explored(&first);
        let log = first.computed.into_inner().unwrap();
        let different: HashSet<u128> = log.iter().map(|(key, _)| *key).collect();
        let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        for share in [0.02, 0.3, 0.7, 0.98, 1.0] {
            let left = &log[..(share * log.len() as f64) as usize];
            let resumed = MemoryLog { known: left.iter().cloned().collect(), ..MemoryLog::default() };
            assert_eq!(alone.install(|| explored(&resumed)), whole, "{share}");
            let new: HashSet<u128> = resumed.computed.lock().unwrap().iter().map(|(key, _)| *key).collect();
            assert!(new.iter().all(|key| !resumed.known.contains_key(key)), "{share}");
            assert_eq!(new.len() + resumed.known.len(), different.len(), "{share}");
        }
    }
}

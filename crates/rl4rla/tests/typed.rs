//! Units and affine types in searches: nothing ill-typed is offered, nothing well-typed is lost.

use rand::RngExt;
use rl4rla::curriculum::Curriculum;
use rl4rla::discovery::{Appending, Bench, Insertions, Known, Merge, Patches, Problems, Space, Stage};
use rl4rla::problem::InstanceSet;
use rl4rla::program::{Program, TypeSystem, unit_of_step};
use rl4rla::rng::Stream;
use rl4rla::search::{Domain, Measure, Silent, exhaustive};
use std::collections::BTreeSet;

/// Stages that are small enough to be enumerated without types.
const STAGES: &str = r#"
title = "Small stages"
[defaults]
instances = { search = 1, select = 1, report = 1 }
iterations = 2
family = { kind = "low-cond", rows = 30, cols = 3 }
[[stage]]
name = "vectors"
edits = 4
operators = ["VEC_VEC_ADD", "VEC_VEC_SUB", "MAT_VEC_MUL", "VEC_MAT_MUL"]
registers = ["v1", "v2", "d"]
open = ["iteration"]
[[stage]]
name = "matrices"
edits = 3
registers = ["v1", "R1", "p1"]
[[stage]]
name = "carried"
edits = 3
operators = ["VEC_VEC_ADD", "VEC_VEC_SUB", "MAT_VEC_MUL", "VEC_MAT_MUL", "VEC_VEC_DOT", "SCALAR_VEC_MUL"]
registers = ["v1", "m1", "a1"]
open = ["iteration"]
[[stage]]
name = "symmetric"
edits = 3
operators = ["VEC_VEC_ADD", "VEC_VEC_SUB", "MAT_VEC_MUL", "VEC_MAT_MUL", "HHQR", "TRIANGULAR_SOLVE"]
registers = ["v1", "R1"]
family = { kind = "psd", rows = 4, cols = 4 }
"#;

const GRADIENT: &str =
    "iteration:\n v1 = MAT_VEC_MUL(A, x)\n v1 = VEC_VEC_SUB(v1, b)\n v1 = VEC_MAT_MUL(v1, A)\n";

/// The small stages, each with what it starts from.
fn stages() -> Vec<(Stage, Program)> {
    let stages = Curriculum::parse("small", STAGES).unwrap().stages.into_iter().map(|(stage, _)| stage);
    let gradient: Program = GRADIENT.parse().unwrap();
    let start = |stage: &Stage| match stage.name.as_str() {
        "matrices" | "carried" => gradient.clone(),
        _ => Program::default(),
    };
    stages.map(|stage| (stage.clone(), start(&stage))).collect()
}

fn typed(stage: &Stage) -> Stage {
    let mut stage = stage.clone();
    stage.grammar.types = TypeSystem::Units;
    stage
}

fn with_space<T>(stage: &Stage, start: &Program, merge: Merge, act: impl FnOnce(Space) -> T) -> T {
    let (known, problems) = (Known::default(), Problems::default());
    let bench = Bench::new(stage, InstanceSet::Search, 0, 0, &known, &problems).unwrap();
    act(Space { stage, start, merge, bench: &bench, front: None })
}

/// All programs of a stage, by insertions or by appending.
fn programs(stage: &Stage, start: &Program, appending: bool) -> BTreeSet<String> {
    let outcome = with_space(stage, start, Merge::Canonical, |space| match appending {
        true => Appending::new(space).enumerate(Measure::All, u64::MAX, usize::MAX, &mut Silent),
        false => exhaustive(&Insertions::new(space), Measure::All, u64::MAX, usize::MAX, &mut Silent),
    });
    outcome.ranked.iter().map(|ranked| ranked.solved.solution.to_string()).collect()
}

fn is_well_typed(text: &str, stage: &Stage) -> bool {
    unit_of_step(&text.parse().unwrap(), stage.grammar.signature).is_ok()
}

#[test]
fn a_typed_search_offers_all_well_typed_programs_and_no_other() {
    for (stage, start) in stages() {
        for appending in [true, false] {
            let all = programs(&stage, &start, appending);
            let wanted: BTreeSet<String> =
                all.iter().filter(|text| is_well_typed(text, &stage)).cloned().collect();
            assert!(wanted.len() > 1 && wanted.len() < all.len(), "{}: {}", stage.name, wanted.len());
            let offered = programs(&typed(&stage), &start, appending);
            let lost: Vec<&String> = wanted.difference(&offered).collect();
            let extra: Vec<&String> = offered.difference(&wanted).collect();
            assert!(lost.is_empty() && extra.is_empty(), "{}: lost {lost:?}, extra {extra:?}", stage.name);
        }
    }
}

/// Merging by behaviour keeps one program of each, the best of those that are well-typed.
#[test]
fn equal_behaviour_does_not_hide_a_well_typed_program() {
    for (stage, start) in stages() {
        let best = |merge| {
            with_space(&typed(&stage), &start, merge, |space| {
                let all = Appending::new(space).enumerate(Measure::All, u64::MAX, usize::MAX, &mut Silent);
                (all.ranked.len(), all.ranked[0].mean())
            })
        };
        let ((canonical, one), (behaviour, other)) = (best(Merge::Canonical), best(Merge::Fingerprint));
        assert!(behaviour <= canonical && (one - other).abs() < 1e-9, "{}: {one} {other}", stage.name);
    }
}

#[test]
fn mutants_are_well_typed() {
    for (stage, start) in stages() {
        let stage = typed(&stage);
        with_space(&stage, &start, Merge::Canonical, |space| {
            let patches = Patches::new(space);
            let mut dice = Stream::new(7).derive("mutations", 0).rng();
            let mut pick = |count: usize| dice.random_range(0..count);
            let (mut patch, mut met) = (patches.root(), BTreeSet::new());
            for _ in 0..400 {
                // What does not mutate starts again as a random program.
                patch = match patches.mutate(&patch, &mut pick) {
                    Some(mutant) => mutant,
                    None => {
                        let mut fresh = patches.root();
                        while let Some(longer) = patches.child(&fresh, &mut pick) {
                            fresh = longer;
                        }
                        fresh
                    }
                };
                let Some(solved) = patches.solution(&patch) else { continue };
                let text = solved.solution.to_string();
                assert!(is_well_typed(&text, &stage), "{}: {text}", stage.name);
                met.insert(text);
            }
            assert!(met.len() > 3, "{}: {met:?}", stage.name);
        });
    }
}

#[test]
fn what_has_no_units_is_refused() {
    let text = |family: &str, target: &str| {
        format!(
            "title = \"t\"\n[[stage]]\nname = \"s\"\nedits = 5\ntypes = \"units\"\nfamily = {{ kind = \"{family}\" }}\n{target}"
        )
    };
    let error = |family: &str, target: &str| {
        Curriculum::parse("mine", &text(family, target)).unwrap_err().to_string()
    };
    let logistic = error("logistic", "");
    assert!(logistic.contains("key `types`") && logistic.contains("have no units"), "{logistic}");
    let target = "target = \"iteration:\\n v1 = MAT_VEC_MUL(A, x)\\n v1 = VEC_MAT_MUL(v1, A)\\n\"\n";
    let point = error("low-cond", target);
    assert!(point.contains("`v1 = VEC_MAT_MUL(v1, A)` uses a point"), "{point}");
    assert!(Curriculum::parse("mine", &text("low-cond", "target = \"ls-gd\"\n")).is_ok());
}

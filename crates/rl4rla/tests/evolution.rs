//! Searches that evolve, on problems whose answer is known and on programs; and the budget they share with all others.

#[path = "search/toy.rs"]
mod toy;

use rl4rla::curriculum::{BUILTIN, Curriculum, StageResult, discover};
use rl4rla::discovery::{Approach, Bench, Context, Known, Merge, Patch, Patches, Problems, Space};
use rl4rla::problem::InstanceSet;
use rl4rla::program::{Program, Section};
use rl4rla::rng::Stream;
use rl4rla::search::{
    Domain, METHODS, Method, Parent, ProposalSource, Silent, StopReason, Tuning, Watch, islands,
};
use std::collections::HashSet;
use toy::{Words, found, scattered, told, tuning};

/// Worth more with every letter that is in its place: mutants climb.
fn hill() -> Words {
    let truth = |word: &[u8]| {
        Some(0.1 + 0.1 * word.iter().zip([3, 1, 4, 1, 5, 2, 0]).filter(|(a, b)| **a == *b).count() as f64)
    };
    Words::new(6, 7, truth).ordered().noisy(0.05, 16, 1)
}

#[test]
fn evolution_climbs_where_chance_does_not() {
    let domain = hill();
    for seed in 0..5 {
        let run = |method: Method| {
            let tuning = Tuning { evaluations: Some(4_000), ..tuning(u64::MAX) };
            let outcome = method.search(&domain, &tuning, &Stream::new(seed), &mut Silent);
            assert_eq!(outcome.stop, StopReason::Budget);
            found(&outcome) == [3, 1, 4, 1, 5, 2, 0]
        };
        assert!(run(Method::Evolution) && run(Method::Islands) && !run(Method::Random), "seed {seed}");
    }
}

#[test]
fn evaluations_are_a_budget_too() {
    let domain = Words::new(6, 4, scattered(&[0, 1, 2, 2])).noisy(0.3, 16, 1);
    for row in &METHODS {
        for most in [1, 2, 7, 100, 300] {
            let tuning = Tuning { evaluations: Some(most), keep: 1, exploration: 5.0, ..tuning(1_000_000) };
            let run = || {
                let mut notes = Notes::default();
                let outcome = row.method.search(&domain, &tuning, &Stream::new(1), &mut notes);
                (told(&outcome), notes)
            };
            let ((stop, counters, ranked), notes) = run();
            assert_eq!(stop, StopReason::Budget, "{} with {most}", row.name);
            // Nothing but the final measurement of the best comes after it.
            assert!(counters.evaluations >= most && ranked[0].2 == 16, "{} with {most}", row.name);
            let first: HashSet<u128> = notes.0[..most as usize].iter().map(|&(key, _)| key).collect();
            assert!(notes.0[most as usize..].iter().all(|(key, _)| first.contains(key)), "{}", row.name);
            assert_eq!(run().0, (stop, counters, ranked), "{} is a function of its seed", row.name);
        }
        let plenty = Tuning { evaluations: Some(u64::MAX), ..tuning(500) };
        let [limited, free] = [plenty, tuning(500)]
            .map(|t| told(&row.method.search(&domain, &t, &Stream::new(1), &mut Silent)));
        assert_eq!(limited.2, free.2, "{}", row.name);
    }
}

/// Keys and replicates in the order they are evaluated.
#[derive(Default)]
struct Notes(Vec<(u128, usize)>);

impl<S> Watch<S> for Notes {
    fn evaluated(&mut self, key: u128, replicate: usize, _: f64) {
        self.0.push((key, replicate));
    }
}

/// Proposes what it is told to.
struct Told<F>(F);

impl<F: FnMut(&[(Vec<u8>, f64)]) -> Option<Vec<Vec<u8>>>> ProposalSource<Words> for Told<F> {
    fn propose(
        &mut self,
        _: &Words,
        parents: &[Parent<Vec<u8>>],
        _: &mut dyn FnMut(usize) -> usize,
    ) -> Option<Vec<Vec<u8>>> {
        (self.0)(&parents.iter().map(|parent| (parent.state.clone(), parent.score)).collect::<Vec<_>>())
    }
}

#[test]
fn anyone_may_propose() {
    let domain = hill();
    let run = |proposer: &mut dyn ProposalSource<Words>| {
        islands(&domain, proposer, 2_000, 1, &Stream::new(1), &mut Silent)
    };
    // Parents come best last, each with its score.
    let mut asked = 0;
    let outcome = run(&mut Told(|parents: &[(Vec<u8>, f64)]| {
        asked += 1;
        assert!(parents.len() <= 2 && parents.is_sorted_by(|a, b| a.1 <= b.1));
        Some(vec![vec![3, 1, 4, 1, 5, 2, 0]])
    }));
    assert_eq!((outcome.stop, found(&outcome)), (StopReason::Budget, [3, 1, 4, 1, 5, 2, 0].as_slice()));
    assert_eq!(outcome.counters.playouts, asked + 11, "the root and two walks for each island");
    // Silence ends a search, and so does whoever will never answer again.
    let silent = run(&mut Told(|_: &[(Vec<u8>, f64)]| Some(vec![])));
    assert_eq!((silent.stop, silent.counters.playouts, silent.ranked.len()), (StopReason::Budget, 61, 1));
    assert_eq!(run(&mut Told(|_: &[(Vec<u8>, f64)]| None)).stop, StopReason::Interrupted);
}

/// A chooser whose choices are a function of the seed.
fn dice(seed: u64) -> impl FnMut(usize) -> usize {
    let stream = Stream::new(seed);
    let mut count = 0;
    move |most| {
        count += 1;
        (stream.derive("choice", count).uniforms(1)[0] * most as f64) as usize
    }
}

/// Whether one section has all instructions of another, in their order.
fn contains(whole: &Program, part: &Program, section: Section) -> bool {
    let mut whole = whole.section(section).iter();
    part.section(section).iter().all(|wanted| whole.any(|found| found == wanted))
}

#[test]
fn mutants_are_legal_programs_of_their_stage() {
    let mut seen = 0;
    for (name, _) in &BUILTIN {
        let curriculum = Curriculum::named(name).unwrap().unwrap();
        let mut start = curriculum.start;
        for (stage, target) in &curriculum.stages {
            let mut stage = stage.clone();
            // Nothing is run: small instances are drawn faster.
            stage.instances.search = 1;
            stage.families.iter_mut().for_each(|family| (family.rows, family.cols) = (60, 5));
            let (known, problems) = (Known::default(), Problems::default());
            let Ok(bench) = Bench::new(&stage, InstanceSet::Search, 0, 0, &known, &problems) else {
                continue;
            };
            let space =
                Space { stage: &stage, start: &start, merge: Merge::Canonical, bench: &bench, front: None };
            let patches = Patches::new(space);
            let (grammar, root) = (&stage.grammar, patches.root());
            let old = patches.program(&root);
            let fine = |patch: &Patch| {
                let program = patches.program(patch);
                assert!(program.len() <= old.len() + stage.edits, "{name}, {}: {program}", stage.name);
                assert!(
                    Section::BOTH.into_iter().all(|section| contains(&program, &old, section)),
                    "{program}"
                );
                let Some(solved) = patches.solution(patch) else { return false };
                assert!(
                    grammar.is_well_shaped(&program)
                        && &solved.solution == grammar.finish(&program).program()
                );
                let new =
                    program.instructions().filter(|(section, _, ins)| !old.section(*section).contains(ins));
                for (section, _, instruction) in new {
                    assert!(grammar.operators.contains(&instruction.op) && grammar.open.contains(&section));
                    assert!(instruction.target.is_none_or(|target| grammar.registers.contains(target)));
                }
                true
            };
            let (mut pick, mut met) = (dice(7), HashSet::new());
            let mut here = root.clone();
            for step in 0..60 {
                let before = here.clone();
                here = match patches.mutate(&here, &mut pick) {
                    Some(mutant) => {
                        assert!(fine(&mutant) && mutant != before, "{name}, {}", stage.name);
                        mutant
                    }
                    None => {
                        let mut end = root.clone();
                        while let Some(child) = patches.child(&end, &mut pick) {
                            end = child;
                        }
                        assert!(patches.is_end(&end) || patches.children(&end).is_empty());
                        fine(&end);
                        end
                    }
                };
                if step % 5 == 0
                    && let Some(both) = patches.recombine(&before, &here, &mut pick)
                {
                    assert!(fine(&both));
                }
                met.insert(patches.key(&here));
            }
            seen += met.len();
            start = target.sought();
        }
    }
    assert!(seen > 500, "{seen} states");
}

#[test]
fn only_programs_of_the_stage_are_adopted() {
    let curriculum = Curriculum::named("precond-weighted-sgd").unwrap().unwrap();
    let (stage, start) = (&curriculum.stages[4].0, curriculum.stages[3].1.sought());
    let (known, problems) = (Known::default(), Problems::default());
    let mut small = stage.clone();
    small.families.iter_mut().for_each(|family| (family.rows, family.cols) = (60, 5));
    let bench = Bench::new(&small, InstanceSet::Search, 0, 0, &known, &problems).unwrap();
    let patches =
        Patches::new(Space { stage, start: &start, merge: Merge::Canonical, bench: &bench, front: None });
    let old = patches.program(&patches.root());
    let text = old.to_string();
    let adopted = |text: &str| {
        let program: Program = text.parse().unwrap();
        patches.adopt(&program).inspect(|patch| assert_eq!(patches.program(patch), program))
    };
    assert_eq!(adopted(&text), Some(patches.root()), "{text}");
    // What children are adopted as is what they are.
    let mut pick = dice(3);
    for _ in 0..100 {
        let child = patches.child(&patches.root(), &mut pick).unwrap();
        let child = patches.child(&child, &mut pick).unwrap_or(child);
        if let Some(patch) = patches.adopt(&patches.program(&child)) {
            assert_eq!(patches.solution(&patch).unwrap().key, patches.solution(&child).unwrap().key);
        }
    }
    let sketched =
        text.replacen("setup:\n", "setup:\n  R1 = SKETCH(A)\n  R1 = MAT_TRANS_MAT_MUL(R1, R1)\n", 1);
    let other = text.replacen("setup:\n", "setup:\n  R2 = SKETCH(A)\n", 1);
    for (answer, why) in [
        ("", "without the old program"),
        (&*sketched.replace("  v1 = VEC_VEC_SUB(v1, b)\n", ""), "without a part of it"),
        (&*text.replace("iteration:\n", "iteration:\n  v2 = MAT_VEC_MUL(A, x)\n"), "in a closed section"),
        (&*(text.clone() + &"  v1 = MAT_VEC_MUL(R1, v1)\n".repeat(40)), "too many edits"),
        (&*other.replace("SKETCH(A)", "MAT_INV(A)"), "of the wrong shape"),
        (&*other.replace("SKETCH(A)", "LEVERAGE_SCORE(A)"), "of the wrong kind"),
        (&*text.replace("iteration:\n", "iteration:\n  m1 = MAT_VEC_MUL(A, m2)\n"), "with other registers"),
    ] {
        assert_eq!(adopted(answer), None, "{why}");
    }
}

#[test]
fn threads_change_nothing() {
    let curriculum = Curriculum::parse("small", SMALL).unwrap();
    for method in [Method::Evolution, Method::Islands] {
        let approach = Approach { evaluations: Some(300), ..Approach::new(method) };
        let [one, many] = [1, 4].map(|threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let run = || discover(&curriculum, &approach, 3, &mut Context::default()).unwrap();
            let discovery = pool.install(run);
            let told = |stage: &StageResult| {
                (stage.attempt.counters, stage.reward().to_bits(), stage.program().cloned())
            };
            assert!(discovery.found, "{}", method.name());
            discovery.stages.iter().map(told).collect::<Vec<_>>()
        });
        assert_eq!(one, many, "{}", method.name());
    }
}

/// Two stages that take milliseconds.
const SMALL: &str = r#"
title = "Two small steps"
[defaults]
instances = { search = 6, select = 4, report = 4 }
open = ["iteration"]
registers = ["v1"]
step = 0.5
[[stage]]
name = "landweber"
edits = 2
family = { kind = "psd", rows = 5, condition = 2 }
target = "landweber"
[[stage]]
name = "ls-gd"
edits = 1
family = { kind = "low-cond", rows = 300, cols = 6 }
target = "ls-gd"
"#;

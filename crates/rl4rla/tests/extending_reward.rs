//! Reward terms that are registered from outside the crate.

use rl4rla::curriculum::{Curriculum, discover};
use rl4rla::discovery::{Approach, Context};
use rl4rla::execute::PreparedInstance;
use rl4rla::problem::Family;
use rl4rla::program::{Entry, Program};
use rl4rla::reward::{
    Formula, Need, Profile, Protocol, RewardTerm, SOUND_GRID, StepRule, TermError, TermIndex, Weights, bound,
    register, reward, score,
};
use rl4rla::rng::Stream;
use rl4rla::search::Method;
use std::sync::LazyLock;

/// The share of the iterations that came nearer to the solution; at most one half for programs that touch A often.
static MONOTONE: RewardTerm = RewardTerm {
    needs: &[Need::Iterates],
    sound: Formula { most: |_, work| if work.passes > 30.0 { 0.5 } else { 1.0 }, ..Formula::new(monotone) },
    ..RewardTerm::new("monotone", "monotonicity", "of iterations that came nearer", monotone)
};

fn monotone(input: &rl4rla::reward::TermInput) -> f64 {
    let excesses = &input.trace.excesses;
    excesses.windows(2).filter(|pair| pair[1] < pair[0]).count() as f64 / (excesses.len() - 1) as f64
}

/// No number at all.
static BROKEN: RewardTerm = RewardTerm::new("broken", "broken", "of nothing", |_| f64::NAN);

static TERMS: LazyLock<[TermIndex; 2]> =
    LazyLock::new(|| [&MONOTONE, &BROKEN].map(|term| register(term).expect("its key is free")));

fn program(name: &str) -> &'static Program {
    &Entry::named(name).unwrap().document.program
}

fn prepared() -> PreparedInstance {
    let family = Family { rows: 300, cols: 5, condition: Some(20.0), ..Family::named("mid-cond").unwrap() };
    PreparedInstance::draw(&family, &Stream::new(1)).unwrap()
}

fn protocol(weights: Weights) -> Protocol {
    let profile = Profile::Sound { weights, condition_only: false };
    Protocol::new(profile, StepRule::Best(SOUND_GRID.to_vec()))
}

#[test]
fn a_term_changes_the_reward_by_its_weight() {
    let ([own, broken], prepared) = (*TERMS, prepared());
    let usual = Weights::new(1.0, 10.0, 8.0, 1.0);
    for name in ["ls-gd", "sketched-precond-gd", "sgd"] {
        let full = |weights| score(program(name), &prepared.instance(), &protocol(weights), &Stream::new(2));
        let fast = |weights| reward(program(name), &prepared, &protocol(weights), &Stream::new(2));
        let without = full(usual);
        assert_eq!(without.terms[own], 0.0, "what has no weight is not computed");
        let mut weights = usual;
        weights[own] = 5.0;
        let with = full(weights);
        assert!(with.terms[own] > 0.0, "{name}");
        let expected = (20.0 * without.reward + 5.0 * with.terms[own]) / 25.0;
        assert!((with.reward - expected).abs() < 1e-12, "{name}: {} {expected}", with.reward);
        assert!((fast(weights) - with.reward).abs() < 1e-9, "{name}: {}", fast(weights));
        weights[own] = 0.0;
        assert_eq!(fast(weights).to_bits(), fast(usual).to_bits());
        weights[broken] = 20.0;
        assert!((full(weights).reward - without.reward / 2.0).abs() < 1e-12, "what is no number counts as 0");
    }
}

#[test]
fn its_bound_is_read_from_its_row() {
    let [own, broken] = *TERMS;
    let family = Family::named("mid-cond").unwrap();
    let bound = |name, term, iterations| {
        let mut weights = Weights::new(0.0, 0.0, 0.0, 0.0);
        weights[term] = 2.0;
        bound(program(name), &family, &Protocol { iterations, ..protocol(weights) })
    };
    assert_eq!(
        [bound("ls-gd", broken, 10), bound("ls-gd", own, 10), bound("ls-gd", own, 20)],
        [1.0, 1.0, 0.5]
    );
}

const CURRICULUM: &str = r#"
title = "Gradient descent"
[[stage]]
name = "gradient"
edits = 3
operators = ["MAT_VEC_MUL", "VEC_MAT_MUL", "VEC_VEC_SUB"]
open = ["iteration"]
registers = ["v1"]
family = { kind = "low-cond", rows = 40, cols = 4 }
instances = { search = 2, select = 2, report = 2 }
reward = { profile = "sound", acc = 0, decay = 0, comp = 0, cond = 0, monotone = 3 }
target = "ls-gd"
"#;

#[test]
fn curricula_name_it_by_its_key() {
    let [own, _] = *TERMS;
    let curriculum = Curriculum::parse("mine", CURRICULUM).unwrap();
    let mut weights = Weights::new(0.0, 0.0, 0.0, 0.0);
    weights[own] = 3.0;
    let profile = &curriculum.stages[0].0.protocol.profile;
    assert_eq!(*profile, Profile::Sound { weights, condition_only: false });
    assert_eq!(profile.shown().last(), Some(&own));
    assert_eq!(Profile::sound().shown(), TermIndex::BUILTIN);
    let wrong =
        Curriculum::parse("mine", &CURRICULUM.replace("monotone =", "monoton =")).unwrap_err().to_string();
    assert!(wrong.contains("`cond`, `monotone`, `broken`, `condition-only`"), "{wrong}");
    // It is all that is rewarded, so what is found earns by it alone.
    let approach = Approach::new(Method::Best);
    let discovery = discover(&curriculum, &approach, 0, &mut Context::default()).unwrap();
    let report = discovery.stages[0].attempt.report.as_ref().unwrap();
    for score in &report.scores {
        assert!(score.reward > 0.5 && (score.reward - score.terms[own]).abs() < 1e-12, "{}", score.reward);
    }
}

#[test]
fn weights_are_kept_by_key() {
    let [own, _] = *TERMS;
    let mut weights = Weights::new(1.0, 10.0, 8.0, 1.0);
    assert_eq!(toml::to_string(&weights).unwrap(), "acc = 1.0\ndecay = 10.0\ncomp = 8.0\ncond = 1.0\n");
    weights[own] = 0.5;
    let text = toml::to_string(&weights).unwrap();
    assert_eq!(text, "acc = 1.0\ndecay = 10.0\ncomp = 8.0\ncond = 1.0\nmonotone = 0.5\n");
    assert_eq!(toml::from_str::<Weights>(&text), Ok(weights));
}

#[test]
fn keys_are_taken_once_and_there_is_an_end() {
    LazyLock::force(&TERMS);
    assert_eq!(register(&MONOTONE), Err(TermError::Taken));
    let term = |key| &*Box::leak(Box::new(RewardTerm::new(key, key, "of nothing", |_| 0.0)));
    let more: Vec<bool> = ["one", "two", "three"].map(|key| register(term(key)).is_ok()).to_vec();
    assert_eq!(more, [true, true, false]);
    assert_eq!(register(term("four")), Err(TermError::Full));
}

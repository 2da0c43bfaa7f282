//! Discovery on small problems: the spaces are complete, the methods agree, and a run is a pure function.

use rl4rla::curriculum::{Curriculum, Discovery, audit, discover};
use rl4rla::discovery::{
    Appending, Approach, Bench, Context, Fresh, Insertions, Instances, Known, Merge, Observer, Policy,
    Problems, Progress, RewardKey, Space, Stage,
};
use rl4rla::execute::PreparedInstance;
use rl4rla::problem::InstanceSet;
use rl4rla::program::{CATALOGUE, Entry, Program, check};
use rl4rla::reward::{Charge, Profile, Protocol, SOUND_GRID, StepRule, Unit, bound, draws, reward};
use rl4rla::search::{Measure, Method, Outcome, Silent, exhaustive};
use std::collections::BTreeMap;
use std::sync::Arc;

const SMALL: &str = r#"
title = "Small"
[defaults]
instances = { search = 4, select = 3, report = 2 }
step = 1.0
[[stage]]
name = "landweber"
edits = 2
open = ["iteration"]
family = { kind = "psd" }
reward = { profile = "sound", acc = 1, decay = 10, comp = 8, cond = 1 }
target = "landweber"
[[stage]]
name = "ls-gd"
edits = 1
open = ["iteration"]
family = { kind = "low-cond", rows = 300, cols = 6 }
target = "ls-gd"
[[stage]]
name = "preconditioner"
edits = 2
open = ["setup"]
family = { kind = "mid-cond", rows = 300, cols = 6, outside = 0.7 }
iterations = 100
reward = { profile = "sound", acc = 0, decay = 0, comp = 1, cond = 2 }
keep = ["R1"]
target = """
setup:
  R1 = MAT_TRANS_MAT_MUL(A, A)
  R1 = MAT_INV(R1)
iteration:
  v1 = MAT_VEC_MUL(A, x)
  v1 = VEC_VEC_SUB(v1, b)
  v1 = VEC_MAT_MUL(v1, A)
  v1 = MAT_VEC_MUL(R1, v1)
"""
completed-by = "v1 = MAT_VEC_MUL(R1, v1)"
"#;

fn small() -> Curriculum {
    Curriculum::parse("small", SMALL).unwrap()
}

/// Every stage with the program it starts from if all before it found their targets.
fn stages() -> Vec<(Stage, Program)> {
    let curriculum = small();
    let mut start = curriculum.start;
    let mut stages = Vec::new();
    for (stage, target) in curriculum.stages {
        stages.push((stage, std::mem::replace(&mut start, target.sought())));
    }
    stages
}

/// Enumerates a stage, by insertions or by appending.
fn enumerated(stage: &Stage, start: &Program, merge: Merge, appending: bool) -> Outcome<Program> {
    let (known, problems) = (Known::default(), Problems::default());
    let bench = Bench::new(stage, InstanceSet::Search, 0, 0, &known, &problems).unwrap();
    let space = Space { stage, start, merge, bench: &bench, front: None };
    match appending {
        true => Appending::new(space).enumerate(Measure::All, u64::MAX, usize::MAX, &mut Silent),
        false => exhaustive(&Insertions::new(space), Measure::All, u64::MAX, usize::MAX, &mut Silent),
    }
}

fn means(outcome: &Outcome<Program>) -> BTreeMap<u128, f64> {
    outcome.ranked.iter().map(|ranked| (ranked.solved.key, ranked.mean())).collect()
}

#[test]
fn appending_reaches_whatever_insertions_reach_through_fewer_states() {
    for (stage, start) in stages() {
        let [appended, inserted] =
            [true, false].map(|appending| enumerated(&stage, &start, Merge::Canonical, appending));
        let (more, fewer) = (means(&appended), means(&inserted));
        assert!(fewer.len() > 2, "{}", stage.name);
        for (key, mean) in &fewer {
            assert_eq!(more.get(key), Some(mean), "{}: a program is missing or earns otherwise", stage.name);
        }
    }
}

#[test]
fn merging_by_behaviour_keeps_the_best() {
    for (stage, start) in stages() {
        let [canonical, behaviour] = Merge::ALL.map(|merge| enumerated(&stage, &start, merge, true));
        assert!(behaviour.ranked.len() < canonical.ranked.len() || stage.name == "ls-gd", "{}", stage.name);
        let (a, b) = (canonical.ranked[0].mean(), behaviour.ranked[0].mean());
        assert!((a - b).abs() < 1e-6, "{}: {a} {b}", stage.name);
    }
}

#[test]
fn the_methods_agree_where_the_space_is_small() {
    let curriculum = small();
    for method in [Method::Best, Method::Exhaustive, Method::McgsUcd, Method::McgsUct, Method::Mcts] {
        let discovery = discover(&curriculum, &Approach::new(method), 3, &mut Context::default()).unwrap();
        assert!(discovery.found, "{}", method.name());
    }
}

#[test]
fn every_target_is_the_best_of_its_stage() {
    let audited = audit(&small(), 5, u64::MAX, &[], &mut Silent, |_| {}).unwrap();
    for stage in &audited {
        assert_eq!(stage.target_rank, Some(1), "{stage:?}");
        assert!(stage.margin > 0.01 && stage.classes <= stage.programs && stage.complete, "{stage:?}");
    }
    let mut unfair = small();
    // A target that is not what the stage rewards.
    unfair.stages[0].1.program = "iteration:\n v1 = VEC_VEC_SUB(x, b)\n".parse().unwrap();
    unfair.stages[0].1.name = None;
    let audited = audit(&unfair, 5, u64::MAX, &[], &mut Silent, |_| {}).unwrap();
    assert!(audited[0].target_rank.is_some_and(|rank| rank > 1) && audited[0].margin < 0.0);
}

/// Keeps every reward, and ends the run after so many.
struct Notes {
    log: Vec<(RewardKey, f64)>,
    most: usize,
}

impl Observer for Notes {
    fn evaluated(&mut self, record: RewardKey, value: f64) {
        self.log.push((record, value));
    }

    fn continues(&mut self, _: &Progress) -> bool {
        self.log.len() < self.most
    }
}
/// A run of which this much is known, and of which notes are taken.
fn observed(known: Known, notes: &mut Notes) -> Context<'_> {
    Context { known: known.into(), observer: Some(notes), ..Context::default() }
}

/// What must not depend on anything but the seed.
fn essence(discovery: &Discovery) -> String {
    let stage = |stage: &rl4rla::curriculum::StageResult| {
        format!("{:?} {:?} {}", stage.program(), stage.attempt.counters, stage.reward().to_bits())
    };
    discovery.stages.iter().map(stage).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_run_is_the_same_from_any_part_of_its_log_and_on_any_number_of_threads() {
    let curriculum = small();
    let weights = [("VEC_VEC_SUB", 1.5), ("operand 2 of VEC_VEC_SUB: b", 1.0), ("read by nothing", -2.0)];
    let weights = weights.map(|(name, weight)| (name.to_string(), weight)).into();
    let learned = Some(Arc::new(Policy { weights }));
    let plain = [Method::Best, Method::McgsUcd, Method::Exhaustive].map(|method| (method, None));
    let guided = [Method::McgsPuct, Method::Evolution].map(|method| (method, learned.clone()));
    for (method, policy) in plain.into_iter().chain(guided) {
        let budget = policy.as_ref().map(|_| 400);
        let approach = Approach { budget, ..Approach::new(method) };
        let run = |known: Known, most| {
            let mut notes = Notes { log: Vec::new(), most };
            let context = &mut Context { policy: policy.clone(), ..observed(known, &mut notes) };
            let discovery = discover(&curriculum, &approach, 1, context).unwrap();
            (discovery, notes.log)
        };
        let (whole, log) = run(Known::default(), usize::MAX);
        for part in [1, log.len() / 3, log.len() - 1] {
            let known: Known = log[..part].iter().copied().collect();
            assert_eq!(essence(&run(known, usize::MAX).0), essence(&whole), "{} {part}", method.name());
        }
        let (halted, _) = run(Known::default(), log.len() / 2);
        assert!(halted.interrupted && !halted.found);
        let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        let lonely = alone.install(|| run(Known::default(), usize::MAX).0);
        assert_eq!(essence(&lonely), essence(&whole), "{}", method.name());
    }
}

#[test]
fn the_log_is_used() {
    // A log that lies must show.
    let curriculum = small();
    let mut notes = Notes { log: Vec::new(), most: usize::MAX };
    let approach = Approach::new(Method::Exhaustive);
    discover(&curriculum, &approach, 1, &mut observed(Known::default(), &mut notes)).unwrap();
    let lies: Known = notes.log.iter().map(|(record, _)| (*record, 0.0)).collect();
    assert!(
        !discover(&curriculum, &approach, 1, &mut Context { known: lies.into(), ..Context::default() })
            .unwrap()
            .found
    );
}

#[test]
fn no_reward_is_above_its_bound() {
    let charge = Charge { unit: Unit::Flops, rows: 100_000, cols: 100 };
    let profiles = [Profile::sound(), Profile::paper(), Profile::Tolerance { epsilon: 1e-3, charge }];
    let family = &stages()[2].0.families[0];
    let fits = |entry: &&Entry| check(&entry.document.program, family.signature()).is_ok();
    for profile in profiles {
        let protocol = Protocol::new(profile, StepRule::Best(SOUND_GRID.to_vec()));
        for entry in CATALOGUE.iter().filter(fits) {
            let program = &entry.document.program;
            let most = bound(program, family, &protocol);
            for i in 0..5 {
                let prepared = PreparedInstance::new(family.draw(&InstanceSet::Search.stream(0, i)).unwrap());
                let earned = reward(program, &prepared, &protocol, &draws(0, i, 0));
                assert!(earned <= most + 1e-12, "{}: {earned} above {most}", entry.name);
            }
        }
    }
}

#[test]
fn fresh_evaluations_draw_anew_and_are_pure() {
    let stage = Curriculum::named("subsampled-ls-gd").unwrap().unwrap().stages.pop().unwrap().0;
    let family = rl4rla::problem::Family { rows: 300, cols: 6, ..stage.families[0] };
    let rewards = |fresh, name: &str| -> Vec<f64> {
        let instances = Instances { search: 1, fresh, ..stage.instances };
        let stage = Stage { instances, families: vec![family], ..stage.clone() };
        let (known, problems) = (Known::default(), Problems::default());
        let bench = Bench::new(&stage, InstanceSet::Search, 0, 0, &known, &problems).unwrap();
        let program = &CATALOGUE.iter().find(|entry| entry.name == name).unwrap().document.program;
        assert_eq!(
            bench.draws(program) == usize::MAX,
            fresh == Fresh::Instances || fresh == Fresh::Draws && name != "ls-gd"
        );
        (0..bench.count()).map(|index| bench.reward_sample(program, index).reward).collect()
    };
    let different =
        |values: &[f64]| values.iter().map(|v| v.to_bits()).collect::<std::collections::BTreeSet<_>>().len();
    for name in ["ls-gd", "subsampled-ls-gd"] {
        assert_eq!(rewards(Fresh::No, name).len(), 1);
        for fresh in [Fresh::Draws, Fresh::Instances] {
            let values = rewards(fresh, name);
            assert_eq!(values, rewards(fresh, name), "a pure function");
            assert_eq!(values[0], rewards(Fresh::No, name)[0], "the first is the usual one");
            let changes = fresh == Fresh::Instances || name != "ls-gd";
            assert_eq!(different(&values) > 8, changes, "{name}, {fresh}: {values:?}");
        }
    }
}

#[test]
fn stages_can_start_from_targets() {
    let curriculum = small();
    // A first stage with too few playouts misses its target; the next one starts from it all the same.
    let starved = Approach { budget: Some(1), ..Approach::new(Method::McgsUcd) };
    let run = |approach| discover(&curriculum, &approach, 0, &mut Context::default()).unwrap();
    let (chained, apart) = (run(starved), run(Approach { from_targets: true, ..starved }));
    assert!(chained.stages.len() == 1 && !chained.stages[0].found());
    assert_eq!(apart.stages.len(), curriculum.stages.len());
    assert!(!apart.found, "every stage counts");
    let found = run(Approach { from_targets: true, ..Approach::new(Method::Best) });
    assert!(found.found && found.stages.iter().all(|stage| stage.found()));
}

#[test]
fn a_run_may_have_a_budget_for_all_its_stages() {
    let curriculum = small();
    let spent = |approach: Approach| {
        let run = discover(&curriculum, &approach, 0, &mut Context::default()).unwrap();
        run.stages.iter().map(|stage| stage.attempt.counters.playouts).collect::<Vec<u64>>()
    };
    let usual = Approach { from_targets: true, ..Approach::new(Method::McgsUcd) };
    let free = spent(usual);
    assert!(free[0] > 100 && free[1] > 0);
    let most = free[0] + 5;
    let limited = spent(Approach { run_playouts: Some(most), ..usual });
    assert_eq!(
        (limited[0], limited.iter().sum::<u64>()),
        (free[0], most),
        "what is left goes to the next stage"
    );
    // Also where the budget is that of each decision.
    let decided = Approach { budget_per_decision: true, budget: Some(40), run_playouts: Some(50), ..usual };
    assert_eq!(spent(decided).iter().sum::<u64>(), 50);
    let evaluations = |run_evaluations| {
        let approach = Approach { run_evaluations, ..usual };
        let run = discover(&curriculum, &approach, 0, &mut Context::default()).unwrap();
        run.counters().evaluations
    };
    // The best of every stage are measured on all instances on top.
    assert!(evaluations(Some(30)) < 30 + 5 * 4 * 3 + 1 && evaluations(None) > 100);
}

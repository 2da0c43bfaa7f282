//! Search on problems whose answer is known.

#[path = "search/toy.rs"]
mod toy;

use proptest::prelude::*;
use rl4rla::rng::Stream;
use rl4rla::search::{
    Backup, Confidence, Counters, Domain, GraphSearchPlan, METHODS, Measure, Method, Puct, SelectionRule,
    Sharing, Silent, Solved, StopReason, Tuning, Ucd, Uct, Watch, best, exhaustive, graph_search, random,
};
use std::sync::Arc;
use toy::{Words, deceptive, found, scattered, told, tuning};

const RULES: [&dyn SelectionRule; 3] = [&Ucd, &Uct, &Puct];

fn plan(rule: &dyn SelectionRule, budget: u64, seed: u64) -> GraphSearchPlan<'_> {
    GraphSearchPlan {
        sharing: Sharing::Graph,
        rule,
        exploration: 0.5,
        backup: Backup::Idempotent,
        patient: false,
        skip_closed: false,
        return_to_root: false,
        decision: None,
        budget: budget.into(),
        keep: 3,
        stream: Stream::new(seed),
    }
}

#[test]
fn graph_search_converges() {
    let domain = Words::new(4, 4, scattered(&[0, 1, 2, 2])).noisy(0.05, 16, 3);
    for (rule, seed) in RULES.into_iter().flat_map(|rule| (0..5).map(move |seed| (rule, seed))) {
        for exploration in [0.5, 2.0] {
            let outcome = graph_search(
                &domain,
                &GraphSearchPlan { exploration, ..plan(rule, 20_000, seed) },
                &mut Silent,
            );
            assert!(exploration < 1.0 || found(&outcome) == domain.optimum());
            assert!(outcome.ranked.iter().all(|ranked| ranked.values.len() == 16));
            assert!(outcome.ranked.is_sorted_by(|a, b| a.mean() >= b.mean()));
        }
    }
}

#[test]
fn without_transpositions_tree_and_graph_are_one() {
    let domain = Words::new(4, 3, scattered(&[2, 0, 1])).ordered().noisy(0.1, 8, 5);
    let backups = Backup::ALL;
    for (backup, budget) in backups.into_iter().flat_map(|b| [1, 100, 777, 5_000].map(|n| (b, n))) {
        let run = |sharing| {
            graph_search(&domain, &GraphSearchPlan { sharing, backup, ..plan(&Uct, budget, 1) }, &mut Silent)
        };
        assert_eq!(told(&run(Sharing::Tree)), told(&run(Sharing::Graph)));
    }
    let ucd = graph_search(&domain, &plan(&Ucd, 777, 1), &mut Silent);
    assert_eq!(told(&ucd), told(&graph_search(&domain, &plan(&Uct, 777, 1), &mut Silent)));
}

#[test]
fn transpositions_are_shared() {
    let domain = Words::new(4, 5, scattered(&[0, 1, 2, 2, 3])).noisy(0.05, 8, 5);
    let run = |sharing| {
        graph_search(
            &domain,
            &GraphSearchPlan { sharing, exploration: 4.0, ..plan(&Uct, 1_000, 1) },
            &mut Silent,
        )
    };
    let (tree, graph) = (run(Sharing::Tree).counters, run(Sharing::Graph).counters);
    assert!(2 * graph.unique_states < tree.unique_states, "{graph:?} {tree:?}");
    assert!(graph.unique_states <= 126, "multisets of at most five letters out of four");
    assert!(graph.revisit_rate() > tree.revisit_rate());
}

#[test]
fn lucb_decides() {
    let domain = Words::new(4, 1, |word| Some(if word == [2] { 0.9 } else { 0.1 })).noisy(0.02, 1_000, 1);
    for backup in [Backup::Idempotent, Backup::Latest] {
        let outcome =
            graph_search(&domain, &GraphSearchPlan { backup, ..plan(&Uct, 100_000, 1) }, &mut Silent);
        assert_eq!((outcome.stop, found(&outcome)), (StopReason::Lucb, [2].as_slice()));
        assert!(outcome.counters.playouts < 1_000);
        // The criterion is met once and for all: a larger budget changes nothing.
        let again = graph_search(&domain, &GraphSearchPlan { backup, ..plan(&Uct, 200_000, 1) }, &mut Silent);
        assert_eq!(told(&outcome), told(&again));
    }
    let forced = Words::new(1, 3, |_| Some(0.5)).noisy(0.1, 100, 1);
    let outcome = graph_search(&forced, &plan(&Uct, 1_000, 1), &mut Silent);
    assert_eq!(
        (outcome.stop, found(&outcome)),
        (StopReason::Lucb, [0; 3].as_slice()),
        "one child is no choice"
    );
}

/// Worth a little with `b` in front, where everything is the same, and nothing elsewhere but for one word.
fn trap() -> Words {
    Words::new(4, 4, |word| {
        Some(if word == [0, 2, 3, 3] {
            1.0
        } else if word[0] == 1 {
            0.5
        } else {
            0.0
        })
    })
    .ordered()
}

#[test]
fn closed_children_are_skipped_where_that_is_asked_for() {
    let domain = trap();
    for (rule, sharing) in RULES.into_iter().flat_map(|r| [(r, Sharing::Graph), (r, Sharing::Tree)]) {
        let usual = GraphSearchPlan { sharing, ..plan(rule, 3_000, 1) };
        let skipping = GraphSearchPlan { skip_closed: true, return_to_root: true, ..plan(rule, 3_000, 1) };
        let (replayed, skipped) =
            (graph_search(&domain, &usual, &mut Silent), graph_search(&domain, &skipping, &mut Silent));
        // Without replays all 256 words are seen, each by one playout or by the rollout before it.
        assert_eq!((skipped.stop, found(&skipped)), (StopReason::Exhausted, [0, 2, 3, 3].as_slice()));
        assert_eq!(skipped.counters.solutions, 256);
        assert!(skipped.counters.playouts <= 2 * (256 + 64 + 16 + 4), "{:?}", skipped.counters);
        assert!(replayed.counters.solutions < 256, "{:?}", replayed.counters);
    }
}

#[test]
fn an_exhausted_subtree_is_left_for_the_root() {
    let domain = trap();
    let decided = graph_search(&domain, &plan(&Uct, 20_000, 1), &mut Silent);
    assert_eq!(decided.stop, StopReason::Exhausted, "the subtree it decided for");
    assert!(found(&decided)[0] == 1 && decided.counters.solutions < 256);
    let plan = GraphSearchPlan { return_to_root: true, ..plan(&Uct, 20_000, 1) };
    let returned = graph_search(&domain, &plan, &mut Silent);
    assert_eq!((returned.stop, found(&returned)), (StopReason::Exhausted, [0, 2, 3, 3].as_slice()));
    assert_eq!(returned.counters.solutions, 256);
}

#[test]
fn a_decision_has_a_budget_of_its_own() {
    // All words are worth the same: LUCB parts nothing.
    let domain = Words::new(3, 4, |_| Some(0.5)).noisy(0.1, 1_000, 1);
    let plan = GraphSearchPlan { decision: Some(200), ..plan(&Ucd, 100_000, 1) };
    let outcome = graph_search(&domain, &plan, &mut Silent);
    assert_eq!((outcome.stop, outcome.counters.playouts), (StopReason::Budget, 4 * 200));
    let short = graph_search(&domain, &GraphSearchPlan { budget: 500.into(), ..plan }, &mut Silent);
    assert_eq!(
        (short.stop, short.counters.playouts),
        (StopReason::Budget, 500),
        "the whole budget counts too"
    );
}

#[test]
fn where_nothing_can_be_decided_a_budget_for_decisions_ends_the_search() {
    let domain = Words::new(3, 0, |_| Some(0.5)).noisy(0.1, 1_000, 1);
    let plan = GraphSearchPlan { decision: Some(7), ..plan(&Ucd, 100_000, 1) };
    let outcome = graph_search(&domain, &plan, &mut Silent);
    assert_eq!(
        (outcome.stop, outcome.counters.playouts, found(&outcome)),
        (StopReason::Budget, 7, [].as_slice())
    );
}

#[test]
fn the_printed_back_up_decides_too() {
    let domain = Words::new(4, 1, |word| Some(if word == [2] { 0.9 } else { 0.1 })).noisy(0.02, 1_000, 1);
    for sharing in [Sharing::Tree, Sharing::Graph] {
        let plan = GraphSearchPlan { sharing, backup: Backup::Printed, ..plan(&Uct, 100_000, 1) };
        let outcome = graph_search(&domain, &plan, &mut Silent);
        assert_eq!((outcome.stop, found(&outcome)), (StopReason::Lucb, [2].as_slice()));
    }
}

struct Until(u64);

impl<S> Watch<S> for Until {
    fn continues(&mut self, counters: &Counters, _: Option<(&S, f64)>) -> bool {
        counters.evaluations < self.0
    }
}

#[test]
fn reasons_to_stop() {
    let domain = Words::new(4, 3, scattered(&[0, 1, 2])).noisy(0.3, 64, 1);
    let nothing = Words::new(3, 2, |_| Some(0.0)).noisy(0.0, 4, 1);
    let tiny = Words::new(2, 2, |word| Some(0.3 + 0.01 * f64::from(word[0] + word[1]))).noisy(0.0, 2, 1);
    for row in &METHODS {
        let run = |domain: &Words, budget, limit| {
            row.method.search(domain, &tuning(budget), &Stream::new(1), &mut Until(limit))
        };
        let (complete, silent) = match row.method {
            Method::Random | Method::Evolution | Method::Islands => (StopReason::Budget, StopReason::Budget),
            Method::Best => (StopReason::Confident, StopReason::NoSignal),
            _ => (StopReason::Exhausted, StopReason::NoSignal),
        };
        assert_eq!(run(&tiny, 10_000, u64::MAX).stop, complete, "{}", row.name);
        assert_eq!(found(&run(&tiny, 10_000, u64::MAX)), [1, 1], "{}", row.name);
        assert_eq!(run(&nothing, 10_000, u64::MAX).stop, silent, "{}", row.name);
        assert_eq!(run(&domain, 3, u64::MAX).stop, StopReason::Budget, "{}", row.name);
        assert_eq!(run(&domain, 3, u64::MAX).counters.playouts, 3, "{}", row.name);
        assert_eq!(run(&domain, 0, u64::MAX).stop, StopReason::Budget, "{}", row.name);
        assert!(run(&domain, 0, u64::MAX).ranked.is_empty(), "{}", row.name);
        assert_eq!(run(&domain, 10_000, 0).stop, StopReason::Interrupted, "{}", row.name);
        let halted = run(&domain, 100_000, 10);
        assert_eq!(halted.stop, StopReason::Interrupted, "{}", row.name);
        assert!(halted.counters.evaluations < 10 + 512 && !halted.ranked.is_empty(), "{}", row.name);
        let rate = run(&domain, 500, u64::MAX).counters.revisit_rate();
        assert!((0.0..=1.0).contains(&rate), "{} revisits {rate}", row.name);
    }
}

#[test]
fn exact_budget_is_enough_to_exhaust() {
    let domain = Words::new(3, 2, scattered(&[0, 1])).ordered();
    let run = |budget| exhaustive(&domain, Measure::All, budget, 1, &mut Silent);
    assert_eq!((run(11).stop, run(12).stop), (StopReason::Budget, StopReason::Exhausted));
    assert_eq!((run(11).counters.playouts, run(12).counters.unique_states), (11, 13));
}

#[test]
fn every_method_by_name() {
    let domain = Words::new(3, 3, scattered(&[0, 1, 1])).noisy(0.05, 8, 2);
    for row in &METHODS {
        assert_eq!((Method::named(row.name), row.method.name()), (Some(row.method), row.name));
        for released in [false, true] {
            let tuning = Tuning { exploration: 2.0, released, ..tuning(5_000) };
            let run = || row.method.search(&domain, &tuning, &Stream::new(7), &mut Silent);
            assert_eq!(found(&run()), domain.optimum(), "{}", row.name);
            assert_eq!(told(&run()), told(&run()), "{} is a function of its seed", row.name);
        }
    }
    assert_eq!(Method::named("none"), None);
}

#[test]
fn everything_is_counted() {
    let domain = Words::new(4, 3, scattered(&[1, 2, 3])).noisy(0.05, 6, 1);
    let all = exhaustive(&domain, Measure::All, u64::MAX, 1, &mut Silent);
    assert_eq!((all.stop, found(&all)), (StopReason::Exhausted, domain.optimum().as_slice()));
    assert_eq!(all.counters.solutions, 20, "multisets of three letters out of four");
    assert_eq!(all.counters.evaluations, 20 * 6);
    assert_eq!(all.counters.unique_states, 1 + 4 + 10 + 20);
    assert_eq!(all.counters.node_visits, 1 + 4 * (1 + 4 + 10));
    let fewer = exhaustive(&domain, Measure::WhileInTheRunning, u64::MAX, 1, &mut Silent);
    assert_eq!(found(&fewer), found(&all));
    assert!(fewer.counters.evaluations < all.counters.evaluations);
}

/// Solutions with a table of values, one move from the root.
struct Table(Vec<Vec<f64>>);

impl Domain for Table {
    type State = usize;
    type Solution = usize;

    fn root(&self) -> usize {
        usize::MAX
    }

    fn key(&self, state: &usize) -> u128 {
        *state as u128
    }

    fn children(&self, state: &usize) -> Arc<[usize]> {
        if *state == self.root() { (0..self.0.len()).collect() } else { Arc::new([]) }
    }

    fn solution(&self, state: &usize) -> Option<Solved<usize>> {
        self.0.get(*state).map(|_| Solved { key: *state as u128, solution: *state })
    }

    fn replicates(&self) -> usize {
        self.0[0].len()
    }

    fn values(&self, requests: &[(&Solved<usize>, usize)]) -> Vec<f64> {
        requests.iter().map(|(solved, replicate)| self.0[solved.solution][*replicate]).collect()
    }
}

proptest! {
    #[test]
    fn bounds_never_drop_the_winner(
        rows in (1usize..9).prop_flat_map(|replicates| {
            let value = prop_oneof![0.0..1.0, Just(0.0), Just(1.0), Just(0.1), Just(0.7)];
            prop::collection::vec(prop::collection::vec(value, replicates), 1..30)
        }),
    ) {
        let domain = Table(rows);
        let [all, fewer] = [Measure::All, Measure::WhileInTheRunning]
            .map(|measure| exhaustive(&domain, measure, u64::MAX, 1, &mut Silent));
        prop_assert_eq!(all.ranked[0].solved.key, fewer.ranked[0].solved.key);
        prop_assert_eq!(all.ranked[0].mean(), fewer.ranked[0].mean());
        prop_assert!(fewer.counters.evaluations <= all.counters.evaluations);
    }

    #[test]
    fn whatever_the_values_a_search_ends(
        rows in prop::collection::vec(prop::collection::vec(any::<f64>(), 3), 1..20),
        exploration in prop_oneof![Just(0.0), Just(0.5)],
        released in any::<bool>(),
    ) {
        let clean = |v: &f64| if v.is_nan() { 0.0 } else { v.clamp(0.0, 1.0) };
        let means: Vec<f64> = rows.iter().map(|row| row.iter().map(clean).sum::<f64>() / 3.0).collect();
        let domain = Table(rows);
        for row in &METHODS {
            let tuning = Tuning { exploration, released, keep: 20, ..tuning(300) };
            let outcome = row.method.search(&domain, &tuning, &Stream::new(1), &mut Silent);
            prop_assert!(!outcome.ranked.is_empty());
            prop_assert!(outcome.ranked.iter().all(|r| (r.mean() - means[r.solved.solution]).abs() < 1e-12));
            prop_assert!(outcome.ranked.is_sorted_by(|a, b| a.mean() >= b.mean()));
        }
    }
}

#[test]
fn the_watch_sees_the_highest_mean() {
    struct Sees(Vec<Option<(usize, f64)>>);
    impl Watch<usize> for Sees {
        fn continues(&mut self, _: &Counters, best: Option<(&usize, f64)>) -> bool {
            self.0.push(best.map(|(solution, mean)| (*solution, mean)));
            true
        }
    }
    let mut watch = Sees(Vec::new());
    exhaustive(&Table(vec![vec![0.9, 0.1], vec![0.8, 0.6]]), Measure::All, 10, 1, &mut watch);
    assert_eq!(watch.0, [Some((0, 0.9)), Some((1, 0.7))], "a leader may fall back");
}

#[test]
fn best_keeps_its_leader_when_a_newcomer_was_lucky() {
    // The second looks best on two replicates and is not; the third is behind the first by little.
    let (lucky, steady) = ([vec![1.0; 2], vec![0.0; 14]].concat(), vec![0.80; 16]);
    let domain = Table(vec![vec![0.82; 16], lucky, steady]);
    let outcome = best(&domain, Confidence::default(), 0.5, 100, 3, &mut Silent);
    assert_eq!((outcome.stop, outcome.ranked[0].solved.solution), (StopReason::Confident, 0));
}

/// One word is best, those with the second letter in front are close, the rest is far behind.
fn close(best: u8, gap: f64, rest: f64, length: usize) -> Words {
    let truth = move |word: &[u8]| {
        let (top, second) = (word.iter().all(|&letter| letter == best), word[0] == 1);
        Some(
            0.6 - if top {
                0.0
            } else if second {
                gap
            } else {
                rest
            },
        )
    };
    Words::new(12, length, truth).ordered()
}

/// How often `best` differs from the truth and from measuring everything, and the evaluations of both.
fn errors(domain: impl Fn() -> Words, noise: f64, runs: u64) -> (u64, u64, u64, u64) {
    let confidence = Confidence { delta: 0.1, ..Confidence::default() };
    (0..runs).fold((0, 0, 0, 0), |(untrue, wrong, few, many), seed| {
        let domain = domain().noisy(noise, 32, seed);
        let raced = best(&domain, confidence, 0.5, u64::MAX, 1, &mut Silent);
        let all = exhaustive(&domain, Measure::All, u64::MAX, 1, &mut Silent);
        assert_eq!(raced.stop, StopReason::Confident);
        (
            untrue + u64::from(found(&raced) != domain.optimum()),
            wrong + u64::from(found(&raced) != found(&all)),
            few + raced.counters.evaluations,
            many + all.counters.evaluations,
        )
    })
}

#[test]
fn best_is_as_confident_as_it_says() {
    // 100 errors of 1,000 are expected at most; 128 are three deviations more.
    let (untrue, wrong, few, many) = errors(|| close(5, 0.02, 0.2, 1), 0.035, 1_000);
    assert!(untrue <= 128 && wrong <= 128, "{untrue} and {wrong} errors");
    assert!(2 * few < many, "{few} evaluations against {many}");
    // The hardest: met first, the best has to hold out against the luckiest of many.
    let (_, wrong, few, many) = errors(|| close(0, 0.1, 0.1, 2), 0.1, 200);
    assert!(wrong <= 33 && few < many, "{wrong} errors, {few} evaluations against {many}");
}

#[test]
fn mean_backup_is_deceived_and_best_is_not() {
    let domain = Words::new(5, 4, deceptive(&[0, 3, 1, 2])).ordered();
    let outcome = best(&domain, Confidence::default(), 0.5, u64::MAX, 1, &mut Silent);
    assert_eq!((outcome.stop, found(&outcome)), (StopReason::Confident, [0, 3, 1, 2].as_slice()));
    let budget = outcome.counters.playouts;
    let deceived = |seed| found(&graph_search(&domain, &plan(&Ucd, budget, seed), &mut Silent))[0] != 0;
    assert!((0..20).filter(|&seed| deceived(seed)).count() > 10);
    let patient = GraphSearchPlan { exploration: 20.0, ..plan(&Ucd, 20_000, 1) };
    assert_eq!(found(&graph_search(&domain, &patient, &mut Silent)), [0, 3, 1, 2]);
}

#[test]
fn random_finds_what_is_easy() {
    let domain = Words::new(3, 2, scattered(&[0, 2])).noisy(0.05, 8, 1);
    let outcome = random(&domain, 500, 2, &Stream::new(1), &mut Silent);
    assert_eq!((outcome.stop, found(&outcome)), (StopReason::Budget, [0, 2].as_slice()));
    assert_eq!((outcome.counters.playouts, outcome.ranked.len()), (500, 2));
}

#[test]
fn degenerate_problems() {
    for row in &METHODS {
        let run = |domain: &Words| row.method.search(domain, &tuning(1_000), &Stream::new(1), &mut Silent);
        // Nothing to decide: the root is the only solution, or none.
        let outcome = run(&Words::new(3, 0, |_| Some(0.5)).noisy(0.1, 4, 1));
        assert_eq!((outcome.ranked.len(), outcome.ranked[0].values.len()), (1, 4), "{}", row.name);
        assert_eq!(outcome.counters.unique_states, 1, "{}", row.name);
        let outcome = run(&Words::new(0, 3, |_| Some(0.5)));
        assert!(outcome.ranked.is_empty() && outcome.counters.evaluations == 0, "{}", row.name);
        assert!(matches!(outcome.stop, StopReason::NoSignal | StopReason::Budget), "{}", row.name);
        // Most ends are no solutions.
        let outcome = run(&Words::new(3, 3, |word| (word == [0, 1, 2]).then_some(0.7)));
        assert_eq!((outcome.ranked.len(), found(&outcome)), (1, [0, 1, 2].as_slice()), "{}", row.name);
        // The root is a solution, and so is every state.
        let mut anywhere = Words::new(3, 2, |word| Some(0.2 * word.len() as f64 + 0.1));
        anywhere.unfinished = true;
        assert_eq!(found(&run(&anywhere)).len(), 2, "{}", row.name);
    }
    let mut unfinished = Words::new(3, 2, |word| Some(if word.is_empty() { 0.9 } else { 0.1 }));
    unfinished.unfinished = true;
    assert!(found(&best(&unfinished, Confidence::default(), 0.5, 100, 1, &mut Silent)).is_empty());
    assert!(found(&exhaustive(&unfinished, Measure::All, 100, 1, &mut Silent)).is_empty());
}

//! The map as a whole: the one that comes with the crate, how it is made, and what it answers.

use super::*;
use crate::execute::SketchKind;
use crate::experiment::Monitor;
use crate::problem::Leverage;
use crate::program::Entry;
use crate::report::Block;
use proptest::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};

const REMAKE: &str =
    "make it again: `rl4rla reproduce winner-map --out DIR`, then copy DIR/winner-map.json to shipped.json";

/// The grid of the shipped map with fewer sketches.
fn coarse() -> MapGrid {
    MapGrid { factors: vec![4.0, 8.0], ..WinnerMap::shipped().grid.clone() }
}

#[test]
fn the_shipped_map_is_whole() {
    let map = WinnerMap::shipped();
    assert_eq!(map.grid, MapGrid::full(), "{REMAKE}");
    let names: Vec<String> = Contender::all().iter().map(|contender| contender.name().to_string()).collect();
    let missing: Vec<&String> = names.iter().filter(|name| !map.contenders.contains(name)).collect();
    assert!(missing.is_empty(), "{missing:?} were not measured; {REMAKE}");
    for class in map.grid.classes() {
        for &tolerance in &map.grid.tolerances {
            let cell = map.cell(class, tolerance).unwrap();
            assert!(cell.entries.iter().any(|entry| entry.program == "qr"), "{class:?} {tolerance}");
            assert!(cell.entries.iter().all(|entry| entry.iterations.is_finite() && entry.growth >= 0.0));
        }
    }
    let again: WinnerMap = serde_json::from_str(&map.text()).unwrap();
    assert_eq!(&again, map);
}

#[test]
fn cells_of_the_shipped_map_are_measured_alike_now() {
    let (map, grid) = (WinnerMap::shipped(), coarse());
    let names =
        ["qr", "normal-equations", "ls-gd", "sketched-precond-gd-factored", "sketched-precond-gd-gram"];
    let contenders: Vec<Contender> = names.iter().filter_map(|name| Contender::named(name)).collect();
    for (kappa, outside, leverage) in [(1e1, 0.7, Leverage::Low), (1e8, 0.1, Leverage::Coherent)] {
        let class = ProblemClass { kappa, outside, leverage };
        for new in WinnerMap::measure(&grid, class, &contenders, map.seed).unwrap() {
            let old = map.cell(class, new.tolerance).unwrap();
            let tried = |entry: &&SurveyEntry| {
                let factor = entry.tunables.sketch_factor;
                names.contains(&&*entry.program) && factor.is_none_or(|factor| grid.factors.contains(&factor))
            };
            for entry in old.entries.iter().filter(tried) {
                let same = |other: &&SurveyEntry| {
                    let [a, b] = [&entry.tunables, &other.tunables].map(|t| (t.sketch, t.sketch_factor));
                    other.program == entry.program && a == b
                };
                let found = new.entries.iter().find(same).unwrap_or_else(|| panic!("no {entry:?}; {REMAKE}"));
                let apart = (found.iterations - entry.iterations).abs();
                assert!(apart <= 1.0 + 0.05 * entry.iterations, "{entry:?} {found:?}; {REMAKE}");
            }
            // What reaches the tolerance now did so then.
            for entry in &new.entries {
                assert!(
                    old.entries.iter().any(|other| other.program == entry.program),
                    "{entry:?}; {REMAKE}"
                );
            }
        }
    }
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let grid = MapGrid { tolerances: vec![1e-4], factors: vec![4.0], ..MapGrid::quick() };
    let class = ProblemClass { kappa: 1e3, outside: 0.7, leverage: Leverage::High };
    let contenders: Vec<Contender> =
        ["ls-gd", "sketched-precond-gd"].iter().filter_map(|name| Contender::named(name)).collect();
    let with = |threads: usize, seed: u64| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| WinnerMap::measure(&grid, class, &contenders, seed).unwrap())
    };
    assert_eq!(with(1, 7), with(3, 7));
    assert_ne!(with(1, 7), with(1, 8));
}

#[test]
fn a_map_is_given_up_between_classes() {
    struct Once(AtomicUsize);
    impl Monitor for Once {
        fn doing(&self, _: &str) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
        fn stopped(&self) -> bool {
            self.0.load(Ordering::Relaxed) > 0
        }
    }
    let grid = MapGrid { tolerances: vec![1e-4], factors: vec![8.0], ..MapGrid::quick() };
    let monitor = Once(AtomicUsize::new(0));
    assert_eq!(WinnerMap::make(grid, 0, &monitor).unwrap(), None);
    assert_eq!(monitor.0.load(Ordering::Relaxed), 1, "one class was measured");
}

#[test]
fn figures_show_every_winner_of_the_grid() {
    let map = WinnerMap::shipped();
    let winners = map.winners();
    let grid = &map.grid;
    assert_eq!(winners.len(), map.cells.len() * grid.ratios.len() * grid.cols.len() * grid.prices.len());
    let blocks = figures(map, &winners);
    let [Block::Figure(classes), Block::Figure(sizes)] = &blocks[..] else { panic!("two figures") };
    assert_eq!(classes.panels.len(), grid.leverages.len() * grid.tolerances.len());
    assert_eq!(sizes.panels.len(), grid.prices.len() * grid.cols.len());
    for panel in classes.panels.iter().chain(&sizes.panels) {
        let cells = grid.kappas.len() * grid.ratios.len();
        assert_eq!(panel.series[0].points.len(), cells, "{}", panel.title);
        let signs: usize = panel.series[1..].iter().map(|series| series.points.len()).sum();
        assert_eq!(signs, cells, "every cell has one winner");
    }
    let Some(Block::Table(table)) = tables(map, &winners).pop() else { panic!("a table") };
    let wins: f64 = table.rows().filter_map(|row| row[1].value).sum();
    assert_eq!(wins as usize, winners.len());
}

#[test]
fn the_price_of_a_pass_matters() {
    // Many passes win if only flops count and n is large; at a high price, fewer passes do.
    let ask = |price: f64| {
        let question = Question { rows: 10_000_000, cols: 2_000, price: Some(price), ..Question::default() };
        advise(WinnerMap::shipped(), &question, Rates::USUAL).unwrap().chosen
    };
    assert!(ask(1e4).passes < ask(0.0).passes);
    assert!(ask(1e4).flops > ask(0.0).flops);
}

#[test]
fn the_cell_that_answers_is_not_easier_than_the_question() {
    let ask = |kappa: f64, tolerance: f64| {
        let question = Question { kappa, tolerance, ..Question::default() };
        advise(WinnerMap::shipped(), &question, Rates::USUAL).unwrap()
    };
    let advice = ask(3e4, 3e-7);
    assert_eq!((advice.class.kappa, advice.tolerance, advice.extrapolates()), (1e6, 1e-8, false));
    assert_eq!((ask(1e6, 1e-8).class.kappa, ask(1e6, 1e-8).tolerance), (1e6, 1e-8));
    let beyond = ask(1e13, 1e-15);
    assert_eq!((beyond.class.kappa, beyond.tolerance), (1e10, 1e-12));
    assert!(
        beyond.extrapolation[0].starts_with("κ is") && beyond.extrapolation[1].starts_with("the tolerance")
    );
}

#[test]
fn bad_questions_are_refused_by_the_name_of_the_option() {
    let usual = Question::default();
    let questions = [
        (Question { rows: 5, ..usual }, "5×100"),
        (Question { cols: 0, ..usual }, "rows as columns"),
        (Question { kappa: 0.5, ..usual }, "--kappa"),
        (Question { kappa: f64::NAN, ..usual }, "--kappa"),
        (Question { kappa: f64::INFINITY, ..usual }, "--kappa"),
        (Question { outside: 1.0, ..usual }, "--outside"),
        (Question { tolerance: 0.0, ..usual }, "--tolerance"),
        (Question { tolerance: f64::NAN, ..usual }, "--tolerance"),
        (Question { price: Some(-1.0), ..usual }, "--price"),
    ];
    for (question, named) in questions {
        let error = advise(WinnerMap::shipped(), &question, Rates::USUAL).unwrap_err();
        assert!(error.message().contains(named) && error.advice().is_some(), "{error}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn no_alternative_beats_the_choice(
        cols in 1_usize..4000,
        ratio in 1.0_f64..2e4,
        kappa in 0.0_f64..14.0,
        outside in 0.0_f64..0.999,
        leverage in 0_usize..3,
        tolerance in -15.0_f64..-0.1,
        price in prop::option::of(0.0_f64..100.0),
    ) {
        let question = Question {
            rows: (ratio * cols as f64) as usize,
            cols,
            kappa: 10f64.powf(kappa),
            outside,
            leverage: Leverage::ALL[leverage],
            tolerance: 10f64.powf(tolerance),
            price,
        };
        let map = WinnerMap::shipped();
        let advice = advise(map, &question, Rates::USUAL).unwrap();
        prop_assert!(advice.chosen.seconds > 0.0 && advice.margin >= 1.0);
        for other in &advice.alternatives {
            prop_assert!(other.seconds >= advice.chosen.seconds && other.program != advice.chosen.program);
        }
        // Every settings of the cell cost at least as much as the best ones that were chosen.
        let cell = map.cell(advice.class, advice.tolerance).unwrap();
        for entry in &cell.entries {
            let contender = Contender::named(&entry.program).unwrap();
            let iterations = entry.iterations_at(cols);
            if let Some(effort) = contender.effort(question.rows, cols, &entry.tunables, iterations) {
                let seconds = effort.work(advice.price) / Rates::USUAL.flops;
                prop_assert!(seconds >= advice.chosen.seconds * (1.0 - 1e-12), "{entry:?}");
            }
        }
        prop_assert_eq!(advice.chosen.direct, Entry::named(&advice.chosen.program).is_none());
        let sketch = advice.chosen.tunables.and_then(|tunables| tunables.sketch);
        prop_assert!(sketch.is_none_or(|kind| kind != SketchKind::Gaussian));
        let inside = (20..=2000).contains(&cols)
            && (10 * cols..=10_000 * cols).contains(&question.rows)
            && (1.0..=10.0).contains(&kappa)
            && (0.1..=0.7).contains(&outside)
            && (-12.0..=-4.0).contains(&tolerance);
        prop_assert!(inside || advice.extrapolates());
        prop_assert!(!inside || advice.extrapolation.iter().all(|why| why.contains("grow with n")));
    }
}

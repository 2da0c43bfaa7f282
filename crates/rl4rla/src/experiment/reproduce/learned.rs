//! The learned proposal: evaluations up to the target with it and without it, on curricula it has not seen.

use super::ask::{Ask, EditProposal, OTHER_TASKS, Scope, Setting};
use super::item::{ComparisonRow, Means, ReproducedItem};
use crate::experiment::words;
use crate::experiment::{ExperimentError, HeldOutLikelihood, LearnedPolicy, Tally, tallies};
use crate::record::Quantity;
use crate::report::{Block, Cell, Column, Spread, Table};
use crate::search::Method;

const METHODS: [Method; 2] = [Method::McgsPuct, Method::Evolution];
const CURRICULA: [&str; 7] = [
    "subsampled-ls-gd",
    "subsampled-precond-gd",
    "precond-weighted-sgd",
    "sketched-precond-gd",
    "block-kaczmarz",
    "eigenvalue",
    "newton-sketch",
];

/// The proposals compared on a curriculum, the one without learning first.
fn proposals(curriculum: &str) -> &'static [EditProposal] {
    const ALL: [EditProposal; 3] = [EditProposal::Uniform, EditProposal::Learned, EditProposal::LinearOnly];
    if OTHER_TASKS.contains(&curriculum) { &ALL } else { &ALL[..2] }
}

/// The sweeps it needs; Newton Sketch takes longer than all others together.
pub fn asks(scope: Scope) -> Vec<Ask> {
    let mut asks = Vec::new();
    for curriculum in CURRICULA {
        let seeds = if curriculum == "newton-sketch" { scope.fewer() } else { scope.seeds };
        for method in METHODS {
            let ask = |&proposing| Ask::new(curriculum, method, Setting::Proposed(proposing), seeds);
            asks.extend(proposals(curriculum).iter().map(ask));
        }
    }
    asks
}

/// The tables.
pub fn make(means: &Means) -> Result<ReproducedItem, ExperimentError> {
    let mut part = ReproducedItem::default();
    for method in METHODS {
        let mut groups = Vec::new();
        for curriculum in CURRICULA {
            groups.extend(lines(curriculum, method, means, &mut part.rows));
        }
        let words = ["curriculum", "transition", "proposal"].map(Column::words);
        let numbers =
            ["found (95 % interval)", "evaluations to the target", "evaluations in all"].map(Column::numbers);
        part.add(Block::Table(Table {
            name: format!("table-learned-{}", method.name()),
            title: format!("Evaluations to the target with a learned proposal: {}", method.name()),
            caption: "Every stage starts from the target of the one before. Evaluations to the target: up to the first \
                      one of the program found, by the runs that found the target, mean with the half-width of its 95 % \
                      interval; for a total, by the runs that found the targets of all stages. Both proposals have the \
                      same settings: at most 5000 playouts and 2000 evaluations a stage, c = 3 for mcgs-puct."
                .into(),
            columns: words.into_iter().chain(numbers).collect(),
            groups,
            notes: vec![
                "The policy of a curriculum is fitted to the lessons recorded in the shipped policy, without those of \
                 the curriculum and those that found one of its targets; `learned on linear systems` also without the \
                 lessons of all other tasks."
                    .into(),
            ],
        }));
    }
    part.add(Block::Table(held_out(&LearnedPolicy::shipped())));
    Ok(part)
}

/// A mean number of evaluations: tenths matter where there are few.
fn evaluations(value: f64) -> String {
    if value < 100.0 { format!("{value:.1}") } else { words::whole(value) }
}

/// The rows of a curriculum, grouped by transition.
fn lines(
    curriculum: &str,
    method: Method,
    means: &Means,
    rows: &mut Vec<ComparisonRow>,
) -> Vec<Vec<Vec<Cell>>> {
    let tallies: Vec<(EditProposal, Vec<Tally>)> = proposals(curriculum)
        .iter()
        .filter_map(|&proposing| {
            let sweep = means.runs.sweep(curriculum, method, Setting::Proposed(proposing))?;
            Some((proposing, tallies(sweep)))
        })
        .collect();
    let count = tallies.iter().map(|(_, tallies)| tallies.len()).min().unwrap_or(0);
    let mut groups = Vec::new();
    for number in 0..count {
        let mut lines = Vec::new();
        for (proposing, tallies) in &tallies {
            let tally = &tallies[number];
            let firsts = Spread::of(tally.firsts());
            lines.push(vec![
                curriculum.into(),
                tally.transition.as_str().into(),
                proposing.name().into(),
                words::rate(Some(tally.found())),
                words::mean_as(firsts, evaluations),
                words::mean(tally.spread(Quantity::Evaluations)),
            ]);
            let what = format!("{curriculum} · {} · {}", tally.transition, method.name());
            rows.push(ComparisonRow::rate(&*what, proposing.name(), None, tally.found()));
            let quantity = "evaluations to the target";
            rows.push(ComparisonRow::mean(what, quantity, proposing.name(), None, firsts));
        }
        groups.push(lines);
    }
    groups
}

/// How well policies without a curriculum predict its edits.
fn held_out(policy: &LearnedPolicy) -> Table {
    let row = |held_out: &HeldOutLikelihood| {
        let probability = |log: f64| Cell::number(log.exp(), format!("{:.3}", log.exp()));
        vec![
            held_out.curriculum.as_str().into(),
            Cell::number(held_out.lessons as f64, held_out.lessons.to_string()),
            probability(held_out.log_likelihood),
            probability(held_out.uniform),
        ]
    };
    let numbers = ["lessons left", "learned", "uniform"].map(Column::numbers);
    Table {
        name: "table-learned-held-out".into(),
        title: "Edits predicted by a policy that has not seen the curriculum".into(),
        caption: "The geometric mean of the probability with which an edit that led to a target is proposed, by a policy \
                  without the curriculum and without the lessons that found one of its targets."
            .into(),
        columns: [Column::words("left out")].into_iter().chain(numbers).collect(),
        groups: vec![policy.training.held_out.iter().map(row).collect()],
        notes: vec![],
    }
}

//! Success by transition: every stage starts from the previous target, so that transitions are independent.

use super::ask::builtin;
use super::ask::{Ask, Scope, Setting};
use super::item::{ComparisonRow, Means, ReproducedItem};
use super::paper::{EDGES, EfficiencyRow, METHODS, TARGETS, TRANSITIONS};
use crate::experiment::ExperimentError;
use crate::experiment::words;
use crate::record::Quantity;
use crate::report::{Block, Column, Table};
use crate::search::Method;

/// The sweeps it needs.
pub fn asks(scope: Scope) -> Vec<Ask> {
    let ask = |target: &EfficiencyRow| {
        METHODS.map(|(method, _)| Ask::new(target.curriculum, method, Setting::Transitions, scope.seeds))
    };
    TARGETS.iter().flat_map(ask).collect()
}

/// The paper's number for a transition, if reported.
fn paper(target: &EfficiencyRow, stage: &str, place: usize) -> Option<f64> {
    let known = TRANSITIONS.iter().find(|row| (row.curriculum, row.stage) == (target.curriculum, stage));
    let edge = EDGES.iter().find(|edge| edge.stage == stage && METHODS[place].0 == Method::McgsUcd);
    known.map(|row| row.costs[place].found).or(edge.map(|edge| edge.found))
}

/// The table.
pub fn make(means: &Means) -> Result<ReproducedItem, ExperimentError> {
    let mut part = ReproducedItem::default();
    let mut groups = Vec::new();
    for target in &TARGETS {
        let read = builtin(format!("paper/{}", target.curriculum))?;
        let mut from = "∅";
        let mut lines = Vec::new();
        for (stage, _) in &read.stages {
            let subject = format!("{}: {from} → {}", target.title, stage.name);
            from = &stage.name;
            for (place, (method, _)) in METHODS.into_iter().enumerate() {
                let tally = means.runs.stage(target.curriculum, &stage.name, method, Setting::Transitions);
                let Some(tally) = tally else { continue };
                let theirs = paper(target, &stage.name, place);
                lines.push(vec![
                    subject.as_str().into(),
                    method.name().into(),
                    theirs.map_or_else(words::nothing, words::percent),
                    words::rate(Some(tally.found())),
                    words::median(tally.spread(Quantity::Playouts)),
                    words::mean(tally.spread(Quantity::Evaluations)),
                ]);
                let what = format!("{subject} · {}", method.name());
                part.rows.push(ComparisonRow::rate(what, Setting::Transitions.name(), theirs, tally.found()));
            }
        }
        groups.push(lines);
    }
    let names = ["transition", "method"].map(Column::words);
    let numbers =
        ["paper: found", "ours: found (95 % interval)", "playouts, median (quartiles)", "evaluations"]
            .map(Column::numbers);
    part.add(Block::Table(Table {
        name: "table-transitions".into(),
        title: "Success by transition".into(),
        caption: "The `paper/…` curricula, with every stage started from the target of the previous one, found or \
                  not, which is how we read the paper's \u{201c}20 runs per transition\u{201d}. One exploration \
                  constant for all methods, idempotent back-up; a decision also ends when everything below it has \
                  been measured."
            .into(),
        columns: names.into_iter().chain(numbers).collect(),
        groups,
        notes: vec![
            "The paper has no rows for the stages of Newton Sketch, which it completes in 100 % of runs. The \
             fixed-Hessian stage is ours: the paper goes directly from gradient descent to Newton's method, which \
             the item `newton` tests."
                .into(),
        ],
    }));
    Ok(part)
}

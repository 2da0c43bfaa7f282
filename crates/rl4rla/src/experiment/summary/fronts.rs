//! The Pareto front of a stage in accuracy, work and stability.

use super::Again;
use super::past::Past;
use crate::record::{FrontEntry, StageRecord};
use crate::report::number;
use crate::report::{Axis, Block, Cell, Column, Figure, Ink, Label, Marker, Panel, Series, Table};

/// The Pareto front of a run's last stage, as a figure and a table.
pub fn front(step: &StageRecord, past: &Past, again: Again) -> Vec<Block> {
    // One series per program, so that each has its number beside it.
    let dots = step.front.iter().map(|FrontEntry { place, tradeoff, .. }| {
        let point = [tradeoff.flops, tradeoff.excess.max(1e-16)];
        Series::new(format!("#{place}"), Ink(0), Marker::Dots, [point]).labelled(Label::Beside)
    });
    let figure = Figure {
        name: format!("front-{}", past.row.id),
        title: "Accuracy against work.".into(),
        caption: format!(
            "Pareto front of the programs evaluated in stage {}: none is dominated in accuracy, work and stability; \
             medians over the select instances. `{}` shows one.",
            step.name,
            again(&format!("show run:{}#K", past.row.id))
        ),
        panels: vec![Panel {
            title: String::new(),
            x: Axis::log("flops per run"),
            y: Axis::log("final excess"),
            series: dots.collect(),
        }],
        columns: 1,
    };
    let row = |entry: &FrontEntry| {
        let value = |value: f64| Cell::number(value, number(value));
        let words = entry.name.as_deref().or(entry.equation.as_deref()).unwrap_or_default();
        vec![
            Cell::from(format!("#{}", entry.place)),
            Cell::from(words),
            value(entry.tradeoff.excess),
            value(entry.tradeoff.flops),
            value(entry.tradeoff.condition),
            value(entry.reward),
        ]
    };
    let words = ["", "program"].map(Column::words);
    let numbers = ["excess", "flops", "effective κ", "reward"].map(Column::numbers);
    let table = Table {
        name: format!("front-table-{}", past.row.id),
        title: "The same programs.".into(),
        caption:
            "Effective κ is the condition number that determines convergence: 1 for a perfect preconditioner."
                .into(),
        columns: [&words[..], &numbers[..]].concat(),
        groups: vec![step.front.iter().map(row).collect()],
        notes: vec![],
    };
    vec![Block::Figure(figure), Block::Table(table)]
}

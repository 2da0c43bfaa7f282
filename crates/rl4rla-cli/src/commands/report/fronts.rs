//! The front of a stage: programs that none beats in accuracy, work and stability at once.

use super::past::{Past, Step};
use crate::args::Shared;
use crate::page::number;
use rl4rla::report::{Axis, Block, Cell, Column, Figure, Ink, Label, Mark, Panel, Series, Table};
use serde_json::Value;

/// The front of a run's last stage, as a figure and as a table.
pub fn front(step: &Step, past: &Past, shared: &Shared) -> Vec<Block> {
    let of = |offer: &Value, key: &str| offer[key].as_f64().unwrap_or(f64::NAN);
    let point = |offer: &Value| [of(offer, "flops"), of(offer, "excess").max(1e-16)];
    // A series for each, so that each has its place beside it.
    let dots = step.front.iter().map(|offer| {
        let name = format!("#{}", offer["place"]);
        Series::new(name, Ink(0), Mark::Dots, [point(offer)]).labelled(Label::Beside)
    });
    let figure = Figure {
        name: format!("front-{}", past.row.id),
        title: "Accuracy against work.".into(),
        caption: format!(
            "Pareto front of the programs evaluated in stage {}: none is dominated in accuracy, work and stability; \
             medians over the select instances. `{}` shows one.",
            step.name,
            shared.again(&format!("show run:{}#K", past.row.id))
        ),
        panels: vec![Panel {
            title: String::new(),
            x: Axis::log("flops per run"),
            y: Axis::log("final excess"),
            series: dots.collect(),
        }],
        columns: 1,
    };
    let row = |offer: &Value| {
        let value = |key: &str| Cell::number(of(offer, key), number(of(offer, key)));
        let words = offer["name"].as_str().or(offer["equation"].as_str()).unwrap_or_default();
        vec![
            Cell::from(format!("#{}", offer["place"])),
            Cell::from(words),
            value("excess"),
            value("flops"),
            value("condition"),
            value("reward"),
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

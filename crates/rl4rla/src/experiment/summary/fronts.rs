//! The front of a stage: programs that none beats in accuracy, work and stability at once.

use super::Again;
use super::past::{Past, Step};
use crate::report::number;
use crate::report::{Axis, Block, Cell, Column, Figure, Ink, Label, Mark, Panel, Series, Table};
use serde_json::Value;

/// The front of a run's last stage, as a figure and as a table.
pub fn front(step: &Step, past: &Past, again: Again) -> Vec<Block> {
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
            "Programs that the search of stage {} evaluated and that none beats in accuracy, work and stability at once; \
             medians over the select instances. `{}` shows one.",
            step.name,
            again(&format!("show run:{}#K", past.row.id))
        ),
        panels: vec![Panel {
            title: String::new(),
            x: Axis::log("flops of a run"),
            y: Axis::log("excess at the end"),
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
    let numbers = ["excess", "flops", "κ seen", "reward"].map(Column::numbers);
    let table = Table {
        name: format!("front-table-{}", past.row.id),
        title: "The same programs.".into(),
        caption: "κ seen is the condition number that convergence sees: 1 for a perfect preconditioner."
            .into(),
        columns: [&words[..], &numbers[..]].concat(),
        groups: vec![step.front.iter().map(row).collect()],
        notes: vec![],
    };
    vec![Block::Figure(figure), Block::Table(table)]
}

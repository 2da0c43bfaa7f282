//! Program searches at equal evaluation budgets: random search, evolution, islands, and ours.

use super::ask::{Ask, Scope, Setting};
use super::item::{ComparisonRow, Means, ReproducedItem};
use super::way::ink;
use crate::experiment::ExperimentError;
use crate::experiment::label;
use crate::experiment::words;
use crate::report::{Axis, Block, Cell, Column, Figure, Marker, Panel, Series, Table};
use crate::search::Method;

const WAYS: [Method; 5] = [Method::Random, Method::Evolution, Method::Islands, Method::McgsUcd, Method::Best];
const CURRICULA: [&str; 2] = ["sketched-precond-gd", "block-kaczmarz"];

/// Evaluation budgets per stage.
fn budgets(scope: Scope) -> &'static [u64] {
    if scope.quick { &[100, 1_000] } else { &[100, 300, 1_000, 3_000] }
}

/// The sweeps it needs.
pub fn asks(scope: Scope) -> Vec<Ask> {
    let mut asks = Vec::new();
    for curriculum in CURRICULA {
        for &budget in budgets(scope) {
            asks.extend(
                WAYS.map(|method| Ask::new(curriculum, method, Setting::Capped(budget), scope.seeds)),
            );
        }
    }
    asks
}

/// The table and the figure.
pub fn make(means: &Means) -> Result<ReproducedItem, ExperimentError> {
    let mut part = ReproducedItem::default();
    let (mut groups, mut panels) = (Vec::new(), Vec::new());
    for curriculum in CURRICULA {
        let (mut lines, mut series) = (Vec::new(), Vec::new());
        for method in WAYS {
            // The limit is given in the column heading or at the axis.
            let name = label::label(method.name(), [Setting::Repaired.name(), "capped"]);
            let mut cells: Vec<Cell> = vec![curriculum.into(), name.as_str().into()];
            let mut points = Vec::new();
            for &budget in budgets(means.scope) {
                let tally = means.runs.total(curriculum, method, Setting::Capped(budget));
                let found = tally.map(|tally| tally.found());
                cells.push(words::rate(found));
                if let Some(found) = found {
                    points.push([budget as f64, found.share()]);
                    let what = format!("{curriculum} · {} · {budget} evaluations a stage", method.name());
                    part.rows.push(ComparisonRow::rate(what, "capped", None, found));
                }
            }
            lines.push(cells);
            series.push(Series::new(name, ink(method), Marker::Line, points));
        }
        groups.push(lines);
        panels.push(Panel {
            title: curriculum.into(),
            x: Axis::log("evaluations allowed for each stage"),
            y: Axis::linear("share of runs that found the target").within(0.0, 1.0),
            series,
        });
    }
    let caps = budgets(means.scope).iter().map(|&budget| Column::numbers(label::evaluations(budget)));
    part.add(Block::Table(Table {
        name: "table-searches".into(),
        title: "Program searches at equal budgets".into(),
        caption: "End-to-end success with the same number of evaluations allowed for every stage, on the repaired \
                  curricula. An evaluation is one program on one instance; repeated programs are free, and the final \
                  measurement of the five best comes on top. `evolution` is regularized evolution as in AutoML-Zero, \
                  `islands` is FunSearch's island model with a grammar mutator instead of a language model."
            .into(),
        columns: ["curriculum", "method"].map(Column::words).into_iter().chain(caps).collect(),
        groups,
        notes: vec!["The paper compares with the solvers that FunSearch and AlgoTune found, not with their searches.".into()],
    }));
    part.add(Block::Figure(Figure {
        name: "figure-searches".into(),
        title: "Program searches at equal budgets".into(),
        caption: "The same as curves.".into(),
        panels,
        columns: 2,
    }));
    Ok(part)
}

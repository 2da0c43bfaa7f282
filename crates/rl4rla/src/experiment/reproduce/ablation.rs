//! The ablation of Newton Sketch: what happens when stages are left out.

use super::ask::{Ask, Scope, Setting};
use super::item::{ComparisonRow, Means, ReproducedItem};
use super::paper::ABLATION;
use super::way::label;
use crate::experiment::ExperimentError;
use crate::experiment::words;
use crate::record::Quantity;
use crate::report::{Block, Column, Table};
use crate::search::Method;

const WAYS: [Method; 2] = [Method::McgsUcd, Method::Best];
const FULL: &str = "paper/newton-sketch";

/// Limits of every run: a little more than the full curriculum needs.
fn setting(curriculum: &str, method: Method, scope: Scope) -> Setting {
    let (evaluations, playouts) = if method == Method::Best { (15_000, 120_000) } else { (4_000, 120_000) };
    let part = if scope.quick { 2 } else { 1 };
    // Otherwise no playouts would be left for its last stage, because the search for Newton's method uses all it can
    // get.
    let own = curriculum == FULL;
    Setting::Equal { evaluations: evaluations / part, playouts, own }
}

/// The sweeps it needs.
pub fn asks(scope: Scope) -> Vec<Ask> {
    let ask = |(curriculum, _, _): &(&str, &str, Option<f64>)| {
        WAYS.map(|method| Ask::new(curriculum, method, setting(curriculum, method, scope), scope.fewer()))
    };
    ABLATION.iter().flat_map(ask).collect()
}

/// The table.
pub fn make(means: &Means) -> Result<ReproducedItem, ExperimentError> {
    let mut part = ReproducedItem::default();
    let mut groups = Vec::new();
    for (curriculum, title, paper) in ABLATION {
        let mut lines = Vec::new();
        for method in WAYS {
            let setting = setting(curriculum, method, means.scope);
            let Some(tally) = means.runs.total(curriculum, method, setting) else { continue };
            let theirs = paper.filter(|_| method == Method::McgsUcd);
            lines.push(vec![
                title.into(),
                label(method, setting).into(),
                theirs.map_or_else(words::nothing, words::percent),
                words::rate(Some(tally.found())),
                words::mean(tally.spread(Quantity::Playouts)),
                words::mean(tally.spread(Quantity::Evaluations)),
            ]);
            let what = format!("{title} · {}", method.name());
            part.rows.push(ComparisonRow::rate(what, setting.name(), theirs, tally.found()));
        }
        groups.push(lines);
    }
    let words = ["curriculum", "method"].map(Column::words);
    let numbers =
        ["paper: found", "ours: found (95 % interval)", "playouts", "evaluations"].map(Column::numbers);
    part.add(Block::Table(Table {
        name: "table-ablation".into(),
        title: "Is the curriculum needed for Newton Sketch?".into(),
        caption: "Success with stages left out, by the paper's search and by ours. All curricula have the operators, \
                  instances, exploration constant and rewards of `paper/newton-sketch`, and every run has the same \
                  total budget: a stage may spend what earlier stages left over, and in the curriculum with an extra \
                  stage at most 100,000 playouts. Half the seeds of the page."
            .into(),
        columns: words.into_iter().chain(numbers).collect(),
        groups,
        notes: vec![
            "A search that finds nothing within its budget proves nothing about larger ones.".into(),
            "The full curriculum has one stage more than the paper's, the fixed Hessian; the row with four stages is \
             the paper's curriculum, with the same budget."
                .into(),
            "On linear systems no curriculum is needed: `rl4rla discover free/qr-sketched --method exhaustive --merge \
             fingerprint` enumerates every program of eight instructions in half a minute and finds sketched \
             preconditioning from the empty program."
                .into(),
        ],
    }));
    Ok(part)
}

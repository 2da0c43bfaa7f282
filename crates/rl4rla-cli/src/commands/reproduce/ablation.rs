//! The ablation of Newton Sketch: what happens when stages are left out.

use super::ask::{Ask, Scope, Setting};
use super::item::{Means, Part, Row};
use super::paper::ABLATION;
use super::way::label;
use crate::failure::Failure;
use crate::words;
use rl4rla::report::{Block, Column, Table};
use rl4rla::search::Method;

const WAYS: [Method; 2] = [Method::McgsUcd, Method::Best];
const FULL: &str = "newton-sketch";

/// What every stage of a partial curriculum may spend: about half of what the method spends on all stages of the full
/// one.
fn most(method: Method, scope: Scope) -> u64 {
    let most = if method == Method::Best { 10_000 } else { 3_000 };
    if scope.quick { most / 5 } else { most }
}

fn setting(curriculum: &str, method: Method, scope: Scope) -> Setting {
    if curriculum == FULL { Setting::Repaired } else { Setting::Capped(most(method, scope)) }
}

/// The campaigns behind it.
pub fn asks(scope: Scope) -> Vec<Ask> {
    let mut asks = Vec::new();
    for (curriculum, ..) in ABLATION {
        for method in WAYS {
            // Leaving stages out costs most of all: twenty seeds tell enough.
            let seeds = if curriculum == FULL { scope.seeds_of(method) } else { scope.seeds };
            asks.push(Ask::new(curriculum, method, setting(curriculum, method, scope), seeds));
        }
    }
    asks
}

/// The table.
pub fn make(means: &Means) -> Result<Part, Failure> {
    let mut part = Part::default();
    let mut groups = Vec::new();
    for (curriculum, title, paper) in ABLATION {
        let mut lines = Vec::new();
        for method in WAYS {
            let setting = setting(curriculum, method, means.scope);
            let Some(tally) = means.runs.total(curriculum, method, setting) else { continue };
            let theirs = (method == Method::McgsUcd).then_some(paper);
            lines.push(vec![
                title.into(),
                label(method, setting).into(),
                theirs.map_or_else(words::nothing, words::percent),
                words::rate(Some(tally.found())),
                words::mean(tally.spread("playouts")),
                words::mean(tally.spread("evaluations")),
            ]);
            let what = format!("{title} · {}", method.name());
            part.rows.push(Row::rate(what, setting.name(), theirs, tally.found()));
        }
        groups.push(lines);
    }
    let words = ["curriculum", "method"].map(Column::words);
    let numbers =
        ["paper: found", "ours: found (95 % interval)", "playouts", "evaluations"].map(Column::numbers);
    part.add(Block::Table(Table {
        name: "table-ablation".into(),
        title: "Is the curriculum needed for Newton Sketch?".into(),
        caption: format!(
            "Success with stages left out. A stage of a partial curriculum may spend {} evaluations with `best` and {} with \
             `mcgs-ucd`, which is less than the full curriculum takes them in all; that one is as it is.",
            words::whole(most(Method::Best, means.scope) as f64),
            words::whole(most(Method::McgsUcd, means.scope) as f64)
        ),
        columns: words.into_iter().chain(numbers).collect(),
        groups,
        notes: vec![
            "A search that finds nothing within its budget proves nothing about larger ones.".into(),
            "On linear systems the curriculum is not needed: `rl4rla discover free/qr-sketched --method exhaustive \
             --merge fingerprint` enumerates every program of eight instructions in half a minute and finds sketched \
             preconditioning from nothing."
                .into(),
        ],
    }));
    Ok(part)
}

//! The runs: settings and status.

use super::Again;
use super::counted;
use super::past::{Past, RunGroup};
use crate::record::Quantity;
use crate::report::duration;
use crate::report::{Block, Cell, Column, Table};
use crate::store::utc;
use serde_json::Value;

/// Maximum number of runs listed.
const LISTED: usize = 200;

/// The settings of each group, and the runs.
pub fn runs(groups: &[RunGroup], again: Again) -> Vec<Block> {
    let mut all: Vec<(&RunGroup, &Past)> =
        groups.iter().flat_map(|group| group.runs.iter().map(move |past| (group, past))).collect();
    // The newest first.
    all.sort_by_key(|(_, past)| {
        (std::cmp::Reverse(past.row.created), past.row.curriculum.as_str(), past.row.seed)
    });
    let count = all.len();
    let title = match count > LISTED {
        true => format!("The last {LISTED} of {count} runs"),
        false => counted(count, "run"),
    };
    all.truncate(LISTED);
    vec![
        Block::Table(settings(groups)),
        Block::Folded(title, vec![Block::Table(listed(&all))]),
        Block::Text(format!(
            "`rl4rla discover` with the same curriculum, method, seed, settings and version repeats a run bit for \
             bit; `{}` prints it again.",
            again("resume RUN")
        )),
    ]
}

fn settings(groups: &[RunGroup]) -> Table {
    let row = |group: &RunGroup| {
        let first = &group.runs[0];
        let seeds: Vec<u64> = group.runs.iter().map(|past| past.row.seed).collect();
        let (low, high) =
            (seeds.iter().min().copied().unwrap_or(0), seeds.iter().max().copied().unwrap_or(0));
        let seeds = if low == high { low.to_string() } else { format!("{low} to {high}") };
        let changed = changed(&first.settings);
        vec![
            Cell::from(group.curriculum.as_str()),
            Cell::from(group.method.as_str()),
            Cell::number(group.runs.len() as f64, group.runs.len().to_string()),
            Cell::from(seeds),
            Cell::from(if changed.is_empty() { "default".into() } else { changed }),
            Cell::from(first.build.to_string()),
        ]
    };
    Table {
        name: "settings".into(),
        title: "Settings.".into(),
        caption: "Settings of the runs, and the version that made them.".into(),
        columns: vec![
            Column::words("curriculum"),
            Column::words("method"),
            Column::numbers("runs"),
            Column::numbers("seeds"),
            Column::words("settings"),
            Column::words("version"),
        ],
        groups: groups
            .chunk_by(|a, b| a.curriculum == b.curriculum)
            .map(|g| g.iter().map(row).collect())
            .collect(),
        notes: vec![],
    }
}

/// The settings that are neither left to the curriculum nor off.
fn changed(settings: &str) -> String {
    let Ok(settings) = serde_json::from_str::<Value>(settings) else { return "not readable".into() };
    let approach = settings["approach"].as_object().into_iter().flatten();
    let told = approach.filter(|(key, value)| *key != "method" && !value.is_null() && **value != false);
    let mut words: Vec<String> = told.map(|(key, value)| format!("{key} {value}").replace('"', "")).collect();
    if settings["hints"] == false {
        words.push("no hints".into());
    }
    if let Some(model) = settings["proposer"]["model"].as_str() {
        words.push(format!("proposed by {model}"));
    }
    words.join(", ")
}

fn listed(runs: &[(&RunGroup, &Past)]) -> Table {
    let number = |value: f64| Cell::number(value, format!("{value:.0}"));
    let row = |(group, past): &(&RunGroup, &Past)| {
        vec![
            Cell::from(past.row.id.as_str()),
            Cell::from(group.curriculum.as_str()),
            Cell::from(group.method.as_str()),
            Cell::from(past.row.seed.to_string()),
            Cell::from(past.standing()),
            number(past.steps.len() as f64),
            number(past.total(Quantity::Playouts)),
            number(past.total(Quantity::Evaluations)),
            Cell::number(past.total(Quantity::Seconds), duration(past.total(Quantity::Seconds))),
            Cell::from(utc(past.row.created)),
        ]
    };
    let words = ["run", "curriculum", "method"].map(Column::words);
    let rest = ["stages", "playouts", "evaluations", "time"].map(Column::numbers);
    Table {
        name: "runs".into(),
        title: "Runs.".into(),
        caption: "The newest first.".into(),
        columns: words
            .into_iter()
            .chain([Column::numbers("seed"), Column::words("status")])
            .chain(rest)
            .chain([Column::words("begun")])
            .collect(),
        groups: vec![runs.iter().map(row).collect()],
        notes: vec![],
    }
}

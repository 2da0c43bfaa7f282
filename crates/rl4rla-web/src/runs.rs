//! The list of runs: filtered, sorted, and a part of it.

use crate::board::told;
use crate::error::ApiError;
use crate::state::ServerState;
use axum::Json;
use axum::extract::{Query, State};
use rl4rla::store::RunRow;
use serde::Deserialize;
use serde_json::{Value, json};
use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Most runs of an answer.
const MOST: usize = 200;

/// Which runs, and in which order.
#[derive(Deserialize, Default)]
#[serde(default)]
pub struct WantedRuns {
    offset: usize,
    limit: Option<usize>,
    sort: Option<String>,
    order: Option<String>,
    status: Option<String>,
    curriculum: Option<String>,
    method: Option<String>,
    tag: Option<String>,
    text: Option<String>,
    deleted: Option<String>,
}

/// A way to sort runs.
struct Sorting {
    name: &'static str,
    compare: fn(&RunRow, &RunRow) -> Ordering,
}

/// All ways to sort runs; the first is the usual one.
const SORTINGS: [Sorting; 7] = [
    Sorting { name: "created", compare: |a, b| a.created.cmp(&b.created) },
    Sorting { name: "curriculum", compare: |a, b| a.curriculum.cmp(&b.curriculum) },
    Sorting { name: "method", compare: |a, b| a.method.cmp(&b.method) },
    Sorting { name: "seed", compare: |a, b| a.seed.cmp(&b.seed) },
    Sorting { name: "seconds", compare: |a, b| a.seconds.total_cmp(&b.seconds) },
    Sorting { name: "evaluations", compare: |a, b| a.evaluations.cmp(&b.evaluations) },
    Sorting { name: "status", compare: |a, b| a.status.name().cmp(b.status.name()) },
];

impl WantedRuns {
    fn takes(&self, row: &RunRow) -> bool {
        let fits = |wanted: &Option<String>, value: &str| {
            wanted.as_deref().is_none_or(|wanted| wanted.is_empty() || wanted == value)
        };
        let word = self.text.as_deref().unwrap_or_default().trim().to_lowercase();
        let told = |text: &str| text.to_lowercase().contains(&word);
        row.deleted == self.deleted.as_deref().is_some_and(|deleted| deleted == "1")
            && fits(&self.status, row.status.name())
            && fits(&self.curriculum, &row.curriculum)
            && fits(&self.method, &row.method)
            && self.tag.as_deref().is_none_or(|tag| tag.is_empty() || row.tags.iter().any(|own| own == tag))
            && (word.is_empty()
                || told(row.id.as_str())
                || told(&row.curriculum)
                || told(&row.method)
                || told(&row.note)
                || row.tags.iter().any(|tag| told(tag)))
    }
}

/// A part of the list, and what there is to choose from.
pub async fn list(
    State(shared): State<Arc<ServerState>>,
    Query(wanted): Query<WantedRuns>,
) -> Result<Json<Value>, ApiError> {
    let sort = wanted.sort.as_deref().unwrap_or(SORTINGS[0].name);
    let Some(sorting) = SORTINGS.iter().find(|sorting| sorting.name == sort) else {
        let names: Vec<&str> = SORTINGS.iter().map(|sorting| sorting.name).collect();
        return Err(ApiError::bad(format!("runs are not sorted by `{sort}`")).advise(names.join(", ")));
    };
    let board = shared.board();
    let mut matching: Vec<&RunRow> = board.rows().filter(|row| wanted.takes(row)).collect();
    // Equal ones in the order in which they began, then by id, so that pages do not overlap.
    let compare = |a: &RunRow, b: &RunRow| {
        (sorting.compare)(a, b).then(a.created.cmp(&b.created)).then(a.id.as_str().cmp(b.id.as_str()))
    };
    let ascending = wanted.order.as_deref() == Some("asc");
    matching.sort_by(|a, b| if ascending { compare(a, b) } else { compare(b, a) });
    let limit = wanted.limit.unwrap_or(100).min(MOST);
    let items: Vec<Value> = matching
        .iter()
        .skip(wanted.offset)
        .take(limit)
        .map(|row| told(row, shared.jobs.works_on(row.id.as_str())))
        .collect();
    let every = |of: fn(&RunRow) -> &str| board.rows().map(of).collect::<BTreeSet<&str>>();
    let tags: BTreeSet<&String> = board.rows().flat_map(|row| &row.tags).collect();
    Ok(Json(json!({
        "total": board.rows().filter(|row| !row.deleted).count(),
        "matching": matching.len(),
        "items": items,
        "curricula": every(|row| &row.curriculum),
        "methods": every(|row| &row.method),
        "tags": tags,
    })))
}

//! What there is: curricula, methods, families, operators, programs, and the keys of curricula.

use crate::error::ApiError;
use crate::state::ServerState;
use axum::Json;
use axum::extract::State;
use rl4rla::curriculum::{BUILTIN, FAMILY_KEYS, TOP_KEYS};
use serde_json::{Value, json};
use std::sync::Arc;
use tokio::sync::OnceCell;

/// What the command lists; it does not change while the server runs.
#[derive(Default)]
pub struct Lists(OnceCell<Value>);

/// The document that explains the keys of curricula.
const KEYS: &str = include_str!("../assets/curricula.md");

/// All lists.
pub async fn all(State(shared): State<Arc<ServerState>>) -> Result<Json<Value>, ApiError> {
    Ok(Json(shared.lists.0.get_or_try_init(|| made(&shared)).await?.clone()))
}

async fn made(shared: &ServerState) -> Result<Value, ApiError> {
    let mut lists = json!({ "keys": keys() });
    for what in ["curricula", "methods", "families", "operators", "programs"] {
        let mut items = shared.commands.ask(&["list", what], &[]).await?["items"].take();
        for item in items.as_array_mut().into_iter().flatten() {
            let about = [&item["about"], &item["doc"], &item["title"]].into_iter().find_map(Value::as_str);
            item["about"] = json!(about.unwrap_or_default());
            if let Some((_, text)) =
                BUILTIN.iter().find(|(name, _)| what == "curricula" && item["name"] == *name)
            {
                item["text"] = json!(text);
            }
        }
        lists[what] = items;
    }
    Ok(lists)
}

/// The keys of a stage with what they mean, from the table of the document.
fn keys() -> Vec<Value> {
    let rows = KEYS.lines().filter_map(|line| {
        let mut cells = line.strip_prefix('|')?.split(" | ").map(|cell| cell.trim().trim_matches('|').trim());
        let (names, usual, about) = (cells.next()?, cells.next()?, cells.collect::<Vec<_>>().join(" | "));
        names.starts_with('`').then_some((names, usual, about))
    });
    let row = |(names, usual, about): (&str, &str, String)| {
        let plain = |name: &str| name.trim().trim_matches('`').to_string();
        let about = about.trim_end_matches('|').trim().to_string();
        let (usual, about) = (usual.to_string(), about);
        names
            .split(',')
            .map(|name| json!({ "key": plain(name), "where": "stage", "about": about, "usual": usual, "values": [] }))
            .collect::<Vec<Value>>()
    };
    let others = [("file", &TOP_KEYS[..]), ("family", &FAMILY_KEYS[..])];
    let other = |(place, keys): (&str, &[&str])| -> Vec<Value> {
        keys.iter().map(|key| json!({ "key": key, "where": place, "about": "", "values": [] })).collect()
    };
    rows.flat_map(row).chain(others.into_iter().flat_map(other)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_come_from_the_document() {
        let keys = keys();
        let named = |name: &str| keys.iter().find(|key| key["key"] == name);
        for name in ["edits", "open", "family", "sketch-factor", "target"] {
            assert!(
                named(name).is_some_and(|key| key["about"].as_str().is_some_and(|about| about.len() > 5)),
                "{name}"
            );
        }
    }
}

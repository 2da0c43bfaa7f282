//! The files of the page, which are part of the program.

use axum::extract::{Path, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, IF_NONE_MATCH};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use std::sync::Arc;

use crate::error::ApiError;
use crate::state::ServerState;

/// A file of the page.
struct Asset {
    name: &'static str,
    kind: &'static str,
    text: &'static str,
}

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";

/// One row a file, by its name in `assets`.
macro_rules! assets {
    ($($name:literal: $kind:ident),* $(,)?) => {
        &[$(Asset { name: $name, kind: $kind, text: include_str!(concat!("../assets/", $name)) }),*]
    };
}

const ASSETS: &[Asset] = assets! {
    "index.html": HTML,
    "live.css": CSS,
    "analysis.js": SCRIPT,
    "api.js": SCRIPT,
    "app.js": SCRIPT,
    "campaign-bar.js": SCRIPT,
    "campaigns.js": SCRIPT,
    "charts.js": SCRIPT,
    "compare.js": SCRIPT,
    "completion.js": SCRIPT,
    "dom.js": SCRIPT,
    "editor.js": SCRIPT,
    "equation.js": SCRIPT,
    "gestures.js": SCRIPT,
    "graph-canvas.js": SCRIPT,
    "graph-layout.js": SCRIPT,
    "graph.js": SCRIPT,
    "map.js": SCRIPT,
    "marks.js": SCRIPT,
    "program.js": SCRIPT,
    "progress.js": SCRIPT,
    "results.js": SCRIPT,
    "run.js": SCRIPT,
    "runs.js": SCRIPT,
    "start.js": SCRIPT,
    "watch.js": SCRIPT,
    "words.js": SCRIPT,
};

/// The first page.
pub async fn index(headers: HeaderMap) -> Response {
    answer(&ASSETS[0], &headers)
}

/// A file by its name.
pub async fn file(
    Path(name): Path<String>,
    State(shared): State<Arc<ServerState>>,
    headers: HeaderMap,
) -> Response {
    if name == "style.css" {
        return tagged(CSS, &shared.style, &headers);
    }
    match ASSETS.iter().find(|asset| asset.name == name) {
        Some(asset) => answer(asset, &headers),
        None => ApiError::missing("there is no such file").into_response(),
    }
}

fn answer(asset: &Asset, headers: &HeaderMap) -> Response {
    tagged(asset.kind, asset.text, headers)
}

/// A text that browsers keep, and ask for again only whether it has changed.
fn tagged(kind: &'static str, text: &str, headers: &HeaderMap) -> Response {
    let tag = format!("\"{}-{:x}\"", rl4rla::VERSION, digest(text));
    let fixed = [(CONTENT_TYPE, kind.to_string()), (CACHE_CONTROL, "no-cache".into()), (ETAG, tag.clone())];
    match headers.get(IF_NONE_MATCH).is_some_and(|known| known.as_bytes() == tag.as_bytes()) {
        true => (StatusCode::NOT_MODIFIED, fixed).into_response(),
        false => (fixed, text.to_string()).into_response(),
    }
}

/// FNV-1a: a digest against mistakes, not against forgery.
fn digest(text: &str) -> u64 {
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_asks_for_nothing_from_elsewhere_and_puts_in_no_markup() {
        for asset in ASSETS {
            for word in [
                "http://",
                "https://",
                "innerHTML",
                "outerHTML",
                "insertAdjacentHTML",
                "document.write",
                "eval(",
            ] {
                let allowed = asset.text.matches("http://www.w3.org/").count();
                let found = asset.text.matches(word).count();
                assert!(found == 0 || word == "http://" && found == allowed, "{word} in {}", asset.name);
            }
        }
        assert_eq!(ASSETS[0].name, "index.html");
        for inline in [" style=", " onclick=", "<style", "javascript:"] {
            assert!(!ASSETS[0].text.contains(inline), "{inline}");
        }
    }
}

//! The winner map: which program takes the least time for which problems.

use crate::error::ApiError;
use axum::Json;
use rl4rla::experiment::winner_map::{Contender, RankedContender, Rates, WinnerMap};
use serde_json::{Value, json};
use std::sync::OnceLock;

/// Programs told of each cell.
const TOLD: usize = 4;

/// The winners of all cells, at the speeds of a usual machine.
pub async fn winners() -> Result<Json<&'static Value>, ApiError> {
    static MAP: OnceLock<Value> = OnceLock::new();
    let map = tokio::task::spawn_blocking(|| MAP.get_or_init(made)).await;
    Ok(Json(map.map_err(|_| ApiError::inside("the map cannot be made"))?))
}

fn made() -> Value {
    let (map, contenders) = (WinnerMap::shipped(), Contender::all());
    let grid = &map.grid;
    let axis = |name: &str, values: Value| json!({ "name": name, "values": values });
    let leverages: Vec<&str> = grid.leverages.iter().map(|leverage| leverage.name()).collect();
    let mut cells = Vec::new();
    for cell in &map.cells {
        let class = cell.class;
        let place = |values: &[f64], value: f64| values.iter().position(|known| *known == value);
        let at = [
            place(&grid.kappas, class.kappa),
            place(&grid.tolerances, cell.tolerance),
            grid.leverages.iter().position(|known| *known == class.leverage),
            place(&grid.outsides, class.outside),
        ];
        for (ratio, rows) in grid.ratios.iter().enumerate() {
            for (width, cols) in grid.cols.iter().enumerate() {
                let ranking = cell.answer(&contenders, rows * cols, *cols, Rates::USUAL.price()).ranking;
                if let Some(first) = ranking.first() {
                    let [kappa, tolerance, leverage, outside] = at;
                    let at = [kappa, Some(ratio), Some(width), tolerance, leverage, outside];
                    cells.push(told(&at, first, &ranking));
                }
            }
        }
    }
    json!({
        "version": map.version,
        "axes": [
            axis("condition number", json!(grid.kappas)),
            axis("rows per column", json!(grid.ratios)),
            axis("columns", json!(grid.cols)),
            axis("tolerance", json!(grid.tolerances)),
            axis("leverage", json!(leverages)),
            axis("share of b outside the range of A", json!(grid.outsides)),
        ],
        "cells": cells,
    })
}

fn told(at: &[Option<usize>], first: &RankedContender, ranking: &[RankedContender]) -> Value {
    // Three digits: the page has two thousand cells.
    let short = |value: f64| format!("{value:.2e}").parse::<f64>().unwrap_or(value);
    let seconds = |ranked: &RankedContender| short(ranked.work / Rates::USUAL.flops);
    let why = match ranking.get(1) {
        Some(second) => format!(
            "{}; {} takes {:.2} times its work",
            iterations(first),
            second.program,
            second.work / first.work
        ),
        None => format!("{}; no other program reaches the tolerance", iterations(first)),
    };
    let one = |ranked: &RankedContender| json!({ "program": ranked.program, "seconds": seconds(ranked) });
    json!({
        "at": at,
        "winner": first.program,
        "seconds": seconds(first),
        "alternatives": ranking.iter().skip(1).take(TOLD - 1).map(one).collect::<Vec<Value>>(),
        "why": why,
    })
}

fn iterations(ranked: &RankedContender) -> String {
    let count = ranked.iterations.round();
    if count == 1.0 { "1 iteration".into() } else { format!("{count} iterations") }
}

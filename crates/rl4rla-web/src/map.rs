//! The winner map: which program takes the least work for which problems.

use crate::error::ApiError;
use axum::Json;
use axum::extract::Query;
use rl4rla::experiment::winner_map::{Contender, RankedContender, WinnerMap};
use serde::Deserialize;
use serde_json::{Value, json};

/// Programs told of each cell.
const TOLD: usize = 5;

/// The part of the map that is shown.
#[derive(Deserialize)]
pub struct Part {
    cols: Option<usize>,
    price: Option<f64>,
}

/// The winners for one number of columns and one price of a pass.
pub async fn winners(Query(part): Query<Part>) -> Result<Json<Value>, ApiError> {
    let grid = &WinnerMap::shipped().grid;
    let middle = |length: usize| length / 2;
    let cols = part.cols.unwrap_or(grid.cols[middle(grid.cols.len())]);
    let price = part.price.unwrap_or(grid.prices[middle(grid.prices.len())]);
    if !grid.cols.contains(&cols) || !grid.prices.contains(&price) {
        let message = "the map has no such number of columns, or no such price of a pass";
        return Err(ApiError::bad(message).advise(format!("cols: {:?}; price: {:?}", grid.cols, grid.prices)));
    }
    let made = tokio::task::spawn_blocking(move || made(cols, price)).await;
    Ok(Json(made.map_err(|_| ApiError::inside("the map cannot be made"))?))
}

fn made(cols: usize, price: f64) -> Value {
    let (map, contenders) = (WinnerMap::shipped(), Contender::all());
    let grid = &map.grid;
    let axis = |name: &str, about: &str, values: Value| json!({ "name": name, "about": about, "values": values });
    let leverages: Vec<&str> = grid.leverages.iter().map(|leverage| leverage.name()).collect();
    let mut cells = Vec::new();
    for cell in &map.cells {
        for &ratio in &grid.ratios {
            let answer = cell.answer(&contenders, ratio * cols, cols, price);
            let class = cell.class;
            let at = json!([class.kappa, ratio, class.leverage.name(), cell.tolerance, class.outside]);
            cells.push(told(at, &answer.ranking));
        }
    }
    json!({
        "version": map.version,
        "cols": cols,
        "price": price,
        "choices": { "cols": grid.cols, "price": grid.prices },
        "axes": [
            axis("kappa", "condition number", json!(grid.kappas)),
            axis("ratio", "rows per column", json!(grid.ratios)),
            axis("leverage", "leverage of the rows", json!(leverages)),
            axis("tolerance", "tolerance of the excess", json!(grid.tolerances)),
            axis("outside", "weight of b outside the range of A", json!(grid.outsides)),
        ],
        "cells": cells,
    })
}

fn told(at: Value, ranking: &[RankedContender]) -> Value {
    let least = ranking.first().map_or(1.0, |first| first.work);
    let one = |ranked: &RankedContender| {
        json!({
            "program": ranked.program, "work": ranked.work / least, "iterations": ranked.iterations,
            "flops": ranked.flops, "tunables": ranked.tunables,
        })
    };
    json!({
        "at": at,
        "winner": ranking.first().map(|first| &first.program),
        "alternatives": ranking.iter().take(TOLD).map(one).collect::<Vec<Value>>(),
    })
}

//! Which program takes the least work: the winner map.

use super::ask::{Ask, Scope};
use super::item::{Means, ReproducedItem};
use crate::experiment::ExperimentError;
use crate::experiment::winner_map::{MapGrid, WinnerMap, figures, tables};
use crate::report::Block;
use serde_json::Value;

/// It needs no sweeps.
pub fn asks(_: Scope) -> Vec<Ask> {
    vec![]
}

/// The figures, the table, and the map as JSON: `winner-map.json` holds what was measured, as the crate ships it, and
/// `winners.json` the winner at every point of the grid.
pub fn make(means: &Means) -> Result<ReproducedItem, ExperimentError> {
    let grid = if means.scope.quick { MapGrid::quick() } else { MapGrid::full() };
    let Some(map) = WinnerMap::make(grid, means.scope.first_seed, means.monitor)? else {
        return Err(ExperimentError::new("interrupted"));
    };
    let winners = map.winners();
    let mut part = ReproducedItem::default();
    part.add(Block::Text(
        "How many iterations a program needs is measured at 100 columns for each condition number, share of b outside the \
         range of A, leverage and tolerance, with its best sketch and step size; three instances, all of which must reach \
         the tolerance. Its work at other sizes follows from its symbolic cost. `rl4rla advise` answers from this map."
            .into(),
    ));
    figures(&map, &winners).into_iter().chain(tables(&map, &winners)).for_each(|block| part.add(block));
    let winners: Vec<Value> = winners.iter().map(|winner| winner.json()).collect();
    let text =
        |value: serde_json::Result<String>| value.map(|text| text + "\n").map_err(std::io::Error::from);
    part.attachments = vec![
        ("winner-map.json".into(), map.text()),
        ("winners.json".into(), text(serde_json::to_string(&winners))?),
    ];
    Ok(part)
}

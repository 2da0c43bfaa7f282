//! Items: the tables and figures of the paper, each with the sweeps it needs and the function that makes it.

use super::ask::{Ask, Runs, Scope};
use crate::experiment::{ExperimentError, Monitor};
use crate::report::{Block, Rate, Spread};
use crate::store::Store;
use serde_json::{Value, json};
use std::path::Path;

/// A table or figure of the paper, or an additional one.
pub struct Item {
    /// Name on the command line.
    pub name: &'static str,
    /// Title.
    pub title: &'static str,
    /// Its place in the paper.
    pub place: &'static str,
    /// The sweeps it needs.
    pub asks: fn(Scope) -> Vec<Ask>,
    /// The function that makes it from them.
    pub make: fn(&Means) -> Result<ReproducedItem, ExperimentError>,
}

/// The inputs of items.
pub struct Means<'a> {
    /// Size of the reproduction.
    pub scope: Scope,
    /// The finished sweeps.
    pub runs: &'a Runs,
    /// The store with their runs.
    pub store: &'a Store,
    /// The YearPredictionMSD file, if there is one.
    pub data: Option<&'a Path>,
    /// Progress and cancellation.
    pub monitor: &'a dyn Monitor,
}

/// A finished item.
#[derive(Default)]
pub struct ReproducedItem {
    /// Its content.
    pub blocks: Vec<Block>,
    /// Its numbers, the paper's beside ours.
    pub rows: Vec<ComparisonRow>,
    /// Other files, by name, with their content.
    pub attachments: Vec<(String, String)>,
    /// Whether it could not be made.
    pub failed: bool,
}

impl ReproducedItem {
    /// A part that states the error, if an item could not be made.
    pub fn failed(failure: ExperimentError) -> ReproducedItem {
        let reason = format!("This item could not be produced: {}.", failure.message());
        ReproducedItem { blocks: vec![Block::Remark(reason)], failed: true, ..ReproducedItem::default() }
    }

    /// Adds a block.
    pub fn add(&mut self, block: Block) {
        self.blocks.push(block);
    }
}

/// A number of the paper beside ours.
pub struct ComparisonRow {
    /// The subject.
    pub what: String,
    /// The quantity, with its unit.
    pub quantity: &'static str,
    /// The settings of our measurement.
    pub setting: String,
    /// The paper's number, if it has one.
    pub paper: Value,
    /// Our number.
    pub ours: Value,
    /// A 95 % confidence interval of ours, or the quartiles of a median; `None` for a single run.
    pub interval: Option<[f64; 2]>,
    /// Number of runs behind ours.
    pub count: usize,
}

impl ComparisonRow {
    /// A success rate.
    pub fn rate(what: impl Into<String>, setting: &str, paper: Option<f64>, ours: Rate) -> ComparisonRow {
        ComparisonRow {
            what: what.into(),
            quantity: "success rate",
            setting: setting.into(),
            paper: json!(paper),
            ours: json!(ours.share()),
            interval: Some(ours.interval()),
            count: ours.trials,
        }
    }

    /// A mean value.
    pub fn mean(
        what: impl Into<String>,
        quantity: &'static str,
        setting: &str,
        paper: Option<f64>,
        ours: Option<Spread>,
    ) -> ComparisonRow {
        ComparisonRow {
            what: what.into(),
            quantity,
            setting: setting.into(),
            paper: json!(paper),
            ours: json!(ours.map(|spread| spread.mean)),
            interval: ours
                .filter(|spread| spread.count > 1)
                .map(|spread| [spread.mean - spread.error, spread.mean + spread.error]),
            count: ours.map_or(0, |spread| spread.count),
        }
    }

    /// The row as JSON.
    pub fn json(&self, item: &str) -> Value {
        json!({
            "item": item,
            "what": self.what,
            "quantity": self.quantity,
            "setting": self.setting,
            "paper": self.paper,
            "ours": self.ours,
            "interval": self.interval,
            "count": self.count,
        })
    }
}

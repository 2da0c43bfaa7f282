//! Items: the tables and figures of the paper, each with what it needs and how it is made.

use super::ask::{Ask, Runs, Scope};
use crate::experiment::{ExperimentError, Monitor};
use crate::report::{Block, Rate, Spread};
use crate::store::Store;
use serde_json::{Value, json};
use std::path::Path;

/// A table or figure of the paper, or one that it lacks.
pub struct Item {
    /// What one types to get it.
    pub name: &'static str,
    /// What it is called.
    pub title: &'static str,
    /// Where it stands in the paper.
    pub place: &'static str,
    /// The campaigns it needs.
    pub asks: fn(Scope) -> Vec<Ask>,
    /// How it is made from them.
    pub make: fn(&Means) -> Result<ReproducedItem, ExperimentError>,
}

/// What items are made from.
pub struct Means<'a> {
    /// How large the reproduction is.
    pub scope: Scope,
    /// The campaigns, done.
    pub runs: &'a Runs,
    /// Where their runs are kept.
    pub store: &'a Store,
    /// The file of YearPredictionMSD, if there is one.
    pub data: Option<&'a Path>,
    /// Whoever waits.
    pub monitor: &'a dyn Monitor,
}

/// An item that was made.
#[derive(Default)]
pub struct ReproducedItem {
    /// What is shown.
    pub blocks: Vec<Block>,
    /// Its numbers, the paper's beside ours.
    pub rows: Vec<ComparisonRow>,
    /// Whether it could not be made.
    pub failed: bool,
}

impl ReproducedItem {
    /// Says why there is nothing to see, where others have something.
    pub fn failed(failure: ExperimentError) -> ReproducedItem {
        let reason = format!("This item could not be produced: {}.", failure.message());
        ReproducedItem { blocks: vec![Block::Remark(reason)], rows: vec![], failed: true }
    }

    /// Adds a block.
    pub fn add(&mut self, block: Block) {
        self.blocks.push(block);
    }
}

/// A number of the paper beside ours.
pub struct ComparisonRow {
    /// Of what.
    pub what: String,
    /// The quantity, with its unit.
    pub quantity: &'static str,
    /// Under which settings ours was measured.
    pub setting: String,
    /// The paper's number, if it has one.
    pub paper: Value,
    /// Our number.
    pub ours: Value,
    /// A 95 % confidence interval of ours, or the quartiles of a median; none for a single run.
    pub interval: Option<[f64; 2]>,
    /// Runs behind ours.
    pub count: usize,
}

impl ComparisonRow {
    /// A share of runs that found their target.
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

    /// A mean.
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

    /// As a script reads it.
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

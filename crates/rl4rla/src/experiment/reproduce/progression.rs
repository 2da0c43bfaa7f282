//! Table 1: the sequence of algorithms along a curriculum.

use super::ask::{Ask, Scope, Setting};
use super::item::{ComparisonRow, Means, ReproducedItem};
use super::paper::PROGRESSION;
use crate::experiment::ExperimentError;
use crate::experiment::words;
use crate::problem::Leverage;
use crate::program::Entry;
use crate::record::StageRecord;
use crate::report::{Block, Column, Finding, Table};
use crate::search::Method;
use serde_json::json;

const CURRICULUM: &str = "precond-weighted-sgd";

/// The sweep it needs.
pub fn asks(scope: Scope) -> Vec<Ask> {
    vec![Ask::new(CURRICULUM, Method::Best, Setting::Repaired, scope.seeds)]
}

/// The table, and the programs of the first seed.
pub fn make(means: &Means) -> Result<ReproducedItem, ExperimentError> {
    let mut part = ReproducedItem::default();
    let sweep = means.runs.sweep(CURRICULUM, Method::Best, Setting::Repaired);
    let sweep = sweep.ok_or_else(|| ExperimentError::new("its sweep was not run"))?;
    let first = sweep.done().next();
    let seed = means.scope.first_seed;
    let (mut rows, mut findings) = (Vec::new(), Vec::new());
    for (number, (stage, target)) in sweep.curriculum.stages.iter().enumerate() {
        let result = first.and_then(|run| run.stages.get(number));
        let matched = result.and_then(|result| Entry::named(result.matched.as_deref()?));
        let title = matched.map(|entry| entry.document.title.clone());
        let equation = result.and_then(|result| result.equation.as_deref());
        let paper = PROGRESSION.iter().find(|(name, _)| *name == stage.name).map(|(_, title)| *title);
        let tally = means.runs.stage(CURRICULUM, &stage.name, Method::Best, Setting::Repaired);
        let family = &stage.families[0];
        let leverage = if family.leverage == Leverage::High { ", high leverage" } else { "" };
        let name = match title {
            // A part that nothing uses yet has no name of its own.
            _ if !target.completed_by.is_empty() => format!("{}, not yet applied", stage.name),
            Some(title) => title,
            None => stage.name.clone(),
        };
        rows.push(vec![
            (number.to_string()).into(),
            format!("{} {}×{}{leverage}", family.kind, family.rows, family.cols).into(),
            target.about.as_str().into(),
            equation.unwrap_or("–").into(),
            paper.unwrap_or("–").into(),
            name.as_str().into(),
            words::rate(tally.as_ref().map(|tally| tally.found())),
        ]);
        if let Some(tally) = &tally {
            let mut row = ComparisonRow::rate(&*stage.name, Setting::Repaired.name(), None, tally.found());
            row.quantity = "algorithm";
            (row.paper, row.ours) = (json!(paper), json!(name));
            part.rows.push(row);
        }
        findings.extend(result.map(|result| finding(&name, result)));
    }
    part.add(Block::Table(Table {
        name: "table1".into(),
        title: "Curriculum progression".into(),
        caption: format!(
            "Sketch-and-precondition: each stage poses a problem on which the algorithm before it fails. The \
             equations are those of the programs found with seed {seed}."
        ),
        columns: vec![
            Column::words("stage"),
            Column::words("problem"),
            Column::words("what fails"),
            Column::words("discovered"),
            Column::words("paper"),
            Column::words("recognised as"),
            Column::numbers("found (95 % interval)"),
        ],
        groups: vec![rows],
        notes: vec![
            "The paper's stage 2 is two here: the preconditioner is built first, and applied in the next stage.".into(),
            "The preconditioner found is (AᵀA)⁻¹ or R⁻¹R⁻ᵀ of a QR factorization, which are equal in exact \
             arithmetic; `rl4rla equiv` shows where their accuracy differs."
                .into(),
        ],
    }));
    part.add(Block::Folded(format!("The programs found with seed {seed}"), findings));
    Ok(part)
}

/// The program of a stage, as stored.
fn finding(name: &str, result: &StageRecord) -> Block {
    let number = |value: Option<f64>| value.map_or("–".into(), words::short);
    Block::Finding(Box::new(Finding {
        name: name.into(),
        found: result.found,
        equation: result.equation.clone().unwrap_or_default(),
        code: result.program.clone().unwrap_or_default(),
        facts: vec![
            (
                "reward".into(),
                words::reward(result.reward, result.reward_error, result.instances, words::short),
            ),
            ("excess".into(), number(result.excess)),
            ("flops".into(), number(result.flops)),
            ("evaluations".into(), words::short(result.cost.evaluations as f64)),
            ("stopped".into(), result.stop.to_string()),
        ],
        figure: None,
    }))
}

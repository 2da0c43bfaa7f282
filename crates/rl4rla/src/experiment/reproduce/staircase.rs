//! Progress of discovery: the auxiliary reward of the program found by each stage, against cumulative playouts.

use super::ask::{Ask, Scope, Setting};
use super::efficiency;
use super::item::{ComparisonRow, Means, ReproducedItem};
use super::paper::{self, EfficiencyRow, METHODS};
use super::way::{ink, label};
use crate::experiment::ExperimentError;
use crate::program::Document;
use crate::record::{Quantity, StageRecord};
use crate::report::{Axis, Block, Figure, Label, Marker, Panel, Series, Spread};
use crate::reward::{Auxiliary, Protocol, auxiliary};
use crate::search::Method;
use serde_json::json;
use std::collections::BTreeMap;

/// The sweeps it needs.
pub fn asks(scope: Scope) -> Vec<Ask> {
    let best =
        |target: &EfficiencyRow| Ask::new(target.curriculum, Method::Best, Setting::Repaired, scope.seeds);
    efficiency::paper_asks(paper::linear(), scope)
        .into_iter()
        .chain(paper::linear().iter().map(best))
        .collect()
}

/// Short names of stages for the figure.
const SHORT: [(&str, &str); 11] = [
    ("landweber", "Landweber"),
    ("ls-gd", "LS-GD"),
    ("preconditioner", "R1"),
    ("precond-gd", "P-GD"),
    ("stable-precond-gd", "stable P-GD"),
    ("sketched-precond-gd", "SP-GD"),
    ("sketched-precond-sgd", "SP-SGD"),
    ("precond-weighted-sgd", "PW-SGD"),
    ("subsampled-ls-gd", "sub LS-GD"),
    ("sgd", "SGD"),
    ("block-kaczmarz", "Block RK"),
];

fn short(stage: &str) -> &str {
    SHORT.iter().find(|(known, _)| *known == stage).map_or(stage, |(_, short)| short)
}

/// A stage that some run found.
struct Step {
    stage: String,
    /// Cumulative playouts.
    playouts: f64,
    /// The mean auxiliary reward of the programs found.
    reward: f64,
    /// The playouts of the stage alone.
    spread: Spread,
}

/// Auxiliary reward against cumulative playouts.
pub fn make(means: &Means) -> Result<ReproducedItem, ExperimentError> {
    let mut part = ReproducedItem::default();
    let mut known = BTreeMap::new();
    let mut panels = Vec::new();
    for target in paper::linear() {
        // Programs that sample by leverage are meant for systems with nonuniform leverage.
        let uneven = matches!(target.curriculum, "precond-weighted-sgd" | "subsampled-ls-gd");
        let profile = if uneven { Auxiliary::HeavyTailed } else { Auxiliary::Even };
        let ours = (Method::Best, Setting::Repaired);
        let ways = METHODS.map(|(method, _)| (method, Setting::Released)).into_iter().chain([ours]);
        let mut climbs = Vec::new();
        for (method, setting) in ways {
            let steps = climb(means, target, (method, setting), profile, &mut known)?;
            for step in &steps {
                let what = format!("{} · {} · after {}", target.title, method.name(), step.stage);
                let mut row =
                    ComparisonRow::mean(what, "auxiliary reward", setting.name(), None, Some(step.spread));
                (row.ours, row.interval) = (json!(step.reward), None);
                part.rows.push(row);
            }
            climbs.push((method, setting, steps));
        }
        panels.push(Panel {
            title: format!("{} ({})", target.title, profile.name()),
            x: Axis::log("cumulative playouts to success"),
            y: Axis::linear("auxiliary reward"),
            series: drawn(&climbs),
        });
    }
    part.add(Block::Figure(Figure {
        name: "figure-staircase".into(),
        title: "Discovery staircase".into(),
        caption: "Auxiliary reward of the paper's appendix (weights 5, 1, 8, 0; best of seven step sizes; PSD, \
                  LOW_COND and MID_COND weighted 1, 5, 10) of the program found by each stage, run with the \
                  sampling, sketch and iterations of the stage, against the cumulative playouts (medians over the \
                  seeds, divided by the success rate). A dot is a stage, labelled next to the staircases of mcgs-ucd \
                  and best: P preconditioned, S sketched, W weighted, sub subsampled, R1 the preconditioner, charged \
                  but not yet used, RK randomized Kaczmarz. Not every step goes up: stages of the repaired curricula \
                  differ in their iterations, and sampled gradients make little progress in ten. The paper prints \
                  this figure without numbers."
            .into(),
        panels,
        columns: 2,
    }));
    Ok(part)
}

/// The stages found, up to the first that no run found.
fn climb(
    means: &Means,
    target: &EfficiencyRow,
    (method, setting): (Method, Setting),
    profile: Auxiliary,
    known: &mut BTreeMap<String, f64>,
) -> Result<Vec<Step>, ExperimentError> {
    let mut steps: Vec<Step> = Vec::new();
    let Some(campaign) = means.runs.campaign(target.curriculum, method, setting) else { return Ok(steps) };
    for (stage, _) in &campaign.curriculum.stages {
        means.monitor.doing(&format!("{}: auxiliary reward after {}", target.title, stage.name));
        let tally = means.runs.stage(target.curriculum, &stage.name, method, setting);
        let Some(tally) = tally else { break };
        let playouts = tally.successes().map(|part| Quantity::Playouts.of(part.cost));
        let Some(spread) = Spread::of(playouts) else { break };
        let mut rewards = Vec::new();
        for found in tally.successes().filter_map(|part| part.stage) {
            rewards.push(aux(found, profile, &stage.protocol, means.scope, known)?);
        }
        // Failed attempts are assumed to cost the same. The median is used, because a few runs with ties use their
        // whole budget.
        let before = steps.last().map_or(0.0, |step| step.playouts);
        let playouts = before + spread.median / tally.found().share();
        let reward = Spread::of(rewards).map_or(0.0, |rewards| rewards.mean);
        steps.push(Step { stage: stage.name.clone(), playouts, reward, spread });
    }
    Ok(steps)
}

/// The auxiliary reward of a stage's program under the stage's protocol; equal programs are measured once.
fn aux(
    found: &StageRecord,
    profile: Auxiliary,
    stage: &Protocol,
    scope: Scope,
    known: &mut BTreeMap<String, f64>,
) -> Result<f64, ExperimentError> {
    let text = found.program.as_deref().unwrap_or("");
    let key = format!("{}\n{stage:?}\n{text}", profile.name());
    if let Some(&reward) = known.get(&key) {
        return Ok(reward);
    }
    let document = text.parse::<Document>()?;
    let reward = auxiliary(&document.program, profile, stage, if scope.quick { 1 } else { 4 }, 0)?;
    known.insert(key, reward);
    Ok(reward)
}

/// The curves of a panel, all from a common point left of the first step, with the names of their stages.
fn drawn(climbs: &[(Method, Setting, Vec<Step>)]) -> Vec<Series> {
    let first = climbs.iter().filter_map(|(.., steps)| Some(steps.first()?.playouts));
    let start = first.fold(f64::INFINITY, f64::min) / 2.0;
    let mut series = Vec::new();
    for (method, setting, steps) in climbs {
        let points = steps.iter().map(|step| [step.playouts, step.reward]);
        let from = (!steps.is_empty()).then_some([start, 0.0]);
        let line = from.into_iter().chain(points);
        series.push(Series::new(label(*method, *setting), ink(*method), Marker::Steps, line));
    }
    // The paper's three searches pass the same stages, so the names at one of them are enough.
    let named = climbs.iter().filter(|(method, ..)| matches!(method, Method::McgsUcd | Method::Best));
    for (method, _, steps) in named {
        let dot = |step: &Step| {
            Series::new(short(&step.stage), ink(*method), Marker::Dots, [[step.playouts, step.reward]])
                .labelled(Label::Beside)
        };
        series.extend(steps.iter().map(dot));
    }
    series
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_stage_has_a_short_name_of_its_own() {
        let mut stages = BTreeSet::new();
        for target in paper::linear() {
            for file in [target.curriculum.to_string(), format!("paper/{}", target.curriculum)] {
                let curriculum = crate::experiment::reproduce::ask::builtin(&file).unwrap();
                stages.extend(curriculum.stages.iter().map(|(stage, _)| stage.name.clone()));
            }
        }
        let named = |stage: &String| SHORT.iter().any(|(known, _)| known == stage);
        assert!(stages.iter().all(named), "{stages:?}");
        let shorts: BTreeSet<&str> = SHORT.iter().map(|(_, short)| *short).collect();
        assert!(shorts.len() == SHORT.len() && shorts.iter().all(|short| short.len() <= 12), "{shorts:?}");
    }

    #[test]
    fn the_panel_is_as_large_as_its_data_and_names_its_steps() {
        let step = |stage: &str, playouts, reward| {
            let spread = Spread::of([playouts]).unwrap();
            Step { stage: stage.into(), playouts, reward, spread }
        };
        let climb = || vec![step("landweber", 1000.0, 0.05), step("ls-gd", 1200.0, 0.2)];
        let climbs = [
            (Method::Mcts, Setting::Released, climb()),
            (Method::McgsUcd, Setting::Released, climb()),
            (Method::Best, Setting::Repaired, vec![]),
        ];
        let series = drawn(&climbs);
        let lines: Vec<&Series> = series.iter().filter(|s| s.label == Label::Legend).collect();
        assert_eq!(lines[0].points, [[500.0, 0.0], [1000.0, 0.05], [1200.0, 0.2]]);
        assert!(lines[2].points.is_empty());
        let named: Vec<&str> =
            series.iter().filter(|s| s.label == Label::Beside).map(|s| s.name.as_str()).collect();
        assert_eq!(named, ["Landweber", "LS-GD"]);
    }
}

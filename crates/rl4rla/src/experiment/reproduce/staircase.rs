//! Progress of discovery: the auxiliary reward of the program found by each stage, against cumulative playouts.

use super::ask::{Ask, Scope, Setting};
use super::efficiency;
use super::item::{ComparisonRow, Means, ReproducedItem};
use super::paper::{self, EfficiencyRow, METHODS};
use super::way::{ink, label};
use crate::experiment::words::FEW;
use crate::experiment::{ExperimentError, Sweep};
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

/// A stage that was found.
#[derive(Clone)]
struct Step {
    stage: String,
    /// Cumulative playouts.
    playouts: f64,
    /// The auxiliary reward of the program found.
    reward: f64,
}

/// The staircases of a method: one that stands for all runs, or one for each of a few.
struct Climbs {
    method: Method,
    setting: Setting,
    climbs: Vec<Vec<Step>>,
}

/// Auxiliary reward against cumulative playouts.
pub fn make(means: &Means) -> Result<ReproducedItem, ExperimentError> {
    let mut part = ReproducedItem::default();
    let mut known = BTreeMap::new();
    let mut panels = Vec::new();
    let released = METHODS.map(|(method, _)| (method, Setting::Released));
    // Settings have panels of their own: their playouts differ by orders of magnitude.
    let groups = [&released[..], &[(Method::Best, Setting::Repaired)]];
    for target in paper::linear() {
        // Programs that sample by leverage are meant for systems with nonuniform leverage.
        let uneven = matches!(target.curriculum, "precond-weighted-sgd" | "subsampled-ls-gd");
        let profile = if uneven { Auxiliary::HeavyTailed } else { Auxiliary::Even };
        for ways in groups {
            let mut all = Vec::new();
            for &(method, setting) in ways {
                let steps = together(means, target, (method, setting), profile, &mut known)?;
                for (step, spread) in &steps {
                    let what = format!("{} · {} · after {}", target.title, method.name(), step.stage);
                    let mut row =
                        ComparisonRow::mean(what, "auxiliary reward", setting.name(), None, Some(*spread));
                    (row.ours, row.interval) = (json!(step.reward), None);
                    part.rows.push(row);
                }
                let Some(sweep) = means.runs.sweep(target.curriculum, method, setting) else {
                    continue;
                };
                let climbs = match sweep.done().count() < FEW {
                    true => one_by_one(means, sweep, profile, &mut known)?,
                    false => vec![steps.into_iter().map(|(step, _)| step).collect()],
                };
                all.push(Climbs { method, setting, climbs });
            }
            let title = format!("{} ({}), {}", target.title, profile.name(), ways[0].1.name());
            panels.push(panel(title, &all));
        }
    }
    part.add(Block::Figure(Figure {
        name: "figure-staircase".into(),
        title: "Discovery staircase".into(),
        caption: "Auxiliary reward of the paper's appendix (weights 5, 1, 8, 0; best of seven step sizes; PSD, \
                  LOW_COND and MID_COND weighted 1, 5, 10) of the program found by each stage, run with the \
                  sampling, sketch and iterations of the stage, against the cumulative playouts (medians over the \
                  seeds, divided by the success rate; for fewer than five runs each by itself). A dot is a stage, \
                  labelled at one staircase of mcgs-ucd and one of best; every axis begins just before the first \
                  stage is found. P preconditioned, S sketched, W weighted, sub subsampled, R1 the preconditioner, \
                  charged but not yet used, RK randomized Kaczmarz. Not every step goes up: stages of the repaired \
                  curricula differ in their iterations, and sampled gradients make little progress in ten. The paper \
                  prints this figure without numbers."
            .into(),
        panels,
        columns: 2,
    }));
    Ok(part)
}

/// The stages found, up to the first that no run found: one staircase for all runs, with the playouts of each stage
/// alone.
fn together(
    means: &Means,
    target: &EfficiencyRow,
    (method, setting): (Method, Setting),
    profile: Auxiliary,
    known: &mut BTreeMap<String, f64>,
) -> Result<Vec<(Step, Spread)>, ExperimentError> {
    let mut steps: Vec<(Step, Spread)> = Vec::new();
    let Some(sweep) = means.runs.sweep(target.curriculum, method, setting) else { return Ok(steps) };
    for (stage, _) in &sweep.curriculum.stages {
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
        let before = steps.last().map_or(0.0, |(step, _)| step.playouts);
        let playouts = before + spread.median / tally.found().share();
        let reward = Spread::of(rewards).map_or(0.0, |rewards| rewards.mean);
        steps.push((Step { stage: stage.name.clone(), playouts, reward }, spread));
    }
    Ok(steps)
}

/// The staircase of every run, up to the first stage that it did not find.
fn one_by_one(
    means: &Means,
    sweep: &Sweep,
    profile: Auxiliary,
    known: &mut BTreeMap<String, f64>,
) -> Result<Vec<Vec<Step>>, ExperimentError> {
    let mut climbs = Vec::new();
    for run in sweep.done() {
        let mut playouts = 0.0;
        let mut steps = Vec::new();
        for ((stage, _), found) in sweep.curriculum.stages.iter().zip(&run.stages) {
            if !found.found {
                break;
            }
            playouts += Quantity::Playouts.of(&found.cost);
            let reward = aux(found, profile, &stage.protocol, means.scope, known)?;
            steps.push(Step { stage: stage.name.clone(), playouts, reward });
        }
        climbs.push(steps);
    }
    Ok(climbs)
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

/// The staircases from just before the first step, with the names of their stages.
fn panel(title: String, all: &[Climbs]) -> Panel {
    let steps = || all.iter().flat_map(|one| one.climbs.iter().flatten());
    let ends = Spread::of(steps().map(|step| step.playouts)).map(|all| [all.min / 1.25, all.max * 1.1]);
    let mut series = Vec::new();
    for Climbs { method, setting, climbs } in all {
        for (number, steps) in climbs.iter().enumerate() {
            let points = steps.iter().map(|step| [step.playouts, step.reward]);
            let from = ends.filter(|_| !steps.is_empty()).map(|[start, _]| [start, 0.0]);
            let line = from.into_iter().chain(points);
            let shown = if number == 0 { Label::Legend } else { Label::Hidden };
            series.push(
                Series::new(label(*method, *setting), ink(*method), Marker::Steps, line).labelled(shown),
            );
        }
    }
    // The paper's three searches pass the same stages, so the names at one of them are enough.
    for Climbs { method, climbs, .. } in
        all.iter().filter(|one| matches!(one.method, Method::McgsUcd | Method::Best))
    {
        let longest = climbs.iter().rev().max_by_key(|steps| steps.len());
        let dot = |step: &Step| {
            Series::new(short(&step.stage), ink(*method), Marker::Dots, [[step.playouts, step.reward]])
                .labelled(Label::Beside)
        };
        series.extend(longest.into_iter().flatten().map(dot));
    }
    let x = Axis::log("cumulative playouts to success");
    let x = match ends {
        Some([low, high]) => x.within(low, high),
        None => x,
    };
    Panel { title, x, y: Axis::linear("auxiliary reward"), series }
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

    fn step(stage: &str, playouts: f64, reward: f64) -> Step {
        Step { stage: stage.into(), playouts, reward }
    }

    #[test]
    fn the_panel_is_as_large_as_its_data_and_names_its_steps() {
        let climb = || vec![step("landweber", 1000.0, 0.05), step("ls-gd", 1200.0, 0.2)];
        let climbs = |method| Climbs { method, setting: Setting::Released, climbs: vec![climb()] };
        let none = Climbs { method: Method::McgsUct, setting: Setting::Released, climbs: vec![vec![]] };
        let Panel { x, series, .. } =
            panel("".into(), &[climbs(Method::Mcts), climbs(Method::McgsUcd), none]);
        assert_eq!(x.range, Some([800.0, 1200.0 * 1.1]));
        let lines: Vec<&Series> = series.iter().filter(|s| s.label == Label::Legend).collect();
        assert_eq!(lines[0].points, [[800.0, 0.0], [1000.0, 0.05], [1200.0, 0.2]]);
        assert!(lines[2].points.is_empty());
        let named: Vec<&str> =
            series.iter().filter(|s| s.label == Label::Beside).map(|s| s.name.as_str()).collect();
        assert_eq!(named, ["Landweber", "LS-GD"]);
        assert_eq!(panel("".into(), &[]).x.range, None);
    }

    #[test]
    fn a_few_runs_have_their_own_staircases_and_one_of_them_the_names() {
        let climbs = vec![
            vec![step("landweber", 10.0, 0.05)],
            vec![step("landweber", 20.0, 0.05), step("ls-gd", 30.0, 0.2)],
        ];
        let best = Climbs { method: Method::Best, setting: Setting::Repaired, climbs };
        let Panel { series, .. } = panel("".into(), &[best]);
        let drawn: Vec<(Label, usize)> = series.iter().map(|s| (s.label, s.points.len())).collect();
        assert_eq!(drawn, [(Label::Legend, 2), (Label::Hidden, 3), (Label::Beside, 1), (Label::Beside, 1)]);
        assert_eq!(series[3].points, [[30.0, 0.2]]);
    }
}

//! The figures of searches: the staircase of discovery, the distribution of costs, the reuse of states.

use super::ask::{Ask, Scope, Setting};
use super::efficiency;
use super::item::{Means, Part, Row};
use super::paper::{self, METHODS};
use crate::failure::Failure;
use crate::progress;
use crate::tally::Tally;
use rl4rla::program::Document;
use rl4rla::report::{Axis, Block, Figure, Ink, Label, Mark, Panel, Series, Spread};
use rl4rla::reward::{Auxiliary, auxiliary};
use rl4rla::search::Method;
use rl4rla::store::Sample;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Every method has its ink in all figures.
fn ink(method: Method) -> Ink {
    let order = [Method::Mcts, Method::McgsUct, Method::McgsUcd, Method::Best, Method::Exhaustive];
    Ink(order.iter().position(|&known| known == method).unwrap_or(order.len()))
}

/// The campaigns of the staircase.
pub fn staircase_asks(scope: Scope) -> Vec<Ask> {
    let best = |target: &paper::Target| {
        Ask::new(target.curriculum, Method::Best, Setting::Repaired, scope.best_seeds)
    };
    efficiency::paper_asks(scope).into_iter().chain(paper::linear().iter().map(best)).collect()
}

/// Auxiliary reward against cumulative playouts.
pub fn staircase(means: &Means) -> Result<Part, Failure> {
    let mut part = Part::default();
    let mut known = BTreeMap::new();
    let mut panels = Vec::new();
    for target in paper::linear() {
        // Programs that sample by leverage are for systems where it is uneven.
        let uneven = matches!(target.curriculum, "precond-weighted-sgd" | "subsampled-ls-gd");
        let profile = if uneven { Auxiliary::HeavyTailed } else { Auxiliary::Even };
        let mut series = Vec::new();
        let ours = (Method::Best, Setting::Repaired);
        let ways = METHODS.map(|(method, _)| (method, Setting::Released)).into_iter().chain([ours]);
        for (method, setting) in ways {
            let curriculum = crate::curriculum::find(target.curriculum)?;
            let (mut playouts, mut points) = (0.0, vec![[10.0, 0.0]]);
            for (stage, _) in &curriculum.stages {
                progress::doing(format!("{}: auxiliary reward after {}", target.title, stage.name));
                let Some(tally) = means.runs.stage(target.curriculum, &stage.name, method, setting) else {
                    break;
                };
                let found: Vec<&&Value> =
                    tally.parts.iter().filter(|part| part["found"] == json!(true)).collect();
                let Some(spread) = Spread::of(found.iter().filter_map(|part| part["playouts"].as_f64()))
                else {
                    break;
                };
                // As if failed attempts cost as much. The median, because a few runs tie and spend their whole budget.
                playouts += spread.median / tally.found().share();
                let mut rewards = Vec::new();
                for part in &found {
                    rewards.push(aux(part, profile, means.scope, &mut known)?);
                }
                let reward = Spread::of(rewards).map_or(0.0, |rewards| rewards.mean);
                points.push([playouts, reward]);
                let what = format!("{} · {} · after {}", target.title, method.name(), stage.name);
                let mut row = Row::mean(what, "auxiliary reward", setting.name(), None, Some(spread));
                (row.ours, row.interval) = (json!(reward), None);
                part.rows.push(row);
            }
            let name = format!("{}, {}", method.name(), setting.name());
            series.push(Series::new(name, ink(method), Mark::Steps, points));
        }
        panels.push(Panel {
            title: format!("{} ({})", target.title, profile.name()),
            x: Axis::log("cumulative playouts to success"),
            y: Axis::linear("auxiliary reward").within(0.0, 1.0),
            series,
        });
    }
    part.add(Block::Figure(Figure {
        name: "figure-staircase".into(),
        title: "Discovery staircase".into(),
        caption: "The auxiliary reward of the paper's appendix (weights 5, 1, 8, 0; best of seven step sizes; PSD, \
                  LOW_COND and MID_COND weighted 1, 5, 10) of what each stage found, against the playouts spent since \
                  the beginning (medians, divided by the success rate). Not every step goes up: the reward counts ten \
                  iterations, and a sampled gradient has not come far by then. The paper prints this figure without \
                  numbers."
            .into(),
        panels,
        columns: 2,
    }));
    Ok(part)
}

/// The auxiliary reward of a stage's program; the same program is measured once.
fn aux(
    part: &Value,
    profile: Auxiliary,
    scope: Scope,
    known: &mut BTreeMap<(String, &'static str), f64>,
) -> Result<f64, Failure> {
    let text = part["program"].as_str().unwrap_or("").to_string();
    let key = (text, profile.name());
    if let Some(&reward) = known.get(&key) {
        return Ok(reward);
    }
    let document = key.0.parse::<Document>()?;
    let reward = auxiliary(&document.program, profile, if scope.quick { 1 } else { 4 }, 0)?;
    known.insert(key, reward);
    Ok(reward)
}

/// Three targets, from shallow to deep: our curriculum, the stage, the paper's name.
const ECDF: [(&str, &str, &str); 3] = [
    ("subsampled-ls-gd", "landweber", "Landweber iteration"),
    ("sketched-precond-gd", "sketched-precond-gd", "Sketched Preconditioned GD"),
    ("block-kaczmarz", "block-kaczmarz", "Block Randomized Kaczmarz"),
];

/// The distribution of costs.
pub fn ecdf(means: &Means) -> Result<Part, Failure> {
    let mut part = Part::default();
    let mut panels = Vec::new();
    let all = [Method::Mcts, Method::McgsUct, Method::McgsUcd, Method::Best, Method::Exhaustive];
    let kinds = [
        (Setting::Released, "playouts", "playouts τ", "released"),
        (Setting::Matched, "playouts", "playouts τ", "matched"),
        (Setting::Repaired, "evaluations", "evaluations", "repaired"),
    ];
    for (setting, quantity, label, words) in kinds {
        for (curriculum, stage, title) in ECDF {
            let tallies: Vec<Tally> = all
                .iter()
                .filter_map(|&method| means.runs.stage(curriculum, stage, method, setting))
                .collect();
            let costs = |tally: &Tally| -> Vec<f64> {
                let found = tally.parts.iter().filter(|part| part["found"] == json!(true));
                let mut costs: Vec<f64> = found.filter_map(|part| part[quantity].as_f64()).collect();
                costs.sort_by(f64::total_cmp);
                costs
            };
            let ends = Spread::of(tallies.iter().flat_map(costs));
            let mut series = Vec::new();
            for tally in &tallies {
                let (costs, trials) = (costs(tally), tally.parts.len() as f64);
                let (low, high) = ends.map_or((1.0, 1.0), |ends| (ends.min, ends.max));
                let mut points = vec![[low * 0.9, 0.0]];
                points.extend(costs.iter().enumerate().map(|(i, &cost)| [cost, (i + 1) as f64 / trials]));
                points.push([high * 1.1, costs.len() as f64 / trials]);
                let method = Method::named(tally.method).expect("a method of the table");
                series.push(Series::new(tally.method, ink(method), Mark::Steps, points));
                let what = format!("{title} · {}", tally.method);
                part.rows.push(Row::mean(what, "cost of success, mean", words, None, Spread::of(costs)));
            }
            panels.push(Panel {
                title: format!("{title}, {words}"),
                x: Axis::log(label),
                y: Axis::linear("share of runs that found it").within(0.0, 1.0),
                series,
            });
        }
    }
    part.add(Block::Figure(Figure {
        name: "figure-ecdf".into(),
        title: "Search efficiency: the distribution of costs".into(),
        caption: "How many runs have found the target at a given cost, among those that reached its stage. First row: the \
                  paper's settings as released; second: one exploration constant for all; third: the repaired \
                  curricula, counted in evaluations of a program on an instance. Compare the gap between tree and graph \
                  search in the first two rows. The paper prints this figure without numbers."
            .into(),
        panels,
        columns: 3,
    }));
    Ok(part)
}

/// The campaigns of the reuse of states.
pub fn reuse_asks(scope: Scope) -> Vec<Ask> {
    METHODS.map(|(method, _)| Ask::new(KACZMARZ, method, Setting::Released, scope.seeds)).into()
}

const KACZMARZ: &str = "block-kaczmarz";
/// Points of a curve.
const POINTS: usize = 120;

/// Unique states and revisit rate against playouts.
pub fn reuse(means: &Means) -> Result<Part, Failure> {
    let mut part = Part::default();
    let (mut states, mut rates) = (Vec::new(), Vec::new());
    for (method, _) in METHODS {
        let Some(campaign) = means.runs.campaign(KACZMARZ, method, Setting::Released) else { continue };
        let last = campaign.curriculum.stages.len() as u32 - 1;
        let mut curves: Vec<Vec<Sample>> = Vec::new();
        for result in campaign.done() {
            let run = means.store.find(result["run"].as_str().unwrap_or_default())?;
            let samples = means.store.samples(&run)?.into_iter();
            curves.push(samples.filter(|sample| sample.stage == last && sample.playouts > 0).collect());
        }
        curves.retain(|curve| !curve.is_empty());
        let end = Spread::of(curves.iter().filter_map(|curve| Some(curve.last()?.playouts as f64)));
        let Some(end) = end.map(|spread| spread.median) else { continue };
        let grid: Vec<f64> = (1..=POINTS).map(|i| end.powf(i as f64 / POINTS as f64)).collect();
        let at = |value: fn(&Sample) -> f64| -> Vec<(f64, Spread)> {
            let here = |x: f64| {
                let values = curves.iter().filter_map(|curve| {
                    let known = curve.partition_point(|sample| sample.playouts as f64 <= x);
                    (curve.last()?.playouts as f64 >= x && known > 0).then(|| value(&curve[known - 1]))
                });
                Some((x, Spread::of(values)?))
            };
            grid.iter().filter_map(|&x| here(x)).collect()
        };
        let revisits: fn(&Sample) -> f64 = |s| 1.0 - s.unique_states as f64 / s.visits.max(1) as f64;
        for (list, curve) in [(&mut states, at(|s| s.unique_states as f64)), (&mut rates, at(revisits))] {
            let band = Mark::Band(curve.iter().map(|(_, spread)| spread.upper).collect());
            let lower = curve.iter().map(|&(x, spread)| [x, spread.lower]);
            list.push(Series::new(method.name(), ink(method), band, lower).labelled(Label::Hidden));
            let middle = curve.iter().map(|&(x, spread)| [x, spread.median]);
            list.push(Series::new(method.name(), ink(method), Mark::Line, middle));
        }
        let tally = means.runs.stage(KACZMARZ, KACZMARZ, method, Setting::Released);
        for (key, quantity) in [("unique_states", "unique states"), ("revisit_rate", "revisit rate")] {
            let spread = tally.as_ref().and_then(|tally| tally.spread(key));
            part.rows.push(Row::mean(method.name(), quantity, Setting::Released.name(), None, spread));
        }
    }
    let panel =
        |title: &str, y: Axis, series| Panel { title: title.into(), x: Axis::log("playouts"), y, series };
    part.add(Block::Figure(Figure {
        name: "figure-reuse".into(),
        title: "State reuse under tree and graph search".into(),
        caption: "The last stage of Block Randomized Kaczmarz as released: median over the seeds, and the middle half of \
                  them. |S| counts the nodes visited, |V| the visits. A tree cannot meet a state twice, so its nodes \
                  grow on where a graph's are all known."
            .into(),
        panels: vec![
            panel("Unique states |S|", Axis::log("nodes visited"), states),
            panel("Revisit rate 1 − |S|/|V|", Axis::linear("revisit rate").within(0.0, 1.0), rates),
        ],
        columns: 2,
    }));
    Ok(part)
}

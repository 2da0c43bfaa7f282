//! The figures about searches: cost distribution and reuse of states.

use super::ask::{Ask, Scope, Setting};
use super::item::{ComparisonRow, Means, ReproducedItem};
use super::paper::METHODS;
use super::way::{ink, label};
use crate::experiment::ExperimentError;
use crate::experiment::Tally;
use crate::experiment::bands::{Bundle, RunHistory, caption};
use crate::record::Quantity;
use crate::report::{Axis, Block, Figure, Marker, Panel, Series, Spread};
use crate::search::Method;
use crate::store::Sample;

/// Three targets, from shallow to deep: our curriculum, the stage, the paper's name.
const ECDF: [(&str, &str, &str); 3] = [
    ("subsampled-ls-gd", "landweber", "Landweber iteration"),
    ("sketched-precond-gd", "sketched-precond-gd", "Sketched Preconditioned GD"),
    ("block-kaczmarz", "block-kaczmarz", "Block Randomized Kaczmarz"),
];

/// The distribution of costs.
pub fn ecdf(means: &Means) -> Result<ReproducedItem, ExperimentError> {
    let mut part = ReproducedItem::default();
    let all = [Method::Mcts, Method::McgsUct, Method::McgsUcd, Method::Best, Method::Exhaustive];
    let kinds = [
        (
            Setting::Released,
            Quantity::Playouts,
            "playouts τ",
            "figure-ecdf",
            "The paper's settings as released; the paper prints this figure without numbers.",
        ),
        (
            Setting::Matched,
            Quantity::Playouts,
            "playouts τ",
            "figure-ecdf-matched",
            "The same with one exploration constant for all methods: compare the gap between tree and graph search.",
        ),
        (
            Setting::Repaired,
            Quantity::Evaluations,
            "evaluations",
            "figure-ecdf-repaired",
            "The repaired curricula, counted in evaluations of a program on an instance.",
        ),
    ];
    for (setting, quantity, axis, name, words) in kinds {
        let mut panels = Vec::new();
        for (curriculum, stage, title) in ECDF {
            let tallies: Vec<(Method, Tally)> = all
                .iter()
                .filter_map(|&method| Some((method, means.runs.stage(curriculum, stage, method, setting)?)))
                .collect();
            let costs = |tally: &Tally| -> Vec<f64> {
                let mut costs: Vec<f64> = tally.successes().map(|part| quantity.of(part.cost)).collect();
                costs.sort_by(f64::total_cmp);
                costs
            };
            let ends = Spread::of(tallies.iter().flat_map(|(_, tally)| costs(tally)));
            let mut series = Vec::new();
            for (method, tally) in &tallies {
                let (costs, trials) = (costs(tally), tally.parts.len() as f64);
                let (low, high) = ends.map_or((1.0, 1.0), |ends| (ends.min, ends.max));
                let mut points = vec![[low * 0.9, 0.0]];
                points.extend(costs.iter().enumerate().map(|(i, &cost)| [cost, (i + 1) as f64 / trials]));
                points.push([high * 1.1, costs.len() as f64 / trials]);
                series.push(Series::new(label(*method, setting), ink(*method), Marker::Steps, points));
                let (what, spread) = (format!("{title} · {}", method.name()), Spread::of(costs));
                part.rows.push(ComparisonRow::mean(
                    what,
                    "cost of success, mean",
                    setting.name(),
                    None,
                    spread,
                ));
            }
            panels.push(Panel {
                title: title.into(),
                x: Axis::log(axis),
                y: Axis::linear("share of runs that found the target").within(0.0, 1.0),
                series,
            });
        }
        part.add(Block::Figure(Figure {
            name: name.into(),
            title: format!("Search efficiency, {}", setting.name()),
            caption: format!(
                "Share of runs that found the target within a given cost, among those that reached its stage. {words}"
            ),
            panels,
            columns: 3,
        }));
    }
    Ok(part)
}

/// The sweeps for the reuse of states.
pub fn reuse_asks(scope: Scope) -> Vec<Ask> {
    METHODS.map(|(method, _)| Ask::new(KACZMARZ, method, Setting::Released, scope.seeds)).into()
}

const KACZMARZ: &str = "block-kaczmarz";

/// Unique states and revisit rate against playouts.
pub fn reuse(means: &Means) -> Result<ReproducedItem, ExperimentError> {
    let mut part = ReproducedItem::default();
    let (mut states, mut rates) = (Vec::new(), Vec::new());
    for (method, _) in METHODS {
        let Some(sweep) = means.runs.sweep(KACZMARZ, method, Setting::Released) else { continue };
        let last = sweep.curriculum.stages.len() as u32 - 1;
        let mut notes: Vec<(u64, Vec<Sample>)> = Vec::new();
        for result in sweep.done() {
            let run = means.store.find(&result.run)?;
            let samples = means.store.samples(&run)?.into_iter();
            let seen: Vec<Sample> =
                samples.filter(|sample| sample.stage == last && sample.playouts > 0).collect();
            if !seen.is_empty() {
                notes.push((result.seed, seen));
            }
        }
        let bundle = |value: fn(&Sample) -> f64| {
            let point = |sample: &Sample| [sample.playouts as f64, value(sample)];
            let run = |(seed, seen): &(u64, Vec<Sample>)| RunHistory {
                seed: *seed,
                points: seen.iter().map(point).collect(),
            };
            let name = label(method, Setting::Released);
            Bundle { name, ink: ink(method), runs: notes.iter().map(run).collect() }
        };
        states.push(bundle(|sample| sample.unique_states as f64));
        rates.push(bundle(|sample| 1.0 - sample.unique_states as f64 / sample.visits.max(1) as f64));
        let tally = means.runs.stage(KACZMARZ, KACZMARZ, method, Setting::Released);
        for (quantity, name) in
            [(Quantity::UniqueStates, "unique states"), (Quantity::RevisitRate, "revisit rate")]
        {
            let spread = tally.as_ref().and_then(|tally| tally.spread(quantity));
            part.rows.push(ComparisonRow::mean(method.name(), name, Setting::Released.name(), None, spread));
        }
    }
    let panel = |title: &str, y: Axis, bundles: &[Bundle]| {
        let series = bundles.iter().flat_map(Bundle::series).collect();
        Panel { title: title.into(), x: Axis::log("playouts"), y, series }
    };
    part.add(Block::Figure(Figure {
        name: "figure-reuse".into(),
        title: "State reuse under tree and graph search".into(),
        caption: format!(
            "The last stage of Block Randomized Kaczmarz: {}. |S| counts the nodes visited, |V| the visits. A tree \
             has no transpositions, so its number of nodes keeps growing after a graph search has visited all \
             states.",
            caption(&states)
        ),
        panels: vec![
            panel("Unique states |S|", Axis::log("nodes visited"), &states),
            panel("Revisit rate 1 − |S|/|V|", Axis::linear("revisit rate").within(0.0, 1.0), &rates),
        ],
        columns: 2,
    }));
    Ok(part)
}

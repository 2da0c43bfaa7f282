//! The eigenvalue curriculum: its table, and the convergence of the programs found.

use super::ask::{Ask, Scope, Setting};
use super::item::{ComparisonRow, Means, ReproducedItem};
use super::paper::EIGENVALUE;
use super::way::label;
use crate::execute::run;
use crate::experiment::ExperimentError;
use crate::experiment::words;
use crate::problem::InstanceSet;
use crate::program::Document;
use crate::record::Quantity;
use crate::report::{Axis, Block, Column, Figure, Ink, Label, Marker, Panel, Series, Spread, Table};
use crate::reward::draws;
use crate::search::Method;

const CURRICULUM: &str = "eigenvalue";
const WAYS: [Method; 2] = [Method::McgsUcd, Method::Best];
/// Number of iterations shown.
const ITERATIONS: usize = 30;

/// The sweeps it needs.
pub fn asks(scope: Scope) -> Vec<Ask> {
    WAYS.map(|method| Ask::new(CURRICULUM, method, Setting::Repaired, scope.seeds)).into()
}

/// The table and the figure.
pub fn make(means: &Means) -> Result<ReproducedItem, ExperimentError> {
    let mut part = ReproducedItem::default();
    let mut groups = Vec::new();
    for (number, (stage, size, condition, algorithm, paper)) in EIGENVALUE.into_iter().enumerate() {
        let mut lines = Vec::new();
        for method in WAYS {
            let Some(tally) = means.runs.stage(CURRICULUM, stage, method, Setting::Repaired) else {
                continue;
            };
            let theirs = (method == Method::McgsUcd).then_some(paper);
            lines.push(vec![
                format!("C{number}: {algorithm}").into(),
                label(method, Setting::Repaired).into(),
                size.into(),
                condition.into(),
                theirs.map_or_else(words::nothing, words::percent),
                words::rate(Some(tally.found())),
                words::mean(tally.spread(Quantity::Playouts)),
                words::mean(tally.spread(Quantity::Evaluations)),
                words::seconds(tally.spread(Quantity::Seconds)),
            ]);
            let what = format!("C{number}, {algorithm} · {}", method.name());
            part.rows.push(ComparisonRow::rate(&*what, Setting::Repaired.name(), theirs, tally.found()));
            let spread = tally.spread(Quantity::Evaluations);
            part.rows.push(ComparisonRow::mean(
                &*what,
                "evaluations",
                Setting::Repaired.name(),
                None,
                spread,
            ));
        }
        groups.push(lines);
    }
    let words = ["stage", "method, settings", "size", "κ(A)"].map(Column::words);
    let numbers =
        ["paper: found", "ours: found (95 % interval)", "playouts", "evaluations", "s"].map(Column::numbers);
    part.add(Block::Table(Table {
        name: "table-eigenvalue".into(),
        title: "Eigenvalue problems".into(),
        caption: "Success of every stage among the runs that reached it; the paper has 5 seeds of MCGS+UCD.".into(),
        columns: words.into_iter().chain(numbers).collect(),
        groups,
        notes: vec![
            "The stage at n = 500 charges for reading A: at equal flops two plain iterations beat one sketched, which \
             pays off only if passes over A dominate the cost."
                .into(),
        ],
    }));
    let figure = convergence(means, &mut part.rows)?;
    part.add(Block::Figure(figure));
    Ok(part)
}

/// ρ(xₜ)/λmax of the programs found, on fresh instances.
fn convergence(means: &Means, rows: &mut Vec<ComparisonRow>) -> Result<Figure, ExperimentError> {
    let sweep = means.runs.sweep(CURRICULUM, Method::Best, Setting::Repaired);
    let sweep = sweep.ok_or_else(|| ExperimentError::new("the eigenvalue sweep was not run"))?;
    let first = sweep.done().next();
    let seed = first.map_or(0, |run| run.seed);
    let instances = if means.scope.quick { 5 } else { 20 };
    let mut series = Vec::new();
    for (number, (stage, _)) in sweep.curriculum.stages.iter().enumerate() {
        means.monitor.doing(&format!("eigenvalue: convergence of {}", stage.name));
        let found = first.and_then(|run| run.stages.get(number)?.program.as_ref());
        let Some(text) = found else { continue };
        let program = text.parse::<Document>()?.program;
        let family = &stage.families[0];
        let mut settings = stage.protocol.settings(family.rows, family.cols, 1.0);
        settings.iterations = ITERATIONS;
        let mut quotients: Vec<Vec<f64>> = vec![Vec::new(); ITERATIONS + 1];
        for index in 0..instances {
            let instance = family.draw(&InstanceSet::Final.stream(0, index))?;
            let trace = run(&program, &instance, &settings, &draws(0, index, 0))
                .map_err(|failure| ExperimentError::new(format!("{}: {failure}", stage.name)))?;
            quotients.iter_mut().zip(&trace.residuals).for_each(|(all, gap)| all.push(1.0 - gap));
        }
        let spreads: Vec<Spread> = quotients.into_iter().filter_map(Spread::of).collect();
        let ink = Ink(number);
        let name = format!("C{number}: {}, n = {}", stage.name, family.cols);
        let at = |pick: fn(&Spread) -> f64| spreads.iter().enumerate().map(move |(t, s)| [t as f64, pick(s)]);
        let band = Marker::Band(spreads.iter().map(|spread| spread.upper).collect());
        series.push(Series::new(&*name, ink, band, at(|s| s.lower)).labelled(Label::Hidden));
        series.push(Series::new(&*name, ink, Marker::Line, at(|s| s.median)));
        let spread = spreads.last().copied();
        rows.push(ComparisonRow::mean(
            name,
            "ρ/λmax after 30 iterations",
            Setting::Repaired.name(),
            Some(1.0),
            spread,
        ));
    }
    Ok(Figure {
        name: "figure-eigenvalue".into(),
        title: "Convergence on eigenvalue problems".into(),
        caption: format!(
            "Rayleigh quotient of the iterate relative to the largest eigenvalue, for the programs that {} found in \
             one run, seed {seed}, on {instances} fresh instances: median, with the interquartile range as a band.",
            label(Method::Best, Setting::Repaired)
        ),
        panels: vec![Panel {
            title: format!("Programs of one run each, seed {seed}"),
            x: Axis::linear("iteration t"),
            y: Axis::linear("ρ(xₜ)/λmax").within(0.0, 1.0),
            series,
        }],
        columns: 1,
    })
}

//! Convergence histories of a program, measured on fresh instances.

use super::past::Past;
use crate::discovery::Stage;
use crate::execute::Trace;
use crate::problem::{Instance, InstanceSet};
use crate::program::Program;
use crate::report::{Axis, Figure, Ink, Label, Marker, Panel, Series, Spread};
use crate::reward::evaluate;

/// Enough instances for quartiles.
const INSTANCES: u64 = 8;
/// Largest problem that is drawn only for a figure.
const MOST_ENTRIES: usize = 20_000_000;

/// The excess against the iteration; `None` if the program does not run.
pub fn history(program: &Program, stage: &Stage, past: &Past, name: &str) -> Option<Figure> {
    let family = &stage.families[0];
    if family.rows.saturating_mul(family.cols) > MOST_ENTRIES {
        return None;
    }
    // Instances that the run has not used: those after the ones it reported on.
    let first = stage.instances.report as u64;
    let draw = |i: u64| {
        let family = &stage.families[i as usize % stage.families.len()];
        family.for_set(InstanceSet::Final).draw(&InstanceSet::Final.stream(past.row.seed, first + i)).ok()
    };
    let instances: Vec<Instance> = (0..INSTANCES).filter_map(draw).collect();
    let evaluation = evaluate(program, &instances, &stage.protocol, past.row.seed);
    let traces: Vec<&Trace> =
        evaluation.scores.iter().filter_map(|score| score.outcome.as_ref().ok()).collect();
    let length = traces.iter().map(|trace| trace.excesses.len()).max()?;
    let at = |t: usize| Spread::of(traces.iter().filter_map(|trace| trace.excesses.get(t).copied()));
    let spreads: Vec<(f64, Spread)> = (0..length).filter_map(|t| Some((t as f64, at(t)?))).collect();
    let lower = spreads.iter().map(|(t, spread)| [*t, spread.lower]);
    let upper = spreads.iter().map(|(_, spread)| spread.upper).collect();
    let middle = spreads.iter().map(|(t, spread)| [*t, spread.median]);
    let [_, excess] = family.kind.info().task.measures();
    let panel = Panel {
        title: String::new(),
        x: Axis::linear("iteration"),
        y: Axis::log("excess"),
        series: vec![
            Series::new("quartiles", Ink(0), Marker::Band(upper), lower),
            Series::new("median", Ink(0), Marker::Line, middle).labelled(Label::Legend),
        ],
    };
    Some(Figure {
        name: format!("history-{name}"),
        title: "Convergence history.".into(),
        caption: format!(
            "Excess, {excess}, against the iteration on {} held-out instances of {} {}×{}.",
            traces.len(),
            family.kind,
            family.rows,
            family.cols
        ),
        panels: vec![panel],
        columns: 1,
    })
}

//! Learning curves: reward of the leader, states and revisits against evaluations, from the samples that runs
//! recorded.

use super::past::{Past, RunGroup};
use super::{MOST, counted};
use crate::experiment::bands::{Bundle, RunHistory, caption};
use crate::report::{Axis, Block, Figure, Ink, Panel};
use crate::store::{Sample, Store, StoreError};

/// Runs that differ only in their seed, each with its samples.
type Search<'a> = (&'a RunGroup, Vec<(&'a Past, Vec<Sample>)>);

/// A quantity of a sample: name for files, title, label and value.
struct Measure {
    name: &'static str,
    title: &'static str,
    label: &'static str,
    number: fn(&Sample) -> f64,
}

const REWARD: Measure = Measure {
    name: "reward",
    title: "Reward of the leader",
    label: "reward of the leader",
    number: |note| note.best,
};

const FURTHER: [Measure; 2] = [
    Measure {
        name: "states",
        title: "Distinct states",
        label: "distinct states",
        number: |note| note.unique_states as f64,
    },
    Measure {
        name: "revisits",
        title: "Revisits",
        label: "share of visits to known states",
        number: |note| note.revisits as f64 / note.visits.max(1) as f64,
    },
];

/// Figures for each curriculum with recorded samples.
pub fn curves(store: &Store, groups: &[RunGroup]) -> Result<Vec<Block>, StoreError> {
    let mut blocks = Vec::new();
    let (mut shown, mut left_out) = (0, 0);
    for groups in groups.chunk_by(|a, b| a.curriculum == b.curriculum) {
        let mut searches: Vec<Search> = Vec::new();
        for group in groups {
            let mut noted = Vec::new();
            for past in group.runs.iter().filter(|past| past.row.playouts > 0).take(MOST) {
                let samples = store.samples(&past.row.id)?;
                if !samples.is_empty() {
                    noted.push((past, samples));
                }
            }
            if !noted.is_empty() && searches.len() < MOST {
                searches.push((group, noted));
            }
        }
        match searches.is_empty() {
            false if shown < MOST => {
                shown += 1;
                blocks.push(Block::Figure(figure(&searches, &REWARD)));
                let further = FURTHER.iter().map(|measure| Block::Figure(figure(&searches, measure)));
                let title = format!("States and revisits of {}", groups[0].curriculum);
                blocks.push(Block::Folded(title, further.collect()));
            }
            false => left_out += 1,
            true => {}
        }
    }
    if left_out > 0 {
        blocks.push(Block::Text(format!("{} more are not shown.", counted(left_out, "curriculum"))));
    }
    Ok(blocks)
}

/// One panel per stage, one curve per search.
fn figure(searches: &[Search], measure: &Measure) -> Figure {
    let runs = || searches.iter().flat_map(|(group, runs)| runs.iter().map(move |run| (*group, run)));
    // No more stages than the runs have, whatever the samples say.
    let planned = |(group, (past, _)): (&RunGroup, &(&Past, Vec<Sample>))| {
        group.read.as_ref().map_or(past.steps.len(), |curriculum| curriculum.stages.len())
    };
    let most = runs().map(planned).max().unwrap_or(0) as u32;
    let notes = runs().flat_map(|(_, (_, samples))| samples);
    let stages =
        notes.map(|note| note.stage.saturating_add(1)).filter(|&stages| stages <= most).max().unwrap_or(0);
    let name = |stage: u32| {
        let place = stage as usize;
        let named = |(group, (past, _)): (&RunGroup, &(&Past, Vec<Sample>))| {
            let planned =
                group.read.as_ref().and_then(|c| c.stages.get(place)).map(|(stage, _)| stage.name.clone());
            planned.or_else(|| past.steps.get(place).map(|step| step.name.clone()))
        };
        runs().find_map(named).unwrap_or(format!("stage {}", stage + 1))
    };
    let bundles = |stage: u32| -> Vec<Bundle> {
        let bundle = |(number, (group, runs)): (usize, &Search)| Bundle {
            name: group.method.clone(),
            ink: Ink(number),
            runs: runs
                .iter()
                .map(|(past, samples)| RunHistory {
                    seed: past.row.seed,
                    points: course(samples, stage, measure.number),
                })
                .collect(),
        };
        searches.iter().enumerate().map(bundle).collect()
    };
    let panel = |stage: u32| Panel {
        title: name(stage),
        // Methods differ by orders of magnitude.
        x: Axis::log("evaluations"),
        y: Axis::linear(measure.label),
        series: bundles(stage).iter().flat_map(Bundle::series).collect(),
    };
    let alone = |stage: u32| -> Vec<String> {
        let few = |bundle: &&Bundle| bundle.is_alone() && bundle.runs.len() > 1;
        bundles(stage)
            .iter()
            .filter(few)
            .map(|bundle| format!("{} in {}", bundle.name, name(stage)))
            .collect()
    };
    let alone: Vec<String> = (0..stages).flat_map(alone).collect();
    let alone = match alone.is_empty() {
        true => String::new(),
        false => format!(" Only one run reached a stage: {}.", alone.join("; ")),
    };
    let curriculum = &searches[0].0.curriculum;
    Figure {
        name: format!("search-{}-{curriculum}", measure.name),
        title: format!("{} in the search through {curriculum}.", measure.title),
        caption: format!("A panel for each stage: {}.{alone}", caption(&bundles(0))),
        panels: (0..stages).map(panel).collect(),
        columns: 3,
    }
}

/// A quantity against the evaluations of a stage; of several samples at the same evaluation the last counts.
fn course(samples: &[Sample], stage: u32, number: fn(&Sample) -> f64) -> Vec<[f64; 2]> {
    // Samples before the first evaluation have no place on a logarithmic axis.
    let notes = samples.iter().filter(|note| note.stage == stage && note.evaluations > 0);
    let mut points: Vec<[f64; 2]> = Vec::new();
    for [x, y] in notes.map(|note| [note.evaluations as f64, number(note)]) {
        match points.last_mut() {
            Some(last) if last[0] >= x => last[1] = y,
            _ => points.push([x, y]),
        }
    }
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_course_is_that_of_its_stage() {
        let sample = |stage, evaluations, best| Sample {
            stage,
            playouts: 7,
            unique_states: 1,
            visits: 4,
            revisits: 3,
            evaluations,
            best,
        };
        let samples =
            [sample(0, 0, 0.0), sample(0, 5, 0.3), sample(0, 5, 0.4), sample(0, 9, 0.5), sample(1, 2, 0.2)];
        assert_eq!(course(&samples, 0, REWARD.number), [[5.0, 0.4], [9.0, 0.5]]);
        assert_eq!(course(&samples, 1, FURTHER[1].number), [[2.0, 0.75]]);
    }
}

//! How searches went: reward of the leader, states and revisits against playouts, from what runs noted on the way.

use super::past::{Group, Past};
use super::{MOST, counted};
use rl4rla::report::{Axis, Block, Figure, Ink, Mark, Panel, Series};
use rl4rla::store::{Sample, Store, StoreError};

/// A run with what it noted on the way.
type Search<'a> = (&'a Group, &'a Past, Vec<Sample>);

/// What is read off a note: a name for files, a title, a label and the number.
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
        label: "visits to known states, share",
        number: |note| note.revisits as f64 / note.visits.max(1) as f64,
    },
];

/// Figures for each curriculum of which some run noted anything.
pub fn curves(store: &Store, groups: &[Group]) -> Result<Vec<Block>, StoreError> {
    let mut blocks = Vec::new();
    let (mut shown, mut left_out) = (0, 0);
    for groups in groups.chunk_by(|a, b| a.curriculum == b.curriculum) {
        let mut searches: Vec<Search> = Vec::new();
        for group in groups {
            // The run that is shown, if it noted anything, or else the last that did.
            let noted = |past: &&Past| past.row.playouts > 0;
            let last = || group.runs.iter().rev().find(noted);
            if let Some(past) = group.best().filter(noted).or_else(last) {
                searches.push((group, past, store.samples(&past.row.id)?));
            }
        }
        searches.truncate(MOST);
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

/// A panel for each stage, a line for each search.
fn figure(searches: &[Search], measure: &Measure) -> Figure {
    // No more than the runs have: a sample may say anything.
    let planned = |(group, past, _): &Search| {
        group.read.as_ref().map_or(past.steps.len(), |curriculum| curriculum.stages.len())
    };
    let most = searches.iter().map(planned).max().unwrap_or(0) as u32;
    let notes = searches.iter().flat_map(|(.., samples)| samples);
    let stages =
        notes.map(|note| note.stage.saturating_add(1)).filter(|&stages| stages <= most).max().unwrap_or(0);
    let name = |stage: u32| {
        let place = stage as usize;
        let named = |(group, past, _): &Search| {
            let planned =
                group.read.as_ref().and_then(|c| c.stages.get(place)).map(|(stage, _)| stage.name.clone());
            planned.or_else(|| past.steps.get(place).map(|step| step.name.clone()))
        };
        searches.iter().find_map(named).unwrap_or(format!("stage {}", stage + 1))
    };
    let panel = |stage: u32| Panel {
        title: name(stage),
        // Methods differ by orders of magnitude.
        x: Axis::log("playouts"),
        y: Axis::linear(measure.label),
        series: searches
            .iter()
            .enumerate()
            .map(|(number, (group, _, samples))| {
                Series::new(
                    group.method.clone(),
                    Ink(number),
                    Mark::Steps,
                    course(samples, stage, measure.number),
                )
            })
            .filter(|series| !series.points.is_empty())
            .collect(),
    };
    let curriculum = &searches[0].0.curriculum;
    let ids: Vec<String> = searches.iter().map(|(_, past, _)| format!("`{}`", past.row.id)).collect();
    let runs = if ids.len() == 1 { "Run" } else { "Runs" };
    Figure {
        name: format!("search-{}-{curriculum}", measure.name),
        title: format!("{} in the search through {curriculum}.", measure.title),
        caption: format!("A panel for each stage. {runs} {}.", ids.join(", ")),
        panels: (0..stages).map(panel).collect(),
        columns: 3,
    }
}

/// A number against the playouts of a stage.
fn course(samples: &[Sample], stage: u32, number: fn(&Sample) -> f64) -> Vec<[f64; 2]> {
    // What was noted before the first playout has no place on a logarithmic axis.
    let notes = samples.iter().filter(|note| note.stage == stage && note.playouts > 0);
    notes.map(|note| [note.playouts as f64, number(note)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_course_is_that_of_its_stage() {
        let sample = |stage, playouts, best| Sample {
            stage,
            playouts,
            unique_states: 1,
            visits: 4,
            revisits: 3,
            evaluations: 1,
            best,
        };
        let samples = [sample(0, 0, 0.0), sample(0, 5, 0.3), sample(1, 2, 0.2)];
        assert_eq!(course(&samples, 0, REWARD.number), [[5.0, 0.3]]);
        assert_eq!(course(&samples, 1, FURTHER[1].number), [[2.0, 0.75]]);
    }
}

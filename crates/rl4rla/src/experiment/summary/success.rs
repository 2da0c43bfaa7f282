//! Success rates and costs: overall, and by transition.

use super::Again;
use super::past::{Past, RunGroup};
use super::{MOST, counted};
use crate::experiment::Forms;
use crate::experiment::words;
use crate::record::{Quantity, StageRecord};
use crate::report::{Block, Cell, Column, Rate, Spread, Table};
use crate::report::{duration, number};

/// The summary.
pub fn summary(groups: &[RunGroup], again: Again) -> Vec<Block> {
    let runs = || groups.iter().flat_map(|group| &group.runs);
    let number = |wanted: fn(&Past) -> bool| runs().filter(|past| wanted(past)).count();
    let (done, found) = (number(|past| past.found.is_some()), number(|past| past.found == Some(true)));
    let mut blocks = vec![Block::Text(match done {
        0 => "No run has finished yet.".into(),
        _ => format!("{found} of {} found all their targets.", counted(done, "finished run")),
    })];
    let unfinished = runs().count() - done;
    if unfinished > 0 {
        let first = runs().find(|past| past.found.is_none()).map(|past| past.row.id.as_str());
        blocks.push(Block::Remark(format!(
            "{} unfinished and not counted; `{}` resumes one.",
            if unfinished == 1 { "1 run is".into() } else { format!("{unfinished} runs are") },
            again(&format!("resume {}", first.unwrap_or("RUN")))
        )));
    }
    let unread =
        groups.iter().filter(|group| group.read.is_none()).map(|group| group.runs.len()).sum::<usize>();
    if unread > 0 {
        blocks.push(Block::Remark(format!(
            "The curricula of {} cannot be read by this version: they are counted, but their programs are not rerun.",
            counted(unread, "run")
        )));
    }
    if done > 0 {
        blocks.push(Block::Table(table(groups)));
    }
    blocks
}

fn table(groups: &[RunGroup]) -> Table {
    let row = |group: &RunGroup| {
        let done: Vec<&Past> = group.done().collect();
        let total = |quantity| words::mean(Spread::of(done.iter().map(|past| past.total(quantity))));
        let rate = Rate {
            successes: done.iter().filter(|past| past.found == Some(true)).count(),
            trials: done.len(),
        };
        let mut cells = vec![Cell::from(group.curriculum.as_str()), Cell::from(group.method.as_str())];
        cells.extend(rated(rate));
        cells.extend([total(Quantity::Playouts), total(Quantity::Evaluations)]);
        cells.push(timed(done.iter().map(|past| past.total(Quantity::Seconds))));
        let last = done.iter().filter(|past| past.found == Some(true)).filter_map(|past| past.steps.last());
        cells.push(forms(last));
        cells
    };
    let counted: Vec<&RunGroup> = groups.iter().filter(|group| group.done().next().is_some()).collect();
    let by_curriculum = counted.chunk_by(|a, b| a.curriculum == b.curriculum);
    Table {
        name: "summary".into(),
        title: "Success and effort.".into(),
        caption: "One attempt per run, judged by equivalence. The form describes how the last program found \
                  represents its preconditioner. Success rates have Wilson 95 % intervals; playouts, evaluations and \
                  seconds are means over the runs, the first two ± half a Student 95 % interval; for fewer than five \
                  runs the values are listed."
            .into(),
        columns: [&["curriculum", "method"].map(Column::words)[..], &measures()[..], &[Column::words("form")]].concat(),
        groups: by_curriculum.map(|groups| groups.iter().map(|group| row(group)).collect()).collect(),
        notes: vec!["An evaluation is one program on one instance.".into()],
    }
}

fn measures() -> [Column; 5] {
    ["found", "share", "playouts", "evaluations", "seconds"].map(Column::numbers)
}

/// Counts, and the rate with its confidence interval.
fn rated(rate: Rate) -> [Cell; 2] {
    let [low, high] = rate.interval();
    let count = Cell::from(rate.to_string());
    let share = format!("{:.0} % [{:.0}, {:.0}]", 100.0 * rate.share(), 100.0 * low, 100.0 * high);
    [if rate.successes == rate.trials { count.strong() } else { count }, Cell::number(rate.share(), share)]
}

/// The forms of the preconditioners found.
fn forms<'a>(steps: impl Iterator<Item = &'a StageRecord>) -> Cell {
    let found = steps.filter(|step| step.found);
    Forms::count(found.filter_map(|step| step.form.as_deref())).to_string().into()
}

fn timed(values: impl Iterator<Item = f64>) -> Cell {
    match Spread::of(values) {
        Some(spread) => Cell::number(spread.mean, duration(spread.mean)),
        None => Cell::from("–"),
    }
}

/// One table per curriculum: the cost of each stage.
pub fn transitions(groups: &[RunGroup]) -> Vec<Block> {
    let done: Vec<&RunGroup> =
        groups.iter().filter(|group| group.done().any(|r| !r.steps.is_empty())).collect();
    let curricula: Vec<&[&RunGroup]> = done.chunk_by(|a, b| a.curriculum == b.curriculum).collect();
    let mut blocks: Vec<Block> =
        curricula.iter().take(MOST).map(|groups| Block::Table(steps(groups))).collect();
    if curricula.len() > MOST {
        blocks.push(Block::Text(format!(
            "{} more are not shown.",
            counted(curricula.len() - MOST, "curriculum")
        )));
    }
    blocks
}

fn steps(groups: &[&RunGroup]) -> Table {
    let columns = ["found", "share", "playouts", "evaluations", "seconds", "reward"].map(Column::numbers);
    let rows = |group: &&RunGroup| -> Vec<Vec<Cell>> {
        let stages = group.done().map(|past| past.steps.len()).max().unwrap_or(0);
        (0..stages).map(|place| transition(group, place)).collect()
    };
    let curriculum = &groups[0].curriculum;
    Table {
        name: format!("transitions-{curriculum}"),
        title: format!("{curriculum}."),
        caption: "Medians with quartiles over the runs that reached the stage, or the values for fewer than five; rewards are on held-out instances.".into(),
        columns: [&["method", "transition"].map(Column::words)[..], &columns[..], &[Column::words("form")]].concat(),
        groups: groups.iter().map(rows).collect(),
        notes: vec![],
    }
}

/// The row of one stage.
fn transition(group: &RunGroup, place: usize) -> Vec<Cell> {
    let steps: Vec<&StageRecord> = group.done().filter_map(|past| past.steps.get(place)).collect();
    let before = |past: &Past| match place.checked_sub(1) {
        Some(before) => past.steps.get(before).map(|step| step.name.clone()),
        None => group.read.as_ref().map(|c| if c.start.is_empty() { "∅".into() } else { "start".into() }),
    };
    let from = group.runs.iter().find_map(before).unwrap_or("∅".into());
    let numbers = |of: fn(&StageRecord) -> f64, word: fn(f64) -> String| {
        words::median_as(Spread::of(steps.iter().map(|step| of(step))), word)
    };
    let rate = Rate { successes: steps.iter().filter(|step| step.found).count(), trials: steps.len() };
    let name = steps.first().map_or("", |step| step.name.as_str());
    let mut cells = vec![Cell::from(group.method.as_str()), Cell::from(format!("{from} → {name}"))];
    cells.extend(rated(rate));
    cells.push(numbers(|step| Quantity::Playouts.of(&step.cost), words::whole));
    cells.push(numbers(|step| Quantity::Evaluations.of(&step.cost), words::whole));
    let seconds = Spread::of(steps.iter().map(|step| step.cost.seconds));
    cells.push(seconds.map_or(Cell::from("–"), |s| Cell::number(s.median, number(s.median))));
    cells.push(numbers(|step| step.reward, number));
    cells.push(forms(steps.iter().copied()));
    cells
}

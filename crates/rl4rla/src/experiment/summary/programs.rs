//! Discovered programs with their evidence.

use super::Again;
use super::fronts::front;
use super::histories::history;
use super::past::{Past, RunGroup};
use super::{MOST, counted};
use crate::curriculum::{Curriculum, Target};
use crate::discovery::Stage;
use crate::experiment::costs;
use crate::experiment::words::{self, whole};
use crate::program::{Entry, Program, equation};
use crate::record::{Build, Quantity, StageRecord};
use crate::report::{Block, Cell, Column, Finding, Table};
use crate::report::{duration, number};

/// The program of the best run of each group, or of each run if runs were named.
pub fn programs(groups: &[RunGroup], named: bool, again: Again) -> Vec<Block> {
    let shown: Vec<(&RunGroup, &Past)> = match named {
        true => groups.iter().flat_map(|group| group.runs.iter().map(move |past| (group, past))).collect(),
        false => groups.iter().filter_map(|group| Some((group, group.best()?))).collect(),
    };
    let shown: Vec<(&RunGroup, &Past)> =
        shown.into_iter().filter(|(_, past)| !past.steps.is_empty()).collect();
    let mut blocks: Vec<Block> = Vec::new();
    for (group, past) in shown.iter().take(MOST) {
        blocks.push(Block::Finding(Box::new(finding(group, past))));
        if let Some(step) = past.steps.last().filter(|step| step.front.len() > 1) {
            blocks.push(Block::Folded(
                format!("Pareto front of run `{}`", past.row.id),
                front(step, past, again),
            ));
        }
        blocks.push(Block::Folded(
            format!("Stages of run `{}`", past.row.id),
            vec![Block::Table(stages(past, group.read.as_ref()))],
        ));
    }
    if shown.len() > MOST {
        let more = counted(shown.len() - MOST, "program");
        blocks.push(Block::Text(format!(
            "{more} more are not shown; `{}` shows those of a run.",
            again("report RUN")
        )));
    }
    blocks
}

fn finding(group: &RunGroup, past: &Past) -> Finding {
    let step = past.steps.last().expect("runs without stages are not shown");
    let place = past.steps.len() - 1;
    let stage = group.read.as_ref().and_then(|curriculum| curriculum.stages.get(place));
    let mut facts = evidence(step);
    let mut finding = Finding {
        name: match past.found {
            Some(_) => format!("{} by {}", group.curriculum, group.method),
            None => format!("{} by {}, as far as {}", group.curriculum, group.method, step.name),
        },
        found: past.found.unwrap_or(step.found),
        equation: step.equation.clone().unwrap_or_default(),
        code: step.program.clone().unwrap_or_default(),
        ..Finding::default()
    };
    if let (Some((stage, target)), Some(program)) = (stage, step.parsed()) {
        let whole = at_work(&program, target);
        if let Ok(equation) = equation(&whole, stage.grammar.signature) {
            finding.equation = equation.text;
        }
        facts.extend(judged(&program, stage, target));
        facts.extend(priced(&whole, stage, step));
        finding.figure = history(&whole, stage, past, past.row.id.as_str());
    }
    let effort = format!(
        "{} playouts, {} evaluations, {}; its last stage stopped: {}",
        past.total(Quantity::Playouts),
        past.total(Quantity::Evaluations),
        duration(past.total(Quantity::Seconds)),
        step.stop
    );
    facts.push(("search".into(), effort));
    let version = match past.build == Build::current() {
        true => String::new(),
        false => format!(", by version {}", past.build),
    };
    let unfinished = if past.found.is_none() { ", unfinished" } else { "" };
    facts.push(("run".into(), format!("`{}`, seed {}{version}{unfinished}", past.row.id, past.row.seed)));
    finding.facts = facts;
    finding
}

/// A partial program completed by the instructions that use it, without which it has no effect.
fn at_work(program: &Program, target: &Target) -> Program {
    let mut whole = program.clone();
    whole.iteration.extend_from_slice(&target.completed_by);
    whole
}

fn fact(name: &str, value: String) -> (String, String) {
    (name.into(), value)
}

/// The measurements of the run itself.
fn evidence(step: &StageRecord) -> Vec<(String, String)> {
    let mut facts = Vec::new();
    if let Some(entry) = step.matched.as_deref().and_then(Entry::named) {
        facts.push(fact("known as", format!("{} (`{}`)", entry.document.title, entry.name)));
    }
    if let Some(error) = step.reward_error {
        facts.push(fact("reward", words::reward(step.reward, Some(error), step.instances, number)));
    }
    if let Some(excess) = step.excess {
        facts.push(fact("final excess", number(excess)));
    }
    if let Some(lead) = step.lead() {
        facts.push(fact("lead over the next candidate", number(lead)));
    }
    facts
}

/// The comparison with the target.
fn judged(program: &Program, stage: &Stage, target: &Target) -> Vec<(String, String)> {
    if target.is_open() {
        return vec![fact("target", "none: any result counts as found".into())];
    }
    let judgement = target.judge(program, stage.grammar.signature);
    let wanted = target.name.map_or("the target".into(), |name| format!("`{name}`"));
    let Some(verdict) = judgement.verdict else {
        return vec![fact("same as the target", format!("no: it does not fit the problems of {wanted}"))];
    };
    let answer = if judgement.found { "yes" } else { "no" };
    let (algebra, why) = verdict.symbolic.words();
    let (execution, how) = verdict.numeric.words(["it", "the target"]);
    vec![
        fact("same as the target", format!("{answer}, compared with {wanted}")),
        fact("by algebra", format!("{algebra}: {why}")),
        fact("by execution", format!("{execution}: {how}")),
    ]
}

/// The cost, as polynomials and as numbers.
fn priced(program: &Program, stage: &Stage, step: &StageRecord) -> Vec<(String, String)> {
    let mut facts = Vec::new();
    if let Ok([setup, iteration, refresh]) = costs(program, stage.grammar.signature) {
        if !setup.is_zero() {
            facts.push(fact("cost of setup", format!("{setup} flops")));
        }
        facts.push(fact("cost per iteration", format!("{iteration} flops")));
        if !refresh.is_zero() {
            facts.push(fact("cost every k iterations", format!("{refresh} flops")));
        }
    }
    if let Some(flops) = step.flops {
        let family = &stage.families[0];
        let size = format!("{}×{}, {} iterations", family.rows, family.cols, stage.protocol.iterations);
        facts.push(fact("cost here", format!("{} flops at {size}", number(flops))));
    }
    facts
}

/// The stages of a run.
fn stages(past: &Past, curriculum: Option<&Curriculum>) -> Table {
    let numbers = ["reward", "excess", "lead", "playouts", "evaluations"];
    let row = |(place, step): (usize, &StageRecord)| {
        let number = |value: Option<f64>| value.map_or(Cell::from("–"), |v| Cell::number(v, number(v)));
        let things = |count: u64| Cell::number(count as f64, whole(count as f64));
        let stage = curriculum.and_then(|curriculum| curriculum.stages.get(place));
        let whole = stage.zip(step.parsed()).and_then(|((stage, target), program)| {
            equation(&at_work(&program, target), stage.grammar.signature).ok().map(|equation| equation.text)
        });
        let text = whole.or(step.equation.clone()).unwrap_or("nothing".into());
        vec![
            Cell::from(step.name.as_str()),
            Cell::from(if step.found { "✓" } else { "✗" }),
            Cell::from(text),
            number(Some(step.reward)),
            number(step.excess),
            number(step.lead()),
            things(step.cost.playouts),
            things(step.cost.evaluations),
        ]
    };
    let words = ["stage", "found", "program found"].map(Column::words);
    Table {
        name: format!("stages-{}", past.row.id),
        title: "Stage by stage.".into(),
        caption: "Reward and excess on held-out instances; the lead is over the next candidate.".into(),
        columns: [&words[..], &numbers.map(Column::numbers)[..]].concat(),
        groups: vec![past.steps.iter().enumerate().map(row).collect()],
        notes: vec![],
    }
}

//! What was discovered: each program with what speaks for it.

use super::courses::course;
use super::fronts::front;
use super::past::{Group, Past, Step};
use super::{MOST, counted};
use crate::args::Shared;
use crate::commands::equiv::{numeric_words, symbolic_words};
use crate::commands::show::costs;
use crate::page::{duration, number};
use crate::words::{whole, within};
use rl4rla::curriculum::{Curriculum, Target};
use rl4rla::discovery::Stage;
use rl4rla::program::{Document, Entry, Program, equation};
use rl4rla::report::{Block, Cell, Column, Finding, Table};

/// The program of the best run of each group, or of each run if runs were named.
pub fn programs(groups: &[Group], named: bool, shared: &Shared) -> Vec<Block> {
    let shown: Vec<(&Group, &Past)> = match named {
        true => groups.iter().flat_map(|group| group.runs.iter().map(move |past| (group, past))).collect(),
        false => groups.iter().filter_map(|group| Some((group, group.best()?))).collect(),
    };
    let shown: Vec<(&Group, &Past)> = shown.into_iter().filter(|(_, past)| !past.steps.is_empty()).collect();
    let mut blocks: Vec<Block> = Vec::new();
    for (group, past) in shown.iter().take(MOST) {
        blocks.push(Block::Finding(Box::new(finding(group, past))));
        if let Some(step) = past.steps.last().filter(|step| step.front.len() > 1) {
            blocks.push(Block::Folded(
                format!("Pareto front of run `{}`", past.row.id),
                front(step, past, shared),
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
            shared.again("report RUN")
        )));
    }
    blocks
}

fn finding(group: &Group, past: &Past) -> Finding {
    let step = past.steps.last().expect("runs without stages are not shown");
    let place = past.steps.len() - 1;
    let stage = group.read.as_ref().and_then(|curriculum| curriculum.stages.get(place));
    let program = step.program.as_ref().and_then(|text| text.parse::<Document>().ok()).map(|d| d.program);
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
    if let (Some((stage, target)), Some(program)) = (stage, program) {
        let whole = at_work(&program, target);
        if let Ok(equation) = equation(&whole, stage.grammar.signature) {
            finding.equation = equation.text;
        }
        facts.extend(judged(&program, stage, target));
        facts.extend(priced(&whole, stage, step));
        finding.figure = course(&whole, stage, past, past.row.id.as_str());
    }
    let mut effort = format!(
        "{} playouts, {} evaluations, {}",
        past.total("playouts"),
        past.total("evaluations"),
        duration(past.total("seconds"))
    );
    if !step.stop.is_empty() {
        effort += &format!("; its last stage stopped: {}", step.stop);
    }
    facts.push(("search".into(), effort));
    let version = match past.version == env!("CARGO_PKG_VERSION") {
        true => String::new(),
        false => format!(", by version {}", past.version),
    };
    let unfinished = if past.found.is_none() { ", unfinished" } else { "" };
    facts.push(("run".into(), format!("`{}`, seed {}{version}{unfinished}", past.row.id, past.row.seed)));
    finding.facts = facts;
    finding
}

/// A part at work: as long as nothing uses it, it does nothing.
fn at_work(program: &Program, target: &Target) -> Program {
    let mut whole = program.clone();
    whole.iteration.extend_from_slice(&target.completed_by);
    whole
}

fn fact(name: &str, value: String) -> (String, String) {
    (name.into(), value)
}

/// What the run itself measured.
fn evidence(step: &Step) -> Vec<(String, String)> {
    let mut facts = Vec::new();
    if let Some(entry) = step.matched.as_deref().and_then(Entry::named) {
        facts.push(fact("known as", format!("{} (`{}`)", entry.document.title, entry.name)));
    }
    if let (Some(reward), Some(error)) = (step.number("reward"), step.number("reward_error")) {
        let fresh = counted(step.number("instances").unwrap_or_default() as usize, "fresh instance");
        facts.push(fact("reward ± standard error", format!("{} on {fresh}", within(reward, error, number))));
    }
    if let Some(excess) = step.number("excess") {
        facts.push(fact("final excess", number(excess)));
    }
    if let Some(lead) = step.lead {
        facts.push(fact("lead over the next candidate", number(lead)));
    }
    facts
}

/// How it compares with what was looked for.
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
    let (algebra, why) = symbolic_words(&verdict.symbolic);
    let (execution, how) = numeric_words(&verdict.numeric, ["it", "the target"]);
    vec![
        fact("same as the target", format!("{answer}, compared with {wanted}")),
        fact("by algebra", format!("{algebra}: {why}")),
        fact("by execution", format!("{execution}: {how}")),
    ]
}

/// What it costs, in symbols and in numbers.
fn priced(program: &Program, stage: &Stage, step: &Step) -> Vec<(String, String)> {
    let mut facts = Vec::new();
    if let Ok((setup, iteration)) = costs(program, stage.grammar.signature) {
        if !setup.is_zero() {
            facts.push(fact("cost of setup", format!("{setup} flops")));
        }
        facts.push(fact("cost per iteration", format!("{iteration} flops")));
    }
    if let Some(flops) = step.number("flops") {
        let family = &stage.families[0];
        let size = format!("{}×{}, {} iterations", family.rows, family.cols, stage.protocol.iterations);
        facts.push(fact("cost here", format!("{} flops at {size}", number(flops))));
    }
    facts
}

/// The stages of a run.
fn stages(past: &Past, curriculum: Option<&Curriculum>) -> Table {
    let numbers = ["reward", "excess", "lead", "playouts", "evaluations"];
    let row = |(place, step): (usize, &Step)| {
        let number = |value: Option<f64>| value.map_or(Cell::from("–"), |v| Cell::number(v, number(v)));
        let things = |key| step.number(key).map_or(Cell::from("–"), |v| Cell::number(v, whole(v)));
        let stage = curriculum.and_then(|curriculum| curriculum.stages.get(place));
        let program = step.program.as_ref().and_then(|text| text.parse::<Document>().ok()).map(|d| d.program);
        let whole = stage.zip(program).and_then(|((stage, target), program)| {
            equation(&at_work(&program, target), stage.grammar.signature).ok().map(|equation| equation.text)
        });
        let text = whole.or(step.equation.clone()).unwrap_or("nothing".into());
        vec![
            Cell::from(step.name.as_str()),
            Cell::from(if step.found { "✓" } else { "✗" }),
            Cell::from(text),
            number(step.number("reward")),
            number(step.number("excess")),
            number(step.lead),
            things("playouts"),
            things("evaluations"),
        ]
    };
    let words = ["stage", "", "program found"].map(Column::words);
    Table {
        name: format!("stages-{}", past.row.id),
        title: "Stage by stage.".into(),
        caption: "Reward and excess on held-out instances; the lead is over the next candidate.".into(),
        columns: [&words[..], &numbers.map(Column::numbers)[..]].concat(),
        groups: vec![past.steps.iter().enumerate().map(row).collect()],
        notes: vec![],
    }
}

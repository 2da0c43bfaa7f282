//! The result of a run, for a person and for a script.

use crate::page::{Page, accent, faint, indent, number, strong, warning};
use rl4rla::curriculum::{Curriculum, Discovery, StageResult};
use rl4rla::discovery::Stage;
use rl4rla::execute::Trace;
use rl4rla::program::{Entry, Instruction, Program, Section, equation};
use rl4rla::reward::Summary;
use serde_json::{Value, json};

/// What names a run.
pub struct Meta<'a> {
    pub run: &'a str,
    pub method: &'a str,
    pub seed: u64,
}

/// The whole result.
pub fn page(curriculum: &Curriculum, discovery: &Discovery, meta: &Meta) -> Page {
    Page {
        json: document(curriculum, discovery, meta),
        text: text(curriculum, discovery, meta),
        code: u8::from(!discovery.found),
    }
}

/// The result as a script reads it.
pub fn document(curriculum: &Curriculum, discovery: &Discovery, meta: &Meta) -> Value {
    let counters = discovery.counters();
    let stages: Vec<Value> = discovery
        .stages
        .iter()
        .zip(&curriculum.stages)
        .map(|(result, (stage, _))| stage_json(stage, result))
        .collect();
    json!({
        "run": meta.run,
        "curriculum": curriculum.name,
        "method": meta.method,
        "seed": meta.seed,
        "found": discovery.found,
        "playouts": counters.playouts,
        "evaluations": counters.evaluations,
        "programs": counters.solutions,
        "seconds": discovery.seconds(),
        "unique_states": counters.unique_states,
        "node_visits": counters.node_visits,
        "revisit_rate": counters.revisit_rate(),
        "stages": stages,
    })
}

/// One stage as a script reads it.
pub fn stage_json(stage: &Stage, result: &StageResult) -> Value {
    let counters = result.attempt.counters;
    let report = result.attempt.report.as_ref();
    let mean = |part: fn(&rl4rla::reward::Score) -> f64| {
        report.map(|report| Summary::of(report.scores.iter().map(part)).mean)
    };
    let candidates: Vec<Value> = result
        .attempt
        .candidates
        .iter()
        .map(|c| json!({ "program": c.program.to_string(), "search": c.search, "select": c.select }))
        .collect();
    json!({
        "name": result.name,
        "found": result.found(),
        "matched": result.judgement.as_ref().and_then(|judgement| judgement.matched),
        "playouts": counters.playouts,
        "evaluations": counters.evaluations,
        "programs": counters.solutions,
        "unique_states": counters.unique_states,
        "node_visits": counters.node_visits,
        "revisit_rate": counters.revisit_rate(),
        "seconds": result.seconds,
        "stop": result.attempt.stop.name(),
        "reward": result.reward(),
        "reward_error": report.map(|report| report.reward().error),
        "acc": mean(|s| s.terms.acc),
        "decay": mean(|s| s.terms.decay),
        "comp": mean(|s| s.terms.comp),
        "cond": mean(|s| s.terms.cond),
        "flops": mean(|s| s.flops),
        "excess": excess(result),
        "instances": report.map(|report| report.scores.len()),
        "program": result.program().map(Program::to_string),
        "equation": result.program().and_then(|p| equation(p, stage.geometry()).ok()).map(|e| e.text),
        "candidates": candidates,
    })
}

/// The mean excess residual at the end, on the final instances.
fn excess(result: &StageResult) -> Option<f64> {
    let last = result.attempt.report.as_ref()?.last(|trace: &Trace| &trace.excesses)?;
    Some(last.mean)
}

fn text(curriculum: &Curriculum, discovery: &Discovery, meta: &Meta) -> String {
    let verdict = if discovery.found { accent("found") } else { warning("not found") };
    let mut text = format!(
        "{}  {verdict}\n{}\n\n",
        strong(&curriculum.title),
        faint(&format!("run {} · method {} · seed {}", meta.run, meta.method, meta.seed))
    );
    let mut before = curriculum.start.clone();
    let origin = if before.is_empty() { "∅  the empty program".into() } else { format!("{before}") };
    text += &format!("{origin}\n");
    let last = discovery.stages.len().saturating_sub(1);
    for (number, (result, (stage, _))) in discovery.stages.iter().zip(&curriculum.stages).enumerate() {
        let (branch, rail) = if number == last { ("└─", "  ") } else { ("├─", "│ ") };
        let mark = if result.found() { accent("✓") } else { warning("✗") };
        text += &format!("│\n{branch} {mark} {}\n", strong(&heading(result)));
        for line in stage_text(stage, result, &before).lines() {
            text += &format!("{rail}   {line}\n");
        }
        if let Some(program) = result.program() {
            before = program.clone();
        }
    }
    if let Some(program) = discovery.stages.last().and_then(StageResult::program) {
        text += &format!("\n{}", indent(&program.to_string()));
    }
    let counters = discovery.counters();
    text += &format!(
        "\n{} playouts, {} programs, {} evaluations, {:.1} s\n",
        counters.playouts,
        counters.solutions,
        counters.evaluations,
        discovery.seconds()
    );
    if discovery.found {
        text += &faint(&format!("rl4rla show run:{0}   rl4rla evaluate run:{0} --kappa 1e6", meta.run));
        text.push('\n');
    }
    text
}

/// The name of what was found.
fn heading(result: &StageResult) -> String {
    let matched = result.judgement.as_ref().and_then(|judgement| judgement.matched);
    match matched.and_then(Entry::named) {
        Some(entry) if entry.name == result.name => entry.document.title.clone(),
        Some(entry) if result.found() => format!("{}  ({})", result.name, entry.document.title),
        Some(entry) => format!("{}: found {} instead", result.name, entry.document.title),
        None if result.found() => result.name.clone(),
        None if result.program().is_some() => format!("{}: found another program", result.name),
        None => format!("{}: found nothing that works", result.name),
    }
}

fn stage_text(stage: &Stage, result: &StageResult, before: &Program) -> String {
    let mut text = String::new();
    let Some(program) = result.program() else { return format!("stopped: {}", result.attempt.stop) };
    if let Ok(equation) = equation(program, stage.geometry()) {
        text += &format!("{}\n", accent(&equation.text));
    }
    for (section, instruction) in added(before, program) {
        text += &format!("+ {instruction}  {}\n", faint(section.name()));
    }
    let report = result.attempt.report.as_ref().map(|report| report.reward());
    if let Some(reward) = report {
        let mut evidence = format!("reward {} ± {}", number(reward.mean), number(reward.error));
        evidence += &format!(" on {} fresh instances", stage.instances.report);
        if let Some(excess) = excess(result) {
            evidence += &format!(", excess residual {}", number(excess));
        }
        if let Some(next) = result.attempt.candidates.get(1) {
            let lead = result.attempt.candidates[0].select - next.select;
            evidence += &format!(", {} ahead of the next candidate", number(lead));
        }
        text += &format!("{evidence}\n");
    }
    let counters = &result.attempt.counters;
    text + &faint(&format!(
        "{} playouts, {} programs, {} evaluations, {:.1} s, stopped: {}",
        counters.playouts, counters.solutions, counters.evaluations, result.seconds, result.attempt.stop
    )) + "\n"
}

/// The instructions of `after` that `before` does not have.
fn added(before: &Program, after: &Program) -> Vec<(Section, Instruction)> {
    let mut old: Vec<(Section, &Instruction)> = before.instructions().map(|(s, _, i)| (s, i)).collect();
    let mut new = Vec::new();
    for (section, _, instruction) in after.instructions() {
        match old.iter().position(|known| *known == (section, instruction)) {
            Some(place) => drop(old.remove(place)),
            None => new.push((section, instruction.clone())),
        }
    }
    new
}

/// A program on one line.
pub fn short(program: &Program) -> String {
    let section = |section: Section| -> Vec<String> {
        program.section(section).iter().map(Instruction::to_string).collect()
    };
    let [setup, iteration] = Section::BOTH.map(|s| section(s).join("; "));
    if setup.is_empty() { iteration } else { format!("{setup} | {iteration}") }
}

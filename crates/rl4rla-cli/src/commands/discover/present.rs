//! The result of a run, for a person and for a script.

use super::front;
use crate::args::Shared;
use crate::page::{Page, accent, duration, faint, indent, number, strong, warning};
use rl4rla::analysis::Form;
use rl4rla::curriculum::{Curriculum, Discovery, StageResult, Target};
use rl4rla::discovery::{Preference, Stage};
use rl4rla::execute::Trace;
use rl4rla::program::{Entry, Instruction, Program, Section, equation};
use rl4rla::reward::{Evaluation, Summary};
use rl4rla::search::Counters;
use serde_json::{Value, json};

/// What names a run.
pub struct Meta<'a> {
    pub run: &'a str,
    pub method: &'a str,
    pub seed: u64,
    /// What someone wants of the front.
    pub preference: Option<Preference>,
}

/// The whole result.
pub fn page(curriculum: &Curriculum, discovery: &Discovery, meta: &Meta, shared: &Shared) -> Page {
    let mut text = text(curriculum, discovery, meta);
    if !shared.quiet {
        text += &hints(curriculum, discovery, meta, shared);
    }
    Page { json: document(curriculum, discovery, meta), text, code: u8::from(!discovery.found) }
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
    let last = discovery.stages.iter().zip(&curriculum.stages).next_back();
    let preferred =
        last.map(|(result, (stage, _))| front::preferred(meta.run, result, stage, meta.preference.as_ref()));
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
        "transposition_rate": counters.transposition_rate(),
        "preferred": preferred,
        "stages": stages,
    })
}

/// One stage as a script reads it.
pub fn stage_json(stage: &Stage, result: &StageResult) -> Value {
    let counters = result.attempt.counters;
    let update = stage.grammar.signature.update;
    let report = result.attempt.report.as_ref();
    let mean = |part: fn(&rl4rla::reward::Score) -> f64| {
        report.map(|report| Summary::of(report.scores.iter().map(part)).mean)
    };
    let candidates: Vec<Value> = result
        .attempt
        .candidates
        .iter()
        .map(|c| json!({ "program": update.text(&c.program), "search": c.search, "select": c.select }))
        .collect();
    json!({
        "name": result.name,
        "found": result.found(),
        "matched": result.judgement.as_ref().and_then(|judgement| judgement.matched),
        "form": result.form.as_ref().map(ToString::to_string),
        "stable": result.form.as_ref().map(Form::is_stable),
        "reason": unstable(result),
        "playouts": counters.playouts,
        "evaluations": counters.evaluations,
        "programs": counters.solutions,
        "unique_states": counters.unique_states,
        "node_visits": counters.node_visits,
        "revisit_rate": counters.revisit_rate(),
        "transposition_rate": counters.transposition_rate(),
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
        "failures": report.map(Evaluation::failures),
        "program": result.program().map(|program| update.text(program)),
        "equation": result.program().and_then(|p| equation(p, stage.grammar.signature).ok()).map(|e| e.text),
        "candidates": candidates,
        "front": front::json(stage, &result.attempt.front),
    })
}

/// The mean excess at the end, on the final instances.
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
    for (number, (result, (stage, target))) in discovery.stages.iter().zip(&curriculum.stages).enumerate() {
        let (branch, rail) = if number == last { ("└─", "  ") } else { ("├─", "│ ") };
        let mark = if result.found() { accent("✓") } else { warning("✗") };
        let title = format!("{}  {}", strong(&result.name), remark(result, target));
        text += &format!("│\n{branch} {mark} {}\n", title.trim_end());
        for line in stage_text(stage, target, result, &before).lines() {
            text += &format!("{rail}   {line}\n");
        }
        if let Some(program) = result.program() {
            before = program.clone();
        }
    }
    if let Some(program) = discovery.stages.last().and_then(StageResult::program) {
        text += &format!("\n{}", indent(&program.to_string()));
    }
    if let Some((result, (stage, _))) = discovery.stages.iter().zip(&curriculum.stages).next_back() {
        text += &format!("\n{}", front::text(result, stage, meta.preference.as_ref()));
    }
    text + &format!("\n{}\n", effort(&discovery.counters(), discovery.seconds()))
}

/// What to type next.
fn hints(curriculum: &Curriculum, discovery: &Discovery, meta: &Meta, shared: &Shared) -> String {
    let mut hints = Vec::new();
    let last = discovery.stages.iter().zip(&curriculum.stages).next_back();
    if let Some((result, (stage, _))) = last.filter(|(result, _)| result.program().is_some()) {
        hints.push((format!("show run:{}", meta.run), "the program with its shapes and its cost"));
        if result.attempt.front.len() > 1 {
            hints.push((
                format!("show run:{}#2", meta.run),
                "the second program on the Pareto front; --prefer chooses",
            ));
        }
        hints.push(match stage.families[0].is_of_table() {
            true => {
                (format!("solve run:{} --matrix FILE --target COL", meta.run), "the program on your data")
            }
            false => (format!("evaluate run:{} --kappa 1e6", meta.run), "its reward on harder problems"),
        });
    }
    hints.push((format!("resume {}", meta.run), "this result again"));
    let commands: Vec<String> = hints.iter().map(|(command, _)| shared.again(command)).collect();
    let width = commands.iter().map(|command| command.chars().count()).max().unwrap_or(0);
    let line = |(command, (_, doc)): (&String, &(String, &str))| {
        format!("{}\n", faint(&format!("{command:width$}  {doc}")))
    };
    commands.iter().zip(&hints).map(line).collect()
}

/// What was found: its title, unless it is a part of something and has none of its own.
fn remark(result: &StageResult, target: &Target) -> String {
    let matched = result.judgement.as_ref().and_then(|judgement| judgement.matched);
    match matched.and_then(Entry::named).map(|entry| &entry.document.title) {
        Some(_) if result.found() && !target.completed_by.is_empty() => String::new(),
        Some(title) if result.found() => title.clone(),
        Some(title) if unstable(result).is_some() => format!("found {title}"),
        Some(title) => format!("found {title} instead"),
        None if result.found() => String::new(),
        None if result.program().is_some() => "found another program".into(),
        None => "found no working program".into(),
    }
}

/// Why a program that equals the target in exact arithmetic is not the one asked for.
fn unstable(result: &StageResult) -> Option<String> {
    let kappa = result.judgement.as_ref()?.unstable_from?;
    Some(format!(
        "equal to the target in exact arithmetic, but less accurate from κ = {kappa:e} on; this stage requires the stable form"
    ))
}

fn stage_text(stage: &Stage, target: &Target, result: &StageResult, before: &Program) -> String {
    let mut text = String::new();
    let counters = &result.attempt.counters;
    let stop = faint(&format!("stopped: {} · {}", result.attempt.stop, effort(counters, result.seconds)));
    let Some(program) = result.program() else { return stop };
    // A part is shown at work: as long as nothing uses it, the equation does not know it.
    let mut whole = program.clone();
    whole.iteration.extend_from_slice(&target.completed_by);
    if let Ok(equation) = equation(&whole, stage.grammar.signature) {
        text += &format!("{}\n", accent(&equation.text));
    }
    let added: Vec<(Section, String)> =
        added(before, program).into_iter().map(|(section, i)| (section, i.to_string())).collect();
    let width = added.iter().map(|(_, text)| text.chars().count()).max().unwrap_or(0);
    for (section, instruction) in added {
        text += &format!("+ {instruction:width$}  {}\n", faint(section.name()));
    }
    for instruction in &target.completed_by {
        text += &format!("{}\n", faint(&format!("  {instruction}  is added by a later stage")));
    }
    if let Some(form) = &result.form {
        text += &format!("form: {form}\n");
    }
    if let Some(reason) = unstable(result) {
        text += &format!("{}\n", warning(&reason));
    }
    if let Some(reward) = result.attempt.report.as_ref().map(|report| report.reward()) {
        let count = stage.instances.report;
        text +=
            &format!("reward {} ± {} on {count} fresh instances", number(reward.mean), number(reward.error));
        if let Some(excess) = excess(result) {
            text += &format!(", excess {}", number(excess));
        }
        let failures = result.attempt.report.as_ref().map_or(0, Evaluation::failures);
        if failures > 0 {
            text += &warning(&format!(" where it ran; it failed on {failures}"));
        }
        text.push('\n');
    }
    if let [first, second, ..] = &result.attempt.candidates[..] {
        text += &format!("ahead of the next candidate by {}\n", number(first.select - second.select));
    }
    text + &stop
}

fn effort(counters: &Counters, seconds: f64) -> String {
    let Counters { playouts, solutions, evaluations, .. } = counters;
    format!("{playouts} playouts, {solutions} programs, {evaluations} evaluations, {}", duration(seconds))
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

/// How a program differs from another, an instruction on each line.
pub fn difference(from: &Program, to: &Program) -> String {
    let lines = |sign: char, changes: Vec<(Section, Instruction)>| -> Vec<String> {
        changes.into_iter().map(|(_, instruction)| format!("{sign} {instruction}")).collect()
    };
    let lines = [lines('−', added(to, from)), lines('+', added(from, to))].concat();
    if lines.is_empty() { short(to) } else { lines.join("\n") }
}

/// A program on one line.
pub fn short(program: &Program) -> String {
    let section = |section: Section| -> Vec<String> {
        program.section(section).iter().map(Instruction::to_string).collect()
    };
    let [setup, iteration] = Section::BOTH.map(|s| section(s).join("; "));
    if setup.is_empty() { iteration } else { format!("{setup} | {iteration}") }
}

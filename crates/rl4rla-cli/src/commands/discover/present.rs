//! The result of a run, for a person and for a script.

use super::front;
use crate::args::Shared;
use crate::page::{Page, accent, duration, faint, indent, number, strong, warning};
use rl4rla::curriculum::{Curriculum, Discovery, StageResult, Target};
use rl4rla::discovery::Stage;
use rl4rla::experiment::{Meta, document, excess, unstable};
use rl4rla::program::{Entry, Instruction, Program, Section, equation};
use rl4rla::reward::Evaluation;
use rl4rla::search::Counters;

/// The whole result.
pub fn page(curriculum: &Curriculum, discovery: &Discovery, meta: &Meta, shared: &Shared) -> Page {
    let mut text = text(curriculum, discovery, meta);
    if !shared.quiet {
        text += &hints(curriculum, discovery, meta, shared);
    }
    Page { json: document(curriculum, discovery, meta), text, code: u8::from(!discovery.found) }
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
                "the second of those that none beats; --prefer chooses",
            ));
        }
        hints.push(match stage.families[0].is_of_table() {
            true => {
                (format!("solve run:{} --matrix FILE --target COL", meta.run), "the program on your data")
            }
            false => (format!("evaluate run:{} --kappa 1e6", meta.run), "its reward on harder problems"),
        });
    }
    hints.push((format!("resume {}", meta.run), "this page again"));
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
        None => "found nothing that works".into(),
    }
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
        text += &format!("{}\n", faint(&format!("  {instruction}  is yet to come")));
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
            text += &warning(&format!(" where it ran: it failed on {failures}"));
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

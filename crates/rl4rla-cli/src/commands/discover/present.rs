//! The result of a run, as text and JSON.

use super::front;
use crate::args::Shared;
use crate::page::{Page, accent, duration, faint, indent, number, strong, warning};
use rl4rla::curriculum::{Curriculum, Target};
use rl4rla::discovery::Stage;
use rl4rla::problem::Family;
use rl4rla::program::{Entry, Instruction, Program, Section, equation};
use rl4rla::record::{ProposerRecord, RunRecord, SearchCost, StageRecord};
use serde_json::json;

/// The complete result; the curriculum may be an outline.
pub fn page(record: &RunRecord, curriculum: &Curriculum, shared: &Shared) -> Page {
    let mut text = text(record, curriculum);
    if !shared.quiet {
        text += &hints(record, curriculum, shared);
    }
    if let Some(ProposerRecord { model, answers, bad }) = &record.proposer {
        let remark =
            format!("{model} gave {answers} answers, {bad} of them not valid programs of their stage");
        text = format!("{}\n{remark}\n", text.trim_end());
    }
    Page { json: json!(record), text, code: u8::from(!record.found) }
}

fn text(record: &RunRecord, curriculum: &Curriculum) -> String {
    let verdict = if record.found { accent("found") } else { warning("not found") };
    let mut text = format!(
        "{}  {verdict}\n{}\n\n",
        strong(&curriculum.title),
        faint(&format!("run {} · method {} · seed {}", record.run, record.method, record.seed))
    );
    let mut before = curriculum.start.clone();
    let origin = if before.is_empty() { "∅  the empty program".into() } else { format!("{before}") };
    text += &format!("{origin}\n");
    let last = record.stages.len().saturating_sub(1);
    for (number, (result, (stage, target))) in record.stages.iter().zip(&curriculum.stages).enumerate() {
        let (branch, rail) = if number == last { ("└─", "  ") } else { ("├─", "│ ") };
        let mark = if result.found { accent("✓") } else { warning("✗") };
        let title = format!("{}  {}", strong(&result.name), remark(result, target));
        text += &format!("│\n{branch} {mark} {}\n", title.trim_end());
        for line in stage_text(stage, target, result, &before).lines() {
            text += &format!("{rail}   {line}\n");
        }
        if let Some(program) = result.parsed() {
            before = program;
        }
    }
    if let Some(result) = record.stages.last() {
        if let Some(program) = result.parsed() {
            text += &format!("\n{}", indent(&program.to_string()));
        }
        text += &format!("\n{}", front::text(result, record.preferred.as_ref()));
    }
    text + &format!("\n{}\n", effort(&record.cost))
}

/// Suggested next commands.
fn hints(record: &RunRecord, curriculum: &Curriculum, shared: &Shared) -> String {
    let (mut hints, run) = (Vec::new(), &record.run);
    let last = record.stages.iter().zip(&curriculum.stages).next_back();
    if let Some((result, (stage, _))) = last.filter(|(result, _)| result.program.is_some()) {
        hints.push((format!("show run:{run}"), "the program with its shapes and its cost"));
        if result.front.len() > 1 {
            hints.push((
                format!("show run:{run}#2"),
                "the second program on the Pareto front; --prefer chooses",
            ));
        }
        // The family of a user's table has no name that other commands know.
        hints.push(match Family::named(stage.families[0].kind.info().name) {
            None => (format!("solve run:{run} --matrix FILE --target COL"), "the program on your data"),
            Some(_) => (format!("evaluate run:{run} --kappa 1e6"), "its reward on harder problems"),
        });
    }
    hints.push((format!("resume {run}"), "this result again"));
    let commands: Vec<String> = hints.iter().map(|(command, _)| shared.again(command)).collect();
    let width = commands.iter().map(|command| command.chars().count()).max().unwrap_or(0);
    let line = |(command, (_, doc)): (&String, &(String, &str))| {
        format!("{}\n", faint(&format!("{command:width$}  {doc}")))
    };
    commands.iter().zip(&hints).map(line).collect()
}

/// The title of the program found, unless it is partial and has none.
fn remark(result: &StageRecord, target: &Target) -> String {
    match result.matched.as_deref().and_then(Entry::named).map(|entry| &entry.document.title) {
        Some(_) if result.found && !target.completed_by.is_empty() => String::new(),
        Some(title) if result.found => title.clone(),
        Some(title) if result.reason.is_some() => format!("found {title}"),
        Some(title) => format!("found {title} instead"),
        None if result.found => String::new(),
        None if result.program.is_some() => "found another program".into(),
        None => "found no working program".into(),
    }
}

fn stage_text(stage: &Stage, target: &Target, result: &StageRecord, before: &Program) -> String {
    let mut text = String::new();
    let stop = faint(&format!("stopped: {} · {}", result.stop, effort(&result.cost)));
    let Some(program) = result.parsed() else { return stop };
    // A partial program is shown completed, since the equation ignores instructions that nothing uses.
    let mut whole = program.clone();
    whole.iteration.extend_from_slice(&target.completed_by);
    if let Ok(equation) = equation(&whole, stage.grammar.signature) {
        text += &format!("{}\n", accent(&equation.text));
    }
    let added: Vec<(Section, String)> =
        added(before, &program).into_iter().map(|(section, i)| (section, i.to_string())).collect();
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
    if let Some(reason) = &result.reason {
        text += &format!("{}\n", warning(reason));
    }
    if let Some(target) = result.target_reward {
        let verdict =
            if result.is_better() { accent("better than the target") } else { "below the target".into() };
        text += &format!("{verdict}, which has the reward {}\n", number(target));
    }
    if let Some((error, count)) = result.reward_error.zip(result.instances) {
        let reward = number(result.reward);
        text += &format!("reward {reward} ± {} on {count} fresh instances", number(error));
        if let Some(excess) = result.excess {
            text += &format!(", excess {}", number(excess));
        }
        if let Some(failures @ 1..) = result.failures {
            text += &warning(&format!(" where it ran; it failed on {failures}"));
        }
        text.push('\n');
    }
    if let Some(lead) = result.lead() {
        text += &format!("ahead of the next candidate by {}\n", number(lead));
    }
    text + &stop
}

fn effort(cost: &SearchCost) -> String {
    let SearchCost { playouts, programs, evaluations, seconds, .. } = cost;
    format!("{playouts} playouts, {programs} programs, {evaluations} evaluations, {}", duration(*seconds))
}

/// The instructions of `after` that are not in `before`.
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

/// The difference of two programs, one instruction per line.
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

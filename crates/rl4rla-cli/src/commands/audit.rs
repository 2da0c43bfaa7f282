//! `rl4rla audit`.

use crate::args::{Audit, Shared};
use crate::commands::campaign::{Campaigned, computed, of_audit};
use crate::commands::discover::present;
use crate::curriculum;
use crate::failure::Failure;
use crate::interrupt::Terminal;
use crate::page::{Page, accent, faint, ledger, number, strong, warning};
use rl4rla::curriculum::{Audited, Curriculum};
use rl4rla::experiment::campaign::AuditSettings;
use rl4rla::experiment::{AuditedStage, audit_seeds};
use serde_json::{Value, json};

/// The audit that is asked for.
pub fn settings(args: &Audit) -> Result<AuditSettings, Failure> {
    let curriculum = curriculum::find(&args.curriculum)?;
    curriculum::permits(&curriculum, args.typed)?;
    if let Some((stage, _)) = curriculum.stages.iter().find(|(_, target)| target.is_open()) {
        let message = format!("stage {} of {} has no target to audit", stage.name, curriculum.name);
        return Err(Failure::new(message).advise("a `target`, or `rl4rla discover`, which needs none"));
    }
    Ok(AuditSettings { curriculum, hints: !args.no_hints, typed: args.typed, budget: args.budget })
}

/// Audits a curriculum, one seed after the other.
pub fn run(args: &Audit, shared: &Shared) -> Result<Page, Failure> {
    args.threads.apply()?;
    match computed(&args.as_campaign, || of_audit(args), &args.resources, shared)? {
        Some(Campaigned::Interrupted(page)) => return Ok(page),
        Some(Campaigned::Done(audits)) => {
            // None if its results were taken away meanwhile.
            let nothing = || Failure::new("the results are gone").advise("the same command again");
            let (curriculum, stages) = audits.first().ok_or_else(nothing)?;
            return Ok(page(curriculum, stages, shared));
        }
        None => {}
    }
    let curriculum = settings(args)?.applied();
    let stages = audit_seeds(&curriculum, args.seed, args.seeds, args.budget, &Terminal)?;
    Ok(page(&curriculum, &stages, shared))
}

/// The audits of all stages.
pub fn page(curriculum: &Curriculum, stages: &[AuditedStage], shared: &Shared) -> Page {
    let json = json!({
        "curriculum": curriculum.name,
        "seeds": stages.first().map_or(0, |stage| stage.seeds.len()),
        "stages": stages.iter().map(json).collect::<Vec<Value>>(),
    });
    let head = ["stage", "programs", "classes", "rank", "lead", "least", "best other"];
    let mut text = format!("{}\n\n", strong(&curriculum.title));
    text += &ledger(&head, stages.iter().map(row), 1..6);
    if !shared.quiet {
        let note = "lead: of the target over the best other program, in mean reward and on its worst instance\n−: \
                    instructions of the target that program lacks, +: instructions it has instead";
        text += &format!("\n{}\n", faint(note));
    }
    let good = stages.iter().all(AuditedStage::is_first);
    if !stages.iter().all(AuditedStage::is_complete) {
        text += &format!("\n{}\n", warning("not every stage was enumerated completely; raise --budget"));
    } else if !good {
        text += &format!("\n{}\n", warning("not every target is the best program of its stage"));
    }
    Page { json, text, code: u8::from(!good) }
}

fn json(stage: &AuditedStage) -> Value {
    let closest = stage.closest();
    json!({
        "name": closest.name,
        "programs": closest.programs,
        "classes": closest.classes,
        "target_rank": stage.worst_rank(),
        "margin": stage.least(|s| s.margin),
        "least_margin": stage.least(|s| s.least_margin),
        "target": closest.target,
        "complete": stage.is_complete(),
        "form": closest.best_form.as_ref().map(|p| p.to_string()),
        "runner_up": closest.runner_up.as_ref().map(|(p, r)| json!({ "program": p.to_string(), "reward": r })),
        "seeds": stage.seeds.iter().map(|s| json!({ "rank": s.target_rank, "margin": s.margin })).collect::<Vec<_>>(),
    })
}

fn row(stage: &AuditedStage) -> Vec<String> {
    let closest = stage.closest();
    let rank = match stage.worst_rank() {
        Some(1) => "1".into(),
        Some(rank) => warning(&rank.to_string()),
        None => warning("unreachable"),
    };
    let runner_up = closest.runner_up.as_ref().map(|(program, _)| match &closest.best_form {
        Some(form) => present::difference(form, program),
        None => present::short(program),
    });
    let lead =
        |part: fn(&Audited) -> f64| Some(stage.least(part)).filter(|lead| lead.is_finite()).map(number);
    vec![
        accent(&closest.name),
        closest.programs.to_string(),
        closest.classes.to_string(),
        rank,
        lead(|s| s.margin).unwrap_or_default(),
        lead(|s| s.least_margin).unwrap_or_default(),
        faint(&runner_up.unwrap_or_default()),
    ]
}

//! `rl4rla audit`.

use crate::args::{Audit, Shared};
use crate::commands::discover::present;
use crate::curriculum;
use crate::failure::Failure;
use crate::page::{Page, accent, faint, ledger, number, strong, warning};
use crate::progress;
use rl4rla::curriculum::{Audited, audit};
use rl4rla::search::Silent;
use serde_json::{Value, json};

/// Audits a curriculum, one seed after the other.
pub fn run(args: &Audit, shared: &Shared) -> Result<Page, Failure> {
    args.threads.apply()?;
    let mut curriculum = curriculum::find(&args.curriculum)?;
    if let Some((stage, _)) = curriculum.stages.iter().find(|(_, target)| target.is_open()) {
        let message = format!("stage {} of {} has no target to audit", stage.name, curriculum.name);
        return Err(Failure::new(message).advise("a `target`, or `rl4rla discover`, which needs none"));
    }
    if args.no_hints {
        curriculum = curriculum.without_hints();
    }
    let mut seeds: Vec<Vec<Audited>> = Vec::new();
    for seed in (0..args.seeds).map(|number| args.seed.wrapping_add(number)) {
        progress::doing(format!("auditing seed {seed}"));
        let told = |stage: &Audited| progress::doing(format!("auditing seed {seed} · {} done", stage.name));
        seeds.push(audit(&curriculum, seed, args.budget, &mut Silent, told)?);
    }
    let stages: Vec<Summed> = (0..curriculum.stages.len())
        .map(|number| Summed { seeds: seeds.iter().map(|stages| &stages[number]).collect() })
        .collect();
    let json = json!({
        "curriculum": curriculum.name,
        "seeds": args.seeds,
        "stages": stages.iter().map(Summed::json).collect::<Vec<Value>>(),
    });
    let head = ["stage", "programs", "classes", "rank", "lead", "least", "best other"];
    let mut text = format!("{}\n\n", strong(&curriculum.title));
    text += &ledger(&head, stages.iter().map(Summed::row), 1..6);
    if !shared.quiet {
        let note = "lead: of the target over the best other program, in mean reward and on its worst instance\n−: \
                    instructions of the target that program lacks, +: instructions it has instead";
        text += &format!("\n{}\n", faint(note));
    }
    let good = stages.iter().all(Summed::is_first);
    if !stages.iter().all(Summed::is_complete) {
        text += &format!("\n{}\n", warning("not every stage was enumerated completely; raise --budget"));
    } else if !good {
        text += &format!("\n{}\n", warning("not every target is the best program of its stage"));
    }
    Ok(Page { json, text, code: u8::from(!good) })
}

/// One stage over all seeds.
struct Summed<'a> {
    seeds: Vec<&'a Audited>,
}

impl Summed<'_> {
    fn worst_rank(&self) -> Option<usize> {
        let ranks: Option<Vec<usize>> = self.seeds.iter().map(|stage| stage.target_rank).collect();
        ranks?.into_iter().max()
    }

    fn is_complete(&self) -> bool {
        self.seeds.iter().all(|stage| stage.complete)
    }

    fn is_first(&self) -> bool {
        self.worst_rank() == Some(1) && self.is_complete() && self.seeds.iter().all(|s| s.margin > 0.0)
    }

    fn least(&self, part: fn(&Audited) -> f64) -> f64 {
        self.seeds.iter().map(|stage| part(stage)).fold(f64::INFINITY, f64::min)
    }

    /// The seed whose target leads by least.
    fn closest(&self) -> &Audited {
        self.seeds.iter().min_by(|a, b| a.margin.total_cmp(&b.margin)).expect("at least one seed")
    }

    fn json(&self) -> Value {
        let closest = self.closest();
        json!({
            "name": closest.name,
            "programs": closest.programs,
            "classes": closest.classes,
            "target_rank": self.worst_rank(),
            "margin": self.least(|s| s.margin),
            "least_margin": self.least(|s| s.least_margin),
            "target": closest.target,
            "complete": self.is_complete(),
            "form": closest.best_form.as_ref().map(|p| p.to_string()),
            "runner_up": closest.runner_up.as_ref().map(|(p, r)| json!({ "program": p.to_string(), "reward": r })),
            "seeds": self.seeds.iter().map(|s| json!({ "rank": s.target_rank, "margin": s.margin })).collect::<Vec<_>>(),
        })
    }

    fn row(&self) -> Vec<String> {
        let closest = self.closest();
        let rank = match self.worst_rank() {
            Some(1) => "1".into(),
            Some(rank) => warning(&rank.to_string()),
            None => warning("unreachable"),
        };
        let runner_up = closest.runner_up.as_ref().map(|(program, _)| match &closest.best_form {
            Some(form) => present::difference(form, program),
            None => present::short(program),
        });
        let lead =
            |part: fn(&Audited) -> f64| Some(self.least(part)).filter(|lead| lead.is_finite()).map(number);
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
}

//! The result of a run as the store keeps it and a script reads it.

use crate::analysis::Form;
use crate::curriculum::{Curriculum, Discovery, StageResult};
use crate::discovery::{Offer, Preference, Stage};
use crate::equivalence::name;
use crate::execute::Trace;
use crate::program::{Signature, equation};
use crate::reward::{Evaluation, Summary};
use serde_json::{Value, json};

/// What names a run.
pub struct Meta<'a> {
    /// Its id.
    pub run: &'a str,
    /// The name of its method.
    pub method: &'a str,
    /// Its seed.
    pub seed: u64,
    /// What someone wants of the front.
    pub preference: Option<Preference>,
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
        last.map(|(result, (stage, _))| preferred(meta.run, result, stage, meta.preference.as_ref()));
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
    let mean = |part: fn(&crate::reward::Score) -> f64| {
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
        "front": front_json(stage, &result.attempt.front),
    })
}

/// The mean excess at the end, on the final instances.
pub fn excess(result: &StageResult) -> Option<f64> {
    let last = result.attempt.report.as_ref()?.last(|trace: &Trace| &trace.excesses)?;
    Some(last.mean)
}

/// Why a program that equals the target in exact arithmetic is not the one asked for.
pub fn unstable(result: &StageResult) -> Option<String> {
    let kappa = result.judgement.as_ref()?.unstable_from?;
    Some(format!(
        "equal to the target in exact arithmetic, but less accurate from κ = {kappa:e} on; this stage asks for the stable form"
    ))
}

/// The front as a script reads it, the most accurate first; places count from 1.
pub fn front_json(stage: &Stage, front: &[Offer]) -> Value {
    let signature = stage.grammar.signature;
    let offer = |(place, offer): (usize, &Offer)| {
        json!({
            "place": place + 1,
            "excess": offer.tradeoff.excess,
            "flops": offer.tradeoff.flops,
            "condition": offer.tradeoff.condition,
            "reward": offer.reward,
            "name": known_as(offer, signature),
            "equation": equation(&offer.program, signature).ok().map(|equation| equation.text),
            "program": signature.update.text(&offer.program),
        })
    };
    front.iter().enumerate().map(offer).collect()
}

/// The name of a program of a front in the catalogue, if it is known.
pub fn known_as(offer: &Offer, signature: Signature) -> Option<&'static str> {
    name(&offer.program, signature).ok()?.entry().map(|entry| entry.name)
}

/// What is preferred of the last stage's front, as a script reads it.
fn preferred(run: &str, result: &StageResult, stage: &Stage, preference: Option<&Preference>) -> Value {
    let place = preference.and_then(|preference| preference.choose(&result.attempt.front));
    place.map_or(Value::Null, |place| {
        let mut chosen = front_json(stage, &result.attempt.front)[place].take();
        chosen["stage"] = json!(result.name);
        chosen["source"] = json!(source(run, place));
        chosen
    })
}

/// How a program of the last front is called in other commands.
fn source(run: &str, place: usize) -> String {
    format!("run:{run}#{}", place + 1)
}

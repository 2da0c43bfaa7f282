//! `rl4rla evaluate`.

mod request;

use crate::args::{Evaluate, Shared};
use crate::failure::Failure;
use crate::memory;
use crate::page::{Page, accent, faint, number, sparkline, strong, table, warning};
use crate::progress;
use crate::request::{families, refuse_misfits};
use crate::source::Source;
use request::{of_stage, protocol};
use rl4rla::equivalence::{full_name, name};
use rl4rla::execute::Trace;
use rl4rla::problem::{Choice, Family, FamilyError, Instance, InstanceSet, Task};
use rl4rla::program::Program;
use rl4rla::report::Spread;
use rl4rla::reward::{Profile, Protocol, Score, Summary, auxiliary, draws, score};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicU64, Ordering};

/// Evaluates a program.
pub fn run(args: &Evaluate, shared: &Shared) -> Result<Page, Failure> {
    args.threads.apply()?;
    let source = Source::find(&args.program, &shared.store)?;
    let (families, protocol) = match (&args.curriculum, &args.stage) {
        (Some(curriculum), Some(stage)) => of_stage(curriculum, stage, args.instances)?,
        _ => {
            let families = families(&args.problem, Some(&source), args.instances)?;
            let protocol = protocol(args, &families[0])?;
            (families, protocol)
        }
    };
    refuse_misfits(&source, &families[0], protocol.live_out)?;
    let program = &source.document.program;
    let runs = runs(program, &families, &protocol, args.instances, args.seed)?;
    let auxiliary = match args.auxiliary {
        Some(profile) => Some((profile, auxiliary(program, profile, &protocol, args.instances, args.seed)?)),
        None => None,
    };
    let outcome = Outcome { args, source: &source, families: &families, protocol: &protocol, runs };
    let mut json = outcome.json();
    json["auxiliary"] = auxiliary.map_or(Value::Null, |(profile, reward)| json!({ profile.name(): reward }));
    let mut text = outcome.text(shared.quiet);
    if let Some((profile, reward)) = auxiliary {
        text += &format!("\n  auxiliary reward ({})  {}\n", profile.name(), number(reward));
    }
    let failed = outcome.failures() == outcome.runs.len();
    Ok(Page { json, text, code: u8::from(failed) })
}

/// A fresh instance of the final set; condition numbers take turns.
pub fn draw(families: &[Family], index: u64, seed: u64) -> Result<Instance, FamilyError> {
    let set = InstanceSet::Final;
    families[index as usize % families.len()].for_set(set).draw(&set.stream(seed, index))
}

/// One instance, and what came of it.
struct Run {
    score: Score,
    /// The least residual there is.
    attainable: f64,
    kappa: Option<f64>,
}

/// The runs on all instances, each of which is forgotten as soon as it is measured: they may be large.
fn runs(
    program: &Program,
    families: &[Family],
    protocol: &Protocol,
    instances: u64,
    seed: u64,
) -> Result<Vec<Run>, Failure> {
    use rayon::prelude::*;
    let at_once = instances.min(rayon::current_num_threads() as u64);
    let bytes = families.iter().map(Family::bytes).max().unwrap_or(0) * u128::from(at_once);
    let what = format!("{at_once} instances of {}×{} at once", families[0].rows, families[0].cols);
    memory::afford(bytes, &what, "fewer --rows or --cols, or --threads 1")?;
    let done = AtomicU64::new(0);
    let run = |index: u64| {
        let instance = draw(families, index, seed)?;
        let score = score(program, &instance, protocol, &draws(seed, index, 0));
        let count = 1 + done.fetch_add(1, Ordering::Relaxed);
        progress::doing(format!("evaluating · {count} of {instances} instances"));
        let spectrum = instance.spectrum();
        let kappa = spectrum.first().zip(spectrum.last()).map(|(most, least)| most / least);
        Ok(Run { score, attainable: instance.attainable(), kappa })
    };
    (0..instances).into_par_iter().map(run).collect()
}

struct Outcome<'a> {
    args: &'a Evaluate,
    source: &'a Source,
    families: &'a [Family],
    protocol: &'a Protocol,
    runs: Vec<Run>,
}

/// The middle of these; NaN if there is none.
pub fn median(values: Vec<f64>) -> f64 {
    Spread::of(values).map_or(f64::NAN, |spread| spread.median)
}

impl Outcome<'_> {
    fn scores(&self) -> impl Iterator<Item = &Score> {
        self.runs.iter().map(|run| &run.score)
    }

    fn traces(&self) -> impl Iterator<Item = &Trace> {
        self.scores().filter_map(|s| s.outcome.as_ref().ok())
    }

    /// The median of the least residuals there are, on the instances that the residuals are told of.
    fn attainable(&self) -> f64 {
        let told = self.runs.iter().filter(|run| run.score.outcome.is_ok());
        median(told.map(|run| run.attainable).collect())
    }

    fn reward(&self) -> Summary {
        Summary::of(self.scores().map(|score| score.reward))
    }

    fn failures(&self) -> usize {
        self.scores().filter(|s| s.outcome.is_err()).count()
    }

    fn mean(&self, part: impl Fn(&Score) -> f64) -> f64 {
        Summary::of(self.scores().map(part)).mean
    }

    /// The mean work of the runs that came to their end; a failure is not cheap.
    fn work(&self, part: impl Fn(&Score) -> f64) -> Option<f64> {
        let done = self.scores().filter(|s| s.outcome.is_ok());
        Some(Summary::of(done.map(part)).mean).filter(|mean| !mean.is_nan())
    }

    /// The step sizes used, in order.
    fn steps(&self) -> Vec<f64> {
        let mut used: Vec<f64> = self.scores().map(|s| s.step).collect();
        used.sort_by(f64::total_cmp);
        used.dedup();
        used
    }

    /// The median over the instances at every iteration.
    fn history(&self, pick: impl Fn(&Trace) -> &[f64]) -> Vec<f64> {
        let length = self.traces().next().map_or(0, |trace| trace.residuals.len());
        (0..length).map(|t| median(self.traces().map(|trace| pick(trace)[t]).collect())).collect()
    }

    /// The algorithm with the settings that were used, if the catalogue knows it.
    fn algorithm(&self) -> Option<String> {
        let family = &self.families[0];
        let entry = name(&self.source.document.program, family.signature()).ok()?.entry()?;
        let [step] = self.steps()[..] else { return None };
        Some(full_name(entry, &self.protocol.settings(family.rows, family.cols, step), family.cols))
    }

    fn json(&self) -> Value {
        let history = self.history(|t| &t.residuals);
        let excesses = self.history(|t| &t.excesses);
        let reward = self.reward();
        let run = |Run { score, attainable, kappa }: &Run| {
            let trace = score.outcome.as_ref().ok();
            json!({
                "reward": score.reward,
                "step": score.step,
                "reached": score.reached,
                "residual": trace.and_then(|t| t.residuals.last()),
                "excess": trace.and_then(|t| t.excesses.last()),
                "attainable": attainable,
                "kappa": kappa,
                "failure": score.outcome.as_ref().err().map(ToString::to_string),
            })
        };
        json!({
            "program": self.source.document.update.text(&self.source.document.program),
            "name": self.source.name,
            "algorithm": self.algorithm(),
            "family": self.families[0],
            "kappas": self.kappas(),
            "seed": self.args.seed,
            "instances": self.runs.len(),
            "failures": self.failures(),
            "iterations": self.protocol.iterations,
            "profile": self.protocol.profile,
            "reward": reward.mean,
            "reward_error": reward.error,
            "acc": self.mean(|s| s.terms.acc),
            "decay": self.mean(|s| s.terms.decay),
            "comp": self.mean(|s| s.terms.comp),
            "cond": self.mean(|s| s.terms.cond),
            "residual": history.last(),
            "excess": excesses.last(),
            "attainable": self.attainable(),
            "step": Some(self.steps()).filter(|used| used.len() == 1).map(|used| used[0]),
            "flops": self.work(|s| s.flops),
            "passes": self.work(|s| s.passes),
            "history": history,
            "excess_history": excesses,
            "runs": self.runs.iter().map(run).collect::<Vec<_>>(),
        })
    }

    fn text(&self, quiet: bool) -> String {
        let mut text = format!("{}\n", strong(self.source.title()));
        if !quiet {
            text += &faint(&self.setting());
            text += "\n";
        }
        if self.failures() < self.runs.len() {
            text += &format!("\n{}", table(self.rows()));
            let excesses = thinned(&self.history(|t| &t.excesses), 60);
            if let [first, .., last] = excesses[..] {
                let bars = accent(&sparkline(&excesses));
                text += &format!("\n  excess  {} {bars} {}\n", number(first), number(last));
            }
        }
        if let Some(failure) = self.scores().find_map(|s| s.outcome.as_ref().err()) {
            let count = format!("failed on {} of {} instances", self.failures(), self.runs.len());
            text += &format!("\n{} {failure}\n", warning(&format!("{count}:")));
        }
        text
    }

    /// The result, a row for each number.
    fn rows(&self) -> Vec<Vec<String>> {
        let row = |name: &str, value: String, remark: &str| vec![name.into(), value, faint(remark)];
        let reward = self.reward();
        let mut rows =
            vec![row("reward", accent(&number(reward.mean)), &format!("± {}", number(reward.error)))];
        match self.protocol.profile {
            Profile::Tolerance { .. } => {
                let reached: Vec<f64> = self.scores().filter_map(|s| s.reached).map(|t| t as f64).collect();
                let count = format!("{} of {}", reached.len(), self.runs.len());
                let after = match reached.is_empty() {
                    true => String::new(),
                    false => format!("after {} iterations", median(reached)),
                };
                rows.push(row("  reached", count, &after));
            }
            _ => {
                rows.extend([
                    row("  accuracy", number(self.mean(|s| s.terms.acc)), "of the final iterate"),
                    row("  decay", number(self.mean(|s| s.terms.decay)), "of the slowest iteration"),
                    row("  complexity", number(self.mean(|s| s.terms.comp)), "of the work"),
                ]);
                if self.task().is_least_squares() {
                    let cond = number(self.mean(|s| s.terms.cond));
                    rows.push(row("  condition", cond, "of the problem preconditioned by R1"));
                }
            }
        }
        let [loss, excess] = self.task().measures();
        let last = |history: Vec<f64>| number(history.last().copied().unwrap_or(f64::NAN));
        let work = |part: fn(&Score) -> f64| number(self.work(part).unwrap_or(f64::NAN));
        rows.extend([
            row("residual", last(self.history(|t| &t.residuals)), loss),
            row("  attainable", number(self.attainable()), ""),
            row("  excess", last(self.history(|t| &t.excesses)), excess),
            row("work", work(|s| s.flops), &format!("flops in {} iterations", self.protocol.iterations)),
            row("", work(|s| s.passes), "passes over A"),
        ]);
        rows
    }

    fn task(&self) -> &'static dyn Task {
        self.families[0].kind.info().task
    }

    /// The condition numbers imposed.
    fn kappas(&self) -> Vec<f64> {
        self.families.iter().filter_map(|family| family.condition).collect()
    }

    /// What was run, in two lines.
    fn setting(&self) -> String {
        let (family, protocol) = (&self.families[0], self.protocol);
        let kappas: Vec<String> = self.kappas().iter().map(|k| format!("{k:e}")).collect();
        let kappa = if kappas.is_empty() { "as drawn".into() } else { kappas.join(", ") };
        let info = family.kind.info();
        let options = info.options.iter().filter_map(|choice| match choice {
            Choice::Condition => Some(format!("κ {kappa}")),
            Choice::Leverage => Some(format!("leverage {}", family.leverage.name())),
            Choice::Outside if family.outside == 0.0 => Some("consistent".to_string()),
            Choice::Outside => Some(format!("outside {}", family.outside)),
            Choice::Right | Choice::Scale => None,
        });
        let numbers = info.numbers.iter().zip(family.numbers).map(|(n, value)| format!("{} {value}", n.name));
        let options: String = options.chain(numbers).map(|option| format!(", {option}")).collect();
        // As typed where that is short.
        let short = |s: &f64| if (1e-4..1e4).contains(s) { s.to_string() } else { format!("{s:e}") };
        let steps: Vec<String> = self.steps().iter().map(short).collect();
        let count = self.runs.len();
        let plural = if count == 1 { "" } else { "s" };
        let tried = protocol.step.candidates().len();
        let best = if tried > 1 { format!(" (best of {tried})") } else { String::new() };
        let settings = protocol.settings(family.rows, family.cols, 1.0);
        format!(
            "{} {}×{}{options}; {count} instance{plural}, seed {}\n\
             T = {}, η = {}{best}, {} sketch s = {}, samples k = {}",
            family.kind,
            family.rows,
            family.cols,
            self.args.seed,
            protocol.iterations,
            steps.join(" or "),
            settings.sketch,
            settings.sketch_rows,
            settings.batch,
        )
    }
}

/// At most `most` of the values, evenly spaced, ends included.
fn thinned(values: &[f64], most: usize) -> Vec<f64> {
    if values.len() <= most {
        return values.to_vec();
    }
    (0..most).map(|i| values[i * (values.len() - 1) / (most - 1)]).collect()
}

//! `rl4rla evaluate`.

mod request;

use crate::args::{Evaluate, Shared};
use crate::failure::Failure;
use crate::interrupt::Terminal;
use crate::memory;
use crate::page::{Page, accent, faint, number, sparkline, strong, table, warning};
use crate::request::{families, refuse_misfits};
use crate::source::NamedProgram;
use request::{of_stage, protocol};
use rl4rla::equivalence::{full_name, name};
use rl4rla::experiment::{Evaluated, EvaluatedRun};
use rl4rla::problem::{Choice, Family, Task};
use rl4rla::reward::{Profile, Protocol, Score, auxiliary};
use rl4rla::statistics::median;
use serde_json::{Value, json};

/// Evaluates a program.
pub fn run(args: &Evaluate, shared: &Shared) -> Result<Page, Failure> {
    args.threads.apply()?;
    let source = NamedProgram::find(&args.program, &shared.store)?;
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
    afford(&families, args.instances)?;
    let evaluated = Evaluated::new(program, &families, &protocol, args.instances, args.seed, &Terminal)?;
    let auxiliary = match args.auxiliary {
        Some(profile) => Some((profile, auxiliary(program, profile, &protocol, args.instances, args.seed)?)),
        None => None,
    };
    let outcome = Outcome { args, source: &source, families: &families, protocol: &protocol, evaluated };
    let mut json = outcome.json();
    json["auxiliary"] = auxiliary.map_or(Value::Null, |(profile, reward)| json!({ profile.name(): reward }));
    let mut text = outcome.text(shared.quiet);
    if let Some((profile, reward)) = auxiliary {
        text += &format!("\n  auxiliary reward ({})  {}\n", profile.name(), number(reward));
    }
    let failed = outcome.evaluated.failures() == outcome.evaluated.runs.len();
    Ok(Page { json, text, code: u8::from(failed) })
}

/// Rejects instances that need more memory than available: one per thread is drawn at a time.
fn afford(families: &[Family], instances: u64) -> Result<(), Failure> {
    let at_once = instances.min(rayon::current_num_threads() as u64);
    let bytes = families.iter().map(Family::bytes).max().unwrap_or(0) * u128::from(at_once);
    let what = format!("{at_once} instances of {}×{} at once", families[0].rows, families[0].cols);
    memory::afford(bytes, &what, "fewer --rows or --cols, or --threads 1")
}

struct Outcome<'a> {
    args: &'a Evaluate,
    source: &'a NamedProgram,
    families: &'a [Family],
    protocol: &'a Protocol,
    evaluated: Evaluated,
}

impl Outcome<'_> {
    /// The catalogue name of the algorithm with its settings, if it is known.
    fn algorithm(&self) -> Option<String> {
        let family = &self.families[0];
        let entry = name(&self.source.document.program, family.signature()).ok()?.entry()?;
        let [step] = self.evaluated.steps()[..] else { return None };
        Some(full_name(entry, &self.protocol.settings(family.rows, family.cols, step), family.cols))
    }

    fn json(&self) -> Value {
        let history = self.evaluated.history(|t| &t.residuals);
        let excesses = self.evaluated.history(|t| &t.excesses);
        let reward = self.evaluated.reward();
        let run = |EvaluatedRun { score, attainable, kappa }: &EvaluatedRun| {
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
        let mut report = json!({
            "program": self.source.document.update.text(&self.source.document.program),
            "name": self.source.name,
            "algorithm": self.algorithm(),
            "family": self.families[0],
            "kappas": self.kappas(),
            "seed": self.args.seed,
            "instances": self.evaluated.runs.len(),
            "failures": self.evaluated.failures(),
            "iterations": self.protocol.iterations,
            "profile": self.protocol.profile,
            "reward": reward.mean,
            "reward_error": reward.error,
            "residual": history.last(),
            "excess": excesses.last(),
            "attainable": self.evaluated.attainable(),
            "step": Some(self.evaluated.steps()).filter(|used| used.len() == 1).map(|used| used[0]),
            "flops": self.evaluated.work(|s| s.flops),
            "passes": self.evaluated.work(|s| s.passes),
            "history": history,
            "excess_history": excesses,
            "runs": self.evaluated.runs.iter().map(run).collect::<Vec<_>>(),
        });
        for term in self.protocol.profile.shown() {
            report[term.row().key] = json!(self.evaluated.mean(|s| s.terms[term]));
        }
        report
    }

    fn text(&self, quiet: bool) -> String {
        let mut text = format!("{}\n", strong(self.source.title()));
        if !quiet {
            text += &faint(&self.setting());
            text += "\n";
        }
        if self.evaluated.failures() < self.evaluated.runs.len() {
            text += &format!("\n{}", table(self.rows()));
            let excesses = thinned(&self.evaluated.history(|t| &t.excesses), 60);
            if let [first, .., last] = excesses[..] {
                let bars = accent(&sparkline(&excesses));
                text += &format!("\n  excess  {} {bars} {}\n", number(first), number(last));
            }
        }
        if let Some(failure) = self.evaluated.scores().find_map(|s| s.outcome.as_ref().err()) {
            let count =
                format!("failed on {} of {} instances", self.evaluated.failures(), self.evaluated.runs.len());
            text += &format!("\n{} {failure}\n", warning(&format!("{count}:")));
        }
        text
    }

    /// The result as table rows.
    fn rows(&self) -> Vec<Vec<String>> {
        let row = |name: &str, value: String, remark: &str| vec![name.into(), value, faint(remark)];
        let reward = self.evaluated.reward();
        let mut rows =
            vec![row("reward", accent(&number(reward.mean)), &format!("± {}", number(reward.error)))];
        match self.protocol.profile {
            Profile::Tolerance { .. } => {
                let reached: Vec<f64> =
                    self.evaluated.scores().filter_map(|s| s.reached).map(|t| t as f64).collect();
                let count = format!("{} of {}", reached.len(), self.evaluated.runs.len());
                let after = match reached.is_empty() {
                    true => String::new(),
                    false => format!("after {} iterations", median(reached)),
                };
                rows.push(row("  reached", count, &after));
            }
            _ => {
                let shown = self.protocol.profile.shown();
                rows.extend(shown.into_iter().filter(|term| term.row().applies(self.task())).map(|term| {
                    let value = number(self.evaluated.mean(|s| s.terms[term]));
                    row(&format!("  {}", term.row().title), value, term.row().doc)
                }));
            }
        }
        let [loss, excess] = self.task().measures();
        let last = |history: Vec<f64>| number(history.last().copied().unwrap_or(f64::NAN));
        let work = |part: fn(&Score) -> f64| number(self.evaluated.work(part).unwrap_or(f64::NAN));
        rows.extend([
            row("residual", last(self.evaluated.history(|t| &t.residuals)), loss),
            row("  attainable", number(self.evaluated.attainable()), ""),
            row("  excess", last(self.evaluated.history(|t| &t.excesses)), excess),
            row("work", work(|s| s.flops), &format!("flops in {} iterations", self.protocol.iterations)),
            row("", work(|s| s.passes), "passes over A"),
        ]);
        rows
    }

    fn task(&self) -> &'static dyn Task {
        self.families[0].kind.info().task
    }

    /// The prescribed condition numbers.
    fn kappas(&self) -> Vec<f64> {
        self.families.iter().filter_map(|family| family.condition).collect()
    }

    /// The setting, in two lines.
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
        // As typed, if that is short.
        let short = |s: &f64| if (1e-4..1e4).contains(s) { s.to_string() } else { format!("{s:e}") };
        let steps: Vec<String> = self.evaluated.steps().iter().map(short).collect();
        let count = self.evaluated.runs.len();
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

/// At most `most` of the values, evenly spaced, including both ends.
fn thinned(values: &[f64], most: usize) -> Vec<f64> {
    if values.len() <= most {
        return values.to_vec();
    }
    (0..most).map(|i| values[i * (values.len() - 1) / (most - 1)]).collect()
}

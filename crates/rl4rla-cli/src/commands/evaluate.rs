//! `rl4rla evaluate`.

use crate::args::{Evaluate, ProfileName, Shared, UnitName};
use crate::failure::Failure;
use crate::page::{Page, accent, faint, number, sparkline, strong, table, warning};
use crate::source::Source;
use rl4rla::execute::{Trace, geometry};
use rl4rla::problem::{FAMILIES, Family, Instance, InstanceSet, Leverage, Right, Scale};
use rl4rla::program::{Canonical, LiveOut, Reg, RegSet, check, nearest};
use rl4rla::reward::{
    Charge, Evaluation, PAPER_GRID, Profile, Protocol, SOUND_GRID, Score, StepRule, Summary, Unit, Weights,
    auxiliary, evaluate,
};
use serde_json::{Value, json};

/// Evaluates a program.
pub fn run(args: &Evaluate, shared: &Shared) -> Result<Page, Failure> {
    if let Some(threads) = args.threads {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads as usize);
        pool.build_global()?;
    }
    let source = Source::find(&args.program)?;
    let families = families(args, &source)?;
    let protocol = protocol(args, &families[0])?;
    refuse_misfits(&source, &families[0], &protocol)?;
    let instances = draw(&families, args)?;
    let program = &source.document.program;
    let evaluation = evaluate(program, &instances, &protocol, args.seed);
    let auxiliary = match args.auxiliary {
        Some(profile) => Some((profile, auxiliary(program, profile, args.instances, args.seed)?)),
        None => None,
    };
    let outcome =
        Outcome { args, source: &source, families: &families, protocol: &protocol, instances, evaluation };
    let mut json = outcome.json();
    json["auxiliary"] = auxiliary.map_or(Value::Null, |(profile, reward)| json!({ profile.name(): reward }));
    let mut text = outcome.text(shared.quiet);
    if let Some((profile, reward)) = auxiliary {
        text += &format!("\n  auxiliary reward ({})  {}\n", profile.name(), number(reward));
    }
    let failed = outcome.failures() == outcome.scores().len();
    Ok(Page { json, text, code: u8::from(failed) })
}

/// One family for each condition number asked for, checked before anything is drawn.
fn families(args: &Evaluate, source: &Source) -> Result<Vec<Family>, Failure> {
    let own = &source.document.family;
    let name = match (&args.family, own.is_empty()) {
        (Some(name), _) => name,
        (None, false) => own,
        (None, true) => {
            let failure = Failure::new(format!("{} names no family of its own", source.name));
            return Err(failure.advise("--family mid-cond; `rl4rla list families` shows all"));
        }
    };
    let mut family = Family::named(name).ok_or_else(|| {
        let failure = Failure::new(format!("there is no family `{name}`"));
        match nearest(name, FAMILIES.iter().map(|f| f.name)) {
            Some(meant) => failure.advise(format!("--family {meant}; `rl4rla list families` shows all")),
            None => failure.advise("`rl4rla list families` shows all"),
        }
    })?;
    match family.kind.info().square {
        // One number is enough for a square family.
        true => {
            family.rows = args.rows.or(args.cols).unwrap_or(family.rows);
            family.cols = args.cols.or(args.rows).unwrap_or(family.cols);
        }
        false => {
            family.rows = args.rows.unwrap_or(family.rows);
            family.cols = args.cols.unwrap_or(family.cols);
        }
    }
    family.leverage = if args.leverage == "high" { Leverage::High } else { Leverage::Low };
    family.right = match args.right.as_str() {
        "student-t" => Right::StudentT,
        "scaled-rows" => Right::ScaledRows,
        _ => Right::Gauss,
    };
    family.scale = if args.scale == "raw" { Scale::Raw } else { Scale::Unit };
    family.outside = args.outside;
    let conditions: Vec<Option<f64>> = match args.kappa.is_empty() {
        true => vec![None],
        false => args.kappa.iter().copied().map(Some).collect(),
    };
    let families: Vec<Family> =
        conditions.into_iter().map(|condition| Family { condition, ..family }).collect();
    families.iter().try_for_each(Family::check)?;
    Ok(families)
}

fn positive(value: f64, option: &str) -> Result<f64, Failure> {
    match value.is_finite() && value > 0.0 {
        true => Ok(value),
        false => Err(Failure::new(format!("{option} must be a positive number, got {value}"))),
    }
}

fn protocol(args: &Evaluate, family: &Family) -> Result<Protocol, Failure> {
    let weights = match args.weights[..] {
        [acc, decay, comp, cond] if args.weights.iter().all(|w| w.is_finite() && *w >= 0.0) => {
            Weights::new(acc, decay, comp, cond)
        }
        _ => {
            let given: Vec<String> = args.weights.iter().map(f64::to_string).collect();
            let message = format!(
                "--weights takes four numbers acc,decay,comp,cond, none negative; got {}",
                given.join(",")
            );
            return Err(Failure::new(message).advise("--weights 1,10,8,1"));
        }
    };
    let condition_only = args.condition_only;
    let (profile, grid) = match args.profile {
        ProfileName::Sound => (Profile::Sound { weights, condition_only }, &SOUND_GRID[..]),
        ProfileName::Paper => {
            (Profile::Paper { weights, condition_only, ungated: args.ungated }, &PAPER_GRID[..])
        }
        ProfileName::Tolerance => {
            let epsilon = positive(args.tolerance, "--tolerance")?;
            (Profile::Tolerance { epsilon, charge: charge(args, family)? }, &SOUND_GRID[..])
        }
    };
    let step = |text: &String| match text.parse::<f64>() {
        Ok(step) => positive(step, "--step"),
        Err(_) => {
            Err(Failure::new(format!("--step takes `best` or numbers, got `{text}`")).advise("--step 0.5"))
        }
    };
    let grid = match &args.step[..] {
        [word] if word == "best" => grid.to_vec(),
        steps => steps.iter().map(step).collect::<Result<_, _>>()?,
    };
    let step = if let [step] = grid[..] { StepRule::Fixed(step) } else { StepRule::Best(grid) };
    let iterations = args.iterations.unwrap_or(if args.profile == ProfileName::Tolerance { 100 } else { 10 });
    let kept = RegSet::EMPTY.with(Reg::R1);
    Ok(Protocol {
        iterations: iterations as usize,
        sketch: args.sketch,
        sketch_factor: positive(args.sketch_factor, "--sketch-factor")?,
        batch: args.batch as usize,
        sampling: args.sampling,
        live_out: if condition_only { LiveOut::Keeping(kept) } else { LiveOut::Finished },
        ..Protocol::new(profile, step)
    })
}

fn charge(args: &Evaluate, family: &Family) -> Result<Charge, Failure> {
    let unit = match args.unit {
        UnitName::Flops => Unit::Flops,
        UnitName::Passes => Unit::Passes,
    };
    let Some(text) = &args.charge else { return Ok(Charge { unit, rows: family.rows, cols: family.cols }) };
    let size = text.split_once('x').and_then(|(rows, cols)| Some((rows.parse().ok()?, cols.parse().ok()?)));
    match size {
        Some((rows, cols)) if rows >= cols && cols >= 1 => Ok(Charge { unit, rows, cols }),
        _ => {
            let message =
                format!("--charge takes ROWSxCOLS with at least as many rows as columns, got `{text}`");
            Err(Failure::new(message).advise("--charge 1000000x500"))
        }
    }
}

/// A program that does not fit the family's shape is bad input, told before anything is drawn.
fn refuse_misfits(source: &Source, family: &Family, protocol: &Protocol) -> Result<(), Failure> {
    let smallest = if family.kind.info().square { 1 } else { 2 };
    let tiny = Family {
        rows: if family.rows == family.cols { 1 } else { smallest },
        cols: 1,
        condition: None,
        outside: 0.0,
        ..*family
    };
    let shape = geometry(&tiny.draw(&InstanceSet::Final.stream(0, 0))?);
    let live = Canonical::new(&source.document.program, protocol.live_out);
    check(live.program(), shape).map(|_| ()).map_err(|error| {
        let own = &source.document.family;
        let failure = Failure::new(format!("{} does not fit family {}: {error}", source.name, family.kind));
        if own.is_empty() { failure } else { failure.advise(format!("--family {own}, which it is made for")) }
    })
}

/// Fresh instances of the final set; condition numbers take turns.
fn draw(families: &[Family], args: &Evaluate) -> Result<Vec<Instance>, Failure> {
    use rayon::prelude::*;
    let draw = |i: u64| families[i as usize % families.len()].draw(&InstanceSet::Final.stream(args.seed, i));
    let drawn: Result<Vec<Instance>, _> = (0..args.instances).into_par_iter().map(draw).collect();
    Ok(drawn?)
}

struct Outcome<'a> {
    args: &'a Evaluate,
    source: &'a Source,
    families: &'a [Family],
    protocol: &'a Protocol,
    instances: Vec<Instance>,
    evaluation: Evaluation,
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => values[n / 2],
        n => 0.5 * (values[n / 2 - 1] + values[n / 2]),
    }
}

impl Outcome<'_> {
    fn scores(&self) -> &[Score] {
        &self.evaluation.scores
    }

    fn traces(&self) -> impl Iterator<Item = &Trace> {
        self.scores().iter().filter_map(|s| s.outcome.as_ref().ok())
    }

    fn failures(&self) -> usize {
        self.scores().iter().filter(|s| s.outcome.is_err()).count()
    }

    fn mean(&self, part: impl Fn(&Score) -> f64) -> f64 {
        Summary::of(self.scores().iter().map(part)).mean
    }

    /// The median over the instances at every iteration.
    fn history(&self, pick: impl Fn(&Trace) -> &[f64]) -> Vec<f64> {
        let length = self.traces().next().map_or(0, |trace| trace.residuals.len());
        (0..length).map(|t| median(self.traces().map(|trace| pick(trace)[t]).collect())).collect()
    }

    fn json(&self) -> Value {
        let history = self.history(|t| &t.residuals);
        let excesses = self.history(|t| &t.excesses);
        let reward = self.evaluation.reward();
        let run = |(score, instance): (&Score, &Instance)| {
            let trace = score.outcome.as_ref().ok();
            json!({
                "reward": score.reward,
                "step": score.step,
                "reached": score.reached,
                "residual": trace.and_then(|t| t.residuals.last()),
                "excess": trace.and_then(|t| t.excesses.last()),
                "attainable": instance.attainable(),
                "kappa": instance.spectrum().first().zip(instance.spectrum().last()).map(|(a, b)| a / b),
                "failure": score.outcome.as_ref().err().map(ToString::to_string),
            })
        };
        json!({
            "program": self.source.document.program.to_string(),
            "name": self.source.name,
            "family": self.families[0],
            "kappas": self.args.kappa,
            "seed": self.args.seed,
            "instances": self.scores().len(),
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
            "attainable": median(self.instances.iter().map(Instance::attainable).collect()),
            "step": median(self.scores().iter().map(|s| s.step).collect()),
            "flops": self.mean(|s| s.flops),
            "passes": self.mean(|s| s.passes),
            "history": history,
            "excess_history": excesses,
            "runs": self.scores().iter().zip(&self.instances).map(run).collect::<Vec<_>>(),
        })
    }

    fn text(&self, quiet: bool) -> String {
        let mut text = format!("{}\n", strong(self.source.title()));
        if !quiet {
            text += &faint(&self.setting());
            text += "\n";
        }
        let reward = self.evaluation.reward();
        let spread = format!("± {}", number(reward.error));
        let mut rows = vec![vec!["reward".into(), accent(&number(reward.mean)), spread]];
        if !matches!(self.protocol.profile, Profile::Tolerance { .. }) {
            let parts = [
                ("  accuracy", self.mean(|s| s.terms.acc), "of the last residual"),
                ("  decay", self.mean(|s| s.terms.decay), "of the slowest step"),
                ("  complexity", self.mean(|s| s.terms.comp), "of the work done"),
                ("  condition", self.mean(|s| s.terms.cond), "of the preconditioner R1"),
            ];
            rows.extend(parts.map(|(name, mean, of)| vec![name.into(), number(mean), faint(of)]));
        } else {
            let reached = self.scores().iter().filter(|s| s.reached.is_some()).count();
            rows.push(vec![
                "  reached".into(),
                format!("{reached} of {}", self.scores().len()),
                String::new(),
            ]);
        }
        let history = self.history(|t| &t.residuals);
        let excesses = self.history(|t| &t.excesses);
        if let (Some(residual), Some(excess)) = (history.last(), excesses.last()) {
            let attainable = median(self.instances.iter().map(Instance::attainable).collect());
            rows.push(vec!["residual".into(), number(*residual), faint("‖Ax − b‖/‖b‖")]);
            rows.push(vec!["  attainable".into(), number(attainable), String::new()]);
            rows.push(vec!["  excess".into(), number(*excess), faint("‖A(x − x*)‖/‖b‖")]);
            rows.push(vec!["work".into(), number(self.mean(|s| s.flops)), faint("flops")]);
            rows.push(vec![String::new(), number(self.mean(|s| s.passes)), faint("passes over A")]);
        }
        text += &format!("\n{}", table(rows));
        if !excesses.is_empty() {
            let ends = [excesses[0], *excesses.last().unwrap_or(&f64::NAN)].map(number);
            let course = thinned(&excesses, 60);
            text += &format!("\n  excess  {} {} {}\n", ends[0], accent(&sparkline(&course)), ends[1]);
        }
        if let Some(failure) = self.scores().iter().find_map(|s| s.outcome.as_ref().err()) {
            let count = format!("failed on {} of {} instances", self.failures(), self.scores().len());
            text += &format!("\n{} {failure}\n", warning(&format!("{count}:")));
        }
        text
    }

    /// What was run, in two lines.
    fn setting(&self) -> String {
        let (family, protocol) = (&self.families[0], self.protocol);
        let kappas: Vec<String> = self.args.kappa.iter().map(|k| format!("{k:e}")).collect();
        let kappa = if kappas.is_empty() { "as drawn".into() } else { kappas.join(", ") };
        let consistent = match family.outside {
            0.0 => "consistent".to_string(),
            share => format!("{share} of b outside the range"),
        };
        let steps: Vec<String> = {
            let mut used: Vec<f64> = self.scores().iter().map(|s| s.step).collect();
            used.sort_by(f64::total_cmp);
            used.dedup();
            used.iter().map(f64::to_string).collect()
        };
        let tried = protocol.step.candidates().len();
        let best = if tried > 1 { format!(" (best of {tried})") } else { String::new() };
        let sketch_rows = protocol.settings(family.rows, family.cols, 1.0).sketch_rows;
        format!(
            "{} {}×{}, κ {kappa}, leverage {}, {consistent}; {} instances, seed {}\n\
             T = {}, η = {}{best}, {} sketch s = {sketch_rows}, samples k = {}",
            family.kind,
            family.rows,
            family.cols,
            self.args.leverage,
            self.scores().len(),
            self.args.seed,
            protocol.iterations,
            steps.join(" or "),
            protocol.sketch,
            protocol.batch,
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

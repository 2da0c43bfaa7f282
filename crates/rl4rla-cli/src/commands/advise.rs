//! `rl4rla advise`.

use crate::args::{Advise, Shared};
use crate::data::system;
use crate::failure::Failure;
use crate::page::{Page, accent, faint, indent, ledger, number, path, warning};
use crate::progress;
use crate::shell::quoted;
use rl4rla::experiment::winner_map::{
    Advice, AdvisedOption, DataTraits, EstimateError, Question, Rates, RatesSource, WinnerMap, advise,
};
use rl4rla::linalg::Matrix;
use serde_json::{Value, json};
use std::path::Path;

/// A question, and where its parts come from.
struct Asked {
    question: Question,
    /// What was neither given nor estimated.
    assumed: Vec<&'static str>,
    /// What was estimated from data.
    traits: Option<DataTraits>,
}

/// Advises on a program.
pub fn run(args: &Advise, shared: &Shared) -> Result<Page, Failure> {
    args.threads.apply()?;
    args.data.only_with_matrix()?;
    let asked = match args.data.matrix.as_deref() {
        Some(matrix) => from_data(args, matrix)?,
        None => from_options(args)?,
    };
    let rates = match args.default_rates {
        true => Rates::USUAL,
        false => {
            progress::doing("measuring the rates of this machine");
            Rates::measured()
        }
    };
    let map = WinnerMap::shipped();
    let advice = advise(map, &asked.question, rates)?;
    let command = next(args, &advice);
    let text = text(&asked, &advice, &command, shared);
    Ok(Page::ok(json(&asked, &advice, map, &command), text))
}

fn from_options(args: &Advise) -> Result<Asked, Failure> {
    let (Some(rows), Some(cols)) = (args.rows, args.cols) else {
        let missing = if args.rows.is_none() { "--rows" } else { "--cols" };
        let message = format!("the size of the problem is not known: {missing} is missing");
        return Err(Failure::new(message).advise("--rows 100000 --cols 100, or --matrix FILE"));
    };
    asked(args, rows, cols, None)
}

fn from_data(args: &Advise, matrix: &Path) -> Result<Asked, Failure> {
    // Wrong options are told before a large file is read.
    asked(args, 2, 1, None)?;
    progress::doing(format!("reading {}", path(matrix)));
    let mut system = system(&args.data, matrix, false)?.centred();
    let has_target = args.data.target.is_some() || args.data.rhs.is_some();
    if has_target {
        system = system.with_target_centred();
    }
    progress::doing("estimating the condition number and the leverage");
    let b = if has_target { &system.b[..] } else { &[] };
    let traits = traits(&system.matrix, b, args.seed, matrix)?;
    asked(args, system.matrix.rows(), system.matrix.cols(), Some(traits))
}

/// The traits of A and, if it is not empty, of b.
#[allow(non_snake_case)]
pub fn traits(A: &Matrix, b: &[f64], seed: u64, file: &Path) -> Result<DataTraits, Failure> {
    DataTraits::of(A, b, seed).map_err(|error| {
        let advice = match error {
            EstimateError::Wide { .. } => "a matrix with more rows than columns",
            EstimateError::ZeroColumn(_) => "the matrix without that column",
            EstimateError::Dependent => "`rl4rla solve precond-gd --rank-deficient drop` with the same data",
            EstimateError::Unreadable(_) => "the same command again, while nothing changes the file",
            EstimateError::Overflow => "the data in other units, or --standardise",
        };
        Failure::new(format!("{}: {error}", path(file))).advise(advice)
    })
}

/// The question: options first, then what the data say, then the defaults.
fn asked(args: &Advise, rows: usize, cols: usize, traits: Option<DataTraits>) -> Result<Asked, Failure> {
    let usual = Question::default();
    let mut assumed = Vec::new();
    let outside = traits.and_then(|traits| traits.outside);
    let known = [
        ("kappa", args.kappa.is_some() || traits.is_some()),
        ("leverage", args.leverage.is_some() || traits.is_some()),
        ("outside", args.outside.is_some() || outside.is_some()),
    ];
    assumed.extend(known.iter().filter(|(_, known)| !known).map(|(name, _)| *name));
    let question = Question {
        rows,
        cols,
        kappa: args.kappa.or(traits.map(|traits| traits.kappa)).unwrap_or(usual.kappa),
        outside: args.outside.or(outside).unwrap_or(usual.outside),
        leverage: args.leverage.or(traits.map(|traits| traits.leverage)).unwrap_or(usual.leverage),
        tolerance: args.tolerance,
        price: args.price,
    };
    question.check()?;
    Ok(Asked { question, assumed, traits })
}

/// The command that follows the advice.
fn next(args: &Advise, advice: &Advice) -> String {
    let mut data = match &args.data.matrix {
        Some(matrix) => format!("--matrix {}", quoted(matrix)),
        None => "--matrix FILE".into(),
    };
    match (&args.data.target, &args.data.rhs) {
        (Some(target), _) => data += &format!(" --target {}", quoted(target)),
        (None, Some(rhs)) => data += &format!(" --rhs {}", quoted(rhs)),
        (None, None) => data += " --rhs FILE",
    }
    let flags = [(args.data.intercept, " --intercept"), (args.data.standardise, " --standardise")];
    flags.iter().filter(|(set, _)| *set).for_each(|(_, flag)| data += flag);
    let Some(tunables) = advice.chosen.tunables else {
        return format!("rl4rla compare --baselines {} {data}", advice.chosen.program);
    };
    if let (Some(kind), Some(factor)) = (tunables.sketch, tunables.sketch_factor) {
        data += &format!(" --sketch {kind} --sketch-factor {factor}");
    }
    format!("rl4rla solve {} {data}", advice.chosen.program)
}

fn json(asked: &Asked, advice: &Advice, map: &WinnerMap, command: &str) -> Value {
    let Question { rows, cols, kappa, outside, leverage, tolerance, .. } = asked.question;
    let estimated = asked.traits.map(|traits| {
        json!({
            "kappa": traits.kappa,
            "leverage": traits.leverage,
            "dominant_rows": traits.dominant_rows,
            "outside": traits.outside,
        })
    });
    let mut json = json!(advice.chosen);
    json["reason"] = json!(advice.reason);
    json["margin"] = json!(advice.margin);
    json["alternatives"] = json!(advice.alternatives);
    json["unreached"] = json!(advice.unreached);
    json["extrapolates"] = json!(advice.extrapolates());
    json["extrapolation"] = json!(advice.extrapolation);
    json["problem"] = json!({
        "rows": rows,
        "cols": cols,
        "kappa": kappa,
        "outside": outside,
        "leverage": leverage,
        "tolerance": tolerance,
        "price": advice.price,
    });
    json["assumed"] = json!(asked.assumed);
    json["estimated"] = json!(estimated);
    json["answered_from"] = json!(advice.class);
    json["answered_from"]["tolerance"] = json!(advice.tolerance);
    json["rates"] = json!(advice.rates);
    json["map"] = json!({ "version": map.version, "seed": map.seed, "measured_cols": map.measured_cols });
    json["next"] = json!(command);
    json
}

fn text(asked: &Asked, advice: &Advice, command: &str, shared: &Shared) -> String {
    let Question { rows, cols, kappa, outside, leverage, tolerance, .. } = asked.question;
    let mut text = format!("{}\n{}\n\n", accent(&advice.chosen.program), advice.reason);
    let row = |option: &AdvisedOption| {
        let sketch = option.tunables.and_then(|t| Some(format!("{} {}n", t.sketch?, t.sketch_factor?)));
        let iterations = if option.direct { "direct".into() } else { number(option.iterations.ceil()) };
        let step = option.tunables.map_or(String::new(), |tunables| number(tunables.step));
        vec![
            option.program.clone(),
            seconds(option.seconds),
            iterations,
            number(option.passes),
            number(option.flops),
            step,
            sketch.unwrap_or_default(),
        ]
    };
    let head = ["program", "predicted", "iterations", "passes", "flops", "step", "sketch"];
    text += &ledger(&head, std::iter::once(&advice.chosen).chain(&advice.alternatives).map(row), 1..6);
    if !advice.unreached.is_empty() {
        text += &format!("do not reach the tolerance: {}\n", advice.unreached.join(", "));
    }
    for why in &advice.extrapolation {
        text += &format!("{} {why}\n", warning("extrapolated:"));
    }
    if shared.quiet {
        return text;
    }
    let origin = |name: &'static str| if asked.assumed.contains(&name) { " (assumed)" } else { "" };
    let rates = match advice.rates.source {
        RatesSource::Measured => "measured on this machine",
        RatesSource::Default => "default rates",
    };
    let note = format!(
        "for {rows}×{cols}, κ = {}{}, {} outside{}, {} leverage{}, to {tolerance:e}; from the class κ = {:e}, {} outside, to {:e}.\n\
         Seconds are predictions: {} flop/s and {} bytes/s, {rates}; price of a pass {}. Next:\n",
        number(kappa),
        origin("kappa"),
        number(outside),
        origin("outside"),
        leverage.name(),
        origin("leverage"),
        advice.class.kappa,
        advice.class.outside,
        advice.tolerance,
        number(advice.rates.flops),
        number(advice.rates.bytes),
        number(advice.price),
    );
    text + &format!("\n{}{}", faint(&note), indent(command))
}

/// Predicted seconds, to two digits.
fn seconds(value: f64) -> String {
    match value {
        value if value < 1e-3 => format!("{:.2} ms", value * 1e3),
        value if value < 1.0 => format!("{:.0} ms", value * 1e3),
        value => format!("{} s", number(value)),
    }
}

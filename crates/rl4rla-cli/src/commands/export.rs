//! `rl4rla export`.

mod latex;
mod toolchain;

use crate::args::{self, Shared};
use crate::failure::Failure;
use crate::output::Outputs;
use crate::page::{Page, accent, faint, ledger, number, path, warning};
use crate::request::{finite, positive};
use crate::shape::common;
use crate::source::NamedProgram;
use rl4rla::data::write_whole;
use rl4rla::equivalence::name;
use rl4rla::experiment::exported::{TOLERANCE, TrialOutcome, TrialVerdict, check};
use rl4rla::export::{Defaults, Export, Language, Provenance};
use rl4rla::program::Entry;
use rl4rla::reward::Protocol;
use serde_json::{Value, json};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use toolchain::Workshop;

/// Exports programs.
pub fn run(args: &args::ExportArguments, shared: &Shared) -> Result<Page, Failure> {
    let names = args.programs.iter().flat_map(|name| match name.to_str() {
        Some("all") => Entry::known().map(|entry| entry.name.into()).collect(),
        _ => vec![name.clone()],
    });
    let sources: Vec<NamedProgram> =
        names.map(|name| NamedProgram::find(&name, &shared.store)).collect::<Result<_, _>>()?;
    let exports: Vec<Export> = sources.iter().map(|source| export(source, args)).collect::<Result<_, _>>()?;
    refuse_twins(&exports)?;
    let texts: Vec<String> =
        exports.iter().map(|export| export.write(args.to)).collect::<Result<_, _>>().map_err(|error| {
            Failure::new(error.to_string()).advise("--to json, which takes every operator")
        })?;
    let files = written(args, shared, &sources, &exports, &texts)?;
    let verdicts = match args.check {
        true => Some(check(args.to, &exports, &texts, &Workshop::open(shared.quiet)?)?),
        false => None,
    };
    let failed = verdicts.iter().flatten().any(|verdict| verdict.passed() == Some(false));
    let item = |i: usize| {
        let mut item = json!({ "language": args.to.name, "program": sources[i].name });
        if let Some(verdicts) = &verdicts {
            told(&mut item, &verdicts[i]);
        }
        match &files {
            Some(files) => item["file"] = json!(files[i].to_string_lossy()),
            None => item["text"] = json!(texts[i]),
        }
        item
    };
    let items: Vec<Value> = (0..sources.len()).map(item).collect();
    let json = match &items[..] {
        [only] => only.clone(),
        _ => several(args.to, items, verdicts.as_deref()),
    };
    let text = match (&verdicts, &files) {
        (Some(verdicts), _) => verdict_text(&sources, verdicts),
        (None, Some(files)) => files.iter().map(|file| format!("wrote {}\n", path(file))).collect(),
        (None, None) => texts.join("\n"),
    };
    Ok(Page { json, text, code: u8::from(failed) })
}

/// A program with its settings and its origin.
fn export<'a>(source: &'a NamedProgram, args: &args::ExportArguments) -> Result<Export<'a>, Failure> {
    let document = &source.document;
    let misfit = |error| {
        Failure::new(format!("{}: {error}", source.name))
            .advise("`rl4rla list operators` shows operand and result types")
    };
    let signature = common(&[source], None)?.signature;
    let known = match Entry::named(&source.name) {
        Some(_) => None,
        None => {
            let naming = name(&document.program, signature).map_err(misfit)?;
            naming.entry().map(|entry| format!("{} ({})", entry.document.title, entry.name))
        }
    };
    let provenance = Provenance {
        name: short_name(source),
        known,
        origin: source.origin.parts.iter().map(|(what, which)| (what.to_string(), which.clone())).collect(),
        version: rl4rla::VERSION.into(),
    };
    let defaults = defaults(args, source.origin.protocol.as_ref())?;
    Export::new(document, signature, defaults, provenance).map_err(misfit)
}

/// The stage of a run, a file name without folder and extension, or the catalogue name.
fn short_name(source: &NamedProgram) -> String {
    let stage = source.origin.parts.iter().find(|(what, _)| *what == "stage");
    let stem = || Path::new(&source.name).file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let named = stage.map(|(_, stage)| stage.clone());
    named.or_else(stem).unwrap_or_else(|| source.name.clone())
}

/// The options as typed, else the settings of the run that found the program, else the executor's defaults.
fn defaults(args: &args::ExportArguments, protocol: Option<&Protocol>) -> Result<Defaults, Failure> {
    let own = Defaults::default();
    let own = protocol.map_or(own, |protocol| Defaults {
        // A stage's step size and iteration count suit only the problems of the stage.
        iterations: own.iterations,
        tolerance: own.tolerance,
        step: own.step,
        mu: protocol.mu,
        every: protocol.every,
        sketch: protocol.sketch,
        sketch_factor: protocol.sketch_factor,
        batch: protocol.batch,
        sampling: protocol.sampling,
    });
    Ok(Defaults {
        iterations: args.iterations.map_or(own.iterations, |iterations| iterations as usize),
        tolerance: positive(args.tolerance.unwrap_or(own.tolerance), "--tolerance", "1e-10")?,
        step: args.step.map(|step| positive(step, "--step", "0.5")).transpose()?,
        mu: finite(args.mu.unwrap_or(own.mu), "--mu", "0.25")?,
        every: args.every.map_or(own.every, |every| every as usize),
        sketch: args.sketch.unwrap_or(own.sketch),
        sketch_factor: positive(args.sketch_factor.unwrap_or(own.sketch_factor), "--sketch-factor", "8")?,
        batch: args.batch.map_or(own.batch, |batch| batch as usize),
        sampling: args.sampling.unwrap_or(own.sampling),
    })
}

/// Rejects two programs with the same name, which would overwrite each other.
fn refuse_twins(exports: &[Export]) -> Result<(), Failure> {
    let mut names: Vec<String> = exports.iter().map(Export::identifier).collect();
    names.sort();
    match names.windows(2).find(|two| two[0] == two[1]) {
        Some(two) => Err(Failure::new(format!("two programs would have the name `{}`", two[0]))
            .advise("export them one by one, or rename a file")),
        None => Ok(()),
    }
}

/// Writes the requested files and lists them.
fn written(
    args: &args::ExportArguments,
    shared: &Shared,
    sources: &[NamedProgram],
    exports: &[Export],
    texts: &[String],
) -> Result<Option<Vec<PathBuf>>, Failure> {
    let Some(out) = &args.out else { return Ok(None) };
    let unwritable = |path: &Path, error: std::io::Error| {
        Failure::new(format!("cannot write {}: {error}", path.display())).advise("--out with another path")
    };
    let files: Vec<PathBuf> = if exports.len() > 1 || out.is_dir() {
        fs::create_dir_all(out).map_err(|error| unwritable(out, error))?;
        let file = |export: &Export| out.join(format!("{}.{}", export.identifier(), args.to.extension));
        exports.iter().map(file).collect()
    } else {
        vec![out.clone()]
    };
    let reads = |outputs: Outputs, source: &NamedProgram| outputs.reads("a program", source.file());
    let mut outputs = sources.iter().fold(Outputs::new(shared), reads);
    files.iter().try_for_each(|file| outputs.writes("--out", file))?;
    for (file, text) in files.iter().zip(texts) {
        write_whole(file, |open| open.write_all(text.as_bytes())).map_err(|error| unwritable(file, error))?;
    }
    Ok(Some(files))
}

fn told(item: &mut Value, verdict: &TrialVerdict) {
    item["checked"] = json!(verdict.passed().is_some());
    item["passed"] = json!(verdict.passed());
    item["deviation"] = json!(verdict.deviation().filter(|deviation| deviation.is_finite()));
    item["remark"] = json!(verdict.words());
    let outcome = |outcome: &TrialOutcome| {
        json!({
            "problem": outcome.problem,
            "converged": outcome.converged,
            "iterations": outcome.iterations,
            "excess": Some(outcome.excess).filter(|excess| excess.is_finite()),
        })
    };
    item["defaults"] = verdict.outcomes().iter().map(outcome).collect();
}

fn several(language: Language, items: Vec<Value>, verdicts: Option<&[TrialVerdict]>) -> Value {
    let mut json = json!({ "language": language.name, "items": items });
    if let Some(verdicts) = verdicts {
        let passed: Vec<Option<bool>> = verdicts.iter().map(TrialVerdict::passed).collect();
        let worst = verdicts
            .iter()
            .filter_map(TrialVerdict::deviation)
            .fold(None, |worst: Option<f64>, deviation| {
                Some(worst.map_or(deviation, |worst| worst.max(deviation)))
            });
        json["checked"] = json!(passed.iter().all(Option::is_some));
        json["passed"] = match passed.contains(&Some(false)) {
            true => json!(false),
            false => json!(passed.iter().all(Option::is_some).then_some(true)),
        };
        json["deviation"] = json!(worst.filter(|worst| worst.is_finite()));
    }
    json
}

/// One row per program.
fn verdict_text(sources: &[NamedProgram], verdicts: &[TrialVerdict]) -> String {
    let row = |(source, verdict): (&NamedProgram, &TrialVerdict)| {
        let word = match verdict.passed() {
            Some(true) => accent("passed"),
            Some(false) => warning("failed"),
            None => faint("not checked"),
        };
        let deviation = verdict.deviation().map(number).unwrap_or_default();
        let outcomes = verdict.outcomes();
        let converged = outcomes.iter().filter(|outcome| outcome.converged).count();
        let defaults = match outcomes.len() {
            0 => String::new(),
            all => format!("{converged} of {all}"),
        };
        vec![source.name.clone(), word, deviation, defaults, faint(&verdict.words())]
    };
    let rows: Vec<Vec<String>> = sources.iter().zip(verdicts).map(row).collect();
    let compared = verdicts.iter().any(|verdict| verdict.deviation().is_some());
    let rule = format!(
        "Passed: no history deviates by more than {TOLERANCE:e} of the largest value so far, and with its own \
         defaults the code converged to the solution, or reported that it did not and made nothing worse."
    );
    let rule = if compared { format!("{}\n", faint(&rule)) } else { String::new() };
    ledger(&["program", "", "deviation", "converged", ""], rows, 2..4) + &rule
}

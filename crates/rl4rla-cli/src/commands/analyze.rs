//! `rl4rla analyze`.

mod again;
mod text;

use crate::args::{Analyze, Shared};
use crate::failure::Failure;
use crate::output::Outputs;
use crate::page::{Page, accent, faint};
use crate::request::{families, positive, protocol, refuse_misfits, steps};
use crate::source::NamedProgram;
use rl4rla::analysis::{Analysis, Care, Study};
use rl4rla::experiment::analyzed::Analyzed;
use rl4rla::problem::Family;
use rl4rla::program::LiveOut;
use rl4rla::report::ReportPage;
use rl4rla::reward::{Profile, SOUND_GRID, StepRule};
use serde_json::{Value, json};

/// Default size of tall problems; small, because hundreds of them must be solved.
const SIZE: (usize, usize) = (2000, 20);

/// Analyses a program.
pub fn run(args: &Analyze, shared: &Shared) -> Result<Page, Failure> {
    args.threads.apply()?;
    let source = NamedProgram::find(&args.program, &shared.store)?;
    let mut outputs = Outputs::new(shared).reads("the program", source.file());
    if let Some(folder) = &args.out {
        outputs.writes_into("--out", folder)?;
    }
    let report = Report { args, shared, source: &source, study: study(args, &source)? };
    let analysis = Analysis::of(&report.study);
    let mut json = report.json(&analysis)?;
    let mut text = report.text(&analysis);
    if let Some(folder) = &args.out {
        let written = outputs.write(&report.document(&analysis), "--out", folder)?;
        let files: Vec<String> = written.iter().map(|path| path.display().to_string()).collect();
        text += &format!("\n{}\n", accent(&files[0]));
        if !shared.quiet {
            text += &faint(&format!("with {} figure and table files in the same folder\n", files.len() - 1));
        }
        json["files"] = json!(files);
    }
    Ok(Page::ok(json, text))
}

/// A program, the options, and the study.
struct Report<'a> {
    args: &'a Analyze,
    shared: &'a Shared,
    source: &'a NamedProgram,
    study: Study,
}

fn study(args: &Analyze, source: &NamedProgram) -> Result<Study, Failure> {
    let asked = families(&args.problem, Some(source), args.replicates.max(args.problem.kappa.len() as u64))?;
    let family = sized(args, asked[0]);
    let kappas: Vec<f64> = asked.iter().filter_map(|family| family.condition).collect();
    refuse_misfits(source, &family, LiveOut::Finished)?;
    let grid = steps(&args.running, family.kind.info().task, &SOUND_GRID)?;
    let rule = if let [step] = grid[..] { StepRule::Fixed(step) } else { StepRule::Best(grid) };
    let tolerance = positive(args.tolerance, "--tolerance", "1e-6")?;
    if tolerance >= 1.0 {
        let message =
            format!("--tolerance must be below 1, the initial excess of every run, got {tolerance}");
        return Err(Failure::new(message).advise("--tolerance 1e-6"));
    }
    let protocol = protocol(&args.running.chance, args.iterations, Profile::sound(), rule)?;
    let care = Care { tolerance, replicates: args.replicates, seed: args.seed, quick: args.quick };
    Ok(Study::new(&source.document.program, family, &kappas, protocol, care)?)
}

/// The family at the requested size, or at one small enough to be drawn often.
fn sized(args: &Analyze, family: Family) -> Family {
    let own = args.problem.rows.is_none() && args.problem.cols.is_none() && !family.kind.info().square;
    let (rows, cols) = if own { SIZE } else { (family.rows, family.cols) };
    Family { rows: family.rows.min(rows), cols: family.cols.min(cols), ..family }
}

impl Report<'_> {
    fn document(&self, analysis: &Analysis) -> ReportPage {
        let analyzed = Analyzed {
            title: self.source.title(),
            program: &self.source.document,
            study: &self.study,
            analysis,
            command: &self.command(),
            again: &|point| self.again(point),
        };
        analyzed.document()
    }

    fn json(&self, analysis: &Analysis) -> Result<Value, Failure> {
        let mut json = serde_json::to_value(analysis)?;
        let Report { args, source, study, .. } = self;
        json["program"] = json!(source.document.update.text(&source.document.program));
        json["name"] = json!(source.name);
        json["family"] = json!(study.family);
        json["kappas"] = json!(study.kappas);
        json["step"] = json!(study.step);
        json["horizon"] = json!(study.horizon());
        for (key, value) in [("seed", args.seed), ("replicates", args.replicates), ("T", args.iterations)] {
            json[key] = json!(value);
        }
        json["tolerance"] = json!(args.tolerance);
        json["id"] = json!(study.id());
        json["command"] = json!(self.command());
        if let Some(worst) = &analysis.worst {
            json["worst"]["command"] = json!(self.again(&worst.point));
            json["worst"]["mildest"]["command"] = json!(self.again(&worst.mildest.point));
        }
        Ok(json)
    }
}

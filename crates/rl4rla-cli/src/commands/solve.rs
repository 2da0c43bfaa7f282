//! `rl4rla solve`.

mod choice;
mod errors;
mod least_squares;
mod method;
mod others;
mod page;
mod predict;
mod ridge;
mod several;
mod spectral;
mod summary;

use crate::args::{Shared, Solve};
use crate::data::{refused, system, system_of_several, weights};
use crate::failure::Failure;
use crate::memory;
use crate::output::Outputs;
use crate::page::{Page, path};
use crate::progress;
use crate::request::{finite, positive};
use crate::source::NamedProgram;
pub use choice::calibration;
use choice::speeds;
use errors::ErrorReporter;
use method::SolvingMethod;
use page::{SolveOutcome, figure};
use predict::Predicted;
use rl4rla::data::{System, write_csv, write_npy};
use rl4rla::fit::{Fit, FitRequest, WeightedSystem, fit, fit_ridge, fit_several};
use rl4rla::problem::{Misfit, Stopping, Task, families};
use rl4rla::program::{Reg, Update, nearest};
use rl4rla::report::Figure;
use rl4rla::solve::{RankDeficient, SolveOptions, Speeds, StepSize};
use serde_json::json;
use std::io::Write;
use std::path::{Path, PathBuf};
use summary::RegressionSummary;

/// Solves the problem given by the user's data with a program.
pub fn run(args: &Solve, shared: &Shared) -> Result<Page, Failure> {
    if args.eigenpairs.is_some() || args.svd.is_some() {
        return spectral::run(args, shared);
    }
    let asked = Asked::new(args, shared, args.weights.is_some())?;
    let matrix = args.data.matrix.as_deref().ok_or_else(|| {
        Failure::new("no matrix was given")
            .advise("--matrix FILE; NPY, NPZ, CSV, Matrix Market, Parquet and Arrow are read")
    })?;
    refuse_outputs(args, shared, &asked.method)?;
    args.threads.apply()?;
    progress::doing(format!("reading {}", path(matrix)));
    let (system, further) = match asked.method {
        SolvingMethod::Auto => system_of_several(&args.data, matrix)?,
        _ => (system(&args.data, matrix, asked.task.inputs().contains(Reg::B))?, vec![]),
    };
    let rows = system.matrix.rows();
    let weights = args.weights.as_ref().map(|file| weights(&args.data, file, rows)).transpose()?;
    let (page, _) = asked.solve(matrix, GivenData { system, further, weights }, false)?;
    Ok(page)
}

/// Solves data in memory; what the page would say of coefficients is returned apart from it, for every right-hand side or
/// λ.
pub fn in_memory(args: &Solve, shared: &Shared, data: GivenData) -> Result<(Page, Vec<Vec<f64>>), Failure> {
    let asked = Asked::new(args, shared, data.weights.is_some())?;
    if !data.further.is_empty() && !matches!(asked.method, SolvingMethod::Auto) {
        let message = format!("{} solves for one right-hand side, and b has several", asked.method.name());
        return Err(Failure::new(message).advise("a column of b at a time, or no program"));
    }
    asked.solve(Path::new("A"), data, true)
}

/// Data to be solved.
pub struct GivenData {
    /// A and the first right-hand side.
    pub system: System,
    /// Further right-hand sides.
    pub further: Vec<Vec<f64>>,
    /// A weight for every row.
    pub weights: Option<Vec<f64>>,
}

/// What is asked, before data are read.
struct Asked<'a> {
    args: &'a Solve,
    shared: &'a Shared,
    method: SolvingMethod,
    lambdas: Option<Vec<f64>>,
    options: SolveOptions,
    task: &'static dyn Task,
    speeds: Speeds,
}

impl<'a> Asked<'a> {
    fn new(args: &'a Solve, shared: &'a Shared, weighted: bool) -> Result<Asked<'a>, Failure> {
        let method = SolvingMethod::find(args, &shared.store)?;
        let lambdas = ridge::lambdas(args)?;
        let options = options(args, &method)?;
        let task = method.task()?;
        refuse_unfit(args, &method, task, weighted)?;
        let speeds = speeds(&shared.store)?;
        Ok(Asked { args, shared, method, lambdas, options, task, speeds })
    }

    /// Solves data, and makes the page and the coefficients for every right-hand side or λ; those of data in memory are
    /// only returned.
    fn solve(
        &self,
        matrix: &Path,
        data: GivenData,
        in_memory: bool,
    ) -> Result<(Page, Vec<Vec<f64>>), Failure> {
        let Asked { args, shared, method, lambdas, options, task, speeds } = self;
        let GivenData { system, further, weights } = data;
        if !further.is_empty() && (lambdas.is_some() || args.summary) {
            let option = if args.summary { "--summary" } else { "a penalty" };
            return Err(Failure::new(format!(
                "{option} is for one right-hand side, and --rhs has several columns"
            ))
            .advise("a file for each right-hand side"));
        }
        let size = (system.matrix.rows(), system.matrix.cols());
        if args.summary && size.0 <= size.1 {
            let message = format!(
                "{}: --summary needs more rows than coefficients, and has {} and {}",
                matrix.display(),
                size.0,
                size.1
            );
            return Err(Failure::new(message).advise("more rows, fewer columns, or no --summary"));
        }
        let in_file = system.matrix.is_in_file();
        let nonzeros = system.matrix.is_sparse().then(|| system.matrix.nonzeros());
        if nonzeros.is_some() && (args.summary || lambdas.is_some() || !matches!(method, SolvingMethod::Auto))
        {
            afford_factor(size.1)?;
        }
        let reporter = ErrorReporter { program: method.name(), matrix, sparse: nonzeros.is_some() };
        let columns = system.columns.clone();
        let mut weighted = WeightedSystem::new(system, further, weights, *task)
            .map_err(|error| reporter.error(error, &columns))?;
        // Names are only needed where coefficients are told.
        let labels = if in_memory { vec![] } else { columns.labels() };
        if let (SolvingMethod::Auto, Some(lambdas)) = (method, lambdas) {
            let fit = fit_ridge(&mut weighted, lambdas).map_err(|error| reporter.error(error, &columns))?;
            return Ok((ridge::page(args, matrix, size, &fit, &labels)?, fit.coefficients));
        }
        if weighted.is_several() {
            let fits = fit_several(&mut weighted, options, *speeds)
                .map_err(|error| reporter.error(error, &columns))?;
            return Ok((several::page(args, matrix, size, &fits, &labels)?, fits.coefficients));
        }
        progress::doing(format!("solving with {}", method.name()));
        let request = FitRequest {
            task: *task,
            options: options.clone(),
            speeds: *speeds,
            lambda: args.lambda.unwrap_or(0.0),
            summary: args.summary,
            explain: args.explain,
            ..FitRequest::new(method.fitting())
        };
        let found = fit(&mut weighted, &request, &mut |what| progress::doing(what));
        let fit = found.map_err(|error| reporter.error(error, &weighted.system.columns))?;
        let (rows, cols) = size;
        let (answered, length) = (fit.is_answer(), weighted.size());
        let system = weighted.system;
        let Fit { solution, coefficients, choice, method: known, response, regression, seconds } = fit;
        let (program, title) = match &choice {
            Some(choice) => (choice.program, choice.title),
            None => known.unwrap_or((method.name(), method.title())),
        };
        let System { columns, dropped, .. } = &system;
        let summary = regression
            .map(|found| RegressionSummary::new(&found, columns, solution.residual * length, &coefficients));
        let mut files: Vec<PathBuf> = Vec::new();
        // A result worse than x = 0 is not kept.
        if let Some(out) = args.out.as_ref().filter(|_| answered) {
            write(out, &["name", "value"], Some(&columns.labels()), &coefficients)?;
            files.push(out.clone());
        }
        if let Some(plot) = &args.plot {
            let written = figure((program, title), matrix, &solution, *task).write(plot);
            files.extend(written.map_err(|error| {
                Failure::new(format!("cannot write {}: {error}", plot.display())).advise("another --plot")
            })?);
        }
        let predict_from = args.predict.as_deref().filter(|_| answered);
        let predicted = predict_from
            .map(|path| Predicted::new(args, path, columns, solution.estimate(), response, &mut files));
        let predicted = predicted.transpose()?;
        let code = u8::from(!solution.is_converged());
        let outcome = SolveOutcome {
            args,
            program,
            title,
            choice,
            options,
            matrix,
            task: *task,
            size: (rows, cols),
            dropped: *dropped,
            in_file,
            nonzeros,
            solution,
            response,
            seconds,
            labels: columns.labels(),
            intercept: columns.intercept,
            coefficients: labels.into_iter().zip(coefficients.clone()).filter(|_| answered).collect(),
            predicted,
            summary,
            files,
        };
        if in_memory {
            let mut json = outcome.json();
            json["warning"] = json!(outcome.warning().map(|(why, advice)| format!("{why} Try {advice}.")));
            let found = if answered { vec![coefficients] } else { vec![] };
            return Ok((Page { json, text: String::new(), code }, found));
        }
        // With `--quiet` or `--json` the page has no warning, so it goes to standard error.
        if shared.quiet || shared.json {
            let _ = write!(anstream::stderr(), "{}", outcome.verdict());
        }
        Ok((Page { json: outcome.json(), text: outcome.text(shared.quiet), code }, vec![coefficients]))
    }
}

/// Rejects sparse data whose dense factor does not fit into memory: a sketch of 4n + 64 rows, its factorisation and R.
fn afford_factor(cols: usize) -> Result<(), Failure> {
    let bytes = 8 * (cols as u128) * (10 * cols as u128 + 128);
    let what = format!("a dense factor of {cols} sparse columns");
    memory::afford(bytes, &what, "`rl4rla solve` without a program, --lambda and --summary needs none")
}

/// Rejects output files that are also inputs, before anything is computed.
fn refuse_outputs(args: &Solve, shared: &Shared, method: &SolvingMethod) -> Result<(), Failure> {
    let mut outputs = Outputs::new(shared)
        .reads("the program", method.file())
        .reads("the matrix", args.data.matrix.as_deref())
        .reads("the right-hand side", args.data.rhs.as_deref())
        .reads("the data to predict", args.predict.as_deref());
    let plot = args.plot.as_deref().map(Figure::files);
    let plot = plot.iter().flatten().map(|path| ("--plot", path));
    let files = [("--out", &args.out), ("--predictions", &args.predictions)];
    let files = files.into_iter().filter_map(|(option, path)| Some((option, path.as_ref()?)));
    files.chain(plot).try_for_each(|(option, path)| outputs.writes(option, path))
}

/// Rejects options that the task does not have.
fn refuse_unfit(
    args: &Solve,
    method: &SolvingMethod,
    task: &dyn Task,
    weighted: bool,
) -> Result<(), Failure> {
    let solving = task.solving();
    let asked = [
        (args.average && !solving.averages, "--average", "is for linear systems"),
        (
            args.rank_deficient.is_some_and(|how| how != RankDeficient::Refuse)
                && solving.stopping != Stopping::Certificate,
            "--rank-deficient",
            "is for linear systems",
        ),
        (
            args.lambda.is_some()
                && !task.inputs().contains(Reg::LAMBDA)
                && !matches!(method, SolvingMethod::Auto),
            "--lambda",
            "is for programs with λ, such as ridge-cg, shifted-cg and regularized-newton",
        ),
        (
            args.summary
                && (!matches!(method, SolvingMethod::Auto)
                    || args.lambda.is_some()
                    || args.lambda_path.is_some()),
            "--summary",
            "is for least squares without a program or a penalty",
        ),
        (weighted && solving.stopping != Stopping::Certificate, "--weights", "is for least squares"),
        (
            args.average && !matches!(method, SolvingMethod::Program(_)),
            "--average",
            "is for programs that sample rows",
        ),
        (args.predict.is_some() && !task.inputs().contains(Reg::B), "--predict", "needs a target to predict"),
    ];
    match asked.into_iter().find(|(unfit, ..)| *unfit) {
        None => Ok(()),
        Some((_, option, why)) => {
            let message = format!("{option} {why}, and {} is for the task `{}`", method.name(), task.name());
            Err(Failure::new(message).advise(format!("without {option}")))
        }
    }
}

fn options(args: &Solve, method: &SolvingMethod) -> Result<SolveOptions, Failure> {
    let step = match args.step.as_str() {
        "auto" => StepSize::Auto,
        text => match text.parse::<f64>() {
            Ok(step) => StepSize::Fixed(positive(step, "--step", "0.5")?),
            Err(_) => {
                let message = format!("--step takes `auto` or a number, got `{text}`");
                return Err(Failure::new(message).advise("--step auto"));
            }
        },
    };
    let tolerance = args.tolerance.unwrap_or(SolveOptions::default().tolerance);
    if !(0.0..1.0).contains(&tolerance) {
        let message = format!("--tolerance must be at least 0 and less than 1, got {tolerance}");
        return Err(Failure::new(message).advise("--tolerance 1e-10"));
    }
    if let Some(lambda) = args.lambda.filter(|lambda| !(lambda.is_finite() && *lambda >= 0.0)) {
        let message = format!("--lambda must be at least 0 and finite, got {lambda}");
        return Err(Failure::new(message).advise("--lambda 0.1"));
    }
    if args.iterations == 0 {
        return Err(Failure::new("--iterations must be at least 1").advise("--iterations 1000"));
    }
    Ok(SolveOptions {
        step,
        iterations: args.iterations,
        tolerance,
        backward_error: None,
        rank_deficient: args.rank_deficient.unwrap_or(match method {
            SolvingMethod::Auto => RankDeficient::MinNorm,
            _ => RankDeficient::Refuse,
        }),
        average: args.average,
        history: args.plot.is_some(),
        mu: finite(args.chance.mu, "--mu", "0.25")?,
        every: args.chance.every as usize,
        sketch: args.chance.sketch,
        sketch_factor: positive(args.chance.sketch_factor, "--sketch-factor", "8")?,
        batch: args.chance.batch as usize,
        sampling: args.chance.sampling,
        seed: args.seed,
    })
}

/// The task that a program declares; linear systems by default.
pub fn task_of(source: &NamedProgram) -> Result<&'static dyn Task, Failure> {
    if source.document.update.is_answer() {
        let gives =
            if source.document.update == Update::Answer { "predicts every row" } else { "finds a basis" };
        let message = format!("{} {gives} and does not compute a solution", source.name);
        return Err(Failure::new(message).advise("`rl4rla list programs` shows programs that solve"));
    }
    <dyn Task>::of(&source.document).map_err(|misfit| {
        let failure = Failure::new(format!("{}: {misfit}", source.name));
        let meant = match &misfit {
            Misfit::NoFamily(name) => nearest(name, families().map(|family| family.name)),
            _ => None,
        };
        match meant {
            Some(meant) => failure.advise(format!("`family: {meant}`; `rl4rla list families` shows all")),
            None => failure.advise("a `family:` in its header; `rl4rla list families` shows all"),
        }
    })
}

/// Writes a column of numbers, as NPY if the path has that extension, otherwise as CSV.
fn write(path: &Path, head: &[&str], labels: Option<&[String]>, values: &[f64]) -> Result<(), Failure> {
    let head: Vec<String> = head.iter().map(|name| name.to_string()).collect();
    write_table(path, &head, labels, values)
}

/// Writes a table row by row in the same way; the first name is that of the labels, if there are any.
fn write_table(
    path: &Path,
    head: &[String],
    labels: Option<&[String]>,
    values: &[f64],
) -> Result<(), Failure> {
    let npy = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("npy"));
    let cols = head.len() - usize::from(labels.is_some());
    match npy {
        true => write_npy(path, values.len() / cols.max(1), cols, values),
        false => write_csv(path, head, labels, values),
    }
    .map_err(refused)
}

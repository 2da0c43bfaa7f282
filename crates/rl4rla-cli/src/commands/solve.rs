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
use choice::{ProgramChoice, choose, speeds};
use errors::ErrorReporter;
use method::{SolvingMethod, by_baseline};
use page::{SolveOutcome, figure};
use predict::Predicted;
use rl4rla::data::{System, write_csv, write_npy};
use rl4rla::linalg::{Matrix, norm};
use rl4rla::problem::{Misfit, Stopping, Task, families};
use rl4rla::program::{Reg, Update, nearest};
use rl4rla::report::Figure;
use rl4rla::solve::{
    LogisticFit, Problem, RankDeficient, Regression, Solution, SolveError, SolveOptions, StepSize,
    Termination, logistic_fit, minimum_norm, solve,
};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;
use summary::RegressionSummary;

/// Solves the problem given by the user's data with a program.
pub fn run(args: &Solve, shared: &Shared) -> Result<Page, Failure> {
    if args.eigenpairs.is_some() || args.svd.is_some() {
        return spectral::run(args, shared);
    }
    let method = SolvingMethod::find(args, &shared.store)?;
    let lambdas = ridge::lambdas(args)?;
    let options = options(args, &method)?;
    let matrix = args.data.matrix.as_deref().ok_or_else(|| {
        Failure::new("no matrix was given")
            .advise("--matrix FILE; NPY, NPZ, CSV, Matrix Market, Parquet and Arrow are read")
    })?;
    refuse_outputs(args, shared, &method)?;
    let task = method.task()?;
    refuse_unfit(args, &method, task)?;
    let speeds = speeds(&shared.store)?;
    args.threads.apply()?;
    progress::doing(format!("reading {}", path(matrix)));
    // The system is kept until the end: it may hold the open file that its matrix is read from.
    let (mut system, further) = match method {
        SolvingMethod::Auto => system_of_several(&args.data, matrix)?,
        _ => (system(&args.data, matrix, task.inputs().contains(Reg::B))?, vec![]),
    };
    let mut size = norm(&system.b);
    if !further.is_empty() && (lambdas.is_some() || args.summary) {
        let option = if args.summary { "--summary" } else { "a penalty" };
        return Err(Failure::new(format!(
            "{option} is for one right-hand side, and --rhs has several columns"
        ))
        .advise("a file for each right-hand side"));
    }
    if args.summary && system.matrix.rows() <= system.matrix.cols() {
        let (rows, cols) = (system.matrix.rows(), system.matrix.cols());
        let message = format!(
            "{}: --summary needs more rows than coefficients, and has {rows} and {cols}",
            matrix.display()
        );
        return Err(Failure::new(message).advise("more rows, fewer columns, or no --summary"));
    }
    // Several targets are centred and weighted where each has its own mean.
    let first = (!further.is_empty()).then(|| system.b.clone());
    let mut given_weights: Option<Vec<f64>> = None;
    if let Some(file) = &args.weights {
        let weights = weights(&args.data, file, system.matrix.rows())?;
        size = system.b.iter().zip(&weights).map(|(b, w)| b * b * w).sum::<f64>().sqrt();
        system = system.weighted(&weights).ok_or_else(|| {
            Failure::new(format!(
                "{}: weights need a matrix in memory, and a dense one with an intercept",
                matrix.display()
            ))
            .advise("a larger --max-memory, or --dense")
        })?;
        given_weights = Some(weights);
    } else {
        system = system.centred();
        if task.solving().centres_target && further.is_empty() {
            system = system.with_target_centred();
        }
    }
    // Reported numbers are in units of the target as it is in the file.
    let shrunk = if size > 0.0 { norm(&system.b) / size } else { 1.0 };
    let (rows, cols, in_file) = (system.matrix.rows(), system.matrix.cols(), system.matrix.is_in_file());
    let nonzeros = system.matrix.is_sparse().then(|| system.matrix.nonzeros());
    if nonzeros.is_some() && (args.summary || lambdas.is_some() || !matches!(method, SolvingMethod::Auto)) {
        afford_factor(cols)?;
    }
    let (a, b) = (std::mem::replace(&mut system.matrix, Matrix::zeros(0, 0)), std::mem::take(&mut system.b));
    let reporter =
        ErrorReporter { program: method.name(), matrix, sparse: nonzeros.is_some(), system: &system };
    if let (SolvingMethod::Auto, Some(lambdas)) = (&method, &lambdas) {
        let refused = |error| reporter.error(error);
        return ridge::run(args, matrix, (a, b, shrunk), &system.columns, lambdas, refused);
    }
    if let Some(first) = first {
        let targets = std::iter::once(first).chain(further).collect();
        let (refused, weights) = (|error| reporter.error(error), given_weights.as_deref());
        let columns = &system.columns;
        return several::run(args, matrix, (a, targets), weights, columns, (&options, speeds), refused);
    }
    let response = task.response(&b).map_err(|error| reporter.data(error))?;
    let noise = system.columns.noise();
    let free = system.columns.intercept && task.solving().scales_columns;
    let problem = |a, b, noise| {
        let problem = Problem::new(task, a, b).with_lambda(args.lambda.unwrap_or(0.0));
        let problem = if free { problem.with_free_columns(vec![cols - 1]) } else { problem };
        problem.with_noise(noise).map_err(SolveError::Data)
    };
    progress::doing(format!("solving with {}", method.name()));
    let begun = Instant::now();
    let (mut fit, mut alone, mut known) = (None, None, None);
    let found: Result<(Solution, Option<ProgramChoice>), SolveError> = match &method {
        SolvingMethod::Program(source) => {
            problem(a, b, noise).and_then(|problem| Ok((solve(&source.document, problem, &options)?, None)))
        }
        SolvingMethod::Baseline(baseline) => {
            let found = by_baseline(*baseline, (a, b, noise), &options);
            let (solution, seconds) = found.map_err(|error| reporter.baseline(&error))?;
            alone = Some(seconds);
            solution.map(|solution| (solution, None))
        }
        SolvingMethod::Logistic(_) => problem(a, b, noise).and_then(|problem| {
            let LogisticFit { solution, method, title } = logistic_fit(problem, &options)?;
            known = Some((method, title));
            Ok((solution, None))
        }),
        SolvingMethod::Auto if rows < cols => {
            known = Some(("minimum-norm", "Minimum-norm solution"));
            problem(a, b, noise).and_then(|problem| Ok((minimum_norm(&problem)?, None)))
        }
        SolvingMethod::Auto => problem(a, b, noise).and_then(|problem| {
            if args.summary {
                let mut regression = Regression::of(&problem)?;
                // Rows without weight tell nothing.
                let zero = given_weights.iter().flatten().filter(|weight| **weight == 0.0).count();
                regression.freedom = regression.freedom.saturating_sub(zero);
                fit = Some(regression);
            }
            let (solution, choice) = choose(problem, &options, speeds, args.explain)?;
            Ok((solution, Some(choice)))
        }),
    };
    let (mut solution, choice) = found.map_err(|error| reporter.error(error))?;
    let (program, title) = match &choice {
        Some(choice) => (choice.entry.name, choice.entry.document.title.as_str()),
        None => known.unwrap_or((method.name(), method.title())),
    };
    solution.residuals.iter_mut().chain([&mut solution.residual]).for_each(|residual| *residual *= shrunk);
    let alone = alone.or(choice.as_ref().map(|choice| choice.seconds));
    let seconds = alone.unwrap_or_else(|| begun.elapsed().as_secs_f64());
    let System { columns, dropped, .. } = &system;
    let coefficients = columns.coefficients(solution.estimate());
    let summary =
        fit.map(|fit| RegressionSummary::new(&fit, columns, solution.residual * size, &coefficients));
    let mut files: Vec<PathBuf> = Vec::new();
    // A result worse than x = 0 is not kept.
    let answered = solution.ended != Termination::Divergence;
    if let Some(out) = args.out.as_ref().filter(|_| answered) {
        write(out, &["name", "value"], Some(&columns.labels()), &coefficients)?;
        files.push(out.clone());
    }
    if let Some(plot) = &args.plot {
        let written = figure((program, title), matrix, &solution, task).write(plot);
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
        options: &options,
        matrix,
        task,
        size: (rows, cols),
        dropped: *dropped,
        in_file,
        nonzeros,
        solution,
        response,
        seconds,
        labels: columns.labels(),
        intercept: columns.intercept,
        coefficients: columns.labels().into_iter().zip(coefficients).filter(|_| answered).collect(),
        predicted,
        summary,
        files,
    };
    // With `--quiet` or `--json` the page has no warning, so it goes to standard error.
    if shared.quiet || shared.json {
        let _ = write!(anstream::stderr(), "{}", outcome.verdict());
    }
    Ok(Page { json: outcome.json(), text: outcome.text(shared.quiet), code })
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
fn refuse_unfit(args: &Solve, method: &SolvingMethod, task: &dyn Task) -> Result<(), Failure> {
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
        (
            args.weights.is_some() && solving.stopping != Stopping::Certificate,
            "--weights",
            "is for least squares",
        ),
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

//! `rl4rla solve`.

mod least_squares;
mod others;
mod predict;

use crate::args::{Shared, Solve};
use crate::data::{refused, system};
use crate::failure::Failure;
use crate::output::Outputs;
use crate::page::{Page, accent, duration, faint, number, path, sparkline, strong, table, warning};
use crate::progress;
use crate::request::positive;
use crate::source::Source;
use predict::Predicted;
use rl4rla::data::{System, write_csv, write_npy};
use rl4rla::execute::{self, Fault};
use rl4rla::linalg::{Matrix, norm};
use rl4rla::problem::{InstanceError, Misfit, Response, Stopping, Task, families};
use rl4rla::program::{Reg, Update, nearest};
use rl4rla::report::{Axis, Figure, Ink, Mark, Panel, Series};
use rl4rla::solve::{Ended, Options, Problem, RankDeficient, Solution, SolveError, Step, Unsupported, solve};
use serde_json::{Value, json};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Coefficients that are shown on the screen.
const SHOWN: usize = 10;

/// Solves the user's data by a program.
pub fn run(args: &Solve, shared: &Shared) -> Result<Page, Failure> {
    let source = Source::find(&args.program, &shared.store)?;
    let options = options(args)?;
    let matrix = args.data.matrix.as_deref().ok_or_else(|| {
        Failure::new("there is no matrix").advise("--matrix FILE; NPY, CSV and Matrix Market are read")
    })?;
    refuse_outputs(args, shared, &source)?;
    let task = task_of(&source)?;
    refuse_unfit(args, &source, task)?;
    args.threads.apply()?;
    progress::doing(format!("reading {}", path(matrix)));
    // The system itself stays until the end: it may hold the file that its matrix is read from.
    let mut system = system(&args.data, matrix, task.inputs().contains(Reg::B))?.centred();
    let size = norm(&system.b);
    if task.solving().centres_target {
        system = system.with_target_centred();
    }
    // What is told is told in units of the target as it is in the file.
    let shrunk = if size > 0.0 { norm(&system.b) / size } else { 1.0 };
    let (rows, cols, in_file) = (system.matrix.rows(), system.matrix.cols(), system.matrix.is_in_file());
    let (a, b) = (std::mem::replace(&mut system.matrix, Matrix::zeros(0, 0)), std::mem::take(&mut system.b));
    let told = Told { source: &source, matrix, system: &system };
    let response = task.response(&b).map_err(|error| told.data(error))?;
    let problem = Problem::new(task, a, b).with_noise(system.columns.noise());
    progress::doing(format!("solving by {}", source.name));
    let begun = Instant::now();
    let solution =
        problem.map_err(SolveError::Data).and_then(|problem| solve(&source.document, problem, &options));
    let mut solution = solution.map_err(|error| told.error(error))?;
    solution.residuals.iter_mut().chain([&mut solution.residual]).for_each(|residual| *residual *= shrunk);
    let seconds = begun.elapsed().as_secs_f64();
    let System { columns, dropped, .. } = &system;
    let coefficients = columns.coefficients(solution.estimate());
    let mut files: Vec<PathBuf> = Vec::new();
    // What is worse than x = 0 is nothing to keep.
    let answered = solution.ended != Ended::Divergence;
    if let Some(out) = args.out.as_ref().filter(|_| answered) {
        write(out, &["name", "value"], Some(&columns.labels()), &coefficients)?;
        files.push(out.clone());
    }
    if let Some(plot) = &args.plot {
        let written = figure(&source, matrix, &solution, task).write(plot);
        files.extend(written.map_err(|error| {
            Failure::new(format!("cannot write {}: {error}", plot.display())).advise("another --plot")
        })?);
    }
    let predict_from = args.predict.as_deref().filter(|_| answered);
    let predicted = predict_from
        .map(|path| Predicted::new(args, path, columns, solution.estimate(), response, &mut files));
    let predicted = predicted.transpose()?;
    let code = u8::from(!solution.is_converged());
    let outcome = Outcome {
        args,
        source: &source,
        matrix,
        task,
        auto: options.step == Step::Auto,
        size: (rows, cols),
        dropped: *dropped,
        in_file,
        solution,
        response,
        seconds,
        labels: columns.labels(),
        intercept: columns.intercept,
        coefficients: columns.labels().into_iter().zip(coefficients).filter(|_| answered).collect(),
        predicted,
        files,
    };
    // Whatever a user reads, a warning is part of it.
    if shared.quiet || shared.json {
        let _ = write!(anstream::stderr(), "{}", outcome.verdict());
    }
    Ok(Page { json: outcome.json(), text: outcome.text(shared.quiet), code })
}

/// Refuses to write over what is read, before anything is computed.
fn refuse_outputs(args: &Solve, shared: &Shared, source: &Source) -> Result<(), Failure> {
    let mut outputs = Outputs::new(shared)
        .reads("the program", source.file())
        .reads("the matrix", args.data.matrix.as_deref())
        .reads("the right-hand side", args.data.rhs.as_deref())
        .reads("the data to predict", args.predict.as_deref());
    let plot = args.plot.as_deref().map(Figure::files);
    let plot = plot.iter().flatten().map(|path| ("--plot", path));
    let files = [("--out", &args.out), ("--predictions", &args.predictions)];
    let files = files.into_iter().filter_map(|(option, path)| Some((option, path.as_ref()?)));
    files.chain(plot).try_for_each(|(option, path)| outputs.writes(option, path))
}

/// Refuses what the task does not have.
fn refuse_unfit(args: &Solve, source: &Source, task: &dyn Task) -> Result<(), Failure> {
    let solving = task.solving();
    let asked = [
        (args.average && !solving.averages, "--average", "is for linear systems"),
        (
            args.rank_deficient != RankDeficient::Refuse && solving.stopping != Stopping::Certificate,
            "--rank-deficient",
            "is for linear systems",
        ),
        (args.predict.is_some() && !task.inputs().contains(Reg::B), "--predict", "needs a target to predict"),
    ];
    match asked.into_iter().find(|(unfit, ..)| *unfit) {
        None => Ok(()),
        Some((_, option, why)) => {
            let message = format!("{option} {why}, and {} is for the task `{}`", source.name, task.name());
            Err(Failure::new(message).advise(format!("without {option}")))
        }
    }
}

/// What came of it.
struct Outcome<'a> {
    args: &'a Solve,
    source: &'a Source,
    matrix: &'a Path,
    task: &'static dyn Task,
    /// Whether the step was looked for.
    auto: bool,
    size: (usize, usize),
    dropped: usize,
    in_file: bool,
    solution: Solution,
    response: Response,
    seconds: f64,
    labels: Vec<String>,
    intercept: bool,
    /// None where x is no answer.
    coefficients: Vec<(String, f64)>,
    predicted: Option<Predicted>,
    files: Vec<PathBuf>,
}

impl Outcome<'_> {
    fn json(&self) -> Value {
        let solution = &self.solution;
        let known = solution.certificate.as_ref();
        let coefficient = |(name, value): &(String, f64)| json!({ "name": name, "value": value });
        let mut all = json!({
            "program": self.source.name,
            "matrix": self.matrix.to_string_lossy(),
            "rows": self.size.0,
            "cols": self.size.1,
            "dropped": self.dropped,
            "in_file": self.in_file,
            "relative_residual": known.map(|_| solution.residual),
            "relative_gradient": known.map(|_| solution.gradient),
            "iterations": solution.iterations,
            "converged": solution.is_converged(),
            "ended": solution.ended.words(),
            "step": solution.step,
            "seed": self.args.seed,
            "passes": solution.passes,
            "flops": solution.flops,
            "seconds": self.seconds,
            "residuals": solution.residuals,
            "coefficients": self.coefficients.iter().map(coefficient).collect::<Vec<Value>>(),
            "predicted": self.predicted.as_ref().map(Predicted::json),
            "files": self.files.iter().map(|file| file.to_string_lossy()).collect::<Vec<_>>(),
        });
        let more = match known {
            Some(_) => least_squares::json(solution, &self.labels),
            None => others::json(solution, self.task, self.response),
        };
        if let (Value::Object(all), Value::Object(more)) = (&mut all, more) {
            all.extend(more);
        }
        all
    }

    fn text(&self, quiet: bool) -> String {
        let mut text = String::new();
        if !quiet {
            let ((rows, cols), place) = (self.size, if self.in_file { ", read from disk" } else { "" });
            let title = strong(self.source.title());
            text += &format!("{title} on {}: {rows}×{cols}{place}\n", path(self.matrix));
            if self.dropped > 0 {
                text += &faint(&format!("{} rows with missing values were left out\n", self.dropped));
            }
            let how = self.args.rank_deficient;
            if let Some(remark) = least_squares::remark(&self.solution, &self.labels, self.intercept, how) {
                text += &warning(&format!("{remark}\n"));
            }
            text += "\n";
        }
        text += &table(self.facts());
        text += &format!("\n{}", self.coefficients());
        if let Some(predicted) = &self.predicted {
            text += &format!("\n{}", predicted.text());
        }
        for file in &self.files {
            text += &faint(&format!("wrote {}\n", file.display()));
        }
        if quiet { text } else { text + &self.verdict() }
    }

    fn facts(&self) -> Vec<Vec<String>> {
        let (solution, [loss, _]) = (&self.solution, self.task.measures());
        let mut facts = vec![vec![loss.to_string(), number(solution.residual)]];
        facts.extend(match &solution.certificate {
            Some(known) => least_squares::facts(known, self.size.1),
            None => others::facts(solution, self.task, self.response),
        });
        facts.push(vec!["iterations".into(), format!("{}: {}", solution.iterations, solution.ended.words())]);
        if self.task.inputs().contains(Reg::ETA) {
            let how = match (self.auto, &solution.certificate) {
                (false, _) => "",
                (true, Some(_)) => ", found by a pilot",
                (true, None) => " in the end, found anew in every iteration",
            };
            facts.push(vec!["step η".into(), format!("{}{how}", number(solution.step))]);
        }
        let (flops, time) = (number(solution.flops), duration(self.seconds));
        facts.push(vec![
            "work".into(),
            format!("{flops} flops, {} passes over A, {time}", number(solution.passes)),
        ]);
        let seen: Vec<f64> = solution.residuals.iter().copied().filter(|r| r.is_finite()).collect();
        if seen.len() > 2 {
            facts.push(vec!["course".into(), accent(&sparkline(&thin(&seen)))]);
        }
        facts
    }

    fn coefficients(&self) -> String {
        let rows = self.coefficients.iter().take(SHOWN);
        let mut text = table(rows.map(|(name, value)| vec![accent(name), number(*value)]));
        if self.coefficients.len() > SHOWN {
            let hint = if self.args.out.is_some() { "" } else { "; --out FILE writes all" };
            text += &faint(&format!("and {} more{hint}\n", self.coefficients.len() - SHOWN));
        }
        text
    }

    /// A word of warning, where one is due.
    fn verdict(&self) -> String {
        let told = match &self.solution.certificate {
            Some(known) => least_squares::warning(&self.solution, known),
            None => others::warning(&self.solution, self.task, self.args.tolerance),
        };
        told.map_or_else(String::new, |(why, advice)| {
            warning(&format!("{why}\n")) + &faint(&format!("try: {advice}\n"))
        })
    }
}

fn options(args: &Solve) -> Result<Options, Failure> {
    let step = match args.step.as_str() {
        "auto" => Step::Auto,
        text => match text.parse::<f64>() {
            Ok(step) => Step::Fixed(positive(step, "--step", "0.5")?),
            Err(_) => {
                let message = format!("--step takes `auto` or a number, got `{text}`");
                return Err(Failure::new(message).advise("--step auto"));
            }
        },
    };
    if !(0.0..1.0).contains(&args.tolerance) {
        let message = format!("--tolerance must be at least 0 and less than 1, got {}", args.tolerance);
        return Err(Failure::new(message).advise("--tolerance 1e-10"));
    }
    if args.iterations == 0 {
        return Err(Failure::new("--iterations must be at least 1").advise("--iterations 1000"));
    }
    Ok(Options {
        step,
        iterations: args.iterations,
        tolerance: args.tolerance,
        rank_deficient: args.rank_deficient,
        average: args.average,
        history: args.plot.is_some(),
        sketch: args.chance.sketch,
        sketch_factor: positive(args.chance.sketch_factor, "--sketch-factor", "8")?,
        batch: args.chance.batch as usize,
        sampling: args.chance.sampling,
        seed: args.seed,
    })
}

/// The task that a program says it is made for; linear systems if it says nothing.
pub fn task_of(source: &Source) -> Result<&'static dyn Task, Failure> {
    if source.document.update == Update::Answer {
        let message = format!("{} answers for every row and has no solution to give", source.name);
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
            None => failure.advise("a family in its head; `rl4rla list families` shows all"),
        }
    })
}

/// Errors of a solver in the user's words: his files, his columns, his options.
struct Told<'a> {
    source: &'a Source,
    matrix: &'a Path,
    system: &'a System,
}

impl Told<'_> {
    fn data(&self, error: InstanceError) -> Failure {
        let told = error.with_names(&self.system.columns.labels());
        Failure::new(format!("{}: {told}", self.matrix.display()))
            .advise("docs/solve.md tells what can be solved")
    }

    fn run(&self, failure: execute::Failure) -> Failure {
        let advice = match failure.fault {
            Fault::NotInMemory => "a larger --max-memory, another --sketch, or another program",
            Fault::NotFinite => "a smaller --step, or --step auto",
            Fault::Shape(_) => "a program for data of this shape; `rl4rla list programs` shows all",
            Fault::TooFewRows { .. } => "a smaller --batch",
            Fault::TooLong { .. } => "fewer --iterations",
            _ => "another program, or fewer columns",
        };
        Failure::new(format!("{} failed: {failure}", self.source.name)).advise(advice)
    }

    fn error(&self, error: SolveError) -> Failure {
        let (path, columns) = (self.matrix.display(), &self.system.columns);
        match error {
            SolveError::Run(failure) => self.run(failure),
            SolveError::Data(error) => self.data(error),
            SolveError::Dependent { columns: found, rank } => {
                least_squares::refuse(&path.to_string(), &found, rank, &columns.labels(), columns.intercept)
            }
            SolveError::Unreadable(lost) => {
                Failure::new(format!("the copy of {path} on disk cannot be read: {lost}"))
                    .advise("check the disk, or TMPDIR")
            }
            SolveError::Overflow { column } => {
                let name = &columns.labels()[column];
                Failure::new(format!("the coefficient of `{name}` is beyond the range of double precision"))
                    .advise("other units for this column or for the target")
            }
            SolveError::Unsupported { what: Unsupported::File, .. } => Failure::new(format!(
                "{path} is too large for memory, and {} needs it there",
                self.source.name
            ))
            .advise("a larger --max-memory"),
            SolveError::Unsupported { .. } => {
                Failure::new(error.to_string()).advise("`rl4rla solve --help` shows all options")
            }
        }
    }
}

/// Every so many, where there are too many for a line.
fn thin(values: &[f64]) -> Vec<f64> {
    const LINE: usize = 60;
    values.iter().copied().step_by(values.len().div_ceil(LINE).max(1)).collect()
}

/// A column of numbers, as NPY if the path ends so, and else as CSV.
fn write(path: &Path, head: &[&str], labels: Option<&[String]>, values: &[f64]) -> Result<(), Failure> {
    let npy = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("npy"));
    let head: Vec<String> = head.iter().map(|name| name.to_string()).collect();
    match npy {
        true => write_npy(path, values.len(), 1, values),
        false => write_csv(path, &head, labels, values),
    }
    .map_err(refused)
}

fn figure(source: &Source, matrix: &Path, solution: &Solution, task: &dyn Task) -> Figure {
    let [loss, _] = task.measures();
    let points = solution.residuals.iter().enumerate().map(|(t, residual)| [t as f64, *residual]);
    let data = matrix.file_name().unwrap_or_default().to_string_lossy();
    Figure {
        name: "course".into(),
        title: format!("{} on {data}", source.title()),
        caption: format!("step {}, {}", number(solution.step), solution.ended.words()),
        panels: vec![Panel {
            title: String::new(),
            x: Axis::linear("iteration"),
            y: Axis::log(loss),
            series: vec![Series::new(source.name.clone(), Ink(0), Mark::Line, points)],
        }],
        columns: 1,
    }
}

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
use predict::{Prediction, predict};
use rl4rla::data::{Columns, System, write_csv, write_npy};
use rl4rla::execute::{self, Fault, Large};
use rl4rla::linalg::{Matrix, norm};
use rl4rla::problem::{InstanceError, Misfit, Response, Task, families};
use rl4rla::program::{Reg, Update, nearest};
use rl4rla::report::{Axis, Figure, Ink, Mark, Panel, Series};
use rl4rla::solve::{
    Ended, Options, Posed, RankDeficient, SolveError, Solved, Step, in_even_units, solve, solve_posed,
};
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
        Failure::new("no matrix was given").advise("--matrix FILE; NPY, CSV and Matrix Market are read")
    })?;
    refuse_outputs(args, shared, &source)?;
    let task = task_of(&source)?;
    refuse_unfit(args, &source, task)?;
    args.threads.apply()?;
    progress::doing(format!("reading {}", path(matrix)));
    // The system itself stays until the end: it may hold the file that its matrix is read from.
    let mut system = system(&args.data, matrix, task.inputs().contains(Reg::B))?.centred();
    let size = norm(&system.b);
    if task.is_least_squares() {
        system = system.with_target_centred();
    }
    // What is told is told in units of the target as it is in the file.
    let shrunk = if size > 0.0 { norm(&system.b) / size } else { 1.0 };
    let (rows, cols, in_file) = (system.matrix.rows(), system.matrix.cols(), system.matrix.is_in_file());
    let taken = (std::mem::replace(&mut system.matrix, Matrix::zeros(0, 0)), std::mem::take(&mut system.b));
    let unfit = |error: InstanceError| {
        let told = error.with_names(&system.columns.labels());
        Failure::new(format!("{}: {told}", matrix.display()))
            .advise("`rl4rla help solve` describes what can be solved")
    };
    let response = task.response(&taken.1).map_err(unfit)?;
    progress::doing(format!("solving with {}", source.name));
    let begun = Instant::now();
    let mut posed = answer(&source, task, taken, &options, matrix, &system.columns, unfit)?;
    if task.is_least_squares() {
        let told = &mut posed.solved;
        told.residuals.iter_mut().chain([&mut told.residual]).for_each(|residual| *residual *= shrunk);
    }
    let solved = &posed.solved;
    let seconds = begun.elapsed().as_secs_f64();
    let System { columns, dropped, .. } = &system;
    let coefficients = columns.coefficients(&solved.x);
    let mut files: Vec<PathBuf> = Vec::new();
    // What is worse than x = 0 is nothing to keep.
    let answered = solved.ended != Ended::Divergence;
    if let Some(out) = args.out.as_ref().filter(|_| answered) {
        write(out, &["name", "value"], Some(&columns.labels()), &coefficients)?;
        files.push(out.clone());
    }
    if let Some(plot) = &args.plot {
        let written = figure(&source, matrix, solved, task).write(plot);
        files.extend(written.map_err(|error| {
            Failure::new(format!("cannot write {}: {error}", plot.display())).advise("another --plot")
        })?);
    }
    let predict_from = args.predict.as_deref().filter(|_| answered);
    let predicted = predict_from.map(|path| predict(args, path, columns, &solved.x, response, &mut files));
    let predicted = predicted.transpose()?;
    let code = u8::from(!solved.converged);
    let outcome = Outcome {
        args,
        source: &source,
        matrix,
        task,
        auto: options.step == Step::Auto,
        size: (rows, cols),
        dropped: *dropped,
        in_file,
        posed,
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
    let asked = [
        (args.average && !task.is_least_squares(), "--average", "is for linear systems"),
        (
            args.rank_deficient != RankDeficient::Refuse && !task.is_least_squares(),
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
    posed: Posed,
    response: Response,
    seconds: f64,
    labels: Vec<String>,
    intercept: bool,
    /// None where x is no answer.
    coefficients: Vec<(String, f64)>,
    predicted: Option<Prediction>,
    files: Vec<PathBuf>,
}

impl Outcome<'_> {
    fn json(&self) -> Value {
        let (solved, linear) = (&self.posed.solved, self.task.is_least_squares());
        let coefficient = |(name, value): &(String, f64)| json!({ "name": name, "value": value });
        let mut all = json!({
            "program": self.source.name,
            "matrix": self.matrix.to_string_lossy(),
            "rows": self.size.0,
            "cols": self.size.1,
            "dropped": self.dropped,
            "in_file": self.in_file,
            "relative_residual": linear.then_some(solved.residual),
            "relative_gradient": linear.then_some(solved.gradient),
            "iterations": solved.iterations,
            "converged": solved.converged,
            "ended": solved.ended.words(),
            "step": solved.step,
            "seed": self.args.seed,
            "passes": solved.passes,
            "flops": solved.flops,
            "seconds": self.seconds,
            "residuals": solved.residuals,
            "coefficients": self.coefficients.iter().map(coefficient).collect::<Vec<Value>>(),
            "predicted": self.predicted.as_ref().map(Prediction::json),
            "files": self.files.iter().map(|file| file.to_string_lossy()).collect::<Vec<_>>(),
        });
        let more = match linear {
            true => least_squares::json(solved, &self.labels),
            false => others::json(&self.posed, self.task, self.response),
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
                text += &faint(&format!("{} rows with missing values were dropped\n", self.dropped));
            }
            let how = self.args.rank_deficient;
            if let Some(remark) = least_squares::remark(&self.posed.solved, &self.labels, self.intercept, how)
            {
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
        let (solved, [loss, _]) = (&self.posed.solved, self.task.measures());
        let mut facts = vec![vec![loss.to_string(), number(solved.residual)]];
        facts.extend(match &solved.certificate {
            Some(known) => least_squares::facts(known, self.size.1),
            None => others::facts(&self.posed, self.task, self.response),
        });
        facts.push(vec!["iterations".into(), format!("{}: {}", solved.iterations, solved.ended.words())]);
        if self.task.inputs().contains(Reg::ETA) {
            let how = match (self.auto, self.task.is_least_squares()) {
                (false, _) => "",
                (true, true) => ", from a pilot run",
                (true, false) => " (the last), from a line search in every iteration",
            };
            facts.push(vec!["step size η".into(), format!("{}{how}", number(solved.step))]);
        }
        let (flops, time) = (number(solved.flops), duration(self.seconds));
        facts.push(vec![
            "work".into(),
            format!("{flops} flops, {} passes over A, {time}", number(solved.passes)),
        ]);
        let seen: Vec<f64> = solved.residuals.iter().copied().filter(|r| r.is_finite()).collect();
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
        let told = match &self.posed.solved.certificate {
            Some(known) => least_squares::warning(&self.posed.solved, known),
            None => others::warning(&self.posed, self.task, self.args.tolerance),
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
        let message = format!("{} predicts every row and does not compute a solution", source.name);
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

/// Runs the program on a system.
fn answer(
    source: &Source,
    task: &'static dyn Task,
    (matrix, b): (Matrix, Vec<f64>),
    options: &Options,
    path: &Path,
    columns: &Columns,
    unfit: impl Fn(InstanceError) -> Failure,
) -> Result<Posed, Failure> {
    let program = &source.document;
    let failed = |failure: execute::Failure| {
        let advice = match failure.fault {
            Fault::NotInMemory => "a larger --max-memory, another --sketch, or another program",
            Fault::NotFinite => "a smaller --step, or --step auto",
            Fault::Shape(_) => "a program for data of this shape; `rl4rla list programs` shows all",
            Fault::TooFewRows { .. } => "a smaller --batch",
            Fault::TooLong { .. } => "fewer --iterations",
            _ => "another program, or fewer columns",
        };
        Failure::new(format!("{} failed: {failure}", source.name)).advise(advice)
    };
    if !task.is_least_squares() {
        if matrix.is_in_file() {
            let message =
                format!("{} does not fit into memory, and {} needs it there", path.display(), source.name);
            return Err(Failure::new(message).advise("a larger --max-memory"));
        }
        let (matrix, units) = in_even_units(task, matrix);
        let instance = task.pose_unsolved(matrix, b).map_err(unfit)?;
        let mut posed = solve_posed(program, &instance, options).map_err(failed)?;
        posed.solved.x.iter_mut().zip(&units).for_each(|(x, unit)| *x /= unit);
        return Ok(posed);
    }
    let large = Large::new(matrix, b).map_err(unfit)?.with_noise(columns.noise());
    let solved = solve(program, large, options).map_err(|error| match error {
        SolveError::Run(failure) => failed(failure),
        SolveError::Dependent { columns: found, rank } => least_squares::refuse(
            &path.display().to_string(),
            &found,
            rank,
            &columns.labels(),
            columns.intercept,
        ),
        SolveError::Unreadable(lost) => {
            Failure::new(format!("the copy of {} on disk cannot be read: {lost}", path.display()))
                .advise("check the disk, or TMPDIR")
        }
        SolveError::Overflow { column } => {
            let name = &columns.labels()[column];
            Failure::new(format!("the coefficient of `{name}` is beyond the range of double precision"))
                .advise("other units for this column or for the target")
        }
    })?;
    Ok(Posed { solved, obstacle: None, figures: vec![] })
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

fn figure(source: &Source, matrix: &Path, solved: &Solved, task: &dyn Task) -> Figure {
    let [loss, _] = task.measures();
    let points = solved.residuals.iter().enumerate().map(|(t, residual)| [t as f64, *residual]);
    let data = matrix.file_name().unwrap_or_default().to_string_lossy();
    Figure {
        name: "course".into(),
        title: format!("{} on {data}", source.title()),
        caption: format!("step size {}, {}", number(solved.step), solved.ended.words()),
        panels: vec![Panel {
            title: String::new(),
            x: Axis::linear("iteration"),
            y: Axis::log(loss),
            series: vec![Series::new(source.name.clone(), Ink(0), Mark::Line, points)],
        }],
        columns: 1,
    }
}

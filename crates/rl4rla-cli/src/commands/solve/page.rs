//! The result of `solve`, as text and JSON.

use super::predict::Predicted;
use super::summary::RegressionSummary;
use super::{choice, least_squares, others};
use crate::args::Solve;
use crate::page::{accent, duration, faint, number, path, sparkline, strong, table, warning};
use rl4rla::fit::FitChoice;
use rl4rla::problem::{Response, Stopping, Task};
use rl4rla::program::Reg;
use rl4rla::report::{Axis, Figure, Ink, Marker, Panel, Series};
use rl4rla::solve::{Solution, SolveOptions, StepSize};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Number of coefficients shown in the terminal.
const SHOWN: usize = 10;

/// The result and its inputs.
pub struct SolveOutcome<'a> {
    /// The options.
    pub args: &'a Solve,
    /// Name of the program or baseline.
    pub program: &'a str,
    /// Its title.
    pub title: &'a str,
    /// Why it was chosen, unless the user named it.
    pub choice: Option<FitChoice>,
    /// The options of the solver.
    pub options: &'a SolveOptions,
    /// Path of the matrix file.
    pub matrix: &'a Path,
    /// The task.
    pub task: &'static dyn Task,
    /// Rows and columns of A.
    pub size: (usize, usize),
    /// Number of rows left out because of missing values.
    pub dropped: usize,
    /// Whether A was read from disk.
    pub in_file: bool,
    /// Number of nonzeros, if it is sparse.
    pub nonzeros: Option<usize>,
    /// The result of the solver.
    pub solution: Solution,
    /// Type of the target.
    pub response: Response,
    /// Duration in seconds.
    pub seconds: f64,
    /// Names of the columns.
    pub labels: Vec<String>,
    /// Whether there is an intercept.
    pub intercept: bool,
    /// Empty if x is not an answer.
    pub coefficients: Vec<(String, f64)>,
    /// Predictions for a second file.
    pub predicted: Option<Predicted>,
    /// Statistics of a regression.
    pub summary: Option<RegressionSummary>,
    /// Files written.
    pub files: Vec<PathBuf>,
}

impl SolveOutcome<'_> {
    /// The result as JSON.
    pub fn json(&self) -> Value {
        let solution = &self.solution;
        let least_squares = self.is_least_squares();
        let coefficient = |(name, value): &(String, f64)| json!({ "name": name, "value": value });
        let mut all = json!({
            "program": self.program,
            "matrix": self.matrix.to_string_lossy(),
            "rows": self.size.0,
            "cols": self.size.1,
            "dropped": self.dropped,
            "in_file": self.in_file,
            "nonzeros": self.nonzeros,
            "relative_residual": least_squares.then_some(solution.residual),
            "relative_gradient": least_squares.then_some(solution.gradient),
            "iterations": solution.iterations,
            "converged": solution.is_converged(),
            "ended": solution.ended.words(),
            "step": solution.step,
            "seed": self.args.seed,
            "lambda": self.task.inputs().contains(Reg::LAMBDA).then(|| self.args.lambda.unwrap_or(0.0)),
            "passes": solution.passes,
            "flops": solution.flops,
            "seconds": self.seconds,
            "residuals": solution.residuals,
            "coefficients": self.coefficients.iter().map(coefficient).collect::<Vec<Value>>(),
            "summary": self.summary.as_ref().map(RegressionSummary::json),
            "predicted": self.predicted.as_ref().map(Predicted::json),
            "files": self.files.iter().map(|file| file.to_string_lossy()).collect::<Vec<_>>(),
        });
        let more = match least_squares {
            true => least_squares::json(solution, &self.labels),
            false => others::json(solution, self.task, self.response),
        };
        for more in [Some(more), self.choice.as_ref().map(choice::json)].into_iter().flatten() {
            if let (Value::Object(all), Value::Object(more)) = (&mut all, more) {
                all.extend(more);
            }
        }
        all
    }

    /// The result as text.
    pub fn text(&self, quiet: bool) -> String {
        let mut text = String::new();
        if !quiet {
            let (rows, cols) = self.size;
            let place = match self.nonzeros {
                Some(nonzeros) => format!(", sparse with {nonzeros} nonzeros"),
                None if self.in_file => ", read from disk".into(),
                None => String::new(),
            };
            let title = strong(self.title);
            text += &format!("{title} on {}: {rows}×{cols}{place}\n", path(self.matrix));
            text += &self.choice.as_ref().map_or(String::new(), choice::text);
            if self.dropped > 0 {
                text += &faint(&format!("{} rows with missing values were dropped\n", self.dropped));
            }
            let how = self.options.rank_deficient;
            if let Some(remark) = least_squares::remark(&self.solution, &self.labels, self.intercept, how) {
                text += &warning(&format!("{remark}\n"));
            }
            text += "\n";
        }
        text += &table(self.facts());
        let coefficients = self.summary.as_ref().map_or_else(|| self.coefficients(), RegressionSummary::text);
        text += &format!("\n{coefficients}");
        if let Some(predicted) = &self.predicted {
            text += &format!("\n{}", predicted.text());
        }
        for file in &self.files {
            text += &faint(&format!("wrote {}\n", file.display()));
        }
        if quiet { text } else { text + &self.verdict() }
    }

    fn is_least_squares(&self) -> bool {
        self.task.solving().stopping == Stopping::Certificate
    }

    fn facts(&self) -> Vec<Vec<String>> {
        let (solution, [loss, _]) = (&self.solution, self.task.measures());
        let mut facts = vec![vec![loss.to_string(), number(solution.residual)]];
        facts.extend(match self.is_least_squares() {
            true => least_squares::facts(solution, self.size.1),
            false => others::facts(solution, self.task, self.response),
        });
        facts.push(vec!["iterations".into(), format!("{}: {}", solution.iterations, solution.ended.words())]);
        // A direct method has no step size.
        if self.task.inputs().contains(Reg::ETA) && solution.step > 0.0 {
            let how =
                match (self.choice.is_none() && self.options.step == StepSize::Auto, &solution.certificate) {
                    (false, _) => "",
                    (true, Some(_)) => ", from a pilot run",
                    (true, None) => " (the last), from a line search in every iteration",
                };
            facts.push(vec!["step size η".into(), format!("{}{how}", number(solution.step))]);
        }
        let (flops, time) = (number(solution.flops), duration(self.seconds));
        facts.push(vec![
            "work".into(),
            format!("{flops} flops, {} passes over A, {time}", number(solution.passes)),
        ]);
        let seen: Vec<f64> = solution.residuals.iter().copied().filter(|r| r.is_finite()).collect();
        if seen.len() > 2 {
            facts.push(vec!["history".into(), accent(&sparkline(&thin(&seen)))]);
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

    /// A warning and a suggestion, if the result does not meet the tolerance.
    pub fn warning(&self) -> Option<(String, &'static str)> {
        match self.is_least_squares() {
            true => least_squares::warning(&self.solution),
            false => others::warning(&self.solution, self.task, self.options.tolerance),
        }
    }

    /// The same as text.
    pub fn verdict(&self) -> String {
        self.warning().map_or_else(String::new, |(why, advice)| {
            warning(&format!("{why}\n")) + &faint(&format!("try: {advice}\n"))
        })
    }
}

/// Every k-th value, if there are too many for a line.
fn thin(values: &[f64]) -> Vec<f64> {
    const LINE: usize = 60;
    values.iter().copied().step_by(values.len().div_ceil(LINE).max(1)).collect()
}

/// The residual after every iteration.
pub fn figure((program, title): (&str, &str), matrix: &Path, solution: &Solution, task: &dyn Task) -> Figure {
    let [loss, _] = task.measures();
    let points = solution.residuals.iter().enumerate().map(|(t, residual)| [t as f64, *residual]);
    let data = matrix.file_name().unwrap_or_default().to_string_lossy();
    Figure {
        name: "history".into(),
        title: format!("{title} on {data}"),
        caption: format!("step size {}, {}", number(solution.step), solution.ended.words()),
        panels: vec![Panel {
            title: String::new(),
            x: Axis::linear("iteration"),
            y: Axis::log(loss),
            series: vec![Series::new(program.to_string(), Ink(0), Marker::Line, points)],
        }],
        columns: 1,
    }
}

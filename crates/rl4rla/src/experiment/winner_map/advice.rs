//! Advice on a user's problem, from a map.

use super::contender::{Contender, MapTunables};
use super::grid::{ProblemClass, short};
use super::map::{RankedContender, SurveyCell, WinnerMap};
use super::measure::COLS;
use super::rates::Rates;
use crate::experiment::ExperimentError;
use crate::problem::Leverage;
use crate::report::{exact, number};
use serde::Serialize;

/// A user's problem.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Question {
    /// m.
    pub rows: usize,
    /// n.
    pub cols: usize,
    /// κ.
    pub kappa: f64,
    /// The weight of the component of b outside the range of A.
    pub outside: f64,
    /// The leverage of the rows.
    pub leverage: Leverage,
    /// The excess ‖A(x − x*)‖/‖b‖ to reach.
    pub tolerance: f64,
    /// The price of a pass over A in products A·x; that of the machine if not given.
    pub price: Option<f64>,
}

impl Default for Question {
    /// A problem of which nothing is known.
    fn default() -> Question {
        Question {
            rows: 100_000,
            cols: 100,
            kappa: 1e6,
            outside: 0.7,
            leverage: Leverage::Low,
            tolerance: 1e-8,
            price: None,
        }
    }
}

/// A contender with what it is predicted to take.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct AdvisedOption {
    /// The name of a program or, for a direct solver, of a baseline.
    pub program: String,
    /// Predicted seconds.
    pub seconds: f64,
    /// Whether it is a direct solver.
    pub direct: bool,
    /// Iterations.
    pub iterations: f64,
    /// Passes over A.
    pub passes: f64,
    /// Flops.
    pub flops: f64,
    /// Its settings, if it is a program.
    pub tunables: Option<MapTunables>,
}

/// An answer of the map.
#[derive(Clone, PartialEq, Debug)]
pub struct Advice {
    /// The contender with the least work.
    pub chosen: AdvisedOption,
    /// The others that reach the tolerance, the best first.
    pub alternatives: Vec<AdvisedOption>,
    /// Those that do not.
    pub unreached: Vec<String>,
    /// The work of the best alternative relative to the chosen one; 1 if there is none.
    pub margin: f64,
    /// Why it was chosen.
    pub reason: String,
    /// The class of the map that answered.
    pub class: ProblemClass,
    /// The tolerance of the map that answered.
    pub tolerance: f64,
    /// Why the answer is an extrapolation; empty if it is none.
    pub extrapolation: Vec<String>,
    /// The price of a pass.
    pub price: f64,
    /// The rates behind the seconds.
    pub rates: Rates,
}

impl Advice {
    /// Whether the question lies outside the grid of the map.
    pub fn extrapolates(&self) -> bool {
        !self.extrapolation.is_empty()
    }
}

/// The best contender for a problem. The class is that of the next larger κ and the next smaller tolerance of the grid,
/// and of the nearest weight outside.
pub fn advise(map: &WinnerMap, question: &Question, rates: Rates) -> Result<Advice, ExperimentError> {
    question.check()?;
    let (cell, mut extrapolation) = located(map, question)?;
    let price = question.price.unwrap_or_else(|| rates.price());
    let contenders = Contender::all();
    let answer = cell.answer(&contenders, question.rows, question.cols, price);
    let Some(first) = answer.ranking.first() else {
        let message = "no contender of the map reaches the tolerance";
        return Err(ExperimentError::new(message).advise("a larger --tolerance"));
    };
    let grows = first.growth > 0.0 && question.cols > 2 * COLS;
    extrapolation.extend(grows.then(|| {
        format!(
            "the iterations of {} grow with n: those at {} columns follow from measurements at {COLS}",
            first.program, question.cols
        )
    }));
    let option = |ranked: &RankedContender| AdvisedOption {
        program: ranked.program.clone(),
        seconds: ranked.work / rates.flops,
        direct: is_direct(&contenders, &ranked.program),
        iterations: ranked.iterations,
        passes: ranked.entries / (question.rows as f64 * question.cols as f64),
        flops: ranked.flops,
        tunables: (!is_direct(&contenders, &ranked.program)).then_some(ranked.tunables),
    };
    let options: Vec<AdvisedOption> = answer.ranking.iter().map(option).collect();
    let reached = |name: &&String| answer.ranking.iter().all(|ranked| ranked.program != **name);
    Ok(Advice {
        reason: reason(&options, answer.margin(), cell),
        chosen: options[0].clone(),
        alternatives: options[1..].to_vec(),
        unreached: map.contenders.iter().filter(reached).cloned().collect(),
        margin: answer.margin(),
        class: cell.class,
        tolerance: cell.tolerance,
        extrapolation,
        price,
        rates,
    })
}

fn is_direct(contenders: &[Contender], name: &str) -> bool {
    contenders.iter().any(|contender| contender.name() == name && contender.is_direct())
}

/// The choice in words.
fn reason(options: &[AdvisedOption], margin: f64, cell: &SurveyCell) -> String {
    let chosen = &options[0];
    let passes = format!("{} passes over A", number(chosen.passes));
    let what = match &chosen.tunables {
        None => format!("{} is a direct solver that has the digits asked for, in {passes}", chosen.program),
        Some(tunables) => {
            let sketch = match (tunables.sketch, tunables.sketch_factor) {
                (Some(kind), Some(factor)) => format!(", with a {kind} sketch of {}n rows", exact(factor)),
                _ => String::new(),
            };
            format!(
                "{} reaches {} in {} iterations{sketch}: {passes}",
                chosen.program,
                short(cell.tolerance),
                number(chosen.iterations.ceil())
            )
        }
    };
    match options.get(1) {
        Some(second) => {
            format!("{what}; {}, the next, takes {} times the work", second.program, number(margin))
        }
        None => format!("{what}; nothing else reaches the tolerance"),
    }
}

impl Question {
    /// Rejects numbers that are none of a tall least-squares problem.
    pub fn check(&self) -> Result<(), ExperimentError> {
        let refuse = |message: String, advice: &str| Err(ExperimentError::new(message).advise(advice));
        let Question { rows, cols, kappa, outside, tolerance, price, .. } = *self;
        if rows == 0 || cols == 0 || rows < cols {
            let message =
                format!("the map is for matrices with at least as many rows as columns, got {rows}×{cols}");
            return refuse(
                message,
                "--rows 100000 --cols 100, both at least 1; a wide system can be transposed",
            );
        }
        if !(kappa.is_finite() && kappa >= 1.0) {
            return refuse(
                format!("--kappa is a finite number of at least 1, got {}", exact(kappa)),
                "--kappa 1e6",
            );
        }
        if !(0.0..1.0).contains(&outside) {
            let message = format!("--outside is at least 0 and less than 1, got {}", exact(outside));
            return refuse(message, "--outside 0.7");
        }
        if !(tolerance > 0.0 && tolerance < 1.0) {
            let message = format!("--tolerance is a number between 0 and 1, got {}", exact(tolerance));
            return refuse(message, "--tolerance 1e-8");
        }
        if let Some(price) = price.filter(|price| !(price.is_finite() && *price >= 0.0)) {
            let message = format!("--price is a finite number of at least 0, got {}", exact(price));
            return refuse(message, "--price 10");
        }
        Ok(())
    }
}

/// The cell that answers a question, and in what respect the question lies outside the grid.
fn located<'a>(
    map: &'a WinnerMap,
    question: &Question,
) -> Result<(&'a SurveyCell, Vec<String>), ExperimentError> {
    let grid = &map.grid;
    let mut beyond = Vec::new();
    let mut within = |name: &str, value: f64, values: &mut dyn Iterator<Item = f64>| {
        let [low, high] = values.fold([f64::INFINITY, 0.0], |[low, high], v| [v.min(low), v.max(high)]);
        // Rounded decimals of data lie on the edge, not beyond it.
        if value < low * (1.0 - 1e-9) || value > high * (1.0 + 1e-9) {
            let [low, high] = [low, high].map(short);
            beyond.push(format!("{name} is {}; the map covers {low} to {high}", number(value)));
        }
    };
    let ratio = question.rows as f64 / question.cols as f64;
    within("κ", question.kappa, &mut grid.kappas.iter().copied());
    within("the weight outside", question.outside, &mut grid.outsides.iter().copied());
    within("the tolerance", question.tolerance, &mut grid.tolerances.iter().copied());
    within("m/n", ratio, &mut grid.ratios.iter().map(|&ratio| ratio as f64));
    within("n", question.cols as f64, &mut grid.cols.iter().map(|&cols| cols as f64));
    let unmeasured = || ExperimentError::new("the map is empty");
    let harder = |kappa: &&f64| **kappa >= question.kappa * (1.0 - 1e-9);
    let kappa = grid.kappas.iter().find(harder).or(grid.kappas.last()).ok_or_else(unmeasured)?;
    let tighter = |tolerance: &&f64| **tolerance <= question.tolerance * (1.0 + 1e-9);
    let tolerance = grid.tolerances.iter().find(tighter).or(grid.tolerances.last()).ok_or_else(unmeasured)?;
    let distance = |outside: &f64| (outside - question.outside).abs();
    let nearest = grid.outsides.iter().min_by(|a, b| distance(a).total_cmp(&distance(b)));
    let class = ProblemClass {
        kappa: *kappa,
        outside: *nearest.ok_or_else(unmeasured)?,
        leverage: question.leverage,
    };
    Ok((map.cell(class, *tolerance).ok_or_else(unmeasured)?, beyond))
}

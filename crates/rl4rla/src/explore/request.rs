//! What a user asks to explore, as it is typed and stored.

use super::answer_values::has_answers;
use super::answers::COLS;
use super::spec::{ExploreSpec, SearchPart};
use crate::execute::SketchKind;
use crate::problem::{Choice, Family, FamilyInfo, Leverage, Right, Task, families};
use crate::program::{Op, nearest};
use crate::reward::{Charge, Unit};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// The name of the search method, as runs have it.
pub const METHOD: &str = "oracle";

/// What is to be explored, in names and numbers.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ExploreRequest {
    /// The name of the family.
    pub family: String,
    /// Rows of the user's problems.
    pub rows: usize,
    /// Their columns.
    pub cols: usize,
    /// Condition numbers.
    pub kappas: Vec<f64>,
    /// Leverage of the rows.
    pub leverage: Leverage,
    /// Distribution of the right factor.
    pub right: Right,
    /// The weight of the component of b outside the range of A.
    pub outside: f64,
    /// Parameters that only this family has, by name, where they are not its defaults.
    #[serde(default)]
    pub numbers: BTreeMap<String, f64>,
    /// The excess to reach.
    pub tolerance: f64,
    /// The names of the operators.
    pub operators: Vec<String>,
    /// Most instructions of a direction.
    pub edits: usize,
    /// The kind of sketch, if it is not to be tuned.
    pub sketch: Option<SketchKind>,
    /// Rows of a sketch per column, if they are not to be tuned.
    pub sketch_factor: Option<f64>,
    /// Parts of the search that are switched off.
    #[serde(default)]
    pub without: Vec<SearchPart>,
    /// Runs of evolution; none in requests from before there was one.
    #[serde(default)]
    pub evolve: usize,
    /// Final instances of each condition number.
    pub held_out: usize,
    /// Programs of the hall of fame.
    pub hall: usize,
    /// The seed.
    pub seed: u64,
    /// The name of the data that the problems resemble, if they do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resembles: Option<String>,
}

/// Why a request cannot be explored: the option, what is wrong with it, and what to do.
#[derive(Clone, PartialEq, Debug)]
pub struct RequestError {
    /// What is wrong.
    pub message: String,
    /// What to do instead.
    pub advice: String,
}

impl fmt::Display for RequestError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for RequestError {}

fn refuse<T>(message: impl Into<String>, advice: impl Into<String>) -> Result<T, RequestError> {
    Err(RequestError { message: message.into(), advice: advice.into() })
}

impl ExploreRequest {
    /// The search that is asked for, or what is wrong with the request.
    pub fn spec(&self) -> Result<ExploreSpec, RequestError> {
        let Some(kind) = Family::named(&self.family) else {
            let known = nearest(&self.family, families().map(|info| info.name)).unwrap_or("mid-cond");
            let advice = format!("--family {known}; `rl4rla list families` shows all");
            return refuse(format!("there is no family `{}`", self.family), advice);
        };
        let mut family = kind.sized(Some(self.rows), Some(self.cols));
        let task = family.kind.info().task;
        let answers = has_answers(task.update());
        if !answers && task.units().is_none() {
            let message =
                format!("family {} has the task {}, which cannot be explored", self.family, task.name());
            let can = |task: &dyn Task| has_answers(task.update()) || task.units().is_some();
            let known = families().filter(|info| can(info.task)).map(|info| info.name);
            return refuse(message, format!("--family {}", known.collect::<Vec<_>>().join(", ")));
        }
        family.leverage = self.leverage;
        family.right = self.right;
        family.outside = if family.kind.info().square || answers { 0.0 } else { self.outside };
        let family = self.with_numbers(family)?;
        if let Some(kappa) = self.kappas.iter().find(|kappa| !(kappa.is_finite() && **kappa >= 1.0)) {
            return refuse(format!("--kappa takes numbers of at least 1, got {kappa}"), "--kappa 10,1e4,1e8");
        }
        if self.kappas.is_empty() {
            return refuse("--kappa needs at least one number", "--kappa 10,1e4,1e8");
        }
        if !(self.tolerance > 0.0 && self.tolerance < 1.0) {
            let message = format!("--tolerance is a number between 0 and 1, got {}", self.tolerance);
            return refuse(message, "--tolerance 1e-10");
        }
        let (least, most, usual) = match family.kind.info().square {
            // A multiple of the rows of the answer, or of a small block.
            _ if answers => (1.0, 100.0, 2.0),
            true => (0.01, 1.0, 0.1),
            false => (1.5, 1000.0, 4.0),
        };
        if self.sketch_factor.is_some_and(|factor| !(least..=most).contains(&factor)) {
            let message =
                format!("--sketch-factor is a number between {least} and {most} for {}", self.family);
            return refuse(message, format!("--sketch-factor {usual}"));
        }
        let usual = task.explore_defaults().edits;
        if !(1..=usual + 1).contains(&self.edits) {
            let message = format!(
                "--edits is a number from 1 to {}, got {}: the number of values grows fivefold with each",
                usual + 1,
                self.edits
            );
            return refuse(message, format!("--edits {usual}"));
        }
        if self.held_out == 0 || self.hall == 0 {
            return refuse("--held-out and --hall are at least 1", "--held-out 4 --hall 6");
        }
        if self.cols < 8 || (!family.kind.info().square && self.rows < 2 * self.cols) {
            let message =
                format!("problems of {}×{} are too small to need an iteration", self.rows, self.cols);
            return refuse(
                message,
                "at least 8 columns, and twice as many rows; `rl4rla solve precond-gd` solves small problems",
            );
        }
        let spec = ExploreSpec {
            conditions: self.kappas.clone(),
            tolerance: self.tolerance,
            operators: self.operators(task)?,
            charge: Charge { unit: Unit::Flops, rows: self.rows, cols: self.cols },
            edits: self.edits,
            fixed_sketch: self.sketch,
            fixed_factor: self.sketch_factor,
            without: self.without.clone(),
            evolve: self.evolve,
            held_out: self.held_out,
            hall: self.hall,
            seed: self.seed,
            ..ExploreSpec::new(family)
        };
        // Problems are drawn at the sizes of the search, with these condition numbers.
        let conditioned = !answers || family.kind.info().options.contains(&Choice::Condition);
        let condition = spec.conditions.first().copied().filter(|_| conditioned);
        let small = Family { condition, ..spec.family_of(spec.search_cols) };
        match small.check() {
            Ok(()) => Ok(spec),
            Err(error) => refuse(error.to_string(), "another family, or other options of it"),
        }
    }

    /// The family with the parameters asked for.
    fn with_numbers(&self, mut family: Family) -> Result<Family, RequestError> {
        let known = family.kind.info().numbers;
        for (name, &value) in &self.numbers {
            let Some(number) = known.iter().find(|number| number.name == name) else {
                let has = |info: &&FamilyInfo| info.numbers.iter().any(|number| number.name == name);
                let others: Vec<&str> = families().filter(has).map(|info| info.name).collect();
                let message = format!("--{name} is not an option of the family {}", self.family);
                return refuse(message, format!("--family {}", others.join(" or ")));
            };
            if !(number.least..=number.most).contains(&value) {
                let range = format!("between {} and {}", number.least, number.most);
                let message = format!("--{name} is a number {range}, got {value}: {}", number.doc);
                return refuse(message, format!("--{name} {}", number.default));
            }
            family = family.with_number(name, value).unwrap_or(family);
        }
        // A sketch has twice as many rows as the answer, and has to be smaller than A.
        let cols = COLS.min(self.cols);
        let most = (cols.max(3) - 1) / 2;
        match self.numbers.get("rank") {
            Some(&rank) if rank > most as f64 => {
                let message = format!(
                    "--rank is at most {most} here, got {rank}: problems of the search have {cols} columns"
                );
                refuse(message, format!("--rank {most}"))
            }
            _ => Ok(family),
        }
    }

    fn operators(&self, task: &dyn Task) -> Result<Vec<Op>, RequestError> {
        let known = ExploreSpec::operators_known(task);
        let find = |name: &String| match known.iter().copied().find(|op| op.name == name) {
            Some(op) => Ok(op),
            None => {
                let names: Vec<&str> = known.iter().map(|op| op.name).collect();
                let meant = nearest(name, names.iter().copied()).unwrap_or("MAT_VEC_MUL");
                let message = format!("`{name}` is not an operator that can be explored");
                refuse(message, format!("{meant}; possible are {}", names.join(", ")))
            }
        };
        self.operators.iter().map(find).collect()
    }
}

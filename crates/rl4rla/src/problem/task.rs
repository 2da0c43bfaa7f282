//! Tasks: the classes of problems that programs are searched for. A task says what a program is given and what becomes
//! of its result, which operators help, where problems come from, and how far a run has got. Nothing to the right of
//! this folder knows any task by name.

use super::family::{Family, FamilyInfo, FamilyKind};
use super::family_error::FamilyError;
use super::goal::Goal;
use super::instance::Instance;
use super::instance_error::InstanceError;
use super::outline::Outline;
use super::response::Response;
use super::solving::Solving;
use super::{eigenvalue, linear, logistic};
use crate::linalg::Matrix;
use crate::program::{
    Document, Entry, Geometry, OPERATORS, Op, Operator, ParseError, Reg, RegSet, Registry, Section,
    Signature, Sizes, Taken, Update, check,
};
use crate::rng::Stream;
use std::fmt;

/// A class of problems. Five methods are needed; the others have defaults that suit linear systems.
///
/// `docs/new-task.md` writes one step by step.
pub trait Task: Send + Sync {
    /// Its name.
    fn name(&self) -> &'static str;

    /// The goal, in one line.
    fn doc(&self) -> &'static str;

    /// Where its problems come from; each family's name is its own in the whole table.
    fn families(&self) -> &'static [FamilyInfo];

    /// How far a result is: its loss, and how much more that is than the least there is, in units of the task's choice.
    /// The result is the iterate x, or v1 where the update is [`Update::Answer`].
    fn measure(&self, instance: &Instance, result: &[f64]) -> (f64, f64);

    /// The second of these alone, where it can be had for less than both and [`Task::accuracy`] looks at no loss.
    fn excess(&self, _instance: &Instance, _result: &[f64]) -> Option<f64> {
        None
    }

    /// The problem that data pose, solved by a trusted method, or what is wrong with them.
    #[allow(non_snake_case)]
    fn pose(&self, A: Matrix, b: Vec<f64>) -> Result<Instance, InstanceError>;

    /// The same problem without its solution, for callers that only run a program on it: the excess of a result may mean nothing
    /// there. [`Task::optimality`] must do without.
    #[allow(non_snake_case)]
    fn pose_unsolved(&self, A: Matrix, b: Vec<f64>) -> Result<Instance, InstanceError> {
        self.pose(A, b)
    }

    /// How far a result is from solving the problem, which is what `solve` stops by: 0 at a solution, at most about 1
    /// where nothing is done, and the same in all units of A and b. Or why there is nothing to come near to. Unless said
    /// otherwise it is the excess over the solution that [`Task::pose`] found.
    fn optimality(&self, instance: &Instance, result: &[f64]) -> Result<f64, &'static str> {
        Ok(self.measure(instance, result).1)
    }

    /// What `solve` may do with its problems: scale columns, leave data in a file, take means.
    fn solving(&self) -> Solving {
        Solving::CAUTIOUS
    }

    /// The name of [`Task::optimality`], for people.
    fn optimality_name(&self) -> &'static str {
        self.measures()[1]
    }

    /// Why a result that is good by [`Task::optimality`] solves nothing all the same. Asked once, so it may take longer.
    fn objection(&self, _instance: &Instance, _result: &[f64]) -> Option<&'static str> {
        None
    }

    /// What else is worth telling of a result: names and numbers.
    fn figures(&self, _instance: &Instance, _result: &[f64]) -> Vec<(&'static str, f64)> {
        vec![]
    }

    /// What a target is, by its column: what x predicts of it.
    fn response(&self, _target: &[f64]) -> Result<Response, InstanceError> {
        Ok(Response::Number)
    }

    /// By what exported programs know a solution.
    fn goal(&self) -> Goal {
        Goal::Standstill
    }

    /// A problem of a family as it is before the rows of A are drawn, where that is enough to run programs on.
    fn outline(&self, _family: &Family, _stream: &Stream) -> Option<Result<Outline, FamilyError>> {
        None
    }

    /// What becomes of v1 at the end of an iteration.
    fn update(&self) -> Update {
        Update::Subtract
    }

    /// What a program may read from the start.
    fn inputs(&self) -> RegSet {
        Reg::inputs().collect()
    }

    /// The operators it adds to the paper's 17.
    fn operators(&self) -> &'static [Operator] {
        &[]
    }

    /// Whether a search may call an operator on these operands in that section, shapes apart.
    fn legality(&self) -> fn(Op, &[Reg], Section) -> bool {
        |_, _, _| true
    }

    /// The programs it adds to the catalogue: names and texts.
    fn programs(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }

    /// Names of the loss and the excess, for people.
    fn measures(&self) -> [&'static str; 2] {
        ["loss", "loss above the minimum"]
    }

    /// The accuracy term, from 0 to 1, where the common scale of the excess (0 at 0.1, 1 at 10⁻⁶) does not suit.
    fn accuracy(&self, _history: &History) -> Option<f64> {
        None
    }

    /// Whether [`Task::accuracy`] looks at the first and the last excess alone, and [`Task::measure`] is finite for every
    /// finite result: then a search need not measure the iterates between, and the history holds NaN for them.
    fn looks_at_ends(&self) -> bool {
        false
    }

    /// The cost term of a run that made progress, from 0 to 1, where the common scale (one half at five flops per entry
    /// of A and iteration) does not suit.
    fn thrift(&self, _work: &Work) -> Option<f64> {
        None
    }

    /// The weights of accuracy, decay, cost and condition number, unless a stage says otherwise.
    fn weights(&self) -> [f64; 4] {
        [1.0, 10.0, 8.0, 1.0]
    }

    /// The work that a tolerance is measured against, in flops and in passes over A.
    fn direct(&self, rows: f64, cols: f64) -> [f64; 2] {
        // A QR solve.
        [2.0 * rows * cols * cols - 2.0 / 3.0 * cols.powi(3), 1.0]
    }

    /// Whether the measure depends on A and b through lengths and angles alone, so that a run may be made in reduced
    /// coordinates.
    fn is_isometric(&self) -> bool {
        false
    }

    /// Whether R1 can be a preconditioner of AᵀA, so that the condition term and the released formulas mean something.
    fn is_least_squares(&self) -> bool {
        false
    }
}

impl dyn Task {
    /// Its problems of this shape, as typing sees them.
    pub fn signature(&self, geometry: Geometry) -> Signature {
        Signature { geometry, inputs: self.inputs(), update: self.update() }
    }

    /// The operators a search may use: the paper's, and its own.
    pub fn vocabulary(&self) -> impl Iterator<Item = Op> {
        OPERATORS.iter().chain(self.operators()).map(Op)
    }
}

impl PartialEq for dyn Task {
    fn eq(&self, other: &dyn Task) -> bool {
        self.name() == other.name()
    }
}

impl fmt::Debug for dyn Task {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The convergence history of a finished run.
pub struct History<'a> {
    /// What was run on.
    pub instance: &'a Instance,
    /// The loss at the start and after every iteration.
    pub losses: &'a [f64],
    /// The excess at the start and after every iteration.
    pub excesses: &'a [f64],
}

impl History<'_> {
    /// Iterations made.
    pub fn iterations(&self) -> usize {
        self.excesses.len() - 1
    }

    /// The first and the last excess.
    pub fn ends(&self) -> (f64, f64) {
        (self.excesses[0], self.excesses[self.iterations()])
    }
}

/// What a run costs.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Work {
    /// Floating-point operations of setup and all iterations.
    pub flops: f64,
    /// Passes over A.
    pub passes: f64,
    /// How many iterations.
    pub iterations: usize,
    /// The size of the problem.
    pub sizes: Sizes,
}

impl Work {
    /// How cheap an iteration is, setup shared out, on a logarithmic scale: 1 at `least`, 0 at `most`.
    pub fn cheapness(&self, charged: f64, least: f64, most: f64) -> f64 {
        let each = charged / self.iterations as f64;
        ((most / each).ln() / (most / least).ln()).clamp(0.0, 1.0)
    }
}

const BUILTIN: [&dyn Task; 4] =
    [&linear::Linear, &logistic::Logistic, &logistic::Forward, &eigenvalue::Eigenvalue];

static REGISTERED: Registry<&'static dyn Task> = Registry::new();

/// Every task: those of this crate, and those registered since.
pub fn tasks() -> impl Iterator<Item = &'static dyn Task> {
    BUILTIN.into_iter().chain(REGISTERED.all())
}

/// Every family of every task.
pub fn families() -> impl Iterator<Item = &'static FamilyInfo> {
    tasks().flat_map(|task| task.families())
}

/// Why a task cannot be registered.
#[derive(Clone, PartialEq, Debug)]
pub struct TaskError(String);

impl fmt::Display for TaskError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for TaskError {}

/// Makes a task known: from here on curricula may draw from its families, programs may use its operators, and its
/// programs have names.
pub fn register(task: &'static dyn Task) -> Result<(), TaskError> {
    let taken =
        |what: &str, name: &str| TaskError(format!("task `{}`: {what} `{name}` is taken", task.name()));
    // All names are looked at before any is taken.
    if let Some(row) = task.families().iter().find(|row| row.task != task || row.numbers.len() > 3) {
        let why = format!("family `{}` must name this task and take at most three numbers", row.name);
        return Err(TaskError(format!("task `{}`: {why}", task.name())));
    }
    if tasks().any(|known| known.name() == task.name()) {
        return Err(taken("the task's name", task.name()));
    }
    let families = task.families().iter().find(|row| families().any(|known| known.name == row.name));
    if let Some(row) = families {
        return Err(taken("the family name", row.name));
    }
    // An operator of the tables may be shared.
    let own = || task.operators().iter().filter(|row| !Op::known().any(|known| std::ptr::eq(known.0, *row)));
    if let Some(row) = own().find(|row| Op::named(row.name).is_some()) {
        return Err(taken("the operator", row.name));
    }
    if let Some((name, _)) = task.programs().iter().find(|(name, _)| Entry::named(name).is_some()) {
        return Err(taken("the program's name", name));
    }
    // Programs cannot be read before their operators are known.
    for row in own() {
        Op::register(row).map_err(|Taken| taken("the operator", row.name))?;
    }
    let mut programs = Vec::new();
    for (name, text) in task.programs() {
        let document = checked(task, text)
            .map_err(|why| TaskError(format!("task `{}`, program `{name}`: {why}", task.name())))?;
        programs.push((*name, document));
    }
    REGISTERED
        .add(task, |known| known.name() == task.name(), BUILTIN.into_iter())
        .map_err(|Taken| taken("the task's name", task.name()))?;
    for (name, document) in programs {
        Entry::register(name, document).map_err(|Taken| taken("the program's name", name))?;
    }
    Ok(())
}

/// A program of a task, if it can be read, ends its iterations as the task does, and fits the shapes of a family.
fn checked(task: &dyn Task, text: &str) -> Result<Document, String> {
    let document: Document = text.parse().map_err(|error: ParseError| error.to_string())?;
    if document.update != task.update() {
        let (written, wanted) = (document.update.name(), task.update().name());
        return Err(format!(
            "its update is `{written}`, the task's `{wanted}`; write `update: {wanted}` in its header"
        ));
    }
    let signatures = || task.families().iter().map(|row| Family::new(FamilyKind(row)).signature());
    let misfit = |signature| check(&document.program, signature).err();
    match signatures().map(misfit).collect::<Option<Vec<_>>>() {
        Some(misfits) if !misfits.is_empty() => Err(misfits[0].to_string()),
        _ => Ok(document),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::Family;
    use crate::program::CATALOGUE;
    use crate::rng::Stream;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_unique_and_families_know_their_task() {
        let names: BTreeSet<&str> = families().map(|row| row.name).collect();
        assert_eq!(names.len(), families().count());
        for task in tasks() {
            assert!(task.families().iter().all(|row| row.task == task), "{task:?}");
        }
        assert!(register(&linear::Linear).is_err());
    }

    #[test]
    fn every_catalogue_program_fits_the_family_it_names() {
        for entry in CATALOGUE.iter() {
            let family = Family::named(&entry.document.family).unwrap_or_else(|| panic!("{}", entry.name));
            assert_eq!(family.kind.info().task.update(), entry.document.update, "{}", entry.name);
            let fits = crate::program::check(&entry.document.program, family.signature());
            assert!(fits.is_ok(), "{}: {fits:?}", entry.name);
        }
    }

    #[test]
    fn every_family_draws_what_its_task_can_measure() {
        for row in families() {
            let mut family = Family::named(row.name).unwrap();
            (family.rows, family.cols) = if row.square { (6, 6) } else { (200, 4) };
            let instance = family.draw(&Stream::new(1)).unwrap();
            let start = match row.task.update() {
                Update::Answer => vec![0.5; 200],
                _ => instance.start.clone(),
            };
            let (loss, excess) = instance.measure(&start);
            assert!(loss.is_finite() && excess > 0.0, "{}: {loss} {excess}", row.name);
            assert!(
                instance.measure(&instance.x_star).1 < 1e-9
                    || row.task.update() == Update::Answer
                    || instance.attainable() == 0.0,
                "{}",
                row.name
            );
        }
    }
}

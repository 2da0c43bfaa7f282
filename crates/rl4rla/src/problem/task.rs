//! Tasks: the classes of problems that programs are searched for. A task defines the inputs of a program and its
//! update, additional operators, families of problems, and the loss. No later stage refers to a task by name.

use super::explore_defaults::ExploreDefaults;
use super::family::{Family, FamilyInfo};
use super::family_error::FamilyError;
use super::goal::Goal;
use super::image_loss::ImageLoss;
use super::instance::Instance;
use super::instance_error::InstanceError;
use super::outline::Outline;
use super::response::Response;
use super::solving::Solving;
use crate::linalg::Matrix;
use crate::program::{
    Geometry, OPERATORS, Op, Operator, Reg, RegSet, Section, Signature, Sizes, TaskUnits, Update,
};
use crate::rng::Stream;
use std::fmt;

/// A class of problems. Five methods are required; the others have defaults that suit linear systems.
///
/// `docs/new-task.md` implements one step by step.
pub trait Task: Send + Sync {
    /// Its name.
    fn name(&self) -> &'static str;

    /// The goal, in one line.
    fn doc(&self) -> &'static str;

    /// The families of its problems; family names are unique among all tasks.
    fn families(&self) -> &'static [FamilyInfo];

    /// The loss of a result, and its excess over the smallest possible loss, in units of the task's choice. The
    /// result is the iterate x, or v1 if that is the answer.
    fn measure(&self, instance: &Instance, result: &[f64]) -> (f64, f64);

    /// Only the excess, if it is cheaper than both and [`Task::accuracy`] does not use losses.
    fn excess(&self, _instance: &Instance, _result: &[f64]) -> Option<f64> {
        None
    }

    /// The problem posed by data, solved by a trusted method, or what is wrong with the data.
    #[allow(non_snake_case)]
    fn pose(&self, A: Matrix, b: Vec<f64>) -> Result<Instance, InstanceError>;

    /// The same problem without its solution, for callers that only run a program on it: the excess of a result may
    /// be meaningless there. [`Task::optimality`] must not use the solution.
    #[allow(non_snake_case)]
    fn pose_unsolved(&self, A: Matrix, b: Vec<f64>) -> Result<Instance, InstanceError> {
        self.pose(A, b)
    }

    /// The same with this λ, for a task that reads it; others have λ = 0.
    #[allow(non_snake_case)]
    fn pose_shifted(&self, A: Matrix, b: Vec<f64>, _lambda: f64) -> Result<Instance, InstanceError> {
        self.pose_unsolved(A, b)
    }

    /// The optimality measure by which `solve` stops: 0 at a solution, at most about 1 without progress, and
    /// invariant under scaling of A and b; or why the problem has no solution to converge to. By default the excess
    /// over the solution found by [`Task::pose`].
    fn optimality(&self, instance: &Instance, result: &[f64]) -> Result<f64, &'static str> {
        Ok(self.measure(instance, result).1)
    }

    /// The loss as a function of A·x, if it is one: then `solve` searches for a step without a pass over A.
    fn image_loss(&self) -> Option<&dyn ImageLoss> {
        None
    }

    /// How `solve` may treat its problems: scale columns, keep data in a file, average iterates.
    fn solving(&self) -> Solving {
        Solving::CAUTIOUS
    }

    /// The display name of [`Task::optimality`].
    fn optimality_name(&self) -> &'static str {
        self.measures()[1]
    }

    /// Why a result with a small [`Task::optimality`] is not a solution all the same. Called once, so it may take
    /// longer.
    fn objection(&self, _instance: &Instance, _result: &[f64]) -> Option<&'static str> {
        None
    }

    /// Further figures of a result to report: names and values.
    fn figures(&self, _instance: &Instance, _result: &[f64]) -> Vec<(&'static str, f64)> {
        vec![]
    }

    /// The type of a target column, which determines what x predicts.
    fn response(&self, _target: &[f64]) -> Result<Response, InstanceError> {
        Ok(Response::Number)
    }

    /// How exported programs recognize a solution.
    fn goal(&self) -> Goal {
        Goal::Standstill
    }

    /// A problem of a family before the rows of A are drawn, if that is enough to run programs on.
    fn outline(&self, _family: &Family, _stream: &Stream) -> Option<Result<Outline, FamilyError>> {
        None
    }

    /// The update at the end of an iteration.
    fn update(&self) -> Update {
        Update::Subtract
    }

    /// The input registers of a program.
    fn inputs(&self) -> RegSet {
        RegSet::common_inputs()
    }

    /// The operators it adds to the paper's 17.
    fn operators(&self) -> &'static [Operator] {
        &[]
    }

    /// Whether a search may apply an operator to these operands in that section, apart from their shapes.
    fn legality(&self) -> fn(Op, &[Reg], Section) -> bool {
        |_, _, _| true
    }

    /// The programs it adds to the catalogue: names and texts.
    fn programs(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }

    /// Display names of the loss and the excess.
    fn measures(&self) -> [&'static str; 2] {
        ["loss", "loss above the minimum"]
    }

    /// The accuracy term, in [0, 1], if the common scale of the excess (0 at 0.1, 1 at 10⁻⁶) does not suit.
    fn accuracy(&self, _history: &History) -> Option<f64> {
        None
    }

    /// Whether [`Task::accuracy`] uses only the first and the last excess, and [`Task::measure`] is finite for every
    /// finite result: then a search need not measure the iterates between, and the history holds NaN for them.
    fn looks_at_ends(&self) -> bool {
        false
    }

    /// The cost term of a run that made progress, in [0, 1], if the common scale (one half at five flops per entry of
    /// A and iteration) does not suit.
    fn thrift(&self, _work: &Work) -> Option<f64> {
        None
    }

    /// The default weights of accuracy, decay, cost and condition number.
    fn weights(&self) -> [f64; 4] {
        [1.0, 10.0, 8.0, 1.0]
    }

    /// The cost of a reference method, in flops and in passes over A, to which the work to reach a tolerance is
    /// compared.
    fn direct(&self, rows: f64, cols: f64) -> [f64; 2] {
        // A QR solve.
        [2.0 * rows * cols * cols - 2.0 / 3.0 * cols.powi(3), 1.0]
    }

    /// The cost of reading an entry of A, in flops, where the work to reach a tolerance is counted.
    fn pass_price(&self) -> f64 {
        0.0
    }

    /// What it takes to use an answer of so many entries per column of A, in flops and in passes over A: work that a
    /// program leaves to its user.
    fn completion(&self, _rows: f64, _cols: f64, _answer: f64) -> [f64; 2] {
        [0.0, 0.0]
    }

    /// Whether loss and excess depend on A and b only through lengths and angles, so that programs can run in reduced
    /// coordinates.
    fn is_isometric(&self) -> bool {
        false
    }

    /// The units of its data, by which searches without a curriculum tell sensible programs from others; `None` if
    /// it cannot be explored. A task that has units has a [`Task::best_step`].
    fn units(&self) -> Option<TaskUnits> {
        None
    }

    /// What an exploration assumes unless it is told.
    fn explore_defaults(&self) -> ExploreDefaults {
        ExploreDefaults::LINEAR
    }

    /// α and γ for which x − α(v − γd) has the smallest loss, γ = 0 without d: the step of an oracle that knows the
    /// solution.
    fn best_step(
        &self,
        _instance: &Instance,
        _x: &[f64],
        _v: &[f64],
        _d: Option<&[f64]>,
    ) -> Option<(f64, f64)> {
        None
    }

    /// The result of a stable direct method: no iteration can be asked for a smaller excess than it leaves.
    fn direct_solution(&self, _instance: &Instance) -> Option<Vec<f64>> {
        None
    }

    /// Whether R1 can be a preconditioner of AᵀA, so that the condition number term and the released formulas are
    /// meaningful.
    fn is_least_squares(&self) -> bool {
        false
    }
}

impl dyn Task {
    /// The signature of its problems of this shape, for type checking.
    pub fn signature(&self, geometry: Geometry) -> Signature {
        Signature { geometry, inputs: self.inputs(), update: self.update() }
    }

    /// The operators a search may use: the paper's and the task's own.
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
    /// The instance.
    pub instance: &'a Instance,
    /// The loss at the start and after every iteration.
    pub losses: &'a [f64],
    /// The excess at the start and after every iteration.
    pub excesses: &'a [f64],
}

impl History<'_> {
    /// Number of iterations.
    pub fn iterations(&self) -> usize {
        self.excesses.len() - 1
    }

    /// The first and the last excess.
    pub fn ends(&self) -> (f64, f64) {
        (self.excesses[0], self.excesses[self.iterations()])
    }
}

/// The cost of a run.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Work {
    /// Floating-point operations of setup and all iterations.
    pub flops: f64,
    /// Passes over A.
    pub passes: f64,
    /// Number of iterations.
    pub iterations: usize,
    /// The size of the problem.
    pub sizes: Sizes,
}

impl Work {
    /// The cost per iteration, including a share of setup, on a logarithmic scale: 1 at `least`, 0 at `most`.
    pub fn cheapness(&self, charged: f64, least: f64, most: f64) -> f64 {
        let each = charged / self.iterations as f64;
        ((most / each).ln() / (most / least).ln()).clamp(0.0, 1.0)
    }
}

/// The cost of reading an entry of A, in flops, for tasks that are posed on matrices too large for memory.
pub const PASS_PRICE: f64 = 100.0;

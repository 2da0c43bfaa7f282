//! One solver for every task: choice of method, iteration and stopping.

use super::certified::Certified;
use super::error::SolveError;
use super::factor::ColumnSplit;
use super::line_search::LineSearch;
use super::options::SolveOptions;
use super::prepared::PreparedProblem;
use super::problem::Problem;
use super::progress::Mean;
use super::solution::{Solution, Termination};
use crate::execute::{Fault, Measuring, Plan, RunData, RunFailure, RunSettings, Runner};
use crate::program::{Canonical, Document, LiveOut, Model, Program, ProgramCost, Sizes};
use crate::rng::Stream;

/// Solves a problem by a program for its task until the tolerance is met; a program whose header names another task
/// is rejected. A pure function of its arguments; the result is bitwise independent of the number of threads.
///
/// [`Task::solving`](crate::problem::Task::solving) says what else the task allows: scaling columns in place to about
/// the same length, by powers of two; data kept in a file; means of iterates. Convergence is decided by a certificate
/// for least squares, and for other tasks by their [`optimality`](crate::problem::Task::optimality).
///
/// ```
/// use rl4rla::{problem::Logistic, program::Entry, rng::Stream, solve::{SolveOptions, Problem, solve}};
/// let (m, n) = (5000, 8);
/// let (a, b) = (Stream::new(1).normals(m * n), Stream::new(2).normals(m));
/// let program = &Entry::named("sketched-precond-gd").unwrap().document;
/// let solution = solve(program, Problem::from_rows(m, n, a, b).unwrap(), &SolveOptions::default()).unwrap();
/// let certificate = solution.certificate.unwrap();
/// assert!(certificate.excess < 1e-10 && certificate.backward_error < 1e-10);
/// let x: Vec<f64> = solution.into_x().unwrap();
/// assert_eq!(x.len(), n);
///
/// // Three of four labels are positive: σ(x) = 3/4.
/// let labels = Problem::from_rows(4, 1, [1.0; 4], [1.0, 1.0, 0.0, 1.0]).unwrap().for_task(&Logistic);
/// let newton = &Entry::named("newton").unwrap().document;
/// let x = solve(newton, labels, &SolveOptions::default()).unwrap().into_x().unwrap();
/// assert!((x[0] - 3f64.ln()).abs() < 1e-9);
/// ```
pub fn solve(program: &Document, problem: Problem, options: &SolveOptions) -> Result<Solution, SolveError> {
    problem.task.admit(program).map_err(RunFailure::from)?;
    problem.admits(options)?;
    let problem = match by_own_factor(program, problem, options) {
        (_, Ok(Some(solution))) => return Ok(solution),
        (problem, _) => problem,
    };
    carefully(program, problem, options)
}

/// Solves a problem with scaled columns, after a rank decision of its own.
pub(super) fn carefully(
    program: &Document,
    problem: Problem,
    options: &SolveOptions,
) -> Result<Solution, SolveError> {
    let prepared = PreparedProblem::new(problem, options)?;
    // Entries that cannot be read are NaN, so the run fails.
    run(&program.program, &prepared, options).map_err(|error| match prepared.instance.A.read_failure() {
        Some(why) => SolveError::Unreadable(why.to_string()),
        None => error,
    })
}

/// Solves least squares by a program that computes a triangular factor of A, or of a sketch of it, in setup: the same
/// factor decides about rank and convergence, so that A is neither scaled nor sketched again. No solution if the
/// program computes none, the factor leaves doubt about the rank, or the data could overflow. The problem is returned
/// as it was.
pub(super) fn by_own_factor(
    program: &Document,
    problem: Problem,
    options: &SolveOptions,
) -> (Problem, Result<Option<Solution>, SolveError>) {
    with_own_factor(program, problem, options, |job, runner, columns| {
        pursue(&mut Certified::begin(job, runner, columns)?, options)
    })
}

/// Runs setup of such a program, and calls `f` with the factor it computed. The problem is returned as it was.
pub(super) fn with_own_factor<T>(
    program: &Document,
    problem: Problem,
    options: &SolveOptions,
    f: impl FnOnce(&Job, Runner, &ColumnSplit) -> Result<T, SolveError>,
) -> (Problem, Result<Option<T>, SolveError>) {
    let prepared = match PreparedProblem::as_given(problem) {
        Ok(prepared) => prepared,
        Err(problem) => return (*problem, Ok(None)),
    };
    let solution = with_job(&program.program, &prepared, options, |job| {
        let Some(how) = job.plan.factorises() else { return Ok(None) };
        let runner = job.begin(Measuring::Shown)?;
        let rows = prepared.instance.rows();
        let columns =
            runner.factor().and_then(|factor| ColumnSplit::independent(factor, how, rows, &prepared.noise));
        match columns {
            Some(columns) => f(job, runner, &columns).map(Some),
            None => Ok(None),
        }
    });
    (prepared.into_problem(), solution)
}

/// A program about to run on prepared data, and its cost.
pub(super) struct Job<'a> {
    pub plan: &'a Plan<'a>,
    pub prepared: &'a PreparedProblem,
    pub options: &'a SolveOptions,
    settings: &'a RunSettings,
    pub cost: ProgramCost,
    pub sizes: Sizes,
}

impl<'a> Job<'a> {
    /// Runs setup.
    pub fn begin(&self, measuring: Measuring) -> Result<Runner<'a>, RunFailure> {
        let (data, stream) = (RunData::True(&self.prepared.instance, None), Stream::new(self.options.seed));
        Runner::begin(self.plan, data, self.settings, &stream, measuring)
    }
}

/// Calls `f` with the program on its way to run.
pub(super) fn with_job<T>(
    program: &Program,
    prepared: &PreparedProblem,
    options: &SolveOptions,
    f: impl FnOnce(&Job) -> Result<T, SolveError>,
) -> Result<T, SolveError> {
    let instance = &prepared.instance;
    let (rows, cols) = (instance.rows(), instance.cols());
    let settings = options.settings(rows, cols);
    let live = Canonical::new(program, LiveOut::Finished);
    let plan = Plan::new(live.program(), instance.shape(), &settings)?;
    let cost = ProgramCost::of(&live, instance.signature(), Model::True).expect("a plan is typed");
    let sizes = settings.sizes(rows, cols);
    f(&Job { plan: &plan, prepared, options, settings: &settings, cost, sizes })
}

fn run(
    program: &Program,
    prepared: &PreparedProblem,
    options: &SolveOptions,
) -> Result<Solution, SolveError> {
    match &prepared.columns {
        Some(columns) if columns.kept.is_empty() => Ok(Certified::nothing(prepared, columns)),
        Some(columns) => with_job(program, prepared, options, |job| {
            let runner = job.begin(Measuring::Shown)?;
            pursue(&mut Certified::begin(job, runner, columns)?, options)
        }),
        None => with_job(program, prepared, options, |job| pursue(&mut LineSearch::begin(job)?, options)),
    }
}

/// How a run advances, and how it is judged.
pub(super) trait SolveMethod {
    /// Iterations made.
    fn iterations(&self) -> usize;

    /// The iterate.
    fn x(&self) -> &[f64];

    /// Judges the start; `Some` if the run ends there.
    fn start(&mut self) -> Option<Termination>;

    /// Makes one iteration and judges the result.
    fn advance(&mut self) -> Result<Option<Termination>, RunFailure>;

    /// The result, measured at the mean of the iterates if there is one, else at the last iterate.
    fn finish(
        &mut self,
        mean: Option<Vec<f64>>,
        ended: Termination,
        failure: Option<RunFailure>,
    ) -> Result<Solution, SolveError>;

    /// Restarts with a smaller step size; false if that cannot help.
    fn retry(&mut self) -> Result<bool, RunFailure>;
}

/// Runs to the end, and restarts with a smaller step size as long as the run diverges.
pub(super) fn pursue(method: &mut dyn SolveMethod, options: &SolveOptions) -> Result<Solution, SolveError> {
    let overflows = |failure: &RunFailure| failure.fault == Fault::NotFinite;
    loop {
        let solution = once(method, options);
        let too_far = match &solution {
            Ok(solution) => {
                solution.ended == Termination::Divergence || solution.failure.as_ref().is_some_and(overflows)
            }
            Err(SolveError::Run(failure)) => overflows(failure),
            Err(_) => false,
        };
        if !(too_far && method.retry()?) {
            return solution;
        }
    }
}

/// Runs from start to end.
fn once(method: &mut dyn SolveMethod, options: &SolveOptions) -> Result<Solution, SolveError> {
    let (mut mean, mut failure, mut ended) = (Mean::default(), None, method.start());
    while ended.is_none() && method.iterations() < options.iterations {
        let begun = method.iterations() > 0;
        ended = match method.advance() {
            Ok(ended) => ended,
            Err(error) if begun => {
                failure = Some(error);
                Some(Termination::Blocked)
            }
            Err(error) => return Err(error.into()),
        };
        if failure.is_none() && options.average && method.iterations() > options.iterations / 2 {
            mean.add(method.x());
        }
    }
    method.finish(mean.value(), ended.unwrap_or(Termination::Iterations), failure)
}

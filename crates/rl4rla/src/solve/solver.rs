//! Least squares by a program: which step, when to stop, and what came of it.

use super::certificate::Certificate;
use super::error::SolveError;
use super::options::{Options, Step};
use super::prepared::{PASSES, Prepared};
use super::solved::{Ended, Solved};
use crate::execute::{Failure, Fault, Large, LargeRun, Seen};
use crate::linalg;
use crate::problem::{Linear, Task};
use crate::program::{Canonical, Document, LiveOut, Model, Price, Program};
use crate::rng::Stream;

/// How often a diverging run is tried again with half the step.
const HALVINGS: usize = 12;

/// A residual, in units of the first, from which no converging run comes back.
const DIVERGED: f64 = 100.0;

/// Iterations in a row that change nothing before a run is at a standstill.
const STILL: usize = 8;

/// Looks in a row that find the excess no smaller than before: then rounding, or the program's own error, hides the rest.
const STALE: usize = 100;

/// Looks in a row that do not halve the excess: then a run that is good up to rounding need not go on.
const SLOW: usize = 10;

/// Solves min ‖Ax − b‖ by a program for linear systems, and says by a certificate how good the solution is; a program whose
/// head says that it is made for another task is refused. A pure function of its arguments; the number of threads changes
/// no bit.
///
/// Columns are brought to about the same length in place, by powers of two, before the program runs: data of which a clone
/// is kept are copied.
///
/// ```
/// use rl4rla::{execute::Large, linalg::Matrix, program::Entry, rng::Stream, solve::{Options, solve}};
/// let (m, n) = (5000, 8);
/// let a = Matrix::from_row_major(m, n, Stream::new(1).normals(m * n));
/// let b = Stream::new(2).normals(m);
/// let large = Large::new(a, b).unwrap();
/// let program = &Entry::named("sketched-precond-gd").unwrap().document;
/// let solved = solve(program, large, &Options::default()).unwrap();
/// let certificate = solved.certificate.unwrap();
/// assert!(solved.converged && certificate.excess < 1e-10 && certificate.backward_error < 1e-10);
/// ```
pub fn solve(program: &Document, large: Large, options: &Options) -> Result<Solved, SolveError> {
    let task: &dyn Task = &Linear;
    task.admit(program).map_err(Failure::from)?;
    let prepared = Prepared::new(large, options)?;
    // What cannot be read is not a number, and so the run fails.
    run(&program.program, &prepared, options).map_err(|error| match prepared.large.matrix().read_failure() {
        Some(why) => SolveError::Unreadable(why.to_string()),
        None => error,
    })
}

fn run(program: &Program, prepared: &Prepared, options: &Options) -> Result<Solved, SolveError> {
    let large = &prepared.large;
    let (rows, cols) = (large.matrix().rows(), large.matrix().cols());
    if cols == 0 {
        return Ok(nothing(prepared));
    }
    let settings = options.settings(rows, cols);
    let live = Canonical::new(program, LiveOut::Finished);
    let run = LargeRun::begin(live.program(), large, &settings, &Stream::new(options.seed))?;
    let price = Price::of(&live, large.signature(), Model::True).expect("a run that began is typed");
    let sizes = settings.sizes(rows, cols);
    // Looking costs a pass of 4mn flops; no more is spent on it than on running.
    let each = price.iteration.flops.eval(&sizes).max(1.0);
    let every = if options.history { 1 } else { ((4.0 * sizes.rows * sizes.cols) / each).ceil() as usize };
    let mut solver = Solver { run, options, prepared, every: every.max(1) };
    let mut step = match options.step {
        Step::Auto => solver.run.find_step()?,
        Step::Fixed(step) => step,
    };
    let mut tries = if options.step == Step::Auto { HALVINGS } else { 0 };
    loop {
        let course = match solver.course() {
            Err(SolveError::Run(failure)) if tries > 0 && failure.fault == Fault::NotFinite => None,
            course => Some(course?),
        };
        let too_far = |course: &Course| {
            let overflows = course.failure.as_ref().is_some_and(|failure| failure.fault == Fault::NotFinite);
            overflows || course.ended == Ended::Divergence
        };
        if let Some(course) = course
            && (tries == 0 || !too_far(&course))
        {
            let Course { x, last, certificate, residuals, ended, iterations, failure } = course;
            return Ok(Solved {
                x,
                residual: last.residual,
                gradient: certificate.cosine,
                converged: certificate.converged && ended != Ended::Divergence,
                certificate: Some(certificate),
                dependent: prepared.columns.dependent.clone(),
                step,
                iterations,
                passes: price.passes(&sizes, iterations),
                reads: PASSES + solver.run.passes(),
                flops: price.flops(&sizes, iterations),
                residuals,
                ended,
                failure,
            });
        }
        tries -= 1;
        step /= 2.0;
        solver.run.restart(step)?;
    }
}

/// The solution where every column is zero: x = 0, by no program.
fn nothing(prepared: &Prepared) -> Solved {
    let distance = linalg::norm(prepared.large.right_hand_side());
    let residual = if distance == 0.0 { 0.0 } else { 1.0 };
    let seen = Seen { residual, distance, gradient: vec![] };
    Solved {
        x: prepared.answer(&[]),
        residual,
        gradient: 0.0,
        converged: true,
        certificate: Some(prepared.judge(&[], &seen, 0.0)),
        dependent: prepared.columns.dependent.clone(),
        step: 0.0,
        iterations: 0,
        passes: 0.0,
        reads: PASSES,
        flops: 0.0,
        residuals: vec![residual],
        ended: Ended::Tolerance,
        failure: None,
    }
}

struct Solver<'a> {
    run: LargeRun<'a>,
    options: &'a Options,
    prepared: &'a Prepared,
    every: usize,
}

struct Course {
    x: Vec<f64>,
    last: Seen,
    certificate: Certificate,
    residuals: Vec<f64>,
    ended: Ended,
    iterations: usize,
    failure: Option<Failure>,
}

impl Solver<'_> {
    /// Runs to the end.
    fn course(&mut self) -> Result<Course, SolveError> {
        let (options, prepared) = (self.options, self.prepared);
        let judge = |y: &[f64], seen: &Seen| prepared.judge(y, seen, options.tolerance);
        let first = self.run.measure();
        // With a tolerance of 0, or for a mean, all iterations are wanted; and a standstill of samples is chance.
        let may_stop = options.tolerance > 0.0 && !options.average;
        let may_stand = may_stop && !self.run.draws_in_iterations();
        let (mut residuals, mut mean, mut still) = (vec![first.residual], Mean::default(), 0);
        let mut closest = Closest::default();
        let at_start = may_stop && judge(self.run.x(), &first).reached;
        let mut failure = None;
        let mut ended = if at_start { Ended::Tolerance } else { Ended::Iterations };
        while residuals.len() <= options.iterations && ended == Ended::Iterations {
            let before = self.run.x().to_vec();
            let seen = match self.run.iterate() {
                Ok(seen) => seen,
                Err(error) if residuals.len() > 1 => {
                    (ended, failure) = (Ended::Blocked, Some(error));
                    break;
                }
                Err(error) => return Err(error.into()),
            };
            // What an iteration shows belongs to the iterate before it.
            if let (Some(seen), Some(place)) = (&seen, residuals.last_mut()) {
                *place = seen.residual;
            }
            let iterations = residuals.len();
            let shown = seen.as_ref().map(|seen| judge(&before, seen));
            let looked = match &shown {
                // The iterate that is returned has to be good, not the one before it.
                Some(shown) if may_stop && (shown.reached || (shown.converged && closest.is_slow())) => {
                    Some(self.run.measure())
                }
                None if iterations.is_multiple_of(self.every) => Some(self.run.measure()),
                _ => None,
            };
            residuals.push(looked.as_ref().map_or(f64::NAN, |looked| looked.residual));
            if options.average && iterations > options.iterations / 2 {
                mean.add(self.run.x());
            }
            let change = linalg::norm(&linalg::sub(self.run.x(), &before));
            still = if change <= f64::EPSILON * linalg::norm(&before) { still + 1 } else { 0 };
            let judged = looked.as_ref().map(|looked| judge(self.run.x(), looked));
            if let Some(now) = judged.or(shown) {
                closest.look(now.excess * looked.as_ref().or(seen.as_ref()).map_or(0.0, |now| now.distance));
            }
            let diverged = |now: &Seen| now.residual > DIVERGED * first.residual;
            if looked.as_ref().or(seen.as_ref()).is_some_and(diverged) {
                ended = Ended::Divergence;
            } else if may_stop && judged.is_some_and(|now| now.reached) {
                ended = Ended::Tolerance;
            } else if may_stop && judged.is_some_and(|now| now.converged) && closest.is_slow() {
                ended = Ended::Floor;
            } else if may_stand && still >= STILL {
                ended = Ended::Standstill;
            } else if may_stand && closest.since >= STALE {
                ended = Ended::Floor;
            }
        }
        let y = mean.value().unwrap_or_else(|| self.run.x().to_vec());
        let x = prepared.answer(&y);
        if let Some(column) = x.iter().position(|x| !x.is_finite()) {
            return Err(SolveError::Overflow { column });
        }
        let y = prepared.question(&x);
        let last = self.run.measure_at(&y);
        let certificate = judge(&y, &last);
        let iterations = residuals.len() - 1;
        residuals[iterations] = last.residual;
        if last.residual.is_nan() || last.residual > first.residual * (1.0 + 1e-9) {
            ended = Ended::Divergence;
        } else if ended == Ended::Tolerance && !certificate.converged {
            ended = Ended::Floor;
        }
        Ok(Course { x, last, certificate, residuals, ended, iterations, failure })
    }
}

/// How close a run has come, how many looks ago, and how many looks ago it had come half as close.
struct Closest {
    excess: f64,
    since: usize,
    mark: f64,
    since_mark: usize,
}

impl Default for Closest {
    fn default() -> Closest {
        Closest { excess: f64::INFINITY, since: 0, mark: f64::INFINITY, since_mark: 0 }
    }
}

impl Closest {
    fn look(&mut self, excess: f64) {
        (self.excess, self.since) =
            if excess < self.excess { (excess, 0) } else { (self.excess, self.since + 1) };
        (self.mark, self.since_mark) =
            if excess < 0.5 * self.mark { (excess, 0) } else { (self.mark, self.since_mark + 1) };
    }

    /// Whether little more is to be expected.
    fn is_slow(&self) -> bool {
        self.since_mark >= SLOW
    }
}

/// The mean of vectors.
#[derive(Default)]
struct Mean {
    sum: Vec<f64>,
    count: usize,
}

impl Mean {
    fn add(&mut self, x: &[f64]) {
        self.sum = if self.count == 0 { x.to_vec() } else { linalg::add(&self.sum, x) };
        self.count += 1;
    }

    fn value(&self) -> Option<Vec<f64>> {
        (self.count > 0).then(|| linalg::scale(1.0 / self.count as f64, &self.sum))
    }
}

#[cfg(test)]
mod tests;

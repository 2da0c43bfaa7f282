//! Least squares by a program: which step, when to stop, and what came of it.

use super::certificate::Certificate;
use super::error::SolveError;
use super::factor::Dependence;
use super::prepared::{PASSES, Prepared};
use crate::execute::{Failure, Fault, Large, LargeRun, Sampling, Seen, Settings, SketchKind};
use crate::linalg;
use crate::problem::{Linear, Task};
use crate::program::{Canonical, Document, LiveOut, Model, Price, Program};
use crate::rng::Stream;

/// The step size η.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Step {
    /// Found by a pilot of a few iterations, and halved as long as the run diverges.
    Auto,
    /// This one.
    Fixed(f64),
}

/// What becomes of columns that depend on others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RankDeficient {
    /// Nothing is solved, and they are named.
    Refuse,
    /// They are left out: their coefficients are 0.
    Drop,
    /// Of all solutions the one of least ‖x‖ is taken.
    MinNorm,
}

/// How to solve.
#[derive(Clone, PartialEq, Debug)]
pub struct Options {
    /// The step size.
    pub step: Step,
    /// The most iterations.
    pub iterations: usize,
    /// Good enough is ‖A(x − x*)‖ ≤ tolerance·‖Ax − b‖, or what rounding allows, as [`Certificate`] estimates it; with 0 all
    /// iterations are made.
    pub tolerance: f64,
    /// What becomes of dependent columns.
    pub rank_deficient: RankDeficient,
    /// Whether the answer is the mean of the iterates of the second half, in which the noise of samples cancels.
    pub average: bool,
    /// Whether the residual of every iterate is wanted, at the price of a pass over A each where the program does not
    /// show it.
    pub history: bool,
    /// The kind of sketch.
    pub sketch: SketchKind,
    /// Rows of a sketch per column of A.
    pub sketch_factor: f64,
    /// Rows of a sample.
    pub batch: usize,
    /// How rows are drawn.
    pub sampling: Sampling,
    /// What luck follows from.
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            step: Step::Auto,
            iterations: 1000,
            tolerance: 1e-10,
            rank_deficient: RankDeficient::Refuse,
            average: false,
            history: false,
            sketch: SketchKind::Sjlt,
            sketch_factor: 8.0,
            batch: 100,
            sampling: Sampling::Unbiased,
            seed: 0,
        }
    }
}

impl Options {
    /// The settings of a run on data of this size.
    pub fn settings(&self, rows: usize, cols: usize) -> Settings {
        let sketch_rows = (self.sketch_factor * cols as f64).ceil() as usize;
        Settings {
            iterations: self.iterations,
            step: if let Step::Fixed(step) = self.step { step } else { 1.0 },
            sketch: self.sketch,
            sketch_rows: sketch_rows.clamp(1, rows.max(1)),
            batch: self.batch.min(rows),
            sampling: self.sampling,
            ..Settings::for_size(rows, cols)
        }
    }
}

/// Why a run ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ended {
    /// The tolerance was reached.
    Tolerance,
    /// In double precision nothing changes any more.
    Standstill,
    /// The excess no longer falls, short of the tolerance.
    Floor,
    /// All iterations were made.
    Iterations,
    /// It ended worse than it began, with every step that was tried.
    Divergence,
    /// It cannot go on: an operation fails, or there is nothing to come near to.
    Blocked,
}

impl Ended {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Ended::Tolerance => "the tolerance is reached",
            Ended::Standstill => "nothing changes any more in double precision",
            Ended::Floor => "it no longer comes closer",
            Ended::Iterations => "all iterations are made",
            Ended::Divergence => "it diverges: x = 0 is better",
            Ended::Blocked => "it cannot go on",
        }
    }
}

/// A solution.
#[derive(Clone, PartialEq, Debug)]
pub struct Solved {
    /// The solution.
    pub x: Vec<f64>,
    /// What is left: for least squares ‖Ax − b‖/‖b‖, else the task's loss.
    pub residual: f64,
    /// For least squares max |aⱼᵀr|/(‖aⱼ‖‖r‖), r = Ax − b: the largest cosine of a column and the residual;
    /// else the task's [`optimality`](crate::problem::Task::optimality).
    pub gradient: f64,
    /// Whether x is as good as was asked for.
    pub converged: bool,
    /// For least squares, by what one knows.
    pub certificate: Option<Certificate>,
    /// Columns that depend on others, where that was not refused.
    pub dependent: Vec<Dependence>,
    /// η.
    pub step: f64,
    /// Iterations made.
    pub iterations: usize,
    /// Passes over A of setup and all iterations, by the program's price.
    pub passes: f64,
    /// Operations that read all of A, those of a pilot and of measuring included; for least squares alone.
    pub reads: usize,
    /// Floating-point operations of setup and all iterations, by the program's price.
    pub flops: f64,
    /// The residual at the start and after every iteration; NaN where nobody looked.
    pub residuals: Vec<f64>,
    /// Why it ended.
    pub ended: Ended,
}

/// How often a diverging run is tried again with half the step.
const HALVINGS: usize = 12;

/// A residual, in units of the first, from which no converging run comes back.
const DIVERGED: f64 = 100.0;

/// Iterations in a row that change nothing before a run is at a standstill.
const STILL: usize = 8;

/// Looks in a row that find the excess no smaller than before: then rounding, or the program's own error, hides the rest.
const STALE: usize = 100;

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
        if let Some(Course { x, last, certificate, residuals, ended, iterations }) = course
            && (ended != Ended::Divergence || tries == 0)
        {
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
        let at_start = may_stop && judge(self.run.x(), &first).converged;
        let mut ended = if at_start { Ended::Tolerance } else { Ended::Iterations };
        while residuals.len() <= options.iterations && ended == Ended::Iterations {
            let before = self.run.x().to_vec();
            let seen = self.run.iterate()?;
            // What an iteration shows belongs to the iterate before it.
            if let (Some(seen), Some(place)) = (&seen, residuals.last_mut()) {
                *place = seen.residual;
            }
            let iterations = residuals.len();
            let shown = seen.as_ref().map(|seen| judge(&before, seen));
            let looked = match &shown {
                // The iterate that is returned has to be good, not the one before it.
                Some(shown) if may_stop && shown.converged => Some(self.run.measure()),
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
            } else if may_stop && judged.is_some_and(|now| now.converged) {
                ended = Ended::Tolerance;
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
        Ok(Course { x, last, certificate, residuals, ended, iterations })
    }
}

/// How close a run has come, and how many looks ago.
struct Closest {
    excess: f64,
    since: usize,
}

impl Default for Closest {
    fn default() -> Closest {
        Closest { excess: f64::INFINITY, since: 0 }
    }
}

impl Closest {
    fn look(&mut self, excess: f64) {
        if excess < self.excess {
            *self = Closest { excess, since: 0 };
        } else {
            self.since += 1;
        }
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
mod tests {
    use super::*;
    use crate::linalg::Matrix;
    use crate::program::Entry;

    fn large(rows: usize, cols: usize, entry: impl Fn(usize, usize, f64) -> f64, noise: f64) -> Large {
        let draws = Stream::new(5).normals(rows * (cols + 1));
        let a = Matrix::from_row_major(
            rows,
            cols,
            (0..rows * cols).map(|k| entry(k / cols, k % cols, draws[k])).collect(),
        );
        let exact = linalg::mat_vec(&a, &vec![1.0; cols]);
        let b = exact.iter().zip(&draws[rows * cols..]).map(|(b, draw)| b + noise * draw).collect();
        Large::new(a, b).unwrap()
    }

    fn solved(name: &str, large: &Large, options: &Options) -> Solved {
        solve(&Entry::named(name).unwrap().document, large.clone(), options).unwrap()
    }

    #[test]
    fn a_run_ends_where_the_returned_iterate_is_good() {
        let large = large(300, 4, |_, j, draw| draw * [1.0, 2.0, 5.0, 9.0][j], 0.5);
        for (name, most) in [("ls-gd", 5000), ("precond-gd", 10), ("sketched-precond-gd", 100)] {
            let solved = solved(name, &large, &Options { iterations: 20_000, ..Options::default() });
            assert!(solved.converged && solved.ended == Ended::Tolerance, "{name}");
            assert!(
                solved.certificate.unwrap().excess <= 1e-9 && solved.iterations < most,
                "{name}: {solved:?}"
            );
            assert_eq!(solved.residuals.len(), solved.iterations + 1);
        }
        // A step that is far too large is never good, whatever the iterate before looked like.
        let wild = solved(
            "ls-gd",
            &large,
            &Options { tolerance: 0.1, step: Step::Fixed(1.0), ..Options::default() },
        );
        assert_eq!(wild.ended, Ended::Divergence);
        let all =
            solved("precond-gd", &large, &Options { tolerance: 0.0, iterations: 40, ..Options::default() });
        assert_eq!((all.ended, all.iterations), (Ended::Iterations, 40));
    }

    #[test]
    fn slow_progress_is_no_standstill() {
        let large = large(200, 3, |_, j, draw| draw * [1.0, 1.0, 0.01][j], 1.0);
        let solved = solved("ls-gd", &large, &Options { iterations: 200_000, ..Options::default() });
        assert!(solved.converged, "{solved:?}");
    }

    /// Four columns of which the last is made of others.
    fn dependent(noise: f64) -> Large {
        let draws = Stream::new(6).normals(300 * 4);
        let entry = |i: usize, j: usize| match j {
            3 => 2.0 * draws[4 * i] - draws[4 * i + 2],
            _ => draws[4 * i + j],
        };
        large(300, 4, |i, j, _| entry(i, j), noise)
    }

    #[test]
    fn dependent_columns_are_named_left_out_or_shared() {
        let program = &Entry::named("sketched-precond-gd").unwrap().document;
        let error = solve(program, dependent(0.5), &Options::default()).unwrap_err();
        let named = vec![Dependence { column: 3, on: vec![0, 2] }];
        assert_eq!(error, SolveError::Dependent { columns: named.clone(), rank: 3 });
        let run = |rank_deficient| {
            solved("sketched-precond-gd", &dependent(0.5), &Options { rank_deficient, ..Options::default() })
        };
        let (dropped, shortest) = (run(RankDeficient::Drop), run(RankDeficient::MinNorm));
        assert!(dropped.converged && shortest.converged, "{dropped:?} {shortest:?}");
        assert_eq!((dropped.x[3], &dropped.dependent), (0.0, &named));
        // As the pseudo-inverse has it.
        let (a, b) = dependent(0.5).into_data();
        let expected = linalg::mat_vec(&linalg::pseudo_inverse(&a.by_columns()).unwrap(), &b);
        assert!(linalg::norm(&linalg::sub(&shortest.x, &expected)) < 1e-9, "{:?} {expected:?}", shortest.x);
        assert!((dropped.residual - shortest.residual).abs() < 1e-12);
    }

    #[test]
    fn columns_of_any_size_are_solved() {
        for (name, sizes) in [
            ("precond-gd", [1.0, 1e10, 1.0, 1e-10]),
            ("sketched-precond-gd", [1e150, 1.0, 1e-150, 1e4]),
            ("ls-gd", [1e300, 1e-300, 1.0, 1e9]),
        ] {
            let plain = large(400, 4, |_, _, draw| draw, 0.3);
            let (a, b) = plain.clone().into_data();
            let scaled = Matrix::from_row_major(
                400,
                4,
                (0..1600).map(|k| a.get(k / 4, k % 4) * sizes[k % 4]).collect(),
            );
            let scaled = solved(name, &Large::new(scaled, b).unwrap(), &Options::default());
            let plain = solved(name, &plain, &Options::default());
            assert!(scaled.converged && plain.converged, "{name}: {scaled:?}");
            for j in 0..4 {
                assert!(
                    (scaled.x[j] * sizes[j] / plain.x[j] - 1.0).abs() < 1e-8,
                    "{name} {j}: {:?}",
                    scaled.x
                );
            }
        }
    }

    #[test]
    fn an_unstable_form_is_found_out() {
        // Two columns differ by 10⁻¹¹ of their length.
        let draws = Stream::new(7).normals(2000 * 6);
        let near = |i: usize, j: usize| match j {
            5 => draws[6 * i] + 1e-11 * draws[6 * i + 5],
            _ => draws[6 * i + j],
        };
        let near = large(2000, 6, |i, j, _| near(i, j), 1.0);
        let gram = solved("sketched-precond-gd-gram", &near, &Options::default());
        let stable = solved("sketched-precond-gd-factored", &near, &Options::default());
        let excess = |solved: &Solved| solved.certificate.unwrap().excess;
        assert!(!gram.converged && excess(&gram) > 1e-4, "{gram:?}");
        assert!(stable.converged && excess(&stable) < 1e-4, "{stable:?}");
        assert!(gram.iterations < 1000 || gram.ended == Ended::Iterations);
    }

    #[test]
    fn zeros_and_single_entries() {
        let system = |rows, cols, entries: Vec<f64>, b: Vec<f64>| {
            Large::new(Matrix::from_row_major(rows, cols, entries), b).unwrap()
        };
        let zero = system(3, 2, vec![0.0; 6], vec![1.0, 2.0, 3.0]);
        let drop = Options { rank_deficient: RankDeficient::Drop, ..Options::default() };
        let nothing = solved("precond-gd", &zero, &drop);
        assert_eq!((nothing.x, nothing.converged), (vec![0.0, 0.0], true));
        assert!(solve(&Entry::named("ls-gd").unwrap().document, zero, &Options::default()).is_err());
        for (a, b) in [(3.0, 6.0), (1e-200, 1e100), (-1e300, 1e300)] {
            let one = solved("precond-gd", &system(1, 1, vec![a], vec![b]), &Options::default());
            assert!(one.converged && (one.x[0] / (b / a) - 1.0).abs() < 1e-14, "{a} {b}: {one:?}");
        }
        let huge = system(1, 1, vec![1e-200], vec![1e200]);
        let program = &Entry::named("precond-gd").unwrap().document;
        assert_eq!(solve(program, huge, &Options::default()), Err(SolveError::Overflow { column: 0 }));
    }

    #[test]
    fn the_mean_of_samples_is_better_than_the_last() {
        let large = large(2000, 5, |_, _, draw| draw, 1.0);
        let run = |average| {
            solved(
                "precond-weighted-sgd",
                &large,
                &Options { average, iterations: 400, ..Options::default() },
            )
        };
        let excess = |average| run(average).certificate.unwrap().excess;
        assert!(excess(true) < 0.3 * excess(false));
    }

    #[test]
    fn nothing_to_do_is_done() {
        let zero = Large::new(Matrix::from_row_major(3, 1, vec![1.0, 2.0, 3.0]), vec![0.0; 3]).unwrap();
        let solved = solved("ls-gd", &zero, &Options::default());
        assert_eq!((solved.x, solved.residual), (vec![0.0], 0.0));
    }
}

//! Least squares by a program: which step, when to stop, and what came of it.

use crate::execute::{Failure, Fault, Large, LargeRun, Sampling, Seen, Settings, SketchKind};
use crate::linalg;
use crate::program::{Canonical, LiveOut, Model, Price, Program};
use crate::rng::Stream;

/// The step size η.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Step {
    /// Found by a pilot of a few iterations, and halved as long as the run diverges.
    Auto,
    /// This one.
    Fixed(f64),
}

/// How to solve.
#[derive(Clone, PartialEq, Debug)]
pub struct Options {
    /// The step size.
    pub step: Step,
    /// The most iterations.
    pub iterations: usize,
    /// Good enough is ‖Aᵀ(Ax − b)‖ ≤ tolerance·‖Aᵀb‖; with 0 all iterations are made.
    pub tolerance: f64,
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
    /// All iterations were made.
    Iterations,
    /// It ended worse than it began, with every step that was tried.
    Divergence,
}

impl Ended {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Ended::Tolerance => "the tolerance is reached",
            Ended::Standstill => "nothing changes any more in double precision",
            Ended::Iterations => "all iterations are made",
            Ended::Divergence => "it diverges: x = 0 is better",
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
    /// For least squares ‖Aᵀ(Ax − b)‖/‖Aᵀb‖, else NaN.
    pub gradient: f64,
    /// η.
    pub step: f64,
    /// Iterations made.
    pub iterations: usize,
    /// Operations that read all of A, those of a pilot and of measuring included.
    pub passes: usize,
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

/// Solves min ‖Ax − b‖ by a program for linear systems. A pure function of its arguments; the number of threads changes
/// no bit.
///
/// ```
/// use rl4rla::{execute::Large, linalg::Matrix, program::Entry, rng::Stream, solve::{Options, solve}};
/// let (m, n) = (5000, 8);
/// let a = Matrix::from_row_major(m, n, Stream::new(1).normals(m * n));
/// let b = Stream::new(2).normals(m);
/// let large = Large::new(a, b).unwrap();
/// let program = &Entry::named("sketched-precond-gd").unwrap().document.program;
/// let solved = solve(program, &large, &Options::default()).unwrap();
/// assert!(solved.gradient < 1e-10 && solved.iterations < 60);
/// ```
pub fn solve(program: &Program, large: &Large, options: &Options) -> Result<Solved, Failure> {
    let (rows, cols) = (large.matrix().rows(), large.matrix().cols());
    let settings = options.settings(rows, cols);
    let live = Canonical::new(program, LiveOut::Finished);
    let run = LargeRun::begin(live.program(), large, &settings, &Stream::new(options.seed))?;
    let price = Price::of(&live, large.signature(), Model::True).expect("a run that began is typed");
    let sizes = settings.sizes(rows, cols);
    // Looking costs a pass of 4mn flops; no more is spent on it than on running.
    let each = price.iteration.flops.eval(&sizes).max(1.0);
    let every = if options.history { 1 } else { ((4.0 * sizes.rows * sizes.cols) / each).ceil() as usize };
    let mut solver = Solver { run, options, every: every.max(1) };
    let mut step = match options.step {
        Step::Auto => solver.run.find_step()?,
        Step::Fixed(step) => step,
    };
    let mut tries = if options.step == Step::Auto { HALVINGS } else { 0 };
    loop {
        let course = match solver.course() {
            Err(failure) if tries == 0 || failure.fault != Fault::NotFinite => return Err(failure),
            Err(_) => None,
            Ok(course) => Some(course),
        };
        if let Some(Course { x, last, first, residuals, ended, iterations }) = course
            && (ended != Ended::Divergence || tries == 0)
        {
            return Ok(Solved {
                x,
                residual: last.residual,
                gradient: if first.gradient == 0.0 { last.gradient } else { last.gradient / first.gradient },
                step,
                iterations,
                passes: solver.run.passes(),
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

struct Solver<'a> {
    run: LargeRun<'a>,
    options: &'a Options,
    every: usize,
}

struct Course {
    x: Vec<f64>,
    first: Seen,
    last: Seen,
    residuals: Vec<f64>,
    ended: Ended,
    iterations: usize,
}

impl Solver<'_> {
    /// Runs to the end.
    fn course(&mut self) -> Result<Course, Failure> {
        let options = self.options;
        let first = self.run.measure();
        let good = |seen: &Seen| seen.gradient <= options.tolerance * first.gradient;
        // With a tolerance of 0, or for a mean, all iterations are wanted; and a standstill of samples is chance.
        let may_stop = options.tolerance > 0.0 && !options.average;
        let may_stand = may_stop && !self.run.draws_in_iterations();
        let (mut residuals, mut mean, mut still) = (vec![first.residual], Mean::default(), 0);
        let mut ended = Ended::Iterations;
        while residuals.len() <= options.iterations && ended == Ended::Iterations {
            let before = self.run.x().to_vec();
            let seen = self.run.iterate()?;
            // What an iteration shows belongs to the iterate before it.
            if let (Some(seen), Some(place)) = (seen, residuals.last_mut()) {
                *place = seen.residual;
            }
            let iterations = residuals.len();
            let looked = match seen {
                // The iterate that is returned has to be good, not the one before it.
                Some(seen) if may_stop && good(&seen) => Some(self.run.measure()),
                None if iterations.is_multiple_of(self.every) => Some(self.run.measure()),
                _ => None,
            };
            residuals.push(looked.map_or(f64::NAN, |looked| looked.residual));
            if options.average && iterations > options.iterations / 2 {
                mean.add(self.run.x());
            }
            let change = linalg::norm(&linalg::sub(self.run.x(), &before));
            still = if change <= f64::EPSILON * linalg::norm(&before) { still + 1 } else { 0 };
            if looked.or(seen).is_some_and(|now| now.residual > DIVERGED * first.residual) {
                ended = Ended::Divergence;
            } else if may_stop && looked.is_some_and(|now| good(&now)) {
                ended = Ended::Tolerance;
            } else if may_stand && still >= STILL {
                ended = Ended::Standstill;
            }
        }
        let x = mean.value().unwrap_or_else(|| self.run.x().to_vec());
        let last = self.run.measure_at(&x);
        let iterations = residuals.len() - 1;
        residuals[iterations] = last.residual;
        if last.residual.is_nan() || last.residual > first.residual * (1.0 + 1e-9) {
            ended = Ended::Divergence;
        }
        Ok(Course { x, first, last, residuals, ended, iterations })
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
        solve(&Entry::named(name).unwrap().document.program, large, options).unwrap()
    }

    #[test]
    fn a_run_ends_where_the_returned_iterate_is_good() {
        let large = large(300, 4, |_, j, draw| draw * [1.0, 2.0, 5.0, 9.0][j], 0.5);
        for (name, most) in [("ls-gd", 5000), ("precond-gd", 10), ("sketched-precond-gd", 100)] {
            let solved = solved(name, &large, &Options { iterations: 20_000, ..Options::default() });
            assert_eq!(solved.ended, Ended::Tolerance, "{name}");
            assert!(solved.gradient <= 1e-10 && solved.iterations < most, "{name}: {solved:?}");
            assert_eq!(solved.residuals.len(), solved.iterations + 1);
        }
        // A step that is far too large is never good, whatever the iterate before looked like.
        let wild = solved(
            "ls-gd",
            &large,
            &Options { tolerance: 1.0, step: Step::Fixed(1.0), ..Options::default() },
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
        assert_eq!(solved.ended, Ended::Tolerance, "{} after {}", solved.gradient, solved.iterations);
    }

    #[test]
    fn what_ends_worse_than_it_began_is_no_success() {
        // Two columns are one, so that the preconditioner is noise.
        let twice = large(
            300,
            4,
            |i, j, draw| {
                if j >= 2 { (i as f64).sin() } else { draw }
            },
            0.5,
        );
        let solved = solved("precond-gd", &twice, &Options::default());
        assert!(solved.residual <= 1.0 || solved.ended == Ended::Divergence, "{solved:?}");
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
        assert!(run(true).gradient < 0.3 * run(false).gradient);
    }

    #[test]
    fn nothing_to_do_is_done() {
        let zero = Large::new(Matrix::from_row_major(3, 1, vec![1.0, 2.0, 3.0]), vec![0.0; 3]).unwrap();
        let solved = solved("ls-gd", &zero, &Options::default());
        assert_eq!((solved.x, solved.residual), (vec![0.0], 0.0));
    }
}

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
    /// Good enough is ‖Aᵀ(Ax − b)‖ ≤ tolerance·‖Aᵀb‖.
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
}

impl Ended {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Ended::Tolerance => "the tolerance is reached",
            Ended::Standstill => "nothing changes any more in double precision",
            Ended::Iterations => "all iterations are made",
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

/// A residual, in units of the first, that no converging run has.
const DIVERGED: f64 = 100.0;

/// Looks in a row that see no change before a run is at a standstill.
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
        match solver.course() {
            Ok(None) => {}
            Ok(Some(Course { x, last, first, residuals, ended, iterations })) => {
                let relative =
                    if first.gradient == 0.0 { last.gradient } else { last.gradient / first.gradient };
                return Ok(Solved {
                    x,
                    residual: last.residual,
                    gradient: relative,
                    step,
                    iterations,
                    passes: solver.run.passes(),
                    flops: price.flops(&sizes, iterations),
                    residuals,
                    ended,
                });
            }
            Err(failure) if tries == 0 || failure.fault != Fault::NotFinite => return Err(failure),
            Err(_) => {}
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
    /// Runs to the end; nothing if it diverges and another step may do better.
    fn course(&mut self) -> Result<Option<Course>, Failure> {
        let options = self.options;
        let first = self.run.measure();
        let (mut last, mut still) = (first, 0);
        let mut residuals = vec![first.residual];
        let mut mean = Mean::default();
        let mut ended = Ended::Iterations;
        let mut iterations = 0;
        // A standstill of samples is chance.
        let steady = !self.run.draws_in_iterations();
        while iterations < options.iterations {
            let seen = self.run.iterate()?;
            // What an iteration shows belongs to the iterate before it.
            if let (Some(seen), Some(place)) = (seen, residuals.last_mut()) {
                *place = seen.residual;
            }
            residuals.push(f64::NAN);
            iterations += 1;
            if options.average && iterations > options.iterations / 2 {
                mean.add(self.run.x());
            }
            let now = match seen {
                Some(seen) => Some(seen),
                None if iterations.is_multiple_of(self.every) => {
                    let now = self.run.measure();
                    residuals[iterations] = now.residual;
                    Some(now)
                }
                None => None,
            };
            let Some(now) = now else { continue };
            if now.residual > DIVERGED * first.residual.max(1.0) && options.step == Step::Auto {
                return Ok(None);
            }
            if now.gradient <= options.tolerance * first.gradient && !options.average {
                ended = Ended::Tolerance;
                break;
            }
            let change = (now.residual - last.residual).abs();
            still = if change <= 2.0 * f64::EPSILON * now.residual { still + 1 } else { 0 };
            last = now;
            if still >= STILL && steady && !options.average {
                ended = Ended::Standstill;
                break;
            }
        }
        let x = mean.value().unwrap_or_else(|| self.run.x().to_vec());
        let last = self.run.measure_at(&x);
        if let Some(place) = residuals.last_mut() {
            *place = last.residual;
        }
        let diverged = last.residual.is_nan() || last.residual > DIVERGED * first.residual.max(1.0);
        if diverged && options.step == Step::Auto {
            return Ok(None);
        }
        Ok(Some(Course { x, first, last, residuals, ended, iterations }))
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

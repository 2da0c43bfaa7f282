//! Runs on large data: A is read as rarely as possible, and residuals come from the program's own passes.

use super::failure::RunFailure;
use super::machine::Measuring;
use super::plan::Plan;
use super::run::{RunSettings, Trace};
use super::run_draws::RunData;
use super::runner::{Runner, Seen};
use crate::linalg;
use crate::problem::Instance;
use crate::program::Program;
use crate::rng::Stream;

/// When a run may end before its last iteration; never by default. The criteria are evaluated at the iterate before
/// the last, from passes that the program makes anyway.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct StoppingRule {
    /// Stop if ‖Aᵀ(Ax − b)‖ is less than this fraction of its initial value.
    pub gradient: f64,
    /// Stop if the relative change of ‖Ax − b‖ since the previous iterate is less than this.
    pub residual: f64,
}

impl StoppingRule {
    fn reached(self, first: &Seen, last: Option<&Seen>, now: &Seen) -> bool {
        let still = |last: &Seen| (last.residual - now.residual).abs() < self.residual * now.residual;
        let length = |seen: &Seen| linalg::norm(&seen.gradient);
        length(now) < self.gradient * length(first) || last.is_some_and(still)
    }
}

/// Runs a program for tall linear systems on large data without a known solution: a matrix made by
/// [`Matrix::from_row_major`](linalg::Matrix::from_row_major), or one in a file, is not copied. The random draws are
/// those of [`run`](super::run), and the results differ only by rounding. It runs in the current thread pool, and
/// results are bitwise independent of the number of threads.
///
/// The trace has no excesses. Residuals are NaN if measuring them would have cost an additional pass; only the last
/// residual is worth one.
///
/// ```
/// use rl4rla::{execute::{RunSettings, StoppingRule, run_large}, linalg::Matrix, program::Entry, rng::Stream};
/// use rl4rla::problem::{Linear, Task};
/// let (m, n) = (2000, 5);
/// let data = Stream::new(1).normals(m * n + m);
/// let (a, b) = data.split_at(m * n);
/// let instance = Linear.pose_unsolved(Matrix::from_row_major(m, n, a.to_vec()), b.to_vec()).unwrap();
/// let settings = RunSettings { iterations: 100, step: 0.75, ..RunSettings::for_size(m, n) };
/// let program = &Entry::named("sketched-precond-gd").unwrap().document.program;
/// let stop = StoppingRule { gradient: 1e-12, ..StoppingRule::default() };
/// let trace = run_large(program, &instance, &settings, &Stream::new(2), stop).unwrap();
/// // One pass for the sketch, one for every iteration, one for the last residual.
/// assert_eq!(trace.passes, trace.residuals.len() - 1 + 2);
/// assert!(trace.residuals.len() < 60);
/// ```
pub fn run_large(
    program: &Program,
    instance: &Instance,
    settings: &RunSettings,
    stream: &Stream,
    stop: StoppingRule,
) -> Result<Trace, RunFailure> {
    let plan = Plan::new(program, instance.shape(), settings)?;
    let mut runner = Runner::begin(&plan, RunData::True(instance, None), settings, stream, Measuring::Shown)?;
    let (mut first, mut last) = (None, None);
    for _ in 0..settings.iterations {
        let seen = runner.advance()?;
        let begin = first.or_else(|| seen.clone());
        if let (Some(begin), Some(now)) = (&begin, &seen)
            && stop.reached(begin, last.as_ref(), now)
        {
            break;
        }
        (first, last) = (begin, seen);
    }
    Ok(runner.end())
}

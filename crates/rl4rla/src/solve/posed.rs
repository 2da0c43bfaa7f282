//! The other tasks: a program on data that pose a problem of theirs.

use super::solver::{Ended, Options, Solved, Step};
use crate::execute::{Failure, Settings, Step as When, Trace, run};
use crate::problem::Instance;
use crate::program::{Canonical, LiveOut, Model, Price, Program, Reg};
use crate::rng::Stream;

/// The steps that [`Step::Auto`] chooses from: that of the least loss at the end.
const STEPS: [f64; 9] = [1.0, 0.5, 0.2, 0.1, 2.0, 5.0, 10.0, 0.05, 0.01];

/// Solves a problem of any task by a program for it: all iterations, as there is no tolerance that all tasks share.
pub fn solve_posed(program: &Program, instance: &Instance, options: &Options) -> Result<Solved, Failure> {
    let live = Canonical::new(program, LiveOut::Finished);
    let settings = options.settings(instance.rows(), instance.cols());
    let stream = Stream::new(options.seed);
    let try_step = |step: f64| {
        let settings = Settings { step, ..settings.clone() };
        run(live.program(), instance, &settings, &stream).map(|trace| (step, trace))
    };
    let reads_step = instance.task.inputs().contains(Reg::ETA);
    let (step, trace) = match options.step {
        Step::Fixed(step) => try_step(step)?,
        Step::Auto if !reads_step => try_step(1.0)?,
        Step::Auto => best(STEPS.into_iter().map(try_step))?,
    };
    let price = Price::of(&live, instance.signature(), Model::True).expect("a run that ended is typed");
    let sizes = settings.sizes(instance.rows(), instance.cols());
    Ok(Solved {
        residual: trace.residuals.last().copied().unwrap_or(f64::NAN),
        gradient: f64::NAN,
        converged: false,
        certificate: None,
        dependent: vec![],
        step,
        iterations: settings.iterations,
        passes: price.passes(&sizes, settings.iterations),
        reads: 0,
        flops: price.flops(&sizes, settings.iterations),
        residuals: trace.residuals,
        x: trace.x,
        ended: Ended::Iterations,
    })
}

/// The run of the least loss at the end, or the first failure if all failed.
fn best(runs: impl Iterator<Item = Result<(f64, Trace), Failure>>) -> Result<(f64, Trace), Failure> {
    let loss = |trace: &Trace| trace.residuals.last().copied().unwrap_or(f64::NAN);
    let mut failure = None;
    let mut best: Option<(f64, Trace)> = None;
    for run in runs {
        match run {
            Ok(found) if best.as_ref().is_none_or(|known| loss(&found.1) < loss(&known.1)) => {
                best = Some(found)
            }
            Ok(_) => {}
            // What cannot run at all cannot run with another step either.
            Err(error) if error.step == When::Check => return Err(error),
            Err(error) => failure = failure.or(Some(error)),
        }
    }
    best.ok_or_else(|| failure.expect("there are steps to try"))
}

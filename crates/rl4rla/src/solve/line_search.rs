//! Any task: every iteration searches its step by the loss, and the task's optimality tells when it is good.
//!
//! Where a program moves by η·v1, every iteration looks for its own η among powers of two times the last one: no step is
//! taken that does not lead to a smaller loss.

use super::error::SolveError;
use super::options::StepSize;
use super::progress::{Closest, STILL};
use super::solution::{Solution, Termination};
use super::solver::{Job, SolveMethod};
use crate::execute::{Fault, Measuring, RunFailure, Runner};
use crate::problem::Instance;
use crate::program::{Reg, Section, Update};
use std::cell::OnceCell;
use std::collections::VecDeque;

/// How often a step is halved or doubled in the first search, which knows nothing of the units of the data.
const FIRST: usize = 100;

/// And in those after it.
const LATER: usize = 12;

/// Steps that are remembered for when losses no longer tell which is best.
const REMEMBERED: usize = 8;

/// Losses that differ by a smaller part than this do not tell which of two points is better.
const ROUNDING: f64 = 1e-12;

/// No result is known to be closer to a solution than this.
const RESOLVED: f64 = 1e-13;

/// A run as far as it has got. How far that is from a solution is found when it is asked for.
struct Point<'a> {
    runner: Runner<'a>,
    instance: &'a Instance,
    /// The step that led here.
    step: f64,
    optimality: OnceCell<Result<f64, &'static str>>,
}

impl<'a> Point<'a> {
    fn new(job: &Job<'a>, runner: Runner<'a>, step: f64) -> Point<'a> {
        Point { runner, instance: &job.prepared.instance, step, optimality: OnceCell::new() }
    }

    fn x(&self) -> &[f64] {
        self.runner.result()
    }

    fn loss(&self) -> f64 {
        *self.runner.losses().last().expect("a history holds at least the start")
    }

    fn optimality(&self) -> Result<f64, &'static str> {
        *self.optimality.get_or_init(|| self.instance.task.optimality(self.instance, self.x()))
    }

    /// The same as a number; that of a problem without a solution is not one.
    fn off(&self) -> f64 {
        self.optimality().unwrap_or(f64::NAN)
    }

    /// The loss less another's, 0 where that is rounding.
    fn above(&self, other: &Point) -> f64 {
        let (own, others) = (self.loss(), other.loss());
        let gap = own - others;
        if gap.abs() > ROUNDING * own.abs().max(others.abs()) { gap } else { 0.0 }
    }
}

/// A run under way.
pub(super) struct LineSearch<'a> {
    job: &'a Job<'a>,
    at: Point<'a>,
    /// The step at first, or of every iteration if one is given.
    first: f64,
    start_loss: f64,
    /// The last steps that made visible progress.
    steps: VecDeque<f64>,
    /// Iterations in a row that changed nothing.
    still: usize,
    closest: Closest,
    /// Why there is nothing to come near to.
    obstacle: Option<&'static str>,
}

impl<'a> LineSearch<'a> {
    /// Runs setup.
    pub fn begin(job: &'a Job<'a>) -> Result<LineSearch<'a>, RunFailure> {
        let first = if let StepSize::Fixed(step) = job.options.step { step } else { 1.0 };
        let at = Point::new(job, job.begin(Measuring::ALL)?, first);
        let (start_loss, steps) = (at.loss(), VecDeque::new());
        let closest = Closest::default();
        Ok(LineSearch { job, at, first, start_loss, steps, still: 0, closest, obstacle: None })
    }

    /// Whether the run is at its end.
    fn judge(&mut self) -> Option<Termination> {
        let options = self.job.options;
        // For a mean, all iterations are wanted.
        let may_stop = options.tolerance > 0.0 && !options.average;
        match self.at.optimality() {
            Err(why) => {
                self.obstacle = Some(why);
                return Some(Termination::Blocked);
            }
            Ok(off) if may_stop && off <= options.tolerance => return Some(Termination::Tolerance),
            Ok(off) => self.closest.look(off),
        }
        // Luck may do in the next iteration what it did not in this one.
        let patient = !may_stop || self.job.plan.draws_in_iterations();
        if patient || self.iterations() == options.iterations {
            None
        } else if self.still >= STILL || (self.still > 0 && !self.job.plan.carries()) {
            Some(Termination::Standstill)
        } else {
            self.closest.is_stale().then_some(Termination::Floor)
        }
    }

    /// Whether a step size decides where an iteration leads.
    fn has_step(&self) -> bool {
        let task = self.job.prepared.instance.task;
        task.inputs().contains(Reg::ETA)
            && (task.update() == Update::Subtract || self.job.plan.reads_step(Section::Iteration))
    }

    /// One iteration with this step.
    fn step(&self, step: f64) -> Result<Point<'a>, RunFailure> {
        let mut runner = self.at.runner.clone();
        runner.set_step(step);
        runner.advance()?;
        Ok(Point::new(self.job, runner, step))
    }

    /// One iteration with the best of the steps that are powers of two times the last one. Where losses do not tell, it is
    /// one of those that made the last visible progress, whichever leads closest. None if every step leads upwards.
    fn search(&self) -> Result<Option<Point<'a>>, RunFailure> {
        let (at, steps) = (&self.at, &self.steps);
        let again = self.job.plan.reads_step(Section::Iteration);
        let mut aimed = at.runner.clone();
        if !again {
            aimed.aim()?;
        }
        let reached = |step: f64| -> Result<Option<Point<'a>>, RunFailure> {
            let mut runner = aimed.clone();
            runner.set_step(step);
            match if again { runner.advance().map(|_| ()) } else { runner.land() } {
                Ok(()) => Ok(Some(Point::new(self.job, runner, step))),
                // Too far.
                Err(failure) if failure.fault == Fault::NotFinite => Ok(None),
                Err(failure) => Err(failure),
            }
        };
        let most = if steps.is_empty() { FIRST } else { LATER };
        let mut best = reached(at.step)?;
        // Twice what leads nowhere is not worth a try, and half of it may still be too much.
        for (factor, tries) in [(2.0, if best.is_some() { most } else { 0 }), (0.5, most)] {
            let mut step = at.step;
            for _ in 0..tries {
                step *= factor;
                let next = reached(step)?;
                let better = |best: &Point| next.as_ref().is_some_and(|next| next.above(best) < 0.0);
                if best.as_ref().is_some_and(|best| !better(best)) {
                    break;
                }
                best = next;
            }
            if best.as_ref().is_some_and(|best| best.step > at.step) {
                break;
            }
        }
        let level = match best {
            Some(best) if best.above(at) < 0.0 => return Ok(Some(best)),
            Some(best) => best.step,
            None => return Ok(None),
        };
        let mut known: Vec<f64> = steps.iter().copied().collect();
        known.sort_by(f64::total_cmp);
        known.dedup();
        let mut chosen: Option<Point> = None;
        for step in if known.is_empty() { vec![level] } else { known } {
            let next = reached(step)?.filter(|next| next.above(at) <= 0.0);
            let closer = |next: &Point| chosen.as_ref().is_none_or(|chosen| next.off() < chosen.off());
            chosen = next.filter(closer).or(chosen);
        }
        Ok(chosen)
    }
}

impl SolveMethod for LineSearch<'_> {
    fn iterations(&self) -> usize {
        self.at.runner.iterations()
    }

    fn x(&self) -> &[f64] {
        self.at.x()
    }

    fn start(&mut self) -> Option<Termination> {
        self.judge()
    }

    fn advance(&mut self) -> Result<Option<Termination>, RunFailure> {
        let next = match self.job.options.step == StepSize::Auto && self.has_step() {
            true => self.search()?,
            false => Some(self.step(self.first)?),
        };
        match next {
            Some(next) => {
                self.still = if next.x() == self.at.x() { self.still + 1 } else { 0 };
                if next.above(&self.at) < 0.0 {
                    self.steps.push_back(next.step);
                }
                self.at = next;
            }
            // x stays, and what an iteration leaves the next moves on.
            None => {
                let step = self.at.step;
                (self.still, self.at) = (self.still + 1, Point { step, ..self.step(0.0)? });
            }
        }
        if self.steps.len() > REMEMBERED {
            self.steps.pop_front();
        }
        Ok(self.judge())
    }

    fn finish(
        &mut self,
        mean: Option<Vec<f64>>,
        ended: Termination,
        failure: Option<RunFailure>,
    ) -> Result<Solution, SolveError> {
        let Job { prepared, options, cost, sizes, .. } = self.job;
        let (instance, task) = (&prepared.instance, prepared.instance.task);
        let y = mean.unwrap_or_else(|| self.x().to_vec());
        let (loss, optimality) = (instance.measure(&y).0, task.optimality(instance, &y));
        let off = optimality.unwrap_or(f64::NAN);
        // Where all iterations were asked for, a solution is one to rounding.
        let good = off <= options.tolerance.max(RESOLVED);
        let failed = failure.as_ref().map(RunFailure::to_string);
        let obstacle = self.obstacle.or(optimality.err()).map(String::from).or(failed);
        let objection = || task.objection(instance, &y).map(String::from);
        let obstacle = obstacle.or_else(|| if good { objection() } else { None });
        let worse = task.update() == Update::Subtract && loss > self.start_loss * (1.0 + 1e-9);
        let iterations = self.iterations();
        let mut residuals = self.at.runner.losses().to_vec();
        residuals[iterations] = loss;
        Ok(Solution {
            x: prepared.finite_answer(&y)?,
            converged: good && obstacle.is_none(),
            residual: loss,
            gradient: off,
            certificate: None,
            dependent: vec![],
            step: self.at.step,
            iterations,
            passes: cost.passes(sizes, iterations),
            reads: 0,
            flops: cost.flops(sizes, iterations),
            residuals,
            ended: if worse && ended != Termination::Tolerance { Termination::Divergence } else { ended },
            failure,
            obstacle,
            figures: task.figures(instance, &y),
        })
    }

    /// Every step was searched, or is the one that was asked for.
    fn retry(&mut self) -> Result<bool, RunFailure> {
        Ok(false)
    }
}

#[cfg(test)]
mod tests;

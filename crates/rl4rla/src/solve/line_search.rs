//! Any task: every iteration has a line search on the loss, and the task's optimality measure decides convergence.
//!
//! If the update is x ← x − η·v1, every iteration chooses η among powers of two times the last one; a step is only
//! taken if it does not increase the loss. If the loss is known from A·x, so is that of every trial point, from one product
//! with A for the whole search; and what judging a point computed, the next iteration of the program is spared.

use super::error::SolveError;
use super::options::StepSize;
use super::progress::{Closest, STILL};
use super::solution::{Solution, Termination};
use super::solver::{Job, SolveMethod};
use crate::execute::{Fault, KnownProduct, Measuring, RunFailure, Runner};
use crate::linalg;
use crate::problem::{ImageLoss, Instance, Slope};
use crate::program::{Reg, Section, Update};
use std::cell::OnceCell;
use std::collections::VecDeque;

/// Maximum number of halvings or doublings in the first line search, when the scale of the data is not yet known.
const FIRST: usize = 100;

/// The same for later line searches.
const LATER: usize = 12;

/// Step sizes remembered for when losses no longer tell which one is best.
const REMEMBERED: usize = 8;

/// Losses with a smaller relative difference do not tell which of two points is better.
const ROUNDING: f64 = 1e-12;

/// The smallest optimality measure that can be resolved.
const RESOLVED: f64 = 1e-13;

/// The state of a run. Its optimality measure is computed on demand.
struct Point<'a> {
    runner: Runner<'a>,
    instance: &'a Instance,
    /// The step size that led here.
    step: f64,
    /// A·x.
    image: OnceCell<Vec<f64>>,
    judged: OnceCell<Result<Judged, &'static str>>,
}

/// What is known of a point: the slope of a loss that is known from A·x, or only the optimality measure.
enum Judged {
    Slope(Slope),
    Optimality(f64),
}

impl<'a> Point<'a> {
    fn new(job: &Job<'a>, runner: Runner<'a>, step: f64) -> Point<'a> {
        let (image, judged) = Default::default();
        Point { runner, instance: &job.prepared.instance, step, image, judged }
    }

    /// A·x.
    fn image(&self) -> &[f64] {
        self.image.get_or_init(|| self.instance.image(self.x()))
    }

    fn judged(&self) -> &Result<Judged, &'static str> {
        let (task, instance) = (self.instance.task, self.instance);
        self.judged.get_or_init(|| match task.image_loss() {
            Some(loss) => loss.slope(instance, self.x(), self.image()).map(Judged::Slope),
            None => task.optimality(instance, self.x()).map(Judged::Optimality),
        })
    }

    /// The run, ready for its next iteration: it is spared what is known already.
    fn departing(&self) -> Runner<'a> {
        let mut runner = self.runner.clone();
        if let Ok(Judged::Slope(Slope { residual, product, .. })) = self.judged() {
            runner.know(vec![
                KnownProduct::image(self.x().to_vec(), self.image().to_vec()),
                KnownProduct::transposed(residual.clone(), product.clone()),
            ]);
        }
        runner
    }

    fn x(&self) -> &[f64] {
        self.runner.result()
    }

    fn loss(&self) -> f64 {
        *self.runner.losses().last().expect("a history holds at least the start")
    }

    fn optimality(&self) -> Result<f64, &'static str> {
        match self.judged() {
            Ok(Judged::Slope(slope)) => Ok(slope.optimality),
            Ok(Judged::Optimality(optimality)) => Ok(*optimality),
            Err(why) => Err(why),
        }
    }

    /// The same as a number; NaN for a problem without a solution.
    fn off(&self) -> f64 {
        self.optimality().unwrap_or(f64::NAN)
    }

    /// The difference of the losses; 0 if it is only rounding error.
    fn above(&self, other: &Point) -> f64 {
        let (own, others) = (self.loss(), other.loss());
        let gap = own - others;
        if gap.abs() > ROUNDING * own.abs().max(others.abs()) { gap } else { 0.0 }
    }
}

/// A run in progress.
pub(super) struct LineSearch<'a> {
    job: &'a Job<'a>,
    at: Point<'a>,
    /// The initial step size, or that of every iteration if one is given.
    first: f64,
    start_loss: f64,
    /// The last step sizes that made measurable progress.
    steps: VecDeque<f64>,
    /// Consecutive iterations without any change.
    still: usize,
    closest: Closest,
    /// Why the problem has no solution to converge to.
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

    /// Whether the run has ended.
    fn judge(&mut self) -> Option<Termination> {
        let options = self.job.options;
        // A mean needs all iterations.
        let may_stop = options.tolerance > 0.0 && !options.average;
        match self.at.optimality() {
            Err(why) => {
                self.obstacle = Some(why);
                return Some(Termination::Blocked);
            }
            Ok(off) if may_stop && off <= options.tolerance => return Some(Termination::Tolerance),
            Ok(off) => self.closest.look(off),
        }
        // With random draws, the next iteration may succeed where this one did not.
        let patient = !may_stop || self.job.plan.draws_in_iterations();
        if patient || self.iterations() == options.iterations {
            None
        } else if self.still >= STILL || (self.still > 0 && !self.job.plan.carries()) {
            Some(Termination::Standstill)
        } else {
            self.closest.is_stale().then_some(Termination::Floor)
        }
    }

    /// Whether the result of an iteration depends on a step size.
    fn has_step(&self) -> bool {
        let task = self.job.prepared.instance.task;
        task.inputs().contains(Reg::ETA)
            && (task.update() == Update::Subtract || self.job.plan.reads_step(Section::Iteration))
    }

    /// One iteration with this step size.
    fn step(&self, step: f64) -> Result<Point<'a>, RunFailure> {
        let mut runner = self.at.departing();
        runner.set_step(step);
        runner.advance()?;
        Ok(Point::new(self.job, runner, step))
    }

    /// The loss along the step of a run that has computed it, and the image of that step, if losses are known from
    /// images.
    fn line(&self, aimed: &mut Runner<'a>) -> Option<(&'a dyn ImageLoss, Vec<f64>)> {
        let task = self.job.prepared.instance.task;
        let straight = task.update() == Update::Subtract && !self.job.plan.reads_step(Section::Iteration);
        let loss = task.image_loss().filter(|_| straight)?;
        Some((loss, aimed.image()))
    }

    /// One iteration with the best step size among powers of two times the last one. If losses do not tell, the
    /// remembered step size that comes closest to a solution. `None` if every step size increases the loss.
    fn search(&self) -> Result<Option<Point<'a>>, RunFailure> {
        let (at, steps) = (&self.at, &self.steps);
        let again = self.job.plan.reads_step(Section::Iteration);
        let mut aimed = at.departing();
        if !again {
            aimed.aim()?;
        }
        let line = self.line(&mut aimed);
        let reached = |step: f64| -> Result<Option<Point<'a>>, RunFailure> {
            let mut runner = aimed.clone();
            runner.set_step(step);
            let image: OnceCell<Vec<f64>> = OnceCell::new();
            let landed = match &line {
                _ if again => runner.advance().map(|_| ()),
                None => runner.land(),
                Some((loss, along)) => {
                    let moved = at.image().iter().zip(along).map(|(z, along)| z - step * along);
                    let image = image.get_or_init(|| moved.collect());
                    runner.land_measured(|x| loss.measure_image(at.instance, x, image))
                }
            };
            match landed {
                Ok(()) => Ok(Some(Point { image, ..Point::new(self.job, runner, step) })),
                // The step is too long.
                Err(failure) if failure.fault == Fault::NotFinite => Ok(None),
                Err(failure) => Err(failure),
            }
        };
        let most = if steps.is_empty() { FIRST } else { LATER };
        let mut best = reached(at.step)?;
        // If the last step size overflows, doubling it is not worth trying, and it may have to be halved several times.
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
            // x stays, but the carried registers are updated.
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
        // Measured afresh, from y alone.
        let (loss, optimality) = match task.image_loss() {
            Some(loss) => {
                let image = linalg::mat_vec(&instance.A, &y);
                let slope = loss.slope(instance, &y, &image);
                (loss.measure_image(instance, &y, &image).0, slope.map(|slope| slope.optimality))
            }
            None => (instance.measure(&y).0, task.optimality(instance, &y)),
        };
        let off = optimality.unwrap_or(f64::NAN);
        // If all iterations were asked for, the result must be a solution up to rounding.
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
            gradient_bound: None,
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

    /// Every step size was found by line search, or was given.
    fn retry(&mut self) -> Result<bool, RunFailure> {
        Ok(false)
    }
}

#[cfg(test)]
mod tests;

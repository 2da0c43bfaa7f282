//! The other tasks: a program on data that pose a problem of theirs, until it is solved.
//!
//! Where a program moves by η·v1, every iteration looks for its own η among powers of two times the last one, by the
//! task's loss: no step is taken that does not lead to a smaller one.

use super::options::{Options, Step};
use super::prepared::units;
use super::solved::{Ended, Solved};
use crate::execute::{Course, Data, Failure, Fault, Plan};
use crate::linalg::{ColumnMap, Matrix};
use crate::problem::{Instance, Task};
use crate::program::{Canonical, Document, LiveOut, Model, Price, Reg, Section, Update};
use crate::rng::Stream;
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

/// Iterations in a row that change nothing before a run is at a standstill.
const STILL: usize = 8;

/// Iterations in a row that come no closer before it is.
const STALE: usize = 100;

/// The result of a run.
#[derive(Clone, PartialEq, Debug)]
pub struct Posed {
    /// The answer.
    pub solved: Solved,
    /// Why this is no solution, where more is known than that the tolerance was not reached.
    pub obstacle: Option<String>,
    /// What else the task tells of the answer: names and numbers.
    pub figures: Vec<(&'static str, f64)>,
}

/// Solves a problem of any task by a program for it, until the task's [`optimality`](crate::problem::Task::optimality) is
/// at most the tolerance; a program whose head says that it is made for another task is refused. A pure function of its
/// arguments.
///
/// ```
/// use rl4rla::{linalg::Matrix, problem::{Logistic, Task}, program::Entry, solve::{Options, solve_posed}};
/// let a = Matrix::from_fn(4, 1, |_, _| 1.0);
/// let problem = Logistic.pose_unsolved(a, vec![1.0, 1.0, 0.0, 1.0]).unwrap();
/// let newton = &Entry::named("newton").unwrap().document;
/// let posed = solve_posed(newton, &problem, &Options::default()).unwrap();
/// // Three of four labels are positive: σ(x) = 3/4.
/// assert!(posed.solved.converged && (posed.solved.x[0] - 3f64.ln()).abs() < 1e-9);
/// ```
pub fn solve_posed(program: &Document, instance: &Instance, options: &Options) -> Result<Posed, Failure> {
    let task = instance.task;
    task.admit(program)?;
    let live = Canonical::new(&program.program, LiveOut::Finished);
    let settings = options.settings(instance.rows(), instance.cols());
    let plan = Plan::new(live.program(), instance.shape(), &settings)?;
    let start = Course::begin(&plan, Data::True(instance, None), &settings, &Stream::new(options.seed))?;
    let walk = Walk { plan: &plan, instance, options };
    let Arrival { at, ended, obstacle } = walk.from(start)?;
    // Where all iterations were asked for, a solution is one to rounding.
    let good = at.off() <= options.tolerance.max(RESOLVED);
    let objection = || task.objection(instance, at.x()).map(String::from);
    let obstacle = obstacle.or_else(|| if good { objection() } else { None });
    let price = Price::of(&live, instance.signature(), Model::True).expect("a run that ended is typed");
    let sizes = settings.sizes(instance.rows(), instance.cols());
    let iterations = at.course.iterations();
    let solved = Solved {
        residual: at.loss(),
        gradient: at.off(),
        converged: good && obstacle.is_none(),
        certificate: None,
        dependent: vec![],
        step: at.step,
        iterations,
        passes: price.passes(&sizes, iterations),
        reads: 0,
        flops: price.flops(&sizes, iterations),
        residuals: at.course.losses().to_vec(),
        x: at.x().to_vec(),
        ended,
        failure: None,
    };
    let figures = task.figures(instance, &solved.x);
    Ok(Posed { solved, obstacle, figures })
}

/// A in units in which all columns are about as long, and these units, where the task allows that: an entry of the answer
/// is to be divided by its unit.
pub fn in_even_units(task: &dyn Task, matrix: Matrix) -> (Matrix, Vec<f64>) {
    if !task.allows_units() || matrix.is_in_file() {
        let ones = vec![1.0; matrix.cols()];
        return (matrix, ones);
    }
    let units = units(&matrix);
    (matrix.map_columns(ColumnMap::all(vec![0.0; units.len()], units.clone())), units)
}

/// A run as far as it has got. How far that is from a solution is found when it is asked for.
struct Point<'a> {
    course: Course<'a>,
    instance: &'a Instance,
    /// The step that led here.
    step: f64,
    optimality: OnceCell<Result<f64, &'static str>>,
}

impl Point<'_> {
    fn x(&self) -> &[f64] {
        self.course.result()
    }

    fn loss(&self) -> f64 {
        *self.course.losses().last().expect("a history holds at least the start")
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

/// Where a run has come to, and why it went no further.
struct Arrival<'a> {
    at: Point<'a>,
    ended: Ended,
    obstacle: Option<String>,
}

/// How close a run has come, and how many iterations ago.
struct Closest {
    off: f64,
    since: usize,
}

impl Closest {
    fn look(&mut self, off: f64) {
        *self = if off < self.off {
            Closest { off, since: 0 }
        } else {
            Closest { since: self.since + 1, ..*self }
        };
    }
}

struct Walk<'a> {
    plan: &'a Plan<'a>,
    instance: &'a Instance,
    options: &'a Options,
}

impl<'a> Walk<'a> {
    /// Runs to the end.
    fn from(&self, start: Course<'a>) -> Result<Arrival<'a>, Failure> {
        let Options { tolerance, iterations, step, .. } = *self.options;
        let searches = step == Step::Auto && self.has_step();
        let first = if let Step::Fixed(step) = step { step } else { 1.0 };
        // Luck may do in the next iteration what it did not in this one.
        let patient = self.plan.draws_in_iterations() || tolerance == 0.0;
        let mut at = self.point(start, first);
        let start_loss = at.loss();
        let (mut still, mut closest) = (0, Closest { off: f64::INFINITY, since: 0 });
        let mut steps: VecDeque<f64> = VecDeque::new();
        let (ended, obstacle) = loop {
            match at.optimality() {
                Err(why) => break (Ended::Blocked, Some(why.to_string())),
                Ok(off) if off <= tolerance && tolerance > 0.0 => break (Ended::Tolerance, None),
                Ok(off) => closest.look(off),
            }
            let done = at.course.iterations();
            if done == iterations {
                break (Ended::Iterations, None);
            }
            if !patient && (still >= STILL || (still > 0 && !self.plan.carries())) {
                break (Ended::Standstill, None);
            }
            if !patient && closest.since >= STALE {
                break (Ended::Floor, None);
            }
            let next = match searches {
                true => self.search(&at, &steps),
                false => self.step(&at, first).map(Some),
            };
            match next {
                Ok(Some(next)) => {
                    still = if next.x() == at.x() { still + 1 } else { 0 };
                    if next.above(&at) < 0.0 {
                        steps.push_back(next.step);
                    }
                    at = next;
                }
                // x stays, and what an iteration leaves the next moves on.
                Ok(None) => {
                    let step = at.step;
                    (still, at) = (still + 1, Point { step, ..self.step(&at, 0.0)? });
                }
                Err(failure) if done == 0 => return Err(failure),
                Err(failure) => break (Ended::Blocked, Some(failure.to_string())),
            }
            if steps.len() > REMEMBERED {
                steps.pop_front();
            }
        };
        let worse = self.instance.task.update() == Update::Subtract && at.loss() > start_loss * (1.0 + 1e-9);
        let ended = if worse && ended != Ended::Tolerance { Ended::Divergence } else { ended };
        Ok(Arrival { at, ended, obstacle })
    }

    fn point(&self, course: Course<'a>, step: f64) -> Point<'a> {
        Point { course, instance: self.instance, step, optimality: OnceCell::new() }
    }

    /// Whether a step size decides where an iteration leads.
    fn has_step(&self) -> bool {
        let task = self.instance.task;
        task.inputs().contains(Reg::ETA)
            && (task.update() == Update::Subtract || self.plan.reads_step(Section::Iteration))
    }

    /// One iteration with this step.
    fn step(&self, at: &Point<'a>, step: f64) -> Result<Point<'a>, Failure> {
        let mut course = at.course.clone();
        course.set_step(step);
        course.advance()?;
        Ok(self.point(course, step))
    }

    /// One iteration with the best of the steps that are powers of two times the last one. Where losses do not tell, it is
    /// one of those that made the last visible progress, whichever leads closest. None if every step leads upwards.
    fn search(&self, at: &Point<'a>, steps: &VecDeque<f64>) -> Result<Option<Point<'a>>, Failure> {
        let again = self.plan.reads_step(Section::Iteration);
        let mut aimed = at.course.clone();
        if !again {
            aimed.aim()?;
        }
        let reached = |step: f64| -> Result<Option<Point<'a>>, Failure> {
            let mut course = aimed.clone();
            course.set_step(step);
            match if again { course.advance() } else { course.land() } {
                Ok(()) => Ok(Some(self.point(course, step))),
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

#[cfg(test)]
mod tests;

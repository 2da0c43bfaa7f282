//! Solver comparisons: programs and baselines on one instance, measured and timed in the same way.

use super::error::ExperimentError;
use super::monitor::Monitor;
use crate::baseline::{Baseline, Request};
use crate::execute::{RunSettings, StoppingRule, run_large, run_unmeasured};
use crate::problem::Instance;
use crate::program::Program;
use crate::rng::Stream;
use crate::statistics::median;
use std::hint::black_box;
use std::time::Instant;

/// A solver in a comparison.
pub struct Entrant {
    /// Name in the table.
    pub name: String,
    /// What it runs.
    pub solver: Solver,
}

/// A program or a baseline.
pub enum Solver {
    /// A program.
    Program {
        /// The program.
        program: Program,
        /// Its settings, except for the step size.
        settings: RunSettings,
        /// Step sizes to try; the one with the smallest excess is chosen before anything is timed.
        steps: Vec<f64>,
        /// Early stopping, for tall linear systems.
        stop: StoppingRule,
    },
    /// A baseline, with its own stopping rule.
    Baseline(Baseline),
}

impl Solver {
    /// `program` or `baseline`.
    pub fn kind(&self) -> &'static str {
        match self {
            Solver::Program { .. } => "program",
            Solver::Baseline(_) => "baseline",
        }
    }
}

/// Excesses up to this count as equal.
const ACCURATE: f64 = 1e-10;

/// The result of a solver.
pub struct Standing {
    /// Name of the solver.
    pub solver: String,
    /// `program` or `baseline`.
    pub kind: &'static str,
    /// The accuracy reached, or the reason of a failure.
    pub outcome: Result<Reached, String>,
    /// Seconds of every timed run; empty for a solver that failed.
    pub seconds: Vec<f64>,
}

impl Standing {
    /// The result of a solver over all instances: medians, and all times. A solver that fails on one instance counts
    /// as failed.
    pub fn over(all: &[&Standing]) -> Standing {
        let reached: Result<Vec<&Reached>, &String> =
            all.iter().map(|standing| standing.outcome.as_ref()).collect();
        let outcome = reached.map_err(String::clone).map(|reached| {
            let middle = |of: &dyn Fn(&Reached) -> f64| median(reached.iter().map(|one| of(one)).collect());
            let agreed = reached.iter().all(|one| one.step == reached[0].step);
            Reached {
                residual: middle(&|one| one.residual),
                excess: middle(&|one| one.excess),
                iterations: middle(&|one| one.iterations as f64) as usize,
                passes: reached[0].passes.map(|_| middle(&|one| one.passes.unwrap_or(f64::NAN))),
                step: reached[0].step.filter(|_| agreed),
            }
        });
        Standing {
            solver: all[0].solver.clone(),
            kind: all[0].kind,
            outcome,
            seconds: all.iter().flat_map(|standing| standing.seconds.iter().copied()).collect(),
        }
    }

    /// Minimum, median and maximum seconds of a solver that did not fail.
    pub fn times(&self) -> Option<[f64; 3]> {
        let fold = |f: fn(f64, f64) -> f64| self.seconds.iter().copied().reduce(f);
        let times = [fold(f64::min)?, median(self.seconds.clone()), fold(f64::max)?];
        self.outcome.is_ok().then_some(times)
    }

    /// Sort key of solvers: the power of ten of the excess, then the time; failures are last.
    fn rank(&self) -> (f64, f64) {
        let decade = |reached: &Reached| reached.excess.max(ACCURATE).log10().floor();
        let time = self.times().map_or(f64::INFINITY, |t| t[1]);
        (self.outcome.as_ref().map_or(f64::INFINITY, decade), time)
    }
}

/// The accuracy and cost of a solver.
#[derive(Clone, Debug)]
pub struct Reached {
    /// The loss; for linear systems ‖Ax − b‖/‖b‖.
    pub residual: f64,
    /// The excess, as defined by the task.
    pub excess: f64,
    /// Number of iterations.
    pub iterations: usize,
    /// Passes over A, if counted.
    pub passes: Option<f64>,
    /// The step size, for a program.
    pub step: Option<f64>,
}

/// The raw result of a run.
struct Answer {
    x: Vec<f64>,
    iterations: usize,
    passes: Option<f64>,
}

/// Whether it is a tall linear system, which is stored by rows.
fn is_tall(instance: &Instance) -> bool {
    instance.task.is_least_squares() && !instance.symmetric
}

/// Converts an instance to the layout used here, so that no copy is needed later.
pub fn ready(instance: Instance) -> Instance {
    if is_tall(&instance) { instance.by_rows() } else { instance }
}

/// One instance, prepared for all solvers.
pub struct Contest<'a> {
    instance: &'a Instance,
    /// Tall linear systems stored by rows, which all solvers read fastest.
    large: Option<Instance>,
    stream: Stream,
}

impl<'a> Contest<'a> {
    /// Prepares an instance; all solvers use the same RNG stream.
    pub fn new(instance: &'a Instance, stream: &Stream) -> Contest<'a> {
        let large = is_tall(instance).then(|| instance.clone().by_rows());
        Contest { instance, large, stream: *stream }
    }

    /// One run; `step` applies to programs only.
    fn solve(&self, solver: &Solver, step: f64) -> Result<Answer, String> {
        match (solver, &self.large) {
            (Solver::Program { program, settings, stop, .. }, Some(large)) => {
                let settings = RunSettings { step, ..settings.clone() };
                let trace = run_large(program, large, &settings, &self.stream, *stop);
                let trace = trace.map_err(|failure| failure.to_string())?;
                let (iterations, passes) = (trace.residuals.len() - 1, Some(trace.passes as f64));
                Ok(Answer { x: trace.x, iterations, passes })
            }
            (Solver::Program { program, settings, .. }, None) => {
                let settings = RunSettings { step, ..settings.clone() };
                // Baselines do not evaluate their loss in between either.
                let x = run_unmeasured(program, self.instance, &settings, &self.stream);
                let x = x.map_err(|failure| failure.to_string())?;
                Ok(Answer { iterations: settings.iterations, x, passes: None })
            }
            (Solver::Baseline(baseline), large) => {
                let matrix = &large.as_ref().unwrap_or(self.instance).A;
                let new = Request::new(matrix, &self.instance.b, self.stream);
                let rank = self.instance.x_star.len() / self.instance.cols();
                let request = Request { lambda: self.instance.lambda, rank: Some(rank), ..new };
                let solution = baseline.solve(&request).map_err(|error| error.to_string())?;
                let passes = Some(solution.passes);
                Ok(Answer { x: solution.x, iterations: solution.iterations, passes })
            }
        }
    }

    /// The warm-up run: the best step size and its accuracy.
    fn reach(&self, solver: &Solver) -> Result<Reached, String> {
        let reached = |step: f64| {
            let Answer { x, iterations, passes } = self.solve(solver, step)?;
            let (residual, excess) = self.instance.measure(&x);
            let step = matches!(solver, Solver::Program { .. }).then_some(step);
            match excess.is_nan() {
                true => Err("the result is not a number".to_string()),
                false => Ok(Reached { residual, excess, iterations, passes, step }),
            }
        };
        let Solver::Program { steps, .. } = solver else { return reached(1.0) };
        let mut all: Vec<Result<Reached, String>> = steps.iter().map(|step| reached(*step)).collect();
        let excess = |reached: &Result<Reached, String>| reached.as_ref().map_or(f64::INFINITY, |r| r.excess);
        // The first on ties, and the first reason if all fail.
        let best = (0..all.len()).min_by(|&i, &j| excess(&all[i]).total_cmp(&excess(&all[j])));
        best.map_or(Err("no step size to try".into()), |best| all.swap_remove(best))
    }
}

/// Runs all solvers on one instance: first once each for the result, then `repeats` times for timing, starting with a
/// different solver each time so that load on the machine affects all alike. Results are in the order of the solvers.
pub fn contest(
    entrants: &[Entrant],
    instance: &Instance,
    repeats: usize,
    stream: &Stream,
    monitor: &dyn Monitor,
) -> Vec<Standing> {
    let contest = Contest::new(instance, stream);
    let standing = |entrant: &Entrant| {
        monitor.doing(&format!("running {}", entrant.name));
        Standing {
            solver: entrant.name.clone(),
            kind: entrant.solver.kind(),
            outcome: contest.reach(&entrant.solver),
            seconds: vec![],
        }
    };
    let mut standings: Vec<Standing> = entrants.iter().map(standing).collect();
    for repeat in 0..repeats {
        for place in 0..entrants.len() {
            let i = (place + repeat) % entrants.len();
            if let Ok(reached) = &standings[i].outcome {
                let step = reached.step.unwrap_or(1.0);
                monitor.doing(&format!("timing {}, {} of {repeats}", entrants[i].name, repeat + 1));
                let (seconds, answer) = timed(|| contest.solve(&entrants[i].solver, step));
                let _ = black_box(answer.map(|answer| answer.x));
                standings[i].seconds.push(seconds);
            }
        }
    }
    standings
}

/// The results of all solvers over all instances, the best first, with this many threads and RNG streams of this
/// seed.
pub fn standings(
    entrants: &[Entrant],
    instances: &[Instance],
    repeats: usize,
    threads: usize,
    seed: u64,
    monitor: &dyn Monitor,
) -> Result<Vec<Standing>, ExperimentError> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
    let standings: Vec<Vec<Standing>> = pool.install(|| {
        let stream = |i: usize| Stream::new(seed).derive("compare", i as u64);
        let each = instances.iter().enumerate();
        each.map(|(i, instance)| contest(entrants, instance, repeats, &stream(i), monitor)).collect()
    });
    let over = |i: usize| Standing::over(&standings.iter().map(|all| &all[i]).collect::<Vec<_>>());
    let mut rows: Vec<Standing> = (0..entrants.len()).map(over).collect();
    rows.sort_by(|a, b| a.rank().partial_cmp(&b.rank()).expect("no rank is NaN"));
    Ok(rows)
}

/// Durations below this, in seconds, are measured as wall time: the system counts CPU time in ticks.
const SHORT: f64 = 0.1;

/// Duration of `work`: CPU time if there is one thread and the system provides it, because wall time includes other
/// processes; otherwise wall time.
fn timed<R>(work: impl FnOnce() -> R) -> (f64, R) {
    let (start, core) = (Instant::now(), on_core());
    let result = work();
    let wall = start.elapsed().as_secs_f64();
    let seconds = match (core, on_core()) {
        (Some(start), Some(end)) if wall > SHORT => end - start,
        _ => wall,
    };
    (seconds, result)
}

/// CPU seconds of this thread, if it is the only one of its pool and the system provides them.
fn on_core() -> Option<f64> {
    if rayon::current_num_threads() > 1 {
        return None;
    }
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds: f64 = text.split_whitespace().next()?.parse().ok()?;
    Some(nanoseconds / 1e9)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::Family;
    use crate::program::Entry;

    #[test]
    fn a_contest_measures_everyone_alike_and_keeps_the_order() {
        let mut family = Family::named("mid-cond").unwrap();
        (family.rows, family.cols, family.condition) = (300, 5, Some(1e3));
        let instance = family.draw(&Stream::new(1)).unwrap();
        let program = &Entry::named("sketched-precond-gd-factored").unwrap().document.program;
        let settings = RunSettings { iterations: 60, ..RunSettings::for_size(300, 5) };
        let program = |steps: &[f64]| Solver::Program {
            program: program.clone(),
            settings: settings.clone(),
            steps: steps.to_vec(),
            stop: StoppingRule::default(),
        };
        let baseline = |name| Solver::Baseline(Baseline::named(name).unwrap());
        let entrants = [("a", program(&[0.01, 0.8])), ("b", baseline("qr")), ("c", baseline("jacobi"))]
            .map(|(name, solver)| Entrant { name: name.into(), solver });
        let standings = contest(&entrants, &instance, 3, &Stream::new(2), &());
        let names: Vec<&str> = standings.iter().map(|standing| standing.solver.as_str()).collect();
        assert_eq!(names, ["a", "b", "c"]);
        let reached = standings[0].outcome.as_ref().unwrap();
        assert_eq!((reached.step, reached.iterations), (Some(0.8), 60), "the better step");
        assert!(reached.excess < 1e-3 && standings[1].outcome.as_ref().unwrap().excess < 1e-12);
        // Square systems only: an error, and no times.
        assert!(standings[2].outcome.as_ref().unwrap_err().contains("square"));
        assert_eq!(standings.iter().map(|s| s.seconds.len()).collect::<Vec<_>>(), [3, 3, 0]);
    }
}

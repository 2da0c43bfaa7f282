//! The problems: the instances that candidates run on, and the work they are charged for.

use super::log::{LoggedResult, NoLog, ResultLog, key, recalled};
use super::race::Tunables;
use super::spec::ExploreSpec;
use crate::execute::{Coordinates, Measuring, Plan, PreparedInstance, RunData, RunSettings, Runner};
use crate::problem::{Family, FamilyError};
use crate::program::{Canonical, LiveOut, Model, Program, ProgramCost, ProgramFlops, Sizes};
use crate::reward::Charge;
use crate::rng::Stream;
use serde::{Deserialize, Serialize};
use std::fmt::Debug;
use std::ops::Range;
use std::sync::Arc;

/// A run has diverged when its excess is this many times that of the start.
const DIVERGED: f64 = 1e4;

/// Work of an unfinished run, relative to that extrapolated from its progress.
pub const UNFINISHED: f64 = 4.0;

/// How a run ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunEnding {
    /// It reached the tolerance.
    Reached,
    /// Its excess grew without bound.
    Diverged,
    /// Its excess had stopped falling when it was given up.
    Stalled,
    /// Its excess was still falling when it was given up.
    Slow,
    /// An operation failed.
    #[default]
    BrokeDown,
}

impl RunEnding {
    /// All of them, in the order of their numbers in a log.
    pub(super) const ALL: [RunEnding; 5] =
        [RunEnding::Reached, RunEnding::Diverged, RunEnding::Stalled, RunEnding::Slow, RunEnding::BrokeDown];
}

/// What is known of a run after it has ended.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct CandidateRun {
    /// Iterations to the tolerance; `None` if it was not reached.
    pub reached: Option<usize>,
    /// Iterations made.
    pub iterations: usize,
    /// Passes over A that were made.
    pub passes: usize,
    /// The share of the digits to the tolerance that were gained, at most 1.
    pub progress: f64,
    /// The smallest excess.
    pub excess: f64,
    /// How it ended.
    pub ending: RunEnding,
}

/// The instances of one of the three disjoint sets, with the tolerance of each.
pub struct ProblemSet<'a> {
    /// The instances.
    pub instances: Arc<Vec<Arc<PreparedInstance>>>,
    /// The settings of runs on them.
    pub settings: RunSettings,
    tolerances: Vec<f64>,
    charge: Charge,
    /// Iterations after which a run is given up.
    limit: usize,
    stream: Stream,
    direct: f64,
    /// What the results on these instances depend on, besides programs and settings.
    identity: u128,
    log: &'a dyn ResultLog,
}

impl<'a> ProblemSet<'a> {
    /// Draws `count` instances for each condition number of the request, in rotated coordinates, where b has no axis
    /// of its own: rounding errors are those of the true matrices.
    pub fn draw(
        spec: &ExploreSpec,
        cols: usize,
        count: usize,
        stream: &Stream,
    ) -> Result<ProblemSet<'a>, FamilyError> {
        let family = spec.family_of(cols);
        let settings = spec.settings(&family);
        let mut instances = Vec::new();
        for (k, condition) in spec.conditions.iter().enumerate() {
            for i in 0..count {
                let stream = stream.derive("condition", k as u64).derive("instance", i as u64);
                let family = Family { condition: Some(*condition), ..family };
                instances.push(Arc::new(PreparedInstance::draw_rotated(&family, &stream)?));
            }
        }
        Ok(ProblemSet::posed(spec, instances, settings, stream))
    }

    /// Instances on each of which the tolerance is what rounding allows.
    pub(super) fn posed(
        spec: &ExploreSpec,
        instances: Vec<Arc<PreparedInstance>>,
        settings: RunSettings,
        stream: &Stream,
    ) -> ProblemSet<'a> {
        let tolerances = instances.iter().map(|prepared| attainable(prepared, spec.tolerance)).collect();
        ProblemSet::new(spec, instances, tolerances, settings, stream)
    }

    /// Instances that were drawn elsewhere, for runs with these settings.
    pub fn given(
        spec: &ExploreSpec,
        instances: Vec<Arc<PreparedInstance>>,
        settings: RunSettings,
        stream: &Stream,
    ) -> ProblemSet<'a> {
        let tolerances = vec![spec.tolerance; instances.len()];
        ProblemSet::new(spec, instances, tolerances, settings, stream)
    }

    fn new(
        spec: &ExploreSpec,
        instances: Vec<Arc<PreparedInstance>>,
        tolerances: Vec<f64>,
        settings: RunSettings,
        stream: &Stream,
    ) -> ProblemSet<'a> {
        let direct = spec.family.kind.info().task.direct(spec.charge.rows as f64, spec.charge.cols as f64)[0];
        ProblemSet {
            instances: Arc::new(instances),
            settings,
            tolerances,
            charge: spec.charge,
            limit: spec.limit,
            stream: stream.derive("runs", 0),
            direct,
            identity: key(&(spec.family, &spec.conditions, spec.tolerance, spec.charge, spec.limit, stream)),
            log: &NoLog,
        }
    }

    /// The same instances, with a log of the results on them.
    pub fn logged(self, log: &'a dyn ResultLog) -> ProblemSet<'a> {
        ProblemSet { log, ..self }
    }

    /// The result of this name and these arguments on these instances, computed if it is not in the log.
    pub fn recalled<T: LoggedResult>(&self, of: impl Debug, compute: impl FnOnce() -> T) -> T {
        recalled(self.log, key(&(self.identity, of)), compute)
    }

    /// The same instances for runs with these tunables.
    pub fn tuned(&self, tunables: &Tunables) -> ProblemSet<'a> {
        let Tunables { step, mu, sketch, sketch_factor, batch, every } = *tunables;
        let shape = self.instances[0].shape();
        let sketch_rows = (sketch_factor * shape.cols as f64).round() as usize;
        // A tall matrix needs a sketch of full rank, a square one a sketch that is smaller than itself.
        let least = if shape.rows > shape.cols { shape.cols + 1 } else { 1 };
        let sketch_rows = sketch_rows.max(least).min(shape.rows);
        let batch = ((batch * shape.cols as f64).round() as usize).clamp(1, shape.rows);
        self.with(RunSettings { step, mu, sketch, sketch_rows, batch, every, ..self.settings.clone() })
    }

    /// The same instances for runs with this step size.
    pub fn stepping(&self, step: f64) -> ProblemSet<'a> {
        self.with(RunSettings { step, ..self.settings.clone() })
    }

    fn with(&self, settings: RunSettings) -> ProblemSet<'a> {
        ProblemSet {
            settings,
            instances: self.instances.clone(),
            tolerances: self.tolerances.clone(),
            ..*self
        }
    }

    /// Number of instances.
    pub fn len(&self) -> usize {
        self.instances.len()
    }

    /// The random draws of the runs on an instance.
    pub fn stream(&self, i: usize) -> Stream {
        self.stream.derive("instance", i as u64)
    }

    /// The tolerance on an instance.
    pub fn tolerance(&self, i: usize) -> f64 {
        self.tolerances[i]
    }

    /// The flops of the direct solver.
    pub fn direct(&self) -> f64 {
        self.direct
    }

    /// The values of the symbols of a cost at the size that work is charged for.
    pub fn sizes(&self) -> Sizes {
        let cols = self.instances[0].shape().cols;
        // A sample grows with n, as a sketch does.
        let batch = self.settings.batch as f64 / cols as f64 * self.charge.cols as f64;
        let batch = (batch.round() as usize).min(self.charge.rows);
        self.charge.sizes(&RunSettings { batch, ..self.settings.clone() }, cols)
    }

    /// Runs a program on an instance until it reaches the tolerance, diverges or is given up.
    pub fn run(&self, program: &Program, i: usize) -> CandidateRun {
        self.recalled(("run", format_args!("{program}"), &self.settings, i), || self.reduced(program, i))
    }

    /// The same, computed.
    fn reduced(&self, program: &Program, i: usize) -> CandidateRun {
        let Ok(plan) = Plan::new(program, self.instances[i].shape(), &self.settings) else {
            return CandidateRun::default();
        };
        let coordinates = self.instances[i].coordinates(&plan, &self.settings);
        self.watched(&plan, coordinates.data(), i)
    }

    /// The same run on the original matrices.
    pub fn run_true(&self, program: &Program, i: usize) -> CandidateRun {
        self.recalled(("true", format_args!("{program}"), &self.settings, i), || self.original(program, i))
    }

    fn original(&self, program: &Program, i: usize) -> CandidateRun {
        let instance = self.instances[i].instance();
        let Ok(plan) = Plan::new(program, instance.shape(), &self.settings) else {
            return CandidateRun::default();
        };
        self.watched(&plan, RunData::True(&instance, None), i)
    }

    fn watched(&self, plan: &Plan, data: RunData, i: usize) -> CandidateRun {
        let measuring = Measuring::Every { losses: false };
        let Ok(mut runner) = Runner::begin(plan, data, &self.settings, &self.stream(i), measuring) else {
            return CandidateRun::default();
        };
        // TrialProgress is relative to x = 0, wherever a program starts.
        let (_, zero) = data.problem().measure_start();
        let mut progress = TrialProgress::new(self.tolerance(i), zero);
        progress.starts(runner.excesses()[0]);
        while progress.goes_on(self.limit) {
            match runner.advance() {
                Ok(_) => progress.add(*runner.excesses().last().expect("it was measured")),
                Err(_) => progress.fail(),
            }
        }
        CandidateRun { passes: runner.passes(), ..progress.trial() }
    }

    /// w₀/(w₀ + w) for work that reached the tolerance; less for what only came closer to it.
    pub fn reward(&self, trial: CandidateRun, flops: ProgramFlops) -> f64 {
        let work = match trial.reached {
            Some(iterations) => flops.after(iterations as f64),
            None if trial.progress <= 0.02 => return 0.0,
            None => UNFINISHED * flops.after(trial.iterations as f64 / trial.progress),
        };
        self.direct / (self.direct + work)
    }

    /// The flops of a program, at the size that work is charged for.
    pub fn flops(&self, program: &Program) -> Option<ProgramFlops> {
        let live = Canonical::new(program, LiveOut::Finished);
        let cost = ProgramCost::of(&live, self.instances[0].shape().signature, Model::True).ok()?;
        Some(cost.rates(&self.sizes()))
    }

    /// The reward of a program if it reached the tolerance after one iteration.
    pub fn most(&self, program: &Program) -> f64 {
        let once = CandidateRun { reached: Some(1), ..CandidateRun::default() };
        self.flops(program).map_or(0.0, |flops| self.reward(once, flops))
    }

    /// The mean reward of a program over these instances.
    pub fn score(&self, program: &Program, instances: Range<usize>) -> f64 {
        let of = ("score", format_args!("{program}"), &self.settings, instances.clone());
        self.recalled(of, || {
            let Some(flops) = self.flops(program) else { return 0.0 };
            let count = instances.len().max(1);
            let rewards = instances.map(|i| self.reward(self.reduced(program, i), flops));
            rewards.fold(0.0, |sum, reward| sum + reward) / count as f64
        })
    }

    /// The data of an instance, for values of expressions.
    pub(super) fn coordinates(&self, i: usize) -> Coordinates<'_> {
        self.instances[i].all_coordinates()
    }
}

/// Ten times the excess of a stable direct method, or the tolerance asked for if that is larger: no method can be asked for
/// more digits than rounding leaves.
fn attainable(prepared: &PreparedInstance, tolerance: f64) -> f64 {
    let problem = prepared.problem();
    let direct = problem.task.direct_solution(&problem);
    tolerance.max(10.0 * direct.map_or(0.0, |x| problem.measure(&x).1))
}

/// A run that is watched.
pub struct TrialProgress {
    tolerance: f64,
    first: f64,
    best: f64,
    iterations: usize,
    /// The iteration with the smallest excess.
    best_at: usize,
    ended: Option<RunEnding>,
}

impl TrialProgress {
    /// At the start.
    pub fn new(tolerance: f64, first: f64) -> TrialProgress {
        TrialProgress { tolerance, first, best: first, iterations: 0, best_at: 0, ended: None }
    }

    /// The excess before the first iteration.
    pub fn starts(&mut self, excess: f64) {
        self.best = self.best.min(excess);
        self.ended = (!excess.is_finite()).then_some(RunEnding::Diverged);
    }

    /// Whether there is reason to go on.
    pub fn goes_on(&self, limit: usize) -> bool {
        self.ended.is_none() && self.best > self.tolerance && self.iterations < limit
    }

    /// The excess after another iteration.
    pub fn add(&mut self, excess: f64) {
        self.iterations += 1;
        let has_diverged = excess.is_nan() || excess > DIVERGED * self.first;
        if excess < self.best {
            (self.best, self.best_at) = (excess, self.iterations);
        }
        // A hopeless run is given up early: less than a hundredth of the digits in thirty iterations.
        let is_hopeless = self.iterations >= 30 && self.progress() < 0.01;
        self.ended =
            if has_diverged { Some(RunEnding::Diverged) } else { is_hopeless.then(|| self.given_up()) };
    }

    /// The iteration failed.
    pub fn fail(&mut self) {
        self.ended = Some(RunEnding::BrokeDown);
    }

    /// How a run ends that is given up now: it has stalled if the last fifth of it brought nothing.
    fn given_up(&self) -> RunEnding {
        if 5 * self.best_at < 4 * self.iterations { RunEnding::Stalled } else { RunEnding::Slow }
    }

    fn progress(&self) -> f64 {
        if self.best <= self.tolerance {
            return 1.0;
        }
        ((self.first / self.best).ln() / (self.first / self.tolerance).ln()).max(0.0)
    }

    /// What came of it.
    pub fn trial(&self) -> CandidateRun {
        let reached = (self.best <= self.tolerance).then_some(self.iterations);
        let ending = match reached {
            Some(_) => RunEnding::Reached,
            None => self.ended.unwrap_or_else(|| self.given_up()),
        };
        CandidateRun {
            reached,
            iterations: self.iterations,
            passes: 0,
            progress: self.progress(),
            excess: self.best,
            ending,
        }
    }
}

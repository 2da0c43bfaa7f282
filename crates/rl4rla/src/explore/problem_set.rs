//! The problems: the instances that candidates run on, and the work they are charged for.

use super::race::Tunables;
use super::spec::ExploreSpec;
use crate::execute::{Coordinates, Measuring, Plan, PreparedInstance, RunData, RunSettings, Runner};
use crate::problem::{Family, FamilyError};
use crate::program::{Canonical, LiveOut, Model, Program, ProgramCost, Sizes};
use crate::reward::Charge;
use crate::rng::Stream;
use serde::{Deserialize, Serialize};
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
pub struct ProblemSet {
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
}

impl ProblemSet {
    /// Draws `count` instances for each condition number of the request, in rotated coordinates, where b has no axis
    /// of its own: rounding errors are those of the true matrices.
    pub fn draw(
        spec: &ExploreSpec,
        cols: usize,
        count: usize,
        stream: &Stream,
    ) -> Result<ProblemSet, FamilyError> {
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
        let tolerances = instances.iter().map(|prepared| attainable(prepared, spec.tolerance)).collect();
        Ok(ProblemSet::new(spec, instances, tolerances, settings, stream))
    }

    /// Instances that were drawn elsewhere, for runs with these settings.
    pub fn given(
        spec: &ExploreSpec,
        instances: Vec<Arc<PreparedInstance>>,
        settings: RunSettings,
        stream: &Stream,
    ) -> ProblemSet {
        let tolerances = vec![spec.tolerance; instances.len()];
        ProblemSet::new(spec, instances, tolerances, settings, stream)
    }

    fn new(
        spec: &ExploreSpec,
        instances: Vec<Arc<PreparedInstance>>,
        tolerances: Vec<f64>,
        settings: RunSettings,
        stream: &Stream,
    ) -> ProblemSet {
        let direct = spec.family.kind.info().task.direct(spec.charge.rows as f64, spec.charge.cols as f64)[0];
        ProblemSet {
            instances: Arc::new(instances),
            settings,
            tolerances,
            charge: spec.charge,
            limit: spec.limit,
            stream: stream.derive("runs", 0),
            direct,
        }
    }

    /// The same instances for runs with these tunables.
    pub fn tuned(&self, tunables: &Tunables) -> ProblemSet {
        let Tunables { step, mu, sketch, sketch_factor } = *tunables;
        let shape = self.instances[0].shape();
        let sketch_rows = (sketch_factor * shape.cols as f64).round() as usize;
        // A tall matrix needs a sketch of full rank, a square one a sketch that is smaller than itself.
        let least = if shape.rows > shape.cols { shape.cols + 1 } else { 1 };
        let sketch_rows = sketch_rows.max(least).min(shape.rows);
        self.with(RunSettings { step, mu, sketch, sketch_rows, ..self.settings.clone() })
    }

    /// The same instances for runs with this step size.
    pub fn stepping(&self, step: f64) -> ProblemSet {
        self.with(RunSettings { step, ..self.settings.clone() })
    }

    fn with(&self, settings: RunSettings) -> ProblemSet {
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
        self.charge.sizes(&self.settings, self.instances[0].shape().cols)
    }

    /// Runs a program on an instance until it reaches the tolerance, diverges or is given up.
    pub fn run(&self, program: &Program, i: usize) -> CandidateRun {
        let Ok(plan) = Plan::new(program, self.instances[i].shape(), &self.settings) else {
            return CandidateRun::default();
        };
        let coordinates = self.instances[i].coordinates(&plan, &self.settings);
        self.watched(&plan, coordinates.data(), i)
    }

    /// The same run on the original matrices.
    pub fn run_true(&self, program: &Program, i: usize) -> CandidateRun {
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
    pub fn reward(&self, trial: CandidateRun, [setup, iteration]: [f64; 2]) -> f64 {
        let work = match trial.reached {
            Some(iterations) => setup + iterations as f64 * iteration,
            None if trial.progress <= 0.02 => return 0.0,
            None => UNFINISHED * (setup + trial.iterations as f64 / trial.progress * iteration),
        };
        self.direct / (self.direct + work)
    }

    /// The flops of setup and of an iteration of a program, at the size that work is charged for.
    pub fn flops(&self, program: &Program) -> Option<[f64; 2]> {
        let live = Canonical::new(program, LiveOut::Finished);
        let cost = ProgramCost::of(&live, self.instances[0].shape().signature, Model::True).ok()?;
        let sizes = self.sizes();
        Some([cost.setup.flops.eval(&sizes), cost.iteration.flops.eval(&sizes)])
    }

    /// The reward of a program if it reached the tolerance after one iteration.
    pub fn most(&self, program: &Program) -> f64 {
        let once = CandidateRun { reached: Some(1), ..CandidateRun::default() };
        self.flops(program).map_or(0.0, |flops| self.reward(once, flops))
    }

    /// The mean reward of a program over these instances.
    pub fn score(&self, program: &Program, instances: impl Iterator<Item = usize>) -> f64 {
        let Some(flops) = self.flops(program) else { return 0.0 };
        let (mut sum, mut count) = (0.0, 0);
        for i in instances {
            sum += self.reward(self.run(program, i), flops);
            count += 1;
        }
        sum / f64::from(count.max(1))
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

//! Scoring: one program on one instance.

use super::judge::{Judge, work};
use super::profile::Profile;
use super::step_rule::StepRule;
use super::weights::{Terms, Wanted};
use crate::cache::Bytes;
use crate::execute::{
    PreparedInstance, RunFailure, RunSettings, Sampling, SketchKind, Trace, run, run_prepared,
};
use crate::problem::Instance;
use crate::program::{Canonical, LiveOut, Model, Program};
use crate::rng::Stream;

/// How programs are evaluated.
#[derive(Clone, PartialEq, Debug)]
pub struct Protocol {
    /// T, the number of iterations.
    pub iterations: usize,
    /// How the step size is chosen.
    pub step: StepRule,
    /// μ, the number in register `mu`.
    pub mu: f64,
    /// Iterations from one refresh to the next.
    pub every: usize,
    /// Kind of sketch.
    pub sketch: SketchKind,
    /// s/n, the rows of a sketch per column of the data; a sketch is never taller than the data.
    pub sketch_factor: f64,
    /// k, the rows of a sample; a sample is never taller than the data.
    pub batch: usize,
    /// How rows are sampled.
    pub sampling: Sampling,
    /// How a run is rewarded.
    pub profile: Profile,
    /// The registers that count as outputs of a program.
    pub live_out: LiveOut,
}

impl Protocol {
    /// This profile with T = 10, s = 8n and k = 100, as in the released code.
    pub fn new(profile: Profile, step: StepRule) -> Protocol {
        Protocol {
            iterations: 10,
            step,
            mu: 0.0,
            every: RunSettings::EVERY,
            sketch: SketchKind::Sjlt,
            sketch_factor: 8.0,
            batch: 100,
            sampling: Sampling::Unbiased,
            profile,
            live_out: LiveOut::Finished,
        }
    }

    /// The settings of one run with this step size.
    pub fn settings(&self, rows: usize, cols: usize, step: f64) -> RunSettings {
        let sketch_rows = ((self.sketch_factor * cols as f64).ceil() as usize).clamp(1, rows.max(1));
        RunSettings {
            iterations: self.iterations,
            step,
            mu: self.mu,
            every: self.every,
            sketch: self.sketch,
            sketch_rows,
            batch: self.batch.clamp(1, rows.max(1)),
            sampling: self.sampling,
            ..RunSettings::for_size(rows, cols)
        }
    }
}

/// The score of one program on one instance.
#[derive(Clone, Debug)]
pub struct Score {
    /// The reward.
    pub reward: f64,
    /// Its parts.
    pub terms: Terms,
    /// The step size used.
    pub step: f64,
    /// Flops of the live code, in the true model.
    pub flops: f64,
    /// Passes over A of the live code.
    pub passes: f64,
    /// The effective condition number; 1 for tasks without one.
    pub condition: f64,
    /// Iterations to the tolerance, if the profile has one and it was reached.
    pub reached: Option<usize>,
    /// The run, or the reason of its failure.
    pub outcome: Result<Trace, RunFailure>,
}

impl Score {
    /// The final excess of the run; NaN if it failed.
    pub fn last_excess(&self) -> f64 {
        let trace = self.outcome.as_ref().ok();
        trace.and_then(|trace| trace.excesses.last().copied()).unwrap_or(f64::NAN)
    }
}

impl Bytes for Score {
    fn bytes(&self) -> usize {
        size_of::<Score>() + self.outcome.as_ref().map_or(0, Bytes::bytes)
    }
}

impl Bytes for Trace {
    fn bytes(&self) -> usize {
        let matrix = self.preconditioner.as_ref().map_or(0, |matrix| matrix.rows() * matrix.cols());
        let numbers = self.residuals.len() + self.excesses.len() + self.x.len() + matrix;
        size_of::<Trace>() + numbers * size_of::<f64>()
    }
}

/// Scores a program on an instance: a pure function of its arguments. A program that fails scores 0.
pub fn score(program: &Program, instance: &Instance, protocol: &Protocol, stream: &Stream) -> Score {
    let live = Canonical::new(program, protocol.live_out);
    let judge = Judge { live: &live, shape: instance.shape(), problem: instance, protocol };
    best_score(&judge, |settings| run(live.program(), instance, settings, stream))
}

/// The same score up to rounding, in reduced coordinates if the program allows it.
///
/// ```
/// use rl4rla::{execute::PreparedInstance, problem::Family, program::Entry, rng::Stream};
/// use rl4rla::reward::{Profile, Protocol, StepRule, score, score_prepared};
/// let mut family = Family::named("low-cond").unwrap();
/// (family.rows, family.cols) = (300, 5);
/// let prepared = PreparedInstance::draw(&family, &Stream::new(1)).unwrap();
/// let program = &Entry::named("ls-gd").unwrap().document.program;
/// let protocol = Protocol::new(Profile::sound(), StepRule::Fixed(1.0));
/// let reduced = score_prepared(program, &prepared, &protocol, &Stream::new(2));
/// let full = score(program, &prepared.instance(), &protocol, &Stream::new(2));
/// assert!((reduced.reward - full.reward).abs() < 1e-9 && reduced.flops == full.flops);
/// ```
pub fn score_prepared(
    program: &Program,
    prepared: &PreparedInstance,
    protocol: &Protocol,
    stream: &Stream,
) -> Score {
    let live = Canonical::new(program, protocol.live_out);
    let judge = Judge { live: &live, shape: prepared.shape(), problem: &prepared.problem(), protocol };
    best_score(&judge, |settings| run_prepared(live.program(), prepared, settings, stream))
}

/// The score of the best run, one per step size.
fn best_score(judge: &Judge, run: impl Fn(&RunSettings) -> Result<Trace, RunFailure>) -> Score {
    let (shape, protocol) = (judge.shape, judge.protocol);
    let runs = protocol.step.candidates().iter().map(|&step| (step, run(&judge.settings(step))));
    // Ties go to the first step size tried; failures rank behind every success.
    let rank = |outcome: &Result<Trace, RunFailure>| match outcome {
        Ok(trace) => judge.standing(trace),
        Err(_) => (f64::INFINITY, f64::INFINITY),
    };
    let best = runs.reduce(|best, next| if rank(&next.1) < rank(&best.1) { next } else { best });
    let (step, outcome) = best.expect("a step rule holds at least one step");
    let nothing = |outcome| Score {
        reward: 0.0,
        terms: Terms::default(),
        step,
        flops: 0.0,
        passes: 0.0,
        condition: f64::NAN,
        reached: None,
        outcome,
    };
    let Ok(trace) = outcome else { return nothing(outcome) };
    let terms = judge.terms(&trace, &Wanted::only(protocol.profile.shown()));
    let reached = judge.reached(&trace.excesses);
    let sizes = judge.settings(step).sizes(shape.rows, shape.cols);
    let work = work(&judge.cost(Model::True), sizes, protocol.iterations);
    Score {
        reward: judge.reward(&terms, reached),
        terms,
        step,
        flops: work.flops,
        passes: work.passes,
        condition: judge.condition(&trace),
        reached,
        outcome: Ok(trace),
    }
}

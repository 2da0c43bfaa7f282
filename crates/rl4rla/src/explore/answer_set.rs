//! Instances for programs whose result is an answer or the next iterate, and the work they are charged for.

use super::hall::HeldOut;
use super::log::{LoggedResult, ResultLog, key, recalled};
use super::problem_set::{CandidateRun, TrialProgress, UNFINISHED};
use super::race::Tunables;
use super::spec::ExploreSpec;
use crate::execute::{Measuring, Plan, RunData, RunSettings, Runner, SketchKind};
use crate::problem::{Choice, Family, FamilyError, Instance};
use crate::program::{Canonical, LiveOut, Model, Program, ProgramCost, ProgramFlops, Update};
use crate::reward::Charge;
use crate::rng::Stream;
use rayon::prelude::*;
use std::fmt::Debug;
use std::sync::Arc;

/// Iterations after which a run is given up.
const LIMIT: usize = 3000;

/// Rows of the instances for each column, unless they are square.
const TALL: usize = 2;

/// A sketch: its kind and its number of rows, which does not grow with the problem.
pub type SketchChoice = (SketchKind, usize);

/// The instances of one of three disjoint sets.
pub struct AnswerSet<'a> {
    instances: Arc<Vec<Instance>>,
    tolerance: f64,
    charge: Charge,
    /// Iterations after which a run is given up.
    limit: usize,
    stream: Stream,
    log: &'a dyn ResultLog,
}

impl<'a> AnswerSet<'a> {
    /// Draws `count` instances for each condition number, if the family has one.
    pub fn draw(
        spec: &ExploreSpec,
        cols: usize,
        count: usize,
        stream: &Stream,
        log: &'a dyn ResultLog,
    ) -> Result<AnswerSet<'a>, FamilyError> {
        let info = spec.family.kind.info();
        let conditions: Vec<Option<f64>> = match info.options.contains(&Choice::Condition) {
            true => spec.conditions.iter().copied().map(Some).collect(),
            false => vec![None],
        };
        let rows = if info.square { cols } else { TALL * cols };
        let mut instances = Vec::new();
        for (k, condition) in conditions.into_iter().enumerate() {
            let stream = stream.derive("condition", k as u64);
            let family = Family { rows, cols, condition, ..spec.family };
            for i in 0..count {
                instances.push(family.draw(&stream.derive("instance", i as u64))?);
            }
        }
        let (tolerance, charge) = (spec.tolerance, spec.charge);
        let limit = if info.task.update() == Update::Basis { 1 } else { LIMIT };
        let (instances, stream) = (Arc::new(instances), stream.derive("runs", 0));
        Ok(AnswerSet { instances, tolerance, charge, limit, stream, log })
    }

    /// The same instances for runs of at most so many iterations.
    pub fn limited(&self, limit: usize) -> AnswerSet<'a> {
        AnswerSet { instances: self.instances.clone(), limit: self.limit.min(limit), ..*self }
    }

    /// The result of this name and these arguments on these instances, computed if it is not in the log.
    pub fn recalled<T: LoggedResult>(&self, of: impl Debug, compute: impl FnOnce() -> T) -> T {
        recalled(self.log, key(&(of, self.limit, self.stream)), compute)
    }

    /// The excess to reach.
    pub fn tolerance(&self) -> f64 {
        self.tolerance
    }

    /// Rows of an answer.
    pub fn rank(&self) -> usize {
        self.instances[0].x_star.len() / self.instances[0].cols()
    }

    /// The size that work is charged for, rows of an answer and iterations.
    pub fn charged(&self, iterations: usize) -> [f64; 4] {
        [self.charge.rows, self.charge.cols, self.rank(), iterations].map(|count| count as f64)
    }

    /// Work: flops, and passes at their price.
    pub fn priced(&self, [flops, passes]: [f64; 2]) -> f64 {
        flops + passes * self.pass()
    }

    /// Number of instances.
    pub fn len(&self) -> usize {
        self.instances.len()
    }

    /// An instance.
    pub fn instance(&self, i: usize) -> &Instance {
        &self.instances[i]
    }

    /// Flops of the direct solver and of its passes at the size that work is charged for.
    pub fn direct(&self) -> f64 {
        let Charge { rows, cols, .. } = self.charge;
        let [flops, passes] = self.instances[0].task.direct(rows as f64, cols as f64);
        flops + passes * self.pass()
    }

    /// The price of a pass over A in flops, at the size that work is charged for.
    fn pass(&self) -> f64 {
        self.instances[0].task.pass_price() * self.charge.rows as f64 * self.charge.cols as f64
    }

    /// The settings of runs with this sketch on a problem of this size.
    pub fn settings(&self, (sketch, rows): SketchChoice, of: [usize; 2]) -> RunSettings {
        let [m, n] = of;
        RunSettings {
            sketch,
            sketch_rows: rows.min(m),
            iterations: self.limit,
            ..RunSettings::for_size(m, n)
        }
    }

    /// Runs a program on an instance until it reaches the tolerance, diverges or is given up.
    /// Also gives the entries of its result for each column of A.
    fn run(&self, program: &Program, sketch: SketchChoice, i: usize) -> (CandidateRun, f64) {
        self.recalled((format_args!("{program}"), sketch, i), || self.made(program, sketch, i))
    }

    fn made(&self, program: &Program, sketch: SketchChoice, i: usize) -> (CandidateRun, f64) {
        let instance = &self.instances[i];
        let settings = self.settings(sketch, [instance.rows(), instance.cols()]);
        let Ok(plan) = Plan::new(program, instance.shape(), &settings) else {
            return Default::default();
        };
        let (data, stream) = (RunData::True(instance, None), self.stream.derive("instance", i as u64));
        let measuring = Measuring::Every { losses: false };
        let Ok(mut runner) = Runner::begin(&plan, data, &settings, &stream, measuring) else {
            return Default::default();
        };
        let mut progress = TrialProgress::new(self.tolerance, runner.excesses()[0]);
        while progress.goes_on(settings.iterations) {
            match runner.advance() {
                Ok(_) => progress.add(*runner.excesses().last().expect("it was measured")),
                Err(_) => progress.fail(),
            }
        }
        let rows = runner.result().len() as f64 / instance.cols() as f64;
        (CandidateRun { passes: runner.passes(), ..progress.trial() }, rows)
    }

    /// The flops of a program, at the size that work is charged for.
    fn flops(&self, program: &Program, sketch: SketchChoice) -> Option<ProgramFlops> {
        let live = Canonical::new(program, LiveOut::Finished);
        let cost = ProgramCost::of(&live, self.instances[0].signature(), Model::True).ok()?;
        let Charge { rows, cols, .. } = self.charge;
        let sizes = self.settings(sketch, [rows, cols]).sizes(rows, cols);
        Some(cost.rates(&sizes))
    }

    /// The work of a run, with what is left to the user.
    fn work(&self, (run, answer): (CandidateRun, f64), own: ProgramFlops) -> f64 {
        let Charge { rows, cols, .. } = self.charge;
        let [flops, passes] = self.instances[0].task.completion(rows as f64, cols as f64, answer);
        let flops = flops + own.after(run.iterations as f64);
        self.priced([flops, run.passes as f64 + passes])
    }

    /// w₀/(w₀ + w) with the work w to the tolerance, passes included; less for iterations that came closer to it.
    fn reward(&self, (run, answer): (CandidateRun, f64), flops: ProgramFlops) -> f64 {
        let work = self.work((run, answer), flops);
        let work = match run.reached {
            Some(_) => work,
            None if run.progress <= 0.02 || run.iterations < 2 => return 0.0,
            None => UNFINISHED * work / run.progress,
        };
        self.direct() / (self.direct() + work)
    }

    /// The reward of a program on one instance.
    pub fn score(&self, program: &Program, sketch: SketchChoice, i: usize) -> f64 {
        let Some(flops) = self.flops(program, sketch) else { return 0.0 };
        self.reward(self.run(program, sketch, i), flops)
    }

    /// What a program does on every instance.
    pub fn measured(&self, program: &Program, sketch: SketchChoice) -> HeldOut {
        self.summarized(program, sketch, self.runs(program, sketch))
    }

    /// The runs of a program on every instance, with the rows of their answers.
    pub fn runs(&self, program: &Program, sketch: SketchChoice) -> Vec<(CandidateRun, f64)> {
        (0..self.len()).into_par_iter().map(|i| self.run(program, sketch, i)).collect()
    }

    /// What these runs came to.
    pub fn summarized(
        &self,
        program: &Program,
        sketch: SketchChoice,
        runs: Vec<(CandidateRun, f64)>,
    ) -> HeldOut {
        let flops = self.flops(program, sketch).unwrap_or(ProgramFlops::steady(f64::INFINITY, f64::INFINITY));
        let reward = |run: &(CandidateRun, f64)| run.0.reached.map_or(0.0, |_| self.reward(*run, flops));
        let rewards: Vec<f64> = runs.iter().map(reward).collect();
        let runs: Vec<CandidateRun> = runs.into_iter().map(|(run, _)| run).collect();
        HeldOut::of(&runs, rewards.into_iter(), flops)
    }

    /// The work of these runs of a program; `None` for those that did not reach the tolerance.
    pub fn work_to_tolerance(
        &self,
        program: &Program,
        sketch: SketchChoice,
        runs: &[(CandidateRun, f64)],
    ) -> Vec<Option<f64>> {
        let flops = self.flops(program, sketch).unwrap_or(ProgramFlops::steady(f64::INFINITY, f64::INFINITY));
        runs.iter().map(|run| run.0.reached.map(|_| self.work(*run, flops))).collect()
    }

    /// A sketch as it is recorded: its rows relative to the columns that work is charged for.
    pub fn tunables(&self, (sketch, rows): SketchChoice) -> Tunables {
        let sketch_factor = rows as f64 / self.charge.cols as f64;
        let (batch, every) = (Tunables::USUAL_BATCH, RunSettings::EVERY);
        Tunables { step: 1.0, mu: 0.0, sketch, sketch_factor, batch, every }
    }
}

//! A study: a program, the problems it is analysed on, and its settings. All numbers of an analysis follow from it.

use super::effort::Effort;
use crate::execute::{RunSettings, run};
use crate::problem::{Choice, Family, Instance, InstanceSet};
use crate::program::{Canonical, LiveOut, Model, Program, ProgramCost, Reg, Section, ShapeError};
use crate::reward::{Protocol, draws};
use crate::rng::Stream;
use rayon::prelude::*;
use serde::Serialize;
use xxhash_rust::xxh3::xxh3_64;

/// The excess at the start and after every iteration, or the reason of a failure.
pub type ExcessHistory = Result<Vec<f64>, String>;

/// An instance: a family, and the seed of the instance and of the program's random draws.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct StudyPoint {
    /// The family.
    pub family: Family,
    /// The seed; the instance is the first that `evaluate` draws with it.
    pub seed: u64,
}

/// Accuracy and seed of an analysis.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Care {
    /// ε, the tolerance on the excess.
    pub tolerance: f64,
    /// Number of instances and random draws behind every number.
    pub replicates: u64,
    /// The seed of all of them.
    pub seed: u64,
    /// Whether a coarse result within seconds is enough.
    pub quick: bool,
}

/// A program, the problems it is analysed on, and its settings.
#[derive(Clone, Debug)]
pub struct Study {
    /// The program without dead code.
    pub live: Canonical,
    /// The family; its condition number is the first of `kappas`.
    pub family: Family,
    /// The condition numbers to compare; a single `None` if the family determines its own.
    pub kappas: Vec<Option<f64>>,
    /// The protocol; its T is that of the map and of the worst case.
    pub protocol: Protocol,
    /// η, chosen once and used everywhere.
    pub step: f64,
    /// Accuracy and seed.
    pub care: Care,
    /// Amount of work.
    pub effort: Effort,
    /// The cost of the program, as polynomials.
    pub cost: ProgramCost,
}

/// The condition numbers compared by default.
const KAPPAS: [f64; 5] = [1e1, 1e2, 1e4, 1e6, 1e8];
/// Maximum length of runs that measure a rate, in multiples of T.
const LONGER: usize = 10;
/// Flops that such a run may take, unless T iterations take more.
const LONG_RUN: f64 = 3e8;

impl Study {
    /// A study of a program. If the protocol has several step sizes, the one is chosen that first reaches the
    /// tolerance on the family at the first condition number, by the median over the replicates.
    pub fn new(
        program: &Program,
        family: Family,
        kappas: &[f64],
        protocol: Protocol,
        care: Care,
    ) -> Result<Study, ShapeError> {
        let live = Canonical::new(program, LiveOut::Finished);
        let cost = ProgramCost::of(&live, family.signature(), Model::True)?;
        let takes_kappa = family.kind.info().options.contains(&Choice::Condition) && family.cols > 1;
        let kappas: Vec<Option<f64>> = match (takes_kappa, kappas.is_empty()) {
            (false, _) => vec![family.condition],
            (true, true) => KAPPAS.iter().take(if care.quick { 3 } else { 5 }).copied().map(Some).collect(),
            (true, false) => kappas.iter().copied().map(Some).collect(),
        };
        let family = Family { condition: kappas[0], ..family };
        let sizes = protocol.settings(family.rows, family.cols, 1.0).sizes(family.rows, family.cols);
        // The flop count underestimates the time of a general inverse, which is computed by singular values.
        let iteration = live.program().section(Section::Iteration);
        let slowdown = iteration.iter().map(|ins| ins.op.slowdown).fold(1.0, f64::max);
        let flops = cost.flops(&sizes, protocol.iterations) * slowdown;
        let effort = Effort::within(care.quick, flops);
        let step = protocol.step.candidates()[0];
        let mut study = Study { live, family, kappas, protocol, step, care, effort, cost };
        study.step = study.best_of(study.protocol.step.candidates());
        Ok(study)
    }

    /// The first of the step sizes that reach the tolerance in the fewest iterations, or with the smallest final
    /// excess if none does.
    fn best_of(&self, steps: &[f64]) -> f64 {
        if let [step] = steps {
            return *step;
        }
        let standing = |step: &f64| {
            let histories =
                self.histories(&self.family, &RunSettings { step: *step, ..self.settings(&self.family) });
            let reached = |history: &Vec<f64>| history.iter().position(|e| *e <= self.care.tolerance);
            let waits = histories.iter().map(|history| history.as_ref().ok().and_then(reached));
            let waits = waits.map(|wait| wait.map_or(f64::INFINITY, |t| t as f64));
            (*step, (middle(waits.collect()), middle(histories.iter().map(last).collect())))
        };
        let ranked = steps.iter().map(standing);
        ranked.reduce(|best, next| if next.1 < best.1 { next } else { best }).map_or(1.0, |(step, _)| step)
    }

    /// A hash of everything that its numbers depend on: the program without dead code, the problems, the settings and
    /// the seed. The same on every machine and in every call.
    ///
    /// ```
    /// use rl4rla::analysis::{Care, Study};
    /// use rl4rla::{problem::Family, program::Entry, reward::{Profile, Protocol, StepRule}};
    /// let id = |seed| {
    ///     let family = Family { rows: 100, cols: 4, ..Family::named("mid-cond").unwrap() };
    ///     let protocol = Protocol::new(Profile::sound(), StepRule::Fixed(0.75));
    ///     let care = Care { tolerance: 1e-6, replicates: 3, seed, quick: true };
    ///     let program = &Entry::named("precond-gd").unwrap().document.program;
    ///     Study::new(program, family, &[1e3], protocol, care).unwrap().id()
    /// };
    /// assert!(id(0) == id(0) && id(0) != id(1) && id(0).len() == 16);
    /// ```
    pub fn id(&self) -> String {
        let Protocol { iterations, sketch, sketch_factor, batch, sampling, mu, every, .. } = &self.protocol;
        let family = serde_json::to_string(&self.family).unwrap_or_default();
        let program = self.live.program().to_string();
        let (kappas, step, care) = (&self.kappas, self.step, &self.care);
        // Without a μ and a k the name is what it was before there were any.
        let mu = if *mu == 0.0 { String::new() } else { format!(" {mu:?}") };
        let every = if *every == RunSettings::EVERY { String::new() } else { format!(" every {every}") };
        let run = format!("{iterations} {step:?} {sketch} {sketch_factor:?} {batch} {sampling:?}{mu}{every}");
        let text = format!("{program}\n{family}\n{kappas:?}\n{run}\n{care:?}");
        format!("{:016x}", xxh3_64(text.as_bytes()))
    }

    /// The median excess after T iterations on the family; failed runs count as infinite.
    pub fn typical(&self) -> f64 {
        middle(self.histories(&self.family, &self.settings(&self.family)).iter().map(last).collect())
    }

    /// The family at this condition number.
    pub fn at(&self, condition: Option<f64>) -> Family {
        Family { condition, ..self.family }
    }

    /// The settings of a run on problems of this family.
    pub fn settings(&self, family: &Family) -> RunSettings {
        self.protocol.settings(family.rows, family.cols, self.step)
    }

    /// The number of iterations of a run that measures a rate: more than T if that is cheap.
    pub fn horizon(&self) -> usize {
        let t = self.protocol.iterations;
        let sizes = self.settings(&self.family).sizes(self.family.rows, self.family.cols);
        let affordable = (LONG_RUN / self.cost.rates(&sizes).mean_iteration().max(1.0)) as usize;
        affordable.clamp(t, t.saturating_mul(LONGER))
    }

    /// The instance with this index that `evaluate` draws with this seed.
    pub fn instance(&self, family: &Family, seed: u64, index: u64) -> Result<Instance, String> {
        family.draw(&InstanceSet::Final.stream(seed, index)).map_err(|error| error.to_string())
    }

    /// The instances of a family, one for each replicate.
    pub fn instances(&self, family: &Family) -> Vec<Result<Instance, String>> {
        let draw = |index| self.instance(family, self.care.seed, index);
        (0..self.care.replicates).into_par_iter().map(draw).collect()
    }

    /// The program's RNG stream on the instance of this index.
    pub fn stream(&self, index: u64) -> Stream {
        draws(self.care.seed, index, 0)
    }

    /// The convergence history of a run on the instance of this index.
    pub fn history(&self, family: &Family, settings: &RunSettings, seed: u64, index: u64) -> ExcessHistory {
        let instance = self.instance(family, seed, index)?;
        let trace = run(self.live.program(), &instance, settings, &draws(seed, index, 0));
        trace.map(|trace| trace.excesses).map_err(|failure| failure.to_string())
    }

    /// The convergence histories of runs on one instance per replicate.
    pub fn histories(&self, family: &Family, settings: &RunSettings) -> Vec<ExcessHistory> {
        let history = |index| self.history(family, settings, self.care.seed, index);
        (0..self.care.replicates).into_par_iter().map(history).collect()
    }

    /// Whether the task has a step size.
    pub fn has_step(&self) -> bool {
        self.family.kind.info().task.inputs().contains(Reg::ETA)
    }

    /// Whether the program reads η in an instruction.
    pub fn reads_step(&self) -> bool {
        self.live.program().instructions().any(|(_, _, ins)| ins.operands.contains(&Reg::ETA))
    }

    /// Whether a section of the program samples rows, and whether it sketches.
    pub fn draws_in(&self, section: Section) -> [bool; 2] {
        let all = || self.live.program().section(section).iter();
        [all().any(|ins| ins.op.samples()), all().any(|ins| ins.op.sketches())]
    }
}

/// The median, the lower of two.
fn middle(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[(values.len() - 1) / 2]
}

/// The last excess of a history, infinite if the run failed.
pub(super) fn last(history: &ExcessHistory) -> f64 {
    history.as_ref().ok().and_then(|history| history.last()).copied().unwrap_or(f64::INFINITY)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::program::Entry;
    use crate::reward::{Profile, SOUND_GRID, StepRule, evaluate};

    /// A small study of a catalogue program, with this step size or the best one.
    pub fn study(name: &str, family: &str, size: (usize, usize), kappas: &[f64], step: Option<f64>) -> Study {
        let rule = step.map_or(StepRule::Best(SOUND_GRID.to_vec()), StepRule::Fixed);
        let protocol = Protocol { iterations: 40, ..Protocol::new(Profile::sound(), rule) };
        let family = Family { rows: size.0, cols: size.1, ..Family::named(family).unwrap() };
        let care = Care { tolerance: 1e-6, replicates: 3, seed: 0, quick: true };
        Study::new(&Entry::named(name).unwrap().document.program, family, kappas, protocol, care).unwrap()
    }

    #[test]
    fn the_best_step_is_taken_and_runs_are_those_of_evaluate() {
        let study = study("precond-gd", "mid-cond", (200, 6), &[10.0, 100.0], None);
        assert_eq!(study.step, 1.0);
        assert_eq!(study.kappas, [Some(10.0), Some(100.0)]);
        let instances: Vec<Instance> = (0..3).map(|i| study.instance(&study.family, 0, i).unwrap()).collect();
        let protocol = Protocol { step: StepRule::Fixed(study.step), ..study.protocol.clone() };
        let evaluation = evaluate(study.live.program(), &instances, &protocol, 0);
        let ours = study.histories(&study.family, &study.settings(&study.family));
        for (score, history) in evaluation.scores.iter().zip(ours) {
            assert_eq!(score.outcome.as_ref().unwrap().excesses, history.unwrap());
        }
    }

    #[test]
    fn families_with_a_condition_of_their_own_keep_it() {
        let study = study("logistic-gd", "logistic-separable", (60, 4), &[], Some(1.0));
        assert_eq!(study.kappas, [None]);
    }
}

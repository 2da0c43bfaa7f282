//! Fast computation of the reward alone, for searches that try thousands of programs per second.

use super::judge::Judge;
use super::profile::Profile;
use super::score::Protocol;
use super::term::Need;
use super::weights::Terms;
use crate::cache::{Bytes, Cache};
use crate::execute::{Measuring, Plan, PreparedInstance, RunFailure, RunSettings, Runner, Trace};
use crate::program::{Canonical, Program, Section};
use crate::rng::Stream;

/// The reward of [`score`](super::score), up to rounding: computed in reduced coordinates, with one setup for all
/// step sizes that share it, and without the terms and iterations that cannot change it.
///
/// ```
/// use rl4rla::{execute::PreparedInstance, problem::Family, program::Entry, rng::Stream};
/// use rl4rla::reward::{Profile, Protocol, SOUND_GRID, StepRule, reward, score};
/// let mut family = Family::named("mid-cond").unwrap();
/// (family.rows, family.cols, family.condition) = (300, 5, Some(100.0));
/// let prepared = PreparedInstance::draw(&family, &Stream::new(1)).unwrap();
/// let program = &Entry::named("sketched-precond-gd").unwrap().document.program;
/// let protocol = Protocol::new(Profile::sound(), StepRule::Best(SOUND_GRID.to_vec()));
/// let fast = reward(program, &prepared, &protocol, &Stream::new(2));
/// let full = score(program, &prepared.instance(), &protocol, &Stream::new(2)).reward;
/// assert!(full > 0.1 && (fast - full).abs() < 1e-9);
/// ```
pub fn reward(program: &Program, prepared: &PreparedInstance, protocol: &Protocol, stream: &Stream) -> f64 {
    reward_sample(program, prepared, protocol, stream, false, &Rewards::new()).reward
}

/// Cache of rewards under one protocol, keyed by the program's identity and its RNG stream.
pub type Rewards = Cache<(u128, Stream), RewardSample>;

/// The reward of a run, and other quantities measured on the way.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RewardSample {
    /// The reward.
    pub reward: f64,
    /// The final excess, or the tolerance if that was reached; NaN if the run failed.
    pub excess: f64,
    /// The effective condition number, if requested and defined for the task; otherwise 1.
    pub condition: f64,
    /// Iterations to the tolerance, if the profile rewards that.
    pub reached: Option<usize>,
}

impl RewardSample {
    /// The value of a failed run.
    const NOTHING: RewardSample =
        RewardSample { reward: 0.0, excess: f64::NAN, condition: f64::NAN, reached: None };
}

impl Bytes for RewardSample {
    fn bytes(&self) -> usize {
        // Key and position in the eviction order included.
        144
    }
}

/// The reward of a program, with its condition number if requested. Programs that differ only in register names share
/// one cache entry.
pub fn reward_sample(
    program: &Program,
    prepared: &PreparedInstance,
    protocol: &Protocol,
    stream: &Stream,
    conditioned: bool,
    rewards: &Rewards,
) -> RewardSample {
    let live = Canonical::new(program, protocol.live_out);
    let judge = Judge { live: &live, shape: prepared.shape(), problem: &prepared.problem(), protocol };
    let settings: Vec<RunSettings> =
        protocol.step.candidates().iter().map(|&step| judge.settings(step)).collect();
    let Ok(plan) = Plan::new(live.program(), judge.shape, &settings[0]) else { return RewardSample::NOTHING };
    rewards.find((plan.identity(), *stream), || {
        measured(&judge, &plan, prepared, &settings, stream, conditioned)
    })
}

/// The reward of a planned program with the best of several step sizes.
fn measured(
    judge: &Judge,
    plan: &Plan,
    prepared: &PreparedInstance,
    settings: &[RunSettings],
    stream: &Stream,
    conditioned: bool,
) -> RewardSample {
    let coordinates = prepared.coordinates(plan, &settings[0]);
    let data = coordinates.data();
    let begin = |settings| Runner::begin(plan, data, settings, stream, Measuring::ALL);
    if plan.reads_step(Section::Setup) {
        let runs = settings.iter().filter_map(|settings| begin(settings).ok());
        return best_of(judge, runs, false, conditioned);
    }
    match begin(&settings[0]) {
        Ok(start) => {
            best_of(judge, settings.iter().map(|other| start.with_step(other.step)), true, conditioned)
        }
        Err(_) => RewardSample::NOTHING,
    }
}

/// The reward of the best of these runs, one per step size; `one_setup` if they share their setup.
fn best_of<'a>(
    judge: &Judge,
    runs: impl Iterator<Item = Runner<'a>>,
    one_setup: bool,
    conditioned: bool,
) -> RewardSample {
    if let Profile::Tolerance { epsilon, .. } = judge.protocol.profile {
        let excesses = runs.map(|run| run.measuring(Measuring::Every { losses: false }));
        let reached = fewest(excesses.collect(), epsilon, judge.protocol.iterations);
        let reward = judge.reward(&Terms::default(), reached);
        let excess = if reached.is_some() { epsilon } else { f64::NAN };
        return RewardSample { reward, excess, condition: 1.0, reached };
    }
    let wanted = judge.protocol.profile.counting();
    let ends = !wanted.need(Need::Iterates) && judge.problem.task.looks_at_ends();
    let losses = matches!(judge.protocol.profile, Profile::Paper { .. }) || wanted.need(Need::Losses);
    let measuring = if ends { Measuring::Ends { losses } } else { Measuring::Every { losses } };
    let mut finished = runs.filter_map(|run| run.measuring(measuring).finish().ok());
    let best = if judge.protocol.profile.condition_only() && one_setup {
        // Setup alone determines the reward, but the run must not fail.
        finished.next()
    } else {
        // Ties go to the first step size tried.
        let better = |best: Trace, next: Trace| {
            if judge.standing(&next) < judge.standing(&best) { next } else { best }
        };
        finished.reduce(better)
    };
    best.map_or(RewardSample::NOTHING, |trace| {
        let reward = judge.reward(&judge.terms(&trace, &wanted), None);
        let excess = *trace.excesses.last().expect("a history holds at least the start");
        let condition = if conditioned { judge.condition(&trace) } else { 1.0 };
        RewardSample { reward, excess, condition, reached: None }
    })
}

/// The smallest number of iterations to the tolerance, among the runs that do not fail up to `iterations`.
///
/// A run is only continued while it can still be the best. The first one to reach the tolerance is continued to the
/// end, because it scores nothing if it fails later; if it does fail, the others are continued.
fn fewest(mut runs: Vec<Runner>, epsilon: f64, iterations: usize) -> Option<usize> {
    loop {
        let mut best: Option<usize> = None;
        runs.retain_mut(|run| match best {
            Some(0) => true,
            _ => match reach(run, epsilon, best.map_or(iterations, |best| best - 1)) {
                Ok(reached) => {
                    best = reached.or(best);
                    true
                }
                Err(_) => false,
            },
        });
        let first = runs.iter().position(|run| reached(run, epsilon) == best);
        let run = runs.swap_remove(first.filter(|_| best.is_some())?);
        if run.finish().is_ok() {
            return best;
        }
    }
}

/// The number of iterations made, if the current iterate meets the tolerance.
fn reached(run: &Runner, epsilon: f64) -> Option<usize> {
    let last = run.excesses().last()?;
    (*last <= epsilon).then_some(run.iterations())
}

/// Continues a run until the tolerance, for at most `limit` iterations in all.
fn reach(run: &mut Runner, epsilon: f64, limit: usize) -> Result<Option<usize>, RunFailure> {
    while reached(run, epsilon).is_none() && run.iterations() < limit {
        run.advance()?;
    }
    Ok(reached(run, epsilon).filter(|&t| t <= limit))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::Family;
    use crate::reward::{SOUND_GRID, StepRule, score};

    #[test]
    fn programs_share_rewards_only_where_they_are_the_same_but_for_names() {
        let family = Family { rows: 60, cols: 4, condition: Some(3.0), ..Family::named("mid-cond").unwrap() };
        let prepared = PreparedInstance::draw(&family, &Stream::new(1)).unwrap();
        let protocol = Protocol::new(Profile::sound(), StepRule::Fixed(0.5));
        let (rewards, stream) = (Rewards::new(), Stream::new(2));
        let gradient = |setup: &str, first: &str| {
            format!(
                "setup:\n{setup} R1 = HHQR(A)\niteration:\n{first} v1 = MAT_VEC_MUL(A, x)\n v1 = VEC_MAT_MUL(v1, A)\n v1 = VEC_VEC_SUB(v1, v2)\n"
            )
        };
        let right = " v2 = VEC_MAT_MUL(b, A)\n";
        let still = |setup: &str, iteration: &str| {
            format!(
                "setup:\n{setup}iteration:\n{iteration} v1 = VEC_MAT_MUL(v2, A)\n v3 = VEC_MAT_MUL(b, A)\n v1 = VEC_VEC_SUB(v1, v3)\n"
            )
        };
        let product = " v2 = MAT_VEC_MUL(A, x)\n";
        let sampled = |p: &str| {
            format!(
                "setup:\n{p} v1 = VEC_MAT_MUL(b, A)\niteration:\n A, b = SUBSAMPLING(p1)\n v1 = MAT_VEC_MUL(A, x)\n v1 = VEC_VEC_SUB(v1, b)\n v1 = VEC_MAT_MUL(v1, A)\n"
            )
        };
        let all = [
            gradient(right, ""),
            gradient("", right),
            still(product, ""),
            still("", product),
            sampled(""),
            sampled(" p1 = LEVERAGE_SCORE(A)\n"),
        ];
        for text in all.iter().chain(all.iter().rev()) {
            let program: Program = text.parse().unwrap();
            let alone = reward(&program, &prepared, &protocol, &stream);
            assert_eq!(
                reward_sample(&program, &prepared, &protocol, &stream, false, &rewards).reward,
                alone,
                "{text}"
            );
        }
        let identity = |text: &str| {
            let program: Program = text.parse().unwrap();
            Plan::new(&program, prepared.shape(), &protocol.settings(60, 4, 0.5)).unwrap().identity()
        };
        let renamed = |text: &str| text.replace("v2", "v3").replace("R1 = HHQR(A)\n", "R2 = HHQR(A)\n");
        let plain = gradient(right, "").replace("R1 = HHQR(A)\n", "");
        assert_eq!(identity(&plain), identity(&renamed(&plain)));
        assert_ne!(identity(&all[0]), identity(&renamed(&all[0])), "R1 is looked at");
        assert_ne!(identity(&all[0]), identity(&all[1]));
        assert_ne!(identity(&all[2]), identity(&all[3]));
    }

    #[test]
    fn a_setup_that_reads_the_step_is_run_for_every_step() {
        let family = Family { rows: 60, cols: 4, condition: Some(3.0), ..Family::named("mid-cond").unwrap() };
        let prepared = PreparedInstance::draw(&family, &Stream::new(1)).unwrap();
        let program: Program = "setup:\n v2 = VEC_MAT_MUL(b, A)\n v2 = SCALAR_VEC_MUL(eta, v2)\niteration:\n v1 = MAT_VEC_MUL(A, x)\n v1 = VEC_MAT_MUL(v1, A)\n v1 = VEC_VEC_SUB(v1, v2)\n".parse().unwrap();
        let weights = crate::reward::Weights::new(1.0, 1.0, 1.0, 0.0);
        let profile = Profile::Sound { weights, condition_only: false };
        let protocol = Protocol::new(profile, StepRule::Best(SOUND_GRID.to_vec()));
        let full = score(&program, &prepared.instance(), &protocol, &Stream::new(2));
        let fast = reward(&program, &prepared, &protocol, &Stream::new(2));
        assert!(full.reward > 0.1 && (full.reward - fast).abs() < 1e-9, "{fast}, not {}", full.reward);
        // Its fixed point is η·x*, so only η = 1 converges to the solution.
        assert_eq!(full.step, 1.0);
    }
}

//! Fast computation of the reward alone, for searches that try thousands of programs per second.

use super::judge::Judge;
use super::profile::Profile;
use super::score::Protocol;
use super::term::{Need, TermIndex};
use super::weights::Terms;
use crate::cache::{Bytes, Cache};
use crate::execute::{Given, Measuring, Plan, PreparedInstance, RunFailure, RunSettings, Runner, Trace};
use crate::program::{Canonical, Program, Section};
use crate::rng::Stream;
use std::sync::Arc;

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
    reward_sample(program, prepared, protocol, stream, false, &SharedRuns::new()).reward
}

/// Cache of runs under one protocol, keyed by the program's identity and its RNG stream.
pub type SharedRuns = Cache<(u128, Stream), RunOutcome>;

/// What the run of a program with its best step size shows. Programs with the same identity share it, whatever their
/// costs.
#[derive(Clone)]
pub enum RunOutcome {
    /// It failed with every step size.
    Failed,
    /// The iterations to the tolerance, if the profile rewards that and it was reached.
    Reached(Option<usize>),
    /// It ended.
    Ended(Arc<Ended>),
}

/// A run that ended.
pub struct Ended {
    /// Without its preconditioner and x, unless a registered term may need them.
    trace: Trace,
    /// The condition term, if it counts; otherwise 0.
    cond: f64,
    /// The effective condition number, if requested and defined for the task; otherwise 1.
    condition: f64,
}

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

impl Bytes for RunOutcome {
    fn bytes(&self) -> usize {
        // Key and position in the eviction order included.
        const EACH: usize = 144;
        match self {
            RunOutcome::Failed | RunOutcome::Reached(_) => EACH,
            RunOutcome::Ended(ended) => EACH + ended.trace.bytes(),
        }
    }
}

/// The reward of a program, with its condition number if requested.
pub fn reward_sample(
    program: &Program,
    prepared: &PreparedInstance,
    protocol: &Protocol,
    stream: &Stream,
    conditioned: bool,
    runs: &SharedRuns,
) -> RewardSample {
    let live = Canonical::new(program, protocol.live_out);
    let judge = Judge { live: &live, shape: prepared.shape(), problem: &prepared.problem(), protocol };
    let settings: Vec<RunSettings> =
        protocol.step.candidates().iter().map(|&step| judge.settings(step)).collect();
    let Ok(plan) = Plan::new(live.program(), judge.shape, &settings[0]) else { return RewardSample::NOTHING };
    let given = Given {
        zero_start: judge.problem.start.iter().all(|&x| x == 0.0),
        unit_step: settings.iter().all(|settings| settings.step == 1.0),
    };
    // A registered term may look at anything in a trace, even at what equal runs differ in: the passes over A.
    let alone = protocol.profile.counting().has_registered();
    let identity = if alone { live.id() } else { plan.identity(given) };
    let run = || outcome(&judge, &plan, prepared, &settings, stream, conditioned);
    judged(&judge, &runs.find((identity, *stream), run))
}

/// The reward of a program for its run.
fn judged(judge: &Judge, outcome: &RunOutcome) -> RewardSample {
    match outcome {
        RunOutcome::Failed => RewardSample::NOTHING,
        &RunOutcome::Reached(reached) => {
            let excess = match (&judge.protocol.profile, reached) {
                (&Profile::Tolerance { epsilon, .. }, Some(_)) => epsilon,
                _ => f64::NAN,
            };
            let reward = judge.reward(&Terms::default(), reached);
            RewardSample { reward, excess, condition: 1.0, reached }
        }
        RunOutcome::Ended(ended) => {
            let wanted = judge.protocol.profile.counting().without(TermIndex::COND);
            let mut terms = judge.terms(&ended.trace, &wanted);
            terms[TermIndex::COND] = ended.cond;
            let excess = *ended.trace.excesses.last().expect("a history holds at least the start");
            let reward = judge.reward(&terms, None);
            RewardSample { reward, excess, condition: ended.condition, reached: None }
        }
    }
}

/// The run of a planned program with the best of several step sizes.
fn outcome(
    judge: &Judge,
    plan: &Plan,
    prepared: &PreparedInstance,
    settings: &[RunSettings],
    stream: &Stream,
    conditioned: bool,
) -> RunOutcome {
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
        Err(_) => RunOutcome::Failed,
    }
}

/// The best of these runs, one per step size; `one_setup` if they share their setup.
fn best_of<'a>(
    judge: &Judge,
    runs: impl Iterator<Item = Runner<'a>>,
    one_setup: bool,
    conditioned: bool,
) -> RunOutcome {
    if let Profile::Tolerance { epsilon, .. } = judge.protocol.profile {
        let excesses = runs.map(|run| run.measuring(Measuring::Every { losses: false }));
        return RunOutcome::Reached(fewest(excesses.collect(), epsilon, judge.protocol.iterations));
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
    best.map_or(RunOutcome::Failed, |mut trace| {
        let cond = judge.terms(&trace, &wanted.and(TermIndex::COND))[TermIndex::COND];
        let condition = if conditioned { judge.condition(&trace) } else { 1.0 };
        if !wanted.has_registered() {
            (trace.preconditioner, trace.x) = (None, vec![]);
        }
        RunOutcome::Ended(Arc::new(Ended { trace, cond, condition }))
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
    use std::collections::BTreeSet;

    #[test]
    fn programs_share_rewards_only_where_they_are_the_same_but_for_names() {
        let family = Family { rows: 60, cols: 4, condition: Some(3.0), ..Family::named("mid-cond").unwrap() };
        let prepared = PreparedInstance::draw(&family, &Stream::new(1)).unwrap();
        let protocol = Protocol::new(Profile::sound(), StepRule::Fixed(0.5));
        let (runs, stream) = (SharedRuns::new(), Stream::new(2));
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
                reward_sample(&program, &prepared, &protocol, &stream, false, &runs).reward,
                alone,
                "{text}"
            );
        }
    }

    /// Instructions that are added to gradient descent at random; many of them change nothing.
    const LINES: [&str; 22] = [
        "v1 = MAT_VEC_MUL(A, x)",
        "v1 = VEC_VEC_SUB(v1, b)",
        "v1 = VEC_VEC_SUB(b, v1)",
        "v1 = VEC_VEC_ADD(v1, b)",
        "v1 = VEC_VEC_ADD(b, v1)",
        "v1 = SCALAR_VEC_MUL(eta, v1)",
        "v1 = VEC_MAT_MUL(v1, A)",
        "v2 = SCALAR_VEC_MUL(eta, b)",
        "v2 = VEC_VEC_SUB(v1, v1)",
        "v1 = VEC_VEC_SUB(v1, v2)",
        "v1 = VEC_VEC_SUB(v2, v1)",
        "v1 = VEC_VEC_SUB(v1, x)",
        "v1 = VEC_VEC_ADD(x, v1)",
        "A, b = SUBSAMPLING(p1)",
        "m1 = VEC_VEC_ADD(m1, v1)",
        "m1 = VEC_VEC_SUB(v1, m1)",
        "v1 = VEC_VEC_ADD(v1, m1)",
        "a1 = VEC_VEC_DOT(v1, v1)",
        "a1 = SCALAR_DIV(eta, a1)",
        "v1 = SCALAR_VEC_MUL(a1, v1)",
        "R1 = MAT_TRANS_MAT_MUL(A, A)",
        "v1 = MAT_VEC_MUL(R1, v1)",
    ];

    /// Gradient descent, without a line of it where `i` is odd, and with up to four random ones.
    fn random_program(i: u64) -> Result<Program, crate::program::ParseError> {
        let mut lines = vec!["v1 = MAT_VEC_MUL(A, x)", "v1 = VEC_VEC_SUB(v1, b)", "v1 = VEC_MAT_MUL(v1, A)"];
        if i % 2 == 1 {
            lines.remove(1);
        }
        let draws = Stream::new(i).uniforms(8);
        for draw in draws.chunks(2).take(i as usize % 5) {
            let at = |u: f64, count: usize| (u * count as f64) as usize;
            lines.insert(at(draw[0], lines.len() + 1), LINES[at(draw[1], LINES.len())]);
        }
        format!("setup:\niteration:\n {}\n", lines.join("\n ")).parse()
    }

    #[test]
    fn programs_that_share_a_run_have_the_rewards_they_have_alone() {
        let family = Family { rows: 30, cols: 3, condition: Some(3.0), ..Family::named("mid-cond").unwrap() };
        let prepared = PreparedInstance::draw(&family, &Stream::new(1)).unwrap();
        let stream = Stream::new(2);
        for step in [StepRule::Fixed(1.0), StepRule::Fixed(0.5), StepRule::Best(SOUND_GRID.to_vec())] {
            let mut protocol = Protocol::new(Profile::sound(), step);
            (protocol.iterations, protocol.batch) = (4, 5);
            let settings = protocol.settings(30, 3, protocol.step.candidates()[0]);
            let (runs, mut tried) = (SharedRuns::new(), BTreeSet::new());
            let unit_step = protocol.step.candidates() == [1.0];
            let mut identities = BTreeSet::new();
            for i in 0..30_000 {
                let Ok(program) = random_program(i) else { continue };
                let live = Canonical::new(&program, protocol.live_out).program().clone();
                let Ok(plan) = Plan::new(&live, prepared.shape(), &settings) else { continue };
                if tried.insert(live.to_string()) {
                    identities.insert(plan.identity(Given { zero_start: true, unit_step }));
                    let shared = reward_sample(&program, &prepared, &protocol, &stream, true, &runs);
                    let alone =
                        reward_sample(&program, &prepared, &protocol, &stream, true, &SharedRuns::new());
                    assert_eq!(format!("{shared:?}"), format!("{alone:?}"), "{live}");
                }
            }
            assert!(tried.len() > 300, "{}", tried.len());
            assert!(4 * identities.len() < 3 * tried.len(), "{} of {}", identities.len(), tried.len());
        }
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

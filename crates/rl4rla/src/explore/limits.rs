//! Limits: one difficulty at a time is pushed away from what was asked for, until a program no longer reaches the
//! tolerance.

use super::hall::TunedProgram;
use super::log::ResultLog;
use super::problem_set::{CandidateRun, ProblemSet, RunEnding};
use super::race::FACTORS;
use super::spec::ExploreSpec;
use crate::problem::{Choice, Family, Leverage};
use crate::rng::Stream;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Instances of every value of a condition number.
const INSTANCES: usize = 3;

/// The largest condition number that is tried.
const MOST_CONDITION: f64 = 1e15;

/// Weights of the part of b outside the range of A that are tried, towards either end.
const LESS_OUTSIDE: [f64; 3] = [0.1, 0.01, 0.0];
const MORE_OUTSIDE: [f64; 3] = [0.9, 0.99, 0.999];

/// Rows of a sketch that are tried, as multiples of n, besides those that race: with fewer than n there is no factor.
const SMALLEST_FACTORS: [f64; 2] = [1.2, 1.5];

/// What is made harder.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Difficulty {
    /// A larger condition number.
    Kappa,
    /// Less uniform leverage scores.
    Leverage,
    /// A smaller part of b outside the range of A.
    LessOutside,
    /// A larger part of b outside the range of A.
    MoreOutside,
    /// Fewer rows of the sketch, as a multiple of n.
    SketchFactor,
    /// A smaller tolerance.
    Tolerance,
}

impl Difficulty {
    /// All of them.
    pub const ALL: [Difficulty; 6] = [
        Difficulty::Kappa,
        Difficulty::Leverage,
        Difficulty::LessOutside,
        Difficulty::MoreOutside,
        Difficulty::SketchFactor,
        Difficulty::Tolerance,
    ];

    /// The option of the family that it needs.
    fn choice(self) -> Option<Choice> {
        match self {
            Difficulty::Kappa => Some(Choice::Condition),
            Difficulty::Leverage => Some(Choice::Leverage),
            Difficulty::LessOutside | Difficulty::MoreOutside => Some(Choice::Outside),
            Difficulty::SketchFactor | Difficulty::Tolerance => None,
        }
    }
}

/// How hard something is.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum DifficultyValue {
    /// A number.
    Number(f64),
    /// A kind of leverage.
    Leverage(Leverage),
}

/// Where a program stops working as one difficulty grows.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct ProgramLimit {
    /// What is made harder.
    pub what: Difficulty,
    /// The last value at which every run reached the tolerance, or ten times the error of QR.
    pub works: Option<DifficultyValue>,
    /// The first value at which a run did not; `None` if there was none among those tried.
    pub fails: Option<DifficultyValue>,
    /// How that run ended.
    pub how: Option<RunEnding>,
    /// The smallest excess of that run, if it has one.
    pub excess: Option<f64>,
}

/// The limits of programs, on instances of their own in reduced coordinates.
pub fn limits(
    spec: &ExploreSpec,
    programs: &[TunedProgram],
    stream: &Stream,
    log: &dyn ResultLog,
) -> Vec<Vec<ProgramLimit>> {
    let mut all = vec![vec![]; programs.len()];
    let options = spec.family.kind.info().options;
    for (i, what) in Difficulty::ALL.into_iter().enumerate() {
        if what.choice().is_none_or(|choice| options.contains(&choice)) {
            let stream = stream.derive("difficulty", i as u64);
            for (found, limit) in all.iter_mut().zip(pushed(spec, what, programs, (&stream, log))) {
                found.extend(limit);
            }
        }
    }
    all
}

/// The limits of programs as one difficulty grows; `None` for those that it does not concern.
fn pushed(
    spec: &ExploreSpec,
    what: Difficulty,
    programs: &[TunedProgram],
    (stream, log): (&Stream, &dyn ResultLog),
) -> Vec<Option<ProgramLimit>> {
    let new = ProgramLimit { what, works: None, fails: None, how: None, excess: None };
    let sketches = |subject: &TunedProgram| subject.program.instructions().any(|(_, _, it)| it.op.sketches());
    let concerns = |subject: &&TunedProgram| what != Difficulty::SketchFactor || sketches(subject);
    let mut found: Vec<Option<ProgramLimit>> =
        programs.iter().map(|subject| concerns(&subject).then_some(new)).collect();
    let mut last: Option<Vec<f64>> = None;
    for value in values(spec, what) {
        // Problems that a family does not have are no difficulty.
        let Some(problems) = drawn(spec, what, value, stream) else { break };
        let problems = problems.logged(log);
        // Below what rounding allows, a smaller tolerance changes nothing.
        let tolerances: Vec<f64> = (0..problems.len()).map(|i| problems.tolerance(i)).collect();
        if what == Difficulty::Tolerance && last.as_ref() == Some(&tolerances) {
            break;
        }
        last = Some(tolerances);
        found.par_iter_mut().zip(programs).for_each(|(limit, subject)| {
            let Some(limit) = limit.as_mut().filter(|limit| limit.fails.is_none()) else { return };
            let mut subject = subject.clone();
            if let (Difficulty::SketchFactor, DifficultyValue::Number(factor)) = (what, value) {
                if factor > subject.tunables.sketch_factor {
                    return;
                }
                subject.tunables.sketch_factor = factor;
            }
            match first_failure(&problems, &subject) {
                None => limit.works = Some(value),
                Some(run) => {
                    (limit.fails, limit.how) = (Some(value), Some(run.ending));
                    limit.excess = Some(run.excess).filter(|excess| excess.is_finite());
                }
            }
        });
    }
    // A difficulty of which no value could be tried says nothing.
    found
        .into_iter()
        .map(|limit| limit.filter(|limit| limit.works.is_some() || limit.fails.is_some()))
        .collect()
}

/// The values of a difficulty, from what was asked for on.
fn values(spec: &ExploreSpec, what: Difficulty) -> Vec<DifficultyValue> {
    let outside = spec.family.outside;
    let numbers: Vec<f64> = match what {
        Difficulty::Leverage => {
            let from = Leverage::ALL.iter().position(|leverage| *leverage == spec.family.leverage);
            let harder = Leverage::ALL.iter().skip(from.unwrap_or(0));
            return harder.map(|leverage| DifficultyValue::Leverage(*leverage)).collect();
        }
        Difficulty::Kappa => {
            let from = spec.conditions.iter().copied().fold(1.0, f64::max);
            // Powers of ten are written exactly.
            let powers = (0..=15).map(|k| 10f64.powi(k)).filter(|kappa| *kappa > from * 1.001);
            std::iter::once(from).chain(powers).take_while(|kappa| *kappa <= MOST_CONDITION).collect()
        }
        Difficulty::LessOutside => {
            std::iter::once(outside).chain(LESS_OUTSIDE.into_iter().filter(|less| *less < outside)).collect()
        }
        Difficulty::MoreOutside => {
            std::iter::once(outside).chain(MORE_OUTSIDE.into_iter().filter(|more| *more > outside)).collect()
        }
        Difficulty::SketchFactor => {
            let mut factors: Vec<f64> = SMALLEST_FACTORS.into_iter().chain(FACTORS).collect();
            factors.extend(spec.fixed_factor);
            factors.sort_by(|one, other| other.total_cmp(one));
            factors.dedup();
            factors
        }
        Difficulty::Tolerance => {
            let powers = (1..=16).rev().map(|k| 10f64.powi(-k)).rev();
            let smaller = powers.filter(|tolerance| *tolerance < spec.tolerance * 0.999);
            std::iter::once(spec.tolerance).chain(smaller).collect()
        }
    };
    numbers.into_iter().map(DifficultyValue::Number).collect()
}

/// Instances as asked for but for this difficulty; `None` if the family has none, or none with a solution was drawn.
fn drawn(
    spec: &ExploreSpec,
    what: Difficulty,
    value: DifficultyValue,
    stream: &Stream,
) -> Option<ProblemSet<'static>> {
    let mut harder = spec.clone();
    match (what, value) {
        (Difficulty::Kappa, DifficultyValue::Number(kappa)) => harder.conditions = vec![kappa],
        (Difficulty::LessOutside | Difficulty::MoreOutside, DifficultyValue::Number(outside)) => {
            harder.family.outside = outside;
        }
        (Difficulty::Tolerance, DifficultyValue::Number(tolerance)) => harder.tolerance = tolerance,
        (_, DifficultyValue::Leverage(leverage)) => harder.family.leverage = leverage,
        (Difficulty::SketchFactor | Difficulty::Leverage, DifficultyValue::Number(_)) => {}
    }
    let condition = harder.conditions.first().copied();
    if (Family { condition, ..harder.family_of(harder.search_cols) }).check().is_err() {
        return None;
    }
    let count = if what == Difficulty::Kappa { INSTANCES } else { 1 };
    ProblemSet::draw(&harder, harder.search_cols, count, stream).ok()
}

/// The first run that does not reach the tolerance.
fn first_failure(problems: &ProblemSet, subject: &TunedProgram) -> Option<CandidateRun> {
    let problems = problems.tuned(&subject.tunables);
    let mut runs = (0..problems.len()).map(|i| problems.run(&subject.program, i));
    runs.find(|run| run.reached.is_none())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::execute::{RunSettings, SketchKind};
    use crate::explore::{NoLog, Tunables};
    use crate::program::{Entry, Program};

    fn spec() -> ExploreSpec {
        let spec = ExploreSpec::least_squares();
        ExploreSpec { conditions: vec![1e3], search_cols: 20, ..spec }
    }

    fn limit_of(program: &Program, tunables: Tunables, what: Difficulty) -> ProgramLimit {
        let subject = TunedProgram { program: program.clone(), tunables };
        pushed(&spec(), what, &[subject], (&Stream::new(5), &NoLog))[0].unwrap()
    }

    const EXACT: Tunables = Tunables {
        step: 1.0,
        mu: 0.0,
        sketch: SketchKind::Sjlt,
        sketch_factor: 8.0,
        batch: 1.0,
        every: RunSettings::EVERY,
    };

    fn number(value: Option<DifficultyValue>) -> f64 {
        match value {
            Some(DifficultyValue::Number(number)) => number,
            other => panic!("{other:?} is no number"),
        }
    }

    /// With the inverse of AᵀA as preconditioner an iteration refines the solution, as long as κ² is below 1/u.
    #[test]
    fn the_normal_equations_end_where_the_square_of_kappa_does() {
        let text = "setup:\n R1 = MAT_TRANS_MAT_MUL(A, A)\n R1 = MAT_INV(R1)\niteration:\n v1 = MAT_VEC_MUL(A, x)\n \
                    v1 = VEC_VEC_SUB(v1, b)\n v1 = VEC_MAT_MUL(v1, A)\n v1 = MAT_VEC_MUL(R1, v1)\n";
        let limit = limit_of(&text.parse().unwrap(), EXACT, Difficulty::Kappa);
        assert!((1e6..1e9).contains(&number(limit.works)), "{limit:?}");
        assert!((1e7..=1e9).contains(&number(limit.fails)), "{limit:?}");
        assert_ne!(limit.how, Some(RunEnding::Reached));
    }

    /// The same with the factor of QR, which is not squared.
    #[test]
    fn qr_does_not_end_before_rounding_does() {
        let text = "setup:\n R1 = HHQR(A)\niteration:\n v1 = MAT_VEC_MUL(A, x)\n v1 = VEC_VEC_SUB(v1, b)\n \
                    v1 = VEC_MAT_MUL(v1, A)\n v1 = TRIANGULAR_SOLVE(v1, R1)\n v1 = TRIANGULAR_SOLVE(R1, v1)\n";
        let limit = limit_of(&text.parse().unwrap(), EXACT, Difficulty::Kappa);
        assert!(number(limit.works) >= 1e10, "{limit:?}");
    }

    /// The eigenvalues of the preconditioned matrix reach (1 − √(n/s))⁻², and a step size of 0.8 allows 2.5.
    #[test]
    fn a_small_sketch_makes_fixed_steps_diverge() {
        let program = &Entry::named("sketched-precond-gd-factored").unwrap().document.program;
        let tunables = Tunables { step: 0.8, sketch_factor: 16.0, ..EXACT };
        let limit = limit_of(program, tunables, Difficulty::SketchFactor);
        assert!((6.0..=16.0).contains(&number(limit.works)), "{limit:?}");
        assert!(number(limit.fails) <= 8.0, "{limit:?}");
        let tiny = Tunables { sketch_factor: 1.5, ..tunables };
        let tiny = limit_of(program, tiny, Difficulty::SketchFactor);
        assert_eq!((tiny.works, number(tiny.fails)), (None, 1.5));
        assert_eq!(tiny.how, Some(RunEnding::Diverged), "{tiny:?}");
    }

    #[test]
    fn a_difficulty_that_does_not_concern_a_program_is_left_out() {
        let program = Entry::named("cgls").unwrap().document.program.clone();
        let subject = TunedProgram { program, tunables: EXACT };
        let found = limits(&spec(), &[subject], &Stream::new(1), &NoLog);
        let what: Vec<Difficulty> = found[0].iter().map(|limit| limit.what).collect();
        assert!(
            !what.contains(&Difficulty::SketchFactor) && what.contains(&Difficulty::Tolerance),
            "{what:?}"
        );
        // 1e3 is 1e3 still, and the next is too slow for it.
        assert_eq!(found[0][0].how, Some(RunEnding::Slow), "{:?}", found[0]);
    }
}

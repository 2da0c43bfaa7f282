//! Least squares without a program: looks at the data, picks a program with its tunables, and falls back to a more
//! stable one if the certificate does not hold.

use super::candidate::{SolveCandidate, SolveScheme};
use super::error::SolveError;
use super::examination::Examination;
use super::options::SolveOptions;
use super::problem::Problem;
use super::solution::Solution;
use super::solver::{by_own_factor, carefully};
use super::speeds::Speeds;
use super::unfactored::unfactored;

/// A backward error like that of a Householder factorisation.
pub const BACKWARD_STABLE: f64 = 0.5 * f64::EPSILON;

/// The largest backward error that is accepted if rounding hides further progress.
pub(super) const ACCEPTED: f64 = 8.0 * f64::EPSILON;

/// A solution, and how it was found.
#[must_use]
#[derive(Clone, PartialEq, Debug)]
pub struct Chosen {
    /// The solution, with its certificate.
    pub solution: Solution,
    /// The program that found it.
    pub candidate: SolveCandidate,
    /// Programs that were tried before, and why they did not do.
    pub tried: Vec<(&'static str, String)>,
    /// What was known of the data.
    pub examination: Examination,
    /// The data as they were given; `None` if their columns had to be scaled in place.
    pub problem: Option<Problem>,
}

impl Chosen {
    /// Why this program, in one line.
    pub fn reason(&self) -> String {
        let tried = self.tried.iter().map(|(program, why)| format!("; {program}: {why}"));
        format!("{}: {}{}", self.candidate.program, self.candidate.reason, tried.collect::<String>())
    }
}

/// Solves least squares with the program that should be the fastest of those that should converge, by
/// [`Examination`] and [`Speeds`]; with another one if the certificate does not hold. Unless
/// [`SolveOptions::backward_error`] or another tolerance says otherwise, x is as accurate as that of a Householder
/// factorisation. The result depends on the speeds only through the choice.
///
/// ```
/// use rl4rla::{rng::Stream, solve::{Problem, SolveOptions, Speeds, auto}};
/// let (m, n) = (5000, 8);
/// let (a, b) = (Stream::new(1).normals(m * n), Stream::new(2).normals(m));
/// let problem = Problem::from_rows(m, n, a, b).unwrap();
/// let chosen = auto(problem, &SolveOptions::default(), Speeds::USUAL).unwrap();
/// assert_eq!(chosen.candidate.program, "gram-refinement");
/// let certificate = chosen.solution.certificate.unwrap();
/// assert!(certificate.backward_error < 1e-15 && certificate.rank == n);
/// let x: Vec<f64> = chosen.solution.into_x().unwrap();
/// ```
pub fn auto(problem: Problem, options: &SolveOptions, speeds: Speeds) -> Result<Chosen, SolveError> {
    problem.admits(options)?;
    let options = &wanted(options);
    let examination = Examination::of(&problem, options.seed);
    let mut candidates = SolveCandidate::all(&examination, speeds, options);
    if let Some(candidate) = candidates.pop_if(|candidate| candidate.scheme == SolveScheme::Unfactored) {
        let solution = unfactored(candidate.document(), problem, &candidate.options)?;
        return Ok(Chosen { solution, candidate, tried: vec![], examination, problem: None });
    }
    let last = candidates.iter().position(|candidate| candidate.program == "qr-refinement");
    // Nothing is more stable than the last resort, so nothing is tried after it.
    candidates.truncate(last.map_or(candidates.len(), |at| at + 1));
    let (mut problem, mut tried) = (problem, Vec::new());
    let resort = candidates.last().cloned().expect("a Householder factorisation is always a candidate");
    for candidate in candidates.into_iter().filter(|candidate| candidate.fit) {
        let (again, solution) = attempt(&candidate, problem);
        problem = again;
        let why = match solution {
            Ok(solution) if is_accurate(&solution, options) => {
                return Ok(Chosen { solution, candidate, tried, examination, problem: Some(problem) });
            }
            Ok(solution) => {
                format!(
                    "stopped at a backward error of {:.0e}",
                    solution.backward_error().unwrap_or(f64::NAN)
                )
            }
            Err(why) => why,
        };
        tried.push((candidate.program, why));
    }
    let solution = carefully(resort.document(), problem, &resort.options)?;
    let reason = "the columns are dependent, or nearly so: the rank is decided first".into();
    tried.retain(|(program, _)| *program != resort.program);
    let candidate = SolveCandidate { reason, ..resort };
    Ok(Chosen { solution, candidate, tried, examination, problem: None })
}

/// The options with the accuracy of a direct method, unless another one is asked for.
pub(super) fn wanted(options: &SolveOptions) -> SolveOptions {
    let default = options.tolerance == SolveOptions::default().tolerance;
    let goal = default.then_some(BACKWARD_STABLE);
    SolveOptions { backward_error: options.backward_error.or(goal), ..options.clone() }
}

/// Whether the certificate holds, up to rounding.
fn is_accurate(solution: &Solution, options: &SolveOptions) -> bool {
    let limit = options.backward_error.map_or(f64::INFINITY, |goal| goal.max(ACCEPTED));
    solution.is_converged() && solution.backward_error().is_some_and(|error| error <= limit)
}

/// Runs one candidate on a problem, and returns the problem with the result: a solution that has converged, or why
/// there is none.
pub fn attempt(candidate: &SolveCandidate, problem: Problem) -> (Problem, Result<Solution, String>) {
    let (program, options) = (candidate.document(), &candidate.options);
    let (problem, solution) = match candidate.scheme {
        SolveScheme::Unfactored => {
            let solution = unfactored(program, problem.clone(), options);
            (problem, solution.map(Some))
        }
        SolveScheme::Refinement | SolveScheme::Momentum => by_own_factor(program, problem, options),
    };
    let solution = match solution {
        Ok(Some(solution)) if solution.is_converged() => Ok(solution),
        Ok(Some(solution)) => Err(solution.ended.words().to_string()),
        Ok(None) => Err("its factor leaves the rank in doubt".to_string()),
        Err(error) => Err(error.to_string()),
    };
    (problem, solution)
}

/// The candidates for a problem, as [`auto`] ranks them.
pub fn candidates(problem: &Problem, options: &SolveOptions, speeds: Speeds) -> Vec<SolveCandidate> {
    ranked(problem, &wanted(options), speeds)
}

/// The same with options that say how accurate x has to be.
pub(super) fn ranked(problem: &Problem, options: &SolveOptions, speeds: Speeds) -> Vec<SolveCandidate> {
    SolveCandidate::all(&Examination::of(problem, options.seed), speeds, options)
}

#[cfg(test)]
mod tests;

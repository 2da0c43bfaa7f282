//! The hall of fame: the best programs, measured on instances that the search has not seen.

use super::problem_set::{CandidateRun, ProblemSet};
use super::race::Tunables;
use crate::program::{Program, ProgramFlops};
use crate::statistics::Summary;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// A program with its tunables.
#[derive(Clone, PartialEq, Debug)]
pub struct TunedProgram {
    /// The program.
    pub program: Program,
    /// Its tunables.
    pub tunables: Tunables,
}

/// What a program did on instances that the search has not seen.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct HeldOut {
    /// Number of runs that reached the tolerance.
    pub reached: usize,
    /// Number of runs.
    pub runs: usize,
    /// The mean reward, 0 for a run that did not reach the tolerance.
    pub reward: f64,
    /// The standard error of that mean.
    pub reward_error: f64,
    /// The mean number of iterations of the runs that reached the tolerance.
    pub iterations: Option<f64>,
    /// The smallest and the largest of these.
    pub iterations_range: Option<[usize; 2]>,
    /// The mean number of passes over A of the runs that reached the tolerance.
    pub passes: Option<f64>,
    /// The mean flops of these, at the size that work is charged for.
    pub flops: Option<f64>,
}

/// On which matrices a program runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Matrices {
    /// The original ones.
    True,
    /// Those of reduced coordinates.
    Reduced,
}

/// The runs of a program on every instance of a set.
pub fn trials(problems: &ProblemSet, entry: &TunedProgram, matrices: Matrices) -> Vec<CandidateRun> {
    let problems = problems.tuned(&entry.tunables);
    let run = |i: usize| match matrices {
        Matrices::True => problems.run_true(&entry.program, i),
        Matrices::Reduced => problems.run(&entry.program, i),
    };
    (0..problems.len()).into_par_iter().map(run).collect()
}

/// Runs a program on every instance of a set.
pub fn measured(problems: &ProblemSet, entry: &TunedProgram, matrices: Matrices) -> HeldOut {
    summarized(problems, entry, &trials(problems, entry, matrices))
}

/// The summary of the runs of a program on every instance of a set.
pub fn summarized(problems: &ProblemSet, entry: &TunedProgram, trials: &[CandidateRun]) -> HeldOut {
    let problems = problems.tuned(&entry.tunables);
    let flops = problems.flops(&entry.program).unwrap_or(ProgramFlops::steady(f64::INFINITY, f64::INFINITY));
    let rewards = trials.iter().map(|trial| trial.reached.map_or(0.0, |_| problems.reward(*trial, flops)));
    HeldOut::of(trials, rewards, flops)
}

impl HeldOut {
    /// What runs with these rewards came to, given the flops of the program.
    pub(super) fn of(
        trials: &[CandidateRun],
        rewards: impl Iterator<Item = f64>,
        flops: ProgramFlops,
    ) -> HeldOut {
        let reached: Vec<(usize, usize)> =
            trials.iter().filter_map(|trial| Some((trial.reached?, trial.passes))).collect();
        let rewards = Summary::of(rewards);
        let mean = |of: &dyn Fn(&(usize, usize)) -> f64| {
            (!reached.is_empty()).then(|| Summary::of(reached.iter().map(of)).mean)
        };
        let range = || Some([reached.iter().map(|r| r.0).min()?, reached.iter().map(|r| r.0).max()?]);
        HeldOut {
            reached: reached.len(),
            runs: trials.len(),
            reward: rewards.mean,
            reward_error: rewards.error,
            iterations: mean(&|(iterations, _)| *iterations as f64),
            iterations_range: range(),
            passes: mean(&|(_, passes)| *passes as f64),
            flops: mean(&|(iterations, _)| flops.after(*iterations as f64)),
        }
    }
}

/// Rewards that differ by less are as good as equal.
pub(super) const TIE: f64 = 0.003;

/// Sorts by reward, and among those that are as good as equal by length, given both.
pub fn by_reward<T>(mut left: Vec<T>, of: impl Fn(&T) -> (f64, usize)) -> Vec<T> {
    let mut ranked = Vec::with_capacity(left.len());
    while !left.is_empty() {
        let best = left.iter().map(|entry| of(entry).0).fold(f64::MIN, f64::max);
        let tied = (0..left.len()).filter(|&i| of(&left[i]).0 >= best - TIE);
        let chosen = tied.min_by(|&i, &j| {
            let ((one, length), (other, other_length)) = (of(&left[i]), of(&left[j]));
            length.cmp(&other_length).then(other.total_cmp(&one)).then(i.cmp(&j))
        });
        ranked.push(left.remove(chosen.expect("the best is as good as itself")));
    }
    ranked
}

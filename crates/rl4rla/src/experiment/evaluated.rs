//! Evaluation of a program on fresh instances.

use super::{ExperimentError, Monitor};
use crate::execute::Trace;
use crate::problem::{Family, FamilyError, Instance, InstanceSet};
use crate::program::Program;
use crate::reward::{Protocol, Score, draws, score};
use crate::statistics::{Summary, median};
use rayon::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering};

/// An instance of the final set; the condition numbers alternate.
pub fn draw(families: &[Family], index: u64, seed: u64) -> Result<Instance, FamilyError> {
    let set = InstanceSet::Final;
    families[index as usize % families.len()].for_set(set).draw(&set.stream(seed, index))
}

/// The result on one instance.
pub struct EvaluatedRun {
    /// The score with its trace.
    pub score: Score,
    /// The attainable residual.
    pub attainable: f64,
    /// The condition number of the instance.
    pub kappa: Option<f64>,
}

/// The runs of a program.
pub struct Evaluated {
    /// One per instance.
    pub runs: Vec<EvaluatedRun>,
}

impl Evaluated {
    /// Runs a program on this many instances; each is dropped once measured, since instances may be large.
    pub fn new(
        program: &Program,
        families: &[Family],
        protocol: &Protocol,
        instances: u64,
        seed: u64,
        monitor: &dyn Monitor,
    ) -> Result<Evaluated, ExperimentError> {
        let done = AtomicU64::new(0);
        let run = |index: u64| {
            let instance = draw(families, index, seed)?;
            let score = score(program, &instance, protocol, &draws(seed, index, 0));
            let count = 1 + done.fetch_add(1, Ordering::Relaxed);
            monitor.doing(&format!("evaluating · {count} of {instances} instances"));
            let spectrum = instance.spectrum();
            let kappa = spectrum.first().zip(spectrum.last()).map(|(most, least)| most / least);
            Ok(EvaluatedRun { score, attainable: instance.attainable(), kappa })
        };
        let runs = (0..instances).into_par_iter().map(run).collect::<Result<_, ExperimentError>>()?;
        Ok(Evaluated { runs })
    }

    /// The score of each run.
    pub fn scores(&self) -> impl Iterator<Item = &Score> {
        self.runs.iter().map(|run| &run.score)
    }

    /// The traces of runs that did not fail.
    pub fn traces(&self) -> impl Iterator<Item = &Trace> {
        self.scores().filter_map(|s| s.outcome.as_ref().ok())
    }

    /// The median attainable residual, over the instances on which the program ran.
    pub fn attainable(&self) -> f64 {
        let told = self.runs.iter().filter(|run| run.score.outcome.is_ok());
        median(told.map(|run| run.attainable).collect())
    }

    /// The reward, summarized over all instances.
    pub fn reward(&self) -> Summary {
        Summary::of(self.scores().map(|score| score.reward))
    }

    /// Number of failed runs.
    pub fn failures(&self) -> usize {
        self.scores().filter(|s| s.outcome.is_err()).count()
    }

    /// The mean of a component of the score.
    pub fn mean(&self, part: impl Fn(&Score) -> f64) -> f64 {
        Summary::of(self.scores().map(part)).mean
    }

    /// The mean work of the runs that did not fail, since a failed run is not cheap.
    pub fn work(&self, part: impl Fn(&Score) -> f64) -> Option<f64> {
        let done = self.scores().filter(|s| s.outcome.is_ok());
        Some(Summary::of(done.map(part)).mean).filter(|mean| !mean.is_nan())
    }

    /// The distinct step sizes used, in order.
    pub fn steps(&self) -> Vec<f64> {
        let mut used: Vec<f64> = self.scores().map(|s| s.step).collect();
        used.sort_by(f64::total_cmp);
        used.dedup();
        used
    }

    /// The median over the instances after every iteration.
    pub fn history(&self, pick: impl Fn(&Trace) -> &[f64]) -> Vec<f64> {
        let length = self.traces().next().map_or(0, |trace| trace.residuals.len());
        (0..length).map(|t| median(self.traces().map(|trace| pick(trace)[t]).collect())).collect()
    }
}

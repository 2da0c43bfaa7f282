//! The space of programs that a stage can reach, as a search sees it.

use super::bench::{Bench, Measured};
use super::front::Front;
use super::merge::Merge;
use super::stage::Stage;
use crate::clock::wait;
use crate::problem::Family;
use crate::program::Program;
use crate::reward::bound;
use crate::search::Solved;
use rayon::prelude::*;
use std::sync::{Mutex, PoisonError};

/// A stage, its starting program and the objects shared by all searches of it.
pub struct Space<'a> {
    /// The stage.
    pub stage: &'a Stage,
    /// The program it starts from.
    pub start: &'a Program,
    /// The merge key.
    pub merge: Merge,
    /// The instances that score candidates.
    pub bench: &'a Bench<'a>,
    /// The Pareto front that good programs are offered to, if one is wanted.
    pub front: Option<&'a Mutex<Front>>,
}

impl Space<'_> {
    /// Upper bound on the reward of a program here.
    pub(super) fn bound(&self, program: &Program) -> f64 {
        let families = &self.stage.families;
        // Families that differ only in their spectra have the same bound.
        let size = |family: &Family| (family.kind, family.rows, family.cols);
        let first = |i: usize| families[..i].iter().all(|other| size(other) != size(&families[i]));
        let bounds = (0..families.len()).filter(|&i| first(i));
        bounds.map(|i| bound(program, &families[i], &self.stage.protocol)).fold(0.0, f64::max)
    }

    pub(super) fn values(&self, requests: &[(&Solved<Program>, usize)]) -> Vec<f64> {
        let measure = |&(solved, index): &(&Solved<Program>, usize)| self.bench.measure(solved, index);
        let measured: Vec<Measured> = match requests {
            [one] => vec![measure(one)],
            many => wait(|| many.par_iter().map(measure).collect()),
        };
        if let Some(front) = self.front {
            let mut front = front.lock().unwrap_or_else(PoisonError::into_inner);
            for (&(solved, index), measured) in requests.iter().zip(&measured) {
                if index == 0 && measured.reward > 0.0 {
                    front.notice(&solved.solution, measured, self.stage, self.bench);
                }
            }
        }
        measured.iter().map(|measured| measured.reward).collect()
    }
}

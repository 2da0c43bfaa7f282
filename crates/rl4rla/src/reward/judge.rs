//! Computes the reward of a program's runs on an instance under a protocol.

use super::condition::{condition_of, seen};
use super::profile::Profile;
use super::score::Protocol;
use super::tolerance::reached;
use super::weights::{Terms, Wanted};
use crate::execute::{RunSettings, Trace};
use crate::problem::{Instance, Shape, Work};
use crate::program::{Canonical, Model, ProgramCost, Sizes};

/// One program, one instance, one protocol.
pub struct Judge<'a> {
    /// The program.
    pub live: &'a Canonical,
    /// Shape and signature of the instance.
    pub shape: Shape,
    /// The instance, in original or reduced coordinates.
    pub problem: &'a Instance,
    /// The protocol.
    pub protocol: &'a Protocol,
}

impl Judge<'_> {
    /// The settings of one run with this step size.
    pub fn settings(&self, step: f64) -> RunSettings {
        self.protocol.settings(self.shape.rows, self.shape.cols, step)
    }

    /// The cost of the program, which must be known to fit the problem.
    pub fn cost(&self, model: Model) -> ProgramCost {
        ProgramCost::of(self.live, self.shape.signature, model).expect("a program that ran fits its shapes")
    }

    /// Sort key of a run, smaller is better: iterations to the tolerance if there is one, then the final residual or
    /// excess.
    pub fn standing(&self, trace: &Trace) -> (f64, f64) {
        let last = *trace.excesses.last().expect("a history holds at least the start");
        match self.protocol.profile {
            Profile::Paper { .. } => (0.0, *trace.residuals.last().expect("as above")),
            Profile::Sound { .. } => (0.0, last),
            Profile::Tolerance { .. } => (self.reached(&trace.excesses).map_or(f64::MAX, |t| t as f64), last),
        }
    }

    /// Iterations to the tolerance, if the profile has one and it was reached.
    pub fn reached(&self, excesses: &[f64]) -> Option<usize> {
        match self.protocol.profile {
            Profile::Tolerance { epsilon, .. } => reached(excesses, epsilon),
            _ => None,
        }
    }

    /// The terms of a run; 0 for those that are not wanted.
    pub fn terms(&self, trace: &Trace, wanted: &Wanted) -> Terms {
        let Judge { shape, problem, protocol, .. } = self;
        let work = || {
            // The cost does not depend on the step size.
            let sizes = self.settings(0.0).sizes(shape.rows, shape.cols);
            work(&self.cost(protocol.profile.model()), sizes, protocol.iterations)
        };
        protocol.profile.terms(problem, trace, wanted, &work)
    }

    /// The effective condition number of a run; 1 for tasks other than least squares.
    pub fn condition(&self, trace: &Trace) -> f64 {
        match self.problem.task.is_least_squares() {
            true => condition_of(seen(self.problem, trace)),
            false => 1.0,
        }
    }

    /// The reward of a run from its terms and the iteration at which it reached the tolerance, if it did.
    pub fn reward(&self, terms: &Terms, reached: Option<usize>) -> f64 {
        match (&self.protocol.profile, reached) {
            (Profile::Tolerance { charge, .. }, Some(t)) => {
                let cost = self.cost(Model::True);
                let work = charge.work(&cost, &self.settings(0.0), self.shape.cols, t);
                charge.reward(self.problem.task, work)
            }
            (Profile::Tolerance { .. }, None) => 0.0,
            (profile, _) => profile.weighted(terms).expect("only a tolerance is not made of terms"),
        }
    }
}

/// The work of a program with this cost.
pub fn work(cost: &ProgramCost, sizes: Sizes, iterations: usize) -> Work {
    Work { flops: cost.flops(&sizes, iterations), passes: cost.passes(&sizes, iterations), iterations, sizes }
}

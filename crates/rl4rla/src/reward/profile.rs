//! Profiles: which formulas make the terms, and how the terms make the reward.

use super::accuracy::accuracy;
use super::complexity::{complexity, progress, relative, thrift};
use super::condition::{condition, condition_seen};
use super::decay::{decay, decay_of_excess};
use super::tolerance::Charge;
use crate::execute::Trace;
use crate::linalg::Matrix;
use crate::problem::{History, Instance, Task, Work};
use crate::program::Model;
use serde::{Deserialize, Serialize};

/// The weights (acc, decay, comp, cond) of the reward.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Weights {
    /// Of accuracy.
    pub acc: f64,
    /// Of decay.
    pub decay: f64,
    /// Of complexity.
    pub comp: f64,
    /// Of the condition number.
    pub cond: f64,
}

impl Weights {
    /// In the paper's order.
    pub const fn new(acc: f64, decay: f64, comp: f64, cond: f64) -> Weights {
        Weights { acc, decay, comp, cond }
    }

    /// Those of a task where nothing else is said.
    pub fn of(task: &dyn Task) -> Weights {
        let [acc, decay, comp, cond] = task.weights();
        Weights { acc, decay, comp, cond }
    }

    fn mean(&self, terms: &Terms) -> f64 {
        let Weights { acc, decay, comp, cond } = *self;
        let sum = acc * terms.acc + decay * terms.decay + comp * terms.comp + cond * terms.cond;
        let total = acc + decay + comp + cond;
        if total > 0.0 { sum / total } else { 0.0 }
    }
}

/// The parts of a reward, each between 0 and 1.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct Terms {
    /// Accuracy.
    pub acc: f64,
    /// Decay.
    pub decay: f64,
    /// Complexity.
    pub comp: f64,
    /// Condition.
    pub cond: f64,
}

/// Which of the terms that take time to compute are wanted.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Wanted {
    /// Decay needs every iterate measured.
    pub decay: bool,
    /// Complexity needs a price.
    pub comp: bool,
    /// Condition needs singular values.
    pub cond: bool,
}

impl Wanted {
    pub(super) const ALL: Wanted = Wanted { decay: true, comp: true, cond: true };
}

/// How a run is rewarded.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Profile {
    /// The formulas of the paper's released code.
    Paper {
        /// Weights of the terms.
        weights: Weights,
        /// Pays for cheapness without asking for progress (`iterative_sketch` in the released code).
        ungated: bool,
        /// The condition term alone.
        condition_only: bool,
    },
    /// The same terms repaired: excess over the attainable residual, cost gated on progress, unsaturated
    /// condition, true flops.
    Sound {
        /// Weights of the terms.
        weights: Weights,
        /// The condition term alone.
        condition_only: bool,
    },
    /// Work to reach a tolerance: one number, no weights.
    Tolerance {
        /// The relative excess to reach.
        epsilon: f64,
        /// What is charged.
        charge: Charge,
    },
}

impl Profile {
    /// The released formulas with the weights (1, 10, 8, 1) of most of its stages.
    pub fn paper() -> Profile {
        Profile::Paper { weights: Weights::new(1.0, 10.0, 8.0, 1.0), ungated: false, condition_only: false }
    }

    /// The repaired formulas with the same weights.
    pub fn sound() -> Profile {
        Profile::Sound { weights: Weights::new(1.0, 10.0, 8.0, 1.0), condition_only: false }
    }

    /// Whose flops are charged.
    pub fn model(&self) -> Model {
        match self {
            Profile::Paper { .. } => Model::Released,
            Profile::Sound { .. } | Profile::Tolerance { .. } => Model::True,
        }
    }

    /// Whether the reward is the condition term alone.
    pub(super) fn condition_only(&self) -> bool {
        match self {
            Profile::Paper { condition_only, .. } | Profile::Sound { condition_only, .. } => *condition_only,
            Profile::Tolerance { .. } => false,
        }
    }

    /// The terms that can change the reward.
    pub(super) fn counting(&self) -> Wanted {
        match self {
            _ if self.condition_only() => Wanted { decay: false, comp: false, cond: true },
            Profile::Paper { weights: w, .. } => {
                Wanted { decay: w.decay != 0.0, comp: w.comp != 0.0, cond: false }
            }
            Profile::Sound { weights: w, .. } => {
                Wanted { decay: w.decay != 0.0, comp: w.comp != 0.0, cond: w.cond != 0.0 }
            }
            // The history is what counts.
            Profile::Tolerance { .. } => Wanted { decay: true, comp: false, cond: false },
        }
    }

    /// Why runs of this task cannot be rewarded so.
    pub fn refuses(&self, task: &dyn Task) -> Option<&'static str> {
        match self {
            _ if task.is_least_squares() => None,
            Profile::Paper { .. } => Some("the released formulas are for linear systems"),
            Profile::Sound { .. } if self.condition_only() => {
                Some("the condition number is that of a linear system")
            }
            _ => None,
        }
    }

    /// The terms of a run; what is not wanted is 0.
    pub(super) fn terms(
        &self,
        instance: &Instance,
        trace: &Trace,
        wanted: Wanted,
        work: impl Fn() -> Work,
    ) -> Terms {
        let only = |wanted: bool, term: &dyn Fn() -> f64| if wanted { term() } else { 0.0 };
        let last = |history: &[f64]| *history.last().expect("a history holds at least the start");
        match self {
            Profile::Paper { ungated, .. } => {
                let loss = last(&trace.residuals);
                Terms {
                    acc: accuracy(loss),
                    decay: only(wanted.decay, &|| decay(&trace.residuals)),
                    comp: only(wanted.comp, &|| complexity(relative(&work()), loss, *ungated)),
                    cond: only(wanted.cond, &|| conditioned(instance, trace, Model::Released, condition)),
                }
            }
            Profile::Sound { .. } | Profile::Tolerance { .. } => {
                let (task, first, loss) = (instance.task, trace.excesses[0], last(&trace.excesses));
                let history = History { instance, losses: &trace.residuals, excesses: &trace.excesses };
                Terms {
                    acc: task.accuracy(&history).unwrap_or_else(|| accuracy(loss)),
                    decay: only(wanted.decay, &|| decay_of_excess(&trace.excesses)),
                    comp: only(wanted.comp, &|| progress(first, loss) * thrift(task, &work())),
                    // A preconditioner is one of AᵀA, the Hessian of least squares.
                    cond: only(wanted.cond && task.is_least_squares(), &|| Profile::seen(instance, trace)),
                }
            }
        }
    }

    /// The sound condition term of a run, whatever the profile.
    pub(super) fn seen(instance: &Instance, trace: &Trace) -> f64 {
        conditioned(instance, trace, Model::True, condition_seen)
    }

    /// The weighted reward; none where it is not made of terms.
    pub(super) fn weighted(&self, terms: &Terms) -> Option<f64> {
        match self {
            _ if self.condition_only() => Some(terms.cond),
            // The released code counts the condition term as 0 outside its condition-only stage, in the mean too.
            Profile::Paper { weights, .. } => Some(weights.mean(&Terms { cond: 0.0, ..*terms })),
            Profile::Sound { weights, .. } => Some(weights.mean(terms)),
            Profile::Tolerance { .. } => None,
        }
    }
}

/// A condition term, by the formula of this model. Many programs build one preconditioner, and singular values take long.
fn conditioned(
    instance: &Instance,
    trace: &Trace,
    model: Model,
    term: fn(&Instance, Option<&Matrix>) -> f64,
) -> f64 {
    let term = || term(instance, trace.preconditioner.as_deref());
    let name = trace.preconditioner_name.map(|name| name ^ model as u64);
    name.map_or_else(term, |name| instance.remember(name, term))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_and_exceptions() {
        let terms = Terms { acc: 1.0, decay: 0.5, comp: 0.25, cond: 0.75 };
        let weights = Weights::new(1.0, 1.0, 1.0, 1.0);
        let paper = |condition_only| Profile::Paper { weights, ungated: false, condition_only };
        let sound = |condition_only| Profile::Sound { weights, condition_only };
        assert_eq!(paper(false).weighted(&terms), Some(1.75 / 4.0));
        assert_eq!(paper(true).weighted(&terms), Some(0.75));
        assert_eq!(sound(false).weighted(&terms), Some(2.5 / 4.0));
        assert_eq!(sound(true).weighted(&terms), Some(0.75));
        assert_eq!(Weights::new(0.0, 0.0, 0.0, 0.0).mean(&terms), 0.0);
    }
}

//! Profiles: the formulas of the terms, and how the terms are combined into the reward.

use super::term::{Formula, RewardTerm, TermIndex, TermInput};
use super::tolerance::Charge;
use super::weights::{Terms, Wanted, Weights};
use crate::execute::Trace;
use crate::problem::{Instance, Task, Work};
use crate::program::Model;
use serde::{Deserialize, Serialize};

/// How a run is rewarded.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Profile {
    /// The formulas of the paper's released code.
    Paper {
        /// Weights of the terms.
        weights: Weights,
        /// Rewards low cost without requiring progress (`iterative_sketch` in the released code).
        ungated: bool,
        /// The condition term alone.
        condition_only: bool,
    },
    /// The same terms, corrected: excess over the attainable residual, cost gated on progress, unsaturated condition
    /// term, true flop counts.
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
        /// The unit and problem size of the cost.
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

    /// The flop count model of the profile.
    pub fn model(&self) -> Model {
        match self {
            Profile::Paper { .. } => Model::Released,
            Profile::Sound { .. } | Profile::Tolerance { .. } => Model::True,
        }
    }

    /// The weights, if the reward is made of terms.
    pub fn weights(&self) -> Option<&Weights> {
        match self {
            Profile::Paper { weights, .. } | Profile::Sound { weights, .. } => Some(weights),
            Profile::Tolerance { .. } => None,
        }
    }

    /// The terms shown in results: the built-in ones, and registered ones with a weight.
    pub fn shown(&self) -> Vec<TermIndex> {
        let weighed = |term: &TermIndex| self.weights().is_some_and(|weights| weights[*term] != 0.0);
        TermIndex::all().filter(|term| TermIndex::BUILTIN.contains(term) || weighed(term)).collect()
    }

    /// The formula of a term under this profile.
    fn formula(&self, row: &'static RewardTerm) -> &'static Formula {
        match self {
            Profile::Paper { .. } => &row.paper,
            Profile::Sound { .. } | Profile::Tolerance { .. } => &row.sound,
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
        match self.weights() {
            _ if self.condition_only() => Wanted::only([TermIndex::COND]),
            Some(weights) => Wanted::only(
                TermIndex::places().filter(|term| weights[*term] != 0.0 && self.formula(term.row()).counts),
            ),
            None => Wanted::default(),
        }
    }

    /// The reason why this profile cannot be used for a task, if any.
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

    /// The terms of a run; 0 for those that are not wanted or do not apply to the task.
    pub(super) fn terms(
        &self,
        instance: &Instance,
        trace: &Trace,
        wanted: &Wanted,
        price: &dyn Fn() -> Work,
    ) -> Terms {
        let input = TermInput { instance, trace, profile: self, price };
        Terms::made(wanted, |row| match row.applies(instance.task) {
            true => self.formula(row).value(&input),
            false => 0.0,
        })
    }

    /// Upper bounds on the terms of a program with this work.
    pub(super) fn most(&self, task: &dyn Task, work: &Work) -> Terms {
        Terms::made(&self.counting(), |row| self.formula(row).bound(task, work))
    }

    /// The weighted mean of the terms; `None` if the profile does not use terms.
    pub(super) fn weighted(&self, terms: &Terms) -> Option<f64> {
        if self.condition_only() {
            return Some(terms[TermIndex::COND]);
        }
        let counting = self.counting();
        self.weights().map(|weights| weights.mean(&Terms::made_at(&counting, |term| terms[term])))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_and_exceptions() {
        let terms = Terms::new(1.0, 0.5, 0.25, 0.75);
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

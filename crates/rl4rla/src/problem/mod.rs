//! Problems: tasks, families of random instances, and instances from data.
//!
//! An instance is a pure function of a [`Family`] and a [`Stream`], so it can be named and redrawn
//! anywhere and is never stored.

mod eigenvalue;
mod explore_defaults;
mod factors;
mod family;
mod family_error;
mod goal;
mod image_loss;
mod instance;
mod instance_error;
mod linear;
mod logistic;
mod low_rank;
mod misfit;
mod outline;
mod plane;
mod random_matrices;
mod registered;
mod response;
mod ridge;
mod solving;
mod spd;
mod spectrum;
mod task;
mod user_table_family;

pub use eigenvalue::Eigenvalue;
pub use explore_defaults::ExploreDefaults;
pub use family::{Choice, Family, FamilyInfo, FamilyKind, Leverage, MAX_BYTES, Number, Right, Scale};
pub use family_error::FamilyError;
pub use goal::Goal;
pub use image_loss::{ImageLoss, Slope};
pub use instance::{Instance, Shape};
pub use instance_error::InstanceError;
pub use linear::Linear;
pub(crate) use logistic::NewtonStep;
pub(crate) use logistic::fit as cross_entropy;
pub use logistic::{Forward, Logistic, RidgeLogistic};
pub use low_rank::LowRank;
pub use misfit::Misfit;
pub use outline::{Frame, Outline};
pub use registered::{TaskError, families, register, register_family, tasks};
pub use response::Response;
pub use ridge::Ridge;
pub use solving::{Solving, Stopping};
pub use spd::Spd;
pub use task::{History, Task, Work};
pub use user_table_family::{BOOTSTRAP, HELD_OUT};

use crate::rng::Stream;

/// The use of an instance. Instances of different sets are independent, so that the figures reported for a program
/// never come from an instance that was used to choose it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum InstanceSet {
    /// Instances that score candidates during the search.
    Search,
    /// Instances that choose among the best candidates found.
    Select,
    /// Instances that measure the chosen program.
    Final,
}

impl InstanceSet {
    /// The stream of instance `index` of this set, for a run with this seed.
    pub fn stream(self, seed: u64, index: u64) -> Stream {
        let label = match self {
            InstanceSet::Search => "instance/search",
            InstanceSet::Select => "instance/select",
            InstanceSet::Final => "instance/final",
        };
        Stream::new(seed).derive(label, index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn the_sets_are_disjoint() {
        let sets = [InstanceSet::Search, InstanceSet::Select, InstanceSet::Final];
        let mut seen = HashSet::new();
        for set in sets {
            for seed in 0..20 {
                for index in 0..100 {
                    assert!(seen.insert(set.stream(seed, index)), "{set:?} {seed} {index} repeats");
                    assert_eq!(set.stream(seed, index), set.stream(seed, index));
                }
            }
        }
    }
}

//! Exploration: discovery from the empty program, told only the task, the family of problems, the tolerance and the
//! operators.
//!
//! Vectors are enumerated first, by value, and scored with coefficients that an oracle chooses; then the oracle's
//! coefficients are replaced by formulas one at a time. So conjugate gradients, of fourteen instructions, is found by
//! looking at programs of three.

mod answer_set;
mod answer_values;
mod answers;
mod directions;
mod emit;
mod evaluator;
mod exploration;
mod expression;
mod hall;
mod oracle;
mod peel;
mod probe;
mod problem_set;
mod race;
mod request;
mod search;
mod spec;
mod start;

pub use exploration::{CatalogueRival, Exploration, HallEntry, explore};
pub use hall::HeldOut;
pub use race::Tunables;
pub use request::{ExploreRequest, RequestError};
pub use spec::{ExploreSpec, SearchPart};

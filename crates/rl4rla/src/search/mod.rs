//! Search for the best solution of an abstract decision problem.
//!
//! A [`Domain`] has states, ordered moves between them, and solutions with noisy values. Monte Carlo graph search
//! ([`graph_search`]) is the paper's method; with [`Sharing::Tree`] it is Monte Carlo tree search. [`best`] races
//! solutions until the leader is known with confidence 1 − δ, [`exhaustive`] measures all of them, and [`random`] is
//! the simplest baseline. [`evolution`] and [`islands`] are the program searches of AutoML-Zero and FunSearch.

mod backup;
mod best;
mod domain;
mod engine;
mod evolution;
mod exhaustive;
mod fitness;
mod graph;
mod islands;
mod ledger;
mod method;
mod outcome;
mod places;
mod random;
mod rule;
mod view;

pub use backup::Backup;
pub use best::{Confidence, best};
pub use domain::{Domain, Solved};
pub use engine::{GraphSearchPlan, graph_search};
pub use evolution::evolution;
pub use exhaustive::{Measure, exhaustive};
pub use graph::{Edge, Sharing};
pub use islands::{Breeder, Parent, ProposalSource, islands};
pub use ledger::{Budget, Ledger, Silent, Watch};
pub use method::{Algorithm, METHODS, Method, MethodInfo, Moves, Tuning};
pub use outcome::{Counters, GraphSize, Outcome, Ranked, StopReason};
pub use random::random;
pub use rule::{Puct, SelectionRule, Statistics, Ucd, Uct};
pub use view::{GraphView, NodeView};

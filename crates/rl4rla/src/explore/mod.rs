//! Exploration: discovery from the empty program, told only the task, the family of problems, the tolerance and the
//! operators.
//!
//! Vectors are enumerated first, by value, and scored with coefficients that an oracle chooses; then the oracle's
//! coefficients are replaced by formulas one at a time. So conjugate gradients, of fourteen instructions, is found by
//! looking at programs of three.

mod answer_set;
mod answer_solvers;
mod answer_values;
mod answers;
mod classical;
mod derivative;
mod directions;
mod emit;
mod evaluator;
mod evolution;
mod exploration;
mod expression;
mod given;
mod hall;
mod limits;
mod log;
mod macros;
mod oracle;
mod order;
mod own_data;
mod peel;
mod probe;
mod problem_set;
mod race;
mod recurrence;
mod request;
mod search;
mod solver_cost;
mod spec;
mod start;
mod variation;

pub use classical::SolverComparison;
pub use exploration::{CatalogueRival, Exploration, HallEntry, explore};
pub use given::search_given;
pub use hall::HeldOut;
pub use limits::{Difficulty, DifficultyValue, ProgramLimit};
pub use log::{NoLog, ResultLog};
pub use own_data::{DataRun, OwnData};
pub use problem_set::RunEnding;
pub use race::Tunables;
pub use request::{ExploreRequest, METHOD, RequestError};
pub use search::{FoundProgram, SearchOutcome};
pub use spec::{AllowedPrograms, ExploreSpec, SearchPart};

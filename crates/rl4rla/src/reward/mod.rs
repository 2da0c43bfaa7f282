//! Reward: scores a run by its convergence history and cost.

mod accuracy;
mod auxiliary;
mod bound;
mod complexity;
mod condition;
mod decay;
mod evaluation;
mod fast;
mod funsearch;
mod judge;
mod profile;
mod score;
mod step_rule;
mod term;
mod tolerance;
mod weights;

pub use auxiliary::{Auxiliary, auxiliary, auxiliary_protocol};
pub use bound::bound;
pub use evaluation::{Evaluation, draws, evaluate};
pub use fast::reward;
pub(crate) use fast::{RewardSample, SharedRuns, reward_sample};
pub use funsearch::{FunSearchBatch, FunSearchScore};
pub use profile::Profile;
pub use score::{Protocol, Score, score, score_prepared};
pub use step_rule::{PAPER_GRID, SOUND_GRID, StepRule};
pub use term::{Formula, Need, RewardTerm, TermError, TermIndex, TermInput, register};
pub use tolerance::{Charge, Unit};
pub use weights::{Terms, Weights};

//! Discovery: search over programs.

mod appending;
mod attempt;
mod behaviour;
mod bench;
mod context;
mod finishing;
mod front;
mod growing;
mod insertions;
mod log;
mod merge;
mod observe;
mod patches;
mod problems;
mod proposer;
mod result;
mod space;
mod stage;
mod states;

pub use appending::Appending;
pub use attempt::{Approach, Attempt, Candidate, attempt};
pub use bench::Bench;
pub use context::Context;
pub use front::{Front, ParetoEntry, Preference, Tradeoff};
pub use insertions::Insertions;
pub use log::{Known, RewardKey};
pub use merge::Merge;
pub use observe::{Leader, Observer, Progress};
pub use patches::{Patch, Patches};
pub use problems::{MeasuredRewards, Problems};
pub use proposer::{Commission, Proposer};
pub use result::{Judgement, StageResult};
pub use space::Space;
pub use stage::{Fresh, Instances, Stage};

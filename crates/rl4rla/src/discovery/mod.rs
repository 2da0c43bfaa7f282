//! Discovery: search over programs.

mod appending;
mod attempt;
mod author;
mod behaviour;
mod bench;
mod finishing;
mod front;
mod growing;
mod insertions;
mod log;
mod merge;
mod observe;
mod patches;
mod problems;
mod space;
mod stage;
mod states;

pub use appending::Appending;
pub use attempt::{Approach, Attempt, Candidate, attempt};
pub use author::{Author, Commission};
pub use bench::Bench;
pub use front::{Front, Offer, Preference, Tradeoff};
pub use insertions::Insertions;
pub use log::{Known, Record};
pub use merge::Merge;
pub use observe::{Leader, Observe, Progress, Unobserved};
pub use patches::{Patch, Patches};
pub use problems::{Earned, Problems};
pub use space::Space;
pub use stage::{Fresh, Instances, Stage};

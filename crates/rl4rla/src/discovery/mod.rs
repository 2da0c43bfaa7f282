//! Discovery: search over programs.

mod appending;
mod attempt;
mod behaviour;
mod bench;
mod growing;
mod log;
mod merge;
mod observe;
mod space;
mod stage;

pub use appending::Appending;
pub use attempt::{Approach, Attempt, Candidate, attempt};
pub use bench::{Bench, Problems};
pub use log::{Known, Record};
pub use merge::Merge;
pub use observe::{Leader, Observe, Progress, Unobserved};
pub use space::{Insertions, Space};
pub use stage::{Instances, Stage};

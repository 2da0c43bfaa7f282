//! Records: results of runs, as stored, printed and read again.
//!
//! The JSON of a [`RunRecord`] is the document that `discover --json` prints. Records of earlier versions lack some
//! keys and can still be read; every page about a run is made from its record and the text of its curriculum.

mod build;
mod cost;
mod hall;
mod run;
mod stage;

pub use build::Build;
pub use cost::{Quantity, SearchCost};
pub use hall::{EXPLORE, HallRecord, RivalRecord, TunablesRecord};
pub use run::{PolicyRecord, PreferredEntry, ProposerRecord, RunRecord};
pub use stage::{CandidateRecord, FrontEntry, StageRecord, TermMeans};

//! Experiments: what many runs, solvers and analyses come to, as numbers, tables and figures.
//!
//! An experiment prints nothing. Whoever waits for it is a [`Monitor`], which hears what is being done and may ask to stop;
//! what goes wrong is an [`ExperimentError`], with a word on what to do about it.

pub mod analyzed;
mod audit;
mod bands;
pub mod campaign;
pub mod contest;
mod costs;
mod error;
mod evaluated;
pub mod exported;
pub mod label;
mod monitor;
pub mod reproduce;
mod settings;
pub mod summary;
mod tally;
pub mod words;

pub use audit::{AuditedStage, audit_seeds};
pub use campaign::Campaign;
pub use costs::costs;
pub use error::{ExperimentError, unreadable};
pub use evaluated::{Evaluated, EvaluatedRun, draw};
pub use monitor::Monitor;
pub use settings::{Proposer, Settings};
pub use tally::{Forms, Part, Tally, tallies};

//! Execution: from a program and an instance to its convergence history.

mod failure;
mod fusion;
mod kernels;
mod large;
mod lenient;
mod machine;
mod origin;
mod pilot_step;
mod plan;
mod precision;
mod prepared;
mod recording;
mod reduced;
mod run;
mod run_draws;
mod runner;
mod sample;
mod sketch;
mod snapshot;

pub use failure::{FailurePoint, Fault, RunFailure};
pub(crate) use kernels::Output;
pub use large::{StoppingRule, run_large};
pub(crate) use lenient::Lenient;
pub(crate) use machine::Measuring;
pub(crate) use origin::mix;
pub(crate) use plan::Plan;
pub use precision::Precision;
pub use prepared::PreparedInstance;
pub use recording::{Recording, record};
pub use run::{Limits, RunSettings, Trace, run, run_prepared, run_unmeasured, step_from};
pub(crate) use run_draws::{Draws, RunData};
pub(crate) use runner::{Runner, Seen};
pub use sample::Sampling;
pub use sketch::{SJLT_NONZEROS, Sketch, SketchKind, UnknownSketch};
pub use snapshot::{Snapshot, snapshots};

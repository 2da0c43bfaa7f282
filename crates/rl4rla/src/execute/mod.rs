//! Execution: from a program and an instance to the course of its residuals.

mod cache;
mod course;
mod draws;
mod failure;
mod kernels;
mod machine;
mod plan;
mod reduced;
mod run;
mod sample;
mod sketch;
mod snapshot;

pub(crate) use course::Course;
pub use failure::{Failure, Fault, Step};
pub(crate) use machine::Measured;
pub(crate) use plan::Plan;
pub use reduced::Prepared;
pub use run::{Limits, Settings, Trace, run, run_prepared};
pub use sample::Sampling;
pub use sketch::{SJLT_NONZEROS, Sketch, SketchKind, UnknownSketch};
pub use snapshot::{Snapshot, snapshots};

//! Execution: from a program and an instance to the course of its residuals.

mod datum;
mod failure;
mod kernels;
mod run;
mod sample;
mod sketch;
mod snapshot;

pub use datum::Datum;
pub use failure::{Failure, Fault, Step};
pub use run::{Limits, Settings, Trace, geometry, geometry_of, run};
pub use sample::Sampling;
pub use sketch::{SJLT_NONZEROS, Sketch, SketchKind, UnknownSketch};
pub use snapshot::{Snapshot, snapshots};

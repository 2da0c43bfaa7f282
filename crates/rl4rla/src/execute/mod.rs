//! Execution: from a program and an instance to the course of its residuals.

mod cache;
mod course;
mod draws;
mod failure;
mod fusion;
mod kernels;
mod large;
mod lenient;
mod machine;
mod origin;
mod pilot;
mod plan;
mod prepared;
mod recording;
mod reduced;
mod run;
mod sample;
mod sketch;
mod snapshot;

pub(crate) use cache::{Bytes, Cache};
pub use cache::{cache_bytes, cache_limit, set_cache_limit};
pub(crate) use course::Course;
pub(crate) use draws::Draws;
pub use failure::{Failure, Fault, Step};
pub(crate) use kernels::Output;
pub use large::{Large, LargeRun, LargeTrace, Seen, Stop, run_large};
pub(crate) use lenient::Lenient;
pub(crate) use machine::Measured;
pub(crate) use origin::mix;
pub(crate) use plan::Plan;
pub use prepared::Prepared;
pub use recording::{Recording, record};
pub use run::{Limits, Settings, Trace, run, run_prepared, run_unmeasured};
pub use sample::Sampling;
pub use sketch::{SJLT_NONZEROS, Sketch, SketchKind, UnknownSketch};
pub use snapshot::{Snapshot, snapshots};

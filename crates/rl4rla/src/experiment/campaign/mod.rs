//! Campaigns: sweeps, explorations and audits over many seeds, computed by many processes through files in one folder.
//!
//! The folder may be on a file system that many machines share, see [`SharedFolder`]. It has
//! - the [`Manifest`], written once and protected by a digest: what is computed, for which seeds,
//! - [submissions](Submission): which tasks were handed out, in which chunks,
//! - one result file for every task that has ended,
//! - checkpoints of tasks that were interrupted.
//!
//! Who does what is decided without locks: a chunk of tasks belongs to one process, and if two processes compute the same
//! task all the same, both write the same result to the same name. [`collect`] enters the results into a store.

mod checkpoint;
mod chunk;
mod collect;
mod compute;
mod estimate;
mod folder;
mod label;
mod manifest;
mod plan;
#[cfg(test)]
mod recovery;
mod result_file;
mod result_index;
mod searches;
mod shared_folder;
#[cfg(test)]
mod simulated;
#[cfg(test)]
mod simulation;
mod status;
mod submission;
mod task;
#[cfg(test)]
mod testing;
mod worker;

pub use chunk::{Chunking, TaskRanges};
pub use collect::{Collected, CollectedAudit, collect, verify};
pub use estimate::task_seconds;
pub use folder::{CampaignFolder, SubmissionMark};
pub use manifest::{FORMAT, JobOptions, Manifest, ManifestHeader, SlurmOptions};
pub use plan::CampaignPlan;
pub use result_file::{Damage, ResultKind};
pub use result_index::ResultIndex;
pub use shared_folder::{FolderOnDisk, SharedFolder};
pub use status::{
    CampaignState, CampaignStatus, ChunkState, FailedTask, InFlight, LOCAL, SLURM, SearchStatus,
    SubmissionStatus, TaskCounts, TaskState,
};
pub use submission::{Computer, JobArray, Process, Submission};
pub use task::{AuditSettings, CampaignSearch, CampaignTask, SearchKind, TaskFailure, TaskOutcome};
pub use worker::{Worker, WorkerEnd};

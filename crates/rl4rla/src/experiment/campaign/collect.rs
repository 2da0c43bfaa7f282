//! Collecting: the results of a campaign enter a store, in the order of their tasks.

use super::folder::CampaignFolder;
use super::result_file::{self, Damage, ResultKind};
use super::result_index::ResultIndex;
use super::searches::Searches;
use super::task::{CampaignSearch, CampaignTask, TaskOutcome};
use crate::curriculum::Audited;
use crate::experiment::sweep::FinishedRun;
use crate::experiment::{ExperimentError, Monitor};
use crate::store::Store;
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// What came of collecting.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Collected {
    /// Runs that entered the store.
    pub entered: u64,
    /// Runs that were in it already, with the same results.
    pub present: u64,
    /// Tasks that failed.
    pub failed: u64,
    /// Tasks without results.
    pub missing: u64,
    /// Whether it was stopped before the end; what has entered stays.
    pub stopped: bool,
    /// Audits: they have no place in a store.
    pub audits: Vec<CollectedAudit>,
}

/// The audit of a curriculum with one seed.
#[derive(Clone, PartialEq, Debug)]
pub struct CollectedAudit {
    /// The number of its search.
    pub search: usize,
    /// The seed.
    pub seed: u64,
    /// Its stages.
    pub stages: Vec<Audited>,
}

/// Runs that enter in one transaction.
const TOGETHER: usize = 200;

/// The files that are no results of the campaign, with the reasons. Every file is read.
pub fn verify(
    folder: &CampaignFolder,
    results: &ResultIndex,
    monitor: &dyn Monitor,
) -> Result<Vec<(String, Damage)>, ExperimentError> {
    let mut faults = results.faults().to_vec();
    let tasks = folder.manifest().tasks();
    let known: FxHashSet<&str> = results.faults().iter().map(|(path, _)| path.as_str()).collect();
    for task in 0..tasks {
        if let Some(kind) = results.kind(task) {
            if task % 1000 == 0 {
                monitor.doing(&format!("verifying {task} of {tasks}"));
            }
            if let Some(Err(damage)) = folder.result(task, kind)? {
                let path = result_file::path_of(task, kind);
                if !known.contains(path.as_str()) {
                    faults.push((path, damage));
                }
            }
        }
        if monitor.stopped() {
            break;
        }
    }
    faults.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(faults)
}

/// Enters the results into a store. They must have been [verified](verify). Results that are in the store already are left
/// as they are, so that collecting can be repeated; if they differ, that is an error.
pub fn collect(
    folder: &CampaignFolder,
    results: &ResultIndex,
    store: &mut Store,
    monitor: &dyn Monitor,
) -> Result<Collected, ExperimentError> {
    let manifest = folder.manifest();
    let mut collected = Collected::default();
    let mut searches = Searches::new(manifest);
    let tasks: Vec<(u64, ResultKind)> =
        (0..manifest.tasks()).filter_map(|task| Some((task, results.kind(task)?))).collect();
    collected.missing = manifest.tasks() - tasks.len() as u64;
    for batch in tasks.chunks(TOGETHER) {
        if monitor.stopped() {
            collected.stopped = true;
            break;
        }
        monitor.doing(&format!("collecting {} of {}", batch[0].0, manifest.tasks()));
        // Read first: nobody else can write to the store during a transaction.
        let batch = batch.iter().map(|(task, kind)| read(folder, &mut searches, *task, *kind));
        let batch: Vec<Read> = batch.collect::<Result<_, ExperimentError>>()?;
        store.together(|store| -> Result<(), ExperimentError> {
            for result in batch {
                match result {
                    Read::Gone => collected.missing += 1,
                    Read::Failed => collected.failed += 1,
                    Read::Audit(audit) => collected.audits.push(audit),
                    Read::Run(search, seed, run) => match search.admit(store, seed, *run)? {
                        true => collected.entered += 1,
                        false => collected.present += 1,
                    },
                }
            }
            Ok(())
        })?;
    }
    Ok(collected)
}

/// A result as it enters.
enum Read {
    /// It was taken away since it was listed.
    Gone,
    Failed,
    Audit(CollectedAudit),
    Run(Arc<CampaignSearch>, u64, Box<FinishedRun>),
}

fn read(
    folder: &CampaignFolder,
    searches: &mut Searches,
    number: u64,
    kind: ResultKind,
) -> Result<Read, ExperimentError> {
    let Some(outcome) = folder.result(number, kind)? else { return Ok(Read::Gone) };
    let outcome = outcome.map_err(|damage| {
        let path = folder.files.name(&result_file::path_of(number, kind));
        ExperimentError::new(format!("{path} has changed: {damage}"))
    })?;
    let CampaignTask { search, seed, .. } = folder.manifest().task(number);
    Ok(match outcome {
        TaskOutcome::Failed(_) => Read::Failed,
        TaskOutcome::Audit { stages, .. } => Read::Audit(CollectedAudit { search, seed, stages }),
        TaskOutcome::Run(run) => Read::Run(searches.get(search)?, seed, run),
    })
}

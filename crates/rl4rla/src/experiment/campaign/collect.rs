//! Collecting: the results of a campaign enter a store, in the order of their tasks.

use super::folder::{CampaignFolder, ResultIndex};
use super::result_file::{self, Damage, ResultKind};
use super::task::{CampaignSearch, TaskOutcome};
use crate::curriculum::Audited;
use crate::experiment::{ExperimentError, Monitor};
use crate::store::Store;

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
    for task in 0..tasks {
        if let Some(kind) = results.kind(task) {
            if task % 1000 == 0 {
                monitor.doing(&format!("verifying {task} of {tasks}"));
            }
            if let Err(damage) = folder.result(task, kind)? {
                let path = result_file::path_of(task, kind);
                if !faults.iter().any(|(known, _)| *known == path) {
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
    let mut searches: Vec<Option<CampaignSearch>> = vec![None; manifest.searches()];
    let tasks: Vec<(u64, ResultKind)> =
        (0..manifest.tasks()).filter_map(|task| Some((task, results.kind(task)?))).collect();
    collected.missing = manifest.tasks() - tasks.len() as u64;
    for batch in tasks.chunks(TOGETHER) {
        if monitor.stopped() {
            collected.stopped = true;
            break;
        }
        monitor.doing(&format!("collecting {} of {}", batch[0].0, manifest.tasks()));
        store.together(|store| -> Result<(), ExperimentError> {
            for (number, kind) in batch {
                let task = manifest.task(*number);
                let search = match &mut searches[task.search] {
                    Some(search) => search,
                    unread => unread.insert(manifest.search(task.search)?),
                };
                let outcome = folder.result(*number, *kind)?.map_err(|damage| {
                    let path = folder.files.name(&result_file::path_of(*number, *kind));
                    ExperimentError::new(format!("{path} has changed: {damage}"))
                })?;
                match outcome {
                    TaskOutcome::Failed(_) => collected.failed += 1,
                    TaskOutcome::Audit(stages) => {
                        collected.audits.push(CollectedAudit {
                            search: task.search,
                            seed: task.seed,
                            stages,
                        });
                    }
                    TaskOutcome::Run(run) => match search.admit(store, task.seed, *run)? {
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

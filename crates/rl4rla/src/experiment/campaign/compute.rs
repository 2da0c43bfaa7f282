//! Computing a task, from what an earlier attempt has left of it.

use super::checkpoint::Checkpoint;
use super::task::{AuditSettings, CampaignSearch, TaskFailure, TaskOutcome};
use crate::curriculum::audit;
use crate::discovery::Problems;
use crate::experiment::sweep::{self, FinishedRun, RewardLog};
use crate::experiment::{ExperimentError, Monitor, Sweep};
use crate::explore::{self, ExploreRequest, explore};
use crate::program::Program;
use crate::record::RunRecord;
use crate::search::{Counters, Watch};
use crate::store::now;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

/// Computes a task; `None` if it was interrupted. Runs of one seed share `problems`.
pub(super) fn compute(
    search: &CampaignSearch,
    seed: u64,
    problems: &Arc<Problems>,
    checkpoint: &Checkpoint,
    monitor: &dyn Monitor,
) -> Option<TaskOutcome> {
    let computed = || match search {
        CampaignSearch::Sweep(sweep) => swept(sweep, seed, problems, checkpoint, monitor),
        CampaignSearch::Explore(request) => explored(request, seed, checkpoint, monitor),
        CampaignSearch::Audit(settings) => audited(settings, seed, checkpoint, monitor),
    };
    let outcome = match catch_unwind(AssertUnwindSafe(computed)) {
        Ok(outcome) => outcome.map_err(TaskFailure::from),
        // Other tasks go on.
        Err(panic) => Err(TaskFailure::of_panic(panic.as_ref())),
    };
    outcome.unwrap_or_else(|failure| Some(TaskOutcome::Failed(failure)))
}

fn swept(
    sweep: &Sweep,
    seed: u64,
    problems: &Arc<Problems>,
    checkpoint: &Checkpoint,
    monitor: &dyn Monitor,
) -> Result<Option<TaskOutcome>, ExperimentError> {
    let own = sweep.alone.then(Arc::<Problems>::default);
    // Of a run whose times matter nothing is taken from an earlier attempt.
    let log = (!sweep.alone).then_some(checkpoint as &dyn RewardLog);
    let finished = sweep::one(sweep, seed, own.as_ref().unwrap_or(problems), log, monitor)?;
    Ok(finished.map(|run| TaskOutcome::Run(Box::new(run))))
}

fn explored(
    request: &ExploreRequest,
    seed: u64,
    checkpoint: &Checkpoint,
    monitor: &dyn Monitor,
) -> Result<Option<TaskOutcome>, ExperimentError> {
    let (began, start) = (now(), Instant::now());
    let request = ExploreRequest { seed, ..request.clone() };
    let spec = request.spec().map_err(|error| ExperimentError::new(error.message).advise(error.advice))?;
    let exploration = explore(&spec, checkpoint, &|_| !monitor.stopped())?;
    Ok(exploration.map(|exploration| {
        let (signature, seconds) = (spec.family.signature(), start.elapsed().as_secs_f64());
        let record = RunRecord::explored("", (explore::METHOD, seed), signature, &exploration, seconds);
        TaskOutcome::Run(Box::new(FinishedRun { began, record, samples: vec![] }))
    }))
}

/// Stops an enumeration on request.
struct Stopping<'a>(&'a dyn Monitor);

impl Watch<Program> for Stopping<'_> {
    fn continues(&mut self, _counters: &Counters, _best: Option<(&Program, f64)>) -> bool {
        !self.0.stopped()
    }
}

fn audited(
    settings: &AuditSettings,
    seed: u64,
    checkpoint: &Checkpoint,
    monitor: &dyn Monitor,
) -> Result<Option<TaskOutcome>, ExperimentError> {
    let mut watch = Stopping(monitor);
    let ended = |stage: &_| {
        // A stage that ends now may have been cut short.
        if !monitor.stopped() {
            checkpoint.audited(stage);
        }
    };
    let (curriculum, before) = (settings.applied(), &checkpoint.stages);
    let stages = audit(&curriculum, seed, settings.budget, before, &mut watch, ended)?;
    Ok((!monitor.stopped()).then_some(TaskOutcome::Audit(stages)))
}

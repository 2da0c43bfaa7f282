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
    let (start, mut watch) = (Instant::now(), Stopping(monitor));
    let ended = |stage: &_| {
        // A stage that ends now may have been cut short.
        if !monitor.stopped() {
            checkpoint.audited(stage);
        }
    };
    let (curriculum, before) = (settings.applied(), &checkpoint.stages);
    let stages = audit(&curriculum, seed, settings.budget, before, &mut watch, ended)?;
    let seconds = start.elapsed().as_secs_f64();
    Ok((!monitor.stopped()).then_some(TaskOutcome::Audit { seconds, stages }))
}

#[cfg(test)]
mod tests {
    use super::super::simulated::{Disk, SimulatedMachine, begin, collected, go_on};
    use super::super::testing::{ScratchFolder, header, mixed_plan};
    use super::super::{CampaignFolder, CampaignPlan, ManifestHeader, task_seconds};
    use super::*;
    use crate::curriculum::Curriculum;
    use crate::discovery::Approach;
    use crate::experiment::SearchSettings;
    use crate::search::Method;

    const OF_DATA: &str = r#"
        title = "Gradient descent for a table"
        [[stage]]
        name = "ls-gd"
        edits = 3
        open = ["iteration"]
        registers = ["v1"]
        step = 0.5
        family = { kind = "data", file = "train.csv", target = "y", rows = 20 }
        instances = { search = 6, select = 4, report = 4 }
        target = "ls-gd"
    "#;

    #[test]
    fn data_are_those_of_the_folder_in_which_a_campaign_was_planned() {
        let scratch = ScratchFolder::new("data");
        let row = |i: i32| {
            let [p, q, y] = [0.61, 1.7, 2.9].map(|frequency| (frequency * f64::from(i)).sin());
            format!("{p},{q},{y}\n")
        };
        let table = (0..200).map(row).fold("p,q,y\n".to_string(), |table, row| table + &row);
        std::fs::write(scratch.path().join("train.csv"), table).unwrap();
        assert!(Curriculum::parse("mine", OF_DATA).is_err(), "it is not in the current folder");
        let curriculum = Curriculum::parse_in(scratch.path(), "mine", OF_DATA).unwrap();
        let (settings, budget) = (SearchSettings::new(Approach::new(Method::Best)), 100_000);
        let sweep = CampaignSearch::Sweep(Box::new(Sweep::new(curriculum.clone(), settings, 0, 0)));
        let audit = AuditSettings { curriculum, hints: true, typed: false, budget };
        let searches = [sweep, CampaignSearch::Audit(Box::new(audit))].map(|search| (search, 1.0));
        let mut plan =
            CampaignPlan::new(ManifestHeader { directory: scratch.path().into(), ..header("data") });
        plan.add(0, 2, searches).unwrap();
        let disk = Disk::default();
        begin(&disk, plan, 1);
        go_on(&disk);
        let (found, _) = collected(&disk, &scratch.path().join("runs.db"));
        assert_eq!((found.entered, found.audits.len(), found.failed), (2, 2, 0));
    }

    #[test]
    fn audits_tell_how_long_they_took() {
        let disk = Disk::default();
        begin(&disk, mixed_plan(1), 1);
        go_on(&disk);
        let machine = SimulatedMachine::new(&disk);
        let folder = CampaignFolder::open(&machine).unwrap();
        let results = folder.results().unwrap();
        let outcome = folder.result(2, results.kind(2).unwrap()).unwrap().unwrap().unwrap();
        assert!(matches!(outcome, TaskOutcome::Audit { seconds, .. } if seconds > 0.0), "{outcome:?}");
        let seconds = task_seconds(&folder, &results).unwrap()[2];
        assert!(seconds > 0.0 && seconds != folder.manifest().seconds(2), "{seconds} as it was planned");
    }
}

//! Tasks: one search of a campaign with one seed, and what comes of it.

use super::result_file::ResultKind;
use crate::curriculum::{Audited, Curriculum};
use crate::experiment::sweep::FinishedRun;
use crate::experiment::{ExperimentError, Sweep};
use crate::explore::{self, ExploreRequest};
use crate::record::{Build, EXPLORE};
use crate::store::{NewRun, Store};
use serde::{Deserialize, Serialize};
use std::any::Any;
use std::fmt;

/// What is computed with every seed.
#[derive(Clone, Debug)]
pub enum CampaignSearch {
    /// A sweep; its first seed and results are ignored.
    Sweep(Box<Sweep>),
    /// An exploration; its seed is ignored.
    Explore(Box<ExploreRequest>),
    /// An audit.
    Audit(Box<AuditSettings>),
}

/// What an audit is asked for.
#[derive(Clone, Debug)]
pub struct AuditSettings {
    /// The curriculum as it was given.
    pub curriculum: Curriculum,
    /// Whether its hints are used.
    pub hints: bool,
    /// Whether programs are checked for units.
    pub typed: bool,
    /// Maximum number of states of a stage.
    pub budget: u64,
}

impl AuditSettings {
    /// The curriculum as it is audited.
    pub fn applied(&self) -> Curriculum {
        let curriculum = self.curriculum.clone();
        let curriculum = if self.hints { curriculum } else { curriculum.without_hints() };
        if self.typed { curriculum.with_units() } else { curriculum }
    }
}

/// The kinds of searches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SearchKind {
    /// Runs of a sweep.
    Sweep,
    /// Explorations.
    Explore,
    /// Audits.
    Audit,
}

impl SearchKind {
    /// Its name, which is that of the command.
    pub fn name(self) -> &'static str {
        match self {
            SearchKind::Sweep => "sweep",
            SearchKind::Explore => "explore",
            SearchKind::Audit => "audit",
        }
    }
}

impl CampaignSearch {
    /// Its kind.
    pub fn kind(&self) -> SearchKind {
        match self {
            CampaignSearch::Sweep(_) => SearchKind::Sweep,
            CampaignSearch::Explore(_) => SearchKind::Explore,
            CampaignSearch::Audit(_) => SearchKind::Audit,
        }
    }

    /// The curriculum or the family.
    pub fn name(&self) -> &str {
        match self {
            CampaignSearch::Sweep(sweep) => &sweep.curriculum.name,
            CampaignSearch::Explore(request) => &request.family,
            CampaignSearch::Audit(audit) => &audit.curriculum.name,
        }
    }

    /// Enters a result into a store, as the command that computes it on one machine would have; false if it is there
    /// already. An error if another result is there, because a build computes the same every time.
    pub(super) fn admit(
        &self,
        store: &mut Store,
        seed: u64,
        finished: FinishedRun,
    ) -> Result<bool, ExperimentError> {
        let keys = RunKeys::of(self, seed);
        let alone = match self {
            CampaignSearch::Sweep(sweep) => Some(sweep.alone),
            _ => None,
        };
        // As a sweep recalls it: if times matter, runs that shared caches are not enough.
        let fits = |there: Option<bool>| alone != Some(true) || there == Some(true);
        let build = Build::current();
        let new = keys.new_run(self, &build);
        for run in store.ended(&new)? {
            let Some(there) = run.result? else { continue };
            if !there.same_result(&finished.record) {
                let (id, name, path) = (run.row.id, self.name(), store.path().display());
                let message = format!(
                    "run {id} in {path} is {name} with the same settings and seed {seed}, and has another result"
                );
                return Err(ExperimentError::new(message).advise(
                    "another --store, and a report of this fault: results must not depend on the machine",
                ));
            }
            if fits(there.alone) {
                return Ok(false);
            }
        }
        finished.admit(store, &new, alone)?;
        Ok(true)
    }
}

/// What identifies the run of a task in a store, besides the curriculum.
pub(super) struct RunKeys {
    pub(super) seed: u64,
    pub(super) method: &'static str,
    pub(super) settings: String,
}

impl RunKeys {
    pub(super) fn of(search: &CampaignSearch, seed: u64) -> RunKeys {
        let (method, settings) = match search {
            CampaignSearch::Sweep(sweep) => (sweep.method(), sweep.settings.json()),
            CampaignSearch::Explore(request) => {
                let request = ExploreRequest { seed, ..(**request).clone() };
                (explore::METHOD, serde_json::to_string(&request).expect("a request can be written"))
            }
            CampaignSearch::Audit(_) => ("", String::new()),
        };
        RunKeys { seed, method, settings }
    }

    pub(super) fn new_run<'a>(&'a self, search: &'a CampaignSearch, build: &'a Build) -> NewRun<'a> {
        let (curriculum, spec) = match search {
            CampaignSearch::Sweep(sweep) => (&*sweep.curriculum.name, &*sweep.curriculum.text),
            _ => (EXPLORE, ""),
        };
        let RunKeys { seed, method, settings } = self;
        NewRun { curriculum, method, seed: *seed, spec, settings, build }
    }
}

/// The place of a task in its campaign.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CampaignTask {
    /// Its number.
    pub number: u64,
    /// The number of its search.
    pub search: usize,
    /// Its seed.
    pub seed: u64,
}

/// What came of a task.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskOutcome {
    /// The run of a sweep or an exploration.
    Run(Box<FinishedRun>),
    /// An audit.
    Audit {
        /// Seconds of the attempt that ended it.
        seconds: f64,
        /// Its stages.
        stages: Vec<Audited>,
    },
    /// An error: repeating the task would give it again.
    Failed(TaskFailure),
}

/// Why a task failed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct TaskFailure {
    /// What is wrong.
    pub reason: String,
    /// What to do, if that is known.
    pub advice: Option<String>,
}

impl TaskOutcome {
    /// How the task ended.
    pub fn kind(&self) -> ResultKind {
        let found = match self {
            TaskOutcome::Failed(_) => return ResultKind::Failed,
            TaskOutcome::Run(run) => run.record.found,
            TaskOutcome::Audit { stages, .. } => stages.iter().all(Audited::is_first),
        };
        if found { ResultKind::Found } else { ResultKind::Missed }
    }

    /// The seconds it took, as far as it tells.
    pub(super) fn seconds(&self) -> Option<f64> {
        match self {
            TaskOutcome::Run(run) => Some(run.record.cost.seconds),
            TaskOutcome::Audit { seconds, .. } => Some(*seconds),
            TaskOutcome::Failed(_) => None,
        }
    }
}

impl From<ExperimentError> for TaskFailure {
    fn from(error: ExperimentError) -> TaskFailure {
        TaskFailure { reason: error.message().into(), advice: error.advice().map(String::from) }
    }
}

impl TaskFailure {
    /// A fault of the program.
    pub(super) fn of_panic(panic: &(dyn Any + Send)) -> TaskFailure {
        let words = panic.downcast_ref::<&str>().copied();
        let words = words.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
        let reason = format!("a fault of rl4rla: {}", words.unwrap_or("no message"));
        TaskFailure { reason, advice: Some("report it with the manifest of the campaign".into()) }
    }
}

impl fmt::Display for TaskFailure {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

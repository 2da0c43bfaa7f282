//! How a campaign goes, as the names of its files and those who compute it tell.

use super::chunk::TaskRanges;
use super::estimate::task_seconds;
use super::folder::CampaignFolder;
use super::manifest::Manifest;
use super::result_file::ResultKind;
use super::result_index::ResultIndex;
use super::submission::{Computer, Submission};
use super::task::TaskOutcome;
use crate::experiment::ExperimentError;
use crate::statistics::Rate;
use serde::Serialize;

/// What those who compute say of a chunk that they still have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ChunkState {
    /// It is being computed.
    Running,
    /// It is in a queue, or about to get there.
    Waiting,
    /// Whoever had it last may have it still: that cannot be seen from here.
    Unknown,
}

/// The chunks that are being computed or wait for it.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct InFlight {
    /// Number of the submission, chunk and state.
    pub chunks: Vec<(u64, u64, ChunkState)>,
    /// What could not be found out, and other things that a person should know.
    pub notes: Vec<String>,
}

impl InFlight {
    /// The tasks of the chunks in some states.
    fn tasks<'a>(
        &'a self,
        submissions: &'a [Submission],
        wanted: impl Fn(ChunkState) -> bool + 'a,
    ) -> impl Iterator<Item = u64> + 'a {
        let chunks = self.chunks.iter().filter(move |(.., state)| wanted(*state));
        let chunk = move |(number, chunk, _): &(u64, u64, ChunkState)| {
            let submission = submissions.iter().find(|submission| submission.number == *number)?;
            submission.chunks.get(*chunk as usize)
        };
        chunks.filter_map(chunk).flat_map(TaskRanges::iter)
    }
}

/// The state of a task.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TaskState {
    /// It has a result.
    Done(ResultKind),
    /// Its job is running.
    Running,
    /// It was not handed out yet, or its job has not begun.
    Waiting,
    /// It was handed out, and nobody has it any more.
    Lost,
}

/// The state of all tasks of a campaign.
pub struct CampaignState<'a> {
    folder: &'a CampaignFolder<'a>,
    submissions: Vec<Submission>,
    tasks: Vec<TaskState>,
    in_flight: InFlight,
    results: &'a ResultIndex,
}

/// How many failures are shown.
const SHOWN: usize = 20;

impl<'a> CampaignState<'a> {
    /// The state of the tasks with these results, of which these chunks are still in somebody's hands.
    pub fn new(
        folder: &'a CampaignFolder<'a>,
        results: &'a ResultIndex,
        submissions: Vec<Submission>,
        in_flight: InFlight,
    ) -> CampaignState<'a> {
        let mut tasks = vec![TaskState::Waiting; folder.manifest().tasks() as usize];
        let handed_out = submissions.iter().flat_map(|submission| &submission.chunks);
        handed_out.flat_map(|chunk| chunk.iter()).for_each(|task| tasks[task as usize] = TaskState::Lost);
        for task in in_flight.tasks(&submissions, |state| state != ChunkState::Running) {
            tasks[task as usize] = TaskState::Waiting;
        }
        for task in in_flight.tasks(&submissions, |state| state == ChunkState::Running) {
            tasks[task as usize] = TaskState::Running;
        }
        for (task, state) in tasks.iter_mut().enumerate() {
            if let Some(kind) = results.kind(task as u64) {
                *state = TaskState::Done(kind);
            }
        }
        CampaignState { folder, submissions, tasks, in_flight, results }
    }

    /// The number of the next submission.
    pub fn next_submission(&self) -> u64 {
        self.submissions.iter().map(|submission| submission.number).max().unwrap_or(0) + 1
    }

    /// The tasks in one of these states.
    pub fn tasks(&self, wanted: impl Fn(TaskState) -> bool) -> impl Iterator<Item = u64> {
        self.tasks.iter().enumerate().filter(move |(_, state)| wanted(**state)).map(|(task, _)| task as u64)
    }

    /// The tasks that are in nobody's hands: those that were lost, and those never handed out.
    pub fn missing(&self) -> Vec<u64> {
        let mut held = vec![false; self.tasks.len()];
        for task in self.in_flight.tasks(&self.submissions, |_| true) {
            held[task as usize] = true;
        }
        self.tasks(|state| !matches!(state, TaskState::Done(_)))
            .filter(|task| !held[*task as usize])
            .collect()
    }

    /// The numbers of tasks by state. No result is read.
    pub fn counts(&self) -> TaskCounts {
        let mut counts = TaskCounts::default();
        self.tasks.iter().for_each(|state| counts.add(*state));
        counts
    }

    /// The number of tasks that are computed at a time for a submission.
    fn at_work(&self, submission: &Submission) -> u64 {
        let running = |(number, _, state): &&(u64, u64, ChunkState)| {
            *number == submission.number && *state == ChunkState::Running
        };
        let chunks = self.in_flight.chunks.iter().filter(running).count() as u64;
        let jobs = match submission.on {
            Computer::Slurm(_) => chunks,
            // All its chunks are in the hands of one process.
            Computer::Local => chunks.min(1),
        };
        jobs.saturating_mul(submission.threads)
    }

    /// The same in numbers and words. Some results are read.
    pub fn status(self) -> Result<CampaignStatus, ExperimentError> {
        let (manifest, header) = (self.folder.manifest(), self.folder.manifest().header());
        let mut searches: Vec<SearchStatus> = (0..manifest.searches())
            .zip(manifest.labels())
            .map(|(search, label)| SearchStatus::new(manifest, search, label))
            .collect();
        for (number, state) in self.tasks.iter().enumerate() {
            searches[manifest.task(number as u64).search].counts.add(*state);
        }
        let mut counts = TaskCounts::default();
        let mut left = 0.0;
        for (search, seconds) in searches.iter_mut().zip(task_seconds(self.folder, self.results)?) {
            counts.add_all(&search.counts);
            let TaskCounts { tasks, done, found, failed, .. } = search.counts;
            let rate = Rate { successes: found as usize, trials: done as usize };
            search.interval = (done > 0).then(|| rate.interval());
            left += (tasks - done - failed) as f64 * seconds;
        }
        let threads: u64 = self.submissions.iter().map(|submission| self.at_work(submission)).sum();
        let failed: Vec<u64> = self.tasks(|state| state == TaskState::Done(ResultKind::Failed)).collect();
        let mut failures = Vec::new();
        for task in failed.iter().take(SHOWN) {
            failures.extend(FailedTask::read(self.folder, *task)?);
        }
        let mut notes = self.in_flight.notes.clone();
        match self.results.faults().len() {
            0 => {}
            1 => notes.push("a file among the results does not belong there; `collect` names it".into()),
            strays => notes
                .push(format!("{strays} files among the results do not belong there; `collect` names them")),
        }
        Ok(CampaignStatus {
            campaign: manifest.id().into(),
            title: header.title.clone(),
            folder: self.folder.name(),
            build: header.build.to_string(),
            complete: counts.done == counts.tasks,
            seconds_left: (threads > 0).then(|| left / threads as f64),
            counts,
            notes,
            searches,
            failures_left_out: failed.len().saturating_sub(SHOWN),
            failures,
            submissions: self.submissions.iter().map(|s| SubmissionStatus::new(s, &self.in_flight)).collect(),
        })
    }
}

/// Numbers of tasks by state; those that failed are not done.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct TaskCounts {
    /// All tasks.
    pub tasks: u64,
    /// With a result.
    pub done: u64,
    /// Those of them that found their targets.
    pub found: u64,
    /// In a job that runs.
    pub running: u64,
    /// Not handed out, or in a queue.
    pub waiting: u64,
    /// Ended with an error.
    pub failed: u64,
    /// Handed out, and in nobody's hands any more.
    pub lost: u64,
}

impl TaskCounts {
    fn add(&mut self, state: TaskState) {
        self.tasks += 1;
        match state {
            TaskState::Done(ResultKind::Failed) => self.failed += 1,
            TaskState::Done(kind) => {
                self.done += 1;
                self.found += u64::from(kind == ResultKind::Found);
            }
            TaskState::Running => self.running += 1,
            TaskState::Waiting => self.waiting += 1,
            TaskState::Lost => self.lost += 1,
        }
    }

    fn add_all(&mut self, other: &TaskCounts) {
        let TaskCounts { tasks, done, found, running, waiting, failed, lost } = *other;
        self.tasks += tasks;
        self.done += done;
        self.found += found;
        self.running += running;
        self.waiting += waiting;
        self.failed += failed;
        self.lost += lost;
    }
}

/// One search of a campaign: a row of the table of what has been found so far.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct SearchStatus {
    /// Its kind: the name of the command.
    pub kind: &'static str,
    /// The curriculum or the family.
    pub name: String,
    /// The method with its settings.
    pub label: String,
    /// Its tasks by state.
    #[serde(flatten)]
    pub counts: TaskCounts,
    /// 95 % confidence interval of the share of the tasks done that found their targets.
    pub interval: Option<[f64; 2]>,
}

impl SearchStatus {
    fn new(manifest: &Manifest, search: usize, label: String) -> SearchStatus {
        SearchStatus {
            kind: manifest.kind(search).name(),
            name: manifest.name(search).into(),
            label,
            counts: TaskCounts::default(),
            interval: None,
        }
    }
}

/// A task that ended with an error.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct FailedTask {
    /// Its number.
    pub task: u64,
    /// The task in words.
    pub what: String,
    /// Why it failed.
    pub reason: String,
    /// What to do, if that is known.
    pub advice: Option<String>,
}

impl FailedTask {
    /// `None` if its result has been taken away.
    fn read(folder: &CampaignFolder, task: u64) -> Result<Option<FailedTask>, ExperimentError> {
        let Some(result) = folder.result(task, ResultKind::Failed)? else { return Ok(None) };
        let (reason, advice) = match result {
            Ok(TaskOutcome::Failed(failure)) => (failure.reason, failure.advice),
            Ok(_) => ("its result is not an error".into(), None),
            Err(damage) => (format!("its result is unusable: {damage}"), None),
        };
        Ok(Some(FailedTask { task, what: folder.manifest().describe(task), reason, advice }))
    }
}

/// What submissions to Slurm are called.
pub const SLURM: &str = "slurm";
/// What those that a process computes itself are called.
pub const LOCAL: &str = "local";

/// A submission in words.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct SubmissionStatus {
    /// Its number.
    pub number: u64,
    /// [`SLURM`] or [`LOCAL`].
    pub on: &'static str,
    /// Tasks that are computed at a time by one of its jobs, or by its process.
    pub threads: u64,
    /// The names of its jobs, or its process.
    #[serde(rename = "where")]
    pub place: String,
    /// Number of its chunks.
    pub chunks: usize,
    /// Chunks that are being computed or wait for it.
    pub active: usize,
}

impl SubmissionStatus {
    fn new(submission: &Submission, in_flight: &InFlight) -> SubmissionStatus {
        let (on, place) = match &submission.on {
            Computer::Slurm(arrays) => {
                let names: Vec<&str> = arrays.iter().map(|array| array.name.as_str()).collect();
                (SLURM, format!("jobs {}", names.join(", ")))
            }
            Computer::Local => (LOCAL, submission.process.to_string()),
        };
        let active = in_flight.chunks.iter().filter(|(number, ..)| *number == submission.number).count();
        let Submission { number, threads, .. } = *submission;
        SubmissionStatus { number, on, threads, place, chunks: submission.chunks.len(), active }
    }
}

/// How a campaign goes.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct CampaignStatus {
    /// Its id: the beginning of the digest of its manifest.
    pub campaign: String,
    /// Its title.
    pub title: String,
    /// Where it is.
    pub folder: String,
    /// The build that computes it.
    pub build: String,
    /// Tasks by state.
    #[serde(flatten)]
    pub counts: TaskCounts,
    /// Whether all tasks are done.
    pub complete: bool,
    /// Estimate of the seconds until then, while something runs.
    pub seconds_left: Option<f64>,
    /// What a person should know.
    pub notes: Vec<String>,
    /// The searches.
    pub searches: Vec<SearchStatus>,
    /// The first tasks that failed.
    pub failures: Vec<FailedTask>,
    /// Number of the others.
    pub failures_left_out: usize,
    /// Who has been given what.
    pub submissions: Vec<SubmissionStatus>,
}

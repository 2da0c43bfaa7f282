//! How a campaign goes, as the names of its files and those who compute it tell.

use super::folder::{CampaignFolder, ResultIndex};
use super::manifest::Manifest;
use super::result_file::ResultKind;
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
    /// It is in a queue.
    Waiting,
}

/// The chunks that are being computed or wait for it.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct InFlight {
    /// Number of the submission, chunk and state.
    pub chunks: Vec<(u64, u64, ChunkState)>,
    /// What could not be found out, and other things that a person should know.
    pub notes: Vec<String>,
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
    strays: usize,
}

/// How many failures are shown, and how many results are read for the estimate of the time that is left.
const SHOWN: usize = 20;
const READ: usize = 200;

impl<'a> CampaignState<'a> {
    /// The state of the tasks with these results, of which these chunks are still in somebody's hands.
    pub fn new(
        folder: &'a CampaignFolder<'a>,
        results: &ResultIndex,
        submissions: Vec<Submission>,
        in_flight: InFlight,
    ) -> CampaignState<'a> {
        let mut tasks = vec![TaskState::Waiting; folder.manifest().tasks() as usize];
        let handed_out = submissions.iter().flat_map(|submission| &submission.chunks);
        handed_out.flat_map(|chunk| chunk.iter()).for_each(|task| tasks[task as usize] = TaskState::Lost);
        for state in [ChunkState::Waiting, ChunkState::Running] {
            for (number, chunk, _) in in_flight.chunks.iter().filter(|(.., of)| *of == state) {
                let submission = submissions.iter().find(|submission| submission.number == *number);
                let chunk = submission.and_then(|submission| submission.chunks.get(*chunk as usize));
                for task in chunk.into_iter().flat_map(|chunk| chunk.iter()) {
                    tasks[task as usize] = match state {
                        ChunkState::Running => TaskState::Running,
                        ChunkState::Waiting => TaskState::Waiting,
                    };
                }
            }
        }
        for (task, state) in tasks.iter_mut().enumerate() {
            if let Some(kind) = results.kind(task as u64) {
                *state = TaskState::Done(kind);
            }
        }
        let strays = results.faults().len();
        CampaignState { folder, submissions, tasks, in_flight, strays }
    }

    /// Number of the last submission.
    pub fn last_submission(&self) -> u64 {
        self.submissions.last().map_or(0, |submission| submission.number)
    }

    /// The tasks in one of these states.
    pub fn tasks(&self, wanted: impl Fn(TaskState) -> bool) -> impl Iterator<Item = u64> {
        self.tasks.iter().enumerate().filter(move |(_, state)| wanted(**state)).map(|(task, _)| task as u64)
    }

    /// The tasks that are in nobody's hands: those that were lost, and those never handed out.
    pub fn missing(&self) -> Vec<u64> {
        let mut held = vec![false; self.tasks.len()];
        for (number, chunk, _) in &self.in_flight.chunks {
            let submission = self.submissions.iter().find(|submission| submission.number == *number);
            let chunk = submission.and_then(|submission| submission.chunks.get(*chunk as usize));
            chunk.into_iter().flat_map(|chunk| chunk.iter()).for_each(|task| held[task as usize] = true);
        }
        self.tasks(|state| !matches!(state, TaskState::Done(_)))
            .filter(|task| !held[*task as usize])
            .collect()
    }

    /// The same in numbers and words. Some results are read.
    pub fn status(self) -> Result<CampaignStatus, ExperimentError> {
        let (manifest, header) = (self.folder.manifest(), self.folder.manifest().header());
        let mut searches: Vec<SearchStatus> =
            (0..manifest.searches()).map(|search| SearchStatus::new(manifest, search)).collect();
        let mut examples: Vec<Vec<(u64, ResultKind)>> = vec![vec![]; searches.len()];
        // As many of each search, spread over its tasks.
        let each = (READ / searches.len().max(1)).max(1);
        let stride = (self.tasks.len() / searches.len().max(1) / each).max(1) as u64;
        for (number, state) in self.tasks.iter().enumerate() {
            let task = manifest.task(number as u64);
            let search = &mut searches[task.search];
            search.counts.add(*state);
            if let TaskState::Done(kind @ (ResultKind::Found | ResultKind::Missed)) = state
                && (search.counts.done - 1) % stride == 0
                && examples[task.search].len() < each
            {
                examples[task.search].push((task.number, *kind));
            }
        }
        let mut counts = TaskCounts::default();
        searches.iter().for_each(|search| counts.add_all(&search.counts));
        let mut left = 0.0;
        let mut read = 0;
        for (number, (search, examples)) in searches.iter_mut().zip(examples).enumerate() {
            let rate = Rate { successes: search.counts.found as usize, trials: search.counts.done as usize };
            search.interval = (search.counts.done > 0).then(|| rate.interval());
            let undone = search.counts.tasks - search.counts.done - search.counts.failed;
            if undone == 0 {
                continue;
            }
            let mut seconds = Vec::new();
            for (task, kind) in examples.into_iter().take(READ - read.min(READ)) {
                read += 1;
                // One that is damaged is told when results are collected.
                seconds.extend(self.folder.result(task, kind)?.ok().as_ref().and_then(TaskOutcome::seconds));
            }
            let mean = (!seconds.is_empty()).then(|| seconds.iter().sum::<f64>() / seconds.len() as f64);
            left += undone as f64 * mean.unwrap_or_else(|| manifest.seconds(number));
        }
        let at_work = self.in_flight.chunks.iter().filter(|(.., state)| *state == ChunkState::Running);
        let threads = |number: u64| {
            self.submissions.iter().find(|s| s.number == number).map_or(0, |submission| {
                match &submission.on {
                    Computer::Slurm { threads, .. } => *threads,
                    // All its chunks are in the hands of one process.
                    Computer::Local(_) => 0,
                }
            })
        };
        let local = |number: u64| self.in_flight.chunks.iter().any(|(of, ..)| *of == number);
        let locals = self.submissions.iter().filter(|submission| local(submission.number));
        let local_threads = locals.map(|submission| match &submission.on {
            Computer::Local(process) => process.threads,
            Computer::Slurm { .. } => 0,
        });
        let threads = at_work.map(|(number, ..)| threads(*number)).sum::<u64>() + local_threads.sum::<u64>();
        let failed: Vec<u64> = self.tasks(|state| state == TaskState::Done(ResultKind::Failed)).collect();
        let mut failures = Vec::new();
        for task in failed.iter().take(SHOWN) {
            failures.push(FailedTask::read(self.folder, *task)?);
        }
        let mut notes = self.in_flight.notes.clone();
        if self.strays > 0 {
            notes.push(format!(
                "{} files among the results do not belong there; `collect` names them",
                self.strays
            ));
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
    fn new(manifest: &Manifest, search: usize) -> SearchStatus {
        SearchStatus {
            kind: manifest.kind(search).name(),
            name: manifest.name(search).into(),
            label: manifest.label(search),
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
    fn read(folder: &CampaignFolder, task: u64) -> Result<FailedTask, ExperimentError> {
        let (reason, advice) = match folder.result(task, ResultKind::Failed)? {
            Ok(TaskOutcome::Failed(failure)) => (failure.reason, failure.advice),
            Ok(_) => ("its result is not an error".into(), None),
            Err(damage) => (format!("its result is unusable: {damage}"), None),
        };
        Ok(FailedTask { task, what: folder.manifest().describe(task), reason, advice })
    }
}

/// A submission in words.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct SubmissionStatus {
    /// Its number.
    pub number: u64,
    /// `slurm` or `local`.
    pub on: &'static str,
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
            Computer::Slurm { arrays, .. } => {
                let names: Vec<&str> = arrays.iter().map(|array| array.name.as_str()).collect();
                ("slurm", format!("jobs {}", names.join(", ")))
            }
            Computer::Local(process) => {
                ("local", format!("host {}, process {}", process.host, process.process))
            }
        };
        let active = in_flight.chunks.iter().filter(|(number, ..)| *number == submission.number).count();
        SubmissionStatus { number: submission.number, on, place, chunks: submission.chunks.len(), active }
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

//! Workers: processes that compute the tasks of chunks.

use super::checkpoint::{self, Checkpoint};
use super::compute::compute;
use super::folder::{CampaignFolder, pauses, unread};
use super::result_file::{self, ResultKind};
use super::searches::Searches;
use super::shared_folder::patiently;
use super::submission::Submission;
use super::task::{CampaignSearch, CampaignTask, TaskOutcome};
use crate::discovery::Problems;
use crate::experiment::{ExperimentError, Monitor};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Computes chunks of a submission.
pub struct Worker<'a> {
    folder: &'a CampaignFolder<'a>,
    /// Tasks without results, those of one seed together.
    tasks: Vec<CampaignTask>,
    /// Number of tasks that had results.
    had: u64,
    /// The files of checkpoints of earlier attempts.
    checkpoints: BTreeMap<u64, Vec<String>>,
}

/// What a worker has come to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct WorkerEnd {
    /// Tasks that had results.
    pub had: u64,
    /// Tasks computed.
    pub computed: u64,
    /// Tasks among them that ended with an error.
    pub failed: u64,
    /// Tasks left over, because it was to stop.
    pub left: u64,
}

/// What the threads of a worker share.
struct Progress<'a> {
    end: WorkerEnd,
    searches: Searches<'a>,
    failure: Option<ExperimentError>,
}

impl<'a> Worker<'a> {
    /// A worker for some chunks of a submission. An error if it is of another build than the campaign.
    pub fn new(
        folder: &'a CampaignFolder<'a>,
        submission: &Submission,
        chunks: impl IntoIterator<Item = u64>,
    ) -> Result<Worker<'a>, ExperimentError> {
        let manifest = folder.manifest();
        manifest.check_build()?;
        let mut tasks = Vec::new();
        for chunk in chunks {
            let chunk = submission.chunks.get(chunk as usize).ok_or_else(|| {
                let (number, count) = (submission.number, submission.chunks.len());
                ExperimentError::new(format!("submission {number} has no chunk {chunk}"))
                    .advise(format!("a chunk from 0 to {}", count.saturating_sub(1)))
            })?;
            tasks.extend(chunk.iter());
        }
        let all = tasks.len();
        let folders: BTreeSet<String> = tasks.iter().map(|task| result_file::folder_of(*task)).collect();
        let results = folder.results_in(folders, &pauses())?;
        tasks.retain(|task| results.kind(*task).is_none());
        // If a task ends every process that computes it, the others must have their turn when they are handed out again.
        let turn = (submission.number - 1) as usize % 4;
        let begin = tasks.len() * turn / 4;
        tasks.rotate_left(begin);
        let list = || checkpoint::earlier(folder.files);
        let checkpoints = patiently(folder.files, &pauses(), false, &|| false, list)
            .map_err(|error| unread(folder.files, "checkpoints", &error))?;
        let had = (all - tasks.len()) as u64;
        let tasks = tasks.into_iter().map(|number| manifest.task(number)).collect();
        Ok(Worker { folder, tasks, had, checkpoints })
    }

    /// Computes its tasks, as many at a time as there are threads.
    pub fn run(&self, threads: usize, monitor: &dyn Monitor) -> Result<WorkerEnd, ExperimentError> {
        // Tasks with the same seed share their instances: one thread computes them all, if there are enough seeds.
        let by_seed: Vec<&[CampaignTask]> = self.tasks.chunk_by(|a, b| a.seed == b.seed).collect();
        let jobs = if by_seed.len() < threads { self.tasks.chunks(1).collect() } else { by_seed };
        let doing = |computed: u64| monitor.doing(&format!("{computed} of {} tasks", self.tasks.len()));
        // At once: the first task may take minutes.
        doing(0);
        let next = AtomicUsize::new(0);
        let end = WorkerEnd { had: self.had, left: self.tasks.len() as u64, ..WorkerEnd::default() };
        let searches = Searches::new(self.folder.manifest());
        let shared = Mutex::new(Progress { end, searches, failure: None });
        let lock = || -> MutexGuard<Progress> { shared.lock().unwrap_or_else(PoisonError::into_inner) };
        let work = || -> Result<(), ExperimentError> {
            // A pool of one thread for each task: there are many tasks, and each needs much memory.
            let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
            while let Some(job) = jobs.get(next.fetch_add(1, Ordering::SeqCst)) {
                let problems = Arc::<Problems>::default();
                for task in *job {
                    if monitor.stopped() || lock().failure.is_some() {
                        return Ok(());
                    }
                    let search = lock().searches.get(task.search);
                    let done = match search {
                        Ok(search) => pool.install(|| self.one(*task, &search, &problems, monitor))?,
                        // Searches that can be read go on.
                        Err(error) => {
                            let failed = TaskOutcome::Failed(error.into());
                            Some(self.folder.finish(task.number, &failed, monitor)?)
                        }
                    };
                    let Some(kind) = done else { return Ok(()) };
                    let mut progress = lock();
                    progress.end.computed += 1;
                    progress.end.left -= 1;
                    progress.end.failed += u64::from(kind == ResultKind::Failed);
                    doing(progress.end.computed);
                }
            }
            Ok(())
        };
        std::thread::scope(|scope| {
            for _ in 0..threads.min(jobs.len()) {
                scope.spawn(|| {
                    if let Err(error) = work() {
                        lock().failure.get_or_insert(error);
                    }
                });
            }
        });
        let Progress { end, failure, .. } = shared.into_inner().unwrap_or_else(PoisonError::into_inner);
        failure.map_or(Ok(end), Err)
    }

    /// Computes a task and writes its result; `None` if it was interrupted, with a checkpoint.
    fn one(
        &self,
        task: CampaignTask,
        search: &CampaignSearch,
        problems: &Arc<Problems>,
        monitor: &dyn Monitor,
    ) -> Result<Option<ResultKind>, ExperimentError> {
        let earlier = self.checkpoints.get(&task.number).cloned().unwrap_or_default();
        let (files, campaign) = (self.folder.files, self.folder.manifest().id());
        let stopped = || monitor.stopped();
        let checkpoint = Checkpoint::open(files, campaign, task.number, earlier, &stopped);
        let Some(outcome) = compute(search, task.seed, problems, &checkpoint, monitor) else {
            checkpoint.keep();
            return Ok(None);
        };
        let finished = self.folder.finish(task.number, &outcome, monitor);
        match finished {
            Ok(ResultKind::Found | ResultKind::Missed) => checkpoint.discard(),
            // What has failed may be computed again, perhaps with more memory.
            Ok(ResultKind::Failed) | Err(_) => checkpoint.keep(),
        }
        finished.map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::super::simulated::{Disk, SimulatedMachine, begin, work};
    use super::super::testing::small_plan;
    use super::*;

    struct Heard(Mutex<Vec<String>>);

    impl Monitor for Heard {
        fn doing(&self, what: &str) {
            self.0.lock().unwrap().push(what.into());
        }
    }

    #[test]
    fn it_says_what_it_does_before_the_first_task_has_ended() {
        let disk = Disk::default();
        begin(&disk, small_plan("one", 2), 1);
        let heard = Heard(Mutex::default());
        work(&SimulatedMachine::new(&disk), 1, 0, &heard).unwrap();
        assert_eq!(heard.0.into_inner().unwrap(), [0, 1, 2].map(|ended| format!("{ended} of 2 tasks")));
    }
}

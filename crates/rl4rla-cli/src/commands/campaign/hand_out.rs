//! `rl4rla campaign submit`, `resume` and `worker`: handing tasks out, and computing them.

use super::look::Look;
use super::page::step;
use super::{files, page};
use crate::args::{
    Computing, EMBEDDED, Resources, ResumeArguments, Shared, SubmitArguments, WorkerArguments,
};
use crate::failure::Failure;
use crate::interrupt::{self, INTERRUPTED, Terminal};
use crate::local_process;
use crate::page::{Page, faint, several};
use crate::shell::quoted;
use crate::slurm::{self, JobScript, JobWork, SlurmLimits};
use rl4rla::experiment::campaign::{
    CampaignFolder, Chunking, Computer, FolderOnDisk, Submission, SubmissionMark, TaskRanges, Worker,
    WorkerEnd, task_seconds, verify,
};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// The time that a worker has to save its work: half of what Slurm allows by default before it kills.
const GRACE: Duration = Duration::from_secs(15);

/// Hands out all tasks for the first time.
pub fn submit(args: &SubmitArguments, shared: &Shared) -> Result<Page, Failure> {
    let path = &args.folder.folder;
    let files = files(path)?;
    let folder = CampaignFolder::open(&files)?;
    if !folder.submissions()?.is_empty() {
        let message = format!("the tasks of {} were handed out before", path.display());
        return Err(Failure::new(message)
            .advise(format!("rl4rla campaign resume {}, which hands out what is missing", quoted(path))));
    }
    let look = Look::at(&folder)?;
    HandOut::new(&folder, &files, path, shared).all(&look, &args.computing)
}

/// Hands out what is missing.
pub fn resume(args: &ResumeArguments, shared: &Shared) -> Result<Page, Failure> {
    let path = &args.folder.folder;
    let files = files(path)?;
    let folder = CampaignFolder::open(&files)?;
    folder.manifest().check_build()?;
    folder.refresh();
    let mut look = Look::at(&folder)?;
    if let Some(failure) = look.unknown.take().filter(|_| !args.take_over) {
        return Err(failure.or("--take-over, which hands out what jobs may still be computing"));
    }
    if args.take_over {
        look.in_flight.chunks.clear();
    }
    if args.set_aside {
        let faults = verify(&folder, &look.results, &Terminal)?;
        if args.computing.dry_run {
            look.results.without(&faults);
        } else {
            folder.set_aside(&faults)?;
            look.results = folder.results()?;
        }
        if let [(file, damage), ..] = look.results.faults() {
            let message = format!("cannot move {file} of {}: {damage}", path.display());
            return Err(Failure::new(message).advise("remove it yourself"));
        }
    }
    let failed = if args.failed { look.results.without_failures() } else { vec![] };
    HandOut { failed, ..HandOut::new(&folder, &files, path, shared) }.all(&look, &args.computing)
}

/// A campaign whose tasks are handed out.
pub struct HandOut<'a> {
    pub folder: &'a CampaignFolder<'a>,
    /// The folder, whole, and as it was typed.
    pub root: &'a Path,
    pub path: &'a Path,
    pub shared: &'a Shared,
    /// Tasks that failed, and of which the results are removed as soon as they are handed out again.
    failed: Vec<u64>,
}

impl<'a> HandOut<'a> {
    pub fn new(
        folder: &'a CampaignFolder<'a>,
        files: &'a FolderOnDisk,
        path: &'a Path,
        shared: &'a Shared,
    ) -> HandOut<'a> {
        HandOut { folder, root: files.root(), path, shared, failed: vec![] }
    }

    /// Hands what is missing out to whoever computes.
    fn all(&self, look: &Look, computing: &Computing) -> Result<Page, Failure> {
        self.folder.manifest().check_build()?;
        let tasks: TaskRanges = look.state(self.folder).missing().into_iter().collect();
        let (count, nothing) = (several(tasks.count(), "task"), json!({ "chunks": 0, "scripts": [] }));
        match computing.local {
            _ if tasks.is_empty() && computing.dry_run => self.dry(look, "nothing is missing\n", nothing),
            _ if tasks.is_empty() => {
                let page = self.page()?;
                Ok(Page { text: format!("nothing is missing\n\n{}", page.text), ..page })
            }
            Some(threads) if computing.dry_run => {
                self.dry(look, &format!("{count}, {threads} at a time\n"), nothing)
            }
            Some(threads) => {
                computing.resources.cache_for(threads as usize);
                let end = self.compute(look, tasks, threads)?;
                Ok(after(&end, self.page()?, &interrupted(self.path, Some(threads))))
            }
            None if computing.dry_run => self.scripts(look, tasks, &computing.resources),
            None => {
                let Sent { json, text } = self.send(look, tasks, &computing.resources)?;
                let mut page = self.page()?;
                page.text = format!("{text}\n\n{}", page.text);
                page.json["submission"] = json;
                Ok(page)
            }
        }
    }

    /// How it goes now.
    fn page(&self) -> Result<Page, Failure> {
        let status = Look::at(self.folder)?.state(self.folder).status()?;
        Ok(page::of(&status, self.path, self.shared))
    }

    /// Computes tasks in this process.
    pub fn compute(&self, look: &Look, tasks: TaskRanges, threads: u64) -> Result<WorkerEnd, Failure> {
        let submission = self.submission(look, threads, Computer::Local, vec![tasks]);
        self.enter(&submission)?;
        interrupt::saving(interrupted(self.path, Some(threads)));
        interrupt::allow(GRACE);
        let worker = Worker::new(self.folder, &submission, [0]);
        let end = worker.and_then(|worker| worker.run(threads as usize, &Terminal));
        // Inside another program this process goes on, and would be taken to be still at work.
        let told = self.folder.mark(&submission, SubmissionMark::Ended);
        let end = end?;
        told?;
        Ok(end)
    }

    /// Hands tasks out to Slurm.
    pub fn send(&self, look: &Look, tasks: TaskRanges, resources: &Resources) -> Result<Sent, Failure> {
        let count = tasks.count();
        let limits = slurm::limits(&self.folder.manifest().header().slurm)
            .map_err(|failure| failure.or("--local N, to compute on this machine"))?;
        let (submission, scripts) = self.cut(look, tasks, limits, resources)?;
        // First of all, so that no job is ever unknown.
        self.enter(&submission)?;
        let jobs = self.submit(&submission, &scripts);
        // What is not in the queue by now will not get there.
        let told = self.folder.mark(&submission, SubmissionMark::Ended);
        let jobs = jobs?;
        told?;
        let (number, chunks) = (submission.number, submission.chunks.len());
        let named = if jobs.is_empty() { String::new() } else { format!(", as job {}", jobs.join(", ")) };
        let (tasks, in_chunks) = (several(count, "task"), several(chunks as u64, "chunk"));
        Ok(Sent {
            text: format!("submitted {tasks} in {in_chunks} to Slurm{named}"),
            json: json!({ "number": number, "chunks": chunks, "jobs": jobs }),
        })
    }

    /// Submits the arrays of a submission; returns the numbers of the jobs, as far as they are known.
    fn submit(&self, submission: &Submission, scripts: &[JobScript]) -> Result<Vec<String>, Failure> {
        let mut jobs = Vec::new();
        let arrays = submission.job_arrays();
        for (before, (array, script)) in arrays.iter().zip(scripts).enumerate() {
            let name = format!("jobs/{:04}-{}.sh", submission.number, array.first);
            self.folder.write(&name, &script.text())?;
            // Slurm makes no folders.
            self.folder.write("logs/.here", "")?;
            let sent = slurm::submit(&self.root.join(name), script).or_else(|failure| {
                // It may have got through all the same.
                match slurm::queue(&[&array.name]) {
                    Ok(queue) if !queue.jobs.is_empty() => Ok(String::new()),
                    _ => Err(failure),
                }
            });
            match sent {
                Ok(job) => jobs.extend(Some(job).filter(|job| !job.is_empty())),
                Err(failure) => {
                    let (message, _) = failure.into_words();
                    let all = arrays.len();
                    let words = format!("{before} of {all} job arrays were submitted, then: {message}");
                    let command = format!("rl4rla campaign resume {}", quoted(self.path));
                    return Err(Failure::new(words)
                        .advise(format!("`{command}`, once that is fixed: it hands out what is missing")));
                }
            }
        }
        Ok(jobs)
    }

    /// The scripts that would be submitted.
    fn scripts(&self, look: &Look, tasks: TaskRanges, resources: &Resources) -> Result<Page, Failure> {
        let (limits, remark) = match slurm::limits(&self.folder.manifest().header().slurm) {
            Ok(limits) => (limits, String::new()),
            Err(failure) => (USUAL, format!("{}; Slurm's default limits are assumed\n\n", failure.message())),
        };
        let (submission, scripts) = self.cut(look, tasks, limits, resources)?;
        let scripts: Vec<String> = scripts.iter().map(JobScript::text).collect();
        let text = format!("{}{}", faint(&remark), scripts.join("\n"));
        self.dry(look, &text, json!({ "chunks": submission.chunks.len(), "scripts": scripts }))
    }

    /// The page of what would be done.
    fn dry(&self, look: &Look, text: &str, jobs: Value) -> Result<Page, Failure> {
        let mut json = json!(look.state(self.folder).status()?);
        for key in ["chunks", "scripts"] {
            json[key] = jobs[key].clone();
        }
        Ok(Page::ok(json, text.into()))
    }

    fn submission(&self, look: &Look, threads: u64, on: Computer, chunks: Vec<TaskRanges>) -> Submission {
        let (campaign, number) =
            (self.folder.manifest().id().into(), look.state(self.folder).next_submission());
        Submission { campaign, number, process: local_process::this(), threads, on, chunks }
    }

    /// A submission of tasks to Slurm, with the scripts of its arrays.
    fn cut(
        &self,
        look: &Look,
        tasks: TaskRanges,
        limits: SlurmLimits,
        resources: &Resources,
    ) -> Result<(Submission, Vec<JobScript>), Failure> {
        let manifest = self.folder.manifest();
        let header = manifest.header();
        let threads = header.slurm.cpus.unwrap_or(1);
        let seconds = task_seconds(self.folder, &look.results)?;
        let chunking = Chunking {
            most: limits.jobs,
            chunks: header.jobs.chunks,
            seconds: header.jobs.minutes.map(|minutes| 60.0 * minutes),
            // Half of it, because times are estimates.
            longest: header
                .slurm
                .time
                .as_deref()
                .and_then(slurm::seconds)
                .map_or(f64::INFINITY, |limit| limit / 2.0),
            threads,
        };
        let chunks = chunking.cut(&tasks, |task| seconds[manifest.task(task).search]);
        let number = look.state(self.folder).next_submission();
        let arrays = Submission::arrays(self.folder, number, chunks.len() as u64, limits.array);
        if EMBEDDED.load(Ordering::Relaxed) {
            return Err(Failure::new("jobs run the command rl4rla, and this is another program")
                .advise("the same with the command in a terminal"));
        }
        let work = JobWork {
            options: &header.slurm,
            folder: self.root,
            directory: &header.directory,
            program: &std::env::current_exe()?,
            submission: number,
            cache: resources.cache,
        };
        work.check()?;
        let scripts = arrays.iter().map(|array| work.script(array)).collect();
        Ok((self.submission(look, threads, Computer::Slurm(arrays), chunks), scripts))
    }

    fn enter(&self, submission: &Submission) -> Result<(), Failure> {
        // Before anybody computes, because a task with a result is not computed.
        self.folder.remove_failures(&self.failed)?;
        match self.folder.submit(submission)? {
            true => Ok(()),
            false => {
                Err(Failure::new("somebody else is handing out tasks of this campaign at the same time")
                    .advise(format!("rl4rla campaign status {}", quoted(self.path))))
            }
        }
    }
}

/// What was handed out to Slurm.
pub struct Sent {
    json: Value,
    text: String,
}

/// The limits that Slurm has unless it is told others.
const USUAL: SlurmLimits = SlurmLimits { array: 1001, jobs: 10_000 };

/// Computes a chunk: what a job does.
pub fn worker(args: &WorkerArguments) -> Result<Page, Failure> {
    let path = &args.folder.folder;
    let files = files(path)?;
    interrupt::saving(interrupted(path, None));
    interrupt::allow(GRACE);
    let (folder, submission) = CampaignFolder::open_for_work(&files, args.submission, &Terminal)?;
    let threads = submission.threads as usize;
    args.resources.cache_for(threads);
    let end = Worker::new(&folder, &submission, [args.chunk])?.run(threads, &Terminal)?;
    let WorkerEnd { had, computed, failed, left } = end;
    // The same words as those of a campaign, of the tasks of this chunk.
    let json = json!({
        "tasks": had + computed + left, "done": had + computed - failed, "running": 0, "failed": failed, "lost": left,
        "had": had, "computed": computed,
    });
    let text = format!(
        "chunk {} of submission {}: {} computed, {failed} of them failed; {had} had results, {left} are left\n",
        args.chunk,
        args.submission,
        several(computed, "task")
    );
    Ok(after(&end, Page::ok(json, text), &interrupted(path, None)))
}

/// A page, with the exit code and the words that say whether the work came to its end.
fn after(end: &WorkerEnd, page: Page, interrupted: &Page) -> Page {
    if end.left == 0 {
        return Page { code: u8::from(end.failed > 0), ..page };
    }
    let mut json = page.json;
    for key in ["interrupted", "resume"] {
        json[key] = interrupted.json[key].clone();
    }
    Page { json, text: format!("{}\n{}", interrupted.text, page.text), code: interrupted.code }
}

fn interrupted(path: &Path, local: Option<u64>) -> Page {
    let command = step("resume", path, local);
    Page {
        json: json!({ "interrupted": true, "resume": command }),
        text: format!("interrupted; everything computed is saved. To continue:\n  {command}\n"),
        code: INTERRUPTED,
    }
}

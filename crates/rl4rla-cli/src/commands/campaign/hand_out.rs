//! `rl4rla campaign submit`, `resume` and `worker`: handing tasks out, and computing them.

use super::look::Look;
use super::{files, page};
use crate::args::{Computing, EMBEDDED, ResumeArguments, Shared, SubmitArguments, WorkerArguments};
use crate::failure::Failure;
use crate::interrupt::{self, INTERRUPTED, Terminal};
use crate::local_process;
use crate::page::{Page, faint};
use crate::shell::quoted;
use crate::slurm::{self, JobScript, Limits};
use rl4rla::experiment::campaign::{
    CampaignFolder, Chunking, Computer, Submission, TaskRanges, Worker, WorkerEnd, task_seconds, verify,
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
    let missing = look.state(&folder).missing().into_iter().collect();
    HandOut { folder: &folder, root: files.root(), path, shared }.all(&look, missing, &args.computing)
}

/// Hands out what is missing.
pub fn resume(args: &ResumeArguments, shared: &Shared) -> Result<Page, Failure> {
    let path = &args.folder.folder;
    let files = files(path)?;
    let folder = CampaignFolder::open(&files)?;
    folder.refresh();
    let mut look = Look::at(&folder)?;
    if let Some(failure) = look.unknown.take().filter(|_| !args.take_over) {
        return Err(failure.or("--take-over, which hands out what jobs may still be computing"));
    }
    if args.take_over {
        look.in_flight.chunks.clear();
    }
    if args.set_aside && !args.computing.dry_run {
        folder.set_aside(&verify(&folder, &look.results, &Terminal)?)?;
        look.results = folder.results()?;
    }
    if args.failed && !args.computing.dry_run {
        folder.forget_failures(&mut look.results)?;
    }
    let missing = look.state(&folder).missing().into_iter().collect();
    HandOut { folder: &folder, root: files.root(), path, shared }.all(&look, missing, &args.computing)
}

/// A campaign whose tasks are handed out.
pub struct HandOut<'a> {
    pub folder: &'a CampaignFolder<'a>,
    /// The folder, whole, and as it was typed.
    pub root: &'a Path,
    pub path: &'a Path,
    pub shared: &'a Shared,
}

impl HandOut<'_> {
    /// Hands tasks out to whoever computes.
    fn all(&self, look: &Look, tasks: TaskRanges, computing: &Computing) -> Result<Page, Failure> {
        self.folder.manifest().check_build()?;
        match computing.local {
            _ if tasks.is_empty() => self.page(),
            Some(threads) if computing.dry_run => {
                let (count, text) =
                    (tasks.count(), format!("{} tasks, {threads} at a time\n", tasks.count()));
                Ok(Page::ok(json!({ "tasks": count, "scripts": [] }), text))
            }
            Some(threads) => {
                computing.resources.cache_for(threads as usize);
                let end = self.compute(look, tasks, threads)?;
                Ok(after(&end, self.page()?, self.path))
            }
            None if computing.dry_run => self.scripts(look, tasks),
            None => {
                let Sent { json, text } = self.send(look, tasks)?;
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
        let campaign = self.folder.manifest().id().to_string();
        let on = Computer::Local(local_process::this(threads));
        let submission = Submission { campaign, number: number_after(look), on, chunks: vec![tasks] };
        self.enter(&submission)?;
        interrupt::saving(interrupted(self.path));
        interrupt::allow(GRACE);
        let worker = Worker::new(self.folder, &submission, [0]);
        let end = worker.and_then(|worker| worker.run(threads as usize, &Terminal));
        // Inside another program this process goes on, and would be taken to be still at work.
        let told = self.folder.end(&submission);
        let end = end?;
        told?;
        Ok(end)
    }

    /// Hands tasks out to Slurm.
    pub fn send(&self, look: &Look, tasks: TaskRanges) -> Result<Sent, Failure> {
        let count = tasks.count();
        let limits = slurm::limits(&self.folder.manifest().header().slurm)
            .map_err(|failure| failure.or("--local N, to compute on this machine"))?;
        let (submission, scripts) = self.cut(look, tasks, limits)?;
        let Computer::Slurm { arrays, .. } = &submission.on else { unreachable!("it was cut for Slurm") };
        // First of all, so that no job is ever unknown.
        self.enter(&submission)?;
        let mut jobs = Vec::new();
        for (before, (array, script)) in arrays.iter().zip(&scripts).enumerate() {
            let name = format!("jobs/{:04}-{}.sh", submission.number, array.first);
            self.folder.write(&name, script)?;
            // Slurm makes no folders.
            self.folder.write("logs/.here", "")?;
            let sent = slurm::submit(&self.root.join(name)).or_else(|failure| {
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
                        .advise(format!("`{command}`, when that is mended: it hands out what is missing")));
                }
            }
        }
        let (number, chunks) = (submission.number, submission.chunks.len());
        let named = if jobs.is_empty() { String::new() } else { format!(", as job {}", jobs.join(", ")) };
        Ok(Sent {
            text: format!("submitted {count} tasks in {chunks} chunks to Slurm{named}"),
            json: json!({ "number": number, "chunks": chunks, "jobs": jobs }),
        })
    }

    /// The scripts that would be submitted.
    fn scripts(&self, look: &Look, tasks: TaskRanges) -> Result<Page, Failure> {
        let (limits, remark) = match slurm::limits(&self.folder.manifest().header().slurm) {
            Ok(limits) => (limits, String::new()),
            Err(failure) => (USUAL, format!("{}; its usual limits are assumed\n\n", failure.message())),
        };
        let count = tasks.count();
        let (submission, scripts) = self.cut(look, tasks, limits)?;
        let text = format!("{}{}", faint(&remark), scripts.join("\n"));
        Ok(Page::ok(json!({ "tasks": count, "chunks": submission.chunks.len(), "scripts": scripts }), text))
    }

    /// A submission of tasks to Slurm, with the scripts of its arrays.
    fn cut(
        &self,
        look: &Look,
        tasks: TaskRanges,
        limits: Limits,
    ) -> Result<(Submission, Vec<String>), Failure> {
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
        let (campaign, number) = (manifest.id().to_string(), number_after(look));
        let arrays = Submission::arrays(&campaign, number, chunks.len() as u64, limits.array);
        if EMBEDDED.load(Ordering::Relaxed) {
            return Err(Failure::new("jobs run the command rl4rla, and this is another program")
                .advise("the same with the command in a terminal"));
        }
        let program = std::env::current_exe()?;
        let script = |array| {
            let (folder, directory) = (self.root, header.directory.as_path());
            let script = JobScript {
                array,
                submission: number,
                options: &header.slurm,
                folder,
                directory,
                program: &program,
            };
            script.text()
        };
        let scripts = arrays.iter().map(script).collect();
        Ok((Submission { campaign, number, on: Computer::Slurm { arrays, threads }, chunks }, scripts))
    }

    fn enter(&self, submission: &Submission) -> Result<(), Failure> {
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
const USUAL: Limits = Limits { array: 1001, jobs: 10_000 };

fn number_after(look: &Look) -> u64 {
    look.submissions.last().map_or(0, |submission| submission.number) + 1
}

/// Computes a chunk: what a job does.
pub fn worker(args: &WorkerArguments) -> Result<Page, Failure> {
    let path = &args.folder.folder;
    let files = files(path)?;
    interrupt::saving(interrupted(path));
    interrupt::allow(GRACE);
    let (folder, submission) = CampaignFolder::open_for_work(&files, args.submission, &Terminal)?;
    let threads = submission.threads() as usize;
    args.resources.cache_for(threads);
    let end = Worker::new(&folder, &submission, [args.chunk])?.run(threads, &Terminal)?;
    let WorkerEnd { had, computed, failed, left } = end;
    let json = json!({ "had": had, "computed": computed, "failed": failed, "left": left });
    let text = format!(
        "chunk {} of submission {}: {computed} tasks computed, {failed} of them failed; {had} had results, {left} are left\n",
        args.chunk, args.submission
    );
    Ok(after(&end, Page::ok(json, text), path))
}

/// A page, with the exit code and the words that say whether the work came to its end.
fn after(end: &WorkerEnd, page: Page, path: &Path) -> Page {
    if end.left == 0 {
        return Page { code: u8::from(end.failed > 0), ..page };
    }
    let Page { json: mut told, text, code } = interrupted(path);
    let mut json = page.json;
    for key in ["interrupted", "resume"] {
        json[key] = told[key].take();
    }
    Page { json, text: format!("{text}\n{}", page.text), code }
}

fn interrupted(path: &Path) -> Page {
    let command = format!("rl4rla campaign resume {}", quoted(path));
    Page {
        json: json!({ "interrupted": true, "resume": command }),
        text: format!("interrupted; everything computed is saved. To continue:\n  {command}\n"),
        code: INTERRUPTED,
    }
}

//! `rl4rla campaign`: searches over many seeds, computed by Slurm jobs or by processes of this machine.

mod collect;
mod computed;
mod file;
mod hand_out;
mod look;
mod options;
mod page;
mod plan;

pub use computed::{Campaigned, computed, interruption};
pub use plan::{of_audit, of_exploration, of_sweep, of_sweeps};

use crate::args::{Campaign, CampaignStep, Shared};
use crate::failure::Failure;
use crate::interrupt::{self, Terminal};
use crate::local_process;
use crate::page::Page;
use crate::slurm;
use look::Look;
use rl4rla::experiment::Monitor;
use rl4rla::experiment::campaign::{CampaignFolder, Computer, FolderOnDisk, Submission, SubmissionMark};
use std::path::Path;
use std::time::{Duration, Instant};

/// Runs a step of a campaign.
pub fn run(args: &Campaign, shared: &Shared) -> Result<Page, Failure> {
    match &args.step {
        CampaignStep::Plan(args) => plan::run(args, shared),
        CampaignStep::Submit(args) => args.computing.resources.within(|| hand_out::submit(args, shared)),
        CampaignStep::Worker(args) => args.resources.within(|| hand_out::worker(args)),
        CampaignStep::Resume(args) => args.computing.resources.within(|| hand_out::resume(args, shared)),
        CampaignStep::Collect(args) => collect::run(args, shared),
        CampaignStep::Status(args) => {
            let path = &args.folder.folder;
            let files = files(path)?;
            let folder = CampaignFolder::open(&files)?;
            let mut look = if args.wait { wait(&folder)? } else { Look::at(&folder)? };
            if interrupt::stopped() {
                return Ok(interrupt::resumable());
            }
            look.read_logs(&folder);
            Ok(page::of(&look.state(&folder).status()?, path, shared))
        }
        CampaignStep::Cancel(args) => cancel(&args.folder, shared),
    }
}

/// The files of a folder, whose path is made whole: jobs work elsewhere.
fn files(folder: &Path) -> Result<FolderOnDisk, Failure> {
    if folder.as_os_str().is_empty() {
        return Err(Failure::new("the path of the folder is empty").advise("the folder of the campaign"));
    }
    Ok(FolderOnDisk::new(std::path::absolute(folder)?))
}

/// The shortest and the longest time between two looks.
const SOON: Duration = Duration::from_millis(500);
const LATE: Duration = Duration::from_secs(30);

/// Looks again and again until nothing is known to be running or queued, or a stop is requested, or this machine can never
/// tell.
fn wait(folder: &CampaignFolder) -> Result<Look, Failure> {
    let mut pause = SOON;
    loop {
        let begin = Instant::now();
        let look = Look::at(folder)?;
        // A controller that does not answer does so again some time.
        let blind = look.unknown.is_some() && slurm::is_installed();
        if (look.is_idle() && !blind) || interrupt::stopped() {
            return Ok(look);
        }
        let why = look.in_flight.notes.first().map_or(String::new(), |note| format!(" · {note}"));
        Terminal.doing(&format!("{}{why}", page::progress(&look.state(folder).counts())));
        // Looking must cost others little: a controller and a file server serve many.
        pause = (pause * 3 / 2).max(begin.elapsed() * 20).min(LATE);
        interrupt::pause(pause);
    }
}

/// Ends all jobs and processes of a campaign.
fn cancel(path: &Path, shared: &Shared) -> Result<Page, Failure> {
    let files = files(path)?;
    let folder = CampaignFolder::open(&files)?;
    let look = Look::at(&folder)?;
    let of_slurm = |submission: &&Submission| submission.on != Computer::Local;
    let mut cancelled = 0;
    let mut left = look.unseen.clone();
    // What is cancelled is marked: whoever waits for its results must not hand its tasks out again.
    // Processes before jobs: one that is submitting jobs must not go on.
    for submission in look.active().filter(|submission| look.is_at_work(submission)) {
        let stopped = local_process::ask_to_stop(&submission.process);
        if !stopped {
            left.push(format!("{} cannot be asked to stop from here", submission.process));
        }
        if stopped && submission.on == Computer::Local {
            folder.mark(submission, SubmissionMark::Cancelled)?;
            cancelled += 1;
        }
    }
    if let Some(failure) = look.unknown {
        return Err(failure);
    }
    for submission in look.active().filter(of_slurm) {
        folder.mark(submission, SubmissionMark::Cancelled)?;
        cancelled += 1;
    }
    // All of them: jobs that were submitted a moment ago may not be seen yet.
    let names: Vec<&str> =
        (look.submissions.iter().flat_map(Submission::job_arrays)).map(|array| array.name.as_str()).collect();
    slurm::cancel(&names)?;
    // Those that end need a moment for their checkpoints.
    let begin = Instant::now();
    let mut look = Look::at(&folder)?;
    while !look.is_idle() && left.is_empty() && begin.elapsed() < LATE && !interrupt::stopped() {
        Terminal.doing("waiting for jobs to save their work");
        interrupt::pause(SOON);
        look = Look::at(&folder)?;
    }
    left.retain(|note| !look.in_flight.notes.contains(note));
    look.in_flight.notes.extend(left);
    let mut page = page::of(&look.state(&folder).status()?, path, shared);
    if cancelled == 0 {
        page.text = format!("nothing was cancelled\n\n{}", page.text);
    }
    page.json["cancelled"] = cancelled.into();
    Ok(page)
}

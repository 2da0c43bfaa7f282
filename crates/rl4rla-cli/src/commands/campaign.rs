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
pub use plan::{of_audit, of_exploration, of_reproduction, of_sweep};

use crate::args::{Campaign, CampaignStep, Shared};
use crate::failure::Failure;
use crate::interrupt::{self, Terminal};
use crate::local_process;
use crate::page::Page;
use crate::slurm;
use look::Look;
use rl4rla::experiment::Monitor;
use rl4rla::experiment::campaign::{CampaignFolder, Computer, FolderOnDisk};
use std::path::Path;
use std::time::{Duration, Instant};

/// Runs a step of a campaign.
pub fn run(args: &Campaign, shared: &Shared) -> Result<Page, Failure> {
    match &args.step {
        CampaignStep::Plan(args) => plan::run(args, shared),
        CampaignStep::Submit(args) => hand_out::submit(args, shared),
        CampaignStep::Worker(args) => hand_out::worker(args),
        CampaignStep::Resume(args) => hand_out::resume(args, shared),
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

/// Looks again and again until nothing is running or queued, or a stop is requested, or this machine can never tell.
fn wait(folder: &CampaignFolder) -> Result<Look, Failure> {
    let mut pause = SOON;
    loop {
        let begin = Instant::now();
        let look = Look::at(folder)?;
        if look.is_idle() || interrupt::stopped() || (look.unknown.is_some() && !slurm::is_installed()) {
            return Ok(look);
        }
        // A controller that does not answer does so again some time.
        let why = look.unknown.as_ref().map_or(String::new(), |failure| format!(" · {}", failure.message()));
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
    if let Some(failure) = look.unknown {
        return Err(failure);
    }
    let mut elsewhere = Vec::new();
    let mut names = Vec::new();
    for submission in look.active() {
        match &submission.on {
            Computer::Slurm { arrays, .. } => names.extend(arrays.iter().map(|array| array.name.as_str())),
            Computer::Local(process) if local_process::is_running(process).is_some() => {
                local_process::ask_to_stop(process);
            }
            Computer::Local(process) => elsewhere.push(format!(
                "submission {} is computed by process {} on {}: run this command there",
                submission.number, process.process, process.host
            )),
        }
    }
    if !names.is_empty() {
        slurm::cancel(&names)?;
    }
    let cancelled = look.active().count() - elsewhere.len();
    // Those that end need a moment for their checkpoints.
    let begin = Instant::now();
    let mut look = Look::at(&folder)?;
    while !look.is_idle() && elsewhere.is_empty() && begin.elapsed() < LATE && !interrupt::stopped() {
        Terminal.doing("waiting for jobs to save their work");
        interrupt::pause(SOON);
        look = Look::at(&folder)?;
    }
    look.in_flight.notes.extend(elsewhere);
    let mut page = page::of(&look.state(&folder).status()?, path, shared);
    page.json["cancelled"] = cancelled.into();
    Ok(page)
}

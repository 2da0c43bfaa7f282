//! The options of `campaign`, and those by which other commands are computed as one.

use super::Resources;
use clap::{Args, Subcommand};
use std::path::PathBuf;

pub const AFTER_HELP: &str = "\
Examples:
  rl4rla campaign plan methods.toml
  rl4rla campaign submit methods --dry-run
  rl4rla campaign submit methods
  rl4rla campaign status methods
  rl4rla campaign resume methods
  rl4rla campaign collect methods --store methods.db
  rl4rla campaign submit methods --local 2

A campaign is planned from a file with tables [[sweep]], [[explore]], [[audit]] and [[reproduce]],
whose keys are the options of these commands. Its tasks, one search with one seed each, are
computed by Slurm jobs, or with --local on this machine. Everything is in files of one folder; a
task that has a result is never computed again, and an interrupted one continues from its
checkpoint. `sweep`, `explore`, `audit` and `reproduce` do all this with --campaign FOLDER. See
also `rl4rla help campaign`.";

#[derive(Args)]
pub struct Campaign {
    #[command(subcommand)]
    pub step: CampaignStep,
}

#[derive(Subcommand)]
pub enum CampaignStep {
    /// Plan the tasks of a campaign file: writes the manifest into a folder
    #[command(after_help = "\
Example, in the file methods.toml:
  title = \"Two methods on two curricula\"
  [slurm]
  partition = \"cpu\"
  time = \"4:00:00\"
  cpus = 4
  [[sweep]]
  curricula = [\"sketched-precond-gd\", \"block-kaczmarz\"]
  methods = [\"best\", \"mcgs-ucd\"]
  seeds = 1000

See `rl4rla help campaign` for all keys.")]
    Plan(PlanArguments),
    /// Hand out all tasks: to Slurm in job arrays, or with --local to this process
    Submit(SubmitArguments),
    /// Compute a chunk of tasks: what a job runs
    Worker(WorkerArguments),
    /// Show how a campaign goes: tasks done, running, failed with the reason, lost, and what was found so far
    Status(StatusArguments),
    /// Hand out missing tasks: lost ones, and those that an interrupted `submit` did not reach
    Resume(ResumeArguments),
    /// Verify all results and enter them into the store
    #[command(after_help = "\
Runs that are in the store already are left as they are, so this may be repeated, also while a
campaign goes on. Exit code 1 if tasks are missing or have failed. A result that is damaged, of
another campaign or of another build is an error: nothing is entered.")]
    Collect(FolderArgument),
    /// Cancel the jobs of a campaign; results and checkpoints are kept
    Cancel(FolderArgument),
}

#[derive(Args)]
pub struct FolderArgument {
    /// The folder of the campaign
    pub folder: PathBuf,
}

#[derive(Args)]
pub struct PlanArguments {
    /// The campaign file (TOML)
    pub file: PathBuf,
    /// The folder to make, on a file system that all machines see [default: FILE without its extension]
    #[arg(long, value_name = "FOLDER")]
    pub folder: Option<PathBuf>,
}

/// Who computes.
#[derive(Args)]
pub struct Computing {
    /// Compute on this machine instead of Slurm, this many tasks at a time
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1024))]
    pub local: Option<u64>,
    /// Print the scripts of the jobs, and hand out nothing
    #[arg(long)]
    pub dry_run: bool,
    #[command(flatten)]
    pub resources: Resources,
}

#[derive(Args)]
pub struct SubmitArguments {
    #[command(flatten)]
    pub folder: FolderArgument,
    #[command(flatten)]
    pub computing: Computing,
}

#[derive(Args)]
pub struct ResumeArguments {
    #[command(flatten)]
    pub folder: FolderArgument,
    /// Also compute tasks again that ended with an error
    #[arg(long)]
    pub failed: bool,
    /// Move files that are no results of this campaign, or damaged, to its folder `damaged`, and compute their tasks again
    #[arg(long)]
    pub set_aside: bool,
    /// Hand out all unfinished tasks, even those that others may be computing: some may be computed twice, with the same results
    #[arg(long)]
    pub take_over: bool,
    #[command(flatten)]
    pub computing: Computing,
}

#[derive(Args)]
pub struct WorkerArguments {
    #[command(flatten)]
    pub folder: FolderArgument,
    /// Number of the submission, from 1
    #[arg(long, value_name = "K")]
    pub submission: u64,
    /// Number of the chunk, from 0
    #[arg(long, value_name = "C")]
    pub chunk: u64,
    #[command(flatten)]
    pub resources: Resources,
}

#[derive(Args)]
pub struct StatusArguments {
    #[command(flatten)]
    pub folder: FolderArgument,
    /// Wait until nothing is running or queued
    #[arg(long)]
    pub wait: bool,
}

/// How a command is computed as a campaign.
#[derive(Args)]
pub struct AsCampaign {
    /// Compute as a campaign in this folder, with Slurm or --local; repeat the command to continue
    #[arg(long, value_name = "FOLDER", help_heading = "Campaign")]
    pub campaign: Option<PathBuf>,
    /// With --campaign: compute on this machine instead of Slurm, this many tasks at a time
    #[arg(long, value_name = "N", requires = "campaign", value_parser = clap::value_parser!(u64).range(1..=1024), help_heading = "Campaign")]
    pub local: Option<u64>,
}

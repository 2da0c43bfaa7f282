//! Commands inside another program: nothing is printed, and results are values.
//!
//! One command runs at a time; another waits. They use the threads of the caller.

use crate::args::{Cli, Command, EMBEDDED};
use crate::commands::{compare, explore, solve};
use crate::failure::Failure;
use crate::page::Page;
use crate::{interrupt, memory, progress};
use clap::Parser;
use rl4rla::data::System;
use serde_json::Value;
use std::ffi::OsString;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, MutexGuard, PoisonError};

pub use crate::commands::solve::GivenData;

/// The result of a command.
pub struct CommandAnswer {
    /// The document that `--json` prints.
    pub json: Value,
    /// The exit code.
    pub code: u8,
}

/// Why a command did not run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CommandFailure {
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub advice: Option<String>,
}

impl From<Failure> for CommandFailure {
    fn from(failure: Failure) -> CommandFailure {
        let (message, advice) = failure.into_words();
        CommandFailure { message, advice }
    }
}

impl From<Page> for CommandAnswer {
    fn from(page: Page) -> CommandAnswer {
        CommandAnswer { json: page.json, code: page.code }
    }
}

/// Runs a command on the arguments that would be typed after `rl4rla`.
pub fn call(arguments: &[OsString]) -> Result<CommandAnswer, CommandFailure> {
    alone(arguments, |cli| Ok(crate::run(&cli)?.into()))
}

/// `solve` with arguments, on data in memory instead of files: also returns the coefficients for every right-hand side
/// or λ, which the document leaves out.
pub fn solve_in_memory(
    arguments: &[OsString],
    data: GivenData,
) -> Result<(CommandAnswer, Vec<Vec<f64>>), CommandFailure> {
    let cli = parsed(arguments)?;
    EMBEDDED.store(true, Ordering::Relaxed);
    let Command::Solve(args) = &cli.command else { return Err(other("solve")) };
    let (page, coefficients) = solve::in_memory(args, &cli.shared, data)?;
    Ok((page.into(), coefficients))
}

/// `compare` with arguments, on a system in memory instead of files.
pub fn compare_in_memory(arguments: &[OsString], system: System) -> Result<CommandAnswer, CommandFailure> {
    alone(arguments, |cli| match &cli.command {
        Command::Compare(args) => Ok(compare::on(args, &cli.shared, Some(system))?.into()),
        _ => Err(other("compare")),
    })
}

/// `explore` with arguments, for a system in memory instead of files.
pub fn explore_in_memory(arguments: &[OsString], system: System) -> Result<CommandAnswer, CommandFailure> {
    alone(arguments, |cli| match &cli.command {
        Command::Explore(args) => Ok(explore::on(args, &cli.shared, Some(system))?.into()),
        _ => Err(other("explore")),
    })
}

/// Asks the command that runs to stop; it saves what can be saved.
pub fn stop() {
    interrupt::ask_to_stop(true);
}

/// What the command that runs is doing.
pub fn doing() -> String {
    progress::current()
}

/// Bytes of memory that are free, as far as the system tells.
pub fn free_memory() -> u64 {
    memory::left()
}

fn other(wanted: &str) -> CommandFailure {
    CommandFailure { message: format!("these are not arguments of `{wanted}`"), advice: None }
}

fn parsed(arguments: &[OsString]) -> Result<Cli, CommandFailure> {
    let all = [OsString::from("rl4rla")].into_iter().chain(arguments.iter().cloned());
    Cli::try_parse_from(all).map_err(|error| Failure::usage(&error).into())
}

/// Runs what uses the state that commands share.
fn alone(
    arguments: &[OsString],
    run: impl FnOnce(Cli) -> Result<CommandAnswer, CommandFailure>,
) -> Result<CommandAnswer, CommandFailure> {
    static ONE: Mutex<()> = Mutex::new(());
    let cli = parsed(arguments)?;
    EMBEDDED.store(true, Ordering::Relaxed);
    let _alone: MutexGuard<()> = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    interrupt::ask_to_stop(false);
    progress::begin_silently();
    let answer = run(cli);
    progress::end();
    answer
}

//! `rl4rla`: the command line. The science is in the library; only this crate prints.
//!
//! It is a library itself, so that a program that registers its own task can use all commands (see `examples/nnls.rs`),
//! and so that other shells can run commands and use their results ([`embedded`]).

mod args;
mod commands;
mod curriculum;
mod data;
pub mod embedded;
mod endpoint;
mod failure;
mod interrupt;
mod local_process;
mod memory;
mod output;
mod page;
mod progress;
mod request;
mod shape;
mod shell;
mod slurm;
mod source;

pub use memory::Allocator;

use args::{Cli, Command, Shared};
use clap::Parser;
use failure::{BAD_INPUT, Failure};
use page::{Page, printable, printable_json};
use std::io::{self, Write};
use std::process::ExitCode;

/// Runs the command on the arguments of this process.
pub fn main() -> ExitCode {
    memory::return_freed_blocks();
    // Checked before parsing, because a script that wants JSON also wants it for usage errors.
    let json = std::env::args_os().any(|arg| arg == "--json");
    interrupt::listen(json);
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            if json && error.use_stderr() {
                put(&printable_json(&Failure::usage(&error).json()));
            }
            usage(&error);
            return ExitCode::from(error.exit_code() as u8);
        }
    };
    if cli.shared.until_input_ends {
        interrupt::stop_when_input_ends();
    }
    progress::begin(cli.shared.quiet);
    let outcome = run(&cli);
    progress::end();
    interrupt::finish();
    match outcome {
        Ok(page) => ExitCode::from(if printed(&page, &cli.shared) { page.code } else { BAD_INPUT }),
        Err(failure) => {
            if cli.shared.json {
                put(&printable_json(&failure.json()));
            }
            complain(&failure);
            ExitCode::from(BAD_INPUT)
        }
    }
}

fn run(cli: &Cli) -> Result<Page, Failure> {
    match &cli.command {
        Command::Discover(args) => args.resources.within(|| commands::discover::run(args, &cli.shared)),
        Command::Explore(args) => args.resources.within(|| commands::explore::run(args, &cli.shared)),
        Command::Resume(args) => args.resources.within(|| commands::discover::resume(args, &cli.shared)),
        Command::Sweep(args) => args.resources.within(|| commands::sweep::run(args, &cli.shared)),
        Command::Campaign(args) => commands::campaign::run(args, &cli.shared),
        Command::Learn(args) => commands::learn::run(args, &cli.shared),
        Command::Audit(args) => args.resources.within(|| commands::audit::run(args, &cli.shared)),
        Command::Reproduce(args) => args.resources.within(|| commands::reproduce::run(args, &cli.shared)),
        Command::List(args) => commands::list::run(args, &cli.shared),
        Command::Show(args) => commands::show::run(args, &cli.shared),
        Command::Report(args) => commands::report::run(args, &cli.shared),
        #[cfg(feature = "serve")]
        Command::Serve(args) => commands::serve::run(args, &cli.shared),
        Command::Export(args) => commands::export::run(args, &cli.shared),
        Command::Equiv(args) => commands::equiv::run(args, &cli.shared),
        Command::Analyze(args) => commands::analyze::run(args, &cli.shared),
        Command::Compare(args) => commands::compare::run(args, &cli.shared),
        Command::Advise(args) => commands::advise::run(args, &cli.shared),
        Command::Solve(args) => commands::solve::run(args, &cli.shared),
        Command::Calibrate(args) => commands::calibrate::run(args, &cli.shared),
        Command::Evaluate(args) => commands::evaluate::run(args, &cli.shared),
        Command::Help(args) => commands::help::run(args),
    }
}

/// Prints a message of clap, which quotes the command line, in its own styles. Printing can only fail if the reader
/// is gone.
fn usage(error: &clap::Error) {
    let styled = error.render().ansi().to_string();
    let plain = anstream::adapter::strip_str(&styled).to_string();
    // Arguments may contain escape sequences; then colours are dropped.
    let text = if page::lines(&plain) == plain { styled } else { page::lines(&plain) };
    let _ = match error.use_stderr() {
        true => write!(anstream::stderr(), "{text}"),
        false => write!(anstream::stdout(), "{text}"),
    };
}

/// Prints an error. That can only fail if the reader is gone.
fn complain(failure: &Failure) {
    let _ = writeln!(anstream::stderr(), "{failure}");
}

/// Prints a page as it is wanted; returns whether that succeeded.
fn printed(page: &Page, shared: &Shared) -> bool {
    page.is_nothing() || put(&if shared.json { printable_json(&page.json) } else { printable(&page.text) })
}

/// Prints to standard output; returns whether that succeeded. A reader that has gone away is not an error.
fn put(text: &str) -> bool {
    let mut out = anstream::stdout();
    match writeln!(out, "{}", text.trim_end()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            complain(&Failure::new(format!("cannot write to standard output: {error}")));
            false
        }
        _ => true,
    }
}

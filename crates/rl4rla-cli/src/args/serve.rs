//! The options of `serve`.

use clap::Args;
use std::path::PathBuf;

pub const AFTER_HELP: &str = "\
Examples:
  rl4rla serve
  rl4rla serve --store runs.db --port 8080
  rl4rla serve --read-only --json
  rl4rla serve --campaign /shared/night --campaign /shared/day

The first line on standard output is the address of the page, to be opened in a browser on this machine. The part after `#`
is a token: whoever has it may start, stop and mark runs. Runs of the store show up by themselves, whoever started them. Runs
that were started from the page end with the server; everything they have computed is saved, and they can be resumed.
Ctrl-C ends it. See also `rl4rla help serve`.";

#[derive(Args)]
pub struct Serve {
    /// Port; 0 for any that is free
    #[arg(long, default_value_t = 0)]
    pub port: u16,
    /// Let nobody change anything: no token, no runs, no notes
    #[arg(long)]
    pub read_only: bool,
    /// Show how the campaign in this folder goes; may be given several times
    #[arg(long = "campaign", value_name = "FOLDER")]
    pub campaigns: Vec<PathBuf>,
}
